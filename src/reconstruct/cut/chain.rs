//! Chains of segments where the skin crosses faces of the grid, and the gates at their ends.

use std::ops::Range;

use super::clip::{PointName, SkinPoint, TrianglePieces};
use crate::math::hash::QuickMap;
use crate::reconstruct::body::skin_grid::SkinGrid;

/// Point where the skin crosses a grid edge.
#[derive(Clone, Copy, Debug)]
pub struct SkinGate {
    /// Grid edge: three times its lower node, plus its axis.
    pub edge: u64,
    /// The point.
    pub point: SkinPoint,
    /// Element that owns it.
    pub owner: u32,
}

/// Range of the gates on a grid edge. `gates` are sorted by edge.
pub fn gates_on(gates: &[SkinGate], edge: u64) -> Range<usize> {
    let start = gates.partition_point(|gate| gate.edge < edge);
    let count = gates[start..].partition_point(|gate| gate.edge == edge);
    start..start + count
}

/// A polyline along which the skin crosses a face of the grid.
#[derive(Clone, Debug)]
pub struct SkinChain {
    /// Points in order; a closed chain repeats its first point at the end.
    pub points: Vec<SkinPoint>,
    /// Gates at its ends; `None` if it is closed.
    pub gates: Option<[u32; 2]>,
    /// Index of the crossing if a crack crosses the chain, and the segment that contains it.
    pub crossing: Option<(u32, usize)>,
}

/// For each grid edge with gates, the crossings of its stretches, from its lower end.
pub type StretchCrossings = QuickMap<u64, Vec<Option<u32>>>;

/// Node of a cell.
pub fn node_of(skin_grid: &SkinGrid, cell: [i32; 3]) -> usize {
    skin_grid.grid.index(cell.map(|c| c as usize))
}

/// Both ends of an open chain; empty for a closed one.
pub fn ends(points: &[SkinPoint]) -> Vec<&SkinPoint> {
    match points {
        [first, .., last] if first.name != last.name => vec![first, last],
        _ => Vec::new(),
    }
}

/// Segments of the pieces' outlines on faces of active cells, each once.
pub fn segments(
    skin_grid: &SkinGrid,
    pieces: &TrianglePieces,
    active: &[bool],
) -> Vec<(u64, [SkinPoint; 2])> {
    let mut segments = Vec::new();
    for (cell, polygon) in &pieces.polygons {
        for m in 0..polygon.len() {
            let ends =
                [polygon[m], polygon[(m + 1) % polygon.len()]].map(|p| pieces.points[p as usize]);
            for axis in 0..3 {
                let [p, q] = ends.map(|end| end.half_index[axis]);
                // Of the two pieces at a plane only the lower one contributes.
                if p != q || p & 1 == 0 || p < 2 * cell[axis] {
                    continue;
                }
                let below = node_of(skin_grid, *cell);
                let above = below + skin_grid.grid.strides()[axis];
                if active[below] || active[above] {
                    segments.push((3 * above as u64 + axis as u64, ends));
                }
            }
        }
    }
    segments
}

/// Joins segments to chains. Returns `None` if they fork.
pub fn chains_from(segments: &[(u64, [SkinPoint; 2])]) -> Option<Vec<SkinChain>> {
    let mut after: QuickMap<PointName, usize> = QuickMap::default();
    let mut enters: QuickMap<PointName, usize> = QuickMap::default();
    for (n, (_, [from, to])) in segments.iter().enumerate() {
        if after.insert(from.name, n).is_some() || enters.insert(to.name, n).is_some() {
            return None;
        }
    }
    let mut order: Vec<usize> = (0..segments.len()).collect();
    // Open chains first, then closed ones from any of their points.
    order.sort_unstable_by_key(|&n| {
        let name = segments[n].1[0].name;
        (enters.contains_key(&name), name)
    });
    let mut used = vec![false; segments.len()];
    let mut chains = Vec::new();
    for start in order {
        if used[start] {
            continue;
        }
        let mut points = vec![segments[start].1[0]];
        let mut at = Some(start);
        while let Some(n) = at.filter(|&n| !used[n]) {
            used[n] = true;
            points.push(segments[n].1[1]);
            at = after.get(&segments[n].1[1].name).copied();
        }
        chains.push(SkinChain {
            points,
            gates: None,
            crossing: None,
        });
    }
    Some(chains)
}
