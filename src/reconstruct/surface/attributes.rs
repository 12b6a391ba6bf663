//! Texture coordinates, colours and materials of surfaces, derived from those of the input.
//!
//! Each triangle of the skin refers to the triangle of the input that it is a part of. The affine map of that
//! triangle from rest positions to texture coordinates and colours gives those of its corners. So a crack moves
//! no texture, and both sides of a seam keep their own coordinates. Crack faces, which do not exist in the
//! input, are mapped along the axis that they face most, with the mean density of texture coordinates per
//! metre of the skin; they are white and have no material of the input.

use glam::DVec3;

use crate::geometry::TriMesh;
use crate::geometry::corners::{blend, weights};
use crate::geometry::mesh::CornerUv;
use crate::geometry::paint::{CornerColours, NO_MATERIAL, Paint, WHITE};

/// Attributes of a skin's input mesh.
#[derive(Clone, Debug)]
pub struct SkinAttributes {
    /// Triangles of the input. Its vertices are also vertices of the skin.
    triangles: Vec<[u32; 3]>,
    /// Texture coordinates of their corners; may be empty.
    uv: Vec<CornerUv>,
    /// Their colours and materials; may be empty.
    paint: Paint,
    /// For each triangle of the skin, the triangle of the input that it is a part of.
    pub source: Vec<u32>,
    /// Texture coordinates per metre, mean over the skin.
    pub density: f64,
    /// Point where the texture coordinates of crack faces are 0, m.
    origin: DVec3,
}

/// Attributes of a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriangleAttributes {
    /// Texture coordinates of the corners.
    pub uv: CornerUv,
    /// Colours of the corners.
    pub colours: CornerColours,
    /// Number of the material.
    pub material: u32,
}

impl SkinAttributes {
    /// Moves the attributes out of an input mesh, if it has any.
    pub fn take(mesh: &mut TriMesh) -> Option<Self> {
        let (uv, paint) = (
            std::mem::take(&mut mesh.uv),
            std::mem::take(&mut mesh.paint),
        );
        if uv.is_empty() && paint.is_empty() {
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
        Some(SkinAttributes {
            triangles: mesh.triangles.clone(),
            source: (0..mesh.triangles.len() as u32).collect(),
            uv,
            paint,
            density: if area > 0.0 {
                (area_of_uv / area).sqrt()
            } else {
                0.0
            },
            origin: mesh.bounds().map_or(DVec3::ZERO, |(low, _)| low),
        })
    }

    /// Attributes of a part of the skin's triangle `triangle` with these corners (m). `positions` are the vertices of
    /// the skin, m.
    pub fn on_skin(
        &self,
        positions: &[DVec3],
        triangle: u32,
        corners: [DVec3; 3],
    ) -> TriangleAttributes {
        let of = self.source[triangle as usize] as usize;
        let whole = self.triangles[of].map(|v| positions[v as usize]);
        let weights = corners.map(|x| weights(x, whole));
        let (uv, colours) = (self.uv.get(of), self.paint.colours.get(of));
        let materials = &self.paint.materials;
        TriangleAttributes {
            uv: uv.map_or(CornerUv::default(), |uv| weights.map(|w| blend(*uv, w))),
            colours: colours.map_or(WHITE, |own| weights.map(|w| blend(*own, w))),
            material: materials.get(of).copied().unwrap_or(NO_MATERIAL),
        }
    }

    /// Attributes of a triangle on a crack face with these corners (m).
    pub fn on_crack(&self, corners: [DVec3; 3]) -> TriangleAttributes {
        let [a, b, c] = corners;
        let axis = (b - a).cross(c - a).abs().max_position();
        let uv = corners.map(|x| {
            let x = (x - self.origin) * self.density;
            [1, 2].map(|step| x[(axis + step) % 3] as f32)
        });
        TriangleAttributes {
            uv,
            colours: WHITE,
            material: NO_MATERIAL,
        }
    }

    /// Gives the next triangle of a mesh these attributes, as far as the input has such.
    pub fn push(&self, attributes: TriangleAttributes, mesh: &mut TriMesh) {
        if !self.uv.is_empty() {
            mesh.uv.push(attributes.uv);
        }
        if !self.paint.colours.is_empty() {
            mesh.paint.colours.push(attributes.colours);
        }
        if !self.paint.materials.is_empty() {
            mesh.paint.materials.push(attributes.material);
        }
    }

    /// Gives a mesh whose triangles all have attributes the names of the materials.
    pub fn name_materials(&self, mesh: &mut TriMesh) {
        mesh.paint.names.clone_from(&self.paint.names);
    }
}

/// The attributes of a corner as numbers: texture coordinates, colour, material.
pub type CornerNumbers = [f32; 6];

impl TriangleAttributes {
    /// The attributes of the corners as numbers.
    pub fn numbers(&self) -> [CornerNumbers; 3] {
        // Numbers of materials are small, but for that of none.
        let material = match self.material {
            NO_MATERIAL => -1.0,
            number => number as f32,
        };
        [0, 1, 2].map(|m| {
            let ([u, v], [r, g, b]) = (self.uv[m], self.colours[m]);
            [u, v, r, g, b, material]
        })
    }

    /// The attributes whose corners have these numbers.
    pub fn of_numbers(corners: [CornerNumbers; 3]) -> Self {
        TriangleAttributes {
            uv: corners.map(|[u, v, ..]| [u, v]),
            colours: corners.map(|[_, _, r, g, b, _]| [r, g, b]),
            material: match corners[0][5] {
                none if none < 0.0 => NO_MATERIAL,
                number => number as u32,
            },
        }
    }
}
