//! Which triangles are neighbours, and a winding in one sense.

use glam::DVec3;

use super::error::RepairError;
use super::work::Work;
use crate::geometry::check::{Edge, same_edge, sorted_edges};
use crate::geometry::inside::Crossings;

/// Two triangles that continue each other over an edge.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// The triangles.
    pub triangles: [u32; 2],
    /// The edge's vertices, the smaller one first.
    pub edge: [u32; 2],
    /// Whether both run the edge in one direction.
    pub is_against: bool,
}

/// Distance from an edge over its length at which a wedge between two triangles is looked at.
const STEP: f64 = 1e-5;

/// Neighbours over each edge. Of more than two triangles at an edge those are neighbours that bound the same
/// wedge of the solid.
pub fn pairs(work: &Work) -> Result<Vec<Pair>, RepairError> {
    let edges = sorted_edges(&work.mesh);
    require_even(work, &edges)?;
    let mut crossings = None;
    let mut pairs = Vec::with_capacity(edges.len() / 2);
    for group in edges.chunk_by(same_edge) {
        let mut add = |s: &Edge, t: &Edge| {
            pairs.push(Pair {
                triangles: [s.3, t.3],
                edge: [s.0, s.1],
                is_against: s.2 == t.2,
            });
        };
        if let [s, t] = group {
            add(s, t);
            continue;
        }
        let crossings = crossings.get_or_insert_with(|| Crossings::new(&work.mesh));
        let around = around(work, group, crossings);
        for pair in around.chunks(2) {
            add(&group[pair[0]], &group[pair[1]]);
        }
    }
    Ok(pairs)
}

/// The triangles at an edge by angle, from one such that the solid lies between the first and the second.
fn around(work: &Work, group: &[Edge], crossings: &Crossings) -> Vec<usize> {
    let positions = &work.mesh.positions;
    let [a, b] = [group[0].0, group[0].1].map(|v| positions[v as usize]);
    let axis = (b - a).normalize_or_zero();
    let (first, second) = axis.any_orthonormal_pair();
    let angle = |edge: &Edge| {
        let corners = work.mesh.triangles[edge.3 as usize];
        let free = corners.iter().find(|v| ![edge.0, edge.1].contains(v));
        let out = free.map_or(DVec3::ZERO, |v| positions[*v as usize] - a);
        out.dot(second).atan2(out.dot(first))
    };
    let angles: Vec<f64> = group.iter().map(angle).collect();
    let mut order: Vec<usize> = (0..group.len()).collect();
    order.sort_by(|s, t| angles[*s].total_cmp(&angles[*t]).then(s.cmp(t)));
    let between = (angles[order[0]] + angles[order[1]]) / 2.0;
    let out = first * between.cos() + second * between.sin();
    if !crossings.contains((a + b) / 2.0 + out * (STEP * a.distance(b))) {
        order.rotate_left(1);
    }
    order
}

/// Refuses edges with an odd number of triangles.
fn require_even(work: &Work, edges: &[Edge]) -> Result<(), RepairError> {
    let odd = |least: usize| {
        let groups = edges.chunk_by(same_edge);
        groups.filter(move |edge| edge.len() % 2 == 1 && edge.len() >= least)
    };
    if let Some(first) = odd(3).next() {
        return Err(RepairError::NonManifold {
            edges: odd(3).count(),
            count: first.len(),
            vertices: [first[0].0, first[0].1],
            near: work.middle(first[0].0, first[0].1),
        });
    }
    let Some(first) = odd(1).next() else {
        return Ok(());
    };
    Err(RepairError::Open {
        edges: odd(1).count(),
        vertices: [first[0].0, first[0].1],
        triangle: work.source[first[0].3 as usize],
        near: work.middle(first[0].0, first[0].1),
    })
}

/// Turns triangles so that neighbours run their edges in opposite directions; which were turned. The first
/// triangle of each surface stays.
pub fn wind(work: &mut Work, pairs: &[Pair]) -> Result<(), RepairError> {
    let count = work.mesh.triangles.len();
    let mut start = vec![0_usize; count + 1];
    for t in pairs.iter().flat_map(|pair| pair.triangles) {
        start[t as usize + 1] += 1;
    }
    for t in 0..count {
        start[t + 1] += start[t];
    }
    let mut next = start.clone();
    let mut beside = vec![(0, false); 2 * pairs.len()];
    for pair in pairs {
        let [s, t] = pair.triangles;
        for (from, to) in [(s, t), (t, s)] {
            beside[next[from as usize]] = (to, pair.is_against);
            next[from as usize] += 1;
        }
    }
    let mut turned: Vec<Option<bool>> = vec![None; count];
    let mut stack = Vec::new();
    for seed in 0..count {
        if turned[seed].is_some() {
            continue;
        }
        turned[seed] = Some(false);
        stack.push(seed);
        while let Some(t) = stack.pop() {
            let own = turned[t] == Some(true);
            for &(other, is_against) in &beside[start[t]..start[t + 1]] {
                let other = other as usize;
                match turned[other] {
                    None => {
                        turned[other] = Some(own != is_against);
                        stack.push(other);
                    }
                    Some(known) if known != (own != is_against) => {
                        return Err(RepairError::OneSided {
                            triangle: work.source[other],
                            near: work.centre(other),
                        });
                    }
                    Some(_) => {}
                }
            }
        }
    }
    for (t, turned) in turned.into_iter().enumerate() {
        if turned == Some(true) {
            work.mesh.flip(t);
        }
    }
    Ok(())
}
