//! Motion of one chunk of cells: kick and drift of velocity Verlet, rotation of each cell by RATTLE.

use super::columns::inertia;
use crate::laws::{self, rattle};
use crate::math::lanes::LaneRow;
use crate::math::{Lanes, Mask, Mat3, Pass, Quat, Scalar, Vec3};
use crate::simulate::bonded::motion_pass::{Speeds, StepParameters};
use crate::simulate::bonded::rows::{put, quaternion, splat, vector};
use crate::simulate::bonded::system::{LoadRow, MotionRow, TailRow, motion};

/// Most iterations of a rotation: at the largest rotation that converges, each gains a factor of two or more.
const ITERATIONS: usize = 60;

/// The motion pass of cells.
pub struct TurnPass<'a, S> {
    /// Parameters of the step.
    pub step: StepParameters<S>,
    /// Whether the last step's second kick is due.
    pub close: bool,
    /// Whether a new step begins: first kick, drift and rotation.
    pub open: bool,
    /// Motion of the chunk.
    pub motion: &'a mut [MotionRow<S>],
    /// Left-over rotations of the chunk.
    pub tail: &'a mut [TailRow<S>],
    /// Loads of the chunk.
    pub load: &'a [LoadRow<S>],
    /// Moments and axes of the chunk.
    pub inertia: &'a [LaneRow<S, 16>],
    /// Angular momenta of the chunk.
    pub momentum: &'a mut [LaneRow<S, 4>],
}

/// Inertia of a row of cells, one per lane.
#[derive(Clone, Copy)]
struct CellInertia<L> {
    moments: Vec3<L>,
    inverse: Vec3<L>,
    axes: Quat<L>,
}

impl<L: Lanes> CellInertia<L> {
    /// Principal axes as columns, world frame; `q` the rotation since rest.
    #[inline(always)]
    fn frame(&self, q: Quat<L>) -> Mat3<L> {
        Mat3::rotation(q.product(self.axes))
    }

    /// Angular velocity ω, world frame, of a cell with axes `frame`.
    #[inline(always)]
    fn spin(&self, frame: Mat3<L>, momentum: Vec3<L>) -> Vec3<L> {
        let own = frame.transposed().times(momentum);
        frame.times(Vec3::new(
            own.x * self.inverse.x,
            own.y * self.inverse.y,
            own.z * self.inverse.z,
        ))
    }

    /// Rotation vector of the step, principal axes; `momentum` = Δt Π there.
    #[inline(always)]
    fn turn(&self, momentum: Vec3<L>) -> Vec3<L> {
        let mut phi = Vec3::new(
            momentum.x * self.inverse.x,
            momentum.y * self.inverse.y,
            momentum.z * self.inverse.z,
        );
        // Each lane stops once it has converged, so that it does not depend on the other lanes.
        let mut last = L::splat(1e30);
        for _ in 0..ITERATIONS {
            let next = rattle::next(phi, momentum, self.moments, self.inverse);
            let step = next - phi;
            let size = step.sum_of_sizes();
            let closer = size.lt(last);
            phi = Vec3::select(closer, next, phi);
            last = L::select(closer, size, L::zero());
            // Only rounding is left.
            if (last.lt(L::splat(1e-37))).all() {
                break;
            }
        }
        phi
    }
}

impl<L: Lanes> Pass<L> for TurnPass<'_, L::Scalar> {
    type Out = Speeds;

    #[inline(always)]
    fn run(self) -> Speeds {
        let dt = L::splat(self.step.dt.to_f64());
        let half = dt * L::splat(0.5);
        let (g, none) = (splat(self.step.gravity), Vec3::zero());
        let drag = L::splat(self.step.drag.to_f64());
        let (mut fastest, mut probe) = (L::zero(), L::zero());
        for at in (0..self.motion.len()).step_by(L::WIDTH) {
            let mut row: [L; 16] = L::load_rows(&self.motion[at..]);
            let mut tail: [L; 4] = L::load_rows(&self.tail[at..]);
            let load: [L; 8] = L::load_rows(&self.load[at..]);
            let own: [L; 16] = L::load_rows(&self.inertia[at..]);
            let mut momentum: [L; 4] = L::load_rows(&self.momentum[at..]);
            let body = CellInertia {
                moments: vector(&own, inertia::MOMENTS),
                inverse: vector(&own, inertia::INVERSE),
                axes: quaternion_at(&own, inertia::AXES),
            };
            // 1 where the cell turns freely.
            let free = L::select(L::zero().lt(load[7]), L::splat(1.0), L::zero());
            let (force, torque) = (vector(&load, 0), vector(&load, 4));
            let mut v = vector(&row, motion::V);
            let mut l = vector(&momentum, 0);
            let kicks = usize::from(self.close) + usize::from(self.open);
            for _ in 0..kicks {
                v = laws::motion::kick(v, force, load[3], g, drag, half);
                l = laws::motion::kick(l, torque, free, none, drag, half);
            }
            let mut frame = body.frame(quaternion(&row));
            if self.open {
                let moved = v * dt;
                for (k, step) in [moved.x, moved.y, moved.z].into_iter().enumerate() {
                    let (high, low) = (motion::P + k, motion::LOW[k]);
                    (row[high], row[low]) = laws::motion::add_to_pair(row[high], row[low], step);
                }
                let phi = body.turn(frame.transposed().times(l) * dt);
                let q = quaternion(&row);
                let (q, left) = laws::motion::turn(q, vector(&tail, 0), frame.times(phi));
                frame = body.frame(q);
                put(&mut row, motion::Q, q.v);
                row[motion::Q + 3] = q.w;
                put(&mut tail, 0, left);
                L::store_rows(tail, &mut self.tail[at..]);
            }
            let w = body.spin(frame, l);
            put(&mut momentum, 0, l);
            L::store_rows(momentum, &mut self.momentum[at..]);
            put(&mut row, motion::V, v);
            let turns = L::zero().lt(free);
            let w = Vec3::select(turns, w, vector(&row, motion::W));
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

#[inline(always)]
fn quaternion_at<L: Lanes>(row: &[L; 16], at: usize) -> Quat<L> {
    Quat::new(row[at], row[at + 1], row[at + 2], row[at + 3])
}
