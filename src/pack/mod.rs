//! Stage `pack`: fills the bodies with elements and bonds them. Knows no other stage.
//!
//! Of a pipeline it is given [`Inputs`]. `fill` takes a body's `PackingSpec` to what lays its elements: a
//! lattice or a random packing cut to the shape is a `Kind` of `pattern`, sized into a `Pattern`; shells,
//! yarns and cells have folders of their own. All give elements with a `Makeup`: which of them are bonded,
//! and by which [`Calibration`] the moduli of bonds follow from the material's (`kinds`).

mod assemble;
mod body;
mod cells;
mod error;
mod faces;
pub mod figures;
mod fill;
mod filled;
mod hexagonal;
mod hilbert;
mod inputs;
mod kinds;
mod lattice;
mod mesh;
mod neighbours;
mod outline;
mod overlap;
mod pattern;
mod points;
mod random;
mod request;
mod shell;
mod solid;
mod yarn;

use std::path::Path;

use crate::geometry::{TriMesh, ply};
use crate::spec::Pipeline;
use crate::store::{self, Packing, Store, atomic};

pub use body::{PackedBody, pack_body};
pub use error::PackError;
pub use figures::{Figures, figures};
pub use filled::Calibration;
pub use inputs::Inputs;
pub use mesh::repairs;
pub use request::MAX_ELEMENTS;

/// What the stage makes.
#[derive(Clone, Debug)]
pub struct Packed {
    /// Elements, bonds and meshes of colliders; a body's elements are contiguous.
    pub packing: Packing,
    /// Skin of each body at rest, world coordinates.
    pub shapes: Vec<TriMesh>,
    /// Figures of each body, for messages.
    pub bodies: Vec<BodySummary>,
}

/// Figures of a packed body.
#[derive(Clone, Debug, PartialEq)]
pub struct BodySummary {
    /// Its name in the pipeline.
    pub name: String,
    /// Elements.
    pub elements: usize,
    /// Bonds.
    pub bonds: usize,
    /// Mean radius of the elements, m.
    pub radius: f64,
    /// Volume of the shape, m³; of cells, theirs.
    pub volume: f64,
    /// Free faces of a body of cells.
    pub free_faces: Option<usize>,
    /// Elements left out because they had no neighbour.
    pub isolated: usize,
    /// Connected parts; more than one where the shape is thinner than an element, or of yarns.
    pub parts: usize,
    /// Whether it is made of yarns, each a part of its own.
    pub yarns: bool,
}

/// Packs the bodies of a pipeline; `base` is the folder that mesh paths start from.
///
/// The same pipeline gives the same numbers on any number of threads. They follow from [`Inputs`]; the law of
/// bonds is noted beside them.
pub fn pack(pipeline: &Pipeline, base: &Path) -> Result<Packed, PackError> {
    let inputs = Inputs::of(pipeline);
    let mut bodies = Vec::with_capacity(inputs.bodies.len());
    let mut materials = Vec::with_capacity(inputs.bodies.len());
    let mut total = 0.0;
    for (number, body) in (0..).zip(inputs.bodies) {
        let (material, _) = kinds::find_material(&inputs.materials, &body.material)
            .ok_or_else(|| PackError::unknown_material(&inputs, body, &body.material))?;
        let packed = pack_body(body, base, (inputs.settings.seed, number))?;
        total += packed.centres.len() as f64;
        if total > f64::from(MAX_ELEMENTS) {
            return Err(PackError::TooMany {
                body: body.name.clone(),
                radius: packed.radius,
                estimate: total,
                limit: MAX_ELEMENTS,
            });
        }
        bodies.push(packed);
        materials.push(material);
    }
    overlap::refuse(inputs.bodies, &bodies)?;
    let law = pipeline.simulate.bond_law();
    let mut packing = assemble::assemble(&inputs, law, &bodies, &materials)?;
    packing.colliders = mesh::colliders(&inputs, base)?;
    let summaries = inputs
        .bodies
        .iter()
        .zip(&bodies)
        .map(|(body, packed)| BodySummary {
            name: body.name.clone(),
            elements: packed.centres.len(),
            bonds: packed.pairs.len(),
            radius: packed.radius,
            volume: packed.volume,
            free_faces: packed.cells.as_ref().map(|cells| cells.free.len()),
            isolated: packed.isolated,
            parts: packed.parts,
            yarns: packed.calibration == Calibration::Yarn,
        });
    Ok(Packed {
        packing,
        bodies: summaries.collect(),
        shapes: bodies.into_iter().map(|body| body.skin).collect(),
    })
}

/// Writes skins, meshes of colliders, bonds and elements to a store, each file whole or not at all, the elements last.
pub fn write(store: &Store, packed: &Packed) -> store::Result<()> {
    for (body, skin) in packed.shapes.iter().enumerate() {
        atomic::write(&store.shape_path(body), |out| ply::write_ply(skin, out))?;
    }
    store.write_packing(&packed.packing)
}

#[cfg(test)]
mod tests;
