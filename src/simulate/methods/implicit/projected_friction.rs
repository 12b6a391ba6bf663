//! Friction applied after a step: contacts reduce the velocities and spins of their elements, one after
//! another in pair order.

use glam::DVec3;

use super::start::StepStart;
use super::touch::ActiveContact;
use crate::laws::projection::impulse;
use crate::math::Vec3;
use crate::simulate::bonded::rows::put;
use crate::simulate::bonded::system::{System, motion};
use crate::simulate::contact::chunk::COLLIDER;
use crate::simulate::scene::clamps::RigidPose;
use crate::simulate::scene::colliders::PosedCollider;
use crate::simulate::scene::reactions::{Supports, Wrench};

/// The step that friction is applied to.
pub struct ProjectedFriction<'a> {
    /// Start of the step.
    pub start: &'a StepStart,
    /// Colliders at the time of the solution.
    pub colliders: &'a [PosedCollider],
    /// Driven clamps at that time.
    pub poses: &'a [RigidPose<f64>],
    /// Colliders and attachments.
    pub supports: &'a Supports,
    /// Length of the step, s.
    pub h: f64,
}

fn glam(v: Vec3<f64>) -> DVec3 {
    DVec3::from_array(v.to_f64())
}

impl ProjectedFriction<'_> {
    /// Changes velocities and spins. Adds the impulses on colliders and attachments to `impulses`, N s and N
    /// m s.
    pub fn apply(
        &self,
        active: &[ActiveContact],
        system: &mut System<f64>,
        impulses: &mut [Wrench],
    ) {
        for pair in active {
            let [slide, roll] = pair.max_friction.map(|cap| cap * self.h);
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
                let wall = &self.colliders[(pair.j - COLLIDER) as usize];
                let (.., surface) = wall.pose.surface(&wall.solid, system.position(i));
                (v, w) = (v - surface, w - wall.pose.spin);
            }
            let n = glam(pair.n);
            let across = v - n * v.dot(n);
            let of =
                |v: DVec3, cap, inverse| glam(impulse(Vec3::from_f64(v.to_array()), cap, inverse));
            let (push, turn) = (of(across, slide, mass), of(w, roll, inertia));
            self.add_impulse(i, system, (push, turn), impulses);
            match second {
                Some(j) => self.add_impulse(j, system, (-push, -turn), impulses),
                None => {
                    let wall = (pair.j - COLLIDER) as usize;
                    let arm = system.position(i) - self.colliders[wall].pose.position;
                    impulses[wall] += Wrench::at(arm, -push, -turn);
                }
            }
        }
    }

    /// Applies an impulse to an element; a held one passes it on to its attachment.
    fn add_impulse(
        &self,
        i: usize,
        system: &mut System<f64>,
        (push, turn): (DVec3, DVec3),
        impulses: &mut [Wrench],
    ) {
        let [mass, inertia] = self.start.inverse(i);
        if mass == 0.0 {
            if let Some(held) = self.supports.clamped_element(i as u32) {
                let at = self.supports.attachment(held.attachment);
                impulses[at] += held.clamp_wrench(held.share(self.poses, push, turn));
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
