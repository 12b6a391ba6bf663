//! Closed surfaces of fragments, rebuilt from the elements of a frame store. This module uses no other stage.
//!
//! All topology is found in the rest configuration: [`body`] lays a grid around each body's skin once,
//! [`cracks`] uses fracture points to find which side of a crack each grid node lies on, [`cut`] cuts the
//! skin along the rims of the cracks, [`faces`] meshes both faces of every crack and smooths them,
//! [`fragments`] splits the result into one closed surface per fragment, and [`surface`] adds texture
//! coordinates and deforms the surfaces with their elements. The surfaces of a frame depend only on that
//! frame and on the bonds broken up to it, so any range of frames gives the same files as the whole run.
//!
//! [`cells`] draws the cells of a packing themselves, if that mode is chosen.
//!
//! [`world`] draws surfaces from the elements of each frame alone, for bodies without a skin and wherever
//! that mode is chosen.

pub mod body;
pub mod cells;
pub mod cracks;
pub mod cut;
pub mod error;
pub mod faces;
pub mod fragments;
pub mod surface;
pub mod world;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use crate::parallel::prelude::*;
use glam::DVec3;

use crate::columns::{Bonds, Elements, Frames};
use crate::geometry::check::require_solid;
use crate::geometry::paint::Paint;
use crate::geometry::{CornerUv, read};
use crate::spec::{self, FrameGroup, ReconstructMode};
use crate::store::{FragmentRange, Store, StoreError, SurfaceFrame};

pub use error::ReconstructError;

use body::rest::RestBody;
use fragments::Fragments;
use surface::motion::{DeformedSurface, ElementMotions};
use surface::rest_surface::RestSurface;

/// Groups of frame columns that are required to rebuild surfaces. Velocity, spin and stress are optional:
/// missing columns become zeros.
pub const REQUIRED_GROUPS: [FrameGroup; 3] = [
    FrameGroup::Position,
    FrameGroup::Rotation,
    FrameGroup::Fragment,
];

/// Columns of the packing that are required to rebuild surfaces.
const ELEMENT_COLUMNS: [&str; 5] = ["body", "x", "y", "z", "r"];
const BOND_COLUMNS: [&str; 6] = ["i", "j", "l0", "dx", "dy", "dz"];

/// Result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReconstructSummary {
    /// Frames written.
    pub frames: usize,
    /// Number of times that the surfaces of a body were rebuilt because bonds had broken.
    pub rebuilds: usize,
    /// Number of fragments in the last frame.
    pub fragments: usize,
    /// Number of vertices in the last frame.
    pub vertices: usize,
    /// Number of triangles in the last frame.
    pub triangles: usize,
}

/// Writes `meshes/NNNNNN.rkyv` for each frame of the store within `frames`. Calls `on_frame(done, total)`
/// after each frame.
///
/// # Errors
/// Fails if the store lacks a file or cannot be written, if a skin cannot be used, or if the grid would have
/// too many cells.
pub fn run(
    store: &Store,
    params: &spec::Reconstruct,
    frames: Range<u32>,
    on_frame: &mut dyn FnMut(usize, usize),
) -> Result<ReconstructSummary, ReconstructError> {
    if !(params.voxel > 0.0 && params.voxel.is_finite()) {
        return Err(ReconstructError::Voxel(params.voxel));
    }
    if !(0.0..=0.5).contains(&params.roughness) {
        return Err(ReconstructError::Roughness(params.roughness));
    }
    if !(0.0..=10.0).contains(&params.simplify) {
        return Err(ReconstructError::Simplify(params.simplify));
    }
    let mut packing = store.read_packing_columns(&ELEMENT_COLUMNS, &BOND_COLUMNS)?;
    let skin = |body: u32| {
        let path = store.shape_path(body as usize);
        if !path.is_file() {
            if params.mode == ReconstructMode::Auto {
                return Ok(None);
            }
            let stage = "pack";
            return Err(StoreError::Missing { path, stage }.into());
        }
        let path = store.checked(path, "pack")?;
        let unusable = |what: String| ReconstructError::Skin { body, what };
        let mut skin = read::read(&path).map_err(|error| unusable(error.to_string()))?;
        match require_solid(&mut skin) {
            Ok(()) => Ok(Some(skin)),
            // For example, a shape that was filled by its winding number.
            Err(_) if params.mode == ReconstructMode::Auto => Ok(None),
            Err(defect) => Err(unusable(defect.to_string())),
        }
    };
    let faces = match params.mode {
        ReconstructMode::Cells => Some(store.read_cells()?.unwrap_or_default().faces),
        ReconstructMode::Auto | ReconstructMode::Material | ReconstructMode::World => None,
    };
    let tables = (&packing.elements, &packing.bonds, faces.as_ref());
    let bodies = RestBody::with_cells(tables, params, skin)?;
    let mut surfaces = Surfaces::new(&packing.elements, bodies);
    let mut broken = BrokenBonds::new(store, packing.bonds.i.len())?;
    let mut removed = store.removed_fragments()?.into_iter().peekable();
    packing.bonds = Bonds::default();
    let frames = store.frames(&frames)?;
    let mut summary = ReconstructSummary::default();
    for &number in &frames {
        let frame = store.read_frame_of(number, &REQUIRED_GROUPS, packing.elements.id.len())?;
        while let Some((_, fragment)) = removed.next_if(|(from, _)| *from <= number) {
            surfaces.leave_out(fragment);
        }
        let surface = surfaces.at(number, &frame, broken.until(number)?)?;
        surface.write(store)?;
        summary.frames += 1;
        summary.fragments = surface.pieces.len();
        summary.vertices = surface.positions.len();
        summary.triangles = surface.triangles.len();
        on_frame(summary.frames, frames.len());
    }
    summary.rebuilds = surfaces.rebuilds;
    Ok(summary)
}

/// Bonds broken up to a frame, read from `breaks/`. In a store without that folder only bonds between
/// different fragments count as broken.
struct BrokenBonds<'a> {
    store: &'a Store,
    /// Frames whose tables are not read yet, in descending order.
    unread: Vec<u32>,
    broken: Vec<bool>,
}

impl<'a> BrokenBonds<'a> {
    fn new(store: &'a Store, bonds: usize) -> Result<Self, ReconstructError> {
        let mut unread = store.numbers("breaks", "parquet")?;
        unread.reverse();
        Ok(BrokenBonds {
            store,
            unread,
            broken: vec![false; bonds],
        })
    }

    /// For each bond, whether it is broken in `frame`. Frames must be requested in ascending order.
    fn until(&mut self, frame: u32) -> Result<&[bool], ReconstructError> {
        while let Some(number) = self.unread.pop_if(|number| *number <= frame) {
            for bond in self.store.read_broken(number, self.broken.len())? {
                self.broken[bond as usize] = true;
            }
        }
        Ok(&self.broken)
    }
}

/// Surfaces of all bodies, reused from frame to frame while nothing breaks.
#[derive(Debug)]
pub struct Surfaces {
    bodies: Vec<RestBody>,
    rest: Vec<DVec3>,
    current: Vec<Option<Fragments>>,
    /// Labels of the fragments without a surface.
    left_out: BTreeSet<u32>,
    /// Number of times that the surfaces of a body were rebuilt after the first build.
    pub rebuilds: usize,
}

impl Surfaces {
    /// Surfaces of `bodies`, none of them built yet.
    pub fn new(elements: &Elements, bodies: Vec<RestBody>) -> Self {
        let rest = (0..elements.x.len())
            .map(|row| DVec3::new(elements.x[row], elements.y[row], elements.z[row]))
            .collect();
        Surfaces {
            current: bodies.iter().map(|_| None).collect(),
            bodies,
            rest,
            left_out: BTreeSet::new(),
            rebuilds: 0,
        }
    }

    /// Leaves out the surface of the fragment with this label from now on.
    pub fn leave_out(&mut self, fragment: u32) {
        self.left_out.insert(fragment);
    }

    /// Surfaces of all bodies in a frame. The rows of `frame` are in the order of the packing; `broken` says
    /// for each bond of the packing whether it is broken.
    pub fn at(
        &mut self,
        number: u32,
        frame: &Frames,
        broken: &[bool],
    ) -> Result<SurfaceFrame, ReconstructError> {
        let labels_of = |body: &RestBody| -> Vec<u32> {
            let rows = body.rows.iter();
            rows.map(|&row| frame.fragment[row as usize]).collect()
        };
        for (body, current) in self.bodies.iter().zip(&mut self.current) {
            if body.world.is_some() {
                continue;
            }
            let labels = labels_of(body);
            let bonds = body.bonds.iter();
            let broken: Vec<bool> = bonds.map(|bond| broken[bond.row as usize]).collect();
            let count = broken.iter().filter(|&&broken| broken).count();
            // Bonds never heal, so a changed number of broken bonds means that one has broken.
            if current
                .as_ref()
                .is_none_or(|known| known.broken != count || known.labels != labels)
            {
                self.rebuilds += usize::from(current.is_some());
                *current = Some(Fragments::new(body, labels, &broken)?);
            }
        }
        let motion = ElementMotions::new(&self.rest, frame);
        let bodies = self.bodies.par_iter().zip(&self.current);
        let parts: Vec<Vec<(u32, Cow<RestSurface>, DeformedSurface)>> = bodies
            .map(|(body, current)| match (&body.world, current) {
                (Some(world), _) => world
                    .draw(&body.rows, &labels_of(body), &motion)
                    .into_iter()
                    .map(|drawn| (drawn.fragment, Cow::Owned(drawn.rest_surface), drawn.moved))
                    .collect(),
                (None, Some(fragments)) => fragments
                    .surfaces
                    .par_iter()
                    .map(|surface| {
                        let rest_surface = Cow::Borrowed(&surface.rest_surface);
                        (surface.fragment, rest_surface, surface.deform(&motion))
                    })
                    .collect(),
                (None, None) => Vec::new(),
            })
            .collect();
        let mut result = SurfaceFrame {
            frame: number,
            time: frame.time.first().copied().unwrap_or(0.0),
            ..SurfaceFrame::default()
        };
        let mut paint = Paint::default();
        for (body, parts) in self.bodies.iter().zip(parts) {
            let parts = parts.into_iter();
            for (fragment, rest_surface, moved) in
                parts.filter(|part| !self.left_out.contains(&part.0))
            {
                let mesh = &rest_surface.mesh;
                let before = result.triangles.len();
                paint.append(before, mesh.paint.clone(), mesh.triangles.len());
                append(&mut result, body.index, fragment, &rest_surface, moved);
            }
        }
        if !result.uv.is_empty() {
            let triangles = result.triangles.len();
            result.uv.resize(triangles, CornerUv::default());
        }
        (result.colours, result.materials) = (paint.colours, paint.materials);
        result.material_names = paint.names;
        Ok(result)
    }
}

/// Appends the surface of a fragment to the surfaces of a frame.
fn append(
    result: &mut SurfaceFrame,
    body: u32,
    fragment: u32,
    rest_surface: &RestSurface,
    moved: DeformedSurface,
) {
    let mesh = &rest_surface.mesh;
    let first_vertex = result.positions.len() as u32;
    result.pieces.push(FragmentRange {
        body,
        fragment,
        first_vertex,
        vertices: mesh.positions.len() as u32,
        first_triangle: result.triangles.len() as u32,
        triangles: mesh.triangles.len() as u32,
    });
    result.positions.extend(moved.positions);
    result.normals.extend(moved.normals);
    result.velocities.extend(moved.velocities);
    result.stress.extend(moved.stress);
    let rest = mesh.positions.iter();
    result
        .rest_positions
        .extend(rest.map(|p| p.as_vec3().to_array()));
    if !mesh.uv.is_empty() {
        // Bodies without a texture have zeros.
        let before = result.triangles.len();
        result.uv.resize(before, CornerUv::default());
        result.uv.extend_from_slice(&mesh.uv);
    }
    let triangles = mesh.triangles.iter();
    result
        .triangles
        .extend(triangles.map(|t| t.map(|v| v + first_vertex)));
    result.inside.extend_from_slice(&rest_surface.inside);
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
