//! Computations on faces: the loads of a step with the faces that break, and the stresses and energies of the
//! faces.

use super::columns::{Faces, field};
use super::crossing_pass::CrossingTask;
use super::face_pass::{FaceLanes, FaceTask, Owners};
use super::row_sums::RowSums;
use super::stress::Stresses;
use crate::laws::cell::{self, FaceBending, FaceLoad};
use crate::laws::failure::{self, CriterionSection};
use crate::math::lanes::LaneRow;
use crate::math::{Lanes, Scalar, Vec3};
use crate::simulate::bonded::bond_tasks::{BreakEvent, StressAndEnergy, note_breaks};
use crate::simulate::bonded::bonds::BLOCK;
use crate::simulate::bonded::column::Column;
use crate::simulate::bonded::rows::{lane_buffer, put};
use crate::simulate::bonded::system::{LoadRow, motion};

/// Strengths of faces.
#[derive(Clone, Debug)]
pub struct Limits<S> {
    /// Tensile strengths by entry, Pa.
    pub sigma_c: Column<S>,
    /// Shear strengths by entry, Pa.
    pub tau_c: Column<S>,
    /// Parameters of the failure criterion by entry, in addition to the area: whether compression counts, and
    /// shear stress over mean shear stress.
    pub criterion: [Column<S>; 2],
}

/// Force and torque of each face.
#[inline(always)]
fn loads<L: Lanes>(
    folding: &[LaneRow<L::Scalar, 4>],
    at: &FaceLanes<L>,
) -> (FaceLoad<L>, FaceBending<L>) {
    let half_area = at.rest.get(field::HALF_AREA);
    let stiffness = at.rest.get(field::TRACTION);
    let load = cell::traction(at.face, stiffness, half_area, at.ends.pressure());
    let mut bend = at.bend();
    if let Some(fold) = at.fold() {
        let own: [L; 4] = at.owners.rows(folding);
        let other: [L; 4] = L::gather(folding, at.others);
        let moment = (own[0] + other[0]) * half_area;
        bend.torque = bend.torque + fold.slope * moment;
    }
    (load, bend)
}

/// Index of half of the damping power in a row of sums; force is in 0..3, torque in 4..7. The same index
/// holds 1/I in `LoadRow`.
const POWER_AT: usize = 7;

/// Replaces the force and torque of a cell by its sums.
#[inline(always)]
pub fn put_load<S: Scalar>(sum: &[S; 8], to: &mut LoadRow<S>) {
    for k in [0, 1, 2, 4, 5, 6] {
        to.0[k] = sum[k];
    }
}

/// Half of the power dissipated by damping at the faces of a cell, W, from its sums.
#[inline(always)]
pub fn power<S: Scalar>(sum: &[S; 8]) -> f64 {
    sum[POWER_AT].to_f64()
}

/// Adds up forces and torques on both cells of faces, in the same order as dilations, and finds the faces
/// that break.
pub struct FaceLoadTask<'a, L: Lanes> {
    /// Bending moments per area on the faces of one-layer walls, by cell.
    pub folding: &'a [LaneRow<L::Scalar, 4>],
    /// Force, torque and half of the damping power, by cell.
    pub loads: &'a mut RowSums<L::Scalar>,
    /// Other cell of each bond entry.
    pub others: &'a [u32],
    /// Slots of the bonds.
    pub slots: usize,
    /// First cell of the chunk.
    pub first: usize,
    /// Strengths of faces; none if nothing breaks.
    pub limits: Option<&'a Limits<L::Scalar>>,
    /// Faces that break in this step.
    pub breaks: &'a mut Vec<BreakEvent>,
    /// Force, torque and half of the damping power of the current row of cells so far.
    pub row: (Vec3<L>, Vec3<L>, L),
}

/// Loads of faces on both of their cells.
struct LoadsOnBoth<L> {
    /// Force on the owner, N.
    force: Vec3<L>,
    /// Torque on the owner, N m.
    torque: Vec3<L>,
    /// Force and torque on the other cell, and half of the damping power.
    back: [L; 8],
}

impl<L: Lanes> FaceLoadTask<'_, L> {
    /// Loads of faces on both of their cells, the same for either chunk that evaluates them.
    #[inline(always)]
    fn both(&self, at: &FaceLanes<L>, load: FaceLoad<L>, bend: &FaceBending<L>) -> LoadsOnBoth<L> {
        let mut force = load.force;
        let mut torque = load.torque + bend.torque;
        let mut back = load.torque_j - bend.torque;
        let mut power = L::zero();
        if at.faces.damped {
            let rest = &at.faces.rest;
            let coefficients = (
                rest.lanes(at.entry, field::DAMPING),
                rest.lanes(at.entry, field::DAMPING + 1),
            );
            let (v, w) = (
                at.ends.motion_of_both(motion::V),
                at.ends.motion_of_both(motion::W),
            );
            let damped = cell::damping(at.face, v, w, coefficients);
            force = force + damped.force;
            torque = torque + damped.torque_i;
            back = back + damped.torque_j;
            power = damped.power * L::splat(0.5);
        }
        let (mask, none) = (L::mask(at.bits), Vec3::zero());
        let force = Vec3::select(mask, force, none);
        let mut row = [L::zero(); 8];
        put(&mut row, 0, -force);
        put(&mut row, 4, Vec3::select(mask, back, none));
        row[POWER_AT] = L::select(mask, power, L::zero());
        LoadsOnBoth {
            force,
            torque: Vec3::select(mask, torque, none),
            back: row,
        }
    }

    #[inline(always)]
    fn check(
        &mut self,
        at: &FaceLanes<L>,
        first: usize,
        load_i: FaceLoad<L>,
        bend: &FaceBending<L>,
    ) {
        let Some(limits) = self.limits else {
            return;
        };
        let entry = at.entry;
        let carried = cell::transmitted(load_i, bend, at.faces.moduli.vectors(entry, 0));
        let section = section(at.faces, limits, entry);
        let (sigma_c, tau_c) = (limits.sigma_c.load(entry), limits.tau_c.load(entry));
        let mask = L::mask(at.bits);
        let near = failure::may_exceed(&carried, &section, sigma_c, tau_c);
        if L::bits(mask & near) != 0 {
            let stress = failure::stress(&carried, &section);
            let place = (first, entry, at.others);
            note_breaks(self.breaks, place, at.bits, stress, (sigma_c, tau_c));
        }
    }
}

#[inline(always)]
fn section<L: Lanes>(
    faces: &Faces<L::Scalar>,
    limits: &Limits<L::Scalar>,
    entry: usize,
) -> CriterionSection<L> {
    let (one, half) = (L::splat(1.0), L::splat(0.5));
    let inverse_area = half / faces.rest.lanes::<L>(entry, field::HALF_AREA);
    CriterionSection {
        inverse_area,
        bend_modulus: one,
        twist_modulus: one,
        compression_counts: limits.criterion[0].load(entry),
        inverse_shear_area: inverse_area * limits.criterion[1].load(entry),
    }
}

impl<L: Lanes> FaceTask<L> for FaceLoadTask<'_, L> {
    const FIELDS: usize = usize::MAX;

    #[inline(always)]
    fn begin_row(&mut self) {
        self.row = (Vec3::zero(), Vec3::zero(), L::zero());
    }

    #[inline(always)]
    fn face(&mut self, at: &FaceLanes<L>) {
        let (load_i, bend) = loads(self.folding, at);
        let both = self.both(at, load_i, &bend);
        self.row.0 = self.row.0 + both.force;
        self.row.1 = self.row.1 + both.torque;
        self.row.2 = self.row.2 + both.back[POWER_AT];
        self.loads.store_other(at.place, both.back);
        if let Owners::Consecutive(first) = at.owners {
            self.check(at, first, load_i, &bend);
        }
    }

    #[inline(always)]
    fn empty_slot(&mut self, place: usize) {
        self.loads.store_other(place, [L::zero(); 8]);
    }

    #[inline(always)]
    fn end_row(&mut self, local: usize) {
        let (force, torque, power) = self.row;
        let mut row = [L::zero(); 8];
        put(&mut row, 0, force);
        put(&mut row, 4, torque);
        row[POWER_AT] = power;
        self.loads.add_owned(local, row);
    }

    #[inline(always)]
    fn end_block(&mut self, local: usize, filled: u32) {
        let base = (self.first + local) * self.slots;
        let others = &self.others[base..base + self.slots * BLOCK];
        self.loads.scatter_block(others, self.first, filled);
    }
}

impl<L: Lanes> CrossingTask<L> for FaceLoadTask<'_, L> {
    #[inline(always)]
    fn crossing(&mut self, at: &FaceLanes<L>) {
        let (load_i, bend) = loads(self.folding, at);
        let both = self.both(at, load_i, &bend);
        self.loads.scatter(at.others, self.first, both.back);
    }
}

/// Stresses and energies of the faces of a chunk's cells.
pub struct FaceStressTask<'a, L: Lanes> {
    /// Strengths of faces.
    pub limits: &'a Limits<L::Scalar>,
    /// Data of Rankine's criterion; none if no face breaks by it.
    pub stresses: Option<&'a Stresses<L::Scalar>>,
    /// Bending moments per area on the faces of one-layer walls, by cell.
    pub folding: &'a [LaneRow<L::Scalar, 4>],
    /// Output: σ, τ and gap and bending energy, by entry of the chunk.
    pub carried: &'a mut [StressAndEnergy],
    /// First entry of the chunk.
    pub base: usize,
    /// Marker for the lane type.
    pub lanes: std::marker::PhantomData<L>,
}

impl<L: Lanes> FaceTask<L> for FaceStressTask<'_, L> {
    const FIELDS: usize = usize::MAX;

    #[inline(always)]
    fn begin_row(&mut self) {}

    #[inline(always)]
    fn face(&mut self, at: &FaceLanes<L>) {
        let (load_i, bend) = loads(self.folding, at);
        let moduli = at.faces.moduli.vectors(at.entry, 0);
        let carried = cell::transmitted(load_i, &bend, moduli);
        let (sigma, tau) = failure::stress(&carried, &section(at.faces, self.limits, at.entry));
        let traction = at.rest.get(field::TRACTION);
        let energy = cell::gap_energy(at.face, traction) + bend.energy;
        let mut columns = [lane_buffer::<L>(), lane_buffer::<L>(), lane_buffer::<L>()];
        for (column, value) in columns.iter_mut().zip([sigma, tau, energy]) {
            value.store(column);
        }
        for lane in (0..L::WIDTH).filter(|lane| at.bits >> lane & 1 != 0) {
            self.carried[at.entry + lane - self.base] = StressAndEnergy {
                sigma: columns[0][lane].to_f64(),
                tau: columns[1][lane].to_f64(),
                energy: columns[2][lane].to_f64(),
            };
        }
        if let Some(stresses) = self.stresses {
            stresses.sigmas(at, L::splat(f64::NEG_INFINITY), |lane, sigma| {
                let entry = at.entry + lane;
                if stresses.strengths.get(entry).to_f64() < f64::INFINITY {
                    self.carried[entry - self.base].sigma = sigma;
                }
            });
        }
    }

    #[inline(always)]
    fn empty_slot(&mut self, _place: usize) {}

    #[inline(always)]
    fn end_row(&mut self, _local: usize) {}

    #[inline(always)]
    fn end_block(&mut self, _local: usize, _filled: u32) {}
}
