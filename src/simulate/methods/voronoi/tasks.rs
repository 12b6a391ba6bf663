//! What is asked of the faces: the dilation of cells, the loads of a step with the faces that break, what the faces of each cell carry.

use super::columns::{Faces, field};
use super::face_pass::{FaceLanes, Task};
use crate::laws::cell::{self, Bend, FaceLoad};
use crate::laws::failure::{self, Section};
use crate::math::lanes::Row;
use crate::math::{Lanes, Scalar, Vec3};
use crate::simulate::bonded::bond_tasks::{BreakEvent, Carried, note_breaks};
use crate::simulate::bonded::column::Column;
use crate::simulate::bonded::rows::{put, room};
use crate::simulate::bonded::system::{Load, System};
use crate::simulate::bonded::work::Taken;

/// What each face adds to ε V of both of its cells.
pub struct Dilate<'a, S> {
    /// Faces.
    pub faces: &'a Faces<S>,
    /// By entry of the chunk, m³; written.
    pub dilation: &'a mut [S],
    /// What each face adds to Ω of both of its cells, by entry of the chunk, m²; written. Empty where there are no walls.
    pub folding: &'a mut [S],
    /// First entry of the chunk.
    pub base: usize,
}

impl<L: Lanes> Task<L> for Dilate<'_, L::Scalar> {
    #[inline(always)]
    fn begin(&mut self, _local: usize) {}

    #[inline(always)]
    fn face(&mut self, at: &FaceLanes<L>) {
        let more = cell::dilation(at.face, self.faces.rest.lanes(at.entry, field::HALF_AREA));
        let more = L::select(L::mask(at.bits), more, L::zero());
        more.store(&mut self.dilation[at.entry - self.base..]);
        if let Some(fold) = at.fold(self.faces) {
            let more = fold.angle * self.faces.rest.lanes(at.entry, field::HALF_AREA);
            let more = L::select(L::mask(at.bits), more, L::zero());
            more.store(&mut self.folding[at.entry - self.base..]);
        }
    }

    #[inline(always)]
    fn none(&mut self, entry: usize) {
        L::zero().store(&mut self.dilation[entry - self.base..]);
        if self.faces.through.is_some() {
            L::zero().store(&mut self.folding[entry - self.base..]);
        }
    }

    #[inline(always)]
    fn end(&mut self, _local: usize) {}
}

/// Force and torque of each face.
#[inline(always)]
fn loads<L: Lanes>(
    (faces, folding): (&Faces<L::Scalar>, &[Row<L::Scalar, 4>]),
    at: &FaceLanes<L>,
) -> (FaceLoad<L>, Bend<L>) {
    let pressure = at.own_rest[3] + at.other_rest[3];
    let load = cell::traction(
        at.face,
        faces.rest.lanes(at.entry, field::TRACTION),
        faces.rest.lanes(at.entry, field::HALF_AREA),
        pressure,
    );
    let mut bend = at.bend(faces);
    if let Some(fold) = at.fold(faces) {
        // Both cells have as many rows as there are cells.
        let own: [L; 4] = L::load_rows(&folding[at.first..]);
        let other: [L; 4] = L::gather(folding, at.others);
        let moment = (own[0] + other[0]) * faces.rest.lanes::<L>(at.entry, field::HALF_AREA);
        bend.torque = bend.torque + fold.slope * moment;
    }
    (load, bend)
}

/// Forces and torques on the owners of faces; what faces do to the other cells, and which break.
pub struct Act<'a, L: Lanes> {
    /// Faces.
    pub faces: &'a Faces<L::Scalar>,
    /// What bending puts on the faces of walls, by cell.
    pub folding: &'a [Row<L::Scalar, 4>],
    /// Loads of the chunk; force and torque are written.
    pub load: &'a mut [Load<L::Scalar>],
    /// Force and torque on the other cells, and half of the power of damping, by entry of the chunk; written.
    pub handed: &'a mut [Row<L::Scalar, 8>],
    /// First entry of the chunk.
    pub base: usize,
    /// What faces break by; none where nothing breaks.
    pub limits: Option<&'a Limits<L::Scalar>>,
    /// Faces that break in this step.
    pub breaks: &'a mut Vec<BreakEvent>,
    /// What each cell of the chunk has lost; added to unless empty.
    pub taken: &'a mut [Taken],
    /// Time step, s.
    pub dt: f64,
    /// Force and torque of the row so far, and half of the power of damping.
    pub sum: (Vec3<L>, Vec3<L>, L),
}

/// Strengths of faces.
#[derive(Clone, Debug)]
pub struct Limits<S> {
    /// Tensile strengths by entry, Pa.
    pub sigma_c: Column<S>,
    /// Shear strengths by entry, Pa.
    pub tau_c: Column<S>,
    /// What the criterion of each entry has beside its area: whether compression counts, and shear stress over mean shear stress.
    pub criterion: [Column<S>; 2],
}

/// Index of half of the power of damping in a row of eight; the same index holds 1/I in `Load`.
const POWER_AT: usize = 7;

impl<L: Lanes> Act<'_, L> {
    #[inline(always)]
    fn check(&mut self, at: &FaceLanes<L>, load_i: FaceLoad<L>, bend: &Bend<L>) {
        let Some(limits) = self.limits else {
            return;
        };
        let entry = at.entry;
        let carried = cell::transmitted(load_i, bend, self.faces.moduli.vectors(entry, 0));
        let section = section(self.faces, limits, entry);
        let (sigma_c, tau_c) = (limits.sigma_c.load(entry), limits.tau_c.load(entry));
        let mask = L::mask(at.bits);
        let near = failure::may_exceed(&carried, &section, sigma_c, tau_c);
        if L::bits(mask & near) != 0 {
            let stress = failure::stress(&carried, &section);
            let place = (at.first, entry, at.others);
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
    #[inline(always)]
    fn begin(&mut self, _local: usize) {
        self.sum = (Vec3::zero(), Vec3::zero(), L::zero());
    }

    #[inline(always)]
    fn face(&mut self, at: &FaceLanes<L>) {
        let (load_i, bend) = loads((self.faces, self.folding), at);
        let mut force = load_i.force;
        let mut torque = load_i.torque + bend.torque;
        let mut back = load_i.torque_j - bend.torque;
        let mut power = L::zero();
        if self.faces.damped {
            let coefficients = (
                self.faces.rest.lanes(at.entry, field::DAMPING),
                self.faces.rest.lanes(at.entry, field::DAMPING + 1),
            );
            let [v, w] = at.speeds();
            let damped = cell::damping(at.face, v, w, coefficients);
            force = force + damped.force;
            torque = torque + damped.torque_i;
            back = back + damped.torque_j;
            power = damped.power * L::splat(0.5);
        }
        let (mask, none) = (L::mask(at.bits), Vec3::zero());
        let force = Vec3::select(mask, force, none);
        self.sum.0 = self.sum.0 + force;
        self.sum.1 = self.sum.1 + Vec3::select(mask, torque, none);
        let mut row = [L::zero(); 8];
        put(&mut row, 0, -force);
        put(&mut row, 4, Vec3::select(mask, back, none));
        row[POWER_AT] = L::select(mask, power, L::zero());
        self.sum.2 = self.sum.2 + row[POWER_AT];
        L::store_rows(row, &mut self.handed[at.entry - self.base..]);
        self.check(at, load_i, &bend);
    }

    #[inline(always)]
    fn none(&mut self, entry: usize) {
        L::store_rows([L::zero(); 8], &mut self.handed[entry - self.base..]);
    }

    #[inline(always)]
    fn end(&mut self, local: usize) {
        let mut out: [L; 8] = L::load_rows(&self.load[local..]);
        put(&mut out, 0, self.sum.0);
        put(&mut out, 4, self.sum.1);
        L::store_rows(out, &mut self.load[local..]);
        if !self.taken.is_empty() {
            let mut lanes = room::<L>();
            self.sum.2.store(&mut lanes);
            for (lane, taken) in self.taken[local..].iter_mut().take(L::WIDTH).enumerate() {
                taken.damping += lanes[lane].to_f64() * self.dt;
            }
        }
    }
}

/// What the faces of the cells of a chunk carry.
pub struct Carry<'a, L: Lanes> {
    /// Faces.
    pub faces: &'a Faces<L::Scalar>,
    /// What faces break by.
    pub limits: &'a Limits<L::Scalar>,
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
    #[inline(always)]
    fn begin(&mut self, _local: usize) {}

    #[inline(always)]
    fn face(&mut self, at: &FaceLanes<L>) {
        let (load_i, bend) = loads((self.faces, self.folding), at);
        let moduli = self.faces.moduli.vectors(at.entry, 0);
        let carried = cell::transmitted(load_i, &bend, moduli);
        let (sigma, tau) = failure::stress(&carried, &section(self.faces, self.limits, at.entry));
        let traction = self.faces.rest.lanes(at.entry, field::TRACTION);
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
    }

    #[inline(always)]
    fn none(&mut self, _entry: usize) {}

    #[inline(always)]
    fn end(&mut self, _local: usize) {}
}

/// Sum of a number of all faces of a cell: those that it owns, slot after slot, then the others in their order.
#[inline(always)]
pub fn sum_of<S: Scalar>(system: &System<S>, cell: usize, of: &[S]) -> S {
    let bonds = &system.bonds;
    let mut sum = S::default();
    for slot in 0..bonds.slots {
        sum = sum + of[bonds.at(slot, cell)];
    }
    for &entry in bonds.active_foreign().of(cell) {
        sum = sum + of[entry as usize];
    }
    sum
}
