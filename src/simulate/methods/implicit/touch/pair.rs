//! One pair that may touch, and what it does as it stands.

use glam::DVec3;

use crate::laws::barrier::barrier;
use crate::laws::contact::{self, ContactParameters, ContactState};
use crate::laws::rolling;
use crate::math::quat::rotation_between;
use crate::math::{Mat3, Vec3};
use crate::simulate::bonded::system::System;
use crate::simulate::contact::chunk::COLLIDER;
use crate::simulate::contact::pair_list::PairList;
use crate::simulate::contact::wall_list::WallEntry;
use crate::simulate::methods::implicit::start::Start;
use crate::simulate::scene::colliders::Obstacle;
use crate::solve::block::Six;
use crate::spec::{ContactLaw, Friction};

/// A pair that may touch; the second is a collider where its number is [`COLLIDER`] or more.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// First element.
    pub i: u32,
    /// Second, or a collider.
    pub j: u32,
    /// Distance at which two elements touch, m.
    pub touch: f64,
    k: ContactParameters<f64>,
    /// Of friction where the step begins, m.
    pub(super) spring: Vec3<f64>,
    /// Friction as Newton's method has it so far, N.
    pub(super) pull: Vec3<f64>,
    /// Friction after the step over what presses: of the force, and of the torque, m.
    rubs: [f64; 2],
}

/// A pair that touches as it stands: what it does and how that changes with the displacement of the contact point.
#[derive(Clone, Copy, Debug)]
pub struct Touching {
    /// First element.
    pub i: u32,
    /// Second, or a collider.
    pub j: u32,
    /// Its place among the pairs.
    pub(super) at: usize,
    /// From the second to the first.
    pub n: Vec3<f64>,
    /// Arms from the centres to the point, m.
    pub arms: [f64; 2],
    /// Force on the first by displacement of the point against the second, N/m, the sign turned; where it
    /// slides, with its secant sideways.
    pub stiffness: Mat3<f64>,
    /// That secant, or what it is while it holds, N/m.
    secant: f64,
    /// What the spring would be had it not given way, m.
    trial: Vec3<f64>,
    /// Where it slides: the way it does, over how long `trial` is, 1/m.
    slide: Vec3<f64>,
    /// Friction as Newton's method has it so far, N; no more than the limit.
    pull: Vec3<f64>,
    /// What presses over the distance of the centres, N/m: sideways it drives them apart. Nothing at
    /// colliders, whose normals hardly turn.
    pub drive: f64,
    /// Friction after the step at most, N and N m.
    pub caps: [f64; 2],
    force: Vec3<f64>,
    couple: Vec3<f64>,
    /// Of friction where the step ends, m.
    pub(super) spring: Vec3<f64>,
    /// Of friction, N.
    pub(super) limit: f64,
    /// Elastic, J.
    pub(super) energy: f64,
}

impl Pair {
    /// The pairs of a list.
    pub(super) fn listed(list: &PairList<f64>) -> impl Iterator<Item = Pair> {
        (0..list.len()).map(|at| {
            let ([r_i, r_j], k, [rolling, _]) = list.constants::<f64>(at);
            let [x, y, z] = list.memory(at).spring;
            Pair {
                i: list.own[at],
                j: list.partner[at],
                touch: list.touch[at],
                k,
                spring: Vec3::new(x, y, z),
                pull: Vec3::zero(),
                rubs: [k.friction, rolling::parameters(k, rolling, r_i, r_j).arm],
            }
        })
    }

    /// An element of radius `r` (m) near a collider.
    pub(super) fn wall(wall: &WallEntry<f64>, r: f64) -> Pair {
        let [x, y, z] = wall.memory.spring;
        Pair {
            i: wall.element,
            j: COLLIDER + wall.wall,
            touch: 0.0,
            k: wall.k,
            spring: Vec3::new(x, y, z),
            pull: Vec3::zero(),
            rubs: [
                wall.k.friction,
                rolling::parameters(wall.k, wall.rolling, r, r).arm,
            ],
        }
    }

    /// Leaves friction to the step itself, which begins with what the spring carries, or to what comes after it.
    pub(super) fn rub(&mut self, friction: Friction) {
        match friction {
            Friction::Lagged => self.rubs = [0.0; 2],
            Friction::Projected => (self.k.friction, self.k.tangential) = (0.0, 0.0),
        }
        self.pull = self.spring * self.k.tangential;
    }
}

/// A force that is no larger than a limit.
fn within(force: Vec3<f64>, limit: f64) -> Vec3<f64> {
    let size = force.norm();
    if size > limit {
        force * (limit / size)
    } else {
        force
    }
}

impl Touching {
    /// How its force changes with the displacement of the point, N/m, the sign turned.
    ///
    /// Friction f along a spring δ that slides has the stiffness L/|δ| (1 − f δᵀ/(L |δ|)), L its limit. With
    /// f from δ that is the derivative, which resists no farther sliding, but a step that turns δ back then
    /// meets it twice as hard and hardly gets on. With an f of its own it lies between that and the secant
    /// for each pair, as far as the pair has come to agree: the primal-dual Newton method of Chan, Golub and
    /// Mulet 1999, its matrix made symmetric.
    pub fn tangent(&self) -> Mat3<f64> {
        self.stiffness - Mat3::both_outer(self.pull, self.slide) * 0.5
    }

    /// Brings friction to where the linear model of an iteration has it, which began as `before` and went
    /// part `part` of its way.
    pub(super) fn learn(&mut self, before: &Touching, part: f64) {
        let Touching { pull, slide, .. } = *before;
        let moved = self.trial - before.trial;
        let pull = pull * (1.0 - part) + (before.trial * part + moved) * before.secant
            - pull * slide.dot(moved);
        let flat = pull - self.n * pull.dot(self.n);
        self.pull = within(flat, self.limit);
    }

    /// Whether its friction has given way.
    pub(super) fn slides(&self) -> bool {
        self.slide != Vec3::zero()
    }

    /// Friction as Newton's method has it so far, N.
    pub(super) fn pull(&self) -> Vec3<f64> {
        self.pull
    }

    /// Force and torque on one of both.
    pub fn load(&self, second: bool) -> Six {
        let sign = if second { -1.0 } else { 1.0 };
        let (f, m) = (
            self.force * sign,
            self.couple * self.arms[usize::from(second)],
        );
        [f.x, f.y, f.z, m.x, m.y, m.z]
    }
}

/// How the two of a pair stand and move.
struct Facing {
    /// Distance that a barrier is a function of, m.
    near: f64,
    /// That at which it begins, m.
    reach: f64,
    state: ContactState<f64>,
}

/// How the two of a pair face each other; nothing where they do not touch.
#[inline]
fn facing(
    pair: &Pair,
    system: &System<f64>,
    obstacles: &[Obstacle],
    start: &Start,
) -> Option<Facing> {
    let (h, i) = (start.step, pair.i as usize);
    let of = |v: DVec3| Vec3::from_f64(v.to_array());
    let moved = |k: usize| of((system.position(k) - start.position[k]) / h);
    let turned = |k: usize| rotation_between(start.rotation[k], system.quaternion(k)) * (1.0 / h);
    if pair.j >= COLLIDER {
        let obstacle = &obstacles[(pair.j - COLLIDER) as usize];
        let r = system.radius(i);
        let (distance, normal, velocity) =
            obstacle.pose.surface(&obstacle.solid, system.position(i));
        if distance >= r {
            return None;
        }
        let wall = contact::wall(distance, of(normal), r);
        Some(Facing {
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
        Some(Facing {
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

/// What a pair, which stands at such a place, does by a law; nothing where it does not touch.
pub(super) fn touching(
    (at, pair): (usize, &Pair),
    law: ContactLaw,
    system: &System<f64>,
    obstacles: &[Obstacle],
    start: &Start,
) -> Option<Touching> {
    let h = start.step;
    let Facing {
        near,
        reach,
        mut state,
    } = facing(pair, system, obstacles, start)?;
    let mut k = pair.k;
    let barrier = (law == ContactLaw::Barrier).then(|| barrier(near, reach, k.normal));
    if let Some(barrier) = barrier {
        k.normal = barrier.secant;
    }
    let length = state.x.norm();
    let n = state.x * (1.0 / length);
    // Damping acts from when they touch on: a pair that came from afar would else be pushed off by a force
    // that is there at once.
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
    Some(Touching {
        i: pair.i,
        j: pair.j,
        at,
        n,
        arms: [state.arm_i, state.arm_j],
        stiffness: Mat3::outer(n, n) * normal + flat * secant,
        secant,
        trial,
        slide,
        pull: within(flat.times(pair.pull), limit),
        drive: if pair.j >= COLLIDER {
            0.0
        } else {
            pressed / length
        },
        caps: pair.rubs.map(|rub| rub * pressed),
        force: load.force,
        couple: load.couple,
        // Without a stiffness it has nothing to remember.
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
