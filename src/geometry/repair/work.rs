//! A mesh under repair: about its middle, about 1 large, with the numbers that its triangles had.

use glam::DVec3;

use super::error::RepairError;
use crate::geometry::mesh::TriMesh;

/// Sizes of box, m, that volumes, fifth powers and their products can be computed for.
const SIZES: std::ops::RangeInclusive<f64> = 1e-12..=1e12;

/// Distance from the origin over size, at most: coordinates keep 7 digits of the size.
const FARTHEST: f64 = 4e8;

/// A mesh under repair. Vertices keep their numbers to the end.
pub struct Work {
    /// The mesh, moved and scaled so that no digit is lost.
    pub mesh: TriMesh,
    /// Number of each triangle in the mesh given.
    pub source: Vec<u32>,
    /// Vertices of no triangle; they are put at the corner of the box, as they may be NaN.
    pub unused: usize,
    offset: DVec3,
    scale: f64,
}

impl Work {
    /// Of a mesh with finite coordinates of a usable size.
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
        // Lengths of huge meshes overflow, but not largest components.
        let largest = extent.max_element();
        if largest == 0.0 {
            return Err(RepairError::NoVolume { near: middle });
        }
        let size = (extent / largest).length() * largest;
        if !SIZES.contains(&size) {
            return Err(RepairError::Size { size });
        }
        if middle.length() > FARTHEST * size {
            return Err(RepairError::Far {
                size,
                distance: middle.length(),
            });
        }
        // Differences of doubles within a factor of two are exact (Sterbenz 1974), and so are powers of two:
        // positions come back to the bit.
        let offset = DVec3::select(middle.abs().cmpge(extent), middle, DVec3::ZERO);
        let scale = (-size.log2().floor()).exp2();
        let positions = mesh.positions.iter().zip(&is_used);
        let positions = positions.map(|(p, is_used)| if *is_used { *p } else { low });
        Ok(Work {
            mesh: TriMesh {
                positions: positions.map(|p| (p - offset) * scale).collect(),
                triangles: mesh.triangles.clone(),
                uv: mesh.uv.clone(),
            },
            source: (0..mesh.triangles.len() as u32).collect(),
            unused: is_used.iter().filter(|used| !**used).count(),
            offset,
            scale,
        })
    }

    /// A place in the coordinates of the mesh given.
    pub fn place(&self, p: DVec3) -> DVec3 {
        p / self.scale + self.offset
    }

    /// Centre of a triangle in the coordinates of the mesh given.
    pub fn centre(&self, t: usize) -> DVec3 {
        self.place(self.mesh.corners(t).iter().sum::<DVec3>() / 3.0)
    }

    /// Middle of an edge in the coordinates of the mesh given.
    pub fn middle(&self, a: u32, b: u32) -> DVec3 {
        let [a, b] = [a, b].map(|v| self.mesh.positions[v as usize]);
        self.place((a + b) / 2.0)
    }

    /// The mesh in the coordinates of the mesh given.
    pub fn back(&self) -> TriMesh {
        let mut mesh = self.mesh.clone();
        let positions = mesh.positions.iter_mut();
        positions.for_each(|p| *p = self.place(*p));
        mesh
    }

    /// Keeps the triangles for which `keep` holds; how many went.
    pub fn retain(&mut self, keep: impl Fn(usize) -> bool) -> usize {
        let kept: Vec<usize> = (0..self.mesh.triangles.len())
            .filter(|t| keep(*t))
            .collect();
        let gone = self.mesh.triangles.len() - kept.len();
        self.select(&kept);
        gone
    }

    /// Makes the triangles those of these numbers.
    fn select(&mut self, kept: &[usize]) {
        self.source = kept.iter().map(|t| self.source[*t]).collect();
        self.mesh.triangles = kept.iter().map(|t| self.mesh.triangles[*t]).collect();
        if !self.mesh.uv.is_empty() {
            self.mesh.uv = kept.iter().map(|t| self.mesh.uv[*t]).collect();
        }
    }

    /// Distance of two points that count as one, in the coordinates of this mesh, whose size is 1 to 2.
    pub const TOLERANCE: f64 = 1e-6;
}
