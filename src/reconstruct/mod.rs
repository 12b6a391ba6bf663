//! Closed surfaces of fragments from the elements of a frame store. Knows no other stage.
//!
//! All topology lives at rest: [`body`] lays a grid about each body's skin once, [`cracks`] finds by their
//! fracture points the sides of cracks that grid nodes lie on, [`cut`] cuts the skin along their rims,
//! [`faces`] draws both faces of every crack and evens them out, [`fragments`] parts what is drawn into
//! closed surfaces, [`surface`] gives them texture coordinates and moves them with their elements. The
//! surfaces follow from a frame and the bonds broken up to it alone, so any range of frames gives the files
//! that the whole run gives.
//!
//! [`cells`] draws the cells of a packing instead, where these are wanted.
//!
//! Where no skin is known, or none is wanted, [`world`] draws surfaces from the elements of each frame alone.

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
use std::ops::Range;

use crate::parallel::prelude::*;
use glam::DVec3;

use crate::columns::{Bonds, Elements, Frames};
use crate::geometry::check::require_solid;
use crate::geometry::{CornerUv, read};
use crate::spec::{self, FrameGroup, ReconstructMode};
use crate::store::{Piece, Store, StoreError, SurfaceFrame};

pub use error::ReconstructError;

use body::rest::Body;
use fragments::Fragments;
use surface::motion::{Motion, Moved};
use surface::shell::Shell;

/// What of a frame surfaces follow from. Velocity, spin and stress they carry along where a frame has them,
/// and zeros else.
pub const NEEDS: [FrameGroup; 3] = [
    FrameGroup::Position,
    FrameGroup::Rotation,
    FrameGroup::Fragment,
];

/// What of a packing they follow from.
const ELEMENT_COLUMNS: [&str; 5] = ["body", "x", "y", "z", "r"];
const BOND_COLUMNS: [&str; 6] = ["i", "j", "l0", "dx", "dy", "dz"];

/// What a run has made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Frames written.
    pub frames: usize,
    /// Times that the surfaces of a body were drawn anew because bonds had broken.
    pub redrawn: usize,
    /// Fragments of the last frame.
    pub fragments: usize,
    /// Vertices of the last frame.
    pub vertices: usize,
    /// Triangles of the last frame.
    pub triangles: usize,
}

/// Writes `meshes/NNNNNN.rkyv` for each frame of the store within `frames`; `on_frame` hears how many of how
/// many are done.
///
/// # Errors
/// If the store lacks a file or cannot be written, if a skin cannot be used, or if the cells are too small.
pub fn run(
    store: &Store,
    params: &spec::Reconstruct,
    frames: Range<u32>,
    on_frame: &mut dyn FnMut(usize, usize),
) -> Result<Summary, ReconstructError> {
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
            // A shape that was filled by its winding number, say.
            Err(_) if params.mode == ReconstructMode::Auto => Ok(None),
            Err(defect) => Err(unusable(defect.to_string())),
        }
    };
    let faces = match params.mode {
        ReconstructMode::Cells => Some(store.read_cells()?.unwrap_or_default().faces),
        ReconstructMode::Auto | ReconstructMode::Material | ReconstructMode::World => None,
    };
    let tables = (&packing.elements, &packing.bonds, faces.as_ref());
    let bodies = Body::with_cells(tables, params, skin)?;
    let mut surfaces = Surfaces::new(&packing.elements, bodies);
    let mut broken = BrokenBonds::new(store, packing.bonds.i.len())?;
    packing.bonds = Bonds::default();
    let frames = store.frames(&frames)?;
    let mut summary = Summary::default();
    for &number in &frames {
        let frame = store.read_frame_of(number, &NEEDS, packing.elements.id.len())?;
        let surface = surfaces.at(number, &frame, broken.until(number)?)?;
        surface.write(store)?;
        summary.frames += 1;
        summary.fragments = surface.pieces.len();
        summary.vertices = surface.positions.len();
        summary.triangles = surface.triangles.len();
        on_frame(summary.frames, frames.len());
    }
    summary.redrawn = surfaces.redrawn;
    Ok(summary)
}

/// The bonds broken up to a frame, from `breaks/`; a store without that folder has none but those between fragments.
struct BrokenBonds<'a> {
    store: &'a Store,
    /// Frames with a table not yet read, the first last.
    ahead: Vec<u32>,
    broken: Vec<bool>,
}

impl<'a> BrokenBonds<'a> {
    fn new(store: &'a Store, bonds: usize) -> Result<Self, ReconstructError> {
        let mut ahead = store.numbers("breaks", "parquet")?;
        ahead.reverse();
        Ok(BrokenBonds {
            store,
            ahead,
            broken: vec![false; bonds],
        })
    }

    /// Whether each bond is broken in `frame`, which must not be before the one asked for last.
    fn until(&mut self, frame: u32) -> Result<&[bool], ReconstructError> {
        while let Some(number) = self.ahead.pop_if(|number| *number <= frame) {
            for bond in self.store.read_broken(number, self.broken.len())? {
                self.broken[bond as usize] = true;
            }
        }
        Ok(&self.broken)
    }
}

/// The surfaces of all bodies, kept from frame to frame while nothing breaks.
#[derive(Debug)]
pub struct Surfaces {
    bodies: Vec<Body>,
    rest: Vec<DVec3>,
    current: Vec<Option<Fragments>>,
    /// Times that the surfaces of a body were drawn anew after the first.
    pub redrawn: usize,
}

impl Surfaces {
    /// Surfaces of these bodies, none drawn yet.
    pub fn new(elements: &Elements, bodies: Vec<Body>) -> Self {
        let rest = (0..elements.x.len())
            .map(|row| DVec3::new(elements.x[row], elements.y[row], elements.z[row]))
            .collect();
        Surfaces {
            current: bodies.iter().map(|_| None).collect(),
            bodies,
            rest,
            redrawn: 0,
        }
    }

    /// The surfaces in a frame whose rows follow the packing; `broken` tells of every bond of the packing
    /// whether it is.
    pub fn at(
        &mut self,
        number: u32,
        frame: &Frames,
        broken: &[bool],
    ) -> Result<SurfaceFrame, ReconstructError> {
        let labels_of = |body: &Body| -> Vec<u32> {
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
            // Bonds only ever break, so their number tells whether one has.
            if current
                .as_ref()
                .is_none_or(|known| known.broken != count || known.labels != labels)
            {
                self.redrawn += usize::from(current.is_some());
                *current = Some(Fragments::new(body, labels, &broken)?);
            }
        }
        let motion = Motion::new(&self.rest, frame);
        let bodies = self.bodies.par_iter().zip(&self.current);
        let parts: Vec<Vec<(u32, Cow<Shell>, Moved)>> = bodies
            .map(|(body, current)| match (&body.world, current) {
                (Some(world), _) => world
                    .draw(&body.rows, &labels_of(body), &motion)
                    .into_iter()
                    .map(|drawn| (drawn.fragment, Cow::Owned(drawn.shell), drawn.moved))
                    .collect(),
                (None, Some(fragments)) => fragments
                    .surfaces
                    .par_iter()
                    .map(|surface| {
                        let shell = Cow::Borrowed(&surface.shell);
                        (surface.fragment, shell, surface.carry(&motion))
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
        for (body, parts) in self.bodies.iter().zip(parts) {
            for (fragment, shell, moved) in parts {
                append(&mut result, body.index, fragment, &shell, moved);
            }
        }
        if !result.uv.is_empty() {
            let triangles = result.triangles.len();
            result.uv.resize(triangles, CornerUv::default());
        }
        Ok(result)
    }
}

/// Adds the surface of a fragment to those of a frame.
fn append(result: &mut SurfaceFrame, body: u32, fragment: u32, shell: &Shell, moved: Moved) {
    let mesh = &shell.mesh;
    let first_vertex = result.positions.len() as u32;
    result.pieces.push(Piece {
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
        // Those of bodies without a texture are zeros.
        let before = result.triangles.len();
        result.uv.resize(before, CornerUv::default());
        result.uv.extend_from_slice(&mesh.uv);
    }
    let triangles = mesh.triangles.iter();
    result
        .triangles
        .extend(triangles.map(|t| t.map(|v| v + first_vertex)));
    result.inside.extend_from_slice(&shell.inside);
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
