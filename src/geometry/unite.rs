//! Union of closed surfaces that cross each other or themselves: cuts them exactly and drops the walls inside.
//!
//! The region is where the winding number is at least 1. Crossings are computed in rational numbers by the crate
//! `manifold-rust`, which builds the cells of the arrangement and their winding numbers (Zhou et al. 2016). Triangles
//! that cross nothing stay as they are.

use glam::DVec3;
use manifold_rust::linalg::Vec3;
use manifold_rust::robust::cells::{build_cells, extract, windings};
use manifold_rust::robust::intersection_graph::{Piece, build_graph};
use manifold_rust::types::{OpType, WindingRule};

use super::corners::blend;
use super::mesh::{CornerUv, TriMesh};

/// A union, and what it took.
#[derive(Debug)]
pub struct United {
    /// The surface of the union, wound outward. Where solids touch, more than two triangles may share an edge.
    pub mesh: TriMesh,
    /// Triangles of the input that were cut.
    pub cut: usize,
    /// Triangles of the input of which nothing is left.
    pub dropped: usize,
}

/// Surface of the region that `mesh` winds around at least once. Along each edge as many triangles must run one way
/// as the other.
pub fn unite(mesh: &TriMesh) -> United {
    let point = |p: DVec3| Vec3::new(p.x, p.y, p.z);
    let triangles: Vec<[Vec3; 3]> = (0..mesh.triangles.len())
        .map(|t| mesh.corners(t).map(point))
        .collect();
    let graph = build_graph(&triangles, &[]);
    let complex = build_cells(&graph);
    let winding = windings(&graph, &complex, [&triangles, &[]]);
    let mut kept = extract(
        &graph,
        &complex,
        &winding,
        OpType::Add,
        WindingRule::Positive,
    );
    // In the order of the triangles that they are parts of.
    kept.sort_by_key(|piece| piece.tri);
    let mut parts = vec![0_u32; mesh.triangles.len()];
    graph.pieces.iter().for_each(|piece| parts[piece.tri] += 1);
    let mut is_left = vec![false; mesh.triangles.len()];
    kept.iter().for_each(|piece| is_left[piece.tri] = true);
    let positions = graph.verts_f64.iter();
    let united = TriMesh {
        positions: positions.map(|p| DVec3::new(p.x, p.y, p.z)).collect(),
        triangles: kept.iter().map(|piece| piece.vi).collect(),
        uv: textures(mesh, &kept, &graph.verts_f64),
        ..TriMesh::default()
    };
    United {
        mesh: super::read::weld(&united),
        cut: (0..parts.len())
            .filter(|t| is_left[*t] && parts[*t] > 1)
            .count(),
        dropped: is_left.iter().filter(|left| !**left).count(),
    }
}

/// Texture coordinates of pieces, interpolated in the triangles that they are parts of.
fn textures(mesh: &TriMesh, pieces: &[Piece], places: &[Vec3]) -> Vec<CornerUv> {
    if mesh.uv.is_empty() {
        return Vec::new();
    }
    let of = |piece: &Piece| {
        let (corners, uv) = (mesh.corners(piece.tri), mesh.uv[piece.tri]);
        piece.vi.map(|vertex| {
            let p = places[vertex as usize];
            let p = DVec3::new(p.x, p.y, p.z);
            // A corner that stays keeps its texture coordinates bit for bit.
            if let Some(m) = corners.iter().position(|corner| *corner == p) {
                return uv[m];
            }
            interpolate(corners, uv, p)
        })
    };
    pieces.iter().map(of).collect()
}

/// Texture coordinates at a point in the plane of a triangle.
pub(super) fn interpolate(corners: [DVec3; 3], uv: CornerUv, p: DVec3) -> [f32; 2] {
    let [a, b, c] = corners;
    let normal = (b - a).cross(c - a);
    let share = |from: DVec3, to: DVec3| {
        let area = (to - from).cross(p - from).dot(normal);
        area / normal.length_squared().max(f64::MIN_POSITIVE)
    };
    let weights = [share(b, c), share(c, a), share(a, b)];
    blend(uv, weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::check::require_solid;
    use crate::geometry::shapes;

    fn cube_at(centre: DVec3) -> TriMesh {
        let mut cube = shapes::cuboid(DVec3::ONE);
        cube.positions.iter_mut().for_each(|p| *p += centre);
        cube
    }

    #[test]
    fn two_cubes_become_one_solid_and_untouched_triangles_stay() {
        let mut cubes = cube_at(DVec3::ZERO);
        cubes.append(cube_at(DVec3::new(0.25, 0.375, 0.5)));
        let united = unite(&cubes);
        let mut mesh = united.mesh;
        require_solid(&mut mesh).unwrap();
        assert!((mesh.volume() - (2.0 - 0.75 * 0.625 * 0.5)).abs() < 1e-12);
        let corners = |mesh: &TriMesh, t: usize| mesh.corners(t).map(|p| p.to_array());
        let new: Vec<_> = (0..mesh.triangles.len())
            .map(|t| corners(&mesh, t))
            .collect();
        let same = (0..cubes.triangles.len()).filter(|t| new.contains(&corners(&cubes, *t)));
        assert_eq!(same.count() + united.cut + united.dropped, 24);
        assert!(united.cut > 0);
    }

    #[test]
    fn inner_walls_go_and_cavities_stay() {
        let mut nested = cube_at(DVec3::ZERO);
        let mut inner = cube_at(DVec3::ZERO);
        inner.positions.iter_mut().for_each(|p| *p *= 0.5);
        nested.append(inner.clone());
        assert_eq!(unite(&nested).dropped, 12);
        let mut hollow = cube_at(DVec3::ZERO);
        super::super::check::flip(&mut inner);
        hollow.append(inner);
        let united = unite(&hollow);
        assert_eq!([united.cut, united.dropped], [0, 0]);
        assert!((united.mesh.volume() - 0.875).abs() < 1e-12);
    }
}
