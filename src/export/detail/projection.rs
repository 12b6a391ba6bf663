//! Texture coordinates of reduced crack faces.

use glam::DVec3;

use crate::geometry::TriMesh;
use crate::store::{FragmentRange, SurfaceFrame};

/// Texture coordinates of the crack faces of a full mesh.
pub struct CrackTexture {
    /// Crack faces at each vertex: those of vertex `v` are `faces[first[v]..first[v + 1]]`.
    faces: Vec<u32>,
    first: Vec<usize>,
    /// Texture coordinates of all triangles; empty without texture.
    uv: Vec<[[f32; 2]; 3]>,
}

impl CrackTexture {
    /// The texture of a piece and its mesh.
    pub fn new(surface: &SurfaceFrame, piece: &FragmentRange, mesh: &TriMesh) -> Self {
        let uv = surface.uv_of(piece).to_vec();
        let inside = &surface.inside[surface.triangle_range(piece)];
        let all = (0_u32..).zip(&mesh.triangles).zip(inside);
        let cracks = all.filter(|(_, inside)| **inside != 0 && !uv.is_empty());
        let corners = cracks.flat_map(|((t, triangle), _)| triangle.map(|vertex| (vertex, t)));
        let mut corners: Vec<(u32, u32)> = corners.collect();
        corners.sort_unstable();
        let vertices = 0..=mesh.positions.len() as u32;
        CrackTexture {
            first: vertices
                .map(|v| corners.partition_point(|(vertex, _)| *vertex < v))
                .collect(),
            faces: corners.into_iter().map(|(_, t)| t).collect(),
            uv,
        }
    }

    /// Texture coordinates of a triangle of some vertices: the map of the largest crack face at one of them that faces
    /// the same way.
    pub fn project(&self, mesh: &TriMesh, triangle: [u32; 3]) -> [[f32; 2]; 3] {
        let corners = triangle.map(|vertex| mesh.positions[vertex as usize]);
        let [a, b, c] = corners;
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let facing = |t: u32| {
            let [a, b, c] = mesh.corners(t as usize);
            (b - a).cross(c - a).dot(normal)
        };
        let faces = triangle.into_iter().flat_map(|vertex| {
            let vertex = vertex as usize;
            self.faces[self.first[vertex]..self.first[vertex + 1]].iter()
        });
        let best = faces.max_by(|a, b| facing(**a).total_cmp(&facing(**b)).then(b.cmp(a)));
        let Some(&best) = best else {
            return [[0.0; 2]; 3];
        };
        let uv = self.uv[best as usize];
        corners.map(|corner| extended(mesh.corners(best as usize), uv, corner))
    }
}

/// Texture coordinates that the map of a triangle, constant along the axis that the triangle faces most, gives a point.
fn extended([a, b, c]: [DVec3; 3], uv: [[f32; 2]; 3], point: DVec3) -> [f32; 2] {
    let axis = (b - a).cross(c - a).abs().max_position();
    let across = |p: DVec3, q: DVec3| p.cross(q)[axis];
    let area = across(b - a, c - a);
    if area == 0.0 {
        return uv[0];
    }
    let to_b = across(point - a, c - a) / area;
    let to_c = across(b - a, point - a) / area;
    [0, 1].map(|k| {
        let [p, q, r] = uv.map(|uv| f64::from(uv[k]));
        (p + to_b * (q - p) + to_c * (r - p)) as f32
    })
}
