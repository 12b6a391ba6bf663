//! Texture coordinates of surfaces, derived from those of the input.
//!
//! Each triangle of the skin refers to the triangle of the input that it is a part of. The affine map of that
//! triangle from rest positions to texture coordinates gives the coordinates of its corners. So a crack moves
//! no texture, and both sides of a seam keep their own coordinates. Crack faces, which do not exist in the
//! input, are mapped along the axis that they face most, with the mean density of texture coordinates per
//! metre of the skin.

use glam::DVec3;

use crate::geometry::{CornerUv, TriMesh};

/// Texture coordinates of a skin's input mesh.
#[derive(Clone, Debug)]
pub struct SkinTexture {
    /// Triangles of the input. Its vertices are also vertices of the skin.
    triangles: Vec<[u32; 3]>,
    /// Texture coordinates of their corners.
    uv: Vec<CornerUv>,
    /// For each triangle of the skin, the triangle of the input that it is a part of.
    pub source: Vec<u32>,
    /// Texture coordinates per metre, mean over the skin.
    pub density: f64,
    /// Point where the texture coordinates of crack faces are 0, m.
    origin: DVec3,
}

impl SkinTexture {
    /// Moves the texture coordinates out of an input mesh, if it has any.
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
            // Triangles whose texture coordinates enclose no area say nothing about the scale.
            if own > 0.0 {
                area += (b - a).cross(c - a).length();
                area_of_uv += own;
            }
        }
        Some(SkinTexture {
            triangles: mesh.triangles.clone(),
            source: (0..uv.len() as u32).collect(),
            uv,
            density: if area > 0.0 {
                (area_of_uv / area).sqrt()
            } else {
                0.0
            },
            origin: mesh.bounds().map_or(DVec3::ZERO, |(low, _)| low),
        })
    }

    /// Texture coordinates at `corners` (m) of a part of the skin's triangle `triangle`. `positions` are the
    /// vertices of the skin, m.
    pub fn on_skin(&self, positions: &[DVec3], triangle: u32, corners: [DVec3; 3]) -> CornerUv {
        let of = self.source[triangle as usize] as usize;
        let whole = self.triangles[of].map(|v| positions[v as usize]);
        let uv = self.uv[of].map(|uv| uv.map(f64::from));
        corners.map(|x| {
            let weights = weights(x, whole);
            [0, 1].map(|axis| (0..3).map(|m| weights[m] * uv[m][axis]).sum::<f64>() as f32)
        })
    }

    /// Texture coordinates at the corners (m) of a triangle on a crack face.
    pub fn on_crack(&self, corners: [DVec3; 3]) -> CornerUv {
        let [a, b, c] = corners;
        let axis = (b - a).cross(c - a).abs().max_position();
        corners.map(|x| {
            let x = (x - self.origin) * self.density;
            [1, 2].map(|step| x[(axis + step) % 3] as f32)
        })
    }
}

/// Barycentric coordinates of a point in a triangle; in spite of rounding all of them lie between 0 and 1.
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
    // A triangle without area is treated as its longest edge.
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
