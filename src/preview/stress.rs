//! Pictures of the tables of stress: bodies coloured by their largest principal stress and by the density of
//! elastic energy. Where bodies are cut open, elements are drawn as balls.

use std::ops::Range;
use std::path::PathBuf;

use glam::{DVec3, Vec3};

use super::camera;
use super::error::PreviewError;
use super::legend;
use super::scene::{Ball, Material, Scene};
use super::shade;
use crate::columns::{Stress, StressPoint};
use crate::picture;
use crate::spec::{Preview, Section};
use crate::store::corner_normals::Fans;
use crate::store::{Result, Store};

/// A picture of each table: file name, title, unit.
const KINDS: [(&str, &str, &str); 2] = [
    ("stress", "largest principal stress", "Pa"),
    ("energy", "elastic energy", "J/m³"),
];

/// What of a body is drawn.
fn views(preview: &Preview) -> impl Iterator<Item = Option<Section>> {
    [None].into_iter().chain(preview.section.map(Some))
}

/// Names of the pictures of a table, in the store.
pub fn names(number: u32, preview: &Preview) -> Vec<String> {
    let of = |section: Option<Section>| {
        let inside = section.map_or("", |_| "_inside");
        KINDS.map(|(kind, ..)| format!("preview/{kind}{inside}_{number:06}.png"))
    };
    views(preview).flat_map(of).collect()
}

/// Draws those tables of stress that lie in `frames`: surfaces, and elements inside where bodies are cut
/// open. The files.
pub fn draw(
    store: &Store,
    preview: &Preview,
    frames: &Range<u32>,
) -> std::result::Result<Vec<PathBuf>, PreviewError> {
    let mut files = Vec::new();
    for number in store.numbers("stress", "parquet")? {
        if !frames.contains(&number) {
            continue;
        }
        let table = store.read_stress(number)?;
        let mut names = names(number, preview).into_iter();
        for section in views(preview) {
            for ((kind, title, unit), name) in KINDS.into_iter().zip(&mut names) {
                let values = match kind {
                    "stress" => &table.s1,
                    _ => &table.energy,
                };
                let (largest, more) = most(&table, section, values);
                let part = |row: usize| {
                    Material::Scale((255.0 * (values[row] / largest).clamp(0.0, 1.0)) as u8)
                };
                let scene = match section {
                    None => surfaces(store, &table, part)?,
                    Some(cut) => balls(store, &table, cut, part)?,
                };
                let mut drawn = shade::draw(&scene, &camera::around(&[bounds(&scene)], preview)?);
                legend::draw(&mut drawn, title, (largest, more), unit);
                let path = store.path(name);
                picture::write(&path, &drawn)?;
                files.push(path);
            }
        }
    }
    Ok(files)
}

/// Corners of the box about what is drawn.
fn bounds(scene: &Scene) -> (DVec3, DVec3) {
    let corners = scene
        .body_corners()
        .map(|(low, high)| (low.as_dvec3(), high.as_dvec3()));
    let both = corners.reduce(|(low, high), (l, h)| (low.min(l), high.max(h)));
    both.unwrap_or((DVec3::splat(-0.5), DVec3::splat(0.5)))
}

/// Rows that are drawn.
fn is_shown(table: &Stress, section: Option<Section>, row: usize) -> bool {
    match (section, table.kind[row]) {
        (None, StressPoint::Triangle) => true,
        (Some(cut), StressPoint::Element) => {
            let at = DVec3::new(table.x[row], table.y[row], table.z[row]);
            (at - DVec3::from(cut.point)).dot(DVec3::from(cut.normal)) <= 0.0
        }
        _ => false,
    }
}

/// Part of the rows drawn whose values the colours tell apart, where the rest is much larger: under a point
/// load, all but a few.
const TOLD_APART: f64 = 0.98;
/// Largest value over that of this part, above which the colours end there.
const MUCH_LARGER: f64 = 2.0;

/// The value that the colours end with, and whether there are larger ones; of no tension the size of the
/// largest pressure.
fn most(table: &Stress, section: Option<Section>, values: &[f64]) -> (f64, bool) {
    let rows = (0..values.len()).filter(|row| is_shown(table, section, *row));
    let mut values: Vec<f64> = rows.map(|row| values[row]).collect();
    values.sort_by(f64::total_cmp);
    let most = values.last().copied().unwrap_or_default();
    if most <= 0.0 {
        let pressure = values.first().map_or(0.0, |least| -least);
        return (pressure.max(f64::MIN_POSITIVE), false);
    }
    let at = (TOLD_APART * (values.len() - 1) as f64) as usize;
    match values[at] > 0.0 && most > MUCH_LARGER * values[at] {
        true => (values[at], true),
        false => (most, false),
    }
}

fn surfaces(store: &Store, table: &Stress, part: impl Fn(usize) -> Material) -> Result<Scene> {
    let mut scene = Scene {
        time: table.time.first().copied().unwrap_or_default(),
        ..Scene::default()
    };
    let is_triangle = |row: &usize| table.kind[*row] == StressPoint::Triangle;
    let rows: Vec<usize> = (0..table.kind.len()).filter(is_triangle).collect();
    for rows in rows.chunk_by(|a, b| table.body[*a] == table.body[*b]) {
        let mesh = store.read_stress_shape(table.body[rows[0]])?;
        let positions: Vec<[f32; 3]> = (mesh.positions.iter())
            .map(|p| p.as_vec3().to_array())
            .collect();
        let inside = vec![0; mesh.triangles.len()];
        let fans = Fans::new(&positions, mesh.triangles.iter().copied(), &inside);
        let first = scene.positions.len() as u32;
        let vertices = fans.vertices.iter();
        scene
            .positions
            .extend(vertices.map(|&vertex| Vec3::from(positions[vertex as usize])));
        scene
            .normals
            .extend(fans.normals(&positions).into_iter().map(Vec3::from));
        let faces = fans.corners.iter().zip(rows);
        scene
            .triangles
            .extend(faces.map(|(corners, row)| (corners.map(|corner| corner + first), part(*row))));
    }
    scene.body_vertices = scene.positions.len();
    Ok(scene)
}

fn balls(
    store: &Store,
    table: &Stress,
    cut: Section,
    part: impl Fn(usize) -> Material,
) -> Result<Scene> {
    let radii = store.read_element_columns(&["r"])?.r;
    let rows = (0..table.kind.len()).filter(|row| is_shown(table, Some(cut), *row));
    let balls: Vec<Ball> = rows
        .map(|row| Ball {
            centre: DVec3::new(table.x[row], table.y[row], table.z[row]).as_vec3(),
            radius: radii
                .get(table.id[row] as usize)
                .copied()
                .unwrap_or_default() as f32,
            material: part(row),
        })
        .collect();
    Ok(Scene {
        time: table.time.first().copied().unwrap_or_default(),
        body_balls: balls.len(),
        balls,
        ..Scene::default()
    })
}
