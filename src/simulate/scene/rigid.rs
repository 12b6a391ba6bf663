//! Free rigid bodies: one position, rotation, velocity and angular momentum for all elements of a body.
//!
//! Forces on the elements from contacts and from outside add up to a force and a torque on the body; forces
//! between its own elements are not computed; `rigid_body` moves each body. Positions of its elements follow
//! from their packed positions, as those of a clamp do, never from the previous step.
//!
//! Bodies use double precision whatever the precision of the run. Sums run over fixed blocks of elements and
//! then over the blocks in order, so the number of threads does not change a bit.

use crate::parallel::prelude::*;
use glam::DVec3;

use crate::math::Scalar;
use crate::simulate::bonded::motion_pass::StepParameters;
use crate::simulate::bonded::system::{LoadRow, MotionRow, System, TailRow};
use crate::simulate::error::{SimulateError, StateError};
use crate::simulate::scene::clamps::{DrivenElement, RigidPose, place, reach};
use crate::simulate::scene::reactions::{AttachedElements, Wrench};
use crate::simulate::scene::rigid_body::{BODY_NUMBERS, BodyMotion, BodyPart, Fields, RigidBody};
use crate::spec::Pipeline;

/// Elements per block of a sum.
const BLOCK: usize = 1024;

/// A free rigid body and its elements.
#[derive(Clone, Debug)]
struct FreeBody {
    elements: Vec<u32>,
    /// From the centre of mass to each element at rest, m.
    arms: Vec<DVec3>,
    /// Largest distance of the elements from the centre, m.
    reach: f64,
    body: RigidBody,
}

/// All free rigid bodies of a run.
#[derive(Clone, Debug, Default)]
pub struct RigidBodies {
    bodies: Vec<FreeBody>,
    /// Elements of all bodies, ascending.
    driven_elements: Vec<DrivenElement>,
}

/// Number of the rigid piece of the elements of a body: one higher than the body; 0 if the body is not rigid.
pub fn piece_of(body: u32, pipeline: &Pipeline) -> u32 {
    match pipeline.bodies.get(body as usize) {
        Some(found) if found.rigid => body + 1,
        _ => 0,
    }
}

impl RigidBodies {
    /// Takes over the elements of free rigid bodies: their own rows get inverse masses of zero, and in
    /// contacts they have the mass of their body. A body that one clamp holds as a whole belongs to the
    /// clamp. `parts` has the elements of all rigid bodies in ascending order.
    ///
    /// # Errors
    /// A clamp that holds only part of a rigid body.
    pub fn new<S: Scalar>(
        parts: &[(u32, BodyPart)],
        pipeline: &Pipeline,
        attached_elements: &[AttachedElements],
        system: &mut System<S>,
        load: &mut [LoadRow<S>],
    ) -> Result<Self, SimulateError> {
        let mut all = RigidBodies::default();
        for (number, body) in (1..).zip(&pipeline.bodies).filter(|(_, body)| body.rigid) {
            let pieces = system.rigid().pieces();
            let own = parts
                .iter()
                .filter(|part| pieces[part.0 as usize] == number);
            let own: Vec<(u32, BodyPart)> = own.copied().collect();
            let clamps = pipeline.attachments.iter().zip(attached_elements);
            let mut clamps = clamps.filter(|(one, held)| held.clamps && one.body == body.name);
            if let Some((clamp, held)) = clamps.next() {
                if held.elements.len() < own.len() {
                    return Err(SimulateError::PartClamped {
                        attachment: clamp.name.clone(),
                        body: body.name.clone(),
                        held: held.elements.len(),
                        count: own.len(),
                    });
                }
                continue;
            }
            if own.is_empty() {
                continue;
            }
            let free = FreeBody::new(&own);
            for &(element, part) in &own {
                let i = element as usize;
                system.inverse_mass[i] = S::from_f64(free.body.inverse_mass);
                (load[i].0[3], load[i].0[7]) = (S::default(), S::default());
                all.driven_elements.push(DrivenElement {
                    element,
                    clamp: all.bodies.len() as u32,
                    rest: part.place,
                });
            }
            all.bodies.push(free);
        }
        all.driven_elements.sort_unstable_by_key(|one| one.element);
        Ok(all)
    }

    /// Whether there are free rigid bodies.
    pub fn any(&self) -> bool {
        !self.bodies.is_empty()
    }

    /// Elements of all bodies, ascending.
    pub fn elements(&self) -> Vec<u32> {
        self.driven_elements.iter().map(|one| one.element).collect()
    }

    /// Applies the second kick of the current step (`close`), then the first kick and the drift of the next
    /// (`open`). `load` holds the loads on the elements.
    pub fn advance<S: Scalar>(
        &mut self,
        step: &StepParameters<S>,
        (close, open): (bool, bool),
        load: &[LoadRow<S>],
    ) {
        let dt = step.dt.to_f64();
        let fields = Fields {
            gravity: DVec3::from_array(step.gravity.to_f64()),
            drag: step.drag.to_f64(),
        };
        for one in &mut self.bodies {
            let wrench = one.wrench(load);
            for _ in 0..u32::from(close) + u32::from(open) {
                one.body.kick(wrench, &fields, dt);
            }
            if open {
                one.body.drift(dt);
            }
        }
    }

    /// Hands bodies with their elements (ascending) over to another owner, which moves them from now on: all but those
    /// that have one of the elements for which `held` is true.
    pub fn take(&mut self, held: impl Fn(u32) -> bool) -> Vec<(Vec<u32>, RigidBody)> {
        let (mut numbers, mut taken) = (Vec::new(), Vec::new());
        for one in std::mem::take(&mut self.bodies) {
            let stays = one.elements.iter().any(|&element| held(element));
            numbers.push(stays.then_some(self.bodies.len() as u32));
            match stays {
                true => self.bodies.push(one),
                false => taken.push((one.elements, one.body)),
            }
        }
        self.driven_elements.retain_mut(|one| {
            let number = numbers[one.clamp as usize];
            one.clamp = number.unwrap_or_default();
            number.is_some()
        });
        taken
    }

    /// Poses of all bodies.
    pub fn poses<S: Scalar>(&self) -> Vec<RigidPose<S>> {
        let bodies = self.bodies.iter();
        bodies
            .map(|one| RigidPose::new(one.body.centre, one.body.pose()))
            .collect()
    }

    /// Upper bound on the distance that any of their elements moves between two times, m.
    pub fn travel<S>(&self, before: &[RigidPose<S>], now: &[RigidPose<S>]) -> f64 {
        let both = before.iter().zip(now).zip(&self.bodies);
        both.map(|((before, now), body)| before.travel(now, body.reach))
            .fold(0.0, f64::max)
    }

    /// Sets the rows of their elements to the positions that the poses prescribe; row 0 belongs to element
    /// `first`.
    pub fn place<S: Scalar>(
        &self,
        poses: &[RigidPose<S>],
        first: usize,
        motion: &mut [MotionRow<S>],
        tail: &mut [TailRow<S>],
    ) {
        place(&self.driven_elements, poses, first, motion, tail);
    }

    /// Numbers of all bodies for a state.
    pub fn pack(&self) -> Vec<[f64; BODY_NUMBERS]> {
        let bodies = self.bodies.iter();
        bodies.map(|one| one.body.moving.to_numbers()).collect()
    }

    /// Restores the bodies from a state.
    pub fn unpack(&mut self, state: &[[f64; BODY_NUMBERS]]) -> Result<(), StateError> {
        if state.len() != self.bodies.len() {
            return Err(StateError::Length {
                what: "rigid bodies",
                found: state.len(),
                expected: self.bodies.len(),
            });
        }
        for (one, numbers) in self.bodies.iter_mut().zip(state) {
            one.body.moving = BodyMotion::from_numbers(numbers);
        }
        Ok(())
    }
}

impl FreeBody {
    /// Body of these elements at their packed positions, with their total momentum and angular momentum.
    fn new(elements: &[(u32, BodyPart)]) -> Self {
        let (elements, parts): (Vec<u32>, Vec<BodyPart>) = elements.iter().copied().unzip();
        let body = RigidBody::new(&parts);
        let arms: Vec<DVec3> = parts.iter().map(|part| part.place - body.centre).collect();
        FreeBody {
            reach: reach(arms.iter().copied(), DVec3::ZERO),
            body,
            arms,
            elements,
        }
    }

    /// Force and torque on the body about its centre of mass.
    fn wrench<S: Scalar>(&self, load: &[LoadRow<S>]) -> Wrench {
        let block = |(elements, arms): (&[u32], &[DVec3])| {
            let mut sum = Wrench::default();
            for (&i, arm) in elements.iter().zip(arms) {
                let row = &load[i as usize].0;
                let vector = |at: usize| DVec3::from_array([0, 1, 2].map(|k| row[at + k].to_f64()));
                let (force, torque) = (vector(0), vector(4));
                // Most elements have no contact.
                if force != DVec3::ZERO || torque != DVec3::ZERO {
                    sum += Wrench::at(self.body.moving.rotation * *arm, force, torque);
                }
            }
            sum
        };
        let blocks: Vec<Wrench> = match self.elements.len() <= BLOCK {
            true => vec![block((&self.elements, &self.arms))],
            false => {
                let elements = self.elements.par_chunks(BLOCK);
                elements
                    .zip(self.arms.par_chunks(BLOCK))
                    .map(block)
                    .collect()
            }
        };
        blocks.into_iter().fold(Wrench::default(), |a, b| a + b)
    }
}
