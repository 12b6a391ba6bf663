//! The start of an implicit step, and the inertia that pulls elements towards their free motion.
//!
//! ```text
//! Φ_inertia = m/(2h²) |p − p̂|² − 4I/h² q·q̂      p̂ = p + h v,  q̂ = rotation_from_vector(h ω/2) q
//! ```
//! the energy of Lu 2025, eq. 5 and 6, with M_s = diag(m, m, m, 4 I): for unit quaternions |q − q̂|² = 2 − 2
//! q·q̂. Here q̂ is that of a free rotation, so that a spinning ball keeps its spin; with q + h q̇ of the
//! paper it does not. Velocity changes follow from the balance of the step, so momentum and spin change by
//! forces and torques alone.

use crate::parallel::prelude::*;
use glam::DVec3;

use crate::math::{Quat, Vec3};
use crate::simulate::bonded::rows::{put, quaternion};
use crate::simulate::bonded::softening::Softening;
use crate::simulate::bonded::system::{LoadRow, MotionRow, System, motion, position, set_position};
use crate::simulate::contact::chunk::SpringEntry;
use crate::solve::Six;

/// Least number of elements per parallel task.
const ELEMENTS: usize = 512;

/// Elements at the start of the step.
#[derive(Clone, Debug, Default)]
pub struct StepStart {
    /// Length of the step, s.
    pub step: f64,
    /// Positions at the start, m.
    pub position: Vec<DVec3>,
    /// Rotations at the start.
    pub rotation: Vec<Quat<f64>>,
    velocity: Vec<DVec3>,
    spin: Vec<DVec3>,
    /// Rotations after a step without torque.
    free_rotation: Vec<Quat<f64>>,
    inverse_mass: Vec<f64>,
    inverse_inertia: Vec<f64>,
    drag: f64,
    /// Contact springs at the start.
    pub springs: Vec<SpringEntry<f64>>,
    /// Expected accelerations; empty if unknown.
    acceleration: Vec<Acceleration>,
    /// What was left of the bonds.
    softening: Option<Softening<f64>>,
}

/// Acceleration, m/s², and angular acceleration, rad/s², of an element.
pub type Acceleration = [DVec3; 2];

/// Accelerations of the last steps, extrapolated to the next.
#[derive(Debug, Default)]
pub struct AccelerationHistory {
    last: Vec<Acceleration>,
    expected: Vec<Acceleration>,
}

impl AccelerationHistory {
    /// Records the accelerations of a step. They are extrapolated linearly from the last two steps: for
    /// smooth motions the guess is then so close that one iteration suffices.
    pub fn note(&mut self, now: Vec<Acceleration>) {
        let next = now.par_iter().zip(&self.last).with_min_len(ELEMENTS);
        let next = next.map(|(now, last)| [0, 1].map(|k| 2.0 * now[k] - last[k]));
        let next: Vec<Acceleration> = next.collect();
        self.expected = if next.is_empty() { now.clone() } else { next };
        self.last = now;
    }

    /// Expected accelerations of the next step; empty before the first.
    pub fn expected(&self) -> Vec<Acceleration> {
        self.expected.clone()
    }
}

/// Initial guess of a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// The positions at the start.
    Unmoved,
    /// Free motion over the step.
    FreeMotion,
    /// Motion with the expected accelerations.
    Accelerated,
}

/// Inertia's contribution to gradient and tangent of one element.
pub struct InertiaTerm {
    /// Derivatives with respect to dp and dθ, N and N m.
    pub gradient: Six,
    /// Second derivatives, N/m and N m.
    pub stiffness: [f64; 2],
}

fn vector(v: DVec3) -> Vec3<f64> {
    Vec3::from_f64(v.to_array())
}

/// The rotation given by a rotation vector of any length.
pub fn rotation_from_vector(phi: Vec3<f64>) -> Quat<f64> {
    let angle = phi.norm();
    let (sine, cosine) = (0.5 * angle).sin_cos();
    let scale = if angle > 1e-9 { sine / angle } else { 0.5 };
    Quat {
        v: phi * scale,
        w: cosine,
    }
}

/// The inverse of a unit quaternion.
pub fn conjugate(q: Quat<f64>) -> Quat<f64> {
    Quat { v: -q.v, w: q.w }
}

/// Sets the rotation of an element to a unit quaternion.
pub fn set_rotation(row: &mut MotionRow<f64>, q: Quat<f64>) {
    put(&mut row.0, motion::Q, q.v);
    row.0[motion::Q + 3] = q.w;
}

/// Evaluates `f` for every element.
fn map_elements<T: Send>(count: usize, f: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    let all = (0..count).into_par_iter().with_min_len(ELEMENTS);
    all.map(&f).collect()
}

/// Calls `f` with the row of every element that has an item in `with`.
fn for_each_row<T: Send>(
    system: &mut System<f64>,
    with: impl Indexed<Item = T>,
    f: impl Fn(usize, &mut MotionRow<f64>, T) + Sync + Send,
) {
    let rows = system.motion.par_iter_mut().zip(with).enumerate();
    let rows = rows.with_min_len(ELEMENTS);
    rows.for_each(|(i, (row, with))| f(i, row, with));
}

impl StepStart {
    /// The start of a step; `load` holds the inverse masses and inertias.
    pub fn new(
        system: &System<f64>,
        load: &[LoadRow<f64>],
        springs: Vec<SpringEntry<f64>>,
        acceleration: Vec<Acceleration>,
        (step, drag): (f64, f64),
    ) -> Self {
        let count = system.count;
        let ahead = |i| {
            let turn = rotation_from_vector(vector(system.spin(i) * step));
            turn.product(system.quaternion(i)).normalised()
        };
        StepStart {
            free_rotation: map_elements(count, ahead),
            step,
            drag,
            springs,
            acceleration,
            softening: system.bonds.softening.clone(),
            position: positions(system),
            rotation: map_elements(count, |i| system.quaternion(i)),
            velocity: map_elements(count, |i| system.velocity(i)),
            spin: map_elements(count, |i| system.spin(i)),
            inverse_mass: map_elements(count, |i| load[i].0[3]),
            inverse_inertia: map_elements(count, |i| load[i].0[7]),
        }
    }

    /// Whether an element is held (has no inverse mass).
    #[inline(always)]
    pub fn is_held(&self, i: usize) -> bool {
        self.inverse_mass[i] == 0.0
    }

    /// Inverse mass, 1/kg, and inverse inertia of an element; 0 if it is held.
    pub fn inverse(&self, i: usize) -> [f64; 2] {
        [self.inverse_mass[i], self.inverse_inertia[i]]
    }

    /// Whether accelerations are expected.
    pub fn expects_acceleration(&self) -> bool {
        !self.acceleration.is_empty()
    }

    /// Moves free elements to an initial guess.
    pub fn apply_guess(&self, system: &mut System<f64>, guess: Guess) {
        let h = self.step;
        let begin = self.position.par_iter().zip(&self.rotation);
        for_each_row(system, begin, |i, row, (&p, &q)| {
            if self.is_held(i) {
                return;
            }
            let (mut p, mut q) = (p, q);
            if guess != Guess::Unmoved {
                (p, q) = (p + self.velocity[i] * h, self.free_rotation[i]);
            }
            if guess == Guess::Accelerated {
                let [acceleration, turn] = self.acceleration[i];
                p += acceleration * (h * h);
                q = rotation_from_vector(vector(turn * (h * h)))
                    .product(q)
                    .normalised();
            }
            set_position(row, p);
            set_rotation(row, q);
        });
    }

    /// Restores positions, rotations and velocities, and what was left of the bonds.
    pub fn undo(&self, system: &mut System<f64>) {
        system.bonds.softening.clone_from(&self.softening);
        let begin = self.position.par_iter().zip(&self.rotation);
        for_each_row(system, begin, |i, row, (&p, &q)| {
            set_position(row, p);
            set_rotation(row, q);
            put(&mut row.0, motion::V, vector(self.velocity[i]));
            put(&mut row.0, motion::W, vector(self.spin[i]));
        });
    }

    /// Imaginary part of q̂ q̄ and its real part, signs aligned.
    fn turned(&self, i: usize, q: Quat<f64>) -> (Vec3<f64>, f64) {
        let e = self.free_rotation[i].product(conjugate(q));
        let sign = if e.w < 0.0 { -1.0 } else { 1.0 };
        (e.v * sign, e.w * sign)
    }

    /// Inertia term of a free element at its current position.
    pub fn inertia(&self, system: &System<f64>, i: usize) -> InertiaTerm {
        let h = self.step;
        let (m, inertia) = (1.0 / self.inverse_mass[i], 1.0 / self.inverse_inertia[i]);
        let moved = system.position(i) - self.position[i];
        let off = moved - self.velocity[i] * h;
        let pull = (off / h + moved * self.drag) * (m / h);
        let (e, real) = self.turned(i, system.quaternion(i));
        let mut torque = e * (-2.0 * inertia / (h * h));
        let mut turn = inertia / (h * h) * real;
        if self.drag > 0.0 {
            let by = crate::math::quat::rotation_between(self.rotation[i], system.quaternion(i));
            torque = torque + by * (self.drag * inertia / h);
            turn += self.drag * inertia / h;
        }
        InertiaTerm {
            gradient: [pull.x, pull.y, pull.z, torque.x, torque.y, torque.z],
            stiffness: [m / (h * h) + self.drag * m / h, turn],
        }
    }

    /// Inertia of a free element whose quaternion may have any length: 4I/h², N m, and q̂ with the sign of
    /// `q`.
    pub fn free_inertia(&self, i: usize, q: Quat<f64>) -> (f64, Quat<f64>) {
        let ahead = self.free_rotation[i];
        let sign = if ahead.dot(q) < 0.0 { -1.0 } else { 1.0 };
        let aligned = Quat {
            v: ahead.v * sign,
            w: ahead.w * sign,
        };
        let inertia = 1.0 / self.inverse_inertia[i];
        (4.0 * inertia / (self.step * self.step), aligned)
    }

    /// Sets the velocities of free elements after the step and returns their accelerations. If
    /// `extrapolated`, the step was half of one: positions and velocities are extrapolated by the same
    /// amount.
    pub fn finish(&self, system: &mut System<f64>, extrapolated: bool) -> Vec<Acceleration> {
        let h = self.step;
        let mut acceleration = vec![Acceleration::default(); system.count];
        for_each_row(
            system,
            acceleration.par_iter_mut(),
            |i, row, acceleration| {
                if self.is_held(i) {
                    return;
                }
                let (p, q) = (position(row), quaternion(&row.0));
                let (e, _) = self.turned(i, q);
                let mut v = (p - self.position[i]) / h;
                let mut w = self.spin[i] - DVec3::from_array((e * (2.0 / h)).to_f64());
                *acceleration = [(v - self.velocity[i]) / h, (w - self.spin[i]) / h];
                if extrapolated {
                    v = 2.0 * v - self.velocity[i];
                    w = 2.0 * w - self.spin[i];
                    set_position(row, 2.0 * p - self.position[i]);
                    let twice = q.product(conjugate(self.rotation[i])).product(q);
                    set_rotation(row, twice.normalised());
                }
                put(&mut row.0, motion::V, vector(v));
                put(&mut row.0, motion::W, vector(w));
            },
        );
        acceleration
    }
}

/// Positions of all elements, m.
pub fn positions(system: &System<f64>) -> Vec<DVec3> {
    map_elements(system.count, |i| system.position(i))
}

/// Moves elements by `factor` times `found`; its rotations are lengths (times the radius).
pub fn displace(system: &mut System<f64>, found: &[Six], factor: f64) {
    let radii = &system.tail;
    let by = found.par_iter().zip(radii);
    let rows = system.motion.par_iter_mut().zip(by);
    rows.with_min_len(ELEMENTS).for_each(|(row, (by, tail))| {
        let [x, y, z, a, b, c] = by.map(|value| value * factor);
        set_position(row, position(row) + DVec3::new(x, y, z));
        let turn = rotation_from_vector(Vec3::new(a, b, c) * (1.0 / tail.0[3]));
        let q = turn.product(quaternion(&row.0)).normalised();
        set_rotation(row, q);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn velocities_are_expected_to_change_as_they_began_to() {
        let mut accelerations = AccelerationHistory::default();
        assert_eq!(accelerations.expected(), Vec::<Acceleration>::new());
        accelerations.note(vec![[DVec3::X, DVec3::Y]]);
        assert_eq!(accelerations.expected(), [[DVec3::X, DVec3::Y]]);
        accelerations.note(vec![[3.0 * DVec3::X, DVec3::ZERO]]);
        assert_eq!(accelerations.expected(), [[5.0 * DVec3::X, -DVec3::Y]]);
    }
}
