//! What is asked of the faces: the loads of a step with the faces that break, what the faces of each cell carry.

use super::between::Across;
use super::columns::{Faces, field};
use super::face_pass::{FaceLanes, Owners, Task};
use super::row_sums::RowSums;
use super::stress::Stresses;
use crate::laws::cell::{self, Bend, FaceLoad};
use crate::laws::failure::{self, Section};
use crate::math::lanes::Row;
use crate::math::{Lanes, Scalar, Vec3};
use crate::simulate::bonded::bond_tasks::{BreakEvent, Carried, note_breaks};
use crate::simulate::bonded::bonds::BLOCK;
use crate::simulate::bonded::column::Column;
use crate::simulate::bonded::rows::{put, room};
use crate::simulate::bonded::system::{Load, motion};

/// Strengths of faces.
#[derive(Clone, Debug)]
pub struct Limits<S> {
    /// Tensile strengths by entry, Pa.
    pub sigma_c: Column<S>,
    /// Shear strengths by entry, Pa.
    pub tau_c: Column<S>,
    /// What the criterion of each entry has beside its area: whether compression counts, and shear stress
    /// over mean shear stress.
    pub criterion: [Column<S>; 2],
}

/// Force and torque of each face.
#[inline(always)]
fn loads<L: Lanes>(folding: &[Row<L::Scalar, 4>], at: &FaceLanes<L>) -> (FaceLoad<L>, Bend<L>) {
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

/// Index of half of the power of damping in a row of sums: force in 0..3, torque in 4..7. The same index
/// holds 1/I in `Load`.
const POWER_AT: usize = 7;

/// Puts the sums of a cell in place of its force and torque.
#[inline(always)]
pub fn put_load<S: Scalar>(sum: &[S; 8], to: &mut Load<S>) {
    for k in [0, 1, 2, 4, 5, 6] {
        to.0[k] = sum[k];
    }
}

/// Half of the power that damping takes at the faces of a cell, W, from its sums.
#[inline(always)]
pub fn power<S: Scalar>(sum: &[S; 8]) -> f64 {
    sum[POWER_AT].to_f64()
}

/// Forces and torques on both cells of faces, added up in the order in which dilations are, and which faces break.
pub struct Act<'a, L: Lanes> {
    /// What bending puts on the faces of walls, by cell.
    pub folding: &'a [Row<L::Scalar, 4>],
    /// Force, torque and half of the power of damping by cell.
    pub loads: &'a mut RowSums<L::Scalar>,
    /// Other cells of the bonds' entries.
    pub others: &'a [u32],
    /// Slots of bonds.
    pub slots: usize,
    /// First cell of the chunk.
    pub first: usize,
    /// What faces break by; none where nothing breaks.
    pub limits: Option<&'a Limits<L::Scalar>>,
    /// Faces that break in this step.
    pub breaks: &'a mut Vec<BreakEvent>,
    /// Force and torque of the row so far, and half of the power of damping.
    pub row: (Vec3<L>, Vec3<L>, L),
}

/// What faces do to both of their cells.
struct Both<L> {
    /// On the owner, N.
    force: Vec3<L>,
    /// On the owner, N m.
    torque: Vec3<L>,
    /// Force and torque on the other, and half of the power of damping.
    back: [L; 8],
}

impl<L: Lanes> Act<'_, L> {
    /// What faces do to both of their cells, whoever evaluates them.
    #[inline(always)]
    fn both(&self, at: &FaceLanes<L>, load: FaceLoad<L>, bend: &Bend<L>) -> Both<L> {
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
            let (v, w) = (at.ends.both(motion::V), at.ends.both(motion::W));
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
        Both {
            force,
            torque: Vec3::select(mask, torque, none),
            back: row,
        }
    }

    #[inline(always)]
    fn check(&mut self, at: &FaceLanes<L>, first: usize, load_i: FaceLoad<L>, bend: &Bend<L>) {
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
) -> Section<L> {
    let (one, half) = (L::splat(1.0), L::splat(0.5));
    let inverse_area = half / faces.rest.lanes::<L>(entry, field::HALF_AREA);
    Section {
        inverse_area,
        bend_modulus: one,
        twist_modulus: one,
        compression_counts: limits.criterion[0].load(entry),
        inverse_shear_area: inverse_area * limits.criterion[1].load(entry),
    }
}

impl<L: Lanes> Task<L> for Act<'_, L> {
    const FIELDS: usize = usize::MAX;

    #[inline(always)]
    fn begin(&mut self) {
        self.row = (Vec3::zero(), Vec3::zero(), L::zero());
    }

    #[inline(always)]
    fn face(&mut self, at: &FaceLanes<L>) {
        let (load_i, bend) = loads(self.folding, at);
        let both = self.both(at, load_i, &bend);
        self.row.0 = self.row.0 + both.force;
        self.row.1 = self.row.1 + both.torque;
        self.row.2 = self.row.2 + both.back[POWER_AT];
        self.loads.keep(at.place, both.back);
        if let Owners::From(first) = at.owners {
            self.check(at, first, load_i, &bend);
        }
    }

    #[inline(always)]
    fn none(&mut self, place: usize) {
        self.loads.keep(place, [L::zero(); 8]);
    }

    #[inline(always)]
    fn end(&mut self, local: usize) {
        let (force, torque, power) = self.row;
        let mut row = [L::zero(); 8];
        put(&mut row, 0, force);
        put(&mut row, 4, torque);
        row[POWER_AT] = power;
        self.loads.own(local, row);
    }

    #[inline(always)]
    fn block(&mut self, local: usize, filled: u32) {
        let base = (self.first + local) * self.slots;
        let others = &self.others[base..base + self.slots * BLOCK];
        self.loads.hand_on(others, self.first, filled);
    }
}

impl<L: Lanes> Across<L> for Act<'_, L> {
    #[inline(always)]
    fn across(&mut self, at: &FaceLanes<L>) {
        let (load_i, bend) = loads(self.folding, at);
        let both = self.both(at, load_i, &bend);
        self.loads.each(at.others, self.first, both.back);
    }
}

/// What the faces of the cells of a chunk carry.
pub struct Carry<'a, L: Lanes> {
    /// What faces break by.
    pub limits: &'a Limits<L::Scalar>,
    /// What principal stresses break; none where they break nothing.
    pub stresses: Option<&'a Stresses<L::Scalar>>,
    /// What bending puts on the faces of walls, by cell.
    pub folding: &'a [Row<L::Scalar, 4>],
    /// σ, τ and energy of the gap and of bending, by entry of the chunk; written.
    pub carried: &'a mut [Carried],
    /// First entry of the chunk.
    pub base: usize,
    /// Lanes, for the compiler.
    pub lanes: std::marker::PhantomData<L>,
}

impl<L: Lanes> Task<L> for Carry<'_, L> {
    const FIELDS: usize = usize::MAX;

    #[inline(always)]
    fn begin(&mut self) {}

    #[inline(always)]
    fn face(&mut self, at: &FaceLanes<L>) {
        let (load_i, bend) = loads(self.folding, at);
        let moduli = at.faces.moduli.vectors(at.entry, 0);
        let carried = cell::transmitted(load_i, &bend, moduli);
        let (sigma, tau) = failure::stress(&carried, &section(at.faces, self.limits, at.entry));
        let traction = at.rest.get(field::TRACTION);
        let energy = cell::gap_energy(at.face, traction) + bend.energy;
        let mut columns = [room::<L>(), room::<L>(), room::<L>()];
        for (column, value) in columns.iter_mut().zip([sigma, tau, energy]) {
            value.store(column);
        }
        for lane in (0..L::WIDTH).filter(|lane| at.bits >> lane & 1 != 0) {
            self.carried[at.entry + lane - self.base] = Carried {
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
    fn none(&mut self, _place: usize) {}

    #[inline(always)]
    fn end(&mut self, _local: usize) {}

    #[inline(always)]
    fn block(&mut self, _local: usize, _filled: u32) {}
}
