//! One pair that may touch, and its contact at the current positions.

use glam::DVec3;

use crate::laws::barrier::barrier;
use crate::laws::contact::{self, ContactParameters, ContactState};
use crate::laws::rolling;
use crate::math::quat::rotation_between;
use crate::math::{Mat3, Vec3};
use crate::simulate::bonded::system::System;
use crate::simulate::contact::chunk::COLLIDER;
use crate::simulate::contact::collider_list::ColliderContact;
use crate::simulate::contact::pair_list::PairList;
use crate::simulate::methods::implicit::start::StepStart;
use crate::simulate::scene::colliders::PosedCollider;
use crate::solve::block::Six;
use crate::spec::{ContactLaw, Friction};

/// A pair that may touch; the second is a collider if its number is [`COLLIDER`] or more.
#[derive(Clone, Copy, Debug)]
pub struct CandidatePair {
    /// Index of the first element.
    pub i: u32,
    /// Index of the second element, or of a collider.
    pub j: u32,
    /// Distance at which two elements touch, m.
    pub touch: f64,
    k: ContactParameters<f64>,
    /// Friction spring at the start of the step, m.
    pub(super) spring: Vec3<f64>,
    /// Friction as estimated by Newton's method so far, N.
    pub(super) friction_force: Vec3<f64>,
    /// Limits of the friction applied after the step relative to the normal force: of the force, and of the
    /// torque, m.
    projected_friction: [f64; 2],
}

/// A pair in contact: its loads and their derivatives with respect to the displacement of the contact point.
#[derive(Clone, Copy, Debug)]
pub struct ActiveContact {
    /// Index of the first element.
    pub i: u32,
    /// Index of the second element, or of a collider.
    pub j: u32,
    /// Index of the candidate pair.
    pub(super) index: usize,
    /// Unit normal from the second to the first.
    pub n: Vec3<f64>,
    /// Arms from the centres to the contact point, m.
    pub arms: [f64; 2],
    /// Negative derivative of the force on the first by the relative displacement of the contact point, N/m.
    /// For a sliding contact its tangential part is the secant.
    pub stiffness: Mat3<f64>,
    /// Tangential secant stiffness; while the contact sticks, its tangential stiffness, N/m.
    secant: f64,
    /// Trial spring, as if it had not yielded, m.
    trial: Vec3<f64>,
    /// For a sliding contact: direction of sliding over the length of `trial`, 1/m; else zero.
    slide: Vec3<f64>,
    /// Friction as estimated by Newton's method so far, N; at most the limit.
    friction_force: Vec3<f64>,
    /// Normal force over the distance of the centres, N/m: it drives them apart sideways. Zero at colliders,
    /// whose normals hardly turn.
    pub geometric_stiffness: f64,
    /// Limits of the friction applied after the step, N and N m.
    pub max_friction: [f64; 2],
    force: Vec3<f64>,
    couple: Vec3<f64>,
    /// Friction spring at the end of the step, m.
    pub(super) spring: Vec3<f64>,
    /// Limit of friction, N.
    pub(super) limit: f64,
    /// Elastic energy, J.
    pub(super) energy: f64,
}

impl CandidatePair {
    /// The pairs of a list.
    pub(super) fn listed(list: &PairList<f64>) -> impl Iterator<Item = CandidatePair> {
        (0..list.len()).map(|at| {
            let ([r_i, r_j], k, [rolling, _]) = list.constants::<f64>(at);
            let [x, y, z] = list.memory(at).spring;
            CandidatePair {
                i: list.own[at],
                j: list.partner[at],
                touch: list.touch[at],
                k,
                spring: Vec3::new(x, y, z),
                friction_force: Vec3::zero(),
                projected_friction: [k.friction, rolling::parameters(k, rolling, r_i, r_j).arm],
            }
        })
    }

    /// An element of radius `r` (m) near a collider.
    pub(super) fn wall(wall: &ColliderContact<f64>, r: f64) -> CandidatePair {
        let [x, y, z] = wall.memory.spring;
        CandidatePair {
            i: wall.element,
            j: COLLIDER + wall.collider,
            touch: 0.0,
            k: wall.k,
            spring: Vec3::new(x, y, z),
            friction_force: Vec3::zero(),
            projected_friction: [
                wall.k.friction,
                rolling::parameters(wall.k, wall.rolling, r, r).arm,
            ],
        }
    }

    /// Leaves friction either to the step itself, which then begins with the spring's force, or to the
    /// correction after it.
    pub(super) fn apply_friction_mode(&mut self, friction: Friction) {
        match friction {
            Friction::Lagged => self.projected_friction = [0.0; 2],
            Friction::Projected => (self.k.friction, self.k.tangential) = (0.0, 0.0),
        }
        self.friction_force = self.spring * self.k.tangential;
    }
}

/// Scales a force down to a limit.
fn within(force: Vec3<f64>, limit: f64) -> Vec3<f64> {
    let size = force.norm();
    if size > limit {
        force * (limit / size)
    } else {
        force
    }
}

impl ActiveContact {
    /// Negative derivative of the force with respect to the displacement of the contact point, N/m.
    ///
    /// Friction f along a sliding spring δ has the stiffness L/|δ| (1 − f δᵀ/(L |δ|)), with the limit L. With
    /// f computed from δ this is the derivative, which does not resist further sliding; but a step that
    /// reverses δ then meets twice the resistance and makes little progress. With an independent f it lies
    /// between the derivative and the secant for each pair, depending on how far f has converged: the
    /// primal-dual Newton method of Chan, Golub and Mulet 1999, with a symmetrised matrix.
    pub fn tangent(&self) -> Mat3<f64> {
        self.stiffness - Mat3::both_outer(self.friction_force, self.slide) * 0.5
    }

    /// Updates friction by the linear model of an iteration that began with contact `before` and went
    /// fraction `part` of its direction.
    pub(super) fn update_friction(&mut self, before: &ActiveContact, part: f64) {
        let ActiveContact {
            friction_force,
            slide,
            ..
        } = *before;
        let moved = self.trial - before.trial;
        let friction_force = friction_force * (1.0 - part)
            + (before.trial * part + moved) * before.secant
            - friction_force * slide.dot(moved);
        let flat = friction_force - self.n * friction_force.dot(self.n);
        self.friction_force = within(flat, self.limit);
    }

    /// Whether the contact slides.
    pub(super) fn slides(&self) -> bool {
        self.slide != Vec3::zero()
    }

    /// Friction as estimated by Newton's method so far, N.
    pub(super) fn friction_force(&self) -> Vec3<f64> {
        self.friction_force
    }

    /// Force and torque on the first or the second.
    pub fn load(&self, second: bool) -> Six {
        let sign = if second { -1.0 } else { 1.0 };
        let (f, m) = (
            self.force * sign,
            self.couple * self.arms[usize::from(second)],
        );
        [f.x, f.y, f.z, m.x, m.y, m.z]
    }
}

/// Relative position and motion of a pair.
struct PairGeometry {
    /// Distance that the barrier is a function of, m.
    near: f64,
    /// Distance at which the barrier begins, m.
    reach: f64,
    state: ContactState<f64>,
}

/// Geometry of a pair; none if it is not in contact.
#[inline]
fn geometry(
    pair: &CandidatePair,
    system: &System<f64>,
    colliders: &[PosedCollider],
    start: &StepStart,
) -> Option<PairGeometry> {
    let (h, i) = (start.step, pair.i as usize);
    let of = |v: DVec3| Vec3::from_f64(v.to_array());
    let moved = |k: usize| of((system.position(k) - start.position[k]) / h);
    let turned = |k: usize| rotation_between(start.rotation[k], system.quaternion(k)) * (1.0 / h);
    if pair.j >= COLLIDER {
        let obstacle = &colliders[(pair.j - COLLIDER) as usize];
        let r = system.radius(i);
        let (distance, normal, velocity) =
            obstacle.pose.surface(&obstacle.solid, system.position(i));
        if distance >= r {
            return None;
        }
        let wall = contact::wall(distance, of(normal), r);
        Some(PairGeometry {
            near: distance,
            reach: r,
            state: ContactState {
                x: wall.x,
                v: moved(i) - of(velocity),
                w_i: turned(i),
                w_j: Vec3::zero(),
                arm_i: wall.arm,
                arm_j: 0.0,
                touch: wall.touch,
                spring: pair.spring,
            },
        })
    } else {
        let j = pair.j as usize;
        let x = of(system.position(i) - system.position(j));
        if x.dot(x) >= pair.touch * pair.touch {
            return None;
        }
        let (arm_i, arm_j) = contact::arms(x, system.radius(i), system.radius(j));
        Some(PairGeometry {
            near: x.norm(),
            reach: pair.touch,
            state: ContactState {
                x,
                v: moved(i) - moved(j),
                w_i: turned(i),
                w_j: turned(j),
                arm_i,
                arm_j,
                touch: pair.touch,
                spring: pair.spring,
            },
        })
    }
}

/// Contact of the pair with index `at`; none if it does not touch.
pub(super) fn active_contact(
    (at, pair): (usize, &CandidatePair),
    law: ContactLaw,
    system: &System<f64>,
    colliders: &[PosedCollider],
    start: &StepStart,
) -> Option<ActiveContact> {
    let h = start.step;
    let PairGeometry {
        near,
        reach,
        mut state,
    } = geometry(pair, system, colliders, start)?;
    let mut k = pair.k;
    let barrier = (law == ContactLaw::Barrier).then(|| barrier(near, reach, k.normal));
    if let Some(barrier) = barrier {
        k.normal = barrier.secant;
    }
    let length = state.x.norm();
    let n = state.x * (1.0 / length);
    // Damping acts only from the moment of touching: otherwise a pair that came from afar would be repelled
    // by a sudden force.
    let (approach, slowest) = (state.v.dot(n), (length - state.touch) / h);
    if approach < slowest {
        state.v = state.v + n * (slowest - approach);
    }
    let load = contact::pair(state, h, k);
    let pressed = load.force.dot(n);
    let rolling = state.w_i * state.arm_i + state.w_j * state.arm_j;
    let trial = state.spring + (state.v - rolling.cross(n)) * h;
    let flat = Mat3::diagonal(1.0) - Mat3::outer(n, n);
    let trial = flat.times(trial);
    let (stretch, limit) = (trial.norm(), k.friction * pressed);
    let (secant, slide) = if k.tangential * stretch > limit {
        (limit / stretch, trial * (1.0 / (stretch * stretch)))
    } else {
        (k.tangential, Vec3::zero())
    };
    let normal = if pressed > 0.0 {
        barrier.map_or(k.normal, |barrier| barrier.stiffness) + k.damping / h
    } else {
        0.0
    };
    Some(ActiveContact {
        i: pair.i,
        j: pair.j,
        index: at,
        n,
        arms: [state.arm_i, state.arm_j],
        stiffness: Mat3::outer(n, n) * normal + flat * secant,
        secant,
        trial,
        slide,
        friction_force: within(flat.times(pair.friction_force), limit),
        geometric_stiffness: if pair.j >= COLLIDER {
            0.0
        } else {
            pressed / length
        },
        max_friction: pair.projected_friction.map(|friction| friction * pressed),
        force: load.force,
        couple: load.couple,
        // Without tangential stiffness there is no spring to store.
        spring: match k.tangential > 0.0 {
            true => load.spring,
            false => Vec3::zero(),
        },
        limit,
        energy: match barrier {
            Some(barrier) => barrier.energy + contact::energy(0.0, load.spring, k),
            None => contact::energy(load.overlap, load.spring, k),
        },
    })
}

#[cfg(test)]
mod tests;
