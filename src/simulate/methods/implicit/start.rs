//! Where an implicit step begins, and the inertia that holds elements to where they would go alone.
//!
//! ```text
//! Φ_inertia = m/(2h²) |p − p̂|² − 4I/h² q·q̂      p̂ = p + h v,  q̂ = exp(h ω/2) q
//! ```
//! the energy of Lu 2025, eq. 5 and 6, with M_s = diag(m, m, m, 4 I): on the unit quaternions |q − q̂|² = 2 −
//! 2 q·q̂. Here q̂ is that of a free turn, so that a spinning ball keeps its spin, which q + h q̇ of the
//! paper does not. What forces change velocities by follows from the balance of the step, so momentum and
//! spin change by forces and torques alone.

use crate::parallel::prelude::*;
use glam::DVec3;

use crate::math::{Quat, Vec3};
use crate::simulate::bonded::rows::{put, quaternion};
use crate::simulate::bonded::system::{Load, Motion, System, motion, position, set_position};
use crate::simulate::contact::chunk::SpringEntry;
use crate::solve::Six;

/// Elements that a thread takes at a time, at least.
const ELEMENTS: usize = 512;

/// Elements as they were when the step began.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// Length of the step, s.
    pub step: f64,
    /// Positions, m.
    pub position: Vec<DVec3>,
    /// Rotations.
    pub rotation: Vec<Quat<f64>>,
    velocity: Vec<DVec3>,
    spin: Vec<DVec3>,
    /// Rotations after a free turn.
    ahead: Vec<Quat<f64>>,
    inverse_mass: Vec<f64>,
    inverse_inertia: Vec<f64>,
    drag: f64,
    /// What contacts remember.
    pub springs: Vec<SpringEntry<f64>>,
    /// How velocities and spins are expected to change; empty where that is not known.
    push: Vec<Push>,
}

/// How velocity and spin of an element change, m/s² and rad/s².
pub type Push = [DVec3; 2];

/// How velocities and spins changed in the last steps, from which follows how they may in the next.
#[derive(Debug, Default)]
pub struct Pushes {
    last: Vec<Push>,
    expected: Vec<Push>,
}

impl Pushes {
    /// Notes those of a step. They go on as they went from the one before, where there was one: solutions of
    /// smooth motions then begin so near to where they end that one iteration is enough.
    pub fn note(&mut self, now: Vec<Push>) {
        let next = now.par_iter().zip(&self.last).with_min_len(ELEMENTS);
        let next = next.map(|(now, last)| [0, 1].map(|k| 2.0 * now[k] - last[k]));
        let next: Vec<Push> = next.collect();
        self.expected = if next.is_empty() { now.clone() } else { next };
        self.last = now;
    }

    /// Of the next step; empty after none.
    pub fn expected(&self) -> Vec<Push> {
        self.expected.clone()
    }
}

/// Where a solution begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// Where elements are.
    Still,
    /// Where free elements would be after the step.
    Ahead,
    /// The same with velocities that change as is expected.
    Pushed,
}

/// Inertia's part of gradient and tangent for one element.
pub struct Inertia {
    /// Derivatives by dp and dθ, N and N m.
    pub gradient: Six,
    /// Second derivatives, N/m and N m.
    pub stiffness: [f64; 2],
}

fn vector(v: DVec3) -> Vec3<f64> {
    Vec3::from_f64(v.to_array())
}

/// The rotation by a rotation vector of any length.
fn exp(phi: Vec3<f64>) -> Quat<f64> {
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

/// Turns an element to where a unit quaternion says.
pub fn set_rotation(row: &mut Motion<f64>, q: Quat<f64>) {
    put(&mut row.0, motion::Q, q.v);
    row.0[motion::Q + 3] = q.w;
}

/// What `f` makes of every element.
fn of_all<T: Send>(count: usize, f: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    let all = (0..count).into_par_iter().with_min_len(ELEMENTS);
    all.map(&f).collect()
}

/// Lets `f` change the row of every element for which there is something in `with`.
fn change<T: Send>(
    system: &mut System<f64>,
    with: impl Indexed<Item = T>,
    f: impl Fn(usize, &mut Motion<f64>, T) + Sync + Send,
) {
    let rows = system.motion.par_iter_mut().zip(with).enumerate();
    let rows = rows.with_min_len(ELEMENTS);
    rows.for_each(|(i, (row, with))| f(i, row, with));
}

impl Start {
    /// Of a system; loads know what each element weighs.
    pub fn new(
        system: &System<f64>,
        load: &[Load<f64>],
        springs: Vec<SpringEntry<f64>>,
        push: Vec<Push>,
        (step, drag): (f64, f64),
    ) -> Self {
        let count = system.count;
        let ahead = |i| {
            let turn = exp(vector(system.spin(i) * step));
            turn.product(system.quaternion(i)).normalised()
        };
        Start {
            ahead: of_all(count, ahead),
            step,
            drag,
            springs,
            push,
            position: places(system),
            rotation: of_all(count, |i| system.quaternion(i)),
            velocity: of_all(count, |i| system.velocity(i)),
            spin: of_all(count, |i| system.spin(i)),
            inverse_mass: of_all(count, |i| load[i].0[3]),
            inverse_inertia: of_all(count, |i| load[i].0[7]),
        }
    }

    /// Whether an element is held.
    #[inline(always)]
    pub fn is_held(&self, i: usize) -> bool {
        self.inverse_mass[i] == 0.0
    }

    /// Inverse mass, 1/kg, and inverse inertia of an element; 0 where it is held.
    pub fn inverse(&self, i: usize) -> [f64; 2] {
        [self.inverse_mass[i], self.inverse_inertia[i]]
    }

    /// Whether it is expected how velocities change.
    pub fn is_pushed(&self) -> bool {
        !self.push.is_empty()
    }

    /// Puts free elements where a solution begins.
    pub fn place(&self, system: &mut System<f64>, guess: Guess) {
        let h = self.step;
        let begin = self.position.par_iter().zip(&self.rotation);
        change(system, begin, |i, row, (&p, &q)| {
            if self.is_held(i) {
                return;
            }
            let (mut p, mut q) = (p, q);
            if guess != Guess::Still {
                (p, q) = (p + self.velocity[i] * h, self.ahead[i]);
            }
            if guess == Guess::Pushed {
                let [push, turn] = self.push[i];
                p += push * (h * h);
                q = exp(vector(turn * (h * h))).product(q).normalised();
            }
            set_position(row, p);
            set_rotation(row, q);
        });
    }

    /// Puts everything back.
    pub fn undo(&self, system: &mut System<f64>) {
        let begin = self.position.par_iter().zip(&self.rotation);
        change(system, begin, |i, row, (&p, &q)| {
            set_position(row, p);
            set_rotation(row, q);
            put(&mut row.0, motion::V, vector(self.velocity[i]));
            put(&mut row.0, motion::W, vector(self.spin[i]));
        });
    }

    /// Imaginary part of q̂ q̄ and its real part, signs aligned.
    fn turned(&self, i: usize, q: Quat<f64>) -> (Vec3<f64>, f64) {
        let e = self.ahead[i].product(conjugate(q));
        let sign = if e.w < 0.0 { -1.0 } else { 1.0 };
        (e.v * sign, e.w * sign)
    }

    /// Of a free element where it is.
    pub fn inertia(&self, system: &System<f64>, i: usize) -> Inertia {
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
        Inertia {
            gradient: [pull.x, pull.y, pull.z, torque.x, torque.y, torque.z],
            stiffness: [m / (h * h) + self.drag * m / h, turn],
        }
    }

    /// Of a free element whose quaternion need not be of unit length: 4I/h², N m, and q̂ on the side of `q`.
    pub fn free_inertia(&self, i: usize, q: Quat<f64>) -> (f64, Quat<f64>) {
        let ahead = self.ahead[i];
        let sign = if ahead.dot(q) < 0.0 { -1.0 } else { 1.0 };
        let aligned = Quat {
            v: ahead.v * sign,
            w: ahead.w * sign,
        };
        let inertia = 1.0 / self.inverse_inertia[i];
        (4.0 * inertia / (self.step * self.step), aligned)
    }

    /// Velocities of free elements after the step, and how they changed in it. Where `extrapolated` the step
    /// was half of one: places and velocities go on as far as they came.
    pub fn finish(&self, system: &mut System<f64>, extrapolated: bool) -> Vec<Push> {
        let h = self.step;
        let mut push = vec![Push::default(); system.count];
        change(system, push.par_iter_mut(), |i, row, push| {
            if self.is_held(i) {
                return;
            }
            let (p, q) = (position(row), quaternion(&row.0));
            let (e, _) = self.turned(i, q);
            let mut v = (p - self.position[i]) / h;
            let mut w = self.spin[i] - DVec3::from_array((e * (2.0 / h)).to_f64());
            *push = [(v - self.velocity[i]) / h, (w - self.spin[i]) / h];
            if extrapolated {
                v = 2.0 * v - self.velocity[i];
                w = 2.0 * w - self.spin[i];
                set_position(row, 2.0 * p - self.position[i]);
                let twice = q.product(conjugate(self.rotation[i])).product(q);
                set_rotation(row, twice.normalised());
            }
            put(&mut row.0, motion::V, vector(v));
            put(&mut row.0, motion::W, vector(w));
        });
        push
    }
}

/// Where all elements are, m.
pub fn places(system: &System<f64>) -> Vec<DVec3> {
    of_all(system.count, |i| system.position(i))
}

/// Moves elements by `factor` times what was found, rotations as lengths (times the radius).
pub fn displace(system: &mut System<f64>, found: &[Six], factor: f64) {
    let radii = &system.tail;
    let by = found.par_iter().zip(radii);
    let rows = system.motion.par_iter_mut().zip(by);
    rows.with_min_len(ELEMENTS).for_each(|(row, (by, tail))| {
        let [x, y, z, a, b, c] = by.map(|value| value * factor);
        set_position(row, position(row) + DVec3::new(x, y, z));
        let turn = exp(Vec3::new(a, b, c) * (1.0 / tail.0[3]));
        let q = turn.product(quaternion(&row.0)).normalised();
        set_rotation(row, q);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn velocities_are_expected_to_change_as_they_began_to() {
        let mut pushes = Pushes::default();
        assert_eq!(pushes.expected(), Vec::<Push>::new());
        pushes.note(vec![[DVec3::X, DVec3::Y]]);
        assert_eq!(pushes.expected(), [[DVec3::X, DVec3::Y]]);
        pushes.note(vec![[3.0 * DVec3::X, DVec3::ZERO]]);
        assert_eq!(pushes.expected(), [[5.0 * DVec3::X, -DVec3::Y]]);
    }
}
