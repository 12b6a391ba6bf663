//! A list of pairs that may touch, as columns that are read by lanes from front to back.

use super::properties::{ContactProperties, PairFeatures};
use super::soft::with_normal;
use super::static_columns::StaticColumns;
use crate::laws::contact::ContactParameters;
use crate::math::lanes::LaneRow;
use crate::math::{Lanes, Scalar, Vec3};
use crate::simulate::bonded::bonds::BLOCK;

/// Contact distance of padding entries, which never touch; its square is still finite.
const NEVER_TOUCHING: f64 = -1e15;

/// Radii and contact parameters of a pair: `r_i r_j k_r k_t μ c μ_r 1/m*`, m* the reduced mass.
pub type Constants<S> = LaneRow<S, 8>;

/// The list entry of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairEntry<S> {
    /// Element that the pair is seen from.
    pub own: u32,
    /// Other element.
    pub partner: u32,
    /// Contact distance, m.
    pub touch: S,
    /// Radii and parameters.
    pub constants: Constants<S>,
    /// Coefficient of static friction.
    pub static_friction: S,
}

/// Pairs sorted by element, then by partner, padded to whole blocks of [`BLOCK`].
#[derive(Clone, Debug, Default)]
pub struct PairList<S> {
    /// First element of each pair.
    pub own: Vec<u32>,
    /// Second element of each pair.
    pub partner: Vec<u32>,
    /// Contact distances, m.
    pub touch: Vec<S>,
    /// Tangential springs, m.
    spring: [Vec<S>; 3],
    /// Rolling springs, rad; empty if nothing resists rolling.
    roll: [Vec<S>; 3],
    rolls: bool,
    /// Static friction, if that of some contact exceeds kinetic friction.
    static_friction: Option<StaticColumns<S>>,
    /// For each block: no pair of it can touch until pairs may have approached by this distance, m.
    pub clear_until: Vec<f64>,
    /// One row if all pairs have equal constants, else one per pair.
    constants: Vec<Constants<S>>,
    /// Indices of the pairs whose contact is soft, ascending.
    soft: Vec<u32>,
    count: usize,
}

impl<S: Scalar> PairList<S> {
    /// Number of pairs, without padding.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether no pair is listed.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn key(&self, at: usize) -> (u32, u32) {
        (self.own[at], self.partner[at])
    }

    /// Index of a pair, or else the index to insert it at.
    pub fn find(&self, key: (u32, u32)) -> Result<usize, usize> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low.midpoint(high);
            match self.key(middle).cmp(&key) {
                std::cmp::Ordering::Equal => return Ok(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }

    /// History of the contact of a pair.
    pub fn memory(&self, at: usize) -> Memory<S> {
        let value = |columns: &[Vec<S>; 3]| {
            [0, 1, 2].map(|axis| columns[axis].get(at).copied().unwrap_or_default())
        };
        Memory {
            spring: value(&self.spring),
            roll: value(&self.roll),
            slides: self
                .static_friction
                .as_ref()
                .is_some_and(|all| all.slides(at)),
        }
    }

    /// Sets the history of the contact of a pair. The next step evaluates its block.
    pub fn set_memory(&mut self, at: usize, memory: Memory<S>) {
        let values = memory.spring.into_iter().chain(memory.roll);
        for (column, value) in self.springs_mut().zip(values) {
            column[at] = value;
        }
        if let Some(columns) = &mut self.static_friction {
            columns.set_slides(at, memory.slides);
        }
        self.clear_until[at / BLOCK] = 0.0;
    }

    /// The columns of springs in use.
    fn springs_mut(&mut self) -> impl Iterator<Item = &mut Vec<S>> {
        let roll = self.roll.iter_mut().take(if self.rolls { 3 } else { 0 });
        self.spring.iter_mut().chain(roll)
    }

    /// Builds a list of sorted pairs, taking their history from an older list; contacts that were soft there stay soft
    /// if they overlap, as `overlaps` tells.
    pub fn new(
        pairs: &[PairEntry<S>],
        old: &Self,
        features: PairFeatures,
        overlaps: impl Fn(&PairEntry<S>) -> bool,
    ) -> Self {
        let alike = pairs
            .windows(2)
            .all(|two| two[0].constants == two[1].constants);
        let differing = if alike {
            pairs.len().min(1)
        } else {
            pairs.len()
        };
        let rolls = features.rolling;
        let coefficients = pairs.iter().map(|pair| pair.static_friction);
        let mut list = PairList {
            own: pairs.iter().map(|pair| pair.own).collect(),
            partner: pairs.iter().map(|pair| pair.partner).collect(),
            touch: pairs.iter().map(|pair| pair.touch).collect(),
            spring: [0; 3].map(|_| vec![S::default(); pairs.len()]),
            roll: [0; 3].map(|_| vec![S::default(); if rolls { pairs.len() } else { 0 }]),
            rolls,
            static_friction: features
                .static_friction
                .then(|| StaticColumns::new(coefficients)),
            clear_until: Vec::new(),
            constants: pairs[..differing]
                .iter()
                .map(|pair| pair.constants)
                .collect(),
            soft: Vec::new(),
            count: pairs.len(),
        };
        let mut from = 0;
        for (at, pair) in pairs.iter().enumerate() {
            let key = (pair.own, pair.partner);
            while from < old.count && old.key(from) < key {
                from += 1;
            }
            if from < old.count && old.key(from) == key {
                let olds = old.spring.iter().chain(&old.roll);
                for (column, values) in list.springs_mut().zip(olds) {
                    column[at] = values[from];
                }
                if let (Some(columns), Some(old)) =
                    (&mut list.static_friction, &old.static_friction)
                {
                    columns.set_slides(at, old.slides(from));
                }
                if old.is_soft(from) && overlaps(pair) {
                    list.soften(at, S::from_f64(old.parameters(from).1.normal));
                }
            }
        }
        list.pad();
        list
    }

    /// Whether the contact of a pair is soft.
    pub fn is_soft(&self, at: usize) -> bool {
        self.soft.binary_search(&(at as u32)).is_ok()
    }

    /// Pairs whose contact is soft, and its normal stiffness, N/m.
    pub fn soft(&self) -> impl Iterator<Item = ([u32; 2], S)> {
        self.soft.iter().map(|&at| {
            let at = at as usize;
            let normal = S::from_f64(self.parameters(at).1.normal);
            ([self.own[at], self.partner[at]], normal)
        })
    }

    /// Makes the contact of a pair soft, with a normal stiffness (N/m), unless it is.
    pub fn soften(&mut self, at: usize, normal: S) {
        let Err(place) = self.soft.binary_search(&(at as u32)) else {
            return;
        };
        self.soft.insert(place, at as u32);
        if self.constants.len() == 1 {
            self.constants.resize(self.own.len(), self.constants[0]);
        }
        self.set_normal(at, normal.to_f64());
    }

    /// Sets the radii and parameters of a pair. A soft contact keeps its normal stiffness.
    pub fn set_constants(&mut self, at: usize, constants: Constants<S>) {
        let (_, before, _) = self.parameters(at);
        if self.constants.len() == 1 {
            self.constants.resize(self.own.len(), self.constants[0]);
        }
        self.constants[at] = constants;
        if self.is_soft(at) {
            self.set_normal(at, before.normal);
        }
    }

    /// Sets the normal stiffness of a pair (N/m), which has constants of its own, and what follows from it.
    fn set_normal(&mut self, at: usize, normal: f64) {
        let row = &mut self.constants[at].0;
        let (_, k, _) = named(*row);
        let k = with_normal(k, normal);
        (row[2], row[3], row[5]) = (k.normal, k.tangential, k.damping);
    }

    /// Inserts a pair, its spring unstretched, unless it is listed already.
    pub fn insert(&mut self, pair: PairEntry<S>) {
        let Err(at) = self.find((pair.own, pair.partner)) else {
            return;
        };
        self.unpad();
        if self.count == 0 {
            self.constants.push(pair.constants);
        } else if self.constants.len() > 1 || self.constants[0] != pair.constants {
            let alike = self.constants[0];
            self.constants.resize(self.count, alike);
            self.constants.insert(at, pair.constants);
        }
        for soft in self.soft.iter_mut().filter(|soft| **soft >= at as u32) {
            *soft += 1;
        }
        self.own.insert(at, pair.own);
        self.partner.insert(at, pair.partner);
        self.touch.insert(at, pair.touch);
        for column in self.springs_mut() {
            column.insert(at, S::default());
        }
        if let Some(columns) = &mut self.static_friction {
            columns.insert(at, pair.static_friction);
        }
        self.count += 1;
        // Later pairs may move to other blocks.
        self.clear_until.truncate(at / BLOCK);
        self.pad();
    }

    /// Removes the padding of the last block.
    fn unpad(&mut self) {
        self.own.truncate(self.count);
        self.partner.truncate(self.count);
        self.touch.truncate(self.count);
        let count = self.count;
        for column in self.springs_mut() {
            column.truncate(count);
        }
        if let Some(columns) = &mut self.static_friction {
            columns.resize(count);
        }
        if self.constants.len() > 1 {
            self.constants.truncate(self.count);
        }
    }

    /// Pads the last block with pairs of an element with itself, which never touch.
    fn pad(&mut self) {
        let filled = self.count.next_multiple_of(BLOCK);
        let any = self.own.first().copied().unwrap_or_default();
        self.own.resize(filled, any);
        self.partner.resize(filled, any);
        self.touch.resize(filled, S::from_f64(NEVER_TOUCHING));
        for column in self.springs_mut() {
            column.resize(filled, S::default());
        }
        if let Some(columns) = &mut self.static_friction {
            columns.resize(filled);
        }
        if self.constants.len() > 1 {
            self.constants.resize(filled, self.constants[0]);
        }
        self.clear_until.resize(filled / BLOCK, 0.0);
    }

    /// Both radii (m), contact parameters, and coefficient of rolling friction with 1/m* (1/kg) of
    /// consecutive pairs.
    #[inline(always)]
    pub fn constants<L: Lanes<Scalar = S>>(
        &self,
        at: usize,
    ) -> ([L; 2], ContactParameters<L>, [L; 2]) {
        let mut c = [L::zero(); 8];
        if self.constants.len() > 1 {
            c = L::load_rows(&self.constants[at..]);
        } else {
            for (k, lanes) in c.iter_mut().enumerate() {
                *lanes = L::splat(self.constants[0].0[k].to_f64());
            }
        }
        named(c)
    }

    /// Radii (m), contact parameters, and coefficient of rolling friction with 1/m* (1/kg) of a pair.
    pub fn parameters(&self, at: usize) -> ([f64; 2], ContactParameters<f64>, [f64; 2]) {
        let at = if self.constants.len() > 1 { at } else { 0 };
        named(self.constants[at].0.map(Scalar::to_f64))
    }

    /// Coefficient of static friction of a pair.
    pub fn static_friction(&self, at: usize) -> f64 {
        match &self.static_friction {
            Some(columns) => columns.coefficient(at).to_f64(),
            None => self.parameters(at).1.friction,
        }
    }

    /// Lets a pair never touch; returns its contact distance, m, and its history, to be set again.
    pub fn suspend(&mut self, at: usize) -> (S, Memory<S>) {
        let memory = self.memory(at);
        for column in self.springs_mut() {
            column[at] = S::default();
        }
        if let Some(columns) = &mut self.static_friction {
            columns.set_slides(at, false);
        }
        let touch = std::mem::replace(&mut self.touch[at], S::from_f64(NEVER_TOUCHING));
        (touch, memory)
    }

    /// Whether pairs have rolling springs.
    #[inline(always)]
    pub fn rolls(&self) -> bool {
        self.rolls
    }

    /// Static friction of the pairs, if that of some contact exceeds kinetic friction.
    #[inline(always)]
    pub fn static_columns(&self) -> Option<&StaticColumns<S>> {
        self.static_friction.as_ref()
    }

    /// Mutable [`static_columns`](Self::static_columns).
    #[inline(always)]
    pub fn static_columns_mut(&mut self) -> Option<&mut StaticColumns<S>> {
        self.static_friction.as_mut()
    }

    /// Tangential springs of consecutive pairs, m.
    #[inline(always)]
    pub fn springs<L: Lanes<Scalar = S>>(&self, at: usize) -> Vec3<L> {
        load(&self.spring, at)
    }

    /// Writes tangential springs of consecutive pairs, m.
    #[inline(always)]
    pub fn store_springs<L: Lanes<Scalar = S>>(&mut self, at: usize, spring: Vec3<L>) {
        store(&mut self.spring, at, spring);
    }

    /// Rolling springs of consecutive pairs, rad; only if pairs have them.
    #[inline(always)]
    pub fn turns<L: Lanes<Scalar = S>>(&self, at: usize) -> Vec3<L> {
        load(&self.roll, at)
    }

    /// Writes rolling springs of consecutive pairs, rad; only if pairs have them.
    #[inline(always)]
    pub fn store_turns<L: Lanes<Scalar = S>>(&mut self, at: usize, turns: Vec3<L>) {
        store(&mut self.roll, at, turns);
    }

    /// Bytes of the list that a pass over all pairs reads and writes.
    pub fn bytes(&self) -> u64 {
        let shared = size_of_val(&self.constants[..]);
        let springs = if self.rolls { 12 } else { 6 };
        let slides = if self.static_friction.is_some() { 3 } else { 0 };
        ((8 + (1 + springs + slides) * size_of::<S>()) * self.own.len() + shared) as u64
    }
}

#[inline(always)]
fn load<L: Lanes>([x, y, z]: &[Vec<L::Scalar>; 3], at: usize) -> Vec3<L> {
    Vec3::new(L::load(&x[at..]), L::load(&y[at..]), L::load(&z[at..]))
}

#[inline(always)]
fn store<L: Lanes>([x, y, z]: &mut [Vec<L::Scalar>; 3], at: usize, v: Vec3<L>) {
    v.x.store(&mut x[at..]);
    v.y.store(&mut y[at..]);
    v.z.store(&mut z[at..]);
}

/// The numbers of a row of constants by their meaning.
#[inline(always)]
fn named<T: Copy>(c: [T; 8]) -> ([T; 2], ContactParameters<T>, [T; 2]) {
    let k = ContactParameters {
        normal: c[2],
        tangential: c[3],
        friction: c[4],
        damping: c[5],
    };
    ([c[0], c[1]], k, [c[6], c[7]])
}

/// History of a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Memory<S> {
    /// Tangential spring, m.
    pub spring: [S; 3],
    /// Rolling spring, rad.
    pub roll: [S; 3],
    /// Whether it slides, with kinetic friction. Only with static friction.
    pub slides: bool,
}

impl<S: Scalar> Memory<S> {
    /// Whether it differs from the history of a new contact.
    pub fn is_any(&self) -> bool {
        let mut values = self.spring.iter().chain(&self.roll);
        values.any(|value| value.to_f64() != 0.0) || self.slides
    }

    /// The history seen from the other end.
    pub fn mirrored(self) -> Self {
        Memory {
            spring: self.spring.map(|s| -s),
            roll: self.roll.map(|s| -s),
            slides: self.slides,
        }
    }
}

/// Packs radii, contact parameters and inverse masses into a row of the list.
pub fn constants<S: Scalar>(
    [r_i, r_j]: [S; 2],
    ContactProperties { k, rolling, .. }: &ContactProperties<S>,
    [inverse_i, inverse_j]: [S; 2],
) -> Constants<S> {
    LaneRow([
        r_i,
        r_j,
        k.normal,
        k.tangential,
        k.friction,
        k.damping,
        *rolling,
        inverse_i + inverse_j,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: PairFeatures = PairFeatures {
        rolling: true,
        static_friction: true,
    };

    fn pair(own: u32, partner: u32, kind: f32) -> PairEntry<f32> {
        PairEntry {
            own,
            partner,
            touch: own as f32,
            constants: LaneRow([kind; 8]),
            static_friction: kind,
        }
    }

    fn kinds(list: &PairList<f32>) -> Vec<f32> {
        let of = |at| list.constants::<f32>(at).0[0];
        (0..list.len()).map(of).collect()
    }

    #[test]
    fn the_history_of_a_contact_stays_with_its_pair() {
        let pairs: Vec<_> = (0..20).map(|k| pair(k / 3, 10 + k % 3, 1.0)).collect();
        let mut list = PairList::new(&pairs, &PairList::default(), ALL, |_| true);
        assert_eq!((list.len(), list.own.len()), (20, 2 * BLOCK));
        let at = list.find((4, 11)).unwrap();
        let memory = Memory {
            spring: [1.0, 2.0, 3.0],
            roll: [4.0, 5.0, 6.0],
            slides: true,
        };
        list.set_memory(at, memory);
        // Pairs before it are inserted and removed.
        list.insert(pair(0, 99, 1.0));
        let at = list.find((4, 11)).unwrap();
        assert_eq!((at, list.memory(at)), (14, memory));
        assert_eq!(list.static_friction(at), 1.0);
        let list = PairList::new(&[pairs[3], pairs[13], pairs[14]], &list, ALL, |_| true);
        assert_eq!(list.memory(1), memory);
        assert!(!list.memory(0).is_any() && !list.memory(2).is_any());
        // A pair that is left out keeps nothing but its coefficient.
        let (mut list, before) = (list.clone(), memory);
        let (_, memory) = list.suspend(1);
        assert_eq!((memory, list.memory(1)), (before, Memory::default()));
        assert_eq!(list.static_friction(1), 1.0);
    }

    #[test]
    fn a_pair_put_in_is_looked_at_with_all_behind_it() {
        let pairs: Vec<_> = (0..40).map(|k| pair(2 * k, 100, 1.0)).collect();
        let mut list = PairList::new(&pairs, &PairList::default(), ALL, |_| true);
        list.clear_until.fill(5.0);
        list.insert(pair(41, 100, 1.0));
        assert_eq!(list.clear_until, [5.0, 0.0, 0.0]);
        list.clear_until.fill(5.0);
        // It is listed already.
        list.insert(pair(41, 100, 1.0));
        assert_eq!((list.len(), &list.clear_until[..]), (41, &[5.0; 3][..]));
    }

    #[test]
    fn a_soft_contact_stays_soft_while_it_overlaps() {
        let stiff = LaneRow([1e-3, 1e-3, 1e9, 1e9, 0.5, 1.0, 0.0, 1e5]);
        let pair = |own: u32| PairEntry {
            constants: stiff,
            ..pair(own, 9, 1.0)
        };
        let pairs: Vec<_> = (2..5).map(pair).collect();
        let mut list = PairList::new(
            &pairs,
            &PairList::default(),
            PairFeatures::default(),
            |_| true,
        );
        list.soften(1, 1e5);
        list.soften(1, 1e4);
        list.insert(pair(1));
        let soft = |list: &PairList<f32>| {
            let rows = (0..list.len()).filter(|&at| list.parameters(at).1.normal < 1e9);
            let rows: Vec<u32> = rows.map(|at| list.own[at]).collect();
            let told: Vec<u32> = list.soft().map(|([own, _], _)| own).collect();
            assert_eq!(rows, told);
            told
        };
        assert_eq!(soft(&list), [3]);
        let (_, k, _) = list.parameters(2);
        assert!((k.normal - 1e5).abs() < 1.0 && (k.damping - 1e-2).abs() < 1e-6);
        let pairs = [pair(3), pair(4)];
        let again = PairList::new(&pairs, &list, PairFeatures::default(), |_| true);
        assert_eq!(soft(&again), [3]);
        let apart = PairList::new(&pairs, &list, PairFeatures::default(), |pair| pair.own != 3);
        assert!(soft(&apart).is_empty());
    }

    #[test]
    fn pairs_keep_what_tells_them_apart() {
        let mut list = PairList::default();
        for (own, kind) in [(5, 1.0), (7, 1.0), (6, 2.0), (1, 1.0)] {
            list.insert(pair(own, 9, kind));
        }
        assert_eq!(list.own[..4], [1, 5, 6, 7]);
        assert_eq!(list.touch[..4], [1.0, 5.0, 6.0, 7.0]);
        assert_eq!(kinds(&list), [1.0, 1.0, 2.0, 1.0]);
        let same = [pair(1, 9, 1.0), pair(2, 9, 1.0)];
        assert_eq!(
            kinds(&PairList::new(
                &same,
                &list,
                PairFeatures::default(),
                |_| true
            )),
            [1.0; 2]
        );
        let other = [pair(1, 9, 1.0), pair(2, 9, 3.0)];
        assert_eq!(
            kinds(&PairList::new(
                &other,
                &list,
                PairFeatures::default(),
                |_| true
            )),
            [1.0, 3.0]
        );
    }
}
