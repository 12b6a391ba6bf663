//! The double layer of Kelvin's solution at a point: what a small area of a surface whose points are
//! displaced does in Somigliana's identity (Cruse, *Numerical solutions in three dimensional elastostatics*,
//! 1969).
//!
//! ```text
//! u(x) = ∫ U t dS − ∫ Tᵀ u dS
//! Tᵀ u dS  = [(1 − 2ν) (b N + a w − c n) + 3 a b n] / (8π (1 − ν) r²)       w = u, N = normal dS, a = n·N, b = n·w, c = N·w
//! ∂_k of it = [(1 − 2ν) (N_i w_k + w_i N_k − c δ_ik) + 3 a b δ_ik + 3 n_i (a w_k + b N_k) − 3 v_i n_k] / (8π (1 − ν) r³)
//!             v = (1 − 2ν) (b N + a w − c n) + 5 a b n
//! ```
//!
//! n: direction from y on the surface to x, r their distance, m; ν: Poisson's ratio. T is the traction of U
//! at y. It is a field of the potentials of [`papkovich`](super::papkovich): a double force and a centre of
//! dilatation. The functions leave out 1/(8π (1 − ν)), which is
//! [`displacement_factor`](super::papkovich::displacement_factor) at the shear modulus ½.

use crate::math::{Mat3, Real, Vec3};

/// Displacement, m, but for the factor, of an area, m² (along the normal), that is displaced by `jump`, m.
#[inline(always)]
pub fn displacement<T: Real>(
    n: Vec3<T>,
    inverse: T,
    jump: Vec3<T>,
    area: Vec3<T>,
    poisson: T,
) -> Vec3<T> {
    let lateral = T::splat(1.0) - T::splat(2.0) * poisson;
    let (a, b) = (n.dot(area), n.dot(jump));
    let along = T::splat(3.0) * a * b - lateral * area.dot(jump);
    let across = (area * b + jump * a) * lateral;
    (across + n * along) * (inverse * inverse)
}

/// Its gradient ∂u_i/∂x_k, row i, column k.
#[inline(always)]
pub fn gradient<T: Real>(
    n: Vec3<T>,
    inverse: T,
    jump: Vec3<T>,
    area: Vec3<T>,
    poisson: T,
) -> Mat3<T> {
    let three = T::splat(3.0);
    let lateral = T::splat(1.0) - T::splat(2.0) * poisson;
    let (a, b) = (n.dot(area), n.dot(jump));
    let spread = lateral * area.dot(jump);
    let across = (area * b + jump * a) * lateral + n * (T::splat(5.0) * a * b - spread);
    let even = Mat3::both_outer(area, jump) * lateral + Mat3::diagonal(three * a * b - spread);
    let pulled = Mat3::outer(n, jump * a + area * b) - Mat3::outer(across, n);
    (even + pulled * three) * (inverse * inverse * inverse)
}

/// Potential P of [`papkovich`](super::papkovich), `(b N + a w) / (2 r²)`, and what Q holds beyond y·P, `(1 −
/// 2ν) c / r`.
#[inline(always)]
pub fn potentials<T: Real>(
    n: Vec3<T>,
    inverse: T,
    jump: Vec3<T>,
    area: Vec3<T>,
    poisson: T,
) -> (Vec3<T>, T) {
    let half = T::splat(0.5) * inverse * inverse;
    let p = (area * n.dot(jump) + jump * n.dot(area)) * half;
    let lateral = T::splat(1.0) - T::splat(2.0) * poisson;
    (p, lateral * area.dot(jump) * inverse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::{kelvin, papkovich};

    type V = Vec3<f64>;

    const PLACE: [f64; 3] = [0.2, 0.5, -0.4];
    const JUMP: [f64; 3] = [2.0, 0.4, -1.3];
    const AREA: [f64; 3] = [0.6, -0.9, 0.7];

    fn axis(k: usize) -> V {
        Vec3::from_f64(std::array::from_fn(|m| if m == k { 1.0 } else { 0.0 }))
    }

    /// Direction from the place and 1/r.
    fn polar(x: V) -> (V, f64) {
        let d = x - Vec3::from_f64(PLACE);
        let inverse = 1.0 / d.norm();
        (d * inverse, inverse)
    }

    fn field(x: V, poisson: f64) -> V {
        let (n, inverse) = polar(x);
        let [jump, area] = [JUMP, AREA].map(Vec3::from_f64);
        displacement(n, inverse, jump, area, poisson)
    }

    fn x() -> V {
        Vec3::from_f64([0.5, -0.2, 0.7])
    }

    #[test]
    fn it_is_the_traction_of_kelvins_solution() {
        let [jump, area] = [JUMP, AREA].map(Vec3::from_f64);
        for poisson in [0.0, 0.3, 0.49] {
            let found = field(x(), poisson) * papkovich::displacement_factor(0.5, poisson);
            for k in 0..3 {
                let to_place = Vec3::from_f64(PLACE) - x();
                let exact = kelvin::traction(to_place, axis(k), area, poisson).dot(jump);
                assert!((found.dot(axis(k)) - exact).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn gradients_are_differences() {
        const STEP: f64 = 1e-5;
        let [jump, area] = [JUMP, AREA].map(Vec3::from_f64);
        for poisson in [0.0, 0.3, 0.49] {
            let (n, inverse) = polar(x());
            let found = gradient(n, inverse, jump, area, poisson);
            for k in 0..3 {
                let [up, down] = [STEP, -STEP].map(|s| field(x() + axis(k) * s, poisson));
                let off = found.times(axis(k)) - (up - down) * (0.5 / STEP);
                assert!(off.norm() < 1e-8, "{off:?}");
            }
        }
    }

    /// u = (3 − 4ν) P − Σ x_j ∇P_j + ∇Q by differences.
    #[test]
    fn potentials_make_the_displacement() {
        const STEP: f64 = 1e-5;
        let [jump, area, place] = [JUMP, AREA, PLACE].map(Vec3::from_f64);
        for poisson in [0.0, 0.3, 0.49] {
            let at = |x: V| {
                let (n, inverse) = polar(x);
                let (p, rest) = potentials(n, inverse, jump, area, poisson);
                (p, place.dot(p) + rest)
            };
            let mut found = at(x()).0 * (3.0 - 4.0 * poisson);
            for k in 0..3 {
                let [up, down] = [STEP, -STEP].map(|s| at(x() + axis(k) * s));
                let slope = (up.1 - down.1 - x().dot(up.0 - down.0)) * (0.5 / STEP);
                found = found + axis(k) * slope;
            }
            assert!((found - field(x(), poisson)).norm() < 1e-8);
        }
    }
}
