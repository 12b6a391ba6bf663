//! Adaptors of parallel iterators: mapped, filtered, zipped, enumerated.

use super::splittable::{Indexed, Splittable};

/// [`Parallel::map`](super::methods::Parallel::map).
#[derive(Clone)]
pub struct Map<P, F>(pub(super) P, pub(super) F);

/// [`Parallel::map_init`](super::methods::Parallel::map_init).
#[derive(Clone)]
pub struct MapInit<P, I, F>(pub(super) P, pub(super) I, pub(super) F);

/// [`Parallel::filter`](super::methods::Parallel::filter).
#[derive(Clone)]
pub struct Filter<P, F>(pub(super) P, pub(super) F);

/// [`Parallel::flat_map_iter`](super::methods::Parallel::flat_map_iter) and
/// [`Parallel::filter_map`](super::methods::Parallel::filter_map).
#[derive(Clone)]
pub struct FlatMap<P, F>(pub(super) P, pub(super) F);

/// [`Numbered::zip`](super::methods::Numbered::zip).
#[derive(Clone)]
pub struct Zip<A, B>(pub(super) A, pub(super) B);

/// [`Numbered::enumerate`](super::methods::Numbered::enumerate), with the index of the first item.
#[derive(Clone)]
pub struct Enumerate<P>(pub(super) P, pub(super) usize);

/// [`Numbered::with_min_len`](super::methods::Numbered::with_min_len).
#[derive(Clone)]
pub struct MinLen<P>(pub(super) P, pub(super) usize);

/// Delegates the lengths to the adapted iterator.
macro_rules! lengths_of_base {
    () => {
        fn len(&self) -> usize {
            self.0.len()
        }
        fn min_len(&self) -> usize {
            self.0.min_len()
        }
    };
}

impl<P: Splittable, O, F: Fn(P::Item) -> O + Clone + Send> Splittable for Map<P, F> {
    type Item = O;
    type Serial = std::iter::Map<P::Serial, F>;

    lengths_of_base!();
    fn split_at(self, at: usize) -> (Self, Self) {
        let (a, b) = self.0.split_at(at);
        (Map(a, self.1.clone()), Map(b, self.1))
    }
    fn serial(self) -> Self::Serial {
        self.0.serial().map(self.1)
    }
}

impl<P: Indexed, O, F: Fn(P::Item) -> O + Clone + Send> Indexed for Map<P, F> {}

/// The items of a part, and the state with which they are mapped.
pub struct MapWithState<I, S, F> {
    items: I,
    state: S,
    f: F,
}

impl<I: Iterator, S, O, F: Fn(&mut S, I::Item) -> O> Iterator for MapWithState<I, S, F> {
    type Item = O;
    fn next(&mut self) -> Option<O> {
        let item = self.items.next()?;
        Some((self.f)(&mut self.state, item))
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
}

impl<P: Splittable, S, O, I, F> Splittable for MapInit<P, I, F>
where
    I: Fn() -> S + Clone + Send,
    F: Fn(&mut S, P::Item) -> O + Clone + Send,
{
    type Item = O;
    type Serial = MapWithState<P::Serial, S, F>;

    lengths_of_base!();
    fn split_at(self, at: usize) -> (Self, Self) {
        let (a, b) = self.0.split_at(at);
        (
            MapInit(a, self.1.clone(), self.2.clone()),
            MapInit(b, self.1, self.2),
        )
    }
    fn serial(self) -> Self::Serial {
        MapWithState {
            items: self.0.serial(),
            state: (self.1)(),
            f: self.2,
        }
    }
}

impl<P: Splittable, F: Fn(&P::Item) -> bool + Clone + Send> Splittable for Filter<P, F> {
    type Item = P::Item;
    type Serial = std::iter::Filter<P::Serial, F>;

    lengths_of_base!();
    fn split_at(self, at: usize) -> (Self, Self) {
        let (a, b) = self.0.split_at(at);
        (Filter(a, self.1.clone()), Filter(b, self.1))
    }
    fn serial(self) -> Self::Serial {
        self.0.serial().filter(self.1)
    }
}

impl<P: Splittable, O: IntoIterator, F: Fn(P::Item) -> O + Clone + Send> Splittable
    for FlatMap<P, F>
{
    type Item = O::Item;
    type Serial = std::iter::FlatMap<P::Serial, O, F>;

    lengths_of_base!();
    fn split_at(self, at: usize) -> (Self, Self) {
        let (a, b) = self.0.split_at(at);
        (FlatMap(a, self.1.clone()), FlatMap(b, self.1))
    }
    fn serial(self) -> Self::Serial {
        self.0.serial().flat_map(self.1)
    }
}

impl<A: Indexed, B: Indexed> Splittable for Zip<A, B> {
    type Item = (A::Item, B::Item);
    type Serial = std::iter::Zip<A::Serial, B::Serial>;

    fn len(&self) -> usize {
        self.0.len().min(self.1.len())
    }
    fn min_len(&self) -> usize {
        self.0.min_len().max(self.1.min_len())
    }
    fn split_at(self, at: usize) -> (Self, Self) {
        let (a, a_rest) = self.0.split_at(at);
        let (b, b_rest) = self.1.split_at(at);
        (Zip(a, b), Zip(a_rest, b_rest))
    }
    fn serial(self) -> Self::Serial {
        self.0.serial().zip(self.1.serial())
    }
}

impl<A: Indexed, B: Indexed> Indexed for Zip<A, B> {}

impl<P: Indexed> Splittable for Enumerate<P> {
    type Item = (usize, P::Item);
    type Serial = std::iter::Zip<std::ops::RangeFrom<usize>, P::Serial>;

    lengths_of_base!();
    fn split_at(self, at: usize) -> (Self, Self) {
        let (a, b) = self.0.split_at(at);
        (Enumerate(a, self.1), Enumerate(b, self.1 + at))
    }
    fn serial(self) -> Self::Serial {
        (self.1..).zip(self.0.serial())
    }
}

impl<P: Indexed> Indexed for Enumerate<P> {}

impl<P: Indexed> Splittable for MinLen<P> {
    type Item = P::Item;
    type Serial = P::Serial;

    fn len(&self) -> usize {
        self.0.len()
    }
    fn min_len(&self) -> usize {
        self.1.max(self.0.min_len())
    }
    fn split_at(self, at: usize) -> (Self, Self) {
        let (a, b) = self.0.split_at(at);
        (MinLen(a, self.1), MinLen(b, self.1))
    }
    fn serial(self) -> Self::Serial {
        self.0.serial()
    }
}

impl<P: Indexed> Indexed for MinLen<P> {}
