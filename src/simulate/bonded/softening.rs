//! Bonds that soften before they break, and what is left of them.

use crate::laws::softening::{self, Left};
use crate::math::{Lanes, Scalar};
use crate::simulate::bonded::column::Column;

/// What is left of every bond, by entry.
#[derive(Clone, Debug)]
pub struct Softening<S> {
    /// Energy that a bond takes until it breaks, J; 0 if it does not soften.
    energy: Vec<S>,
    /// Use of strength at which a damaged bond breaks.
    end: Column<S>,
    /// Stiffness left, of that of the law.
    stiffness: Column<S>,
    /// Strength left, of the initial one.
    strength: Column<S>,
}

/// Use of strength at which a damaged bond breaks, and its stiffness and strength left.
pub type Damage<S> = [S; 3];

impl<S: Scalar> Softening<S> {
    /// Undamaged bonds that take these energies, J, until they break.
    pub fn new(energy: Vec<S>) -> Self {
        let whole = Column::Same(S::splat(1.0));
        Softening {
            energy,
            end: whole.clone(),
            stiffness: whole.clone(),
            strength: whole,
        }
    }

    /// What is left of a bond.
    pub fn left(&self, entry: usize) -> Left<f64> {
        Left {
            stiffness: self.stiffness.get(entry).to_f64(),
            strength: self.strength.get(entry).to_f64(),
        }
    }

    /// Damages a bond under a stress of `used` times the strength left; returns whether it holds. `released`
    /// returns the energy that it would release if it broke undamaged, J.
    pub fn damage(&mut self, entry: usize, used: f64, released: impl FnOnce() -> f64) -> bool {
        let left = self.left(entry);
        let mut end = self.end.get(entry).to_f64();
        if left.stiffness == 1.0 {
            end = softening::end(self.energy[entry].to_f64(), used, released());
        }
        let after = softening::damaged(left, used, end);
        if let Some(left) = after {
            self.set(entry, [end, left.stiffness, left.strength].map(S::from_f64));
        }
        after.is_some()
    }

    /// Entries of damaged bonds in order, and their damage.
    pub fn damaged(&self) -> Vec<(u32, Damage<S>)> {
        let whole = S::splat(1.0);
        let entries = (0..self.energy.len()).filter(|&entry| self.stiffness.get(entry) != whole);
        entries
            .map(|entry| (entry as u32, self.damage_of(entry)))
            .collect()
    }

    /// Sets the damage of a bond.
    pub fn set(&mut self, entry: usize, [end, stiffness, strength]: Damage<S>) {
        let entries = self.energy.len();
        self.end.set(entry, end, entries);
        self.stiffness.set(entry, stiffness, entries);
        self.strength.set(entry, strength, entries);
    }

    /// Energy that a bond takes until it breaks, J.
    pub fn energy(&self, entry: usize) -> S {
        self.energy[entry]
    }

    /// Damage of a bond; all 1 before it is damaged.
    pub fn damage_of(&self, entry: usize) -> Damage<S> {
        [&self.end, &self.stiffness, &self.strength].map(|column| column.get(entry))
    }

    /// What is left of consecutive entries.
    #[inline(always)]
    pub fn load<L: Lanes<Scalar = S>>(&self, entry: usize) -> Left<L> {
        Left {
            stiffness: self.stiffness.load(entry),
            strength: self.strength.load(entry),
        }
    }

    /// What is left of the given entries, one per lane.
    #[inline(always)]
    pub fn pick<L: Lanes<Scalar = S>>(&self, entries: &[u32]) -> Left<L> {
        Left {
            stiffness: self.stiffness.pick(entries),
            strength: self.strength.pick(entries),
        }
    }
}
