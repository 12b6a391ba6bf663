//! What two elements do to each other of which one is a polyhedron at least.

use glam::DVec3;

use super::list::{Parameters, ShapeMemory, ShapePair};
use super::placed::Placed;
use super::shapes::Shapes;
use crate::geometry::polyhedron::{Overlap, Scratch};
use crate::laws::contact::{self, ContactParameters, ContactState, contact};
use crate::laws::overlap::{self, OverlapParameters, OverlapState};
use crate::laws::{rolling, work};
use crate::math::{Scalar, Vec3};
use crate::simulate::bonded::system::System;

/// What a contact does to the first of its elements, and the opposite to the second about its own centre.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acting {
    /// On the first, N; the opposite on the second.
    pub force: DVec3,
    /// On the first about its centre, N m.
    pub torque: DVec3,
    /// On the second about its centre, N m.
    pub torque_j: DVec3,
    /// What it remembers after the step.
    pub memory: ShapeMemory,
    /// Energy that it stores, J.
    pub energy: f64,
    /// Energy that damping and friction took over the step, J.
    pub took: [f64; 2],
}

/// What a pair does over a step, seen from the lower number; none where it does not touch.
pub fn evaluate<S: Scalar>(
    (system, shapes): (&System<S>, &Shapes),
    pair: &mut ShapePair,
    dt: f64,
    scratch: &mut Scratch,
) -> Option<Acting> {
    let ends = pair.ends();
    let [p, q] = ends.map(|end| system.position(end));
    let reach = shapes.reach(system, ends[0]) + shapes.reach(system, ends[1]);
    if p.distance_squared(q) >= reach * reach {
        return None;
    }
    let [i, j] = ends.map(|end| Placed::new(system, shapes, end));
    match pair.parameters {
        Parameters::Solids(k) => {
            let overlap = i.overlap(&j, &mut pair.axis, scratch)?;
            let arm = i.position + overlap.centre;
            let v = velocity(system, ends[0], arm) - velocity(system, ends[1], arm);
            let w = system.spin(ends[0]) - system.spin(ends[1]);
            let mut acting = solids((&overlap, v, w), pair.memory, (dt, pair.inverse_mass, k));
            let line = i.position - j.position;
            acting.torque_j = -(acting.torque + line.cross(acting.force));
            Some(acting)
        }
        Parameters::Ball(k, radius, friction) => {
            let (ball, solid) = if i.shape.is_none() { (0, 1) } else { (1, 0) };
            let (at, other) = if ball == 0 { (&i, &j) } else { (&j, &i) };
            let seen = Seen {
                ball: ends[ball],
                solid: ends[solid],
                inverse_mass: pair.inverse_mass,
                radius,
                friction,
            };
            let surface = other.distance(at.position)?;
            let touching = seen.on_solid(system, surface, (pair.memory, dt, k))?;
            let mut acting = touching;
            let point = at.position - surface.1 * surface.0;
            // Of the solid: the opposite force at the point where it is touched.
            acting.torque_j = (point - other.position).cross(-acting.force) + acting.torque_j;
            Some(if ball == 0 { acting } else { acting.mirrored() })
        }
    }
}

/// Two solids, or one at a collider, with this velocity of the first against the second at the centre of what
/// they share, and this spin.
pub fn solids(
    (overlap, v, w): (&Overlap, DVec3, DVec3),
    memory: ShapeMemory,
    (dt, inverse_mass, k): (f64, f64, OverlapParameters<f64>),
) -> Acting {
    let allowed = memory.allowed.min(overlap.volume);
    let volume = overlap.volume - allowed;
    if volume <= 0.0 {
        return Acting {
            memory: ShapeMemory {
                allowed,
                ..ShapeMemory::default()
            },
            ..Acting::default()
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
    let load = overlap::pair(state, dt, inverse_mass, k);
    Acting {
        force: to_glam(load.force),
        torque: to_glam(load.torque),
        torque_j: DVec3::ZERO,
        memory: ShapeMemory {
            spring: to_glam(load.spring).to_array(),
            roll: [0.0; 3],
            allowed,
        },
        energy: overlap::energy(volume, spring, k),
        took: [load.damped, load.slid],
    }
}

/// A ball at a polyhedron.
struct Seen {
    ball: usize,
    solid: usize,
    inverse_mass: f64,
    radius: f64,
    friction: f64,
}

impl Seen {
    /// What the solid does to the ball, whose memory is as the lower number sees it. `torque_j` is what it
    /// does against rolling, on the solid.
    fn on_solid<S: Scalar>(
        &self,
        system: &System<S>,
        (distance, normal): (f64, DVec3),
        (memory, dt, k): (ShapeMemory, f64, ContactParameters<f64>),
    ) -> Option<Acting> {
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
            // At the point of the solid's surface, where it has the opposite force.
            arm_i: distance,
            arm_j: 0.0,
            touch: wall.touch,
            spring: Vec3::from_f64(memory.spring) * sign,
        };
        let load = contact(state, dt, k);
        let turning = rolling::parameters(k, self.friction, self.radius, self.radius);
        let spin = from_glam(system.spin(self.ball) - system.spin(self.solid));
        let roll = Vec3::from_f64(memory.roll) * sign;
        let rolled = rolling::rolling((wall.x, load.force), spin, roll, dt, turning);
        let done = work::Done {
            force: load.force,
            overlap: load.overlap,
            spring: load.spring,
        };
        let slid = work::contact(&state, done, dt, self.inverse_mass, k);
        let turned = work::rolling(wall.x, spin, roll, rolled, dt, turning);
        let energy = contact::energy(load.overlap.max(0.0), state.spring, k);
        Some(Acting {
            force: to_glam(load.force),
            torque: to_glam(load.torque + rolled.moment),
            torque_j: -to_glam(rolled.moment),
            memory: ShapeMemory {
                spring: to_glam(load.spring * sign).to_array(),
                roll: to_glam(rolled.spring * sign).to_array(),
                allowed,
            },
            energy: energy + rolling::energy(roll, turning),
            took: [slid.0 + turned.0, slid.1 + turned.1],
        })
    }
}

impl Acting {
    /// With its elements exchanged; what it remembers stays as it is.
    fn mirrored(self) -> Self {
        Acting {
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
