//! One body: its shape, filled with elements, placed in the world.

use std::f64::consts::PI;
use std::path::Path;

use glam::DVec3;

use super::error::PackError;
use super::fill::fill;
use super::filled::{Calibration, Filled, Makeup};
use super::request::{Job, too_large};
use super::{cells, hilbert, neighbours};
use crate::geometry::TriMesh;
use crate::geometry::cells::Cells;
use crate::geometry::convex::Convex;
use crate::spec::{Body, PackingSpec};

/// A body filled with elements.
#[derive(Clone, Debug)]
pub struct PackedBody {
    /// Centres of the elements in the world, m, along a Hilbert curve.
    pub centres: Vec<DVec3>,
    /// Radii of the elements, m.
    pub radii: Vec<f64>,
    /// Their mean, m, before elements were left out.
    pub radius: f64,
    /// What the moduli of its bonds follow from.
    pub calibration: Calibration,
    /// Volume of the shape, m³: of its skin; of a mesh filled by winding number, where that exceeds one half.
    pub volume: f64,
    /// Pairs of neighbours `[i, j]`, `i < j`, in order; empty for a body that is not bonded.
    pub pairs: Vec<[u32; 2]>,
    /// Skin at rest, in the world.
    pub skin: TriMesh,
    /// Elements left out because they had no neighbour.
    pub isolated: usize,
    /// Parts that are connected by these pairs; the number of elements in a body that is not bonded.
    pub parts: usize,
    /// Cells and their faces in the world, where the elements are cells: faces between them in the order of
    /// the pairs. Moments of inertia stay in the shape's own frame, of density 1.
    pub cells: Option<Cells>,
}

/// Packs a body, the `number`th of a shot with this seed; `base` is the folder that mesh paths start from.
///
/// The packing lies in the shape's own frame, so that rotation and position move it rigidly. A bonded body
/// leaves out elements without any neighbour, unless there is but one: that may be as large as the body.
pub fn pack_body(
    body: &Body,
    base: &Path,
    (seed, number): (u64, u32),
) -> Result<PackedBody, PackError> {
    let turn = body.rotation.quaternion();
    let position = DVec3::from_array(body.position);
    let draw = (seed, number);
    let mut filled = fill(Job { body, draw }, base)?;
    if let Makeup::Cells { solids } = &mut filled.makeup {
        let solids = std::mem::take(solids);
        return Ok(of_cells(body, filled, &solids));
    }
    let order = hilbert::order(&filled.points.centres);
    let sorted = order.iter().map(|&at| at as usize);
    let mut centres: Vec<DVec3> = sorted.clone().map(|at| filled.points.centres[at]).collect();
    let mut radii: Vec<f64> = sorted.map(|at| filled.points.radii[at]).collect();
    let (mut pairs, mut isolated) = (Vec::new(), 0);
    if body.is_bonded() {
        pairs = filled.bonding.pairs(&centres, &radii, &order);
    }
    let calibration = filled.makeup.calibration(&centres, &order, &pairs);
    // A body of one element has no neighbours to lack.
    if body.is_bonded() && centres.len() > 1 {
        isolated = leave_out_isolated(&mut centres, &mut radii, &mut pairs);
    }
    let whole = filled.volume >= 4.0 / 3.0 * PI * filled.radius.powi(3);
    let asked = body.packing != PackingSpec::None {};
    if asked && (centres.is_empty() || (centres.len() == 1 && !whole)) {
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
        cells: None,
    })
}

/// A body of these solids, of which a face has the number of the solid beyond it as its tag.
fn of_cells(body: &Body, filled: Filled, solids: &[Convex]) -> PackedBody {
    let (cells, order) = cells::placed(body, &filled.points.centres, solids);
    let (turn, position) = (body.rotation.quaternion(), DVec3::from_array(body.position));
    let mut skin = filled.skin;
    for p in &mut skin.positions {
        *p = position + turn * *p;
    }
    let radii = order.iter().map(|&at| filled.points.radii[at as usize]);
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
        cells: Some(cells),
    }
}

/// Removes points in no pair and numbers the pairs anew; order is kept. Returns how many went.
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
