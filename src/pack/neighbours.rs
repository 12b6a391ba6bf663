//! Pairs of touching elements and the parts that they join.

use glam::DVec3;
use rayon::prelude::*;

use crate::geometry::cell_grid::CellGrid;
use crate::math::UnionFind;

/// How far from 2r the distance of a touching pair may be, relative.
const TOUCH: f64 = 1e-6;

/// Touching pairs `[i, j]` of equal balls, `i < j`, in order.
pub(super) fn touching(points: &[DVec3], radius: f64) -> Vec<[u32; 2]> {
    let reach = 2.0 * radius * (1.0 + TOUCH);
    let grid = CellGrid::new(points, reach);
    let chunk = 4096;
    let lists: Vec<Vec<[u32; 2]>> = points
        .par_chunks(chunk)
        .enumerate()
        .map(|(number, members)| {
            let mut pairs = Vec::with_capacity(6 * members.len());
            for (i, p) in ((number * chunk) as u32..).zip(members) {
                let first = pairs.len();
                grid.around(*p, |j| {
                    if j > i && points[j as usize].distance_squared(*p) <= reach * reach {
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
    let mut sets = UnionFind::new(count);
    let joined = pairs.iter().filter(|[i, j]| sets.join(*i, *j)).count();
    count - joined
}
