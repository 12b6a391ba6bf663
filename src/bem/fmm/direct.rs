//! The sums computed directly, pair by pair: the reference for the fast multipole method.

use glam::DVec3;

use super::kernels::{ChargeAndDoubleLayer, DoubleLayerPoint, Strength};
use crate::laws::{kelvin, papkovich};
use crate::math::{Mat3, Vec3};
use crate::parallel::prelude::*;

fn vector(v: DVec3) -> Vec3<f64> {
    Vec3::from_f64(v.to_array())
}

/// Sum of a kernel over the sources that do not coincide with the target.
fn sum<S: Copy, T>(
    sources: &[DVec3],
    strengths: &[S],
    target: DVec3,
    none: T,
    add: impl Fn(T, Vec3<f64>, S) -> T,
) -> T {
    let pairs = sources.iter().zip(strengths);
    let others = pairs.filter(|(y, _)| **y != target);
    others.fold(none, |sum, (y, s)| add(sum, vector(target - *y), *s))
}

/// Displacements, m, at targets due to forces, N.
pub fn displacement(
    sources: &[DVec3],
    forces: &[DVec3],
    targets: &[DVec3],
    shear: f64,
    poisson: f64,
) -> Vec<DVec3> {
    let at = |x: &DVec3| {
        let u = sum(sources, forces, *x, Vec3::zero(), |u, d, f| {
            u + kelvin::displacement(d, vector(f), shear, poisson)
        });
        DVec3::from_array(u.to_f64())
    };
    targets.par_iter().map(at).collect()
}

/// Stresses xx yy zz yz xz xy, Pa, at targets due to forces, N.
pub fn stress(
    sources: &[DVec3],
    forces: &[DVec3],
    targets: &[DVec3],
    poisson: f64,
) -> Vec<[f64; 6]> {
    let at = |x: &DVec3| {
        let none = Mat3::diagonal(0.0);
        let [a, b, c] = sum(sources, forces, *x, none, |s, d, f| {
            s + kelvin::stress(d, vector(f), poisson)
        })
        .rows;
        [a.x, b.y, c.z, b.z, a.z, a.y]
    };
    targets.par_iter().map(at).collect()
}

/// Tractions, Pa, at targets with unit normals due to forces, N.
pub fn traction(
    sources: &[DVec3],
    forces: &[DVec3],
    targets: &[DVec3],
    normals: &[DVec3],
    poisson: f64,
) -> Vec<DVec3> {
    let at = |(x, n): (&DVec3, &DVec3)| {
        let t = sum(sources, forces, *x, Vec3::zero(), |t, d, f| {
            t + kelvin::traction(d, vector(f), vector(*n), poisson)
        });
        DVec3::from_array(t.to_f64())
    };
    targets.par_iter().zip(normals).map(at).collect()
}

/// ∫ Tᵀ u dS, m, at targets due to a double layer.
pub fn double_layer(
    sources: &[DVec3],
    jumps: &[DoubleLayerPoint],
    targets: &[DVec3],
    poisson: f64,
) -> Vec<DVec3> {
    let factor = papkovich::displacement_factor(0.5, poisson);
    let at = |x: &DVec3| {
        let u = sum(
            sources,
            jumps,
            *x,
            Vec3::zero(),
            |u, d, jump: DoubleLayerPoint| {
                let inverse = 1.0 / d.norm();
                u + jump.displacement(d * inverse, inverse, poisson)
            },
        );
        DVec3::from_array(u.to_f64()) * factor
    };
    targets.par_iter().map(at).collect()
}

/// Displacements, m, and their gradients at targets due to forces, N, and double layers, whose jumps are
/// multiplied by 2 G.
pub fn displacement_and_gradient(
    sources: &[DVec3],
    strengths: &[ChargeAndDoubleLayer],
    targets: &[DVec3],
    shear: f64,
    poisson: f64,
) -> Vec<(Vec3<f64>, Mat3<f64>)> {
    let factor = papkovich::displacement_factor(shear, poisson);
    let at = |x: &DVec3| {
        let none = (Vec3::zero(), Mat3::diagonal(0.0));
        let (u, gradient) = sum(
            sources,
            strengths,
            *x,
            none,
            |(u, gradient), d, s: ChargeAndDoubleLayer| {
                let inverse = 1.0 / d.norm();
                let n = d * inverse;
                (
                    u + s.displacement(n, inverse, poisson),
                    gradient + s.gradient(n, inverse, poisson),
                )
            },
        );
        (u * factor, gradient * factor)
    };
    targets.par_iter().map(at).collect()
}
