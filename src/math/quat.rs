//! Unit quaternions (x, y, z, w), Hamilton product, active rotation.

use super::real::{Mask, Real};
use super::vec3::Vec3;

/// A rotation as a unit quaternion; `q` and `−q` are the same rotation.
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
    /// Dot product of the four components with those of `other`.
    #[inline(always)]
    pub fn dot(self, other: Self) -> T {
        self.v.dot(other.v) + self.w * other.w
    }
    /// Dot product with fused multiply-adds.
    #[inline(always)]
    pub fn fused_dot(self, other: Self) -> T {
        self.w.mul_add(other.w, self.v.fused_dot(other.v))
    }
    /// `yes` where the mask is true, else `no`.
    #[inline(always)]
    pub fn select(mask: T::Mask, yes: Self, no: Self) -> Self {
        Quat {
            v: Vec3::select(mask, yes.v, no.v),
            w: T::select(mask, yes.w, no.w),
        }
    }
    /// −q, the same rotation.
    #[inline(always)]
    pub fn opposite(self) -> Self {
        Quat {
            v: -self.v,
            w: -self.w,
        }
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
    /// Each component rounded as written: see [`Real::kept`].
    #[inline(always)]
    pub fn rounded(self) -> Self {
        Quat::new(
            self.v.x.kept(),
            self.v.y.kept(),
            self.v.z.kept(),
            self.w.kept(),
        )
    }
    /// Scaled to unit length by a square root and a quotient, both correctly rounded. A polynomial
    /// approximation leaves a length with a bias, which adds energy to a body that turns back and forth for
    /// 1e5 steps.
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

/// Rotation from i to j, by an angle θ in [0, π] about an axis a.
#[derive(Clone, Copy, Debug)]
pub struct Turn<T> {
    /// q_i + q_j, signs aligned: the mean rotation, 2 cos(θ/4) long.
    pub sum: Quat<T>,
    /// 2 sin(θ/2) a.
    pub chord: Vec3<T>,
    /// cos(θ/2).
    pub cosine: T,
}

/// The rotation from i to j.
///
/// The vector part of `q_j q̄_i` is computed as that of `½(q_j − q_i)(q̄_i + q̄_j)`. The result is the same,
/// but the difference of two nearly equal quaternions is exact, so a small rotation keeps its relative
/// precision in f32 however far both have turned; and exchanging i and j flips every sign exactly.
#[inline(always)]
pub fn turn<T: Real>(q_i: Quat<T>, q_j: Quat<T>) -> Turn<T> {
    let cosine = q_i.fused_dot(q_j);
    // q and −q are the same rotation: take the nearer one.
    let near = T::zero().lt(cosine);
    let aligned = if near.all() {
        q_j
    } else {
        Quat::select(near, q_j, q_j.opposite())
    };
    let difference = Quat {
        v: aligned.v - q_i.v,
        w: aligned.w - q_i.w,
    };
    let sum = Quat {
        v: aligned.v + q_i.v,
        w: aligned.w + q_i.w,
    };
    let across = sum
        .v
        .scaled_add(-difference.w, sum.v.fused_cross(difference.v));
    Turn {
        sum,
        chord: difference.v.scaled_add(sum.w, across),
        cosine: cosine.abs(),
    }
}

/// Rotation vector θ a.
#[inline(always)]
pub fn rotation_vector<T: Real>(turn: Turn<T>) -> Vec3<T> {
    let sine_squared = turn.chord.fused_dot(turn.chord) * T::splat(0.25);
    // Bonded elements rarely rotate by more than 29° relative to each other; below that no root and no
    // quotient is needed.
    let near = sine_squared.lt(T::splat(0.0625));
    let small = T::asin_ratio(sine_squared);
    let angle_over_sine = if near.all() {
        small
    } else {
        T::select(near, small, wide_angle_ratio(sine_squared, turn.cosine))
    };
    turn.chord * angle_over_sine
}

/// Rotation vector `log(q_j q̄_i)` of the rotation from i to j, angle in [0, π].
#[inline(always)]
pub fn rotation_between<T: Real>(q_i: Quat<T>, q_j: Quat<T>) -> Vec3<T> {
    rotation_vector(turn(q_i, q_j))
}

/// Direction of `q_i u q̄_i + q_j u q̄_j` for a unit vector u: a vector along it, and the factor that makes it a
/// unit vector.
///
/// With the mean rotation's m of u, s = sin(θ/2) a and c = cos(θ/2), the sum is `2 (c m + s (s·m)/(1 + c))`,
/// and (1 + c) m needs no quotient. Exchanging i and j changes nothing; −u gives the opposite, bit for bit.
#[inline(always)]
pub fn mean_direction<T: Real>(turn: Turn<T>, u: Vec3<T>) -> (Vec3<T>, T) {
    let one = T::splat(1.0);
    let (sum, c) = (turn.sum, turn.cosine);
    let t = sum.v.fused_cross(u);
    let m = u.scaled_add(one + c, t.scaled_add(sum.w, sum.v.fused_cross(t)));
    let along = turn.chord * (turn.chord.fused_dot(m) * T::splat(0.0625));
    let direction = m.scaled_add(c * (one + c) * T::splat(0.25), along);
    // Its length is near 1 unless θ is wide; only lanes with a wide angle need the root.
    let square = direction.fused_dot(direction);
    let h = one - square;
    let near = h.lt(T::splat(0.0625));
    let small = T::inverse_root(h);
    let scale = if near.all() {
        small
    } else {
        T::select(near, small, one / square.sqrt())
    };
    (direction, scale)
}

/// Half the angle over its sine, from the squared sine and the cosine of half the angle: atan2(s, w)/s
/// without dividing by a sine that vanishes.
#[inline(always)]
pub fn wide_angle_ratio<T: Real>(sine_squared: T, cosine: T) -> T {
    let sine = sine_squared.sqrt();
    // Take the arc tangent of the smaller over the larger of the two.
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
    fn mean_direction_is_that_of_the_sum_of_both_rotated_vectors() {
        let q_i = Quat::from_rotation_vector(Vec3::new(0.7, -1.1, 0.2f64));
        let u = Vec3::new(0.48, -0.6, 0.64);
        for angle in [0.0, 1e-6, 0.1, 0.4, 1.0, 2.0, 3.0] {
            let phi = Vec3::new(0.6, 0.0, -0.8) * angle;
            let q_j = Quat::from_rotation_vector(phi).product(q_i);
            let sum = q_i.rotate(u) + q_j.rotate(u);
            let expected = sum * (1.0 / sum.norm());
            let (along, unit) = mean_direction(turn(q_i, q_j), u);
            let found = along * unit;
            assert!((found - expected).norm() < 1e-9, "{angle}: {found:?}");
            let single = |q: Quat<f64>| {
                let [x, y, z] = q.v.to_f64();
                Quat::new(x as f32, y as f32, z as f32, q.w as f32)
            };
            let (a, b, v) = (single(q_i), single(q_j), Vec3::from_f64(u.to_f64()));
            let (along, unit) = mean_direction(turn(a, b), v);
            let found = along * unit;
            let back = mean_direction(turn(b, a), -v);
            assert_eq!(back, (-along, unit), "antisymmetric");
            let error = (Vec3::from_f64(found.to_f64()) - expected).norm();
            // The longer the sum, the better its direction is known.
            assert!(error < 3e-7 / (0.5 * sum.norm()), "{angle}: {error}");
        }
    }

    #[test]
    fn single_precision_keeps_small_rotations_relative() {
        let base = Quat::from_rotation_vector(Vec3::new(0.7, -1.1, 0.2f32));
        let phi = Vec3::new(0.6e-4, 0.0, -0.8e-4f32);
        let turned = Quat::from_rotation_vector(phi).product(base);
        let error = (rotation_between(base, turned) - phi).norm();
        // The remaining error is the rounding of the rotated quaternion itself.
        assert!(error < 2.5e-7, "{error}");
    }
}
