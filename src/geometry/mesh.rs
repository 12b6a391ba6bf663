//! Indexed triangle mesh, used for shapes, skins and mesh files.

use glam::DVec3;

use super::paint::Paint;

/// Indexed triangles in metres; counter-clockwise seen from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriMesh {
    /// Vertex positions, m.
    pub positions: Vec<DVec3>,
    /// Vertex indices of each triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates of each triangle's corners, v from the bottom of the image; empty if the mesh has
    /// none.
    pub uv: Vec<CornerUv>,
    /// Colours and materials of the triangles.
    pub paint: Paint,
}

/// Texture coordinates of a triangle's corners. They belong to corners, as a vertex on a seam has several.
pub type CornerUv = [[f32; 2]; 3];

impl TriMesh {
    /// Corners of triangle `t`.
    pub fn corners(&self, t: usize) -> [DVec3; 3] {
        let [a, b, c] = self.triangles[t];
        [
            self.positions[a as usize],
            self.positions[b as usize],
            self.positions[c as usize],
        ]
    }

    /// Adds the triangles of another mesh. If only one has texture coordinates, those of the other are 0.
    pub fn append(&mut self, other: TriMesh) {
        let (own, base) = (self.triangles.len(), self.positions.len() as u32);
        self.positions.extend(other.positions);
        self.paint.append(own, other.paint, other.triangles.len());
        let triangles = other.triangles.iter();
        self.triangles
            .extend(triangles.map(|t| t.map(|v| v + base)));
        if !(self.uv.is_empty() && other.uv.is_empty()) {
            self.uv.resize(own, CornerUv::default());
            self.uv.extend(other.uv);
            self.uv.resize(self.triangles.len(), CornerUv::default());
        }
    }

    /// Area of all triangles, m².
    pub fn area(&self) -> f64 {
        (0..self.triangles.len()).map(|t| self.area_of(t)).sum()
    }

    /// Area of triangle `t`, m².
    pub fn area_of(&self, t: usize) -> f64 {
        let [a, b, c] = self.corners(t);
        (b - a).cross(c - a).length() / 2.0
    }

    /// Reverses the winding of triangle `t`.
    pub fn flip(&mut self, t: usize) {
        self.triangles[t].swap(1, 2);
        if let Some(uv) = self.uv.get_mut(t) {
            uv.swap(1, 2);
        }
        self.paint.flip(t);
    }

    /// Signed volume by the divergence theorem, m³; positive for a closed mesh wound outward.
    ///
    /// Summed about the mesh's own centre so that a mesh far from the origin loses no precision.
    pub fn volume(&self) -> f64 {
        let c = self
            .bounds()
            .map_or(DVec3::ZERO, |(lo, hi)| (lo + hi) / 2.0);
        (0..self.triangles.len())
            .map(|t| {
                let [a, b, d] = self.corners(t).map(|p| p - c);
                a.dot(b.cross(d)) / 6.0
            })
            .sum()
    }

    /// Smallest and largest corner of the axis-aligned box, `None` for an empty mesh.
    pub fn bounds(&self) -> Option<(DVec3, DVec3)> {
        let first = *self.positions.first()?;
        Some(
            self.positions
                .iter()
                .fold((first, first), |(lo, hi), &p| (lo.min(p), hi.max(p))),
        )
    }
}

/// Angle of a triangle at corner `m`, rad; π/2 if an edge at it has no length.
pub fn corner_angle(corners: [DVec3; 3], m: usize) -> f64 {
    let [a, b] = [1, 2].map(|step| (corners[(m + step) % 3] - corners[m]).normalize_or_zero());
    a.dot(b).clamp(-1.0, 1.0).acos()
}
