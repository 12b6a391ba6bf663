//! Packing: bodies filled with bonded elements, from a pipeline to elements, bonds and skins.
//!
//! Meets the other stages only in the frame store.

mod body;
mod bonds;
pub mod lattice;

use std::path::Path;

use glam::DVec3;

pub use body::{PackedBody, pack_body};

use crate::geometry::TriMesh;
use crate::geometry::check::MeshDefect;
use crate::geometry::hash_grid::HashGrid;
use crate::geometry::ply;
use crate::geometry::read::MeshError;
use crate::spec::Pipeline;
use crate::store::{self, Packing, Store};

/// Why a pipeline cannot be packed.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// The mesh cannot be read.
    #[error("body {body:?}: {source}")]
    Mesh {
        /// Body.
        body: String,
        /// Why.
        source: MeshError,
    },
    /// The mesh bounds no solid.
    #[error("body {body:?}: {file}: {source}")]
    Defect {
        /// Body.
        body: String,
        /// Mesh file.
        file: String,
        /// Why.
        source: MeshDefect,
    },
    /// The shape encloses nothing.
    #[error("body {body:?}: the shape encloses no volume")]
    NoVolume {
        /// Body.
        body: String,
    },
    /// Fewer than two elements fit.
    #[error(
        "body {body:?}: elements of radius {radius:.4e} m are too large for the body, which measures \
         {x:.4e} x {y:.4e} x {z:.4e} m: {found} fit, at least 2 are needed"
    )]
    RadiusTooLarge {
        /// Body.
        body: String,
        /// Radius, m.
        radius: f64,
        /// Extent of the body, m.
        x: f64,
        /// Extent of the body, m.
        y: f64,
        /// Extent of the body, m.
        z: f64,
        /// Elements that fit.
        found: usize,
    },
    /// Nothing to bond.
    #[error("body {body:?}: no two of its elements touch; a smaller radius gives a bonded body")]
    NoBonds {
        /// Body.
        body: String,
    },
    /// Two bodies start in one place.
    #[error(
        "bodies {first:?} and {second:?} overlap at the start by up to {depth:.4e} m near ({x:.4}, {y:.4}, {z:.4}); move them apart"
    )]
    Overlap {
        /// One body.
        first: String,
        /// The other.
        second: String,
        /// Deepest overlap of two elements, m.
        depth: f64,
        /// There.
        x: f64,
        /// There.
        y: f64,
        /// There.
        z: f64,
    },
    /// A name that the pipeline does not explain; reading it from a file refuses this earlier.
    #[error("body {body:?}: no material {material:?}")]
    NoMaterial {
        /// Body.
        body: String,
        /// Material.
        material: String,
    },
}

/// What packing makes.
#[derive(Clone, Debug, Default)]
pub struct Packed {
    /// Elements and bonds.
    pub packing: Packing,
    /// Skin of each body at rest, world coordinates.
    pub shapes: Vec<TriMesh>,
    /// What a user should know.
    pub notices: Vec<String>,
}

/// Packs every body; `folder` is where relative paths start. The same pipeline gives the same ids on any number of threads.
pub fn pack(pipeline: &Pipeline, folder: &Path) -> Result<Packed, PackError> {
    let mut out = Packed::default();
    for (index, body) in pipeline.bodies.iter().enumerate() {
        let material = pipeline
            .materials
            .iter()
            .position(|material| material.name == body.material)
            .ok_or_else(|| PackError::NoMaterial {
                body: body.name.clone(),
                material: body.material.clone(),
            })?;
        let packed = pack_body(body, &pipeline.materials[material], folder)?;
        if packed.dropped > 0 {
            out.notices.push(format!(
                "body {:?}: {} elements without a neighbour were left out",
                body.name, packed.dropped
            ));
        }
        let ends = (index as u32, material as u32);
        bonds::append(&mut out.packing, &packed, ends, pipeline);
        out.shapes.push(packed.skin);
    }
    refuse_overlaps(&out.packing, pipeline)?;
    Ok(out)
}

/// Writes elements, bonds and skins into a store.
pub fn write(store: &Store, packed: &Packed) -> store::Result<()> {
    for (body, shape) in packed.shapes.iter().enumerate() {
        store::atomic::write(&store.shape_path(body), |to| ply::write_ply(shape, to))?;
    }
    store.write_packing(&packed.packing)
}

/// Overlap of elements of two bodies beyond this part of their radii is an error: it would explode.
const ALLOWED_OVERLAP: f64 = 0.1;

fn refuse_overlaps(packing: &Packing, pipeline: &Pipeline) -> Result<(), PackError> {
    let e = &packing.elements;
    if pipeline.bodies.len() < 2 {
        return Ok(());
    }
    let p = |i: usize| DVec3::new(e.x[i], e.y[i], e.z[i]);
    let largest = e.r.iter().copied().fold(0.0, f64::max);
    let grid = HashGrid::new(e.id.len(), 2.0 * largest, p);
    let mut deepest = (0.0, 0, 0);
    for i in 0..e.id.len() {
        grid.around(p(i), |j| {
            let j = j as usize;
            if j > i && e.body[i] != e.body[j] {
                let radii = e.r[i] + e.r[j];
                let depth = radii - p(i).distance(p(j));
                if depth > ALLOWED_OVERLAP * radii && depth > deepest.0 {
                    deepest = (depth, i, j);
                }
            }
        });
    }
    let (depth, i, j) = deepest;
    if depth == 0.0 {
        return Ok(());
    }
    let name = |k: usize| pipeline.bodies[e.body[k] as usize].name.clone();
    Err(PackError::Overlap {
        first: name(i),
        second: name(j),
        depth,
        x: e.x[i],
        y: e.y[i],
        z: e.z[i],
    })
}
