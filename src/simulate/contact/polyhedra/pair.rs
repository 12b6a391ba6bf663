//! Contact load between two elements of which at least one is a polyhedron.

use glam::DVec3;

use super::list::{Parameters, ShapeMemory, ShapePair};
use super::placed::PlacedElement;
use super::shapes::Shapes;
use crate::geometry::polyhedron::{Overlap, OverlapScratch};
use crate::laws::contact::{self, ContactState};
use crate::laws::overlap::{self, OverlapParameters, OverlapState};
use crate::laws::{rolling, static_friction, work};
use crate::math::{Scalar, Vec3};
use crate::simulate::bonded::system::System;
use crate::simulate::contact::properties::ContactProperties;

/// Load of a contact on its first element, and the opposite on the second about its own centre.
#[derive(Clone, Copy, Debug, Default)]
pub struct ContactAction {
    /// Force on the first element, N; the second gets the opposite.
    pub force: DVec3,
    /// Torque on the first element about its centre, N m.
    pub torque: DVec3,
    /// Torque on the second element about its centre, N m.
    pub torque_j: DVec3,
    /// History after the step.
    pub memory: ShapeMemory,
    /// Stored energy, J.
    pub energy: f64,
    /// Energy dissipated by damping and by friction over the step, J.
    pub dissipated: [f64; 2],
}

/// Load of a pair over a step, contact from the lower number; `None` if it does not touch.
pub fn evaluate<S: Scalar>(
    (system, shapes): (&System<S>, &Shapes),
    pair: &mut ShapePair,
    dt: f64,
    scratch: &mut OverlapScratch,
) -> Option<ContactAction> {
    let ends = pair.ends();
    let [p, q] = ends.map(|end| system.position(end));
    let reach = shapes.reach(system, ends[0]) + shapes.reach(system, ends[1]);
    if p.distance_squared(q) >= reach * reach {
        return None;
    }
    let [i, j] = ends.map(|end| PlacedElement::new(system, shapes, end));
    match pair.parameters {
        Parameters::Solids(k) => {
            let overlap = i.overlap(&j, &mut pair.axis, scratch)?;
            let arm = i.position + overlap.centre;
            let v = velocity(system, ends[0], arm) - velocity(system, ends[1], arm);
            let w = system.spin(ends[0]) - system.spin(ends[1]);
            let mut action = solids((&overlap, v, w), pair.memory, (dt, pair.inverse_mass, k));
            let line = i.position - j.position;
            action.torque_j = -(action.torque + line.cross(action.force));
            Some(action)
        }
        Parameters::Ball(properties, radius) => {
            let (ball, solid) = if i.shape.is_none() { (0, 1) } else { (1, 0) };
            let (at, other) = if ball == 0 { (&i, &j) } else { (&j, &i) };
            let contact = BallAtSolid {
                ball: ends[ball],
                solid: ends[solid],
                inverse_mass: pair.inverse_mass,
                radius,
                properties,
            };
            let surface = other.distance(at.position)?;
            let touching = contact.on_solid(system, surface, (pair.memory, dt))?;
            let mut action = touching;
            let point = at.position - surface.1 * surface.0;
            // On the solid the opposite force acts at the contact point.
            action.torque_j = (point - other.position).cross(-action.force) + action.torque_j;
            Some(if ball == 0 { action } else { action.mirrored() })
        }
    }
}

/// Contact of two solids, or of one with a collider. `v` and `w` are velocity (at the centre of the overlap)
/// and spin of the first relative to the second.
pub fn solids(
    (overlap, v, w): (&Overlap, DVec3, DVec3),
    memory: ShapeMemory,
    (dt, inverse_mass, k): (f64, f64, OverlapParameters<f64>),
) -> ContactAction {
    let allowed = memory.allowed.min(overlap.volume);
    let volume = overlap.volume - allowed;
    if volume <= 0.0 {
        return ContactAction {
            memory: ShapeMemory {
                allowed,
                ..ShapeMemory::default()
            },
            ..ContactAction::default()
        };
    }
    let spring = Vec3::from_f64(memory.spring);
    let state = OverlapState {
        volume,
        area: from_glam(overlap.area),
        moment: from_glam(overlap.moment),
        arm: from_glam(overlap.centre),
        v: from_glam(v),
        w: from_glam(w),
        spring,
    };
    let (load, slides) = overlap::pair(state, memory.slides, dt, inverse_mass, k);
    ContactAction {
        force: to_glam(load.force),
        torque: to_glam(load.torque),
        torque_j: DVec3::ZERO,
        memory: ShapeMemory {
            spring: to_glam(load.spring).to_array(),
            roll: [0.0; 3],
            allowed,
            slides: slides && k.static_friction > k.friction,
        },
        energy: overlap::energy(volume, spring, k),
        dissipated: [load.damped, load.slid],
    }
}

/// A ball in contact with a polyhedron.
struct BallAtSolid {
    ball: usize,
    solid: usize,
    inverse_mass: f64,
    radius: f64,
    properties: ContactProperties<f64>,
}

impl BallAtSolid {
    /// Load of the solid on the ball; `memory` is contact from the lower number. `torque_j` is only the rolling
    /// resistance on the solid.
    fn on_solid<S: Scalar>(
        &self,
        system: &System<S>,
        (distance, normal): (f64, DVec3),
        (memory, dt): (ShapeMemory, f64),
    ) -> Option<ContactAction> {
        let ContactProperties {
            k,
            static_friction: most,
            rolling,
        } = self.properties;
        let depth = self.radius - distance;
        if depth <= 0.0 {
            return None;
        }
        let sign = if self.ball < self.solid { 1.0 } else { -1.0 };
        let allowed = memory.allowed.min(depth);
        let point = system.position(self.ball) - normal * distance;
        let against = velocity(system, self.solid, point);
        let wall = contact::wall(distance + allowed, from_glam(normal), self.radius);
        let state = ContactState {
            x: wall.x,
            v: from_glam(system.velocity(self.ball) - against),
            w_i: from_glam(system.spin(self.ball)),
            w_j: Vec3::zero(),
            // The solid gets the opposite force at this point of its surface.
            arm_i: distance,
            arm_j: 0.0,
            touch: wall.touch,
            spring: Vec3::from_f64(memory.spring) * sign,
        };
        let (both, slides) = static_friction::pair(state, dt, k, most, memory.slides);
        let load = contact::of_one(both, state.arm_i);
        let turning = rolling::parameters(k, rolling, self.radius, self.radius);
        let spin = from_glam(system.spin(self.ball) - system.spin(self.solid));
        let roll = Vec3::from_f64(memory.roll) * sign;
        let rolled = rolling::rolling((wall.x, load.force), spin, roll, dt, turning);
        let done = work::ContactOutcome {
            force: load.force,
            overlap: load.overlap,
            spring: load.spring,
        };
        let slid = work::contact(&state, done, dt, self.inverse_mass, k);
        let turned = work::rolling(wall.x, spin, roll, rolled, dt, turning);
        let energy = contact::energy(load.overlap.max(0.0), state.spring, k);
        Some(ContactAction {
            force: to_glam(load.force),
            torque: to_glam(load.torque + rolled.moment),
            torque_j: -to_glam(rolled.moment),
            memory: ShapeMemory {
                spring: to_glam(load.spring * sign).to_array(),
                roll: to_glam(rolled.spring * sign).to_array(),
                allowed,
                slides: slides && most > k.friction,
            },
            energy: energy + rolling::energy(roll, turning),
            dissipated: [slid.0 + turned.0, slid.1 + turned.1],
        })
    }
}

impl ContactAction {
    /// The load with its elements exchanged; the history is unchanged.
    fn mirrored(self) -> Self {
        ContactAction {
            force: -self.force,
            torque: self.torque_j,
            torque_j: self.torque,
            ..self
        }
    }
}

/// Velocity of a point that moves with an element, m/s.
pub fn velocity<S: Scalar>(system: &System<S>, element: usize, point: DVec3) -> DVec3 {
    let arm = point - system.position(element);
    system.velocity(element) + system.spin(element).cross(arm)
}

fn from_glam(v: DVec3) -> Vec3<f64> {
    Vec3::new(v.x, v.y, v.z)
}

fn to_glam(v: Vec3<f64>) -> DVec3 {
    DVec3::new(v.x, v.y, v.z)
}
