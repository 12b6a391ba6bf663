//! Traces the rings that chains of the skin bound on faces of the grid.

use super::chain::{SkinChain, SkinGate, StretchCrossings, gates_on};
use super::ring::{RingArc, RingCrossing, arcs, edge_corners, face_edges};
use crate::reconstruct::body::skin_grid::SkinGrid;

/// Input for tracing rings.
#[derive(Clone, Copy)]
pub struct RingWalk<'a> {
    /// Skin and grid.
    pub skin_grid: &'a SkinGrid,
    /// Grid edge of each crossing on a stretch, ascending.
    pub edges: &'a [u64],
    /// Gates, sorted by edge and then along the edge.
    pub gates: &'a [SkinGate],
    /// Crossings on the stretches of edges with gates.
    pub stretches: &'a StretchCrossings,
}

impl RingWalk<'_> {
    /// Arcs on a face with these chains; `None` if skin and grid are inconsistent on it.
    pub fn arcs_of(&self, face: u64, chains: &[SkinChain]) -> Option<Vec<RingArc>> {
        let skin_grid = self.skin_grid;
        let (node, axis) = ((face / 3) as usize, (face % 3) as usize);
        // Stretches in order round the face: the crossing if there is one, whether the stretch is inside, and
        // the gate at its end.
        let mut walk: Vec<(Option<RingCrossing>, bool, Option<u32>)> = Vec::new();
        for (m, edge) in face_edges(axis, 0).into_iter().enumerate() {
            let start = edge_corners(edge)[0];
            let low = skin_grid.corner_nodes(node)[start];
            let key = 3 * low as u64 + (edge / 4) as u64;
            let gates = gates_on(self.gates, key);
            let mut inside = skin_grid.is_inside(low);
            let mut of_edge: Vec<(Option<RingCrossing>, bool, [Option<u32>; 2])> = Vec::new();
            let whole = [self.edges.binary_search(&key).ok().map(|n| n as u32)];
            let known = self.stretches.get(&key).map_or(&whole[..], Vec::as_slice);
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
                let steps: Vec<RingCrossing> =
                    walk.iter().filter_map(|stretch| stretch.0).collect();
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
                // Follow the inside stretches up to the gate at which they end.
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
                // The ring continues with the inside stretch after the gate: the outside stretch before it
                // ends at the gate.
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
