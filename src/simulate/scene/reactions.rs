//! What colliders and attachments bear: which elements they hold, and the table of what they bore since the
//! frame before.

use glam::{DQuat, DVec3};

use crate::columns::{LoadKind, Loads};
use crate::math::Scalar;
use crate::simulate::bonded::rest::Rest;
use crate::simulate::bonded::system::System;
use crate::simulate::scene::clamps::{Clamps, Hold, angle_between};
use crate::simulate::scene::colliders::Barrier;
use crate::spec::{Action, Attachment, Signal};

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

/// What bearers bore on average over the steps of a frame.
#[derive(Clone, Debug)]
pub struct Mean {
    /// Of each.
    pub wrenches: Vec<Wrench>,
    /// Steps that it is a mean of.
    pub steps: u64,
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
    /// From the middle of the clamp to the element at rest, m.
    pub arm: DVec3,
    /// Index of the clamp among those that are driven: only these turn.
    pub driven: Option<u32>,
}

impl Held {
    /// What a load on the element at a step adds to its sum: about the middle of a driven clamp as that
    /// stands, else about the element.
    pub fn share<S>(&self, holds: &[Hold<S>], force: DVec3, torque: DVec3) -> Wrench {
        let arm = self.driven.map_or(DVec3::ZERO, |driven| {
            holds[driven as usize].pose.rotation * self.arm
        });
        Wrench::at(arm, force, torque)
    }

    /// Sum of such shares as a load about the middle of the clamp.
    pub fn borne(&self, sum: Wrench) -> Wrench {
        match self.driven {
            Some(_) => sum,
            None => Wrench::at(self.arm, sum.force, sum.torque),
        }
    }
}

/// Constant loads on elements of a clamp that turns: in sum a load at the end of a lever that turns along.
#[derive(Clone, Copy, Debug)]
struct Lever {
    /// Sum of the elements' arms at rest, each times how many of `force` act there, m.
    arm: DVec3,
    /// Force, N, or its density.
    force: DVec3,
}

/// An attachment as it is measured.
#[derive(Clone, Debug)]
struct Attached {
    kind: LoadKind,
    name: String,
    elements: Vec<u32>,
    /// Middle of its elements at rest, m.
    middle: DVec3,
    /// What it bears whatever its elements do; of a driven clamp the force alone.
    dead: Wrench,
    /// How that changes with time.
    signal: Option<Signal>,
    /// Index among the driven clamps.
    driven: Option<u32>,
    /// What turns its dead loads make, where it is driven.
    levers: Vec<Lever>,
    /// Elements that it presses, and with what force at rest, N.
    pressed: Vec<(u32, DVec3)>,
}

impl Attached {
    /// Elements that it presses and with what force as they are turned, N.
    fn pressures<S: Scalar>(&self, system: &System<S>) -> impl Iterator<Item = (u32, DVec3)> {
        let turned = |(i, force): &(u32, DVec3)| (*i, system.rotation(*i as usize) * *force);
        self.pressed.iter().map(turned)
    }

    /// Adds the dead load `force × amount` on an element that it holds.
    fn load(&mut self, arm: DVec3, force: DVec3, amount: f64) {
        if self.driven.is_none() {
            self.dead += Wrench::at(arm, force * amount, DVec3::ZERO);
            return;
        }
        self.dead.force += force * amount;
        match self.levers.last_mut() {
            Some(lever) if lever.force == force => lever.arm += arm * amount,
            _ => self.levers.push(Lever {
                arm: arm * amount,
                force,
            }),
        }
    }
}

/// A frame as the table of loads wants to know it.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    /// Its number.
    pub frame: u32,
    /// Steps done.
    pub step: u64,
    /// Time step, s.
    pub dt: f64,
}

/// Everything that bears loads: colliders, then attachments, in the order of the pipeline.
#[derive(Clone, Debug)]
pub struct Bearers {
    colliders: Vec<Barrier>,
    attached: Vec<Attached>,
    held: Vec<Held>,
    clamps: Clamps,
}

impl Bearers {
    /// Of a system at rest; `grips` in the order of the attachments.
    pub fn new<S: Scalar>(
        colliders: Vec<Barrier>,
        attachments: &[Attachment],
        grips: Vec<Grip>,
        system: &System<S>,
        rest: &Rest,
    ) -> Self {
        let mut held = Vec::new();
        let mut attached = Vec::new();
        let mut clamps = Clamps::default();
        for (attachment, grip) in attachments.iter().zip(grips) {
            let middle = middle(system, &grip.elements);
            let (kind, dead_force) = match attachment.action {
                Action::Clamp { .. } => (LoadKind::Clamp, DVec3::ZERO),
                Action::Force { force, .. } => (LoadKind::Force, -DVec3::from_array(force)),
                Action::Spring { .. } => (LoadKind::Spring, DVec3::ZERO),
                Action::Pressure { .. } => (LoadKind::Pressure, DVec3::ZERO),
                Action::Gauge {} => (LoadKind::Gauge, DVec3::ZERO),
            };
            let (dead_torque, signal) = match attachment.action {
                Action::Force { torque, signal, .. } => (-DVec3::from_array(torque), signal),
                _ => (DVec3::ZERO, None),
            };
            let driven = match grip.clamps {
                true => clamps.add(&attachment.action, &grip.elements, middle, system),
                false => None,
            };
            let mut one = Attached {
                kind,
                name: attachment.name.clone(),
                elements: grip.elements,
                middle,
                dead: Wrench::at(DVec3::ZERO, dead_force, dead_torque),
                signal,
                driven,
                levers: Vec::new(),
                pressed: Vec::new(),
            };
            if grip.clamps {
                for at in 0..one.elements.len() {
                    let element = one.elements[at];
                    let arm = system.position(element as usize) - middle;
                    one.load(arm, rest.gravity, rest.mass[element as usize]);
                    held.push(Held {
                        element,
                        attachment: attached.len() as u32,
                        arm,
                        driven,
                    });
                }
            }
            attached.push(one);
        }
        held.sort_unstable_by_key(|held| held.element);
        Bearers {
            colliders,
            attached,
            held,
            clamps,
        }
    }

    /// How an element is held, where a clamp holds it.
    pub fn held_by(&self, element: u32) -> Option<&Held> {
        let found = self
            .held
            .binary_search_by_key(&element, |held| held.element);
        found.ok().map(|at| &self.held[at])
    }

    /// Adds a force on each of these elements: clamps bear it for those that they hold.
    pub fn load(&mut self, elements: &[u32], force: DVec3) {
        for element in elements {
            if let Some(Held {
                attachment, arm, ..
            }) = self.held_by(*element).copied()
            {
                self.attached[attachment as usize].load(arm, force, 1.0);
            }
        }
    }

    /// Elements of an attachment.
    pub fn elements(&self, index: usize) -> &[u32] {
        &self.attached[index].elements
    }

    /// Middle of the elements of an attachment as they stand, m.
    pub fn middle<S: Scalar>(&self, attachment: u32, system: &System<S>) -> DVec3 {
        middle(system, self.elements(attachment as usize))
    }

    /// Sets the forces (N, at rest) with which an attachment presses elements.
    pub fn press(&mut self, index: usize, forces: Vec<(u32, DVec3)>) {
        self.attached[index].pressed = forces;
    }

    /// Elements that are pressed and with what force as they are turned, N.
    pub fn pressures<S: Scalar>(&self, system: &System<S>) -> impl Iterator<Item = (u32, DVec3)> {
        self.attached.iter().flat_map(|one| one.pressures(system))
    }

    /// How many bear.
    pub fn count(&self) -> usize {
        self.colliders.len() + self.attached.len()
    }

    /// The colliders.
    pub fn colliders(&self) -> &[Barrier] {
        &self.colliders
    }

    /// The elements that clamps hold, ascending.
    pub fn held(&self) -> &[Held] {
        &self.held
    }

    /// The clamps that turn or go along key frames.
    pub fn clamps(&self) -> &Clamps {
        &self.clamps
    }

    /// Place of an attachment among all that bear.
    pub fn attachment(&self, index: u32) -> usize {
        self.colliders.len() + index as usize
    }

    /// What the dead loads of an attachment come to on average over the steps up to this one.
    fn dead(&self, attached: &Attached, stamp: Stamp, steps: u64) -> Wrench {
        let mut dead = attached.dead;
        if let Some(signal) = attached.signal {
            return dead * signal.at(stamp.step as f64 * stamp.dt);
        }
        if let Some(driven) = attached.driven {
            for lever in &attached.levers {
                let arm_at = |back: u64| {
                    let time = (stamp.step - back) as f64 * stamp.dt;
                    self.clamps.pose(driven, time).rotation * lever.arm
                };
                // Weighted as steps kick.
                let within: DVec3 = (1..steps).map(arm_at).sum();
                let arms = within + (arm_at(0) + arm_at(steps)) * 0.5;
                dead.torque += (arms / steps as f64).cross(lever.force);
            }
        }
        dead
    }

    /// Kind, index among those alike and name of each.
    pub fn kinds(&self) -> impl Iterator<Item = (LoadKind, u32, &str)> {
        let colliders = self
            .colliders
            .iter()
            .map(|c| (LoadKind::Collider, &c.collider.name));
        let attached = self.attached.iter().map(|a| (a.kind, &a.name));
        let all = (0..).zip(colliders).chain((0..).zip(attached));
        all.map(|(index, (kind, name))| (kind, index, name.as_str()))
    }

    /// The table of a frame: what elements did to each on average, none before the first step, and the
    /// elements that touch each collider.
    pub fn table<S: Scalar>(
        &self,
        stamp: Stamp,
        mean: Option<Mean>,
        touching: &[u32],
        system: &System<S>,
    ) -> Loads {
        let mut table = Loads::default();
        let time = stamp.step as f64 * stamp.dt;
        for (at, (kind, index, name)) in self.kinds().enumerate() {
            let index_of = index as usize;
            let mut wrench = mean.as_ref().map_or(Wrench::default(), |m| m.wrenches[at]);
            let (position, moved, angle, contacts) = match kind {
                LoadKind::Collider => {
                    let [start, now] =
                        [0.0, time].map(|t| self.colliders[index_of].collider.pose(t));
                    let angle = angle_between(start.rotation, now.rotation);
                    let moved = now.position - start.position;
                    (now.position, moved, angle, touching[index_of])
                }
                _ => {
                    let attached = &self.attached[index_of];
                    if let Some(mean) = &mean {
                        wrench += self.dead(attached, stamp, mean.steps);
                    }
                    let angle = attached.driven.map_or(0.0, |driven| {
                        let turned = self.clamps.pose(driven, time).rotation;
                        angle_between(DQuat::IDENTITY, turned)
                    });
                    let position = middle(system, &attached.elements);
                    for (i, force) in attached.pressures(system) {
                        let arm = system.position(i as usize) - position;
                        wrench += Wrench::at(arm, -force, DVec3::ZERO);
                    }
                    let held = attached.elements.len() as u32;
                    (position, position - attached.middle, angle, held)
                }
            };
            table.frame.push(stamp.frame);
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
