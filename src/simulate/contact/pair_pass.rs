//! Listed pairs of elements side by side: what they do to their elements, and what they add up to.

use crate::laws::contact::{self, ContactState, PairLoad};
use crate::laws::motion as motion_law;
use crate::laws::rolling::{self, RollingLoad, RollingParameters};
use crate::laws::work;
use crate::math::lanes::Row;
use crate::math::{Lanes, Scalar, Vec3};
use crate::simulate::bonded::bonds::BLOCK;
use crate::simulate::bonded::rows::{low, put, room, vector};
use crate::simulate::bonded::system::{Load, System, motion};
use crate::simulate::bonded::work::{PairsTook, Taken};
use crate::simulate::contact::pair_list::PairList;

/// Adds the loads of pairs to the elements of a chunk.
pub struct PairPass<'a, L: Lanes> {
    /// The system.
    pub system: &'a System<L::Scalar>,
    /// Time step, s.
    pub dt: L,
    /// How far a pair may have closed up since the lists were made, m.
    pub closed: f64,
    /// First element of the chunk.
    pub first: usize,
    /// Loads of the chunk.
    pub load: &'a mut [Load<L::Scalar>],
    /// What each element of the chunk has lost, added to where it is wanted.
    pub taken: &'a mut [Taken],
}

impl<L: Lanes> PairPass<'_, L> {
    /// Adds the loads of a list, on both ends or only on those that pairs are seen from; with `WORK`, what
    /// damping and friction take too.
    #[inline(always)]
    pub fn apply<const BOTH: bool, const WORK: bool>(&mut self, list: &mut PairList<L::Scalar>) {
        for block in 0..list.quiet.len() {
            if self.closed < list.quiet[block] {
                continue;
            }
            let mut apart = true;
            let mut gap = L::splat(f64::INFINITY);
            for row in 0..BLOCK / L::WIDTH {
                let at = block * BLOCK + row * L::WIDTH;
                let pairs = Pairs::<L>::look(self.system, list, at);
                if L::bits(pairs.near) == 0 {
                    gap = gap.min(pairs.gap);
                } else {
                    apart = false;
                    self.add::<BOTH, WORK>(list, at, &pairs);
                }
            }
            if apart {
                let mut lanes = [L::Scalar::from_f64(f64::INFINITY); BLOCK];
                gap.store(&mut lanes);
                let mut least = f64::INFINITY;
                for gap in lanes {
                    least = least.min(gap.to_f64());
                }
                list.quiet[block] = self.closed + least;
            }
        }
    }

    #[inline(always)]
    fn add<const BOTH: bool, const WORK: bool>(
        &mut self,
        list: &mut PairList<L::Scalar>,
        at: usize,
        pairs: &Pairs<L>,
    ) {
        let (state, result) = pairs.evaluate(list, at, self.dt);
        let (arm_i, arm_j) = (state.arm_i, state.arm_j);
        let rolled = list
            .rolls()
            .then(|| pairs.rolling(list, at, result.force, self.dt));
        if WORK {
            let took = pairs.took(list, at, (&state, &result, rolled), self.dt);
            self.account::<BOTH>(list, at, L::bits(pairs.near), took);
        }
        list.store_springs(at, result.spring);
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
        let mut own = [Row::default(); BLOCK];
        L::store_rows(columns, &mut own);
        let mut other = [Row::default(); BLOCK];
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
    /// Gives each end half of what those pairs took of which bits are set: what fills up a block is no pair,
    /// and has no number.
    #[inline(always)]
    fn account<const BOTH: bool>(
        &mut self,
        list: &PairList<L::Scalar>,
        at: usize,
        mut bits: u32,
        took: PairsTook<L>,
    ) {
        let (mut damping, mut friction) = (room::<L>(), room::<L>());
        took.damping.store(&mut damping);
        took.friction.store(&mut friction);
        while bits != 0 {
            let lane = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let pair = [damping[lane].to_f64(), friction[lane].to_f64()];
            self.taken[list.own[at + lane] as usize - self.first].add(0.5, pair);
            if BOTH {
                self.taken[list.partner[at + lane] as usize - self.first].add(0.5, pair);
            }
        }
    }
}

/// Columns of inverses are added nothing.
#[inline(always)]
fn add_row<S: Scalar>(sum: &mut Load<S>, row: &Row<S, 8>) {
    for (k, sum) in sum.0.iter_mut().enumerate() {
        *sum = *sum + row.0[k];
    }
}

/// How much farther apart than touching, as a part of it, two elements must be to be left alone: far beyond
/// what rounding does.
const CLEAR: f64 = 1e-4;

/// Listed pairs side by side.
struct Pairs<L: Lanes> {
    own: [L; 16],
    other: [L; 16],
    /// p_i − p_j.
    x: Vec3<L>,
    touch: L,
    spring: Vec3<L>,
    /// How far beyond any doubt they are apart, m.
    gap: L,
    /// Where they may touch, or did a step ago.
    near: L::Mask,
}

impl<L: Lanes> Pairs<L> {
    #[inline(always)]
    fn look(system: &System<L::Scalar>, list: &PairList<L::Scalar>, at: usize) -> Self {
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
        let gap = x.norm() - touch * L::splat(1.0 + CLEAR);
        let mut near = gap.lt(L::zero()) | L::zero().lt(spring.sum_of_sizes());
        if list.rolls() {
            near = near | L::zero().lt(list.turns::<L>(at).sum_of_sizes());
        }
        Pairs {
            own,
            other,
            x,
            touch,
            spring,
            gap,
            near,
        }
    }

    /// How they stand, and what they do over a step.
    #[inline(always)]
    fn evaluate(
        &self,
        list: &PairList<L::Scalar>,
        at: usize,
        dt: L,
    ) -> (ContactState<L>, PairLoad<L>) {
        let ([r_i, r_j], k, _) = list.constants::<L>(at);
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
        (state, contact::pair(state, dt, k))
    }

    /// What they do against rolling over a step in which they push with `force`.
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

    /// What damping and friction take over a step that ends so, with the springs that the list had before it, J.
    #[inline(always)]
    fn took(
        &self,
        list: &PairList<L::Scalar>,
        at: usize,
        (state, load, rolled): (&ContactState<L>, &PairLoad<L>, Option<RollingLoad<L>>),
        dt: L,
    ) -> PairsTook<L> {
        let (_, k, [_, inverse_mass]) = list.constants::<L>(at);
        let done = work::Done {
            force: load.force,
            overlap: load.overlap,
            spring: load.spring,
        };
        let took = PairsTook::sliding(work::contact(state, done, dt, inverse_mass, k));
        let Some(rolled) = rolled else { return took };
        let (w, before) = (self.relative_spin(), list.turns(at));
        let k = Self::rolling_parameters(list, at);
        took.rolling(work::rolling(self.x, w, before, rolled, dt, k))
    }

    /// Elastic energy of touching pairs, J.
    #[inline(always)]
    fn energy(&self, list: &PairList<L::Scalar>, at: usize, overlap: L) -> L {
        let (_, k, _) = list.constants::<L>(at);
        let mut energy = contact::energy(overlap, self.spring, k);
        if list.rolls() {
            let k = Self::rolling_parameters(list, at);
            energy = energy + rolling::energy(list.turns(at), k);
        }
        energy
    }
}

/// Gives each element of a chunk that begins with `first` half the energy of its touching pairs in a list, J;
/// returns how many sides of pairs that were.
#[inline(always)]
pub fn measure<L: Lanes, const BOTH: bool>(
    system: &System<L::Scalar>,
    list: &PairList<L::Scalar>,
    first: usize,
    energy: &mut [f64],
) -> u64 {
    let mut sides = 0;
    for at in (0..list.own.len()).step_by(L::WIDTH) {
        let pairs = Pairs::<L>::look(system, list, at);
        if L::bits(pairs.near) == 0 {
            continue;
        }
        let (_, result) = pairs.evaluate(list, at, L::zero());
        let mut energies = room::<L>();
        pairs.energy(list, at, result.overlap).store(&mut energies);
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
