//! Pairs of neighbouring elements, and the parts that they connect.

use crate::parallel::prelude::*;
use glam::DVec3;

use crate::geometry::cell_grid::CellGrid;
use crate::math::UnionFind;

/// Relative tolerance of the distance of a touching pair against the sum of radii.
const TOUCH: f64 = 1e-6;

/// Points that are searched at a time: their pairs are in memory twice.
const GROUP: usize = 1 << 18;
/// Points that a task searches.
const CHUNK: usize = 4096;
/// Pairs for each point for which there is room at the start: those of a close packing.
const PAIRS_PER_POINT: usize = 6;

/// Pairs `[i, j]`, `i < j`, in order, whose distance is at most `neighbourhood` times the sum of their radii.
pub(super) fn pairs(points: &[DVec3], radii: &[f64], neighbourhood: f64) -> Vec<[u32; 2]> {
    let factor = neighbourhood * (1.0 + TOUCH);
    let largest = radii.iter().copied().fold(0.0, f64::max);
    let grid = CellGrid::new(points, 2.0 * factor * largest);
    let of_chunk = |first: usize, members: &[DVec3]| {
        let mut pairs = Vec::with_capacity(PAIRS_PER_POINT * members.len());
        for (i, p) in (first as u32..).zip(members) {
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
    };
    let mut pairs = Vec::with_capacity(PAIRS_PER_POINT * points.len());
    for (group, members) in points.chunks(GROUP).enumerate() {
        let chunks = members.par_chunks(CHUNK).enumerate();
        pairs.par_extend(
            chunks.flat_map_iter(|(number, members)| {
                of_chunk(group * GROUP + number * CHUNK, members)
            }),
        );
    }
    pairs
}

/// Number of connected parts of `count` points joined by `pairs`.
pub(super) fn parts(count: usize, pairs: &[[u32; 2]]) -> usize {
    let mut sets = UnionFind::new(count);
    let joined = pairs.iter().filter(|[i, j]| sets.join(*i, *j)).count();
    count - joined
}
