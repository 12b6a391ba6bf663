//! Work that can be split into parts.

/// Work that can be split into parts, each of which is an iterator.
pub trait Splittable: Sized + Send {
    /// Item of the iterators.
    type Item;
    /// Sequential iterator over one part.
    type Serial: Iterator<Item = Self::Item>;

    /// Number of items of the source below the adaptors, between which it can be split.
    fn len(&self) -> usize;
    /// Smallest length of a part.
    fn min_len(&self) -> usize;
    /// Splits into the first `at` items of the source and the others.
    fn split_at(self, at: usize) -> (Self, Self);
    /// Iterates sequentially over all items.
    fn serial(self) -> Self::Serial;
}

/// Work whose items correspond one to one to those of the source, so that they have indices.
pub trait Indexed: Splittable {}
