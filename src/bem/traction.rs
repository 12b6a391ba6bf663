//! Tractions on the panels, linear on each.

use glam::DVec3;

use super::surface::{Surface, to_vec3};
use super::triangle::Vec3d;
use crate::math::Vec3;

/// Barycentric coordinates of the midpoints of the sides.
pub const SIDE_MIDPOINTS: [[f64; 3]; 3] = [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]];

/// A traction that is linear on a panel, given at its three corners, Pa.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traction {
    /// Tractions at the corners, Pa.
    pub corners: [DVec3; 3],
}

impl Traction {
    /// A constant traction, Pa.
    pub fn uniform(traction: DVec3) -> Self {
        Traction {
            corners: [traction; 3],
        }
    }

    /// From the values at the midpoints of the sides, side k from corner k to the next, Pa. The mean of a
    /// quadratic traction is exact.
    pub fn of_middles([a, b, c]: [DVec3; 3]) -> Self {
        Traction {
            corners: [a + c - b, b + a - c, c + b - a],
        }
    }

    /// Adds another traction times a factor.
    pub fn add(&mut self, other: &Traction, factor: f64) {
        for (own, other) in self.corners.iter_mut().zip(other.corners) {
            *own += other * factor;
        }
    }

    /// Traction at barycentric coordinates, Pa.
    pub fn at(&self, coordinates: [f64; 3]) -> DVec3 {
        let pairs = self.corners.iter().zip(coordinates);
        pairs.map(|(t, l)| *t * l).sum()
    }

    /// Mean traction, which is that at the centroid, Pa.
    pub fn mean(&self) -> DVec3 {
        self.corners.iter().sum::<DVec3>() / 3.0
    }

    /// Derivatives along the axes of panel `t`, Pa/m; none if the traction is constant.
    pub fn slopes(&self, surface: &Surface, t: usize) -> Option<[Vec3d; 2]> {
        let [a, b, c] = self.corners;
        let varies = a != b || b != c;
        varies.then(|| {
            surface.triangles[t].axes().map(|axis| {
                let pairs = self.corners.iter().zip(surface.shapes[t]);
                pairs.fold(Vec3::zero(), |sum, (traction, slope)| {
                    sum + to_vec3(*traction) * to_vec3(slope).dot(axis)
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::shapes;

    #[test]
    fn a_linear_traction_has_its_values_and_slopes() {
        let surface = Surface::new(&shapes::cuboid(DVec3::new(1.0, 2.0, 3.0))).unwrap();
        let of = |x: DVec3| DVec3::new(x.x + 2.0 * x.y, 1.0 - x.z, x.y);
        let corners = surface.mesh.corners(3);
        let [a, b, c] = corners;
        let traction = Traction::of_middles([a + b, b + c, c + a].map(|sum| of(sum / 2.0)));
        for (found, x) in traction.corners.iter().zip(corners) {
            assert!(found.distance(of(x)) < 1e-14);
        }
        assert!(traction.mean().distance(of(surface.centroids[3])) < 1e-14);
        let slopes = traction.slopes(&surface, 3).unwrap();
        for (slope, axis) in slopes.into_iter().zip(surface.triangles[3].axes()) {
            let expected = of(DVec3::from(axis.to_f64())) - of(DVec3::ZERO);
            assert!((slope - to_vec3(expected)).norm() < 1e-14);
        }
        let uniform = Traction::uniform(DVec3::X);
        assert_eq!(uniform.slopes(&surface, 3), None);
    }
}
