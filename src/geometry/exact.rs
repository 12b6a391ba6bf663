//! Orientation tests whose sign is exact (Shewchuk's adaptive predicates).

use glam::{DVec2, DVec3, Vec3Swizzles};
use robust::{Coord, Coord3D};

/// Sign of twice the area of `abc`: positive when counter-clockwise.
pub fn turn(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    let [a, b, c] = [a, b, c].map(|p| Coord { x: p.x, y: p.y });
    robust::orient2d(a, b, c)
}

/// Which side of the plane `abc` a point lies on: positive against `(b - a) × (c - a)`, the inner side of an
/// outward triangle.
pub fn side(a: DVec3, b: DVec3, c: DVec3, p: DVec3) -> f64 {
    let [a, b, c, p] = [a, b, c, p].map(|p| Coord3D {
        x: p.x,
        y: p.y,
        z: p.z,
    });
    robust::orient3d(a, b, c, p)
}

/// Exact signs of the components of `(b - a) × (c - a)`.
pub fn normal_signs([a, b, c]: [DVec3; 3]) -> [f64; 3] {
    [
        turn(a.yz(), b.yz(), c.yz()),
        turn(a.zx(), b.zx(), c.zx()),
        turn(a.xy(), b.xy(), c.xy()),
    ]
}
