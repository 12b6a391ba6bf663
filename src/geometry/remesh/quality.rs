//! How even the triangles of a mesh are.

use crate::geometry::check::{same_edge, sorted_edges};
use crate::geometry::mesh::TriMesh;

/// Largest aspect ratio of triangles that need no remeshing.
const MAX_ASPECT: f64 = 10.0;
/// Largest ratio of sizes of neighbours that need no remeshing.
const MAX_SIZE_RATIO: f64 = 4.0;

/// How even the triangles of a mesh are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Largest aspect ratio: longest edge over height, 1 for an equilateral triangle.
    pub aspect: f64,
    /// Largest ratio of the sizes of two neighbours; the size is the square root of the area.
    pub ratio: f64,
    /// Edge length of equilateral triangles of the same number and total area, m: the value to pass to
    /// [`remesh`](super::remesh).
    pub edge: f64,
}

/// Edge of an equilateral triangle of this area.
pub fn equilateral(area: f64) -> f64 {
    (area * 4.0 / 3_f64.sqrt()).sqrt()
}

impl Quality {
    /// Quality over all triangles of a mesh.
    pub fn of(mesh: &TriMesh) -> Self {
        let per_equilateral = 3_f64.sqrt() / 2.0;
        let aspect = |t: usize| {
            let [a, b, c] = mesh.corners(t);
            let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
            per_equilateral * longest * longest / (2.0 * mesh.area_of(t))
        };
        let count = mesh.triangles.len();
        let mut ratio = 1.0_f64;
        for edge in sorted_edges(mesh).chunk_by(same_edge) {
            for pair in edge.windows(2) {
                let [a, b] = [pair[0].3, pair[1].3].map(|t| mesh.area_of(t as usize));
                ratio = ratio.max((a.max(b) / a.min(b)).sqrt());
            }
        }
        let area = mesh.area() / count.max(1) as f64;
        Quality {
            aspect: (0..count).map(aspect).fold(1.0, f64::max),
            ratio,
            edge: equilateral(area),
        }
    }

    /// Whether boundary elements on the triangles would converge slowly or be inaccurate between nodes.
    pub fn needs_remesh(&self) -> bool {
        !(self.aspect <= MAX_ASPECT && self.ratio <= MAX_SIZE_RATIO)
    }
}
