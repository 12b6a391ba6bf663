//! The sums themselves, pair by pair: what the fast ones are measured against.

use glam::DVec3;

use crate::laws::kelvin;
use crate::math::{Mat3, Vec3};
use crate::parallel::prelude::*;

fn vector(v: DVec3) -> Vec3<f64> {
    Vec3::from_f64(v.to_array())
}

/// Sum of a kernel over the sources that do not lie at the target.
fn sum<T>(
    sources: &[DVec3],
    forces: &[DVec3],
    target: DVec3,
    none: T,
    add: impl Fn(T, Vec3<f64>, Vec3<f64>) -> T,
) -> T {
    let pairs = sources.iter().zip(forces).filter(|(y, _)| **y != target);
    pairs.fold(none, |sum, (y, f)| {
        add(sum, vector(target - *y), vector(*f))
    })
}

/// Displacements, m, at targets of forces, N.
pub fn displacement(
    sources: &[DVec3],
    forces: &[DVec3],
    targets: &[DVec3],
    shear: f64,
    poisson: f64,
) -> Vec<DVec3> {
    let at = |x: &DVec3| {
        let u = sum(sources, forces, *x, Vec3::zero(), |u, d, f| {
            u + kelvin::displacement(d, f, shear, poisson)
        });
        DVec3::from_array(u.to_f64())
    };
    targets.par_iter().map(at).collect()
}

/// Stresses xx yy zz yz xz xy, Pa, at targets of forces, N.
pub fn stress(
    sources: &[DVec3],
    forces: &[DVec3],
    targets: &[DVec3],
    poisson: f64,
) -> Vec<[f64; 6]> {
    let at = |x: &DVec3| {
        let none = Mat3::diagonal(0.0);
        let [a, b, c] = sum(sources, forces, *x, none, |s, d, f| {
            s + kelvin::stress(d, f, poisson)
        })
        .rows;
        [a.x, b.y, c.z, b.z, a.z, a.y]
    };
    targets.par_iter().map(at).collect()
}

/// Tractions, Pa, at targets with unit normals of forces, N.
pub fn traction(
    sources: &[DVec3],
    forces: &[DVec3],
    targets: &[DVec3],
    normals: &[DVec3],
    poisson: f64,
) -> Vec<DVec3> {
    let at = |(x, n): (&DVec3, &DVec3)| {
        let t = sum(sources, forces, *x, Vec3::zero(), |t, d, f| {
            t + kelvin::traction(d, f, vector(*n), poisson)
        });
        DVec3::from_array(t.to_f64())
    };
    targets.par_iter().zip(normals).map(at).collect()
}
