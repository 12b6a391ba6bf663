//! Vectors and rotations read from rows of columns, and written to them.

use crate::math::{Lanes, Quat, Real, Scalar, Vec3};
use crate::simulate::bonded::system::motion;

/// A scratch buffer for the lanes of any type.
#[inline(always)]
pub fn lane_buffer<L: Lanes>() -> [L::Scalar; 16] {
    [L::Scalar::default(); 16]
}

/// The same vector in every lane.
#[inline(always)]
pub fn splat<L: Lanes>(v: Vec3<L::Scalar>) -> Vec3<L> {
    Vec3::new(
        L::splat(v.x.to_f64()),
        L::splat(v.y.to_f64()),
        L::splat(v.z.to_f64()),
    )
}

/// Three columns of a row as a vector.
#[inline(always)]
pub fn vector<L: Real, const C: usize>(row: &[L; C], at: usize) -> Vec3<L> {
    Vec3::new(row[at], row[at + 1], row[at + 2])
}

/// Low words of a position.
#[inline(always)]
pub fn low<L: Real>(row: &[L; 16]) -> Vec3<L> {
    Vec3::new(
        row[motion::LOW[0]],
        row[motion::LOW[1]],
        row[motion::LOW[2]],
    )
}

/// Rotation in a row of motion.
#[inline(always)]
pub fn quaternion<L: Real>(row: &[L; 16]) -> Quat<L> {
    let q = motion::Q;
    Quat::new(row[q], row[q + 1], row[q + 2], row[q + 3])
}

/// Writes a vector into three columns of a row.
#[inline(always)]
pub fn put<L: Real, const C: usize>(row: &mut [L; C], at: usize, v: Vec3<L>) {
    (row[at], row[at + 1], row[at + 2]) = (v.x, v.y, v.z);
}
