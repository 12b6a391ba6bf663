//! Pictures of the tables of stress: bodies coloured by their largest principal stress and by the density of
//! elastic energy. If bodies are cut open, elements are also drawn as balls.

use std::ops::Range;
use std::path::PathBuf;

use glam::{DVec3, Vec3};

use super::camera;
use super::error::PreviewError;
use super::legend;
use super::scene::{PreviewScene, SceneBall, SceneMaterial};
use super::shade;
use crate::columns::{Stress, StressPoint};
use crate::picture;
use crate::spec::{Preview, Section};
use crate::store::corner_normals::Fans;
use crate::store::{Result, Store};

/// The pictures of each table: file name, title, unit.
const PICTURES: [(&str, &str, &str); 2] = [
    ("stress", "largest principal stress", "Pa"),
    ("energy", "elastic energy", "J/m³"),
];

/// The views to draw: the surface, and the section if bodies are cut open.
fn views(preview: &Preview) -> impl Iterator<Item = Option<Section>> {
    [None].into_iter().chain(preview.section.map(Some))
}

/// Paths of the pictures of a table in the store.
pub fn picture_paths(number: u32, preview: &Preview) -> Vec<String> {
    let of = |section: Option<Section>| {
        let inside = section.map_or("", |_| "_inside");
        PICTURES.map(|(kind, ..)| format!("preview/{kind}{inside}_{number:06}.png"))
    };
    views(preview).flat_map(of).collect()
}

/// Draws the tables of stress within `frames`: surfaces, and elements inside if bodies are cut open. Returns
/// the files.
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
        let mut names = picture_paths(number, preview).into_iter();
        for section in views(preview) {
            for ((kind, title, unit), name) in PICTURES.into_iter().zip(&mut names) {
                let values = match kind {
                    "stress" => &table.s1,
                    _ => &table.energy,
                };
                let shown = (0..values.len()).filter(|row| is_shown(&table, section, *row));
                let (largest, more) = legend::scale_end(shown.map(|row| values[row]).collect());
                let part = |row: usize| legend::material(values[row], largest);
                let scene = match section {
                    None => surfaces(store, &table, part)?,
                    Some(cut) => balls(store, &table, cut, part)?,
                };
                let mut drawn =
                    shade::draw(&scene, &camera::set_up_around(&[bounds(&scene)], preview)?);
                legend::draw(&mut drawn, title, (largest, more), unit);
                let path = store.path(name);
                picture::write(&path, &drawn)?;
                files.push(path);
            }
        }
    }
    Ok(files)
}

/// Corners of the bounding box of the bodies in a scene.
fn bounds(scene: &PreviewScene) -> (DVec3, DVec3) {
    let corners = scene
        .body_corners()
        .map(|(low, high)| (low.as_dvec3(), high.as_dvec3()));
    let both = corners.reduce(|(low, high), (l, h)| (low.min(l), high.max(h)));
    both.unwrap_or((DVec3::splat(-0.5), DVec3::splat(0.5)))
}

/// Whether a row of the table is drawn in a view.
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

fn surfaces(
    store: &Store,
    table: &Stress,
    part: impl Fn(usize) -> SceneMaterial,
) -> Result<PreviewScene> {
    let mut scene = PreviewScene {
        time: table.time.first().copied().unwrap_or_default(),
        ..PreviewScene::default()
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
    part: impl Fn(usize) -> SceneMaterial,
) -> Result<PreviewScene> {
    let radii = store.read_element_columns(&["r"])?.r;
    let rows = (0..table.kind.len()).filter(|row| is_shown(table, Some(cut), *row));
    let balls: Vec<SceneBall> = rows
        .map(|row| SceneBall {
            centre: DVec3::new(table.x[row], table.y[row], table.z[row]).as_vec3(),
            radius: radii
                .get(table.id[row] as usize)
                .copied()
                .unwrap_or_default() as f32,
            material: part(row),
        })
        .collect();
    Ok(PreviewScene {
        time: table.time.first().copied().unwrap_or_default(),
        body_balls: balls.len(),
        balls,
        ..PreviewScene::default()
    })
}
