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

    /// Sets the value of an entry of a column made by [`Differing::column`].
    pub(super) fn put(&mut self, entry: usize, value: T) {
        if let Column::Each(values) = self {
            values[entry] = value;
        }
    }
}

/// Whether values differ.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Differing<T> {
    first: Option<T>,
    differs: bool,
}

impl<T: Copy + PartialEq + Default> Differing<T> {
    /// Adds a value.
    pub fn add(&mut self, value: T) {
        self.differs |= *self.first.get_or_insert(value) != value;
    }

    /// A column for the values: the one that all have, or zeros to be replaced.
    pub fn column(self, entries: usize) -> Column<T> {
        match self.differs {
            true => Column::Each(vec![T::default(); entries]),
            false => Column::Same(self.first.unwrap_or_default()),
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
