//! Exact third derivatives of the biharmonic potential Ψ(x) = ∫ |x − y| dS of a flat triangle, also with a
//! linear weight.
//!
//! ```text
//! ∂_α∂_j∂_kΨ = −Σ m_α Q_jk,  Q = ∫ (1 − r̂ r̂ᵀ)/r dl,  for α in the plane; ∇²Ψ = 2Φ gives what has normal indices alone
//! ∇Φ         = −Σ m F − n Ω
//! ```
//!
//! With a weight w_α, w = y − x', by integration by parts:
//!
//! ```text
//! ∫ ∂_β∂_j∂_kr w_α dS = −Σ m_β ∫ w_α (1 − r̂ r̂ᵀ)_jk/r dl + P_αβ H_jk        ∫ ∂_β(1/r) w_α dS = −Σ m_β ∫ w_α/r dl + P_αβ Φ
//! ```
//!
//! The last terms have the form of one more edge with the outward normal −e_α. Symbols as in
//! [`triangle`](super::triangle) and [`second`](super::second).

use super::second::SecondDerivatives;
use super::triangle::{EdgeView, TriangleView};
use crate::math::{Analytic, Mat3, Vec3};

/// ∇Φ and T = ∇∇∇Ψ at a point, stored as contributions of the edges.
#[derive(Clone, Copy, Debug)]
pub struct ThirdDerivatives<T, const EDGES: usize> {
    normal: Vec3<T>,
    solid_angle: T,
    edges: [EdgeIntegral<T>; EDGES],
}

/// ∫ 1/r dl and Q of an edge.
#[derive(Clone, Copy, Debug)]
struct EdgeIntegral<T> {
    outward: Vec3<T>,
    inverse: T,
    q: Mat3<T>,
    q_normal: Vec3<T>,
    q_normal_normal: T,
}

impl<T: Analytic> EdgeIntegral<T> {
    #[inline(always)]
    fn new(outward: Vec3<T>, inverse: T, q: Mat3<T>, normal: Vec3<T>) -> Self {
        let q_normal = q.times(normal);
        EdgeIntegral {
            outward,
            inverse,
            q,
            q_normal,
            q_normal_normal: q_normal.dot(normal),
        }
    }
}

/// ∫ (1 − r̂ r̂ᵀ)/r dl and ∫ l (1 − r̂ r̂ᵀ)/r dl of an edge.
#[inline(always)]
fn edge_integrals<T: Analytic>(side: &EdgeView<T>, normal: Vec3<T>, height: T) -> [Mat3<T>; 2] {
    let ([ra, rb], [la, lb]) = (side.ends, side.places);
    // ρ = d + l s.
    let (d, along) = (side.outward * side.inside - normal * height, side.along);
    let squared = height * height + side.inside * side.inside;
    // ∫ 1/r³ dl, and the same times the squared distance from the edge's line.
    let (cubed, ratio) = if la.value() * lb.value() > 0.0 {
        let cubed = (lb - la) * (la + lb) / (ra * rb * (lb * ra + la * rb));
        (cubed, cubed * squared)
    } else {
        let ratio = lb / rb - la / ra;
        // On the edge's line d is zero, and so is the limit of d dᵀ times this integral.
        let is_beside = squared.value() <= f64::MIN_POSITIVE;
        (
            if is_beside {
                T::zero()
            } else {
                ratio / squared
            },
            ratio,
        )
    };
    // ∫ l/r³ dl, ∫ l²/r³ dl, ∫ l³/r³ dl.
    let mixed = side.first / (ra * rb);
    let square = side.inverse - ratio;
    let cube = side.first - squared * mixed;
    let both = Mat3::both_outer(d, along);
    let [across, along] = [Mat3::outer(d, d), Mat3::outer(along, along)];
    [
        Mat3::diagonal(side.inverse) - across * cubed - both * mixed - along * square,
        Mat3::diagonal(side.first) - across * mixed - both * square - along * cube,
    ]
}

impl<T: Analytic> TriangleView<T> {
    /// The derivatives without a weight, at a point off the triangle.
    #[inline(always)]
    pub fn third(&self) -> ThirdDerivatives<T, 3> {
        let edges = self.sides.map(|side| {
            let [q, _] = edge_integrals(&side, self.normal, self.height);
            EdgeIntegral::new(side.outward, side.inverse, q, self.normal)
        });
        ThirdDerivatives {
            normal: self.normal,
            solid_angle: self.solid_angle,
            edges,
        }
    }

    /// The derivatives with the weights w·e, e being the two axes; `whole` is the result of
    /// [`second`](Self::second).
    #[inline(always)]
    pub fn third_weighted(&self, whole: &SecondDerivatives<T>) -> [ThirdDerivatives<T, 4>; 2] {
        let integrals = self
            .sides
            .map(|side| edge_integrals(&side, self.normal, self.height));
        self.axes.map(|axis| {
            let edge = |k: usize| {
                let (side, [q, moment]) = (&self.sides[k], integrals[k]);
                let (along, across) = (side.along.dot(axis), side.outward.dot(axis) * side.inside);
                let inverse = side.first * along + side.inverse * across;
                EdgeIntegral::new(
                    side.outward,
                    inverse,
                    moment * along + q * across,
                    self.normal,
                )
            };
            let rest = EdgeIntegral::new(-axis, whole.phi, whole.second, self.normal);
            ThirdDerivatives {
                normal: self.normal,
                solid_angle: whole.moment.dot(axis),
                edges: [edge(0), edge(1), edge(2), rest],
            }
        })
    }
}

impl<T: Analytic, const EDGES: usize> ThirdDerivatives<T, EDGES> {
    /// ∇Φ.
    #[inline(always)]
    pub fn slope(&self) -> Vec3<T> {
        let start = self.normal * -self.solid_angle;
        self.edges
            .iter()
            .fold(start, |sum, edge| sum - edge.outward * edge.inverse)
    }

    /// f·T, the matrix f_k T_ijk.
    #[inline(always)]
    pub fn along(&self, f: Vec3<T>) -> Mat3<T> {
        let (n, fn_) = (self.normal, self.normal.dot(f));
        let mut sum = Mat3::diagonal(T::zero());
        // T_nnn = 2 ∂_nΦ − Σ_α T_ααn.
        let mut normal = T::splat(-2.0) * self.solid_angle;
        for edge in &self.edges {
            let m = edge.outward;
            normal = normal + m.dot(edge.q_normal);
            let of_normal =
                Mat3::outer(m, edge.q_normal) + Mat3::outer(n, m * edge.q_normal_normal);
            sum = sum - edge.q * m.dot(f) - of_normal * fn_;
        }
        sum + Mat3::outer(n, n * (normal * fn_))
    }
}

#[cfg(test)]
mod tests {
    use super::super::triangle::brute::{PLACES, axis, triangle};
    use super::super::triangle::{Mat3d, Vec3d};
    use super::*;

    const STEP: f64 = 1e-5;

    /// Central differences of Φ and H with a weight that is fixed to the triangle.
    fn difference(x: Vec3d, k: usize, weight: impl Fn(Vec3d) -> [f64; 3]) -> (f64, Mat3d) {
        let triangle = triangle();
        let [up, down] = [STEP, -STEP].map(|s| {
            let x = x + axis(k) * s;
            let view = triangle.view(x, false);
            let whole = view.second();
            let parts = [[whole].as_slice(), &view.weighted(&whole)].concat();
            let weights = weight(x);
            let pairs = parts.iter().zip(weights);
            pairs.fold((0.0, Mat3::diagonal(0.0)), |sum, (part, weight)| {
                (sum.0 + part.phi * weight, sum.1 + part.second * weight)
            })
        });
        (
            (up.0 - down.0) / (2.0 * STEP),
            (up.1 - down.1) * (0.5 / STEP),
        )
    }

    fn check<const EDGES: usize>(
        found: &ThirdDerivatives<f64, EDGES>,
        x: Vec3d,
        weight: impl Fn(Vec3d) -> [f64; 3] + Copy,
    ) {
        for k in 0..3 {
            let (slope, second) = difference(x, k, weight);
            assert!((found.slope().dot(axis(k)) - slope).abs() < 1e-8);
            let off = found.along(axis(k)) - second;
            for row in off.rows {
                assert!(row.norm() < 1e-8, "{off:?}");
            }
        }
    }

    #[test]
    fn third_derivatives_are_differences_of_the_second() {
        let triangle = triangle();
        let [e, f] = triangle.axes();
        for x in PLACES.map(Vec3::from_f64) {
            let view = triangle.view(x, false);
            check(&view.third(), x, |_| [1.0, 0.0, 0.0]);
            let [first, other] = view.third_weighted(&view.second());
            // w from the foot of the undisplaced point.
            check(&first, x, |moved| [(moved - x).dot(e), 1.0, 0.0]);
            check(&other, x, |moved| [(moved - x).dot(f), 0.0, 1.0]);
        }
    }
}
