//! Rotation of a rigid body in free flight: its angular momentum L is constant.
//!
//! ```text
//! q̇ = ½ ω q,  ω = R(q) I⁻¹ R(q)ᵀ L
//! ```

use std::f64::consts::TAU;

use glam::{DMat3, DQuat};

use super::rigid_state::RigidState;

/// Rotation per time step, rad: the error of the midpoint rule is then about 1e-5 of the rotation.
const STEP_ANGLE: f64 = 0.02;

/// Largest rotation that is computed, rad. What turns farther from frame to frame is blurred all round,
/// whatever its poses are.
const MAX_ANGLE: f64 = 32.0 * TAU;

/// Rotation over a time interval.
pub struct FreeRotation {
    /// Rotations at the start and after each of the equal time steps.
    rotations: Vec<DQuat>,
    /// Sum of the rotation angles of all steps, rad.
    pub angle: f64,
}

impl FreeRotation {
    /// Free rotation from `state` for `seconds`, backwards if negative; inertia about the centre of mass at
    /// rest. The rotation stays constant if the spin is NaN or the angle would exceed [`MAX_ANGLE`].
    pub fn new(state: &RigidState, inertia: &DMat3, seconds: f64) -> Self {
        let unchanged = FreeRotation {
            rotations: vec![state.rotation; 2],
            angle: 0.0,
        };
        let steps = (state.spin.length() * seconds.abs() / STEP_ANGLE).ceil();
        if steps.is_nan() || steps * STEP_ANGLE > MAX_ANGLE {
            return unchanged;
        }
        let h = seconds / steps.max(1.0);
        let inverse = inertia.inverse();
        let turn = DMat3::from_quat(state.rotation);
        let momentum = turn * (*inertia * (turn.transpose() * state.spin));
        let spin = |q: DQuat| {
            let turn = DMat3::from_quat(q);
            let spin = turn * (inverse * (turn.transpose() * momentum));
            // Collinear points, or a single point, have no inertia about some axis.
            if spin.is_finite() { spin } else { state.spin }
        };
        let (mut q, mut angle) = (state.rotation, 0.0);
        let mut rotations = vec![q];
        for _ in 0..steps.max(1.0) as usize {
            let half = DQuat::from_scaled_axis(spin(q) * (0.5 * h)) * q;
            let turn = spin(half) * h;
            angle += turn.length();
            q = (DQuat::from_scaled_axis(turn) * q).normalize();
            rotations.push(q);
        }
        if angle <= MAX_ANGLE && q.is_finite() {
            FreeRotation { rotations, angle }
        } else {
            unchanged
        }
    }

    /// Rotation at the end of the interval.
    pub fn end(&self) -> DQuat {
        self.rotations[self.rotations.len() - 1]
    }

    /// Rotation at fraction `s` of the interval.
    pub fn at(&self, s: f64) -> DQuat {
        let steps = self.rotations.len() - 1;
        let exact = s * steps as f64;
        let step = (exact as usize).min(steps - 1);
        let (a, b) = (self.rotations[step], self.rotations[step + 1]);
        a.slerp(b, exact - step as f64)
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;

    fn spinning(spin: DVec3) -> RigidState {
        RigidState {
            frame: 0,
            at: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            velocity: DVec3::ZERO,
            spin,
        }
    }

    #[test]
    fn momentum_is_kept_forth_and_back() {
        let inertia = DMat3::from_diagonal(DVec3::new(1.0, 2.0, 4.0));
        let start = spinning(DVec3::new(3.0, 30.0, 2.0));
        let there = FreeRotation::new(&start, &inertia, 0.5).end();
        let turn = DMat3::from_quat(there);
        let momentum = inertia * start.spin;
        let end = RigidState {
            rotation: there,
            spin: turn * (inertia.inverse() * (turn.transpose() * momentum)),
            ..start
        };
        let back = FreeRotation::new(&end, &inertia, -0.5).end();
        assert!(back.dot(start.rotation).abs() > 1.0 - 1e-5, "{back}");
    }

    #[test]
    fn without_inertia_the_spin_stays_and_too_fast_a_spin_is_ignored() {
        let end = FreeRotation::new(&spinning(DVec3::X), &DMat3::ZERO, 0.5).end();
        assert!(end.angle_between(DQuat::from_rotation_x(0.5)) < 1e-9);
        for spin in [1e9, f64::NAN] {
            let flight = FreeRotation::new(&spinning(DVec3::X * spin), &DMat3::IDENTITY, 1.0);
            assert_eq!((flight.end(), flight.angle), (DQuat::IDENTITY, 0.0));
        }
        // Nearly a rod: a slow spin about the long axis becomes fast when the rod topples.
        let rod = DMat3::from_diagonal(DVec3::new(1e-9, 1.0, 1.0));
        let flight = FreeRotation::new(&spinning(DVec3::new(0.1, 30.0, 20.0)), &rod, 1.0);
        assert!(flight.end().is_finite() && flight.angle <= MAX_ANGLE);
    }
}
