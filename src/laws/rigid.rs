//! Rotation of a rigid body with unequal principal moments of inertia.
//!
//! Between two kicks of its angular momentum L a body rotates freely, by dq/dt = ½ ω q with ω = Σ e_k
//! (e_k·L)/I_k over its principal axes e_k, which rotate with it. The energy Σ (e_k·L)²/2I_k is split into
//! its three terms: under each alone the body rotates about e_k at the constant rate (e_k·L)/I_k. Half a step
//! about each of the first two axes, a step about the third and the half steps in reverse order make a step
//! that is symplectic, reversible and of second order, and L in the world frame stays bitwise constant
//! (Dullweber, Leimkuhler and McLachlan, Symplectic splitting methods for rigid body molecular dynamics,
//! 1997, §3).

use glam::{DQuat, DVec3};

use crate::math::eigen;

/// Principal moments and axes of inertia of a rigid body.
#[derive(Clone, Copy, Debug)]
pub struct RigidInertia {
    /// Principal moments of inertia, kg m².
    moments: [f64; 3],
    /// Principal axes at rest, unit vectors.
    axes: [DVec3; 3],
    /// Inverse of the least moment that is not zero, 1/(kg m²).
    largest_inverse: f64,
}

impl RigidInertia {
    /// From a symmetric tensor of inertia about the centre of mass, kg m².
    pub fn new(tensor: [[f64; 3]; 3]) -> Self {
        let (moments, axes) = eigen(tensor);
        let positive = moments.iter().filter(|moment| **moment > 0.0);
        RigidInertia {
            moments,
            largest_inverse: positive.map(|moment| 1.0 / moment).fold(0.0, f64::max),
            axes: axes.map(|axis| DVec3::from_array(axis).normalize_or_zero()),
        }
    }

    /// Whether all moments are equal, so that spin and angular momentum are parallel.
    pub fn is_round(&self) -> bool {
        self.moments.iter().all(|moment| *moment == self.moments[0])
    }

    /// Inverse of the least principal moment of inertia, 1/(kg m²); 0 for a body without inertia.
    pub fn largest_inverse(&self) -> f64 {
        self.largest_inverse
    }

    /// Rotation rate about principal axis `k`, rad/s, and the current direction of that axis; the rate about
    /// an axis without inertia is 0.
    fn axis_rate(&self, k: usize, rotation: DQuat, momentum: DVec3) -> (f64, DVec3) {
        let axis = rotation * self.axes[k];
        match self.moments[k] > 0.0 {
            true => (axis.dot(momentum) / self.moments[k], axis),
            false => (0.0, axis),
        }
    }

    /// Angular velocity, rad/s, of the body at orientation `rotation` with angular momentum `momentum` (kg
    /// m²/s).
    pub fn spin(&self, rotation: DQuat, momentum: DVec3) -> DVec3 {
        if self.is_round() {
            return momentum * self.largest_inverse;
        }
        let of = |k| {
            let (rate, axis) = self.axis_rate(k, rotation, momentum);
            axis * rate
        };
        of(0) + of(1) + of(2)
    }

    /// Orientation after a time `dt`, s, without torque.
    pub fn turn(&self, rotation: DQuat, momentum: DVec3, dt: f64) -> DQuat {
        let half = 0.5 * dt;
        let parts = [(0, half), (1, half), (2, dt), (1, half), (0, half)];
        let turned = parts.into_iter().fold(rotation, |rotation, (k, time)| {
            let (rate, axis) = self.axis_rate(k, rotation, momentum);
            DQuat::from_axis_angle(axis, rate * time) * rotation
        });
        turned.normalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Principal moments 1, 2, 3 along tilted axes.
    fn top() -> (RigidInertia, DQuat) {
        let tilt = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 0.8);
        let mut tensor = [[0.0; 3]; 3];
        for (moment, axis) in [1.0, 2.0, 3.0]
            .into_iter()
            .zip([DVec3::X, DVec3::Y, DVec3::Z])
        {
            let e = (tilt * axis).to_array();
            for (row, a) in tensor.iter_mut().zip(e) {
                for (entry, b) in row.iter_mut().zip(e) {
                    *entry += moment * a * b;
                }
            }
        }
        (RigidInertia::new(tensor), tilt)
    }

    fn energy(top: &RigidInertia, rotation: DQuat, momentum: DVec3) -> f64 {
        0.5 * top.spin(rotation, momentum).dot(momentum)
    }

    /// Rotation about the intermediate axis is unstable: the body tumbles, with a period given by Jacobi's
    /// elliptic functions. The error must fall as the square of the step.
    #[test]
    fn a_tumbling_top_keeps_its_energy_to_second_order() {
        let (top, tilt) = top();
        let momentum = tilt * DVec3::new(1e-3, 2.0, 0.0);
        let first = energy(&top, DQuat::IDENTITY, momentum);
        let worst = |dt: f64| {
            let (mut rotation, mut worst, mut least) = (DQuat::IDENTITY, 0.0_f64, f64::INFINITY);
            for _ in 0..(40.0 / dt) as usize {
                rotation = top.turn(rotation, momentum, dt);
                worst = worst.max((energy(&top, rotation, momentum) / first - 1.0).abs());
                least = least.min((rotation * tilt * DVec3::Y).dot(momentum.normalize()));
            }
            assert!(least < -0.99, "it tumbled: {least}");
            worst
        };
        let (coarse, fine) = (worst(0.02), worst(0.01));
        assert!(coarse < 1e-4, "{coarse:.1e}");
        assert!(
            (3.5..4.5).contains(&(coarse / fine)),
            "{coarse:.1e} {fine:.1e}"
        );
    }

    #[test]
    fn a_turn_about_a_principal_axis_is_exact_and_goes_back() {
        let (top, tilt) = top();
        let momentum = tilt * DVec3::Z * 3.0;
        assert!((top.spin(DQuat::IDENTITY, momentum) - tilt * DVec3::Z).length() < 1e-12);
        let turned = top.turn(DQuat::IDENTITY, momentum, 0.7);
        let exact = DQuat::from_axis_angle(tilt * DVec3::Z, 0.7);
        assert!(turned.angle_between(exact) < 1e-7);
        let aslant = DVec3::new(0.3, -1.0, 2.0);
        let there = top.turn(turned, aslant, 0.3);
        let back = top.turn(there, aslant, -0.3);
        assert!(
            (back.xyz() - turned.xyz()).length() < 1e-14,
            "{back} {turned}"
        );
    }
}
