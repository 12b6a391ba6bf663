//! Densities of the layers on a panel, from its traction and the displacement of its nodes.

use super::basis::Basis;
use super::surface::plain;
use super::traction::Traction;
use super::triangle::{M, V, lift, lift_matrix};
use crate::math::{Analytic, Mat3, Vec3};

/// Densities at a place of a panel, or their derivative along an axis of it.
#[derive(Clone, Copy, Debug)]
pub struct Density<T = f64> {
    /// t − 2G m, Pa.
    pub force: Vec3<T>,
    /// m.
    pub swept: Vec3<T>,
    /// ∂u_i/∂x_k in the plane, row i, column k.
    pub gradient: Mat3<T>,
    /// u, m.
    pub displacement: Vec3<T>,
}

/// Densities on a panel: constant but for the displacement, or linear with a quadratic one.
#[derive(Clone, Copy, Debug)]
pub struct PanelDensity {
    /// At the centroid.
    pub middle: Density,
    /// Derivatives along the panel's axes, if they vary; those of the displacement itself are in the gradient.
    pub slopes: Option<[Density; 2]>,
}

impl Density {
    /// From the gradient in the plane with normal n alone: no traction, and no displacement, which gradients
    /// elsewhere do not ask for.
    pub fn of_gradient(gradient: M, n: V, shear: f64) -> Self {
        let [a, b, c] = gradient.rows;
        let swept = gradient.transposed().times(n) - n * (a.x + b.y + c.z);
        Density {
            force: swept * (-2.0 * shear),
            swept,
            gradient,
            displacement: Vec3::zero(),
        }
    }

    /// The same as constants.
    #[inline(always)]
    pub fn lifted<T: Analytic>(&self) -> Density<T> {
        Density {
            force: lift(self.force),
            swept: lift(self.swept),
            gradient: lift_matrix(self.gradient),
            displacement: lift(self.displacement),
        }
    }
}

impl PanelDensity {
    /// From the traction on panel `t` and the displacement of all nodes, m.
    pub fn new(basis: &Basis, shear: f64, t: usize, traction: &Traction, u: &[[f64; 3]]) -> Self {
        let surface = basis.surface;
        let n = plain(surface.normals[t]);
        let mut displacement = Vec3::zero();
        let mut gradient = Mat3::diagonal(0.0);
        let mut bends = None;
        let nodes = basis.of_panel(t).iter();
        for (node, shape) in nodes.zip(basis.shapes(t, surface.centroids[t])) {
            let u = Vec3::from_f64(u[*node as usize]);
            displacement = displacement + u * shape.value;
            gradient = gradient + Mat3::outer(u, shape.slope);
            if let Some(bend) = shape.bend {
                let sums = bends.get_or_insert([Mat3::diagonal(0.0); 2]);
                for (sum, bend) in sums.iter_mut().zip(bend) {
                    *sum = *sum + Mat3::outer(u, bend);
                }
            }
        }
        let with = |gradient: M, traction: V, displacement: V| {
            let sheet = Density::of_gradient(gradient, n, shear);
            Density {
                force: traction + sheet.force,
                displacement,
                ..sheet
            }
        };
        let slopes = traction.slopes(surface, t);
        let varies = bends.is_some() || slopes.is_some();
        let bends = bends.unwrap_or([Mat3::diagonal(0.0); 2]);
        let slopes = slopes.unwrap_or([Vec3::zero(); 2]);
        PanelDensity {
            middle: with(gradient, plain(traction.mean()), displacement),
            slopes: varies.then(|| [0, 1].map(|k| with(bends[k], slopes[k], Vec3::zero()))),
        }
    }

    /// At a place of the plane that lies so far along the axes from the centroid, m.
    #[inline(always)]
    pub fn moved<T: Analytic>(&self, along: [T; 2], axes: [Vec3<T>; 2]) -> Density<T> {
        let mut at: Density<T> = self.middle.lifted();
        let offset = axes[0] * along[0] + axes[1] * along[1];
        at.displacement = at.displacement + at.gradient.times(offset);
        for (slope, along) in self.slopes.iter().flatten().zip(along) {
            let slope: Density<T> = slope.lifted();
            at.force = at.force + slope.force * along;
            at.swept = at.swept + slope.swept * along;
            at.gradient = at.gradient + slope.gradient * along;
            let bent = slope.gradient.times(offset) * (along * T::splat(0.5));
            at.displacement = at.displacement + bent;
        }
        at
    }
}
