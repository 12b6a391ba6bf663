//! Evaluates listed pairs of elements in lanes: their loads, energies and dissipation.

use crate::laws::barrier;
use crate::laws::contact::{self, ContactParameters, ContactState, PairLoad};
use crate::laws::motion as motion_law;
use crate::laws::rolling::{self, RollingLoad, RollingParameters};
use crate::laws::{static_friction, work};
use crate::math::lanes::LaneRow;
use crate::math::{Lanes, Scalar, Vec3};
use crate::simulate::bonded::bonds::BLOCK;
use crate::simulate::bonded::rows::{lane_buffer, low, put, vector};
use crate::simulate::bonded::system::{LoadRow, System, motion};
use crate::simulate::bonded::work::{Dissipation, PairDissipation};
use crate::simulate::contact::pair_list::PairList;

/// Adds the loads of pairs to the elements of a chunk.
pub struct PairPass<'a, L: Lanes> {
    /// The system.
    pub system: &'a System<L::Scalar>,
    /// Time step, s.
    pub dt: L,
    /// Upper bound on how far a pair has approached since the lists were built, m.
    pub pair_approach: f64,
    /// First element of the chunk.
    pub first: usize,
    /// Loads of the chunk.
    pub load: &'a mut [LoadRow<L::Scalar>],
    /// Energy dissipated per element of the chunk; added to only with `WORK`.
    pub dissipation: &'a mut [Dissipation],
}

impl<L: Lanes> PairPass<'_, L> {
    /// Adds the loads of a list, with `BOTH` on both ends, else only on the elements that pairs are seen
    /// from; with `WORK` also the energy dissipated by damping and friction. `STATIC`: whether pairs may have
    /// static friction; `BARRIER`: whether they push by the barrier.
    #[inline(always)]
    pub fn apply<const BOTH: bool, const WORK: bool, const STATIC: bool, const BARRIER: bool>(
        &mut self,
        list: &mut PairList<L::Scalar>,
    ) {
        for block in 0..list.clear_until.len() {
            if self.pair_approach < list.clear_until[block] {
                continue;
            }
            let mut apart = true;
            let mut gap = L::splat(f64::INFINITY);
            for row in 0..BLOCK / L::WIDTH {
                let at = block * BLOCK + row * L::WIDTH;
                let pairs = PairLanes::<L>::gather::<STATIC>(self.system, list, at);
                if L::bits(pairs.near) == 0 {
                    gap = gap.min(pairs.gap);
                } else {
                    apart = false;
                    self.add::<BOTH, WORK, STATIC, BARRIER>(list, at, &pairs);
                }
            }
            if apart {
                let mut lanes = [L::Scalar::from_f64(f64::INFINITY); BLOCK];
                gap.store(&mut lanes);
                let mut least = f64::INFINITY;
                for gap in lanes {
                    least = least.min(gap.to_f64());
                }
                list.clear_until[block] = self.pair_approach + least;
            }
        }
    }

    #[inline(always)]
    fn add<const BOTH: bool, const WORK: bool, const STATIC: bool, const BARRIER: bool>(
        &mut self,
        list: &mut PairList<L::Scalar>,
        at: usize,
        pairs: &PairLanes<L>,
    ) {
        let (state, result, slides) = pairs.evaluate::<STATIC, BARRIER>(list, at, self.dt);
        let (arm_i, arm_j) = (state.arm_i, state.arm_j);
        let rolled = list
            .rolls()
            .then(|| pairs.rolling(list, at, result.force, self.dt));
        if WORK {
            let done = (&state, &result, rolled);
            let dissipated = pairs.dissipated::<BARRIER>(list, at, done, self.dt);
            self.account::<BOTH>(list, at, L::bits(pairs.near), dissipated);
        }
        list.store_springs(at, result.spring);
        if STATIC && let Some(columns) = list.static_columns_mut() {
            columns.store::<L>(at, slides);
        }
        let mut moment = Vec3::zero();
        if let Some(rolled) = rolled {
            list.store_turns(at, rolled.spring);
            moment = rolled.moment;
        }
        let mut bits = L::bits(L::zero().lt(result.overlap));
        if bits == 0 {
            return;
        }
        let mut columns = [L::zero(); 8];
        put(&mut columns, 0, result.force);
        put(&mut columns, 4, result.couple * arm_i + moment);
        let mut own = [LaneRow::default(); BLOCK];
        L::store_rows(columns, &mut own);
        let mut other = [LaneRow::default(); BLOCK];
        if BOTH {
            put(&mut columns, 0, -result.force);
            put(&mut columns, 4, result.couple * arm_j - moment);
            L::store_rows(columns, &mut other);
        }
        while bits != 0 {
            let lane = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let local = list.own[at + lane] as usize - self.first;
            add_row(&mut self.load[local], &own[lane]);
            if BOTH {
                let local = list.partner[at + lane] as usize - self.first;
                add_row(&mut self.load[local], &other[lane]);
            }
        }
    }
}

impl<L: Lanes> PairPass<'_, L> {
    /// Adds half of the energy dissipated by each pair selected by `bits` to each end. Padding entries are
    /// left out: their values are NaN.
    #[inline(always)]
    fn account<const BOTH: bool>(
        &mut self,
        list: &PairList<L::Scalar>,
        at: usize,
        mut bits: u32,
        dissipated: PairDissipation<L>,
    ) {
        let (mut damping, mut friction) = (lane_buffer::<L>(), lane_buffer::<L>());
        dissipated.damping.store(&mut damping);
        dissipated.friction.store(&mut friction);
        while bits != 0 {
            let lane = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let pair = [damping[lane].to_f64(), friction[lane].to_f64()];
            self.dissipation[list.own[at + lane] as usize - self.first].add(0.5, pair);
            if BOTH {
                self.dissipation[list.partner[at + lane] as usize - self.first].add(0.5, pair);
            }
        }
    }
}

/// Adds a row of loads; the columns of inverse mass and inertia of `row` are zero.
#[inline(always)]
fn add_row<S: Scalar>(sum: &mut LoadRow<S>, row: &LaneRow<S, 8>) {
    for (k, sum) in sum.0.iter_mut().enumerate() {
        *sum = *sum + row.0[k];
    }
}

/// Relative margin beyond the contact distance above which a pair is skipped, far larger than rounding errors.
const CLEARANCE: f64 = 1e-4;

/// Listed pairs, one per lane.
struct PairLanes<L: Lanes> {
    own: [L; 16],
    other: [L; 16],
    /// p_i − p_j.
    x: Vec3<L>,
    touch: L,
    spring: Vec3<L>,
    /// Distance by which they are certainly apart, m.
    gap: L,
    /// Pairs that may touch, or touched in the previous step.
    near: L::Mask,
}

impl<L: Lanes> PairLanes<L> {
    #[inline(always)]
    fn gather<const STATIC: bool>(
        system: &System<L::Scalar>,
        list: &PairList<L::Scalar>,
        at: usize,
    ) -> Self {
        let own: [L; 16] = L::gather(&system.motion, &list.own[at..]);
        let other: [L; 16] = L::gather(&system.motion, &list.partner[at..]);
        let x = motion_law::separation(
            vector(&own, motion::P),
            low(&own),
            vector(&other, motion::P),
            low(&other),
        );
        let touch = L::load(&list.touch[at..]);
        let spring = list.springs::<L>(at);
        let gap = x.norm() - touch * L::splat(1.0 + CLEARANCE);
        let mut near = gap.lt(L::zero()) | L::zero().lt(spring.sum_of_sizes());
        if list.rolls() {
            near = near | L::zero().lt(list.turns::<L>(at).sum_of_sizes());
        }
        if STATIC && let Some(columns) = list.static_columns() {
            near = near | columns.load::<L>(at).1;
        }
        PairLanes {
            own,
            other,
            x,
            touch,
            spring,
            gap,
            near,
        }
    }

    /// Contact states, loads over a step, and which contacts then slide, if they have static friction.
    #[inline(always)]
    fn evaluate<const STATIC: bool, const BARRIER: bool>(
        &self,
        list: &PairList<L::Scalar>,
        at: usize,
        dt: L,
    ) -> (ContactState<L>, PairLoad<L>, L::Mask) {
        let ([r_i, r_j], k, _) = list.constants::<L>(at);
        let k = self.acting::<BARRIER>(k);
        let (arm_i, arm_j) = contact::arms(self.x, r_i, r_j);
        let state = ContactState {
            x: self.x,
            v: vector(&self.own, motion::V) - vector(&self.other, motion::V),
            w_i: vector(&self.own, motion::W),
            w_j: vector(&self.other, motion::W),
            arm_i,
            arm_j,
            touch: self.touch,
            spring: self.spring,
        };
        match list.static_columns() {
            Some(columns) if STATIC => {
                let (coefficient, slid) = columns.load(at);
                let (load, slides) = static_friction::pair(state, dt, k, coefficient, slid);
                (state, load, slides)
            }
            _ => (state, contact::pair(state, dt, k), L::mask(0)),
        }
    }

    /// Parameters of the contact law at the present overlap.
    #[inline(always)]
    fn acting<const BARRIER: bool>(&self, k: ContactParameters<L>) -> ContactParameters<L> {
        match BARRIER {
            true => barrier::parameters(self.touch - self.x.norm(), self.touch, k),
            false => k,
        }
    }

    /// Rolling resistance over a step in which the pairs push with `force`.
    #[inline(always)]
    fn rolling(
        &self,
        list: &PairList<L::Scalar>,
        at: usize,
        force: Vec3<L>,
        dt: L,
    ) -> RollingLoad<L> {
        let k = Self::rolling_parameters(list, at);
        rolling::rolling((self.x, force), self.relative_spin(), list.turns(at), dt, k)
    }

    #[inline(always)]
    fn rolling_parameters(list: &PairList<L::Scalar>, at: usize) -> RollingParameters<L> {
        let ([r_i, r_j], k, [friction, _]) = list.constants::<L>(at);
        rolling::parameters(k, friction, r_i, r_j)
    }

    /// ω_i − ω_j.
    #[inline(always)]
    fn relative_spin(&self) -> Vec3<L> {
        vector(&self.own, motion::W) - vector(&self.other, motion::W)
    }

    /// Energy dissipated by damping and friction over a step that ends in this state, J; `list` still holds
    /// the springs from before the step.
    #[inline(always)]
    fn dissipated<const BARRIER: bool>(
        &self,
        list: &PairList<L::Scalar>,
        at: usize,
        (state, load, rolled): (&ContactState<L>, &PairLoad<L>, Option<RollingLoad<L>>),
        dt: L,
    ) -> PairDissipation<L> {
        let (_, k, [_, inverse_mass]) = list.constants::<L>(at);
        let k = self.acting::<BARRIER>(k);
        let done = work::ContactOutcome {
            force: load.force,
            overlap: load.overlap,
            spring: load.spring,
        };
        let dissipated = PairDissipation::sliding(work::contact(state, done, dt, inverse_mass, k));
        let Some(rolled) = rolled else {
            return dissipated;
        };
        let (w, before) = (self.relative_spin(), list.turns(at));
        let k = Self::rolling_parameters(list, at);
        dissipated.rolling(work::rolling(self.x, w, before, rolled, dt, k))
    }

    /// Elastic energy of touching pairs, J.
    #[inline(always)]
    fn energy<const BARRIER: bool>(&self, list: &PairList<L::Scalar>, at: usize, overlap: L) -> L {
        let (_, k, _) = list.constants::<L>(at);
        let mut energy = match BARRIER {
            true => barrier::energy((overlap, self.touch), self.spring, k),
            false => contact::energy(overlap, self.spring, k),
        };
        if list.rolls() {
            let k = Self::rolling_parameters(list, at);
            energy = energy + rolling::energy(list.turns(at), k);
        }
        energy
    }
}

/// Adds half the energy of each touching pair of a list to its elements in the chunk, J; `first` is the first
/// element of the chunk. Returns the number of sides of touching pairs in the chunk. `BARRIER`: whether pairs push by
/// the barrier.
#[inline(always)]
pub fn measure<L: Lanes, const BOTH: bool, const BARRIER: bool>(
    system: &System<L::Scalar>,
    list: &PairList<L::Scalar>,
    first: usize,
    energy: &mut [f64],
) -> u64 {
    let mut sides = 0;
    for at in (0..list.own.len()).step_by(L::WIDTH) {
        let pairs = PairLanes::<L>::gather::<false>(system, list, at);
        if L::bits(pairs.near) == 0 {
            continue;
        }
        // Overlaps depend neither on friction nor on the law of the force.
        let (_, result, _) = pairs.evaluate::<false, false>(list, at, L::zero());
        let mut energies = lane_buffer::<L>();
        let stored = pairs.energy::<BARRIER>(list, at, result.overlap);
        stored.store(&mut energies);
        let touching = L::bits(L::zero().lt(result.overlap));
        for (lane, of_pair) in energies[..L::WIDTH].iter().enumerate() {
            if touching >> lane & 1 != 0 {
                let half = 0.5 * of_pair.to_f64();
                energy[list.own[at + lane] as usize - first] += half;
                sides += 1;
                if BOTH {
                    energy[list.partner[at + lane] as usize - first] += half;
                    sides += 1;
                }
            }
        }
    }
    sides
}
