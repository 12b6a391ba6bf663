//! Contacts of an implicit step.
//!
//! The law is that of explicit steps with displacements over the step in the place of velocities times its length: a quadratic penalty, and
//! friction by a spring that gives way. Its tangent leaves out how the limit of friction changes within an iteration (lagged, as in
//! incremental potentials), so it is symmetric, and results do not depend on the length of steps.

use glam::DVec3;
use rayon::prelude::*;

use super::start::Start;
use crate::laws::contact::{self, ContactParameters, ContactState};
use crate::math::quat::rotation_between;
use crate::math::{Mat3, Vec3};
use crate::simulate::contact_pass::{ContactTotals, Obstacle};
use crate::simulate::contacts::{COLLIDER, Contacts, SpringEntry};
use crate::simulate::pair_list::{Memory, PairList};
use crate::simulate::system::System;
use crate::solve::block::{Six, add_six as add};

/// A pair that may touch; the second is a collider where its number is [`COLLIDER`] or more.
#[derive(Clone, Copy, Debug)]
struct Pair {
    i: u32,
    j: u32,
    touch: f64,
    k: ContactParameters<f64>,
    spring: Vec3<f64>,
}

/// A pair that touches as it stands: what it does and how that changes with the displacement of the contact point.
#[derive(Clone, Copy, Debug)]
pub struct Touching {
    /// First element.
    pub i: u32,
    /// Second, or a collider.
    pub j: u32,
    /// From the second to the first.
    pub n: Vec3<f64>,
    /// Arms from the centres to the point, m.
    pub arms: [f64; 2],
    /// Force on the first by displacement of the point against the second, N/m; the sign turned.
    pub stiffness: Mat3<f64>,
    /// What presses over the distance of the centres, N/m: sideways it drives them apart. Nothing at colliders, whose normals hardly turn.
    pub drive: f64,
    force: Vec3<f64>,
    couple: Vec3<f64>,
    spring: Vec3<f64>,
    /// Of friction, N.
    limit: f64,
    energy: f64,
}

/// All pairs that may touch.
#[derive(Clone, Debug, Default)]
pub struct Touch {
    pairs: Vec<Pair>,
    /// Limits of friction, N, by pair, where they no longer follow what presses.
    frozen: Option<Vec<((u32, u32), f64)>>,
    /// Those that touch, in the order of pairs.
    pub touching: Vec<Touching>,
    /// Where each element's part of `sides` begins.
    start: Vec<u32>,
    /// Touching pairs of each element, and whether it is their second.
    sides: Vec<(u32, bool)>,
}

fn listed(list: &PairList<f64>) -> impl Iterator<Item = Pair> {
    (0..list.len()).map(|at| {
        let (_, k, _) = list.constants::<f64>(at);
        let [x, y, z] = list.memory(at).spring;
        Pair {
            i: list.own[at],
            j: list.partner[at],
            touch: list.touch[at],
            k,
            spring: Vec3::new(x, y, z),
        }
    })
}

impl Touch {
    /// Takes the pairs that are listed, with what they remember.
    pub fn collect(&mut self, contacts: &Contacts<f64>) {
        self.pairs.clear();
        for chunk in &contacts.chunks {
            self.pairs.extend(listed(&chunk.within));
            self.pairs.extend(listed(&chunk.behind));
            self.pairs.extend(chunk.walls.iter().map(|wall| {
                let [x, y, z] = wall.memory.spring;
                Pair {
                    i: wall.element,
                    j: COLLIDER + wall.wall,
                    touch: 0.0,
                    k: wall.k,
                    spring: Vec3::new(x, y, z),
                }
            }));
        }
    }

    /// From now on friction is limited by what presses now. Without that an iteration may go to and fro between pairs that slide and pairs that hold.
    pub fn freeze(&mut self) {
        let of = |pair: &Touching| ((pair.i, pair.j), pair.limit);
        let mut frozen: Vec<_> = self.touching.iter().map(of).collect();
        frozen.sort_unstable_by_key(|(key, _)| *key);
        self.frozen = Some(frozen);
    }

    /// Friction follows what presses again.
    pub fn thaw(&mut self) {
        self.frozen = None;
    }

    /// Evaluates all pairs as they stand.
    pub fn evaluate(&mut self, system: &System<f64>, obstacles: &[Obstacle], start: &Start) {
        let found: Vec<Option<Touching>> = self
            .pairs
            .par_iter()
            .with_min_len(256)
            .map(|pair| {
                let limit = self.frozen.as_ref().map(|frozen| {
                    let at = frozen.binary_search_by_key(&(pair.i, pair.j), |(key, _)| *key);
                    at.map_or(0.0, |at| frozen[at].1)
                });
                touching(pair, limit, system, obstacles, start)
            })
            .collect();
        self.touching.clear();
        self.touching.extend(found.into_iter().flatten());
        let mut count = vec![0u32; system.count + 1];
        let ends = |t: &Touching| [Some(t.i), (t.j < COLLIDER).then_some(t.j)];
        for end in self.touching.iter().flat_map(ends).flatten() {
            count[end as usize + 1] += 1;
        }
        for k in 0..system.count {
            count[k + 1] += count[k];
        }
        let mut next = count.clone();
        self.sides = vec![(0, false); count[system.count] as usize];
        for (at, pair) in self.touching.iter().enumerate() {
            for (end, second) in ends(pair).into_iter().zip([false, true]) {
                if let Some(end) = end {
                    let to = &mut next[end as usize];
                    self.sides[*to as usize] = (at as u32, second);
                    *to += 1;
                }
            }
        }
        self.start = count;
    }

    /// Touching pairs of an element, and whether it is the second of each.
    pub fn of(&self, element: usize) -> impl Iterator<Item = (&Touching, bool)> {
        let range = self.start[element] as usize..self.start[element + 1] as usize;
        let sides = self.sides[range].iter();
        sides.map(|&(at, second)| (&self.touching[at as usize], second))
    }

    /// Adds forces and torques.
    pub fn add_loads(&self, sums: &mut [Six]) {
        if self.touching.is_empty() {
            return;
        }
        let elements = self.start.len() - 1;
        sums[..elements]
            .par_iter_mut()
            .with_min_len(256)
            .enumerate()
            .for_each(|(i, sum)| {
                for (pair, second) in self.of(i) {
                    add(sum, &pair.load(second));
                }
            });
    }

    /// Elastic energy, touching pairs, and how many elements touch each of so many colliders.
    pub fn totals(&self, colliders: usize) -> (ContactTotals, Vec<u32>) {
        let mut touched = vec![0; colliders];
        let mut energy = 0.0;
        for pair in &self.touching {
            energy += pair.energy;
            if pair.j >= COLLIDER {
                touched[(pair.j - COLLIDER) as usize] += 1;
            }
        }
        let sides = 2 * self.touching.len() as u64;
        (ContactTotals { energy, sides }, touched)
    }

    /// Lets the lists remember the springs as they stand; those of pairs that do not touch are slack.
    pub fn remember(&self, contacts: &mut Contacts<f64>) {
        let mut springs = Vec::new();
        let mut note = |i: u32, j: u32, spring: Vec3<f64>| {
            let memory = Memory {
                spring: [spring.x, spring.y, spring.z],
                roll: [0.0; 3],
            };
            let entry = |element, partner, memory| SpringEntry {
                element,
                partner,
                memory,
            };
            springs.push(entry(i, j, memory));
            if j < COLLIDER {
                springs.push(entry(j, i, memory.mirrored()));
            }
        };
        let mut touching = self.touching.iter().peekable();
        let slack = Vec3::zero();
        for pair in &self.pairs {
            let same = touching.next_if(|t| (t.i, t.j) == (pair.i, pair.j));
            match same {
                Some(found) => note(pair.i, pair.j, found.spring),
                None if pair.spring != slack => note(pair.i, pair.j, slack),
                None => {}
            }
        }
        let lost = contacts.restore_springs(&springs);
        debug_assert_eq!(lost, 0, "springs belong to listed pairs");
    }
}

impl Touching {
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

fn touching(
    pair: &Pair,
    limit: Option<f64>,
    system: &System<f64>,
    obstacles: &[Obstacle],
    start: &Start,
) -> Option<Touching> {
    let (h, i) = (start.step, pair.i as usize);
    let of = |v: DVec3| Vec3::from_f64(v.to_array());
    let moved = |k: usize| of((system.position(k) - start.position[k]) / h);
    let turned = |k: usize| rotation_between(start.rotation[k], system.quaternion(k)) * (1.0 / h);
    let mut state = if pair.j >= COLLIDER {
        let obstacle = &obstacles[(pair.j - COLLIDER) as usize];
        let r = system.radius(i);
        let (distance, normal, velocity) =
            obstacle.pose.surface(&obstacle.solid, system.position(i));
        if distance >= r {
            return None;
        }
        let wall = contact::wall(distance, of(normal), r);
        ContactState {
            x: wall.x,
            v: moved(i) - of(velocity),
            w_i: turned(i),
            w_j: Vec3::zero(),
            arm_i: wall.arm,
            arm_j: 0.0,
            touch: wall.touch,
            spring: pair.spring,
        }
    } else {
        let j = pair.j as usize;
        let x = of(system.position(i) - system.position(j));
        if x.dot(x) >= pair.touch * pair.touch {
            return None;
        }
        let (arm_i, arm_j) = contact::arms(x, system.radius(i), system.radius(j));
        ContactState {
            x,
            v: moved(i) - moved(j),
            w_i: turned(i),
            w_j: turned(j),
            arm_i,
            arm_j,
            touch: pair.touch,
            spring: pair.spring,
        }
    };
    let mut k = pair.k;
    let length = state.x.norm();
    let n = state.x * (1.0 / length);
    // Damping acts from when they touch on: a pair that came from afar would else be pushed off by a force that is there at once.
    let (approach, slowest) = (state.v.dot(n), (length - state.touch) / h);
    if approach < slowest {
        state.v = state.v + n * (slowest - approach);
    }
    let mut load = contact::pair(state, h, k);
    let pressed = load.force.dot(n);
    if let Some(limit) = limit
        && pressed > 0.0
    {
        // The coefficient that comes to this limit.
        k.friction = limit / pressed;
        load = contact::pair(state, h, k);
    }
    let friction = load.force - n * pressed;
    let stretch = load.spring.norm();
    // Where it slides, only turns of its direction change the friction.
    let sliding = friction.norm() >= k.friction * pressed * (1.0 - 1e-9) && stretch > 0.0;
    let flat = Mat3::diagonal(1.0) - Mat3::outer(n, n);
    let tangential = if sliding {
        let along = load.spring * (1.0 / stretch);
        // What the spring would be if it had not given way.
        let rolling = state.w_i * state.arm_i + state.w_j * state.arm_j;
        let v = state.v - rolling.cross(n);
        let trial = state.spring + v * h;
        let size = (trial - n * trial.dot(n)).norm();
        (flat - Mat3::outer(along, along)) * (k.friction * pressed / size)
    } else {
        flat * k.tangential
    };
    let normal = if pressed > 0.0 {
        k.normal + k.damping / h
    } else {
        0.0
    };
    Some(Touching {
        i: pair.i,
        j: pair.j,
        n,
        arms: [state.arm_i, state.arm_j],
        stiffness: Mat3::outer(n, n) * normal + tangential,
        drive: if pair.j >= COLLIDER {
            0.0
        } else {
            pressed / length
        },
        force: load.force,
        couple: load.couple,
        spring: load.spring,
        limit: k.friction * pressed,
        energy: contact::energy(load.overlap, load.spring, k),
    })
}
