//! Friction after a step: what contacts take from the velocities and spins of their elements, one after
//! another in the order of pairs.

use glam::DVec3;

use super::start::Start;
use super::touch::Touching;
use crate::laws::projection::impulse;
use crate::math::Vec3;
use crate::simulate::bonded::rows::put;
use crate::simulate::bonded::system::{System, motion};
use crate::simulate::contact::chunk::COLLIDER;
use crate::simulate::scene::clamps::Hold;
use crate::simulate::scene::colliders::Obstacle;
use crate::simulate::scene::reactions::{Bearers, Wrench};

/// What a step was like.
pub struct Rubbing<'a> {
    /// Where it began.
    pub start: &'a Start,
    /// Colliders where it was solved.
    pub obstacles: &'a [Obstacle],
    /// Driven clamps there.
    pub holds: &'a [Hold<f64>],
    /// What bears.
    pub bearers: &'a Bearers,
    /// Its length, s.
    pub h: f64,
}

fn glam(v: Vec3<f64>) -> DVec3 {
    DVec3::from_array(v.to_f64())
}

impl Rubbing<'_> {
    /// Changes velocities and spins; what that does to bearers is added to `borne`, N s and N m s.
    pub fn rub(&self, touching: &[Touching], system: &mut System<f64>, borne: &mut [Wrench]) {
        for pair in touching {
            let [slide, roll] = pair.caps.map(|cap| cap * self.h);
            if slide == 0.0 && roll == 0.0 {
                continue;
            }
            let i = pair.i as usize;
            let (mut v, mut w) = (system.velocity(i), system.spin(i));
            let [mut mass, mut inertia] = self.start.inverse(i);
            let second = (pair.j < COLLIDER).then_some(pair.j as usize);
            if let Some(j) = second {
                (v, w) = (v - system.velocity(j), w - system.spin(j));
                let [of_j, turning] = self.start.inverse(j);
                (mass, inertia) = (mass + of_j, inertia + turning);
            } else {
                let wall = &self.obstacles[(pair.j - COLLIDER) as usize];
                let (.., surface) = wall.pose.surface(&wall.solid, system.position(i));
                (v, w) = (v - surface, w - wall.pose.spin);
            }
            let n = glam(pair.n);
            let across = v - n * v.dot(n);
            let of =
                |v: DVec3, cap, inverse| glam(impulse(Vec3::from_f64(v.to_array()), cap, inverse));
            let (push, turn) = (of(across, slide, mass), of(w, roll, inertia));
            self.give(i, system, (push, turn), borne);
            match second {
                Some(j) => self.give(j, system, (-push, -turn), borne),
                None => {
                    let wall = (pair.j - COLLIDER) as usize;
                    let arm = system.position(i) - self.obstacles[wall].pose.position;
                    borne[wall] += Wrench::at(arm, -push, -turn);
                }
            }
        }
    }

    /// Gives an element an impulse; one that is held gives it on to what holds it.
    fn give(
        &self,
        i: usize,
        system: &mut System<f64>,
        (push, turn): (DVec3, DVec3),
        borne: &mut [Wrench],
    ) {
        let [mass, inertia] = self.start.inverse(i);
        if mass == 0.0 {
            if let Some(held) = self.bearers.held_by(i as u32) {
                let at = self.bearers.attachment(held.attachment);
                borne[at] += held.borne(held.share(self.holds, push, turn));
            }
            return;
        }
        let v = system.velocity(i) + push * mass;
        let w = system.spin(i) + turn * inertia;
        let row = &mut system.motion[i].0;
        put(row, motion::V, Vec3::from_f64(v.to_array()));
        put(row, motion::W, Vec3::from_f64(w.to_array()));
    }
}
