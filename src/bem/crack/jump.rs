//! The field of a sheet across which the displacement jumps, in an infinite solid.
//!
//! The jump is linear on the triangles, as the displacement is on panels, so every integral is exact. It is
//! zero at the rim, so it describes just the opening of a crack. The two faces of a crack are panels at the
//! same place with opposite normals and the same traction. In Somigliana's identity only the double layer of
//! the difference of their displacements remains: a panel with that displacement and no traction.

use glam::DVec3;

use super::sheet::Sheet;
use crate::bem::density::LayerDensity;
use crate::bem::elastic::Elastic;
use crate::bem::panel;
use crate::bem::surface::to_vec3;
use crate::bem::triangle::{Mat3d, Triangle, Vec3d};
use crate::laws::hooke;
use crate::math::{Mat3, Vec3};

/// Ratio of twice a triangle's area to the square of its longest edge, up to which its jump is ignored: its
/// slopes are rounding errors.
const FLAT_TRIANGLE: f64 = 1e-6;

/// Integrals over the triangles of a sheet, for unit jumps of their corners.
pub struct JumpField {
    /// Triangles and their normals; none for flat ones.
    triangles: Vec<Option<(Triangle, Vec3d)>>,
    /// For each triangle, corner and axis, the density of a unit jump.
    units: Vec<[[LayerDensity; 3]; 3]>,
    elastic: Elastic,
}

impl JumpField {
    /// Prepares the triangles of a sheet.
    pub fn new(sheet: &Sheet, elastic: Elastic) -> Self {
        let (mut triangles, mut units) = (Vec::new(), Vec::new());
        for t in 0..sheet.mesh.triangles.len() {
            let corners = sheet.mesh.corners(t);
            let n = sheet.normal_of(t);
            let [a, b, c] = corners;
            let twice = (b - a).cross(c - a).length();
            let longest = [c - b, a - c, b - a].map(DVec3::length_squared);
            let is_flat = twice <= FLAT_TRIANGLE * longest.into_iter().fold(0.0, f64::max);
            let twice = if is_flat { f64::INFINITY } else { twice };
            let slopes = [c - b, a - c, b - a].map(|edge| n.cross(edge) / twice);
            triangles.push(
                (!is_flat).then(|| (Triangle::new(corners.map(to_vec3), to_vec3(n)), to_vec3(n))),
            );
            let axes = DVec3::AXES;
            units.push(slopes.map(|slope| {
                axes.map(|axis| {
                    let gradient = Mat3::outer(to_vec3(axis), to_vec3(slope));
                    LayerDensity::of_gradient(gradient, to_vec3(n), elastic.shear)
                })
            }));
        }
        JumpField {
            triangles,
            units,
            elastic,
        }
    }

    /// Tractions at x across a plane with normal n due to unit jumps of the corners of triangle `t`: one
    /// matrix for each corner.
    pub fn tractions(&self, t: usize, x: DVec3, n: DVec3) -> [Mat3d; 3] {
        let Elastic { shear, poisson } = self.elastic;
        let Some((triangle, normal)) = &self.triangles[t] else {
            return [Mat3::diagonal(0.0); 3];
        };
        let third = triangle.view(to_vec3(x), false).third();
        self.units[t].map(|axes| {
            let columns = axes.map(|unit| {
                let gradient = panel::gradient(&third, *normal, &unit, self.elastic);
                hooke::stress(gradient, shear, poisson).times(to_vec3(n))
            });
            Mat3::new(columns[0], columns[1], columns[2]).transposed()
        })
    }

    /// Displacement gradient at x due to these jumps of the corners of triangle `t`, m.
    pub fn gradient(&self, t: usize, x: DVec3, jumps: [Vec3d; 3]) -> Mat3d {
        let Some((triangle, normal)) = &self.triangles[t] else {
            return Mat3::diagonal(0.0);
        };
        let pairs = self.units[t].iter().zip(jumps);
        let gradient = pairs.fold(Mat3::diagonal(0.0), |sum, (axes, jump)| {
            let [x, y, z] = jump.to_f64();
            sum + axes[0].gradient * x + axes[1].gradient * y + axes[2].gradient * z
        });
        let density = LayerDensity::of_gradient(gradient, *normal, self.elastic.shear);
        panel::gradient(
            &triangle.view(to_vec3(x), false).third(),
            *normal,
            &density,
            self.elastic,
        )
    }
}

/// Converts a jump to the vector type of the laws.
pub fn vector(jump: &[f64; 3]) -> Vec3d {
    Vec3::from_f64(*jump)
}
