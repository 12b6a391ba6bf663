//! Stage `pack`: fills the bodies with elements and bonds them. It depends on no other stage.
//!
//! It reads only the [`Inputs`] of a pipeline. `fill` dispatches on a body's `PackingSpec`. A lattice or a
//! random packing cut to the shape is a `PatternKind` of `pattern`, which becomes a `Pattern` of the body's
//! size; shells, yarns and cells have their own folders. Each returns elements with a `PackingStructure`,
//! which determines by which [`Calibration`] the moduli of bonds follow from those of the material (`kinds`),
//! and with a rule for which of them are bonded.

mod assemble;
mod bare;
mod body;
mod bonds;
mod cells;
mod cracks;
mod elements;
mod error;
mod faces;
pub mod figures;
mod fill;
mod filled;
mod grain;
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
mod scatter;
mod sections;
mod shell;
mod solid;
mod stream;
mod yarn;

use std::path::Path;

use crate::geometry::closing::ClosingReport;
use crate::geometry::{TriMesh, ply};
use crate::spec::{Body, Pipeline};
use crate::store::{self, Packing, Store, atomic, parts};

pub use bare::BareSkin;
pub use body::{PackedBody, pack_body};
pub use error::PackError;
pub use figures::{Figures, figures};
pub use filled::Calibration;
pub use inputs::Inputs;
pub use mesh::{MeshFiles, size_message};
pub use request::MAX_ELEMENTS;
pub use stream::TableStream;

/// Result of the stage.
#[derive(Clone, Debug)]
pub struct Packed {
    /// Elements, bonds and meshes of colliders; a body's elements are contiguous.
    pub packing: Packing,
    /// Skin of each body at rest, world coordinates.
    pub shapes: Vec<TriMesh>,
    /// Summary of each body, for messages.
    pub bodies: Vec<BodySummary>,
    /// Names of the colliders whose meshes were repaired, and what was done.
    pub closed_colliders: Vec<(String, ClosingReport)>,
}

/// Summary of a packed body, for messages.
#[derive(Clone, Debug, PartialEq)]
pub struct BodySummary {
    /// Name in the pipeline.
    pub name: String,
    /// Number of elements.
    pub elements: usize,
    /// Number of bonds.
    pub bonds: usize,
    /// Mean radius of the elements, m.
    pub radius: f64,
    /// Volume of the shape, m³; for cells, the sum of their volumes.
    pub volume: f64,
    /// Number of free faces, if the elements are cells.
    pub free_faces: Option<usize>,
    /// What was done to close its mesh; `None` if nothing.
    pub closing: Option<ClosingReport>,
    /// Number of elements left out because they had no neighbour.
    pub isolated: usize,
    /// Number of connected parts; more than one where the shape is thinner than an element, or if it consists
    /// of yarns.
    pub parts: usize,
    /// Whether the body consists of yarns, each of which is a separate part.
    pub yarns: bool,
    /// The part of the skin that no element lies under, if there is one. `None` also for bodies whose skin is
    /// not drawn: loose elements, yarns, and meshes filled by winding number.
    pub bare: Option<BareSkin>,
}

impl BodySummary {
    /// About how many elements of another radius (m) the body would have.
    pub fn elements_of(&self, radius: f64) -> f64 {
        self.elements as f64 * (self.radius / radius).powi(3)
    }
}

/// Result of the stage without the tables of elements and bonds, which take several times the memory of everything
/// else.
#[derive(Clone, Debug)]
pub struct Streamed {
    /// The result; the tables of elements and bonds are empty.
    pub packed: Packed,
    /// The elements and bonds.
    pub tables: TableStream,
}

impl Streamed {
    /// The result with the tables of elements and bonds.
    pub fn whole(self) -> Packed {
        let Streamed { mut packed, tables } = self;
        packed.packing.bonds = tables.bond_table();
        packed.packing.elements = tables.element_table();
        packed
    }
}

/// Packs the bodies of a pipeline; `base` is the folder that mesh paths are relative to.
///
/// The result depends only on [`Inputs`], not on the number of threads. The name of the bond law is stored
/// with the bonds.
pub fn pack(pipeline: &Pipeline, base: &Path) -> Result<Packed, PackError> {
    stream(pipeline, base).map(Streamed::whole)
}

/// As [`fn@pack`], but elements and bonds are computed in parts whenever they are read.
///
/// # Errors
/// Those of [`fn@pack`].
pub fn stream(pipeline: &Pipeline, base: &Path) -> Result<Streamed, PackError> {
    let inputs = Inputs::of(pipeline);
    let mut bodies = Vec::with_capacity(inputs.bodies.len());
    let mut materials = Vec::with_capacity(inputs.bodies.len());
    let mut total = 0.0;
    let files = MeshFiles::new(base);
    for (number, body) in (0..).zip(inputs.bodies) {
        let (material, _) = kinds::find_material(&inputs.materials, &body.material)
            .ok_or_else(|| PackError::unknown_material(&inputs, body, &body.material))?;
        let packed = pack_body(body, &files, (inputs.settings.seed, number))?;
        total += packed.centres.len() as f64;
        if total > f64::from(MAX_ELEMENTS) {
            return Err(PackError::TooManyElements {
                body: body.name.clone(),
                radius: packed.radius,
                estimate: total,
                limit: MAX_ELEMENTS,
            });
        }
        bodies.push(packed);
        materials.push(material);
    }
    overlap::refuse_overlaps(inputs.bodies, &bodies)?;
    let summaries = inputs.bodies.iter().zip(&bodies);
    let summaries = summaries.map(|(body, packed)| summary(body, packed));
    let summaries = summaries.collect();
    let skins = bodies.iter_mut().map(|body| std::mem::take(&mut body.skin));
    let shapes = skins.collect();
    let (mut packing, rows) = assemble::assemble(&inputs, bodies, &materials)?;
    let colliders = mesh::colliders(&inputs, &files)?;
    let mut closed_colliders = Vec::new();
    for (number, (mesh, done)) in colliders {
        packing.colliders.insert(number, mesh);
        if done != ClosingReport::default() {
            let name = inputs.colliders[&number].name.to_owned();
            closed_colliders.push((name, done));
        }
    }
    Ok(Streamed {
        packed: Packed {
            packing,
            bodies: summaries,
            closed_colliders,
            shapes,
        },
        tables: TableStream::new(rows, pipeline.simulate.bond_law()),
    })
}

fn summary(body: &Body, packed: &PackedBody) -> BodySummary {
    BodySummary {
        name: body.name.clone(),
        elements: packed.centres.len(),
        bonds: packed.pairs.len(),
        radius: packed.radius,
        volume: packed.volume,
        free_faces: packed.cells.as_ref().map(|cells| cells.free.len()),
        isolated: packed.isolated,
        closing: packed
            .closing
            .clone()
            .filter(|done| *done != ClosingReport::default()),
        parts: packed.parts,
        yarns: packed.calibration == Calibration::Yarn,
        bare: bare_part(packed),
    }
}

/// The part of a body's skin that no element lies under. Cells fill the whole body.
fn bare_part(packed: &PackedBody) -> Option<BareSkin> {
    let is_yarn = packed.calibration == Calibration::Yarn;
    if packed.pairs.is_empty() || packed.cells.is_some() || is_yarn {
        return None;
    }
    bare::bare_skin(&packed.skin, &packed.centres, packed.radius)
}

/// Writes skins, meshes of colliders, bonds and elements to a store: each file atomically, the elements last.
pub fn write(store: &Store, packed: &Packed) -> store::Result<()> {
    write_skins(store, &packed.shapes)?;
    store.write_packing(&packed.packing)
}

/// As [`fn@write`], elements and bonds part by part.
///
/// # Errors
/// A file cannot be written.
pub fn write_streamed(store: &Store, streamed: &Streamed) -> store::Result<()> {
    let Streamed { packed, tables } = streamed;
    write_skins(store, &packed.shapes)?;
    store.write_packing_with(
        &packed.packing,
        |path| parts::write(path, tables.bond_count(), |part| tables.bonds(part)),
        |path| parts::write(path, tables.element_count(), |part| tables.elements(part)),
    )
}

fn write_skins(store: &Store, skins: &[TriMesh]) -> store::Result<()> {
    for (body, skin) in skins.iter().enumerate() {
        atomic::write(&store.shape_path(body), |out| ply::write_ply(skin, out))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
