//! A mesh under repair: moved to the origin, scaled to a size of about 1, with the original triangle indices.

use glam::DVec3;

use super::error::RepairError;
use crate::geometry::mesh::TriMesh;

/// Sizes of the bounding box (m) for which volumes, fifth powers and their products can be computed.
const SUPPORTED_SIZES: std::ops::RangeInclusive<f64> = 1e-12..=1e12;

/// Maximum ratio of distance from the origin to size: coordinates keep 7 digits of the size.
const MAX_RELATIVE_OFFSET: f64 = 4e8;

/// A mesh under repair. Vertices keep their indices throughout.
pub struct RepairMesh {
    /// The mesh, moved and scaled without loss of precision.
    pub mesh: TriMesh,
    /// For each triangle, its index in the input mesh.
    pub source: Vec<u32>,
    /// Number of vertices without a triangle; they are moved to a corner of the bounding box, as they may be
    /// NaN.
    pub unused: usize,
    offset: DVec3,
    pub scale: f64,
}

impl RepairMesh {
    /// Prepares a mesh with finite coordinates of a supported size.
    pub fn new(mesh: &TriMesh) -> Result<Self, RepairError> {
        if mesh.triangles.is_empty() {
            return Err(RepairError::Empty);
        }
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let mut is_used = vec![false; mesh.positions.len()];
        for (triangle, corners) in mesh.triangles.iter().enumerate() {
            for &vertex in corners {
                let Some(&place) = mesh.positions.get(vertex as usize) else {
                    return Err(RepairError::NoSuchVertex {
                        triangle,
                        vertex,
                        vertices: mesh.positions.len(),
                    });
                };
                if !place.is_finite() {
                    return Err(RepairError::NotFinite {
                        vertex,
                        triangle,
                        place,
                    });
                }
                (low, high) = (low.min(place), high.max(place));
                is_used[vertex as usize] = true;
            }
        }
        let middle = low / 2.0 + high / 2.0;
        let extent = high - low;
        // For huge meshes lengths overflow, but the largest component does not.
        let largest = extent.max_element();
        if largest == 0.0 {
            return Err(RepairError::NoVolume { near: middle });
        }
        let size = (extent / largest).length() * largest;
        if !SUPPORTED_SIZES.contains(&size) {
            return Err(RepairError::UnsupportedSize { size });
        }
        if middle.length() > MAX_RELATIVE_OFFSET * size {
            return Err(RepairError::FarFromOrigin {
                size,
                distance: middle.length(),
            });
        }
        // Differences of doubles within a factor of two are exact (Sterbenz 1974), and so are products with
        // powers of two: positions can be restored bit for bit.
        let offset = DVec3::select(middle.abs().cmpge(extent), middle, DVec3::ZERO);
        let scale = (-size.log2().floor()).exp2();
        let positions = mesh.positions.iter().zip(&is_used);
        let positions = positions.map(|(p, is_used)| if *is_used { *p } else { low });
        Ok(RepairMesh {
            mesh: TriMesh {
                positions: positions.map(|p| (p - offset) * scale).collect(),
                triangles: mesh.triangles.clone(),
                uv: mesh.uv.clone(),
                ..TriMesh::default()
            },
            source: (0..mesh.triangles.len() as u32).collect(),
            unused: is_used.iter().filter(|used| !**used).count(),
            offset,
            scale,
        })
    }

    /// Converts a position to the coordinates of the input mesh.
    pub fn to_original(&self, p: DVec3) -> DVec3 {
        p / self.scale + self.offset
    }

    /// Centre of a triangle in the coordinates of the input mesh.
    pub fn centre(&self, t: usize) -> DVec3 {
        self.to_original(self.mesh.corners(t).iter().sum::<DVec3>() / 3.0)
    }

    /// Middle of an edge in the coordinates of the input mesh.
    pub fn middle(&self, a: u32, b: u32) -> DVec3 {
        let [a, b] = [a, b].map(|v| self.mesh.positions[v as usize]);
        self.to_original((a + b) / 2.0)
    }

    /// The mesh in the coordinates of the input mesh.
    pub fn in_original_coordinates(&self) -> TriMesh {
        let mut mesh = self.mesh.clone();
        let positions = mesh.positions.iter_mut();
        positions.for_each(|p| *p = self.to_original(*p));
        mesh
    }

    /// Keeps the triangles for which `keep` is true. Returns the number removed.
    pub fn retain(&mut self, keep: impl Fn(usize) -> bool) -> usize {
        let kept: Vec<usize> = (0..self.mesh.triangles.len())
            .filter(|t| keep(*t))
            .collect();
        let gone = self.mesh.triangles.len() - kept.len();
        self.select(&kept);
        gone
    }

    /// Keeps only the triangles with these indices.
    fn select(&mut self, kept: &[usize]) {
        self.source = kept.iter().map(|t| self.source[*t]).collect();
        self.mesh.triangles = kept.iter().map(|t| self.mesh.triangles[*t]).collect();
        if !self.mesh.uv.is_empty() {
            self.mesh.uv = kept.iter().map(|t| self.mesh.uv[*t]).collect();
        }
    }

    /// Distance below which two points are the same, in the coordinates of this mesh, whose size is 1 to 2.
    pub const TOLERANCE: f64 = 1e-6;
}
