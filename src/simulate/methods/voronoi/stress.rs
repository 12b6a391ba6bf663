//! Stresses of cells, and the faces that break by them (Rankine's criterion).

use super::between::Across;
use super::columns::field;
use super::face_pass::{FaceLanes, Owners, Task};
use super::row_sums::RowSums;
use crate::columns::BreakMode;
use crate::laws::cell::{self, FaceLoad};
use crate::laws::rankine::{self, Six};
use crate::math::lanes::Row;
use crate::math::{Lanes, Scalar, Vec3};
use crate::simulate::bonded::bond_tasks::BreakEvent;
use crate::simulate::bonded::bonds::{BLOCK, Bonds};
use crate::simulate::bonded::column::Column;
use crate::simulate::bonded::rows::room;

/// Index of what tells in a row of [`Stresses::of`] whether a face of the cell is broken.
const BROKEN_AT: usize = 6;

/// What Rankine's criterion takes: strengths, and the stresses of all cells.
#[derive(Debug)]
pub struct Stresses<S> {
    /// Tensile strengths by entry of the bonds, Pa; infinite where another criterion decides.
    pub strengths: Column<S>,
    /// Of each cell, Pa: xx, yy, zz, yz, xz, xy; 1 at [`BROKEN_AT`] where a face of it is broken.
    pub of: Vec<Row<S, 8>>,
}

impl<S: Scalar> Stresses<S> {
    /// Of `padded` rows of cells without load.
    pub fn new(strengths: Column<S>, padded: usize) -> Self {
        Stresses {
            strengths,
            of: vec![Row::default(); padded],
        }
    }

    /// Notes whether a face of a cell is broken.
    pub fn refresh(&mut self, cell: usize, bonds: &Bonds<S>) {
        let broken = bonds.sides(cell).any(|side| !bonds.is_whole(side.entry));
        self.of[cell].0[BROKEN_AT] = S::from_f64(f64::from(u8::from(broken)));
    }

    /// Stress about a row of faces, by lane, as [`rankine::at_face`] has it, and the faces' normals.
    #[inline(always)]
    fn about<L: Lanes<Scalar = S>>(&self, at: &FaceLanes<L>) -> (Six<L>, Vec3<L>) {
        let half = L::splat(0.5);
        let own: [L; 8] = at.owners.rows(&self.of);
        let other: [L; 8] = L::gather(&self.of, at.others);
        let mean: Six<L> = std::array::from_fn(|k| (own[k] + other[k]) * half);
        let normal = cell::rotated(at.ends.turned, at.rest.vector(field::NORMAL));
        let area = at.rest.get::<L>(field::HALF_AREA) * L::splat(2.0);
        let traction = load(at).force * (L::splat(1.0) / area);
        let broken = own[BROKEN_AT].max(other[BROKEN_AT]);
        (rankine::at_face(mean, normal, traction, broken), normal)
    }

    /// σ of those faces of a row, a bit each, whose principal stresses may pass `above`, Pa: lane and σ, 0
    /// where a face does not lie across.
    #[inline(always)]
    pub fn sigmas<L: Lanes<Scalar = S>>(
        &self,
        at: &FaceLanes<L>,
        above: L,
        mut found: impl FnMut(usize, f64),
    ) {
        let (stress, normal) = self.about(at);
        let bits = at.bits & L::bits(above.lt(rankine::bound(stress)));
        if bits == 0 {
            return;
        }
        let lanes = |value: L| {
            let mut lanes = room::<L>();
            value.store(&mut lanes);
            lanes
        };
        let (stress, normal) = (stress.map(lanes), [normal.x, normal.y, normal.z].map(lanes));
        for lane in (0..L::WIDTH).filter(|lane| bits >> lane & 1 != 0) {
            let of = |lanes: [S; 16]| lanes[lane].to_f64();
            found(
                lane,
                rankine::sigma(stress.map(of), Vec3::from_f64(normal.map(of))),
            );
        }
    }
}

/// Force of a row of faces.
#[inline(always)]
fn load<L: Lanes>(at: &FaceLanes<L>) -> FaceLoad<L> {
    let half_area = at.rest.get(field::HALF_AREA);
    let stiffness = at.rest.get(field::TRACTION);
    cell::traction(at.face, stiffness, half_area, at.ends.pressure())
}

/// Writes the stress of a cell from the sum over its faces (N m) and its volume (m³).
pub fn put_stress<S: Scalar>(sum: &[S; 8], volume: f64, to: &mut Row<S, 8>) {
    // Loose grains have no stress.
    let inverse = S::from_f64(if volume > 0.0 { 1.0 / volume } else { 0.0 });
    for (to, sum) in to.0[..6].iter_mut().zip(sum) {
        *to = *sum * inverse;
    }
}

/// Finds the faces that break by Rankine's criterion.
pub struct Rankine<'a, L: Lanes> {
    /// Strengths and stresses.
    pub stresses: &'a Stresses<L::Scalar>,
    /// Faces that break in this step; added to, each face once.
    pub breaks: &'a mut Vec<BreakEvent>,
}

impl<L: Lanes> Task<L> for Rankine<'_, L> {
    const FIELDS: usize = field::SECOND;

    #[inline(always)]
    fn begin(&mut self) {}

    #[inline(always)]
    fn face(&mut self, at: &FaceLanes<L>) {
        let Owners::From(first) = at.owners else {
            return;
        };
        let (strengths, breaks) = (&self.stresses.strengths, &mut *self.breaks);
        let above = strengths.load(at.entry);
        self.stresses.sigmas(at, above, |lane, sigma| {
            let entry = at.entry + lane;
            if sigma <= strengths.get(entry).to_f64() {
                return;
            }
            let (own, other) = ((first + lane) as u32, at.others[lane]);
            // Broken by shear too: tension goes first, as in other criteria.
            breaks.retain(|event| event.entry != entry as u32);
            breaks.push(BreakEvent {
                entry: entry as u32,
                i: own.min(other),
                j: own.max(other),
                sigma,
                tau: 0.0,
                mode: BreakMode::Tension,
            });
        });
    }

    #[inline(always)]
    fn none(&mut self, _place: usize) {}

    #[inline(always)]
    fn end(&mut self, _local: usize) {}

    #[inline(always)]
    fn block(&mut self, _local: usize, _filled: u32) {}
}

/// Sums a_f ⊗ F_f of each cell of a chunk, in the order in which loads are summed.
pub struct Virial<'a, L: Lanes> {
    /// xx, yy, zz, yz, xz, xy by cell, N m.
    pub sums: &'a mut RowSums<L::Scalar>,
    /// Other cells of the bonds' entries.
    pub others: &'a [u32],
    /// Slots of bonds.
    pub slots: usize,
    /// First cell of the chunk.
    pub first: usize,
    /// Sum of the row so far.
    pub row: [L; 8],
}

impl<L: Lanes> Virial<'_, L> {
    /// What faces add to their owners and to their other cells.
    #[inline(always)]
    fn both(at: &FaceLanes<L>) -> [[L; 8]; 2] {
        let load = load(at);
        let mask = L::mask(at.bits);
        [
            (at.face.arm, load.force),
            (cell::arm_j(at.face), -load.force),
        ]
        .map(|(arm, force)| {
            let mut row = [L::zero(); 8];
            for (to, part) in row.iter_mut().zip(rankine::virial(arm, force)) {
                *to = L::select(mask, part, L::zero());
            }
            row
        })
    }
}

impl<L: Lanes> Task<L> for Virial<'_, L> {
    const FIELDS: usize = field::TRACTION + 1;

    #[inline(always)]
    fn begin(&mut self) {
        self.row = [L::zero(); 8];
    }

    #[inline(always)]
    fn face(&mut self, at: &FaceLanes<L>) {
        let [own, other] = Self::both(at);
        for (to, more) in self.row.iter_mut().zip(own) {
            *to = *to + more;
        }
        self.sums.keep(at.place, other);
    }

    #[inline(always)]
    fn none(&mut self, place: usize) {
        self.sums.keep(place, [L::zero(); 8]);
    }

    #[inline(always)]
    fn end(&mut self, local: usize) {
        self.sums.own(local, self.row);
    }

    #[inline(always)]
    fn block(&mut self, local: usize, filled: u32) {
        let base = (self.first + local) * self.slots;
        let others = &self.others[base..base + self.slots * BLOCK];
        self.sums.hand_on(others, self.first, filled);
    }
}

impl<L: Lanes> Across<L> for Virial<'_, L> {
    #[inline(always)]
    fn across(&mut self, at: &FaceLanes<L>) {
        let [_, other] = Self::both(at);
        self.sums.each(at.others, self.first, other);
    }
}
