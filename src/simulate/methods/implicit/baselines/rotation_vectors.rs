//! Newton's method in rotation vectors, the formulation of ADD (Geilinger et al. 2020) with which Lu 2025, §6.1 and
//! Figure 6, compare.
//!
//! The unknown of a rotation is its rotation vector θ since the start of the step, q = exp(θ) q₀. Iterations add to
//! it, θ + dθ, where the manifold method turns the current q. With φ = |θ|, Jₗ the left Jacobian of the exponential
//! map, and gradient τ and Hessian H of the energy Φ along geodesics from the current rotation,
//!
//! ```text
//! exp(θ + δ) = exp(Jₗ δ + ½ Q(δ, δ) + …) exp(θ)       Jₗ = 1 + b [θ]× + c [θ]×²
//! b = (1 − cos φ)/φ²,  c = (φ − sin φ)/φ³             b₁ = b′/φ,  c₁ = c′/φ
//! ∇Φ = Jₗᵀ τ,  ∇²Φ = Jₗᵀ H Jₗ + C                      δᵀ C δ = τ·Q(δ, δ) = τ·(dJₗ[δ] δ)
//! C = ½ b₁ (θ aᵀ + a θᵀ) + c₁ (τ·θ) θ θᵀ − ½ (c₁ φ² + c) (θ τᵀ + τ θᵀ) + c (τ·θ) 1,   a = τ × θ
//! ```
//! C vanishes at θ = 0 and at the minimum. It is left out with H, where H is projected or that of Gauss–Newton.
//! Guess, line search, linear solver, reuse of matrices and tolerances are those of the manifold method. Jₗ is
//! singular at φ = 2π: a step must turn an element by less.

use std::borrow::Cow;

use crate::parallel::prelude::*;
use glam::DVec3;

use super::{ConvergenceRecord, StepProblem};
use crate::laws::energy::EnergyLaw;
use crate::math::quat::rotation_between;
use crate::math::{Mat3, Vec3};
use crate::simulate::bonded::system::System;
use crate::simulate::methods::implicit::assemble::block_of;
use crate::simulate::methods::implicit::bonds::HessianForm;
use crate::simulate::methods::implicit::coordinates::Coordinates;
use crate::simulate::methods::implicit::start::{StepStart, rotation_from_vector, set_rotation};
use crate::solve::block::{self, Block, Six};
use crate::solve::{BlockMatrix, matrix::rows_mut};

/// Below this φ² the coefficients are sums of series, since their quotients would cancel.
const SMALL_SQUARE: f64 = 1.0;
/// Terms of the series: the next one is below rounding.
const TERMS: u32 = 9;

/// Newton's method with exact second derivatives, those of the exponential map included.
pub fn exact<W: EnergyLaw>(problem: &mut StepProblem<W>, record: &mut ConvergenceRecord) {
    run(problem, record, HessianForm::Exact);
}

/// Gauss–Newton, which Lu 2025 says that ADD needs.
pub fn gauss_newton<W: EnergyLaw>(problem: &mut StepProblem<W>, record: &mut ConvergenceRecord) {
    run(problem, record, HessianForm::GaussNewton);
}

fn run<W: EnergyLaw>(
    problem: &mut StepProblem<W>,
    record: &mut ConvergenceRecord,
    form: HessianForm,
) {
    problem.begin(record);
    let mut vectors = RotationVectors::new(&problem.system, problem.start, form);
    problem.newton(record, &mut vectors);
}

/// Positions, and rotation vectors since the start of the step, scaled to lengths by the radius.
#[derive(Clone)]
pub struct RotationVectors<'a> {
    start: &'a StepStart,
    form: HessianForm,
    /// θ of each element, rad; 0 if it is held.
    pub theta: Vec<Vec3<f64>>,
    /// Radius of each element, m.
    radius: Vec<f64>,
}

impl<'a> RotationVectors<'a> {
    /// The vectors of the current rotations, of at most π.
    pub fn new(system: &System<f64>, start: &'a StepStart, form: HessianForm) -> Self {
        let theta = |i| match start.is_held(i) {
            true => Vec3::zero(),
            false => rotation_between(start.rotation[i], system.quaternion(i)),
        };
        RotationVectors {
            start,
            form,
            theta: (0..system.count).map(theta).collect(),
            radius: (0..system.count).map(|i| system.radius(i)).collect(),
        }
    }
}

impl Coordinates for RotationVectors<'_> {
    fn form(&self) -> HessianForm {
        self.form
    }

    fn displace(&mut self, system: &mut System<f64>, direction: &[Six], factor: f64) {
        for (i, by) in direction.iter().enumerate() {
            if self.start.is_held(i) {
                continue;
            }
            let [x, y, z, a, b, c] = by.map(|value| value * factor);
            system.set_position(i, system.position(i) + DVec3::new(x, y, z));
            self.theta[i] = self.theta[i] + Vec3::new(a, b, c) * (1.0 / self.radius[i]);
            let q = rotation_from_vector(self.theta[i]).product(self.start.rotation[i]);
            set_rotation(&mut system.motion[i], q.normalised());
        }
    }

    fn gradient<'a>(&self, gradient: &'a [Six]) -> Cow<'a, [Six]> {
        let of = |(g, &theta): (&Six, &Vec3<f64>)| {
            let torque = Map::new(theta)
                .jacobian()
                .transposed()
                .times(rotation_of(g));
            [g[0], g[1], g[2], torque.x, torque.y, torque.z]
        };
        let all = gradient.par_iter().zip(&self.theta).with_min_len(256);
        Cow::Owned(all.map(of).collect())
    }

    fn convert(&self, matrix: &mut BlockMatrix, gradient: &[Six], form: HessianForm) {
        let zero = Mat3::diagonal(0.0);
        let jacobian = |&theta: &Vec3<f64>| {
            let rotation = Map::new(theta).jacobian();
            block_of(&[Mat3::diagonal(1.0), zero, zero, rotation], [1.0; 2])
        };
        let jacobians = self.theta.par_iter().with_min_len(256).map(jacobian);
        let jacobians: Vec<Block> = jacobians.collect();
        let BlockMatrix {
            start: first,
            column,
            value,
        } = matrix;
        let rows = rows_mut(first, value).into_par_iter().with_min_len(64);
        rows.enumerate().for_each(|(i, row)| {
            let columns = &column[first[i] as usize..];
            for (value, &j) in row.iter_mut().zip(columns) {
                let (mut right, mut both) = (block::ZERO, block::ZERO);
                block::add_product(&mut right, value, &jacobians[j as usize]);
                block::add_transposed_product(&mut both, &jacobians[i], &right);
                if j as usize == i && form == HessianForm::Exact {
                    let r = self.radius[i];
                    let own = Map::new(self.theta[i]).curvature(rotation_of(&gradient[i]) * r);
                    block::add(&mut both, &block_of(&[zero, zero, zero, own], [r; 2]));
                }
                *value = both;
            }
        });
    }
}

/// The rotational part of six numbers.
fn rotation_of(six: &Six) -> Vec3<f64> {
    Vec3::new(six[3], six[4], six[5])
}

/// The exponential map at a rotation vector.
struct Map {
    theta: Vec3<f64>,
    /// b and c.
    value: [f64; 2],
    /// b₁ and c₁.
    change: [f64; 2],
}

impl Map {
    fn new(theta: Vec3<f64>) -> Self {
        let square = theta.dot(theta);
        let (value, change) = match square < SMALL_SQUARE {
            true => series(square),
            false => {
                let (sine, cosine) = square.sqrt().sin_cos();
                let ratio = sine / square.sqrt();
                let (b, c) = ((1.0 - cosine) / square, (1.0 - ratio) / square);
                let change = [(ratio - 2.0 * b) / square, (b - 3.0 * c) / square];
                ([b, c], change)
            }
        };
        Map {
            theta,
            value,
            change,
        }
    }

    /// Jₗ.
    fn jacobian(&self) -> Mat3<f64> {
        let cross = Mat3::cross(self.theta);
        let [b, c] = self.value;
        Mat3::diagonal(1.0) + cross * b + cross.product(cross) * c
    }

    /// C for a torque τ.
    fn curvature(&self, torque: Vec3<f64>) -> Mat3<f64> {
        let (theta, [_, c], [b1, c1]) = (self.theta, self.value, self.change);
        let along = torque.dot(theta);
        Mat3::both_outer(theta, torque.cross(theta)) * (0.5 * b1)
            + Mat3::outer(theta, theta) * (c1 * along)
            - Mat3::both_outer(theta, torque) * (0.5 * (c1 * theta.dot(theta) + c))
            + Mat3::diagonal(c * along)
    }
}

/// b and c, and b₁ and c₁, for a small φ²: b = Σ (−φ²)ᵏ/(2k + 2)!, c = Σ (−φ²)ᵏ/(2k + 3)!.
fn series(square: f64) -> ([f64; 2], [f64; 2]) {
    let (mut value, mut change) = ([0.0; 2], [0.0; 2]);
    // (−φ²)ᵏ and (−φ²)ᵏ⁻¹ over (2k + 2)!.
    let (mut term, mut lower) = (0.5, 0.0);
    for k in 0..TERMS {
        let k = f64::from(k);
        for (at, divisor) in [1.0, 2.0 * k + 3.0].into_iter().enumerate() {
            value[at] += term / divisor;
            change[at] -= 2.0 * k * lower / divisor;
        }
        let next = (2.0 * k + 3.0) * (2.0 * k + 4.0);
        (lower, term) = (term / next, -square * term / next);
    }
    (value, change)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_and_quotients_agree_where_they_meet() {
        let at = |square: f64| Map::new(Vec3::new(square.sqrt(), 0.0, 0.0));
        let (below, above) = (at(1.0 - 1e-13), at(1.0 + 1e-13));
        for (one, other) in [(below.value, above.value), (below.change, above.change)] {
            for k in 0..2 {
                assert!((one[k] / other[k] - 1.0).abs() < 1e-11, "{one:?} {other:?}");
            }
        }
    }
}
