//! Checks that a mesh bounds a solid: closed, wound consistently, not intersecting itself.

use glam::DVec3;

use super::inside::InsideTest;
use super::intersect::self_intersections;
use super::mesh::TriMesh;
use crate::math::UnionFind;

/// Why a mesh does not bound a solid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshDefect {
    /// Edges with a triangle on one side only.
    #[error(
        "mesh is open: {edges} boundary edges, first near {near}; close it",
        near = ShortPosition(*.near)
    )]
    Open {
        /// Number of boundary edges.
        edges: usize,
        /// Middle of the first, in the mesh's coordinates.
        near: DVec3,
    },
    /// Neighbouring triangles are wound in opposite senses.
    #[error(
        "mesh is wound inconsistently: {edges} edges have both triangles in the same direction, first near {near}; \
         make the winding consistent",
        near = ShortPosition(*.near)
    )]
    Inconsistent {
        /// Number of edges between them.
        edges: usize,
        /// Middle of the first, in the mesh's coordinates.
        near: DVec3,
    },
    /// Triangles meet elsewhere than at common corners and edges.
    #[error(
        "mesh cuts or touches itself: {pairs} pairs of triangles, first near {near}; \
         repair it",
        near = ShortPosition(*.near)
    )]
    SelfIntersecting {
        /// Number of pairs of triangles.
        pairs: usize,
        /// Centre of the first triangle, in the mesh's coordinates.
        near: DVec3,
    },
}

/// Prints a position in short form.
pub(super) struct ShortPosition(pub DVec3);

impl std::fmt::Display for ShortPosition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let DVec3 { x, y, z } = self.0;
        if self.0.abs().max_element() < 0.01 {
            return write!(f, "({x:.3e}, {y:.3e}, {z:.3e})");
        }
        write!(f, "({x:.4}, {y:.4}, {z:.4})")
    }
}

/// Refuses a mesh that does not bound a solid, and winds each surface so that its normals point out of the
/// solid.
///
/// A point is in the solid if it lies inside an odd number of surfaces: a surface inside another bounds a
/// cavity, however it was wound.
pub fn require_solid(mesh: &mut TriMesh) -> Result<(), MeshDefect> {
    let edges = sorted_edges(mesh);
    if let Some(defect) = edge_defects(mesh, &edges).into_iter().next() {
        return Err(defect);
    }
    if let Some(defect) = crossings(mesh) {
        return Err(defect);
    }
    wind_outward(mesh, &edges);
    Ok(())
}

/// Everything for which [`require_solid`] refuses a mesh.
pub fn defects(mesh: &TriMesh) -> Vec<MeshDefect> {
    let mut defects = edge_defects(mesh, &sorted_edges(mesh));
    defects.extend(crossings(mesh));
    defects
}

fn crossings(mesh: &TriMesh) -> Option<MeshDefect> {
    let (pairs, [first, _]) = self_intersections(mesh)?;
    let near = mesh.corners(first as usize).iter().sum::<DVec3>() / 3.0;
    Some(MeshDefect::SelfIntersecting { pairs, near })
}

/// Reverses the winding of every triangle.
pub fn flip(mesh: &mut TriMesh) {
    for t in 0..mesh.triangles.len() {
        mesh.flip(t);
    }
}

/// A triangle's edge: both vertices in ascending order, whether the triangle runs along it in that direction,
/// and the triangle.
pub(super) type Edge = (u32, u32, bool, u32);

/// All edges, sorted so that those with the same vertices are adjacent.
pub(super) fn sorted_edges(mesh: &TriMesh) -> Vec<Edge> {
    let mut edges: Vec<Edge> = (0..)
        .zip(&mesh.triangles)
        .flat_map(|(t, &[a, b, c])| {
            [(a, b), (b, c), (c, a)].map(|(a, b)| (a.min(b), a.max(b), a < b, t))
        })
        .collect();
    edges.sort_unstable();
    edges
}

/// Whether both edges have the same vertices.
pub(super) fn same_edge(a: &Edge, b: &Edge) -> bool {
    (a.0, a.1) == (b.0, b.1)
}

/// Whether as many triangles run along each edge one way as the other.
pub(super) fn is_balanced(edges: &[Edge]) -> bool {
    edges
        .chunk_by(same_edge)
        .all(|group| 2 * group.iter().filter(|edge| edge.2).count() == group.len())
}

/// Edges along which not as many triangles run one way as the other, which parity needs; more than two triangles may
/// share an edge.
fn edge_defects(mesh: &TriMesh, edges: &[Edge]) -> Vec<MeshDefect> {
    let middle =
        |edge: &Edge| (mesh.positions[edge.0 as usize] + mesh.positions[edge.1 as usize]) / 2.0;
    let (mut open, mut inconsistent) = (Vec::new(), Vec::new());
    for group in edges.chunk_by(same_edge) {
        if group.len() % 2 == 1 {
            open.push(&group[0]);
        } else if !is_balanced(group) {
            inconsistent.push(&group[0]);
        }
    }
    let mut defects = Vec::new();
    defects.extend(open.first().map(|first| MeshDefect::Open {
        edges: open.len(),
        near: middle(first),
    }));
    defects.extend(inconsistent.first().map(|first| MeshDefect::Inconsistent {
        edges: inconsistent.len(),
        near: middle(first),
    }));
    defects
}

/// Flips each connected surface whose signed volume has the wrong sign for its nesting depth.
pub(super) fn wind_outward(mesh: &mut TriMesh, edges: &[Edge]) {
    let part = components(mesh.triangles.len(), edges);
    let count = mesh.triangles.len();
    let centre = mesh.bounds().map_or(DVec3::ZERO, |(l, h)| (l + h) / 2.0);
    let mut volume = vec![0.0; count];
    // A point of each surface that is clear of all others: the centre of its largest triangle.
    let mut largest = vec![(0.0, DVec3::ZERO); count];
    for (t, &part) in part.iter().enumerate() {
        let [a, b, c] = mesh.corners(t).map(|p| p - centre);
        volume[part as usize] += a.dot(b.cross(c));
        let area = (b - a).cross(c - a).length();
        if area > largest[part as usize].0 {
            largest[part as usize] = (area, (a + b + c) / 3.0 + centre);
        }
    }
    let crossings = InsideTest::new(mesh);
    let is_wrong: Vec<bool> = (0..count)
        .map(|p| {
            let mut is_cavity = false;
            if part[p] as usize == p {
                crossings.behind(largest[p].1, |t| {
                    is_cavity ^= part[t as usize] as usize != p
                });
            }
            if is_cavity {
                volume[p] > 0.0
            } else {
                volume[p] < 0.0
            }
        })
        .collect();
    for (t, part) in part.into_iter().enumerate() {
        if is_wrong[part as usize] {
            mesh.flip(t);
        }
    }
}

/// Parts connected by edges of exactly two triangles: for each triangle the smallest triangle index in its part.
pub(super) fn patches(triangles: usize, edges: &[Edge]) -> Vec<u32> {
    let mut joined = UnionFind::new(triangles);
    for edge in edges.chunk_by(same_edge).filter(|edge| edge.len() == 2) {
        joined.join(edge[0].3, edge[1].3);
    }
    joined.roots()
}

/// Connected components: for each triangle the smallest triangle index in its component.
pub(super) fn components(triangles: usize, edges: &[Edge]) -> Vec<u32> {
    let mut joined = UnionFind::new(triangles);
    for pair in edges.windows(2) {
        if same_edge(&pair[0], &pair[1]) {
            joined.join(pair[0].3, pair[1].3);
        }
    }
    joined.roots()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{read, shapes};
    use std::path::Path;

    fn bunny() -> TriMesh {
        read::read(Path::new("pipelines/meshes/bunny.obj")).unwrap()
    }

    fn cubes(sizes_and_shifts: &[(f64, DVec3)]) -> TriMesh {
        let mut mesh = TriMesh::default();
        for (size, shift) in sizes_and_shifts {
            let base = mesh.positions.len() as u32;
            let cube = shapes::cuboid(DVec3::splat(*size));
            mesh.positions
                .extend(cube.positions.iter().map(|p| *p + *shift));
            mesh.triangles
                .extend(cube.triangles.iter().map(|t| t.map(|v| v + base)));
        }
        read::weld(&mesh)
    }

    #[test]
    fn bunny_is_solid_either_way_round() {
        let mut outward = bunny();
        require_solid(&mut outward).unwrap();
        let volume = outward.volume();
        assert!(volume > 100.0, "{volume}");
        let mut inward = outward.clone();
        flip(&mut inward);
        assert_eq!(inward.volume(), -volume);
        require_solid(&mut inward).unwrap();
        assert_eq!(inward.volume(), volume);
    }

    #[test]
    fn open_and_inconsistent_meshes_are_refused() {
        let mut open = bunny();
        open.triangles.remove(7);
        let error = require_solid(&mut open).unwrap_err();
        assert!(
            matches!(error, MeshDefect::Open { edges: 3, .. }),
            "{error}"
        );
        assert!(error.to_string().ends_with("close it"), "{error}");
        let mut mixed = bunny();
        mixed.triangles[7].swap(0, 1);
        let error = require_solid(&mut mixed).unwrap_err();
        assert!(
            matches!(error, MeshDefect::Inconsistent { edges: 3, .. }),
            "{error}"
        );
    }

    #[test]
    fn cavities_and_disjoint_parts_get_their_winding() {
        let far = DVec3::new(5.0, 0.0, 0.0);
        let mut mesh = cubes(&[
            (2.0, DVec3::ZERO),
            (1.0, DVec3::ZERO),
            (0.5, DVec3::ZERO),
            (1.0, far),
        ]);
        require_solid(&mut mesh).unwrap();
        let volume: f64 = mesh.volume();
        assert!(
            (volume - (8.0 - 1.0 + 0.125 + 1.0)).abs() < 1e-12,
            "{volume}"
        );
    }

    #[test]
    fn overlaps_of_every_kind_are_cuts_and_shared_edges_are_not() {
        for shift in [
            DVec3::new(0.3, 0.4, 0.5),
            // Faces shifted within their planes: no edge pierces a face.
            DVec3::new(0.5, 0.0, 0.0),
            DVec3::new(0.0, 0.0, 1.0),
            DVec3::new(0.3, 0.2, 1.0),
        ] {
            let mut mesh = cubes(&[(1.0, DVec3::ZERO), (1.0, shift)]);
            let error = require_solid(&mut mesh).unwrap_err();
            assert!(
                matches!(error, MeshDefect::SelfIntersecting { .. }),
                "{shift} {error}"
            );
        }
        let mut apart = cubes(&[(1.0, DVec3::ZERO), (1.0, DVec3::new(1.0, 1.0, 0.0))]);
        require_solid(&mut apart).unwrap();
        assert!((apart.volume() - 2.0).abs() < 1e-12);
    }
}
