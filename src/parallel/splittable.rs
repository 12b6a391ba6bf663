//! What can be split.

/// Work that can be split into parts, each of which is an iterator.
pub trait Splittable: Sized + Send {
    /// What the iterators give.
    type Item;
    /// Iterator of one part.
    type Serial: Iterator<Item = Self::Item>;

    /// Places to split at: items of the source below the adaptors.
    fn len(&self) -> usize;
    /// Least length of a part.
    fn min_len(&self) -> usize;
    /// The first `at` items of the source, and the others.
    fn split_at(self, at: usize) -> (Self, Self);
    /// All of it, one after the other.
    fn serial(self) -> Self::Serial;
}

/// Parts whose items are those of the source, one for one, so that they have numbers.
pub trait Indexed: Splittable {}
