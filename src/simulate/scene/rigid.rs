//! Rigid bodies that move freely: one position, rotation, velocity and angular momentum for all elements of a body.
//!
//! Forces on the elements, of contacts and from outside, add up to a force and a torque on the body; nothing
//! between its own elements is computed. The body takes the kicks and the drift of velocity Verlet as a free
//! element does, and its elements follow from where they were packed, as those of a clamp do, never from the
//! step before. Mass and inertia are those of the elements: their own, and what their distances from the
//! centre of mass add.
//!
//! In double precision, whatever the run's. Sums are made over fixed blocks of elements and then in order, so
//! that no number of threads changes a bit.

use crate::parallel::prelude::*;
use glam::{DQuat, DVec3};

use crate::columns::Elements;
use crate::geometry::solid::Pose;
use crate::laws::motion::kick;
use crate::laws::rigid::Top;
use crate::math::{Scalar, Vec3};
use crate::simulate::bonded::motion_pass::StepParameters;
use crate::simulate::bonded::rigid_mask::RigidMask;
use crate::simulate::bonded::system::{Load, Motion, System, Tail};
use crate::simulate::error::{SimulateError, StateError};
use crate::simulate::scene::clamps::{Gripped, Hold, place, reach};
use crate::simulate::scene::reactions::{Grip, Wrench};
use crate::spec::Pipeline;

/// Elements that are summed up for themselves.
const BLOCK: usize = 1024;

/// A body that is free to move.
#[derive(Clone, Debug)]
struct Piece {
    elements: Vec<u32>,
    /// From the centre of mass to each element at rest, m.
    arms: Vec<DVec3>,
    /// Centre of mass at rest, m.
    centre: DVec3,
    /// Farthest of the elements from it, m.
    reach: f64,
    inverse_mass: f64,
    top: Top,
    moving: Moving,
}

/// How a body stands against rest, and how it moves.
#[derive(Clone, Copy, Debug)]
struct Moving {
    /// Way of the centre of mass since packing, m.
    displacement: DVec3,
    rotation: DQuat,
    /// Of the centre of mass, m/s.
    velocity: DVec3,
    /// Angular momentum about the centre of mass, kg m²/s.
    momentum: DVec3,
}

/// Numbers of a body in a state.
pub const NUMBERS: usize = 13;

/// All rigid bodies of a run that are free to move.
#[derive(Clone, Debug, Default)]
pub struct RigidBodies {
    pieces: Vec<Piece>,
    /// Their elements, ascending.
    gripped: Vec<Gripped>,
}

/// The elements that are rigid from the start: a piece each rigid body, numbered one more than the body.
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
    /// Takes the elements of free rigid bodies over: their own rows are pushed by nothing from then on, and
    /// in contacts they have the mass of their body. One that a clamp holds as a whole is the clamp's;
    /// refuses one of which it holds a part.
    pub fn new<S: Scalar>(
        elements: &Elements,
        pipeline: &Pipeline,
        grips: &[Grip],
        system: &mut System<S>,
        load: &mut [Load<S>],
    ) -> Result<Self, SimulateError> {
        let mut all = RigidBodies::default();
        for (number, body) in (1..).zip(&pipeline.bodies).filter(|(_, body)| body.rigid) {
            let pieces = (0..).zip(system.rigid().pieces());
            let own = pieces.filter_map(|(i, &piece)| (piece == number).then_some(i));
            let own: Vec<u32> = own.collect();
            let clamps = pipeline.attachments.iter().zip(grips);
            let mut clamps = clamps.filter(|(one, grip)| grip.clamps && one.body == body.name);
            if let Some((clamp, grip)) = clamps.next() {
                if grip.elements.len() < own.len() {
                    return Err(SimulateError::PartClamped {
                        attachment: clamp.name.clone(),
                        body: body.name.clone(),
                        held: grip.elements.len(),
                        count: own.len(),
                    });
                }
                continue;
            }
            if own.is_empty() {
                continue;
            }
            let piece = Piece::new(elements, own);
            for &element in &piece.elements {
                let i = element as usize;
                system.inverse_mass[i] = S::from_f64(piece.inverse_mass);
                (load[i].0[3], load[i].0[7]) = (S::default(), S::default());
                all.gripped.push(Gripped {
                    element,
                    clamp: all.pieces.len() as u32,
                    rest: DVec3::new(elements.x[i], elements.y[i], elements.z[i]),
                });
            }
            all.pieces.push(piece);
        }
        all.gripped.sort_unstable_by_key(|gripped| gripped.element);
        Ok(all)
    }

    /// Whether there are any.
    pub fn any(&self) -> bool {
        !self.pieces.is_empty()
    }

    /// Ends a step's second kick (`close`), starts the next: first kick and drift (`open`). `load` is what
    /// the elements bear.
    pub fn advance<S: Scalar>(
        &mut self,
        step: &StepParameters<S>,
        (close, open): (bool, bool),
        load: &[Load<S>],
    ) {
        let dt = step.dt.to_f64();
        for piece in &mut self.pieces {
            let wrench = piece.wrench(load);
            for _ in 0..u32::from(close) + u32::from(open) {
                piece.kick(wrench, step);
            }
            if open {
                let moving = &mut piece.moving;
                moving.displacement += moving.velocity * dt;
                moving.rotation = piece.top.turn(moving.rotation, moving.momentum, dt);
            }
        }
    }

    /// Where they have their elements.
    pub fn holds<S: Scalar>(&self) -> Vec<Hold<S>> {
        let pieces = self.pieces.iter();
        pieces
            .map(|piece| Hold::new(piece.centre, piece.pose()))
            .collect()
    }

    /// Bound on how far any of their elements has moved between two moments, m.
    pub fn travel<S>(&self, before: &[Hold<S>], now: &[Hold<S>]) -> f64 {
        let both = before.iter().zip(now).zip(&self.pieces);
        both.map(|((before, now), piece)| before.travel(now, piece.reach))
            .fold(0.0, f64::max)
    }

    /// Brings those of their elements that are among the rows from element `first` on to where they are.
    pub fn place<S: Scalar>(
        &self,
        holds: &[Hold<S>],
        first: usize,
        motion: &mut [Motion<S>],
        tail: &mut [Tail<S>],
    ) {
        place(&self.gripped, holds, first, motion, tail);
    }

    /// What a state keeps of them.
    pub fn pack(&self) -> Vec<[f64; NUMBERS]> {
        let pieces = self.pieces.iter();
        pieces.map(|piece| piece.moving.to_numbers()).collect()
    }

    /// Goes on from a state.
    pub fn unpack(&mut self, state: &[[f64; NUMBERS]]) -> Result<(), StateError> {
        if state.len() != self.pieces.len() {
            return Err(StateError::Length {
                what: "rigid bodies",
                found: state.len(),
                wanted: self.pieces.len(),
            });
        }
        for (piece, numbers) in self.pieces.iter_mut().zip(state) {
            piece.moving = Moving::from_numbers(numbers);
        }
        Ok(())
    }
}

impl Piece {
    /// Of these elements, at rest where they were packed, with the momentum and angular momentum that they have.
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
        let moving = Moving {
            displacement: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            velocity: sum(&|i| e.mass[i] * velocity(i)) / mass,
            momentum: sum(&|i| {
                e.mass[i] * (at(i as u32) - centre).cross(velocity(i)) + e.inertia[i] * spin(i)
            }),
        };
        Piece {
            centre,
            reach: reach(arms.iter().copied(), DVec3::ZERO),
            inverse_mass: 1.0 / mass,
            top: Top::new(tensor),
            moving,
            arms,
            elements,
        }
    }

    fn pose(&self) -> Pose {
        let Moving {
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

    /// Force and torque about the centre of mass.
    fn wrench<S: Scalar>(&self, load: &[Load<S>]) -> Wrench {
        let block = |(elements, arms): (&[u32], &[DVec3])| {
            let mut sum = Wrench::default();
            for (&i, arm) in elements.iter().zip(arms) {
                let row = &load[i as usize].0;
                let vector = |at: usize| DVec3::from_array([0, 1, 2].map(|k| row[at + k].to_f64()));
                let (force, torque) = (vector(0), vector(4));
                // Most touch nothing.
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

    /// Half a step of the kick that elements take, on velocity and angular momentum.
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

impl Moving {
    fn to_numbers(self) -> [f64; NUMBERS] {
        let ([x, y, z], [a, b, c, d]) = (self.displacement.to_array(), self.rotation.to_array());
        let ([u, v, w], [l, m, n]) = (self.velocity.to_array(), self.momentum.to_array());
        [x, y, z, a, b, c, d, u, v, w, l, m, n]
    }

    fn from_numbers(&[x, y, z, a, b, c, d, u, v, w, l, m, n]: &[f64; NUMBERS]) -> Self {
        Moving {
            displacement: DVec3::new(x, y, z),
            rotation: DQuat::from_xyzw(a, b, c, d),
            velocity: DVec3::new(u, v, w),
            momentum: DVec3::new(l, m, n),
        }
    }
}
