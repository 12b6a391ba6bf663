//! Kick, drift and rotation of one chunk of elements, generic over the lane type.

use std::iter::Sum;

use crate::laws;
use crate::math::{Lanes, Pass, Scalar, Vec3};
use crate::simulate::bonded::rows::{lane_buffer, put, quaternion, splat, vector};
use crate::simulate::bonded::system::{LoadRow, MotionRow, TailRow, motion};

/// Time step, gravity and drag of a step.
#[derive(Clone, Copy, Debug)]
pub struct StepParameters<S> {
    /// Time step, s.
    pub dt: S,
    /// Acceleration of gravity, m/s².
    pub gravity: Vec3<S>,
    /// Global drag, 1/s.
    pub drag: S,
}

/// Kicks, drifts and rotates a chunk of elements.
pub struct AdvancePass<'a, S> {
    /// Parameters of the step.
    pub step: StepParameters<S>,
    /// Whether velocities are half a step behind, so the second kick of the last step is still due.
    pub close: bool,
    /// Whether a new step begins: first kick, drift and rotation.
    pub open: bool,
    /// Rows of motion of the chunk.
    pub motion: &'a mut [MotionRow<S>],
    /// Residual rotations of the chunk.
    pub tail: &'a mut [TailRow<S>],
    /// Loads of the chunk.
    pub load: &'a [LoadRow<S>],
}

/// Largest speed in a chunk, and a probe for values that are not finite.
#[derive(Clone, Copy, Debug, Default)]
pub struct Speeds {
    /// Largest |v|², m²/s².
    pub largest_squared: f64,
    /// Not finite if any coordinate, velocity or spin of the chunk is not.
    pub probe: f64,
}

impl Speeds {
    /// From the largest |v|² and the probe of each lane.
    #[inline(always)]
    pub fn of<L: Lanes>(fastest: L, probe: L) -> Self {
        let mut lanes = lane_buffer::<L>();
        fastest.store(&mut lanes);
        let largest_squared = lanes.iter().map(|s| s.to_f64()).fold(0.0, f64::max);
        probe.store(&mut lanes);
        Speeds {
            largest_squared,
            probe: lanes[..L::WIDTH].iter().map(|s| s.to_f64()).sum(),
        }
    }
}

impl Sum for Speeds {
    fn sum<I: Iterator<Item = Speeds>>(all: I) -> Self {
        all.fold(Speeds::default(), |sum, next| Speeds {
            largest_squared: sum.largest_squared.max(next.largest_squared),
            probe: sum.probe + next.probe,
        })
    }
}

impl<L: Lanes> Pass<L> for AdvancePass<'_, L::Scalar> {
    type Out = Speeds;

    #[inline(always)]
    fn run(self) -> Speeds {
        let dt = L::splat(self.step.dt.to_f64());
        let half = dt * L::splat(0.5);
        let g = splat(self.step.gravity);
        let no_field = Vec3::zero();
        let drag = L::splat(self.step.drag.to_f64());
        let (mut fastest, mut probe) = (L::zero(), L::zero());
        for at in (0..self.motion.len()).step_by(L::WIDTH) {
            let mut row: [L; 16] = L::load_rows(&self.motion[at..]);
            let mut tail: [L; 4] = L::load_rows(&self.tail[at..]);
            let load: [L; 8] = L::load_rows(&self.load[at..]);
            let (force, torque) = (vector(&load, 0), vector(&load, 4));
            let mut v = vector(&row, motion::V);
            let mut w = vector(&row, motion::W);
            if self.close {
                v = laws::motion::kick(v, force, load[3], g, drag, half);
                w = laws::motion::kick(w, torque, load[7], no_field, drag, half);
            }
            if self.open {
                v = laws::motion::kick(v, force, load[3], g, drag, half);
                w = laws::motion::kick(w, torque, load[7], no_field, drag, half);
                let moved = v * dt;
                for (k, step) in [moved.x, moved.y, moved.z].into_iter().enumerate() {
                    let (high, low) = (motion::P + k, motion::LOW[k]);
                    (row[high], row[low]) = laws::motion::add_to_pair(row[high], row[low], step);
                }
                let (q, left) = laws::motion::turn(quaternion(&row), vector(&tail, 0), w * dt);
                put(&mut row, motion::Q, q.v);
                row[motion::Q + 3] = q.w;
                put(&mut tail, 0, left);
                L::store_rows(tail, &mut self.tail[at..]);
            }
            put(&mut row, motion::V, v);
            put(&mut row, motion::W, w);
            L::store_rows(row, &mut self.motion[at..]);
            let speed = v.dot(v);
            fastest = fastest.max(speed);
            // Zero times a finite number is zero; NaN and infinity propagate.
            probe = probe + (speed + w.dot(w) + row[0] + row[1] + row[2]) * L::zero();
        }
        Speeds::of(fastest, probe)
    }
}
