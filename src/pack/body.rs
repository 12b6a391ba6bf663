//! One body: its shape, filled with elements, placed in the world.

use std::f64::consts::PI;

use glam::DVec3;

use super::error::PackError;
use super::fill::fill;
use super::filled::{Calibration, FilledShape, PackingStructure};
use super::mesh::{self, MeshFiles};
use super::request::{SeededBody, too_large};
use super::{cells, hilbert, neighbours};
use crate::geometry::TriMesh;
use crate::geometry::cells::Cells;
use crate::geometry::closing::ClosingReport;
use crate::geometry::convex::Convex;
use crate::spec::{Body, PackingSpec};

/// A body filled with elements.
#[derive(Clone, Debug)]
pub struct PackedBody {
    /// Centres of the elements in the world, m, along a Hilbert curve.
    pub centres: Vec<DVec3>,
    /// Radii of the elements, m.
    pub radii: Vec<f64>,
    /// Mean radius, m, before elements were left out.
    pub radius: f64,
    /// How the moduli of its bonds are calibrated.
    pub calibration: Calibration,
    /// Volume of the shape, m³: the volume inside its skin or, for a mesh filled by winding number, the
    /// region where that exceeds one half.
    pub volume: f64,
    /// Pairs of neighbours `[i, j]`, `i < j`, in order; empty for a body that is not bonded.
    pub pairs: Vec<[u32; 2]>,
    /// Skin at rest, world coordinates.
    pub skin: TriMesh,
    /// Elements left out because they had no neighbour.
    pub isolated: usize,
    /// Number of parts connected by these pairs; equal to the number of elements if the body is not bonded.
    pub parts: usize,
    /// What was done to close its mesh, if the shape is a mesh.
    pub closing: Option<ClosingReport>,
    /// Cells and their faces in world coordinates, if the elements are cells. Faces between cells are in the
    /// order of the pairs. Moments of inertia stay in the shape's own frame, at density 1.
    pub cells: Option<Cells>,
}

/// Packs body `number` of a shot with this seed; `files` are the mesh files of the shot.
///
/// The packing is made in the shape's own frame, so that rotation and position move it rigidly. Elements of a
/// bonded body without any neighbour are left out, except where there is only one element, which may be as
/// large as the body.
pub fn pack_body(
    body: &Body,
    files: &MeshFiles<'_>,
    (seed, number): (u64, u32),
) -> Result<PackedBody, PackError> {
    let turn = body.rotation.quaternion();
    let position = DVec3::from_array(body.position);
    let (mesh, closing) = mesh::skin(body, files)?.unzip();
    let mut filled = fill(
        SeededBody {
            body,
            seed: (seed, number),
        },
        mesh.as_ref(),
    )?;
    if let PackingStructure::Cells { solids } = &mut filled.structure {
        let solids = std::mem::take(solids);
        return Ok(PackedBody {
            closing,
            ..pack_cells(body, filled, &solids)
        });
    }
    let spheres = std::mem::take(&mut filled.spheres);
    let order = hilbert::order(&spheres.centres);
    let sorted = order.iter().map(|&at| at as usize);
    let mut centres: Vec<DVec3> = sorted.clone().map(|at| spheres.centres[at]).collect();
    let mut radii: Vec<f64> = sorted.map(|at| spheres.radii[at]).collect();
    drop(spheres);
    let (mut pairs, mut isolated) = (Vec::new(), 0);
    if body.is_bonded() {
        pairs = filled.bonding.pairs(&centres, &radii, &order);
    }
    let calibration = filled.structure.calibration(&centres, &order, &pairs);
    // The only element of a body stays although it has no neighbour.
    if body.is_bonded() && centres.len() > 1 {
        isolated = leave_out_isolated(&mut centres, &mut radii, &mut pairs);
    }
    let whole = filled.volume >= 4.0 / 3.0 * PI * filled.radius.powi(3);
    let is_filled = body.packing != PackingSpec::None {};
    if is_filled && (centres.is_empty() || (centres.len() == 1 && !whole)) {
        return Err(too_large(body, filled.radius, &filled.skin));
    }
    for p in centres.iter_mut().chain(&mut filled.skin.positions) {
        *p = position + turn * *p;
    }
    Ok(PackedBody {
        parts: neighbours::parts(centres.len(), &pairs),
        centres,
        radii,
        radius: filled.radius,
        calibration,
        volume: filled.volume,
        pairs,
        skin: filled.skin,
        isolated,
        closing,
        cells: None,
    })
}

/// A body of these solids. The tag of a face is the number of the solid on its other side.
fn pack_cells(body: &Body, filled: FilledShape, solids: &[Convex]) -> PackedBody {
    let (cells, order) = cells::place_cells(body, &filled.spheres.centres, solids);
    let (turn, position) = (body.rotation.quaternion(), DVec3::from_array(body.position));
    let mut skin = filled.skin;
    for p in &mut skin.positions {
        *p = position + turn * *p;
    }
    let radii = order.iter().map(|&at| filled.spheres.radii[at as usize]);
    let pairs: Vec<[u32; 2]> = cells.between.iter().map(|one| one.cells).collect();
    PackedBody {
        centres: cells.masses.iter().map(|mass| mass.centre).collect(),
        radii: radii.collect(),
        radius: filled.radius,
        calibration: Calibration::Cells,
        volume: filled.volume,
        parts: neighbours::parts(order.len(), &pairs),
        pairs,
        skin,
        isolated: 0,
        closing: None,
        cells: Some(cells),
    }
}

/// Removes points that are in no pair and renumbers the pairs; keeps the order. Returns the number of removed
/// points.
fn leave_out_isolated(
    centres: &mut Vec<DVec3>,
    radii: &mut Vec<f64>,
    pairs: &mut [[u32; 2]],
) -> usize {
    let mut is_bonded = vec![false; centres.len()];
    for &end in pairs.as_flattened() {
        is_bonded[end as usize] = true;
    }
    let mut kept = 0;
    let number: Vec<u32> = is_bonded
        .iter()
        .map(|bonded| {
            kept += u32::from(*bonded);
            kept.wrapping_sub(1)
        })
        .collect();
    let before = centres.len();
    let mut flags = is_bonded.iter();
    centres.retain(|_| flags.next() == Some(&true));
    let mut flags = is_bonded.iter();
    radii.retain(|_| flags.next() == Some(&true));
    for end in pairs.as_flattened_mut() {
        *end = number[*end as usize];
    }
    before - centres.len()
}
