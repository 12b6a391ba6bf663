//! A body as boundary elements see it: its surface, what it is made of, and the points inside at which stress is computed.

use glam::DVec3;

use super::error::StressError;
use crate::bem::{Elastic, Surface};
use crate::columns::Elements;
use crate::geometry::TriMesh;
use crate::geometry::inside::Crossings;
use crate::geometry::remesh::{Quality, RemeshError, remesh_or_finer};
use crate::geometry::repair::{Repairs, repair};
use crate::spec::{Body, Material, Pipeline};
use crate::units::show::{figures, quantity};

/// A body that is loaded.
pub struct Solid {
    /// Index in the pipeline.
    pub number: usize,
    /// Name in the pipeline.
    pub name: String,
    /// Its surface.
    pub surface: Surface,
    /// Its moduli.
    pub elastic: Elastic,
    /// Density, kg/m³.
    pub density: f64,
    /// Tensile strength, Pa.
    pub strength: Option<f64>,
    /// Ids of the elements inside.
    pub ids: Vec<u32>,
    /// Their centres, m.
    pub points: Vec<DVec3>,
    /// Mean radius of its elements, m; 0 where there are none.
    pub radius: f64,
    /// Relative error of the fast multipole method.
    pub accuracy: f64,
    /// What was done to the surface.
    pub notes: Vec<String>,
}

impl Solid {
    /// Body number `number` of a packing, with its skin at rest.
    pub fn new(
        skin: Option<TriMesh>,
        pipeline: &Pipeline,
        elements: &Elements,
        number: usize,
    ) -> Result<Self, StressError> {
        let body = &pipeline.bodies[number];
        let named = || body.name.clone();
        if !body.grains.is_empty() {
            return Err(StressError::Grains { body: named() });
        }
        let skin = skin.ok_or_else(|| StressError::NoSkin { body: named() })?;
        let settings = pipeline.stress.clone().unwrap_or_default();
        let mut notes = Vec::new();
        // A store may come from another program.
        let (skin, repairs) = repair(&skin).map_err(|source| StressError::Repair {
            body: named(),
            source,
        })?;
        if repairs != Repairs::default() {
            notes.push(format!("its surface was repaired: {repairs}"));
        }
        let mesh = even(skin, settings.size, &mut notes).map_err(|source| StressError::Remesh {
            body: named(),
            source,
        })?;
        let surface = Surface::new(&mesh).map_err(|source| StressError::Surface {
            body: named(),
            source,
        })?;
        let material = material(pipeline, body);
        let elastic = Elastic::new(material.young, material.poisson_ratio());
        let rows: Vec<usize> = (0..elements.id.len())
            .filter(|row| elements.body[*row] as usize == number)
            .collect();
        let radii: f64 = rows.iter().map(|row| elements.r[*row]).sum();
        let inside = Crossings::new(&surface.mesh);
        let place = |row: usize| DVec3::new(elements.x[row], elements.y[row], elements.z[row]);
        let (ids, points) = rows
            .iter()
            .map(|&row| (elements.id[row], place(row)))
            .filter(|(_, place)| inside.contains(*place))
            .unzip();
        Ok(Solid {
            number,
            name: named(),
            elastic: elastic.map_err(|source| StressError::Elastic {
                material: material.name.clone(),
                source,
            })?,
            density: material.density,
            strength: material.tensile_strength,
            ids,
            points,
            radius: radii / rows.len().max(1) as f64,
            accuracy: settings.accuracy(),
            notes,
            surface,
        })
    }
}

/// Triangles of a body, about, where no size is asked for and its own will not do.
const TRIANGLES: f64 = 3000.0;
/// Edge of a triangle over the thickness of the walls, at most, with which bending is right to a tenth.
const THICK: f64 = 1.0;
/// Triangles of a surface, at least, that is taken as it is.
const ENOUGH: usize = 1000;

/// The surface with triangles of the size asked for; without one as it is, or evenly divided where its triangles are few or uneven.
fn even(skin: TriMesh, size: Option<f64>, notes: &mut Vec<String>) -> Result<TriMesh, RemeshError> {
    let quality = Quality::of(&skin);
    let fits = skin.triangles.len() >= ENOUGH && !quality.needs_remesh();
    let wanted = match size {
        Some(size) => Some(size),
        None if fits => None,
        // Of equilateral triangles.
        None => Some((skin.area() / TRIANGLES * 4.0 / 3f64.sqrt()).sqrt()),
    };
    let size = wanted.unwrap_or(quality.edge);
    let wall = 2.0 * skin.volume().abs() / skin.area();
    if size > THICK * wall {
        notes.push(format!(
            "its triangles are {} long and its walls in the mean {} thick: bending comes out wrong; use stress.size = {} or less",
            quantity(size, "m"),
            quantity(wall, "m"),
            figures(THICK * wall),
        ));
    }
    let Some(size) = wanted else {
        return Ok(skin);
    };
    let mesh = remesh_or_finer(&skin, size)?;
    notes.push(format!(
        "{} triangles of {} instead of {}",
        mesh.triangles.len(),
        quantity(size, "m"),
        skin.triangles.len()
    ));
    Ok(mesh)
}

/// The material of a body, which the check of the pipeline has found.
fn material<'a>(pipeline: &'a Pipeline, body: &Body) -> &'a Material {
    let mut materials = pipeline.materials.iter();
    materials
        .find(|one| one.name == body.material)
        .expect("the material of a body is in the pipeline")
}
