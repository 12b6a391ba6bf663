//! Densities of the layers on a panel, from its traction and the displacement of its nodes.

use super::basis::Basis;
use super::surface::to_vec3;
use super::traction::Traction;
use super::triangle::{Mat3d, Vec3d, lift, lift_matrix};
use crate::math::{Analytic, Mat3, Vec3};

/// Densities at a point of a panel, or their derivatives along an axis of the panel. m is the tangential
/// derivative of [`panel`](super::panel).
#[derive(Clone, Copy, Debug)]
pub struct LayerDensity<T = f64> {
    /// t − 2G m, Pa.
    pub force: Vec3<T>,
    /// m, dimensionless.
    pub swept: Vec3<T>,
    /// ∂u_i/∂x_k in the plane, row i, column k.
    pub gradient: Mat3<T>,
    /// Displacement u, m.
    pub displacement: Vec3<T>,
}

/// Densities on a panel. If the displacement is linear, all others are constant; if it is quadratic, they are
/// linear.
#[derive(Clone, Copy, Debug)]
pub struct PanelDensity {
    /// Densities at the centroid.
    pub middle: LayerDensity,
    /// Derivatives along the panel's axes; none if they are zero. The derivative of the displacement itself
    /// is in the gradient.
    pub slopes: Option<[LayerDensity; 2]>,
}

impl LayerDensity {
    /// From the gradient in the plane with normal n alone: without traction, and without displacement, which
    /// displacement gradients at other points do not need.
    pub fn of_gradient(gradient: Mat3d, n: Vec3d, shear: f64) -> Self {
        let [a, b, c] = gradient.rows;
        let swept = gradient.transposed().times(n) - n * (a.x + b.y + c.z);
        LayerDensity {
            force: swept * (-2.0 * shear),
            swept,
            gradient,
            displacement: Vec3::zero(),
        }
    }

    /// Converts to the number type `T`, as constants.
    #[inline(always)]
    pub fn lifted<T: Analytic>(&self) -> LayerDensity<T> {
        LayerDensity {
            force: lift(self.force),
            swept: lift(self.swept),
            gradient: lift_matrix(self.gradient),
            displacement: lift(self.displacement),
        }
    }
}

impl PanelDensity {
    /// Densities of panel `t` from its traction and the displacement of all nodes, m.
    pub fn new(basis: &Basis, shear: f64, t: usize, traction: &Traction, u: &[[f64; 3]]) -> Self {
        let surface = basis.surface;
        let n = to_vec3(surface.normals[t]);
        let mut displacement = Vec3::zero();
        let mut gradient = Mat3::diagonal(0.0);
        let mut seconds = None;
        let nodes = basis.of_panel(t).iter();
        for (node, shape) in nodes.zip(basis.shapes(t, surface.centroids[t])) {
            let u = Vec3::from_f64(u[*node as usize]);
            displacement = displacement + u * shape.value;
            gradient = gradient + Mat3::outer(u, shape.slope);
            if let Some(second) = shape.second {
                let sums = seconds.get_or_insert([Mat3::diagonal(0.0); 2]);
                for (sum, second) in sums.iter_mut().zip(second) {
                    *sum = *sum + Mat3::outer(u, second);
                }
            }
        }
        let with = |gradient: Mat3d, traction: Vec3d, displacement: Vec3d| {
            let sheet = LayerDensity::of_gradient(gradient, n, shear);
            LayerDensity {
                force: traction + sheet.force,
                displacement,
                ..sheet
            }
        };
        let slopes = traction.slopes(surface, t);
        let varies = seconds.is_some() || slopes.is_some();
        let seconds = seconds.unwrap_or([Mat3::diagonal(0.0); 2]);
        let slopes = slopes.unwrap_or([Vec3::zero(); 2]);
        PanelDensity {
            middle: with(gradient, to_vec3(traction.mean()), displacement),
            slopes: varies.then(|| [0, 1].map(|k| with(seconds[k], slopes[k], Vec3::zero()))),
        }
    }

    /// Densities at the point of the plane at these distances along the axes from the centroid, m.
    #[inline(always)]
    pub fn moved<T: Analytic>(&self, along: [T; 2], axes: [Vec3<T>; 2]) -> LayerDensity<T> {
        let mut at: LayerDensity<T> = self.middle.lifted();
        let offset = axes[0] * along[0] + axes[1] * along[1];
        at.displacement = at.displacement + at.gradient.times(offset);
        for (slope, along) in self.slopes.iter().flatten().zip(along) {
            let slope: LayerDensity<T> = slope.lifted();
            at.force = at.force + slope.force * along;
            at.swept = at.swept + slope.swept * along;
            at.gradient = at.gradient + slope.gradient * along;
            let bent = slope.gradient.times(offset) * (along * T::splat(0.5));
            at.displacement = at.displacement + bent;
        }
        at
    }
}
