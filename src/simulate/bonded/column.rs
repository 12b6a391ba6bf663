//! Columns of bonds in which most values are often equal.

use crate::math::{Lanes, Scalar};

/// Lanes of the widest type.
const WIDEST: usize = 16;

/// One value per entry, stored once if all are equal.
#[derive(Clone, Debug, PartialEq)]
pub enum Column<T> {
    /// All entries have this value.
    Same(T),
    /// Each entry has its own value.
    Each(Vec<T>),
}

impl<T: Default> Default for Column<T> {
    fn default() -> Self {
        Column::Same(T::default())
    }
}

impl<T: Copy + PartialEq> Column<T> {
    /// Value of an entry.
    #[inline(always)]
    pub fn get(&self, entry: usize) -> T {
        match self {
            Column::Same(value) => *value,
            Column::Each(values) => values[entry],
        }
    }

    /// Whether one value stands for all entries.
    #[inline(always)]
    pub fn is_same(&self) -> bool {
        matches!(self, Column::Same(_))
    }

    /// Sets the value of one of `entries` entries.
    pub fn set(&mut self, entry: usize, value: T, entries: usize) {
        if let Column::Same(same) = self {
            *self = Column::Each(vec![*same; entries]);
        }
        if let Column::Each(values) = self {
            values[entry] = value;
        }
    }

    /// Appends a value to a column of `len` values that will have `all` in the end.
    pub(super) fn push(&mut self, value: T, len: usize, all: usize) {
        match self {
            Column::Same(same) if len == 0 => *same = value,
            Column::Same(same) if *same == value => {}
            Column::Same(same) => {
                let mut values = Vec::with_capacity(all);
                values.resize(len, *same);
                values.push(value);
                *self = Column::Each(values);
            }
            Column::Each(values) => values.push(value),
        }
    }

    /// Reorders the values: value k goes to entry `places[k]` of `entries`; the rest become `empty`.
    pub(super) fn spread(self, entries: usize, places: &[u32], empty: T) -> Self {
        match self {
            Column::Each(values) => {
                let mut spread = vec![empty; entries];
                for (&place, value) in places.iter().zip(values) {
                    spread[place as usize] = value;
                }
                Column::Each(spread)
            }
            same => same,
        }
    }
}

impl<S: Scalar> Column<S> {
    /// Values of consecutive entries.
    #[inline(always)]
    pub fn load<L: Lanes<Scalar = S>>(&self, entry: usize) -> L {
        match self {
            Column::Same(value) => L::splat(value.to_f64()),
            Column::Each(values) => L::load(&values[entry..]),
        }
    }

    /// Values of the given entries, one per lane.
    #[inline(always)]
    pub fn pick<L: Lanes<Scalar = S>>(&self, entries: &[u32]) -> L {
        match self {
            Column::Same(value) => L::splat(value.to_f64()),
            Column::Each(values) => {
                let mut picked = [S::default(); WIDEST];
                for (lane, to) in picked[..L::WIDTH].iter_mut().enumerate() {
                    *to = values[entries[lane] as usize];
                }
                L::load(&picked)
            }
        }
    }
}
