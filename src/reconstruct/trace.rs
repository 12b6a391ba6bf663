//! Chains of the skin on faces of the grid, and the walk round the rings that they bound.

use super::clip::{Name, Pieces, Point};
use super::ring::{Arc, Step, arcs, edge_corners, face_edges};
use super::seam::{Chain, Seam, Stretches, node_of};
use super::solid::Solid;
use crate::math::hash::QuickMap;

/// Both ends of an open chain, nothing of a closed one.
pub fn ends(points: &[Point]) -> Vec<&Point> {
    match points {
        [first, .., last] if first.name != last.name => vec![first, last],
        _ => Vec::new(),
    }
}

/// The segments that pieces leave on faces of active cells, each once.
pub fn segments(solid: &Solid, pieces: &Pieces, active: &[bool]) -> Vec<(u64, [Point; 2])> {
    let mut segments = Vec::new();
    for (cell, polygon) in &pieces.polygons {
        for m in 0..polygon.len() {
            let ends =
                [polygon[m], polygon[(m + 1) % polygon.len()]].map(|p| pieces.points[p as usize]);
            for axis in 0..3 {
                let [p, q] = ends.map(|end| end.place[axis]);
                // Of both pieces beside a plane, the lower one.
                if p != q || p & 1 == 0 || p < 2 * cell[axis] {
                    continue;
                }
                let below = node_of(solid, *cell);
                let above = below + solid.grid.strides()[axis];
                if active[below] || active[above] {
                    segments.push((3 * above as u64 + axis as u64, ends));
                }
            }
        }
    }
    segments
}

/// Joins segments to chains; nothing if they fork.
pub fn join(segments: &[(u64, [Point; 2])]) -> Option<Vec<Chain>> {
    let mut after: QuickMap<Name, usize> = QuickMap::default();
    let mut enters: QuickMap<Name, usize> = QuickMap::default();
    for (n, (_, [from, to])) in segments.iter().enumerate() {
        if after.insert(from.name, n).is_some() || enters.insert(to.name, n).is_some() {
            return None;
        }
    }
    let mut order: Vec<usize> = (0..segments.len()).collect();
    // Chains with a beginning first, then rings from any of their points.
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
        chains.push(Chain {
            points,
            gates: None,
            crossing: None,
        });
    }
    Some(chains)
}

impl Seam {
    /// Arcs on a face with these chains; nothing if skin and grid do not agree on it.
    pub fn arcs_of(
        &self,
        solid: &Solid,
        face: u64,
        chains: &[Chain],
        stretches: &Stretches,
    ) -> Option<Vec<Arc>> {
        let (node, axis) = ((face / 3) as usize, (face % 3) as usize);
        // Stretches in order round the face: crossing if any, whether inside, and the gate in which it ends.
        let mut walk: Vec<(Option<Step>, bool, Option<u32>)> = Vec::new();
        for (m, edge) in face_edges(axis, 0).into_iter().enumerate() {
            let start = edge_corners(edge)[0];
            let low = solid.corners(node)[start];
            let key = 3 * low as u64 + (edge / 4) as u64;
            let gates = self.gates_on(key);
            let mut inside = solid.is_inside(low);
            let mut of_edge: Vec<(Option<Step>, bool, [Option<u32>; 2])> = Vec::new();
            let whole = [self.edges.binary_search(&key).ok().map(|n| n as u32)];
            let known = stretches.get(&key).map_or(&whole[..], Vec::as_slice);
            for (s, crossing) in known.iter().enumerate() {
                let before = (s > 0).then(|| (gates.start + s - 1) as u32);
                let after = (s < gates.len()).then(|| (gates.start + s) as u32);
                let step = crossing.map(|c| [2 * c, 2 * c + 1]);
                of_edge.push((step, inside, [before, after]));
                inside = !inside;
            }
            if m >= 2 {
                of_edge.reverse();
                for (step, _, gates) in &mut of_edge {
                    gates.reverse();
                    if let Some(step) = step {
                        step.reverse();
                    }
                }
            }
            walk.extend(
                of_edge
                    .into_iter()
                    .map(|(step, inside, gates)| (step, inside, gates[1])),
            );
        }
        let enters = |at: usize| {
            let before = &walk[(at + walk.len() - 1) % walk.len()];
            walk[at].1 && !before.1
        };
        let starts: Vec<usize> = (0..walk.len()).filter(|&at| enters(at)).collect();
        let mut result = Vec::new();
        if starts.is_empty() {
            if walk[0].1 {
                let steps: Vec<Step> = walk.iter().filter_map(|stretch| stretch.0).collect();
                result.extend(arcs(&steps));
            }
            return Some(result);
        }
        let mut seen = vec![false; walk.len()];
        for &first in &starts {
            if seen[first] {
                continue;
            }
            let mut steps = Vec::new();
            let mut at = first;
            loop {
                if seen[at] {
                    return None;
                }
                seen[at] = true;
                // Along the stretches inside up to the gate in which they end.
                let mut last = at;
                loop {
                    steps.extend(walk[last].0);
                    let next = (last + 1) % walk.len();
                    if !walk[next].1 {
                        break;
                    }
                    last = next;
                }
                let leaving = walk[last].2?;
                let (gate, step) = chains.iter().find_map(|chain| {
                    let [a, b] = chain.gates?;
                    let halves = chain.crossing.map(|(c, _)| [2 * c, 2 * c + 1]);
                    if a == leaving {
                        Some((b, halves))
                    } else if b == leaving {
                        Some((a, halves.map(|[x, y]| [y, x])))
                    } else {
                        None
                    }
                })?;
                steps.extend(step);
                // The stretch before the one that the gate opens ends in it.
                let opened = (0..walk.len()).find(|&m| walk[m].2 == Some(gate) && !walk[m].1)?;
                at = (opened + 1) % walk.len();
                if !starts.contains(&at) {
                    return None;
                }
                if at == first {
                    break;
                }
            }
            result.extend(arcs(&steps));
        }
        Some(result)
    }
}
