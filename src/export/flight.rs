//! Rotation of a rigid body that flies freely: its angular momentum L stays.
//!
//! ```text
//! q̇ = ½ ω q,  ω = R(q) I⁻¹ R(q)ᵀ L
//! ```

use std::f64::consts::TAU;

use glam::{DMat3, DQuat};

use super::moment::Moment;

/// Turn of a step in time, rad: the midpoint rule is then off by some 1e-5 of the turn.
const STEP: f64 = 0.02;

/// The farthest turn that is followed, rad: what turns farther from frame to frame shows as a blur all round
/// whatever its poses are.
const MOST: f64 = 32.0 * TAU;

/// Rotations over an interval of time.
pub struct Flight {
    /// After equal steps, the first one before them.
    rotations: Vec<DQuat>,
    /// Turn of all steps together, rad.
    pub angle: f64,
}

impl Flight {
    /// From a moment on for so many seconds, or back if they are negative; inertia about the centre of mass at rest.
    pub fn free(moment: &Moment, inertia: &DMat3, seconds: f64) -> Self {
        let still = Flight {
            rotations: vec![moment.rotation; 2],
            angle: 0.0,
        };
        let steps = (moment.spin.length() * seconds.abs() / STEP).ceil();
        if steps.is_nan() || steps * STEP > MOST {
            return still;
        }
        let h = seconds / steps.max(1.0);
        let inverse = inertia.inverse();
        let turn = DMat3::from_quat(moment.rotation);
        let momentum = turn * (*inertia * (turn.transpose() * moment.spin));
        let spin = |q: DQuat| {
            let turn = DMat3::from_quat(q);
            let spin = turn * (inverse * (turn.transpose() * momentum));
            // Points in a line, or a single one, have no inertia about some axis.
            if spin.is_finite() { spin } else { moment.spin }
        };
        let (mut q, mut angle) = (moment.rotation, 0.0);
        let mut rotations = vec![q];
        for _ in 0..steps.max(1.0) as usize {
            let half = DQuat::from_scaled_axis(spin(q) * (0.5 * h)) * q;
            let turn = spin(half) * h;
            angle += turn.length();
            q = (DQuat::from_scaled_axis(turn) * q).normalize();
            rotations.push(q);
        }
        if angle <= MOST && q.is_finite() {
            Flight { rotations, angle }
        } else {
            still
        }
    }

    /// At the end of the interval.
    pub fn end(&self) -> DQuat {
        self.rotations[self.rotations.len() - 1]
    }

    /// After part s of the interval.
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

    fn spinning(spin: DVec3) -> Moment {
        Moment {
            frame: 0,
            at: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            velocity: DVec3::ZERO,
            spin,
        }
    }

    #[test]
    fn momentum_stays_forth_and_back() {
        let inertia = DMat3::from_diagonal(DVec3::new(1.0, 2.0, 4.0));
        let start = spinning(DVec3::new(3.0, 30.0, 2.0));
        let there = Flight::free(&start, &inertia, 0.5).end();
        let turn = DMat3::from_quat(there);
        let momentum = inertia * start.spin;
        let end = Moment {
            rotation: there,
            spin: turn * (inertia.inverse() * (turn.transpose() * momentum)),
            ..start
        };
        let back = Flight::free(&end, &inertia, -0.5).end();
        assert!(back.dot(start.rotation).abs() > 1.0 - 1e-5, "{back}");
    }

    #[test]
    fn what_has_no_inertia_keeps_its_spin_and_what_spins_too_fast_stands() {
        let end = Flight::free(&spinning(DVec3::X), &DMat3::ZERO, 0.5).end();
        assert!(end.angle_between(DQuat::from_rotation_x(0.5)) < 1e-9);
        for spin in [1e9, f64::NAN] {
            let flight = Flight::free(&spinning(DVec3::X * spin), &DMat3::IDENTITY, 1.0);
            assert_eq!((flight.end(), flight.angle), (DQuat::IDENTITY, 0.0));
        }
        // Nearly a rod: what is little about the long axis becomes much when it topples.
        let rod = DMat3::from_diagonal(DVec3::new(1e-9, 1.0, 1.0));
        let flight = Flight::free(&spinning(DVec3::new(0.1, 30.0, 20.0)), &rod, 1.0);
        assert!(flight.end().is_finite() && flight.angle <= MOST);
    }
}
