//! Collecting the items of parts.

use super::drive::drive;
use super::sources::IntoParts;
use super::splittable::Splittable;

/// A collection that can be built from the items of all parts, in order.
pub trait FromParts<T>: Sized {
    /// Runs the parts and collects their items.
    fn from_parts<P: Splittable<Item = T>>(parts: P) -> Self;
}

impl<T: Send> FromParts<T> for Vec<T> {
    fn from_parts<P: Splittable<Item = T>>(parts: P) -> Self {
        join(drive(parts, |part| part.collect()))
    }
}

/// The first error in order, if there is one, after all parts have run.
impl<T: Send, E: Send> FromParts<Result<T, E>> for Result<Vec<T>, E> {
    fn from_parts<P: Splittable<Item = Result<T, E>>>(parts: P) -> Self {
        let parts: Result<Vec<Vec<T>>, E> =
            drive(parts, |part| part.collect()).into_iter().collect();
        Ok(join(parts?))
    }
}

/// None if an item is none, after all parts have run.
impl<T: Send> FromParts<Option<T>> for Option<Vec<T>> {
    fn from_parts<P: Splittable<Item = Option<T>>>(parts: P) -> Self {
        let parts: Option<Vec<Vec<T>>> = drive(parts, |part| part.collect()).into_iter().collect();
        Some(join(parts?))
    }
}

/// Concatenates vectors.
pub(super) fn join<T>(parts: Vec<Vec<T>>) -> Vec<T> {
    let count: usize = parts.iter().map(Vec::len).sum();
    let mut parts = parts.into_iter();
    let mut all = parts.next().unwrap_or_default();
    all.reserve_exact(count - all.len());
    for mut part in parts {
        all.append(&mut part);
    }
    all
}

/// A collection to which the items of parts can be appended, in order.
pub trait ParExtend<T> {
    /// Runs the parts and appends their items.
    fn par_extend<P: IntoParts>(&mut self, parts: P)
    where
        P::Parts: Splittable<Item = T>;
}

impl<T: Send> ParExtend<T> for Vec<T> {
    fn par_extend<P: IntoParts>(&mut self, parts: P)
    where
        P::Parts: Splittable<Item = T>,
    {
        let mut parts = drive(parts.into_par_iter(), |part| part.collect::<Vec<T>>());
        self.reserve(parts.iter().map(Vec::len).sum());
        for part in &mut parts {
            self.append(part);
        }
    }
}
