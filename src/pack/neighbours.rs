//! Pairs of neighbouring elements, and the parts that they connect.

use crate::parallel::prelude::*;
use glam::DVec3;

use crate::geometry::cell_grid::CellGrid;
use crate::math::UnionFind;

/// Relative tolerance of the distance of a touching pair against the sum of radii.
const TOUCH: f64 = 1e-6;

/// Pairs `[i, j]`, `i < j`, in order, whose distance is at most `neighbourhood` times the sum of their radii.
pub(super) fn pairs(points: &[DVec3], radii: &[f64], neighbourhood: f64) -> Vec<[u32; 2]> {
    let factor = neighbourhood * (1.0 + TOUCH);
    let largest = radii.iter().copied().fold(0.0, f64::max);
    let grid = CellGrid::new(points, 2.0 * factor * largest);
    let chunk = 4096;
    points
        .par_chunks(chunk)
        .enumerate()
        .flat_map_iter(|(number, members)| {
            let mut pairs = Vec::with_capacity(6 * members.len());
            for (i, p) in ((number * chunk) as u32..).zip(members) {
                let (first, r) = (pairs.len(), radii[i as usize]);
                grid.around(*p, |j| {
                    let reach = factor * (r + radii[j as usize]);
                    if j > i && points[j as usize].distance_squared(*p) <= reach * reach {
                        pairs.push([i, j]);
                    }
                });
                pairs[first..].sort_unstable();
            }
            pairs
        })
        .collect()
}

/// Number of connected parts of `count` points joined by `pairs`.
pub(super) fn parts(count: usize, pairs: &[[u32; 2]]) -> usize {
    let mut sets = UnionFind::new(count);
    let joined = pairs.iter().filter(|[i, j]| sets.join(*i, *j)).count();
    count - joined
}
