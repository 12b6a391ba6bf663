//! Closes T-junctions: vertices that lie on the edge of a neighbouring triangle without belonging to it,
//! which leaves slits.

use super::repair_mesh::RepairMesh;
use crate::geometry::bvh::Bvh;
use crate::geometry::check::{same_edge, sorted_edges};
use crate::geometry::mesh::TriMesh;

/// Maximum number of rounds; each splits at most one edge per triangle.
const MAX_ROUNDS: usize = 16;

/// Splits boundary edges at the boundary vertices that lie on them. Returns the number of vertices inserted.
pub fn join_vertices(work: &mut RepairMesh) -> usize {
    let mut joined = 0;
    for _ in 0..MAX_ROUNDS {
        let found = split_edges_once(work);
        if found == 0 {
            break;
        }
        joined += found;
    }
    joined
}

fn split_edges_once(work: &mut RepairMesh) -> usize {
    let edges = sorted_edges(&work.mesh);
    let open = edges.chunk_by(same_edge).filter(|edge| edge.len() == 1);
    let open: Vec<[u32; 3]> = open.map(|edge| [edge[0].0, edge[0].1, edge[0].3]).collect();
    if open.is_empty() {
        return 0;
    }
    let mut vertices: Vec<u32> = open.iter().flat_map(|[a, b, _]| [*a, *b]).collect();
    vertices.sort_unstable();
    vertices.dedup();
    // Edges as triangles without area, for the tree.
    let segments = TriMesh {
        positions: work.mesh.positions.clone(),
        triangles: open.iter().map(|[a, b, _]| [*a, *b, *b]).collect(),
        ..TriMesh::default()
    };
    let bvh = Bvh::new(&segments);
    let mut on_edge: Vec<Vec<(f64, u32)>> = vec![Vec::new(); open.len()];
    for &vertex in &vertices {
        let p = work.mesh.positions[vertex as usize];
        bvh.each_within(&segments, p, RepairMesh::TOLERANCE, |e| {
            let [a, b] = [0, 1].map(|k| open[e as usize][k]);
            if vertex != a && vertex != b {
                let along = p.distance(work.mesh.positions[a as usize]);
                on_edge[e as usize].push((along, vertex));
            }
        });
    }
    let mut busy = vec![false; work.mesh.triangles.len()];
    let mut found = 0;
    for ([a, b, t], mut on) in open.into_iter().zip(on_edge) {
        if on.is_empty() || std::mem::replace(&mut busy[t as usize], true) {
            continue;
        }
        on.sort_unstable_by(|p, q| p.0.total_cmp(&q.0).then(p.1.cmp(&q.1)));
        let chain = std::iter::once(a).chain(on.iter().map(|o| o.1)).chain([b]);
        split(work, t as usize, &chain.collect::<Vec<_>>());
        found += on.len();
    }
    found
}

/// Splits a triangle along the chain of vertices on one of its edges.
fn split(work: &mut RepairMesh, t: usize, chain: &[u32]) {
    let positions = &work.mesh.positions;
    let place = |v: u32| positions[v as usize];
    let triangle = work.mesh.triangles[t];
    let (a, b) = (chain[0], chain[chain.len() - 1]);
    let whole = place(a).distance(place(b));
    let [i, j] = [a, b].map(|v| triangle.iter().position(|w| *w == v).unwrap_or(0));
    let uv = work.mesh.uv.get(t).copied();
    for (k, pair) in chain.windows(2).enumerate() {
        let mut part = triangle;
        (part[i], part[j]) = (pair[0], pair[1]);
        let texture = uv.map(|uv| {
            let mut own = uv;
            for (corner, v) in [(i, pair[0]), (j, pair[1])] {
                let share = (place(a).distance(place(v)) / whole).min(1.0) as f32;
                own[corner] = [0, 1].map(|m| uv[i][m] + (uv[j][m] - uv[i][m]) * share);
            }
            own
        });
        if k == 0 {
            work.mesh.triangles[t] = part;
            if let Some(texture) = texture {
                work.mesh.uv[t] = texture;
            }
        } else {
            work.mesh.triangles.push(part);
            work.mesh.uv.extend(texture);
            work.source.push(work.source[t]);
        }
    }
}
