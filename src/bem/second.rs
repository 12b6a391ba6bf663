//! Exact second derivatives of the biharmonic potential Ψ(x) = ∫ |x − y| dS of a flat triangle, also with a
//! linear weight.
//!
//! ```text
//! ∂_α∂_jΨ = −Σ m_α ∫ r_j/r dl  for α in the plane        ∇²Ψ = 2Φ gives ∂_n∂_nΨ        Φ = ∫ 1/r dS = Σ t F − h Ω
//! ```
//!
//! With a weight w_α, w = y − x', and ρ = y − x = w − h n (all by integration by parts; sums and ∮ are over
//! the edges, P is the projection on the plane):
//!
//! ```text
//! ∫ w_α/r dS          = Φ_α = Σ m_α ∫ r dl
//! ∫ (∂_i∂_jr) w_α dS  = δ_ij Φ_α + ∮ m_α ρ_iρ_j/r dl − P_αi R_j − P_αj R_i        R = ∫ ρ/r dS = Σ e_α Φ_α − h Φ n
//! ∫ h w_α/r³ dS       = −h Σ m_α F
//! ∫ h w_αw_β/r³ dS    = −h (∮ m_α w_β/r dl − P_αβ Φ)
//! ```
//!
//! Symbols as in [`triangle`](super::triangle). After Wilton et al. 1984 and Nintcheu Fata 2009, who give Φ
//! and ∇Φ.

use super::triangle::TriangleView;
use crate::math::{Analytic, Mat3, Vec3};

/// Integrals over a triangle for a point x, without or with a weight.
#[derive(Clone, Copy, Debug)]
pub struct SecondDerivatives<T> {
    /// Φ = ∫ 1/r dS.
    pub phi: T,
    /// H = ∇∇Ψ.
    pub second: Mat3<T>,
    /// ∫ ∂(1/r)/∂n_y dS.
    pub solid_angle: T,
    /// ∫ (y − x') ∂(1/r)/∂n_y dS, x' being the foot of x in the plane.
    pub moment: Vec3<T>,
}

impl<T: Analytic> TriangleView<T> {
    /// The integrals without a weight.
    #[inline(always)]
    pub fn second(&self) -> SecondDerivatives<T> {
        let (n, height) = (self.normal, self.height);
        let mut phi = -(height * self.solid_angle);
        let mut second = Mat3::diagonal(T::zero());
        let mut moment = Vec3::zero();
        for side in &self.sides {
            phi = phi + side.inside * side.inverse;
            // ∫ ρ_j/r dl without its component along n.
            let in_plane = side.outward * (side.inside * side.inverse) + side.along * side.first;
            second = second + Mat3::outer(side.outward, in_plane);
            moment = moment - side.outward * (height * side.inverse);
        }
        let [a, b, c] = second.rows;
        let normal = T::splat(2.0) * phi - (a.x + b.y + c.z);
        SecondDerivatives {
            phi,
            second: second + Mat3::both_outer(n, moment) + Mat3::outer(n, n * normal),
            solid_angle: self.solid_angle,
            moment,
        }
    }

    /// The integrals with the weights w·e, e being the two axes; `whole` are those without a weight.
    #[inline(always)]
    pub fn weighted(&self, whole: &SecondDerivatives<T>) -> [SecondDerivatives<T>; 2] {
        let (n, height) = (self.normal, self.height);
        let mut centre = Vec3::zero();
        let mut edges = [Mat3::diagonal(T::zero()); 2];
        let mut moments = [Vec3::zero(); 2];
        for side in &self.sides {
            centre = centre + side.outward * side.distance;
            let across = side.outward * side.inside;
            let start = across - n * height;
            // ∮ ρ_iρ_j/r dl and ∮ w/r dl.
            let second = Mat3::outer(start, start) * side.inverse
                + Mat3::both_outer(start, side.along) * side.first
                + Mat3::outer(side.along, side.along) * side.square;
            let place = across * side.inverse + side.along * side.first;
            for (k, axis) in self.axes.into_iter().enumerate() {
                let share = side.outward.dot(axis);
                edges[k] = edges[k] + second * share;
                moments[k] = moments[k] - place * (share * height);
            }
        }
        let middle = centre - n * (height * whole.phi);
        [0, 1].map(|k| {
            let axis = self.axes[k];
            let phi = centre.dot(axis);
            SecondDerivatives {
                phi,
                second: edges[k] + Mat3::diagonal(phi) - Mat3::both_outer(axis, middle),
                solid_angle: whole.moment.dot(axis),
                moment: moments[k] + axis * (height * whole.phi),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::triangle::brute::{PLACES, axis, beside, foot, integrate, triangle};
    use super::super::triangle::{Mat3d, Vec3d};
    use super::*;

    /// Largest norm of the rows of the difference of two matrices.
    fn off(a: Mat3d, b: Mat3d) -> f64 {
        (a - b).rows.map(Vec3::norm).into_iter().fold(0.0, f64::max)
    }

    /// The same integrals by numerical quadrature, with a weight.
    fn by_points(x: Vec3d, weight: impl Fn(Vec3d) -> f64) -> SecondDerivatives<f64> {
        let triangle = triangle();
        let at = foot(&triangle, x);
        let height = (x - at).dot(triangle.view(x, false).normal);
        let sum = |f: &dyn Fn(Vec3d, Vec3d, f64) -> f64| {
            integrate(&triangle, &|y| {
                let r = (x - y).norm();
                f(y, x - y, r) * weight(y - at)
            })
        };
        let second = |i: usize, j: usize| {
            let same = if i == j { 1.0 } else { 0.0 };
            sum(&|_, d, r| (same - d.dot(axis(i)) * d.dot(axis(j)) / (r * r)) / r)
        };
        let rows = [0, 1, 2].map(|i| Vec3::from_f64([0, 1, 2].map(|j| second(i, j))));
        let moment = [0, 1, 2].map(|k| sum(&|y, _, r| height / r.powi(3) * (y - at).dot(axis(k))));
        SecondDerivatives {
            phi: sum(&|_, _, r| 1.0 / r),
            second: Mat3 { rows },
            solid_angle: sum(&|_, _, r| height / r.powi(3)),
            moment: Vec3::from_f64(moment),
        }
    }

    #[test]
    fn integrals_agree_with_quadrature() {
        let triangle = triangle();
        for x in PLACES.map(Vec3::from_f64) {
            let view = triangle.view(x, false);
            let whole = view.second();
            let [first, other] = view.weighted(&whole);
            let [e, f] = triangle.axes();
            let pairs = [
                (whole, by_points(x, |_| 1.0)),
                (first, by_points(x, |w| w.dot(e))),
                (other, by_points(x, |w| w.dot(f))),
            ];
            for (found, exact) in pairs {
                assert!((found.phi - exact.phi).abs() < 1e-4);
                assert!(
                    off(found.second, exact.second) < 3e-4,
                    "{found:?} {exact:?}"
                );
                assert!((found.solid_angle - exact.solid_angle).abs() < 1e-3);
                assert!((found.moment - exact.moment).norm() < 1e-3);
            }
        }
    }

    #[test]
    fn integrals_do_not_cancel_far_away() {
        let triangle = triangle();
        let x: Vec3d = Vec3::from_f64([2e4, -1e4, 3e4]);
        let view = triangle.view(x, false);
        let whole = view.second();
        let (r, area) = (x.norm(), integrate(&triangle, &|_| 1.0));
        assert!((whole.phi * r / area - 1.0).abs() < 1e-4);
        assert!((whole.solid_angle * r * r / (area * view.height / r) - 1.0).abs() < 1e-4);
    }

    #[test]
    fn corners_and_middles_of_edges_are_the_limit_of_points_beside_them() {
        let triangle = triangle();
        for [on, near] in beside(&triangle) {
            let [at, close] = [(on, true), (near, false)].map(|(x, touches)| {
                let view = triangle.view(x, touches);
                let whole = view.second();
                let [first, other] = view.weighted(&whole);
                [whole, first, other]
            });
            for (at, near) in at.into_iter().zip(close) {
                assert!((at.phi - near.phi).abs() < 1e-5);
                assert!(off(at.second, near.second) < 1e-5, "{at:?} {near:?}");
            }
            // The harmonic double layer jumps, except for the part that vanishes on the plane.
            assert!(at[0].solid_angle == 0.0 && at[0].moment.norm() == 0.0);
            assert!((at[1].moment - close[1].moment).norm() < 1e-5);
        }
    }
}
