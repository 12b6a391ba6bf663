//! Distances from simple solids centred on their own origin: negative inside, with the outward unit normal of
//! the nearest point.
//!
//! At a point where every direction is as near, a fixed one is taken: +y at the centre of a sphere, +x on the
//! axis of a cylinder, and the first of x, y, z where faces of a box are equally near.

use super::real::Real;
use super::vec3::Vec3;

/// The surface as seen from a point.
#[derive(Clone, Copy, Debug)]
pub struct Nearest<T> {
    /// Signed distance, negative inside, m.
    pub distance: T,
    /// Outward unit normal there.
    pub normal: Vec3<T>,
}

/// Everything on the side that the unit normal points away from.
#[inline(always)]
pub fn half_space<T: Real>(p: Vec3<T>, normal: Vec3<T>) -> Nearest<T> {
    Nearest {
        distance: p.dot(normal),
        normal,
    }
}

/// Ball, m.
#[inline(always)]
pub fn sphere<T: Real>(p: Vec3<T>, radius: T) -> Nearest<T> {
    Nearest {
        distance: p.norm() - radius,
        normal: direction_or(p, Vec3::new(T::zero(), T::splat(1.0), T::zero())),
    }
}

/// Box of these half edges, m.
#[inline(always)]
pub fn cuboid<T: Real>(p: Vec3<T>, half: Vec3<T>) -> Nearest<T> {
    let beyond = Vec3::new(p.x.abs(), p.y.abs(), p.z.abs()) - half;
    let octant = Vec3::new(sign(p.x), sign(p.y), sign(p.z));
    corner(beyond, octant)
}

/// Cylinder along y, m.
#[inline(always)]
pub fn cylinder<T: Real>(p: Vec3<T>, radius: T, half_height: T) -> Nearest<T> {
    let ring = Vec3::new(p.x, T::zero(), p.z);
    let outward = direction_or(ring, Vec3::new(T::splat(1.0), T::zero(), T::zero()));
    // In the half-plane through the axis a cylinder is a box; its third face is never the nearest.
    let beyond = Vec3::new(ring.norm() - radius, p.y.abs() - half_height, -radius);
    let octant = Vec3::new(T::splat(1.0), sign(p.y), T::zero());
    let in_plane = corner(beyond, octant);
    let along = outward * in_plane.normal.x;
    Nearest {
        distance: in_plane.distance,
        normal: Vec3::new(along.x, in_plane.normal.y, along.z),
    }
}

/// Velocity of a solid's surface nearest to the point at `arm` from its origin; origin's `velocity` (m/s),
/// `spin` (rad/s), one frame.
#[inline(always)]
pub fn surface_velocity<T: Real>(
    arm: Vec3<T>,
    nearest: Nearest<T>,
    velocity: Vec3<T>,
    spin: Vec3<T>,
) -> Vec3<T> {
    point_velocity(arm - nearest.normal * nearest.distance, velocity, spin)
}

/// Velocity of the point at `arm` from the origin of what moves rigidly; origin's `velocity` (m/s), `spin`
/// (rad/s), one frame.
#[inline(always)]
pub fn point_velocity<T: Real>(arm: Vec3<T>, velocity: Vec3<T>, spin: Vec3<T>) -> Vec3<T> {
    velocity + spin.cross(arm)
}

/// Distance and normal at a corner: `beyond` is |p| less the half edges, `octant` the signs of p.
#[inline(always)]
fn corner<T: Real>(beyond: Vec3<T>, octant: Vec3<T>) -> Nearest<T> {
    let (zero, one) = (T::zero(), T::splat(1.0));
    let outside = Vec3::new(beyond.x.max(zero), beyond.y.max(zero), beyond.z.max(zero));
    let reach = outside.norm();
    let deepest = beyond.x.max(beyond.y.max(beyond.z));
    let not_x = beyond.x.lt(deepest);
    let not_y = beyond.y.lt(deepest);
    let second = Vec3::select(
        not_y,
        Vec3::new(zero, zero, one),
        Vec3::new(zero, one, zero),
    );
    let face = Vec3::select(not_x, second, Vec3::new(one, zero, zero));
    let n = direction_or(outside, face);
    Nearest {
        distance: T::select(zero.lt(reach), reach, deepest),
        normal: Vec3::new(n.x * octant.x, n.y * octant.y, n.z * octant.z),
    }
}

/// Direction of a vector, or `otherwise` where it has none.
#[inline(always)]
fn direction_or<T: Real>(v: Vec3<T>, otherwise: Vec3<T>) -> Vec3<T> {
    let length = v.norm();
    let known = T::zero().lt(length);
    // A vector without length divides by one instead, and the result is dropped.
    let divisor = T::select(known, length, T::splat(1.0));
    Vec3::select(known, v * (T::splat(1.0) / divisor), otherwise)
}

/// 1 or −1.
#[inline(always)]
fn sign<T: Real>(x: T) -> T {
    T::select(x.lt(T::zero()), T::splat(-1.0), T::splat(1.0))
}
