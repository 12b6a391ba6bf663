//! Free rigid bodies: one position, rotation, velocity and angular momentum for all elements of a body.
//!
//! Forces on the elements from contacts and from outside add up to a force and a torque on the body; forces
//! between its own elements are not computed. The body takes the kicks and the drift of velocity Verlet like
//! a free element. Positions of its elements follow from their packed positions, as those of a clamp do,
//! never from the previous step. Mass and inertia are those of the elements plus the Steiner terms of their
//! distances from the centre of mass.
//!
//! Bodies use double precision whatever the precision of the run. Sums run over fixed blocks of elements and
//! then over the blocks in order, so the number of threads does not change a bit.

use crate::parallel::prelude::*;
use glam::{DQuat, DVec3};

use crate::columns::Elements;
use crate::geometry::solid::Pose;
use crate::laws::motion::kick;
use crate::laws::rigid::RigidInertia;
use crate::math::{Scalar, Vec3};
use crate::simulate::bonded::motion_pass::StepParameters;
use crate::simulate::bonded::rigid_mask::RigidMask;
use crate::simulate::bonded::system::{LoadRow, MotionRow, System, TailRow};
use crate::simulate::error::{SimulateError, StateError};
use crate::simulate::scene::clamps::{DrivenElement, RigidPose, place, reach};
use crate::simulate::scene::reactions::{AttachedElements, Wrench};
use crate::spec::Pipeline;

/// Elements per block of a sum.
const BLOCK: usize = 1024;

/// A free rigid body.
#[derive(Clone, Debug)]
struct FreeBody {
    elements: Vec<u32>,
    /// From the centre of mass to each element at rest, m.
    arms: Vec<DVec3>,
    /// Centre of mass at rest, m.
    centre: DVec3,
    /// Largest distance of the elements from the centre, m.
    reach: f64,
    inverse_mass: f64,
    top: RigidInertia,
    moving: BodyMotion,
}

/// Displacement, rotation and motion of a body.
#[derive(Clone, Copy, Debug)]
struct BodyMotion {
    /// Displacement of the centre of mass since packing, m.
    displacement: DVec3,
    rotation: DQuat,
    /// Velocity of the centre of mass, m/s.
    velocity: DVec3,
    /// Angular momentum about the centre of mass, kg m²/s.
    momentum: DVec3,
}

/// Numbers that a state stores for each body.
pub const BODY_NUMBERS: usize = 13;

/// All free rigid bodies of a run.
#[derive(Clone, Debug, Default)]
pub struct RigidBodies {
    bodies: Vec<FreeBody>,
    /// Elements of all bodies, ascending.
    driven_elements: Vec<DrivenElement>,
}

/// Mask of the elements that are rigid from the start: one piece per rigid body, numbered one higher than the
/// body.
pub fn mask(elements: &Elements, pipeline: &Pipeline) -> RigidMask {
    if !pipeline.bodies.iter().any(|body| body.rigid) {
        return RigidMask::default();
    }
    let number = |&body: &u32| match pipeline.bodies.get(body as usize) {
        Some(found) if found.rigid => body + 1,
        _ => 0,
    };
    RigidMask::new(elements.body.iter().map(number).collect())
}

impl RigidBodies {
    /// Takes over the elements of free rigid bodies: their own rows get inverse masses of zero, and in
    /// contacts they have the mass of their body. A body that one clamp holds as a whole belongs to the
    /// clamp.
    ///
    /// # Errors
    /// A clamp that holds only part of a rigid body.
    pub fn new<S: Scalar>(
        elements: &Elements,
        pipeline: &Pipeline,
        attached_elements: &[AttachedElements],
        system: &mut System<S>,
        load: &mut [LoadRow<S>],
    ) -> Result<Self, SimulateError> {
        let mut all = RigidBodies::default();
        for (number, body) in (1..).zip(&pipeline.bodies).filter(|(_, body)| body.rigid) {
            let pieces = (0..).zip(system.rigid().pieces());
            let own = pieces.filter_map(|(i, &piece)| (piece == number).then_some(i));
            let own: Vec<u32> = own.collect();
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
            let free = FreeBody::new(elements, own);
            for &element in &free.elements {
                let i = element as usize;
                system.inverse_mass[i] = S::from_f64(free.inverse_mass);
                (load[i].0[3], load[i].0[7]) = (S::default(), S::default());
                all.driven_elements.push(DrivenElement {
                    element,
                    clamp: all.bodies.len() as u32,
                    rest: DVec3::new(elements.x[i], elements.y[i], elements.z[i]),
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

    /// Applies the second kick of the current step (`close`), then the first kick and the drift of the next
    /// (`open`). `load` holds the loads on the elements.
    pub fn advance<S: Scalar>(
        &mut self,
        step: &StepParameters<S>,
        (close, open): (bool, bool),
        load: &[LoadRow<S>],
    ) {
        let dt = step.dt.to_f64();
        for body in &mut self.bodies {
            let wrench = body.wrench(load);
            for _ in 0..u32::from(close) + u32::from(open) {
                body.kick(wrench, step);
            }
            if open {
                let moving = &mut body.moving;
                moving.displacement += moving.velocity * dt;
                moving.rotation = body.top.turn(moving.rotation, moving.momentum, dt);
            }
        }
    }

    /// Poses of all bodies.
    pub fn poses<S: Scalar>(&self) -> Vec<RigidPose<S>> {
        let bodies = self.bodies.iter();
        bodies
            .map(|body| RigidPose::new(body.centre, body.pose()))
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
        bodies.map(|body| body.moving.to_numbers()).collect()
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
        for (body, numbers) in self.bodies.iter_mut().zip(state) {
            body.moving = BodyMotion::from_numbers(numbers);
        }
        Ok(())
    }
}

impl FreeBody {
    /// Body of these elements at their packed positions, with their total momentum and angular momentum.
    fn new(e: &Elements, elements: Vec<u32>) -> Self {
        let at = |i: u32| {
            let i = i as usize;
            DVec3::new(e.x[i], e.y[i], e.z[i])
        };
        let sum =
            |f: &dyn Fn(usize) -> DVec3| -> DVec3 { elements.iter().map(|&i| f(i as usize)).sum() };
        let mass: f64 = elements.iter().map(|&i| e.mass[i as usize]).sum();
        let centre = sum(&|i| e.mass[i] * at(i as u32)) / mass;
        let velocity = |i: usize| DVec3::new(e.vx[i], e.vy[i], e.vz[i]);
        let spin = |i: usize| DVec3::new(e.wx[i], e.wy[i], e.wz[i]);
        let arms: Vec<DVec3> = elements.iter().map(|&i| at(i) - centre).collect();
        let mut tensor = [[0.0; 3]; 3];
        for (&i, arm) in elements.iter().zip(&arms) {
            let (m, own, r) = (e.mass[i as usize], e.inertia[i as usize], arm.to_array());
            for (j, row) in tensor.iter_mut().enumerate() {
                for (k, entry) in row.iter_mut().enumerate() {
                    // Steiner: m (r² 1 − r rᵀ) on top of the element's own.
                    let unit = f64::from(u8::from(j == k));
                    *entry += (own + m * arm.length_squared()) * unit - m * r[j] * r[k];
                }
            }
        }
        let moving = BodyMotion {
            displacement: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            velocity: sum(&|i| e.mass[i] * velocity(i)) / mass,
            momentum: sum(&|i| {
                e.mass[i] * (at(i as u32) - centre).cross(velocity(i)) + e.inertia[i] * spin(i)
            }),
        };
        FreeBody {
            centre,
            reach: reach(arms.iter().copied(), DVec3::ZERO),
            inverse_mass: 1.0 / mass,
            top: RigidInertia::new(tensor),
            moving,
            arms,
            elements,
        }
    }

    fn pose(&self) -> Pose {
        let BodyMotion {
            displacement,
            rotation,
            velocity,
            momentum,
        } = self.moving;
        Pose {
            position: displacement,
            rotation,
            velocity,
            spin: self.top.spin(rotation, momentum),
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
                    sum += Wrench::at(self.moving.rotation * *arm, force, torque);
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

    /// Kick by half a step, by the same law as for elements, of velocity and angular momentum.
    fn kick<S: Scalar>(&mut self, wrench: Wrench, step: &StepParameters<S>) {
        let (half, drag) = (0.5 * step.dt.to_f64(), step.drag.to_f64());
        let gravity = Vec3::from_f64(step.gravity.to_f64());
        let kicked = |from: DVec3, load: DVec3, inverse: f64, field| {
            let [from, load] = [from, load].map(|v| Vec3::from_f64(v.to_array()));
            DVec3::from_array(kick(from, load, inverse, field, drag, half).to_f64())
        };
        let moving = &mut self.moving;
        moving.velocity = kicked(moving.velocity, wrench.force, self.inverse_mass, gravity);
        moving.momentum = kicked(moving.momentum, wrench.torque, 1.0, Vec3::zero());
    }
}

impl BodyMotion {
    fn to_numbers(self) -> [f64; BODY_NUMBERS] {
        let ([x, y, z], [a, b, c, d]) = (self.displacement.to_array(), self.rotation.to_array());
        let ([u, v, w], [l, m, n]) = (self.velocity.to_array(), self.momentum.to_array());
        [x, y, z, a, b, c, d, u, v, w, l, m, n]
    }

    fn from_numbers(&[x, y, z, a, b, c, d, u, v, w, l, m, n]: &[f64; BODY_NUMBERS]) -> Self {
        BodyMotion {
            displacement: DVec3::new(x, y, z),
            rotation: DQuat::from_xyzw(a, b, c, d),
            velocity: DVec3::new(u, v, w),
            momentum: DVec3::new(l, m, n),
        }
    }
}
