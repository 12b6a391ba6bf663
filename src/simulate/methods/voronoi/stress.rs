//! Stresses of cells, and the faces that break by them (Rankine's criterion).

use super::columns::field;
use super::crossing_pass::CrossingTask;
use super::face_pass::{FaceLanes, FaceTask, Owners};
use super::row_sums::RowSums;
use crate::columns::BreakMode;
use crate::laws::cell::{self, FaceLoad};
use crate::laws::rankine::{self, SymmetricTensor};
use crate::math::lanes::LaneRow;
use crate::math::{Lanes, Scalar, Vec3};
use crate::simulate::bonded::bond_tasks::BreakEvent;
use crate::simulate::bonded::bonds::{BLOCK, Bonds};
use crate::simulate::bonded::column::Column;
use crate::simulate::bonded::rows::lane_buffer;

/// Index, in a row of [`Stresses::cells`], of the flag for a broken face of the cell.
const BROKEN_AT: usize = 6;

/// Data of Rankine's criterion: strengths, and the stresses of all cells.
#[derive(Debug)]
pub struct Stresses<S> {
    /// Tensile strengths by entry of the bonds, Pa; infinite if another criterion decides.
    pub strengths: Column<S>,
    /// Stress of each cell, Pa: xx, yy, zz, yz, xz, xy; 1 at [`BROKEN_AT`] if one of its faces is broken.
    pub cells: Vec<LaneRow<S, 8>>,
}

impl<S: Scalar> Stresses<S> {
    /// Unloaded cells, `padded` rows.
    pub fn new(strengths: Column<S>, padded: usize) -> Self {
        Stresses {
            strengths,
            cells: vec![LaneRow::default(); padded],
        }
    }

    /// Updates whether a face of a cell is broken.
    pub fn refresh(&mut self, cell: usize, bonds: &Bonds<S>) {
        let broken = bonds.sides(cell).any(|side| !bonds.is_intact(side.entry));
        self.cells[cell].0[BROKEN_AT] = S::from_f64(f64::from(u8::from(broken)));
    }

    /// Stress of the material at a row of faces, by lane, as defined by [`rankine::at_face`], and the faces'
    /// normals.
    #[inline(always)]
    fn about<L: Lanes<Scalar = S>>(&self, at: &FaceLanes<L>) -> (SymmetricTensor<L>, Vec3<L>) {
        let own: [L; 8] = at.owners.rows(&self.cells);
        let other: [L; 8] = L::gather(&self.cells, at.others);
        let stress = |cell: [L; 8]| SymmetricTensor::from_array(std::array::from_fn(|k| cell[k]));
        let mean = rankine::mean(stress(own), stress(other));
        let normal = cell::rotated(at.ends.turned, at.rest.vector(field::NORMAL));
        let area = at.rest.get::<L>(field::HALF_AREA) * L::splat(2.0);
        let traction = load(at).force * (L::splat(1.0) / area);
        let broken = own[BROKEN_AT].max(other[BROKEN_AT]);
        (rankine::at_face(mean, normal, traction, broken), normal)
    }

    /// Calls `found` with lane and σ of those faces of a row whose principal stress may exceed `above`, Pa. σ
    /// is 0 if the face does not lie across the principal direction.
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
            let mut lanes = lane_buffer::<L>();
            value.store(&mut lanes);
            lanes
        };
        let (stress, normal) = (
            stress.to_array().map(lanes),
            [normal.x, normal.y, normal.z].map(lanes),
        );
        for lane in (0..L::WIDTH).filter(|lane| bits >> lane & 1 != 0) {
            let of = |lanes: [S; 16]| lanes[lane].to_f64();
            let stress = SymmetricTensor::from_array(stress.map(of));
            found(lane, rankine::sigma(stress, Vec3::from_f64(normal.map(of))));
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
pub fn put_stress<S: Scalar>(sum: &[S; 8], volume: f64, to: &mut LaneRow<S, 8>) {
    // Loose grains have no stress.
    let inverse = S::from_f64(if volume > 0.0 { 1.0 / volume } else { 0.0 });
    for (to, sum) in to.0[..6].iter_mut().zip(sum) {
        *to = *sum * inverse;
    }
}

/// Finds the faces that break by Rankine's criterion.
pub struct RankineTask<'a, L: Lanes> {
    /// Strengths and stresses.
    pub stresses: &'a Stresses<L::Scalar>,
    /// Faces that break in this step, appended, each face once.
    pub breaks: &'a mut Vec<BreakEvent>,
}

impl<L: Lanes> FaceTask<L> for RankineTask<'_, L> {
    const FIELDS: usize = field::SECOND;

    #[inline(always)]
    fn begin_row(&mut self) {}

    #[inline(always)]
    fn face(&mut self, at: &FaceLanes<L>) {
        let Owners::Consecutive(first) = at.owners else {
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
            // If it broke by shear too, tension takes precedence, as in other criteria.
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
    fn empty_slot(&mut self, _place: usize) {}

    #[inline(always)]
    fn end_row(&mut self, _local: usize) {}

    #[inline(always)]
    fn end_block(&mut self, _local: usize, _filled: u32) {}
}

/// Sums a_f ⊗ F_f of each cell of a chunk, in the order in which loads are summed.
pub struct VirialTask<'a, L: Lanes> {
    /// Sums xx, yy, zz, yz, xz, xy of each cell, N m.
    pub sums: &'a mut RowSums<L::Scalar>,
    /// Other cell of each bond entry.
    pub others: &'a [u32],
    /// Slots of the bonds.
    pub slots: usize,
    /// First cell of the chunk.
    pub first: usize,
    /// Sum of the current row of cells so far.
    pub row: [L; 8],
}

impl<L: Lanes> VirialTask<'_, L> {
    /// Contributions of faces to their owners and to their other cells.
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
            for (to, part) in row.iter_mut().zip(rankine::virial(arm, force).to_array()) {
                *to = L::select(mask, part, L::zero());
            }
            row
        })
    }
}

impl<L: Lanes> FaceTask<L> for VirialTask<'_, L> {
    const FIELDS: usize = field::TRACTION + 1;

    #[inline(always)]
    fn begin_row(&mut self) {
        self.row = [L::zero(); 8];
    }

    #[inline(always)]
    fn face(&mut self, at: &FaceLanes<L>) {
        let [own, other] = Self::both(at);
        for (to, more) in self.row.iter_mut().zip(own) {
            *to = *to + more;
        }
        self.sums.store_other(at.place, other);
    }

    #[inline(always)]
    fn empty_slot(&mut self, place: usize) {
        self.sums.store_other(place, [L::zero(); 8]);
    }

    #[inline(always)]
    fn end_row(&mut self, local: usize) {
        self.sums.add_owned(local, self.row);
    }

    #[inline(always)]
    fn end_block(&mut self, local: usize, filled: u32) {
        let base = (self.first + local) * self.slots;
        let others = &self.others[base..base + self.slots * BLOCK];
        self.sums.scatter_block(others, self.first, filled);
    }
}

impl<L: Lanes> CrossingTask<L> for VirialTask<'_, L> {
    #[inline(always)]
    fn crossing(&mut self, at: &FaceLanes<L>) {
        let [_, other] = Self::both(at);
        self.sums.scatter(at.others, self.first, other);
    }
}
