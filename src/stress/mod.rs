//! Stage `stress`: the stress in bodies under loads, clamps, gravity and spin, from their surfaces alone (Zhu, Bridson and Greif 2015). Nothing moves: loads
//! balance, or inertia takes what is left. Knows no other stage.
//!
//! Each body is solved by itself with [`crate::bem`]. Attachments load or clamp the part of its surface that lies in their regions; colliders press on
//! nothing. Elements of the packing, where there are some, are points inside at which stress is computed too.

mod body;
mod case;
mod clamp;
mod error;
mod patch;
mod rows;
mod verdict;

use std::time::Instant;

use glam::DVec3;

use crate::bem::{Elastic, Surface};
use crate::columns::{Elements, Stress};
use crate::geometry::inside::Crossings;
use crate::geometry::ply;
use crate::spec::{self, Material, Pipeline};
use crate::store::{Store, atomic};

pub use error::StressError;
pub use verdict::{Largest, Verdict};

/// Number of the table of loads that follow from the pipeline alone.
const FRAME: u32 = 0;

/// Computes the stress in every body of a packed store and writes `stress/000000.parquet` and `stress/shapes/N.ply`.
///
/// `on_body` hears (done, of how many).
pub fn run(
    store: &Store,
    pipeline: &Pipeline,
    on_body: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Verdict>, StressError> {
    let settings = pipeline.stress.clone().unwrap_or_default();
    let time = settings.time.unwrap_or(pipeline.time.end);
    let elements = store.read_element_columns(&["body", "x", "y", "z"])?;
    let mut table = Stress::default();
    let mut verdicts = Vec::with_capacity(pipeline.bodies.len());
    let mut shapes = Vec::with_capacity(pipeline.bodies.len());
    for (number, body) in pipeline.bodies.iter().enumerate() {
        let clock = Instant::now();
        if !body.grains.is_empty() {
            let body = body.name.clone();
            return Err(StressError::Grains { body });
        }
        let refused = |source| StressError::Surface {
            body: body.name.clone(),
            source,
        };
        let skin = store
            .read_skin(number as u32)?
            .ok_or_else(|| StressError::NoSkin {
                body: body.name.clone(),
            })?;
        let surface = Surface::new(&skin).map_err(refused)?;
        let (ids, points) = points(&elements, number, &surface);
        let material = material(pipeline, body);
        let elastic = Elastic::new(material.young, material.poisson_ratio());
        let loaded = body::Loaded {
            name: &body.name,
            surface: &surface,
            elastic: elastic.map_err(|source| StressError::Elastic {
                material: material.name.clone(),
                source,
            })?,
            density: material.density,
            points: &points,
            accuracy: settings.accuracy(),
        };
        let (cases, grips) = case::of_body(body, &surface, pipeline, time)?;
        let response = body::respond(&loaded, cases, &grips)?;
        let strength = material.tensile_strength;
        let owner = rows::Owner {
            frame: FRAME,
            time,
            body: number as u32,
            strength,
        };
        rows::triangles(&mut table, owner, &surface, &response.triangles);
        rows::elements(&mut table, owner, &ids, &points, &response.points);
        verdicts.push(Verdict {
            body: body.name.clone(),
            triangles: surface.len(),
            points: points.len(),
            solves: response.solves,
            seconds: clock.elapsed().as_secs_f64(),
            repairs: String::new(),
            largest: Largest::of(&response, &surface, &points, strength),
            unbalanced: response.unbalanced,
        });
        shapes.push(surface.mesh);
        on_body(number + 1, pipeline.bodies.len());
    }
    for (number, shape) in shapes.iter().enumerate() {
        let path = store.stress_shape_path(number);
        atomic::write(&path, |out| ply::write_ply(shape, out))?;
    }
    store.write_numbered("stress", FRAME, &table)?;
    Ok(verdicts)
}

/// Ids and centres of the elements of a body that lie inside its surface.
fn points(elements: &Elements, body: usize, surface: &Surface) -> (Vec<u32>, Vec<DVec3>) {
    let inside = Crossings::new(&surface.mesh);
    let own = (0..elements.id.len()).filter(|row| elements.body[*row] as usize == body);
    let place = |row: usize| DVec3::new(elements.x[row], elements.y[row], elements.z[row]);
    own.map(|row| (elements.id[row], place(row)))
        .filter(|(_, place)| inside.contains(*place))
        .unzip()
}

/// The material of a body, which the check of the pipeline has found.
fn material<'a>(pipeline: &'a Pipeline, body: &spec::Body) -> &'a Material {
    let mut materials = pipeline.materials.iter();
    materials
        .find(|one| one.name == body.material)
        .expect("the material of a body is in the pipeline")
}
