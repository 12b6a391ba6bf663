//! Texture coordinates of surfaces, from those of the input.
//!
//! A triangle of the skin knows the triangle of the input that it is a part of. That one's map from places at
//! rest to texture coordinates, which is affine, gives those of its corners, so that a crack moves no texture
//! and both sides of a seam keep their own. Crack faces, which the input knows nothing of, are mapped along
//! the axis that they face most, with as many texture coordinates to the metre as the skin has in the mean.

use glam::DVec3;

use crate::geometry::{CornerUv, TriMesh};

/// What a skin has of its input's texture coordinates.
#[derive(Clone, Debug)]
pub struct Texture {
    /// Triangles of the input, which are of vertices of the skin.
    triangles: Vec<[u32; 3]>,
    /// Texture coordinates of their corners.
    uv: Vec<CornerUv>,
    /// For each triangle of the skin, that of the input.
    pub of: Vec<u32>,
    /// Texture coordinates to the metre, mean over the skin.
    pub density: f64,
    /// Where those of crack faces are 0, m.
    origin: DVec3,
}

impl Texture {
    /// Takes the texture coordinates out of an input, if it has any.
    pub fn take(mesh: &mut TriMesh) -> Option<Self> {
        let uv = std::mem::take(&mut mesh.uv);
        if uv.is_empty() {
            return None;
        }
        let (mut area, mut area_of_uv) = (0.0, 0.0);
        for (t, uv) in uv.iter().enumerate() {
            let [a, b, c] = mesh.corners(t);
            let [p, q, r] = uv.map(|[u, v]| DVec3::new(u.into(), v.into(), 0.0));
            let own = (q - p).cross(r - p).length();
            // What has no texture says nothing of its scale.
            if own > 0.0 {
                area += (b - a).cross(c - a).length();
                area_of_uv += own;
            }
        }
        Some(Texture {
            triangles: mesh.triangles.clone(),
            of: (0..uv.len() as u32).collect(),
            uv,
            density: if area > 0.0 {
                (area_of_uv / area).sqrt()
            } else {
                0.0
            },
            origin: mesh.bounds().map_or(DVec3::ZERO, |(low, _)| low),
        })
    }

    /// Texture coordinates at `corners` (m) on a triangle of the skin whose vertices are at `positions`.
    pub fn on_skin(&self, positions: &[DVec3], triangle: u32, corners: [DVec3; 3]) -> CornerUv {
        let of = self.of[triangle as usize] as usize;
        let whole = self.triangles[of].map(|v| positions[v as usize]);
        let uv = self.uv[of].map(|uv| uv.map(f64::from));
        corners.map(|x| {
            let weights = weights(x, whole);
            [0, 1].map(|axis| (0..3).map(|m| weights[m] * uv[m][axis]).sum::<f64>() as f32)
        })
    }

    /// Texture coordinates at the corners (m) of a triangle of a crack.
    pub fn on_crack(&self, corners: [DVec3; 3]) -> CornerUv {
        let [a, b, c] = corners;
        let axis = (b - a).cross(c - a).abs().max_position();
        corners.map(|x| {
            let x = (x - self.origin) * self.density;
            [1, 2].map(|step| x[(axis + step) % 3] as f32)
        })
    }
}

/// Barycentric coordinates of a point of a triangle; rounding takes none of them out of 0 to 1.
fn weights(x: DVec3, corners: [DVec3; 3]) -> [f64; 3] {
    let [a, b, c] = corners;
    let normal = (b - a).cross(c - a);
    let parts = [0, 1, 2].map(|m| {
        let [p, q] = [1, 2].map(|step| corners[(m + step) % 3] - x);
        p.cross(q).dot(normal).max(0.0)
    });
    let sum: f64 = parts.iter().sum();
    if sum > 0.0 {
        return parts.map(|part| part / sum);
    }
    // A triangle without area is its longest edge.
    let length = |m: usize| corners[m].distance_squared(corners[(m + 1) % 3]);
    let m = (0..3)
        .max_by(|&m, &n| length(m).total_cmp(&length(n)))
        .unwrap_or(0);
    let (from, to) = (corners[m], corners[(m + 1) % 3]);
    let part = (x - from).dot(to - from) / length(m).max(f64::MIN_POSITIVE);
    let mut weights = [0.0; 3];
    weights[(m + 1) % 3] = part.clamp(0.0, 1.0);
    weights[m] = 1.0 - weights[(m + 1) % 3];
    weights
}
