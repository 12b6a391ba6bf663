//! Sources of parallel iterators: slices, their chunks, ranges, vectors.

use std::cmp::Ordering;
use std::ops::Range;

use super::splittable::{Indexed, Splittable};

/// Types that can be converted to a parallel iterator.
pub trait IntoParts {
    /// The parallel iterator.
    type Parts: Splittable;
    /// Converts to a parallel iterator.
    fn into_par_iter(self) -> Self::Parts;
}

impl<P: Splittable> IntoParts for P {
    type Parts = P;
    fn into_par_iter(self) -> P {
        self
    }
}

/// Consecutive integers.
#[derive(Clone)]
pub struct Integers<T>(Range<T>);

/// Items of a slice, by reference.
pub struct Rows<'a, T>(&'a [T]);

/// Items of a slice, by mutable reference.
pub struct RowsMut<'a, T>(&'a mut [T]);

/// Chunks of a slice, and their length.
pub struct Chunks<'a, T>(&'a [T], usize);

/// Mutable chunks of a slice, and their length.
pub struct ChunksMut<'a, T>(&'a mut [T], usize);

/// Items of a vector, by value.
pub struct Owned<T>(Vec<T>);

// A derived `Clone` would require `T: Clone`.
impl<T> Clone for Rows<'_, T> {
    fn clone(&self) -> Self {
        Rows(self.0)
    }
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Splittable for Integers<$integer> {
            type Item = $integer;
            type Serial = Range<$integer>;

            fn len(&self) -> usize {
                self.0.clone().count()
            }
            fn min_len(&self) -> usize {
                1
            }
            fn split_at(self, at: usize) -> (Self, Self) {
                let middle = self.0.start + at as $integer;
                (Integers(self.0.start..middle), Integers(middle..self.0.end))
            }
            fn serial(self) -> Range<$integer> {
                self.0
            }
        }
        impl Indexed for Integers<$integer> {}
        impl IntoParts for Range<$integer> {
            type Parts = Integers<$integer>;
            fn into_par_iter(self) -> Integers<$integer> {
                Integers(self)
            }
        }
    )*};
}
integers!(usize, u32, i64);

impl<'a, T: Sync> Splittable for Rows<'a, T> {
    type Item = &'a T;
    type Serial = std::slice::Iter<'a, T>;

    fn len(&self) -> usize {
        self.0.len()
    }
    fn min_len(&self) -> usize {
        1
    }
    fn split_at(self, at: usize) -> (Self, Self) {
        let (a, b) = self.0.split_at(at);
        (Rows(a), Rows(b))
    }
    fn serial(self) -> Self::Serial {
        self.0.iter()
    }
}

impl<T: Sync> Indexed for Rows<'_, T> {}

impl<'a, T: Send> Splittable for RowsMut<'a, T> {
    type Item = &'a mut T;
    type Serial = std::slice::IterMut<'a, T>;

    fn len(&self) -> usize {
        self.0.len()
    }
    fn min_len(&self) -> usize {
        1
    }
    fn split_at(self, at: usize) -> (Self, Self) {
        let (a, b) = self.0.split_at_mut(at);
        (RowsMut(a), RowsMut(b))
    }
    fn serial(self) -> Self::Serial {
        self.0.iter_mut()
    }
}

impl<T: Send> Indexed for RowsMut<'_, T> {}

impl<'a, T: Sync> Splittable for Chunks<'a, T> {
    type Item = &'a [T];
    type Serial = std::slice::Chunks<'a, T>;

    fn len(&self) -> usize {
        self.0.len().div_ceil(self.1)
    }
    fn min_len(&self) -> usize {
        1
    }
    fn split_at(self, at: usize) -> (Self, Self) {
        let (a, b) = self.0.split_at((at * self.1).min(self.0.len()));
        (Chunks(a, self.1), Chunks(b, self.1))
    }
    fn serial(self) -> Self::Serial {
        self.0.chunks(self.1)
    }
}

impl<T: Sync> Indexed for Chunks<'_, T> {}

impl<'a, T: Send> Splittable for ChunksMut<'a, T> {
    type Item = &'a mut [T];
    type Serial = std::slice::ChunksMut<'a, T>;

    fn len(&self) -> usize {
        self.0.len().div_ceil(self.1)
    }
    fn min_len(&self) -> usize {
        1
    }
    fn split_at(self, at: usize) -> (Self, Self) {
        let (a, b) = self.0.split_at_mut((at * self.1).min(self.0.len()));
        (ChunksMut(a, self.1), ChunksMut(b, self.1))
    }
    fn serial(self) -> Self::Serial {
        self.0.chunks_mut(self.1)
    }
}

impl<T: Send> Indexed for ChunksMut<'_, T> {}

impl<T: Send> Splittable for Owned<T> {
    type Item = T;
    type Serial = std::vec::IntoIter<T>;

    fn len(&self) -> usize {
        self.0.len()
    }
    fn min_len(&self) -> usize {
        1
    }
    fn split_at(mut self, at: usize) -> (Self, Self) {
        let rest = self.0.split_off(at);
        (self, Owned(rest))
    }
    fn serial(self) -> Self::Serial {
        self.0.into_iter()
    }
}

impl<T: Send> Indexed for Owned<T> {}

impl<T: Send> IntoParts for Vec<T> {
    type Parts = Owned<T>;
    fn into_par_iter(self) -> Owned<T> {
        Owned(self)
    }
}

impl<'a, T: Sync> IntoParts for &'a [T] {
    type Parts = Rows<'a, T>;
    fn into_par_iter(self) -> Rows<'a, T> {
        Rows(self)
    }
}

impl<'a, T: Sync> IntoParts for &'a Vec<T> {
    type Parts = Rows<'a, T>;
    fn into_par_iter(self) -> Rows<'a, T> {
        Rows(self)
    }
}

impl<'a, T: Send> IntoParts for &'a mut Vec<T> {
    type Parts = RowsMut<'a, T>;
    fn into_par_iter(self) -> RowsMut<'a, T> {
        RowsMut(self)
    }
}

impl<'a, T: Send> IntoParts for &'a mut [T] {
    type Parts = RowsMut<'a, T>;
    fn into_par_iter(self) -> RowsMut<'a, T> {
        RowsMut(self)
    }
}

/// Parallel iterators and sorting of slices.
pub trait ParSlice<T> {
    /// Its items.
    fn par_iter(&self) -> Rows<'_, T>;
    /// Its items, mutable.
    fn par_iter_mut(&mut self) -> RowsMut<'_, T>;
    /// Chunks of `length` items; the last may be shorter. Panics if `length` is 0.
    fn par_chunks(&self, length: usize) -> Chunks<'_, T>;
    /// Mutable chunks of `length` items; the last may be shorter. Panics if `length` is 0.
    fn par_chunks_mut(&mut self, length: usize) -> ChunksMut<'_, T>;
    /// Sorts; not stable.
    fn par_sort_unstable(&mut self)
    where
        T: Ord + Send;
    /// Sorts by a comparison function; not stable.
    fn par_sort_unstable_by(&mut self, order: impl Fn(&T, &T) -> Ordering + Sync)
    where
        T: Send;
    /// Sorts by a key; stable.
    fn par_sort_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K + Sync)
    where
        T: Send;
}

impl<T> ParSlice<T> for [T] {
    fn par_iter(&self) -> Rows<'_, T> {
        Rows(self)
    }
    fn par_iter_mut(&mut self) -> RowsMut<'_, T> {
        RowsMut(self)
    }
    fn par_chunks(&self, length: usize) -> Chunks<'_, T> {
        assert!(length > 0, "the length of chunks must be positive");
        Chunks(self, length)
    }
    fn par_chunks_mut(&mut self, length: usize) -> ChunksMut<'_, T> {
        assert!(length > 0, "the length of chunks must be positive");
        ChunksMut(self, length)
    }
    fn par_sort_unstable(&mut self)
    where
        T: Ord + Send,
    {
        rayon::slice::ParallelSliceMut::par_sort_unstable(self);
    }
    fn par_sort_unstable_by(&mut self, order: impl Fn(&T, &T) -> Ordering + Sync)
    where
        T: Send,
    {
        rayon::slice::ParallelSliceMut::par_sort_unstable_by(self, order);
    }
    fn par_sort_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K + Sync)
    where
        T: Send,
    {
        rayon::slice::ParallelSliceMut::par_sort_by_key(self, key);
    }
}
