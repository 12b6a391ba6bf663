//! Pairs of elements that stand nearer to each other at rest than the sum of their radii without a bond, as
//! cells do that meet at an edge.
//!
//! While the body around them is whole they do not touch: what holds them apart are their bonds to others.
//! Once a bond of either breaks, they touch where they stood at rest, or nearer if they stand nearer then.

use crate::math::{Real, Scalar};

/// Those pairs, from both of their elements.
#[derive(Clone, Debug, Default)]
pub struct Crowded<S> {
    /// Where the partners of each element begin; one more than there are elements, or none at all.
    start: Vec<u32>,
    /// Partners, ascending.
    partner: Vec<u32>,
    /// Distance at rest, m.
    rest: Vec<S>,
    /// Distance at which they touch, m; 0 while they do not.
    touch: Vec<S>,
}

impl<S: Scalar> Crowded<S> {
    /// From pairs and their distances at rest, m; `elements` is the number of all elements.
    pub fn new(elements: usize, pairs: &[([u32; 2], S)]) -> Self {
        let mut sides: Vec<(u32, u32, S)> = Vec::with_capacity(2 * pairs.len());
        for &([i, j], rest) in pairs {
            sides.push((i, j, rest));
            sides.push((j, i, rest));
        }
        sides.sort_unstable_by_key(|&(own, partner, _)| (own, partner));
        let mut start = vec![0u32; elements + 1];
        for (own, ..) in &sides {
            start[*own as usize + 1] += 1;
        }
        for k in 0..elements {
            start[k + 1] += start[k];
        }
        Crowded {
            start,
            touch: vec![S::default(); sides.len()],
            partner: sides.iter().map(|side| side.1).collect(),
            rest: sides.iter().map(|side| side.2).collect(),
        }
    }

    fn range(&self, element: usize) -> std::ops::Range<usize> {
        match self.start.get(element + 1) {
            Some(&end) => self.start[element] as usize..end as usize,
            None => 0..0,
        }
    }

    /// Partners of an element, ascending.
    pub fn partners(&self, element: usize) -> &[u32] {
        &self.partner[self.range(element)]
    }

    fn find(&self, i: usize, j: usize) -> Option<usize> {
        let range = self.range(i);
        let found = self.partner[range.clone()].binary_search(&(j as u32));
        found.ok().map(|at| range.start + at)
    }

    /// Distance at which such a pair touches, m, 0 where it does not; nothing for any other pair.
    #[inline]
    pub fn touch(&self, i: usize, j: usize) -> Option<S> {
        self.find(i, j).map(|at| self.touch[at])
    }

    /// Lets an element, one of whose bonds broke, touch its partners at no more than their `distance` now;
    /// those that did not before, with where.
    pub fn release(&mut self, element: usize, distance: impl Fn(usize) -> S) -> Vec<(u32, S)> {
        let mut found = Vec::new();
        for at in self.range(element) {
            if self.touch[at].to_f64() > 0.0 {
                continue;
            }
            let partner = self.partner[at];
            let touch = Real::min(self.rest[at], distance(partner as usize));
            self.touch[at] = touch;
            if let Some(back) = self.find(partner as usize, element) {
                self.touch[back] = touch;
            }
            found.push((partner, touch));
        }
        found
    }

    /// Distances at which they touch, for a state.
    pub fn touches(&self) -> &[S] {
        &self.touch
    }

    /// Sets the distances that a state has kept.
    pub fn touches_mut(&mut self) -> &mut [S] {
        &mut self.touch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_touch_once_released_from_either_side() {
        let mut crowded = Crowded::new(4, &[([0, 2], 1.0), ([1, 2], 2.0)]);
        assert_eq!(crowded.touch(2, 0), Some(0.0));
        assert_eq!(crowded.touch(0, 1), None);
        assert_eq!(crowded.release(2, |_| 1.5), [(0, 1.0), (1, 1.5)]);
        assert_eq!(crowded.release(0, |_| 0.1), []);
        assert_eq!(
            (crowded.touch(0, 2), crowded.touch(1, 2)),
            (Some(1.0), Some(1.5))
        );
        assert_eq!(Crowded::<f64>::default().touch(0, 1), None);
    }
}
