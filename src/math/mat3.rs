//! 3 × 3 matrices of any [`Real`].

use std::ops::{Add, Mul, Sub};

use super::quat::Quat;
use super::real::Real;
use super::vec3::Vec3;

/// A 3 × 3 matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mat3<T> {
    /// The rows.
    pub rows: [Vec3<T>; 3],
}

impl<T: Real> Mat3<T> {
    /// From rows.
    #[inline(always)]
    pub fn new(a: Vec3<T>, b: Vec3<T>, c: Vec3<T>) -> Self {
        Mat3 { rows: [a, b, c] }
    }
    /// A multiple of the identity.
    #[inline(always)]
    pub fn diagonal(s: T) -> Self {
        let zero = T::zero();
        Mat3::new(
            Vec3::new(s, zero, zero),
            Vec3::new(zero, s, zero),
            Vec3::new(zero, zero, s),
        )
    }
    /// `a bᵀ`.
    #[inline(always)]
    pub fn outer(a: Vec3<T>, b: Vec3<T>) -> Self {
        Mat3::new(b * a.x, b * a.y, b * a.z)
    }
    /// `a bᵀ + b aᵀ`.
    #[inline(always)]
    pub fn both_outer(a: Vec3<T>, b: Vec3<T>) -> Self {
        Mat3::outer(a, b) + Mat3::outer(b, a)
    }
    /// Cross product matrix `[a]×`: its product with v is a × v.
    #[inline(always)]
    pub fn cross(a: Vec3<T>) -> Self {
        let zero = T::zero();
        Mat3::new(
            Vec3::new(zero, -a.z, a.y),
            Vec3::new(a.z, zero, -a.x),
            Vec3::new(-a.y, a.x, zero),
        )
    }
    /// A rotation matrix minus the identity, accurate to rounding for small rotations.
    #[inline(always)]
    pub fn swing(q: Quat<T>) -> Self {
        let twice = q.v * T::splat(2.0);
        let (xx, yy, zz) = (q.v.x * twice.x, q.v.y * twice.y, q.v.z * twice.z);
        let (xy, xz, yz) = (q.v.x * twice.y, q.v.x * twice.z, q.v.y * twice.z);
        let w = twice * q.w;
        Mat3::new(
            Vec3::new(-(yy + zz), xy - w.z, xz + w.y),
            Vec3::new(xy + w.z, -(xx + zz), yz - w.x),
            Vec3::new(xz - w.y, yz + w.x, -(xx + yy)),
        )
    }
    /// A rotation matrix.
    #[inline(always)]
    pub fn rotation(q: Quat<T>) -> Self {
        Mat3::swing(q) + Mat3::diagonal(T::splat(1.0))
    }
    /// The transposed matrix.
    #[inline(always)]
    pub fn transposed(self) -> Self {
        let [a, b, c] = self.rows;
        Mat3::new(
            Vec3::new(a.x, b.x, c.x),
            Vec3::new(a.y, b.y, c.y),
            Vec3::new(a.z, b.z, c.z),
        )
    }
    /// The matrix times a vector.
    #[inline(always)]
    pub fn times(self, v: Vec3<T>) -> Vec3<T> {
        let [a, b, c] = self.rows;
        Vec3::new(a.dot(v), b.dot(v), c.dot(v))
    }
    /// The matrix times another.
    #[inline(always)]
    pub fn product(self, other: Self) -> Self {
        let columns = other.transposed();
        let [a, b, c] = self.rows;
        Mat3::new(columns.times(a), columns.times(b), columns.times(c))
    }
}

impl<T: Real> Add for Mat3<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        let ([a, b, c], [d, e, f]) = (self.rows, o.rows);
        Mat3::new(a + d, b + e, c + f)
    }
}
impl<T: Real> Sub for Mat3<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        let ([a, b, c], [d, e, f]) = (self.rows, o.rows);
        Mat3::new(a - d, b - e, c - f)
    }
}
impl<T: Real> Mul<T> for Mat3<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: T) -> Self {
        let [a, b, c] = self.rows;
        Mat3::new(a * s, b * s, c * s)
    }
}
