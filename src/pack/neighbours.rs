//! Pairs of near points by a uniform grid.

use glam::DVec3;
use rayon::prelude::*;

/// Points sorted into the cells of a grid.
pub(super) struct Grid<'a> {
    points: &'a [DVec3],
    low: DVec3,
    per_metre: f64,
    cells: [usize; 3],
    /// Points of cell `c` are `members[starts[c]..starts[c + 1]]`, ascending.
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl<'a> Grid<'a> {
    /// Cells no smaller than `reach` (m); larger where the points fill little of their box, so that memory follows the points.
    pub fn new(points: &'a [DVec3], reach: f64) -> Self {
        let empty = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (low, high) = points
            .iter()
            .fold(empty, |(low, high), p| (low.min(*p), high.max(*p)));
        let mut edge = reach;
        let counts = |edge: f64| ((high - low) / edge).floor() + DVec3::ONE;
        while counts(edge).element_product() > 4.0 * points.len() as f64 + 4096.0 {
            edge *= 1.25;
        }
        let cells = if points.is_empty() {
            [1; 3]
        } else {
            counts(edge).to_array().map(|n| n as usize)
        };
        let mut grid = Grid {
            points,
            low,
            per_metre: 1.0 / edge,
            cells,
            starts: Vec::new(),
            members: vec![0; points.len()],
        };
        let cell_of: Vec<usize> = points.iter().map(|p| grid.index(grid.cell(*p))).collect();
        let mut next = vec![0_u32; cells.iter().product::<usize>() + 1];
        for cell in &cell_of {
            next[cell + 1] += 1;
        }
        for cell in 1..next.len() {
            next[cell] += next[cell - 1];
        }
        grid.starts = next.clone();
        for (point, cell) in (0..).zip(cell_of) {
            grid.members[next[cell] as usize] = point;
            next[cell] += 1;
        }
        grid
    }

    fn cell(&self, p: DVec3) -> [usize; 3] {
        let at = (p - self.low) * self.per_metre;
        [0, 1, 2].map(|axis| (at[axis] as usize).min(self.cells[axis] - 1))
    }

    fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        (z * self.cells[1] + y) * self.cells[0] + x
    }

    /// Calls `found` with every point in the cells around `p`: all those within reach and some beyond.
    pub fn near(&self, p: DVec3, mut found: impl FnMut(u32)) {
        let [x, y, z] = self.cell(p);
        let last = |at: usize, axis: usize| (at + 1).min(self.cells[axis] - 1);
        for z in z.saturating_sub(1)..=last(z, 2) {
            for y in y.saturating_sub(1)..=last(y, 1) {
                let (from, to) = (
                    self.index([x.saturating_sub(1), y, z]),
                    self.index([last(x, 0), y, z]),
                );
                let range = self.starts[from] as usize..self.starts[to + 1] as usize;
                self.members[range].iter().copied().for_each(&mut found);
            }
        }
    }
}

/// How far from 2r the distance of a touching pair may be, relative.
const TOUCH: f64 = 1e-6;

/// Touching pairs `[i, j]` of equal balls, `i < j`, in order.
pub(super) fn touching(points: &[DVec3], radius: f64) -> Vec<[u32; 2]> {
    let reach = 2.0 * radius * (1.0 + TOUCH);
    let grid = Grid::new(points, reach);
    let chunk = 4096;
    let lists: Vec<Vec<[u32; 2]>> = points
        .par_chunks(chunk)
        .enumerate()
        .map(|(number, members)| {
            let mut pairs = Vec::with_capacity(6 * members.len());
            for (i, p) in ((number * chunk) as u32..).zip(members) {
                let first = pairs.len();
                grid.near(*p, |j| {
                    if j > i && grid.points[j as usize].distance_squared(*p) <= reach * reach {
                        pairs.push([i, j]);
                    }
                });
                pairs[first..].sort_unstable();
            }
            pairs
        })
        .collect();
    lists.concat()
}

/// Number of connected parts of `count` points joined by `pairs`.
pub(super) fn parts(count: usize, pairs: &[[u32; 2]]) -> usize {
    let mut parent: Vec<u32> = (0..count as u32).collect();
    fn root(parent: &mut [u32], mut at: u32) -> u32 {
        while parent[at as usize] != at {
            parent[at as usize] = parent[parent[at as usize] as usize];
            at = parent[at as usize];
        }
        at
    }
    let mut parts = count;
    for [i, j] in pairs {
        let (a, b) = (root(&mut parent, *i), root(&mut parent, *j));
        if a != b {
            parent[a.max(b) as usize] = a.min(b);
            parts -= 1;
        }
    }
    parts
}
