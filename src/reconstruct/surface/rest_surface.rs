//! Closed surface of one fragment at rest, and its normals in a frame.

use glam::DVec3;

use crate::geometry::TriMesh;
use crate::geometry::mesh::corner_angle;

/// Closed surface of one fragment at rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RestSurface {
    /// Vertices and triangles, with texture coordinates, colours and materials if the body has such.
    pub mesh: TriMesh,
    /// For each triangle: 1 on a crack face, 0 on the skin.
    pub inside: Vec<u8>,
}

/// Vertex normals: mean normals of the adjacent triangles, weighted by their angles. At the rim of a crack
/// only the skin counts, so that a cracked body shades like an intact one until its fragments separate.
pub fn vertex_normals(positions: &[DVec3], rest_surface: &RestSurface) -> Vec<[f32; 3]> {
    let mut sums = vec![[DVec3::ZERO; 2]; positions.len()];
    for (triangle, &inside) in rest_surface.mesh.triangles.iter().zip(&rest_surface.inside) {
        let p = triangle.map(|v| positions[v as usize]);
        let normal = (p[1] - p[0]).cross(p[2] - p[0]).normalize_or_zero();
        for m in 0..3 {
            sums[triangle[m] as usize][inside as usize] += corner_angle(p, m) * normal;
        }
    }
    sums.into_iter()
        .map(|[skin, crack]| {
            let normal = skin.try_normalize().or_else(|| crack.try_normalize());
            normal.unwrap_or(DVec3::Y).as_vec3().to_array()
        })
        .collect()
}
