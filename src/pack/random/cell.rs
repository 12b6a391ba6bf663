//! A periodic cell and the pairs of spheres that are near each other in it.

use crate::parallel::prelude::*;
use glam::DVec3;

/// Spheres that a thread takes at a time. Fixed, so that sums over chunks come out the same on any number of threads.
pub(super) const CHUNK: usize = 1024;

/// A box that repeats along its edges.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// Lengths of the edges.
    pub edges: DVec3,
}

impl Cell {
    /// From `q` to `p` the shortest way, for places that are at most half an edge outside.
    #[inline(always)]
    pub fn between(self, p: DVec3, q: DVec3) -> DVec3 {
        let (d, half) = (p - q, 0.5 * self.edges);
        let down = DVec3::select(d.cmpgt(half), self.edges, DVec3::ZERO);
        let up = DVec3::select(d.cmplt(-half), self.edges, DVec3::ZERO);
        d - down + up
    }

    /// The same place inside.
    pub fn wrapped(self, p: DVec3) -> DVec3 {
        p - (p / self.edges).floor() * self.edges
    }
}

/// For every sphere those near it.
#[derive(Clone, Debug, Default)]
pub(super) struct NearList {
    starts: Vec<u32>,
    others: Vec<u32>,
}

impl NearList {
    /// Pairs whose distance is less than `factor` times the sum of their radii and `skin` more. Every edge
    /// must be at least three times as long as the farthest pair; places lie inside.
    pub fn new(cell: Cell, places: &[DVec3], radii: &[f64], factor: f64, skin: f64) -> Self {
        let largest = radii.iter().copied().fold(0.0, f64::max);
        let counts = (cell.edges / (2.0 * factor * largest + skin)).floor();
        let counts = counts.to_array().map(|n| (n as usize).max(3));
        let scale = DVec3::from_array(counts.map(|n| n as f64)) / cell.edges;
        let at = |p: DVec3| -> [usize; 3] {
            let at = (p * scale).to_array();
            [0, 1, 2].map(|axis| (at[axis] as usize).min(counts[axis] - 1))
        };
        let number = |[x, y, z]: [usize; 3]| (z * counts[1] + y) * counts[0] + x;
        let boxes: Vec<u32> = places.par_iter().map(|p| number(at(*p)) as u32).collect();
        let mut starts = vec![0u32; counts.iter().product::<usize>() + 1];
        for &b in &boxes {
            starts[b as usize + 1] += 1;
        }
        for b in 1..starts.len() {
            starts[b] += starts[b - 1];
        }
        let mut next = starts.clone();
        let mut members = vec![0u32; places.len()];
        for (sphere, &b) in (0..).zip(&boxes) {
            members[next[b as usize] as usize] = sphere;
            next[b as usize] += 1;
        }
        let near = |i: usize, out: &mut Vec<u32>| {
            let (p, r, home) = (places[i], radii[i], at(places[i]));
            let around = |axis: usize| {
                let n = counts[axis];
                [home[axis] + n - 1, home[axis], home[axis] + 1].map(|c| c % n)
            };
            for z in around(2) {
                for y in around(1) {
                    for x in around(0) {
                        let b = number([x, y, z]);
                        for &j in &members[starts[b] as usize..starts[b + 1] as usize] {
                            let reach = factor * (r + radii[j as usize]) + skin;
                            let d = cell.between(p, places[j as usize]);
                            if j as usize != i && d.length_squared() < reach * reach {
                                out.push(j);
                            }
                        }
                    }
                }
            }
        };
        let lists: Vec<(Vec<u32>, Vec<u32>)> = (0..places.len().div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let first = chunk * CHUNK;
                let (mut ends, mut others) = (Vec::new(), Vec::with_capacity(12 * CHUNK));
                for i in first..(first + CHUNK).min(places.len()) {
                    near(i, &mut others);
                    ends.push(others.len() as u32);
                }
                (ends, others)
            })
            .collect();
        let mut list = NearList {
            starts: vec![0],
            others: Vec::new(),
        };
        for (ends, others) in lists {
            let before = list.others.len() as u32;
            list.starts.extend(ends.iter().map(|end| before + end));
            list.others.extend(others);
        }
        list
    }

    /// The spheres near one.
    #[inline(always)]
    pub fn of(&self, sphere: usize) -> &[u32] {
        &self.others[self.starts[sphere] as usize..self.starts[sphere + 1] as usize]
    }

    /// How many are near a sphere, in the mean.
    pub fn mean(&self) -> f64 {
        self.others.len() as f64 / (self.starts.len() - 1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::weibull::uniform;

    #[test]
    fn pairs_are_those_of_all_against_all_through_every_face() {
        let edges = DVec3::new(9.0, 12.0, 20.0);
        let cell = Cell { edges };
        let place = |k| DVec3::new(uniform(1, k), uniform(2, k), uniform(3, k)) * edges;
        let places: Vec<DVec3> = (0..500).map(place).collect();
        let radii: Vec<f64> = (0..500).map(|k| 0.5 + uniform(4, k)).collect();
        let list = NearList::new(cell, &places, &radii, 0.9, 0.2);
        let mut total = 0;
        for i in 0..500 {
            let near = |j: &u32| {
                let j = *j as usize;
                let turns = (-1..=1).flat_map(|z| {
                    (-1..=1).flat_map(move |y| {
                        (-1..=1).map(move |x| DVec3::new(x.into(), y.into(), z.into()))
                    })
                });
                let shortest = turns
                    .map(|t| (places[i] - places[j] + t * edges).length())
                    .fold(f64::INFINITY, f64::min);
                j != i && shortest < 0.9 * (radii[i] + radii[j]) + 0.2
            };
            let mut found = list.of(i).to_vec();
            found.sort_unstable();
            assert_eq!(found, (0..500).filter(near).collect::<Vec<u32>>(), "{i}");
            total += found.len();
        }
        assert!(total > 2000 && list.mean() == total as f64 / 500.0);
    }
}
