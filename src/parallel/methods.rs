//! The methods on what can be split.

use super::adaptors::{Enumerate, Filter, FlatMap, Map, MapInit, MinLen, Zip};
use super::collect::{FromParts, ParExtend, join};
use super::drive::drive;
use super::sources::IntoParts;
use super::splittable::{Indexed, Splittable};

/// Methods of all parts.
pub trait Parallel: Splittable {
    /// `f` of each item.
    fn map<O, F: Fn(Self::Item) -> O + Clone + Send>(self, f: F) -> Map<Self, F> {
        Map(self, f)
    }
    /// `f` of each item and of a state that `state` makes for each part: room to work in.
    fn map_init<S, O, I, F>(self, state: I, f: F) -> MapInit<Self, I, F>
    where
        I: Fn() -> S + Clone + Send,
        F: Fn(&mut S, Self::Item) -> O + Clone + Send,
    {
        MapInit(self, state, f)
    }
    /// The items that `keep` keeps.
    fn filter<F: Fn(&Self::Item) -> bool + Clone + Send>(self, keep: F) -> Filter<Self, F> {
        Filter(self, keep)
    }
    /// What `f` makes of the items, where it makes something of them.
    fn filter_map<O, F: Fn(Self::Item) -> Option<O> + Clone + Send>(
        self,
        f: F,
    ) -> FlatMap<Self, F> {
        FlatMap(self, f)
    }
    /// All that `f` makes of the items.
    fn flat_map_iter<O: IntoIterator, F: Fn(Self::Item) -> O + Clone + Send>(
        self,
        f: F,
    ) -> FlatMap<Self, F> {
        FlatMap(self, f)
    }

    /// Does `f` with each item.
    fn for_each(self, f: impl Fn(Self::Item) + Sync) {
        drive(self, |part| part.for_each(&f));
    }
    /// Does `f` with each item and a state that `state` makes for each part.
    fn for_each_init<S>(self, state: impl Fn() -> S + Sync, f: impl Fn(&mut S, Self::Item) + Sync) {
        drive(self, |part| {
            let mut state = state();
            part.for_each(|item| f(&mut state, item));
        });
    }
    /// All items, in order.
    fn collect<C: FromParts<Self::Item>>(self) -> C {
        C::from_parts(self)
    }
    /// All items, in order, in the place of what `rows` held.
    fn collect_into_vec(self, rows: &mut Vec<Self::Item>)
    where
        Self::Item: Send,
    {
        rows.clear();
        rows.par_extend(self);
    }
    /// Firsts and seconds of the items, in order.
    fn unzip<A: Send, B: Send>(self) -> (Vec<A>, Vec<B>)
    where
        Self: Splittable<Item = (A, B)>,
    {
        let parts = drive(self, |part| part.unzip::<A, B, Vec<A>, Vec<B>>());
        let (a, b): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        (join(a), join(b))
    }
    /// Sum; `O` must not depend on the order of additions.
    fn sum<O: std::iter::Sum<Self::Item> + std::iter::Sum<O> + Send>(self) -> O {
        drive(self, |part| part.sum::<O>()).into_iter().sum()
    }
    /// Number of items.
    fn count(self) -> usize {
        drive(self, Iterator::count).into_iter().sum()
    }
    /// The items joined by `join`, which must not depend on how they are grouped, with `none` for no item.
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

/// Methods of parts whose items have numbers.
pub trait Numbered: Indexed {
    /// Items with those of `other`, up to the shorter.
    fn zip<B: IntoParts>(self, other: B) -> Zip<Self, B::Parts>
    where
        B::Parts: Indexed,
    {
        Zip(self, other.into_par_iter())
    }
    /// Items with their numbers.
    fn enumerate(self) -> Enumerate<Self> {
        Enumerate(self, 0)
    }
    /// Parts of at least `least` items, where an item is little work.
    fn with_min_len(self, least: usize) -> MinLen<Self> {
        MinLen(self, least)
    }
}

impl<P: Indexed> Numbered for P {}
