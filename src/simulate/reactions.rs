//! What colliders and attachments bear: which elements they hold, what they bore since the frame before, and the table of it.
//!
//! A mean over the steps of a frame, weighted as these kick the elements: half of the load at either end of the frame, all of each load
//! between. So the momentum that a frame shows changes by just these forces and gravity.

use glam::DVec3;
use rkyv::{Archive, Deserialize, Serialize};

use super::record::Rest;
use super::system::System;
use crate::columns::{LoadKind, Loads};
use crate::math::Scalar;
use crate::spec::{Action, Collider, Pipeline};

/// Force, N, and torque, N m, or sums of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// Force.
    pub force: DVec3,
    /// Torque.
    pub torque: DVec3,
}

impl Wrench {
    /// Of a force and a torque that act at the end of an arm.
    pub fn at(arm: DVec3, force: DVec3, torque: DVec3) -> Self {
        Wrench {
            force,
            torque: torque + arm.cross(force),
        }
    }
}

impl std::ops::Add for Wrench {
    type Output = Wrench;
    fn add(self, other: Wrench) -> Wrench {
        Wrench {
            force: self.force + other.force,
            torque: self.torque + other.torque,
        }
    }
}

impl std::ops::AddAssign for Wrench {
    fn add_assign(&mut self, other: Wrench) {
        *self = *self + other;
    }
}

impl std::ops::Mul<f64> for Wrench {
    type Output = Wrench;
    fn mul(self, factor: f64) -> Wrench {
        Wrench {
            force: self.force * factor,
            torque: self.torque * factor,
        }
    }
}

/// Elements of an attachment.
#[derive(Clone, Debug, PartialEq)]
pub struct Grip {
    /// Those in its region; of a clamp those that no later clamp holds.
    pub elements: Vec<u32>,
    /// Whether it holds them.
    pub clamps: bool,
}

/// An element that a clamp holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held {
    /// The element.
    pub element: u32,
    /// Index of the attachment.
    pub attachment: u32,
    /// From the middle of the clamp to the element, m: a clamp does not turn.
    pub arm: DVec3,
}

/// An attachment as it is measured.
#[derive(Clone, Debug)]
struct Attached {
    kind: LoadKind,
    name: String,
    elements: Vec<u32>,
    /// Middle of its elements at rest, m.
    middle: DVec3,
    /// What it bears whatever its elements do.
    dead: Wrench,
}

/// Everything that bears loads: colliders, then attachments, in the order of the pipeline.
#[derive(Clone, Debug)]
pub struct Bearers {
    colliders: Vec<Collider>,
    attached: Vec<Attached>,
    held: Vec<Held>,
}

impl Bearers {
    /// Of a system at rest; `grips` in the order of the attachments.
    pub fn new<S: Scalar>(
        pipeline: &Pipeline,
        grips: Vec<Grip>,
        system: &System<S>,
        rest: &Rest,
    ) -> Self {
        let mut held = Vec::new();
        let mut attached = Vec::new();
        for (attachment, grip) in pipeline.attachments.iter().zip(grips) {
            let middle = middle(system, &grip.elements);
            let (kind, dead_force) = match attachment.action {
                Action::Clamp { .. } => (LoadKind::Clamp, DVec3::ZERO),
                Action::Force { force } => (LoadKind::Force, -DVec3::from_array(force)),
                Action::Gauge {} => (LoadKind::Gauge, DVec3::ZERO),
            };
            let mut dead = Wrench::at(DVec3::ZERO, dead_force, DVec3::ZERO);
            if grip.clamps {
                for &element in &grip.elements {
                    let arm = system.position(element as usize) - middle;
                    let weight = rest.gravity * rest.mass[element as usize];
                    dead += Wrench::at(arm, weight, DVec3::ZERO);
                    held.push(Held {
                        element,
                        attachment: attached.len() as u32,
                        arm,
                    });
                }
            }
            attached.push(Attached {
                kind,
                name: attachment.name.clone(),
                elements: grip.elements,
                middle,
                dead,
            });
        }
        held.sort_unstable_by_key(|held| held.element);
        Bearers {
            colliders: pipeline.colliders.clone(),
            attached,
            held,
        }
    }

    /// Adds a force on each of these elements: clamps bear it for those that they hold.
    pub fn load(&mut self, elements: &[u32], force: DVec3) {
        for element in elements {
            let found = self.held.binary_search_by_key(element, |held| held.element);
            if let Ok(at) = found {
                let Held {
                    attachment, arm, ..
                } = self.held[at];
                self.attached[attachment as usize].dead += Wrench::at(arm, force, DVec3::ZERO);
            }
        }
    }

    /// How many bear.
    pub fn count(&self) -> usize {
        self.colliders.len() + self.attached.len()
    }

    /// The colliders.
    pub fn colliders(&self) -> &[Collider] {
        &self.colliders
    }

    /// The elements that clamps hold, ascending.
    pub fn held(&self) -> &[Held] {
        &self.held
    }

    /// Place of an attachment among all that bear.
    pub fn attachment(&self, index: u32) -> usize {
        self.colliders.len() + index as usize
    }

    fn kinds(&self) -> impl Iterator<Item = (LoadKind, u32, &str)> {
        let colliders = self.colliders.iter().map(|c| (LoadKind::Collider, &c.name));
        let attached = self.attached.iter().map(|a| (a.kind, &a.name));
        let all = (0..).zip(colliders).chain((0..).zip(attached));
        all.map(|(index, (kind, name))| (kind, index, name.as_str()))
    }

    /// The table of a frame at `time`: what elements did to each on average, none before the first step, and the elements that touch each
    /// collider.
    pub fn table<S: Scalar>(
        &self,
        (frame, time): (u32, f64),
        mean: Option<Vec<Wrench>>,
        touching: &[u32],
        system: &System<S>,
    ) -> Loads {
        let mut table = Loads::default();
        for (at, (kind, index, name)) in self.kinds().enumerate() {
            let index_of = index as usize;
            let mut wrench = mean.as_ref().map_or(Wrench::default(), |mean| mean[at]);
            let (position, moved, angle, contacts) = match kind {
                LoadKind::Collider => {
                    let [start, now] = [0.0, time].map(|t| self.colliders[index_of].pose(t));
                    let turned = now.rotation * start.rotation.inverse();
                    let angle = 2.0 * turned.xyz().length().atan2(turned.w.abs());
                    let moved = now.position - start.position;
                    (now.position, moved, angle, touching[index_of])
                }
                LoadKind::Clamp | LoadKind::Force | LoadKind::Gauge => {
                    let attached = &self.attached[index_of];
                    if mean.is_some() {
                        wrench += attached.dead;
                    }
                    let position = middle(system, &attached.elements);
                    let held = attached.elements.len() as u32;
                    (position, position - attached.middle, 0.0, held)
                }
            };
            table.frame.push(frame);
            table.time.push(time);
            table.kind.push(kind);
            table.index.push(index);
            table.name.push(name.to_owned());
            let Wrench { force, torque } = wrench;
            let columns = [
                (&mut table.fx, force.x),
                (&mut table.fy, force.y),
                (&mut table.fz, force.z),
                (&mut table.tx, torque.x),
                (&mut table.ty, torque.y),
                (&mut table.tz, torque.z),
                (&mut table.x, position.x),
                (&mut table.y, position.y),
                (&mut table.z, position.z),
                (&mut table.dx, moved.x),
                (&mut table.dy, moved.y),
                (&mut table.dz, moved.z),
                (&mut table.angle, angle),
            ];
            for (column, value) in columns {
                column.push(value);
            }
            table.contacts.push(contacts);
        }
        table
    }
}

/// Mean position of some elements, m.
fn middle<S: Scalar>(system: &System<S>, elements: &[u32]) -> DVec3 {
    let sum: DVec3 = elements.iter().map(|&i| system.position(i as usize)).sum();
    sum / elements.len() as f64
}

/// What a bearer bore in the last step of a state.
#[derive(Clone, Debug, PartialEq, Archive, Serialize, Deserialize)]
pub struct Borne {
    attachment: bool,
    name: String,
    wrench: [f64; 6],
}

/// What each bears, from step to step and on average.
#[derive(Clone, Debug)]
pub struct Tally {
    /// In the last step.
    last: Vec<Wrench>,
    /// Since the frame before, times steps.
    sum: Vec<Wrench>,
    steps: u64,
}

impl Tally {
    /// Of so many that bear nothing.
    pub fn new(count: usize) -> Self {
        Tally {
            last: vec![Wrench::default(); count],
            sum: vec![Wrench::default(); count],
            steps: 0,
        }
    }

    /// Takes what each bears before the first step.
    pub fn start(&mut self, now: Vec<Wrench>) {
        *self = Tally {
            last: now,
            ..Tally::new(self.sum.len())
        };
    }

    /// Takes some steps: the sum over all of them but the last, and the last.
    pub fn add(&mut self, steps: u64, before: &[Wrench], now: Vec<Wrench>) {
        for (k, sum) in self.sum.iter_mut().enumerate() {
            *sum += before[k] + (self.last[k] + now[k]) * 0.5;
        }
        self.last = now;
        self.steps += steps;
    }

    /// The mean since it was taken before; none where no step was.
    pub fn take(&mut self) -> Option<Vec<Wrench>> {
        let steps = std::mem::take(&mut self.steps);
        let sum = std::mem::replace(&mut self.sum, vec![Wrench::default(); self.last.len()]);
        let mean = |sum: Wrench| sum * (1.0 / steps as f64);
        (steps > 0).then(|| sum.into_iter().map(mean).collect())
    }

    /// What a state keeps of it at a frame.
    pub fn pack(&self, bearers: &Bearers) -> Vec<Borne> {
        let all = bearers.kinds().zip(&self.last);
        all.map(|((kind, _, name), wrench)| Borne {
            attachment: kind != LoadKind::Collider,
            name: name.to_owned(),
            wrench: [wrench.force, wrench.torque]
                .map(|v| v.to_array())
                .concat()
                .try_into()
                .expect("two vectors are six numbers"),
        })
        .collect()
    }

    /// Goes on from a state; what is new in a run has borne nothing yet.
    pub fn unpack(&mut self, bearers: &Bearers, borne: &[Borne]) {
        let last = bearers.kinds().enumerate().map(|(at, (kind, _, name))| {
            let same = |b: &&Borne| b.attachment == (kind != LoadKind::Collider) && b.name == name;
            let mut found = borne.get(at).into_iter().chain(borne);
            found.find(same).map_or(Wrench::default(), |b| {
                let [fx, fy, fz, tx, ty, tz] = b.wrench;
                Wrench {
                    force: DVec3::new(fx, fy, fz),
                    torque: DVec3::new(tx, ty, tz),
                }
            })
        });
        self.start(last.collect());
    }
}
