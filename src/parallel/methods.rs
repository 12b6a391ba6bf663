//! Methods of parallel iterators.

use super::adaptors::{Enumerate, Filter, FlatMap, Map, MapInit, MinLen, Zip};
use super::collect::{FromParts, ParExtend, join};
use super::drive::drive;
use super::sources::IntoParts;
use super::splittable::{Indexed, Splittable};

/// Methods of all parallel iterators.
pub trait Parallel: Splittable {
    /// Applies `f` to each item.
    fn map<O, F: Fn(Self::Item) -> O + Clone + Send>(self, f: F) -> Map<Self, F> {
        Map(self, f)
    }
    /// Applies `f` to each item and a state, for example scratch buffers, that `state` creates once for each
    /// part.
    fn map_init<S, O, I, F>(self, state: I, f: F) -> MapInit<Self, I, F>
    where
        I: Fn() -> S + Clone + Send,
        F: Fn(&mut S, Self::Item) -> O + Clone + Send,
    {
        MapInit(self, state, f)
    }
    /// The items for which `keep` is true.
    fn filter<F: Fn(&Self::Item) -> bool + Clone + Send>(self, keep: F) -> Filter<Self, F> {
        Filter(self, keep)
    }
    /// The values of `f` for the items, where they are not none.
    fn filter_map<O, F: Fn(Self::Item) -> Option<O> + Clone + Send>(
        self,
        f: F,
    ) -> FlatMap<Self, F> {
        FlatMap(self, f)
    }
    /// All values that `f` returns for the items.
    fn flat_map_iter<O: IntoIterator, F: Fn(Self::Item) -> O + Clone + Send>(
        self,
        f: F,
    ) -> FlatMap<Self, F> {
        FlatMap(self, f)
    }

    /// Calls `f` with each item.
    fn for_each(self, f: impl Fn(Self::Item) + Sync) {
        drive(self, |part| part.for_each(&f));
    }
    /// Calls `f` with each item and a state that `state` creates once for each part.
    fn for_each_init<S>(self, state: impl Fn() -> S + Sync, f: impl Fn(&mut S, Self::Item) + Sync) {
        drive(self, |part| {
            let mut state = state();
            part.for_each(|item| f(&mut state, item));
        });
    }
    /// Collects all items, in order.
    fn collect<C: FromParts<Self::Item>>(self) -> C {
        C::from_parts(self)
    }
    /// Collects all items, in order, into `rows`, whose earlier content is removed.
    fn collect_into_vec(self, rows: &mut Vec<Self::Item>)
    where
        Self::Item: Send,
    {
        rows.clear();
        rows.par_extend(self);
    }
    /// Collects the first and the second values of pairs, in order.
    fn unzip<A: Send, B: Send>(self) -> (Vec<A>, Vec<B>)
    where
        Self: Splittable<Item = (A, B)>,
    {
        let parts = drive(self, |part| part.unzip::<A, B, Vec<A>, Vec<B>>());
        let (a, b): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        (join(a), join(b))
    }
    /// Number of items.
    fn count(self) -> usize {
        drive(self, Iterator::count).into_iter().sum()
    }
    /// Combines the items with `join`, which must be associative; `none` is its neutral element.
    fn reduce(
        self,
        none: impl Fn() -> Self::Item + Sync,
        join: impl Fn(Self::Item, Self::Item) -> Self::Item + Sync,
    ) -> Self::Item
    where
        Self::Item: Send,
    {
        let parts = drive(self, |part| part.fold(none(), &join));
        parts.into_iter().fold(none(), &join)
    }
}

impl<P: Splittable> Parallel for P {}

/// Methods of parallel iterators whose items have indices: zip, enumerate and others.
pub trait Numbered: Indexed {
    /// Pairs of items with those of `other`, up to the shorter of both.
    fn zip<B: IntoParts>(self, other: B) -> Zip<Self, B::Parts>
    where
        B::Parts: Indexed,
    {
        Zip(self, other.into_par_iter())
    }
    /// Items with their indices.
    fn enumerate(self) -> Enumerate<Self> {
        Enumerate(self, 0)
    }
    /// Makes parts of at least `least` items; for items that are little work.
    fn with_min_len(self, least: usize) -> MinLen<Self> {
        MinLen(self, least)
    }
}

impl<P: Indexed> Numbered for P {}
