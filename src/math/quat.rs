//! Unit quaternions (x, y, z, w), Hamilton product, active rotation.

use super::real::{Mask, Real};
use super::vec3::Vec3;

/// A rotation as a unit quaternion; `q` and `−q` are one rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quat<T> {
    /// Vector part.
    pub v: Vec3<T>,
    /// Scalar part.
    pub w: T,
}

impl<T: Real> Quat<T> {
    /// From components.
    #[inline(always)]
    pub fn new(x: T, y: T, z: T, w: T) -> Self {
        Quat {
            v: Vec3::new(x, y, z),
            w,
        }
    }
    /// Product of the four components with those of `other`.
    #[inline(always)]
    pub fn dot(self, other: Self) -> T {
        self.v.dot(other.v) + self.w * other.w
    }
    /// Hamilton product: first the right factor's rotation, then the left's.
    #[inline(always)]
    pub fn product(self, other: Self) -> Self {
        Quat {
            v: other.v * self.w + self.v * other.w + self.v.cross(other.v),
            w: self.w * other.w - self.v.dot(other.v),
        }
    }
    /// The rotated vector `q u q̄`.
    #[inline(always)]
    pub fn rotate(self, u: Vec3<T>) -> Vec3<T> {
        let t = self.v.cross(u) * T::splat(2.0);
        u + t * self.w + self.v.cross(t)
    }
    /// Each component as it is rounded: see [`Real::kept`].
    #[inline(always)]
    pub fn rounded(self) -> Self {
        Quat::new(
            self.v.x.kept(),
            self.v.y.kept(),
            self.v.z.kept(),
            self.w.kept(),
        )
    }
    /// Scaled to unit length. By a root and a quotient, both rounded right: the length that a polynomial
    /// leaves is off to one side, which heats a body that turns to and fro for 1e5 steps.
    #[inline(always)]
    pub fn normalised(self) -> Self {
        let scale = T::splat(1.0) / self.dot(self).sqrt();
        Quat {
            v: self.v * scale,
            w: self.w * scale,
        }
    }
    /// The rotation by a rotation vector of at most π.
    #[inline(always)]
    pub fn from_rotation_vector(phi: Vec3<T>) -> Self {
        let half = phi * T::splat(0.5);
        let square = half.dot(half);
        Quat {
            v: half * T::sinc(square),
            w: T::cosine(square),
        }
    }
}

/// Rotation vector `log(q_j q̄_i)` that turns i onto j, angle in [0, π].
///
/// The vector part of `q_j q̄_i` is taken as that of `½(q_j − q_i)(q̄_i + q̄_j)`: the same number, but the
/// difference of two nearly equal quaternions is exact, so a small rotation keeps its relative precision in
/// f32 however far both have turned; and exchanging i and j flips every sign exactly.
#[inline(always)]
pub fn rotation_between<T: Real>(q_i: Quat<T>, q_j: Quat<T>) -> Vec3<T> {
    let cosine = q_i.dot(q_j);
    // q and −q are one rotation: take the nearer of the two.
    let sign = T::select(cosine.lt(T::zero()), T::splat(-1.0), T::splat(1.0));
    let aligned = Quat {
        v: q_j.v * sign,
        w: q_j.w * sign,
    };
    let difference = Quat {
        v: aligned.v - q_i.v,
        w: aligned.w - q_i.w,
    };
    let sum = Quat {
        v: aligned.v + q_i.v,
        w: aligned.w + q_i.w,
    };
    // Twice the vector part: its length is 2 sin θ/2.
    let imaginary = (difference.v * sum.w - sum.v * difference.w) - difference.v.cross(sum.v);
    let sine_squared = imaginary.dot(imaginary) * T::splat(0.25);
    // Bonded elements rarely turn by more than 29° to each other; below, no root and no quotient is needed.
    let near = sine_squared.lt(T::splat(0.0625));
    let small = T::asin_ratio(sine_squared);
    let angle_over_sine = if near.all() {
        small
    } else {
        T::select(near, small, wide_angle_ratio(sine_squared, cosine.abs()))
    };
    imaginary * angle_over_sine
}

/// Half the angle over its sine from the square of the sine and the cosine of half the angle: atan2(s, w)/s
/// without dividing by a sine that vanishes.
#[inline(always)]
pub fn wide_angle_ratio<T: Real>(sine_squared: T, cosine: T) -> T {
    let sine = sine_squared.sqrt();
    // The arc tangent of the smaller over the larger of both.
    let swapped = cosine.lt(sine);
    let t = T::select(swapped, cosine, sine) / T::select(swapped, sine, cosine);
    let ratio = T::atan_ratio(t * t);
    T::select(
        swapped,
        (T::splat(std::f64::consts::FRAC_PI_2) - t * ratio) / sine,
        ratio / cosine,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithm_inverts_the_exponential_up_to_half_a_turn() {
        let base = Quat::from_rotation_vector(Vec3::new(0.7, -1.1, 0.2f64));
        for angle in [
            0.0,
            1e-9,
            1e-4,
            0.5,
            1.5,
            2.0,
            3.0,
            std::f64::consts::PI - 1e-6,
        ] {
            let phi = Vec3::new(0.6, 0.0, -0.8) * angle;
            let turned = Quat::from_rotation_vector(phi).product(base);
            for sign in [1.0, -1.0] {
                let signed = Quat {
                    v: turned.v * sign,
                    w: turned.w * sign,
                };
                let found = rotation_between(base, signed);
                assert!((found - phi).norm() < 1e-12, "{angle}: {found:?}");
                assert_eq!(rotation_between(signed, base), -found, "antisymmetric");
            }
        }
    }

    #[test]
    fn single_precision_keeps_small_rotations_relative() {
        let base = Quat::from_rotation_vector(Vec3::new(0.7, -1.1, 0.2f32));
        let phi = Vec3::new(0.6e-4, 0.0, -0.8e-4f32);
        let turned = Quat::from_rotation_vector(phi).product(base);
        let error = (rotation_between(base, turned) - phi).norm();
        // What remains is the rounding of the turned quaternion itself.
        assert!(error < 2.5e-7, "{error}");
    }
}
