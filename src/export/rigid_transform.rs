//! Least-squares rigid transform between two point sets (Horn 1987, closed form by unit quaternions).

use glam::{DQuat, DVec3};

use crate::math::eigen;

/// Largest deviation of a point from rigid motion, over the fragment's size, up to which a fragment is rigid:
/// less than a pixel of a fragment that fills a picture.
pub const RIGID_TOLERANCE: f64 = 2e-4;

/// Rigid transform x → rotation · x + shift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidTransform {
    /// Rotation.
    pub rotation: DQuat,
    /// Image of the origin.
    pub shift: DVec3,
}

impl RigidTransform {
    /// Transform with the least sum of squared distances between transformed `rest` and `now`, which have the
    /// same length.
    pub fn fit(rest: &[[f32; 3]], now: &[[f32; 3]]) -> Self {
        let vector = |p: &[f32; 3]| DVec3::from(p.map(f64::from));
        let middle = |points: &[[f32; 3]]| {
            points.iter().map(vector).sum::<DVec3>() / points.len().max(1) as f64
        };
        let (from, to) = (middle(rest), middle(now));
        let mut s = [[0.0; 3]; 3];
        for (a, b) in rest.iter().zip(now) {
            let (a, b) = ((vector(a) - from).to_array(), (vector(b) - to).to_array());
            for (row, a) in s.iter_mut().zip(a) {
                for (sum, b) in row.iter_mut().zip(b) {
                    *sum += a * b;
                }
            }
        }
        let [[xx, xy, xz], [yx, yy, yz], [zx, zy, zz]] = s;
        let (values, vectors) = eigen([
            [xx + yy + zz, yz - zy, zx - xz, xy - yx],
            [yz - zy, xx - yy - zz, xy + yx, zx + xz],
            [zx - xz, xy + yx, yy - xx - zz, yz + zy],
            [xy - yx, zx + xz, yz + zy, zz - xx - yy],
        ]);
        let mut largest = 0;
        for k in 1..4 {
            if values[k] > values[largest] {
                largest = k;
            }
        }
        let [w, x, y, z] = vectors[largest];
        let rotation = DQuat::from_xyzw(x, y, z, w).normalize();
        RigidTransform {
            rotation,
            shift: to - rotation * from,
        }
    }

    /// Image of a point.
    pub fn apply(&self, point: [f32; 3]) -> DVec3 {
        self.rotation * DVec3::from(point.map(f64::from)) + self.shift
    }

    /// Largest distance between transformed `rest` and `now`, in the unit of the points.
    pub fn largest_error(&self, rest: &[[f32; 3]], now: &[[f32; 3]]) -> f64 {
        let pairs = rest.iter().zip(now);
        pairs
            .map(|(a, b)| self.apply(*a).distance(DVec3::from(b.map(f64::from))))
            .fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: [[f32; 3]; 5] = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 2.0, 0.0],
        [0.0, 0.0, 3.0],
        [1.0, 1.0, -1.0],
    ];

    fn moved(rotation: DQuat, shift: DVec3, points: &[[f32; 3]]) -> Vec<[f32; 3]> {
        let motion = RigidTransform { rotation, shift };
        points
            .iter()
            .map(|p| motion.apply(*p).as_vec3().to_array())
            .collect()
    }

    #[test]
    fn a_rigid_motion_is_found() {
        for k in 0..60 {
            let axis = DVec3::new((k as f64).sin(), (2.0 * k as f64).cos(), 0.3).normalize();
            let rotation = DQuat::from_axis_angle(axis, 0.11 * k as f64);
            let shift = DVec3::new(0.5, -2.0, k as f64 * 0.1);
            // All of them, and a flat triangle.
            for points in [&POINTS[..], &POINTS[..3]] {
                let now = moved(rotation, shift, points);
                let found = RigidTransform::fit(points, &now);
                assert!(found.largest_error(points, &now) < 2e-6, "{k}: {found:?}");
            }
        }
    }

    #[test]
    fn a_stretch_is_measured() {
        let now = POINTS.map(|[x, y, z]| [x, y * 1.01, z]);
        let found = RigidTransform::fit(&POINTS, &now);
        let largest_error = found.largest_error(&POINTS, &now);
        assert!((0.005..0.02).contains(&largest_error), "{largest_error}");
    }
}
