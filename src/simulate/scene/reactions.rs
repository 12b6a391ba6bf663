//! Supports (colliders and attachments that bear loads): the elements that they hold, and the table of mean
//! loads since the previous frame.

use glam::{DQuat, DVec3};

use crate::columns::{LoadKind, Loads};
use crate::math::Scalar;
use crate::simulate::bonded::rest::RestData;
use crate::simulate::bonded::system::System;
use crate::simulate::scene::clamps::{Clamps, RigidPose, angle_between};
use crate::simulate::scene::colliders::SolidCollider;
use crate::spec::{Action, Attachment, Signal};

/// Force (N) and torque (N m), or sums of them over steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// Force.
    pub force: DVec3,
    /// Torque.
    pub torque: DVec3,
}

impl Wrench {
    /// Wrench of a force and a torque that act at the end of an arm.
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

impl std::ops::Sub for Wrench {
    type Output = Wrench;
    fn sub(self, other: Wrench) -> Wrench {
        Wrench {
            force: self.force - other.force,
            torque: self.torque - other.torque,
        }
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

/// Mean wrench on each collider and attachment over the steps of a frame.
#[derive(Clone, Debug)]
pub struct MeanWrenches {
    /// One mean wrench per support.
    pub wrenches: Vec<Wrench>,
    /// Number of steps averaged over.
    pub steps: u64,
}

/// Elements of one attachment.
#[derive(Clone, Debug, PartialEq)]
pub struct AttachedElements {
    /// Elements in its region; a clamp leaves out those that a later clamp holds.
    pub elements: Vec<u32>,
    /// Whether the attachment is a clamp.
    pub clamps: bool,
}

/// An element held by a clamp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClampedElement {
    /// The element.
    pub element: u32,
    /// Index of the attachment.
    pub attachment: u32,
    /// From the middle of the clamp to the element at rest, m.
    pub arm: DVec3,
    /// Index among the driven clamps; `None` if the clamp does not rotate.
    pub driven: Option<u32>,
}

impl ClampedElement {
    /// Contribution of one step's load on the element to its sum: about the present middle of a driven clamp,
    /// else about the element.
    pub fn share<S>(&self, poses: &[RigidPose<S>], force: DVec3, torque: DVec3) -> Wrench {
        let arm = self.driven.map_or(DVec3::ZERO, |driven| {
            poses[driven as usize].pose.rotation * self.arm
        });
        Wrench::at(arm, force, torque)
    }

    /// Converts a sum of shares to a wrench about the middle of the clamp.
    pub fn clamp_wrench(&self, sum: Wrench) -> Wrench {
        match self.driven {
            Some(_) => sum,
            None => Wrench::at(self.arm, sum.force, sum.torque),
        }
    }
}

/// Sum of constant loads on elements of a rotating clamp: one load at the end of a lever that rotates with
/// the clamp.
#[derive(Clone, Copy, Debug)]
struct Lever {
    /// Sum of the elements' arms at rest, each times its multiple of `force`, m.
    arm: DVec3,
    /// Force, N, or its density.
    force: DVec3,
}

/// An attachment with all that measuring its load needs.
#[derive(Clone, Debug)]
struct AttachmentSupport {
    kind: LoadKind,
    name: String,
    elements: Vec<u32>,
    /// Middle of its elements at rest, m.
    middle: DVec3,
    /// Constant wrench on it, whatever its elements do; for a driven clamp only the force.
    constant: Wrench,
    /// Factor on `constant` over time.
    signal: Option<Signal>,
    /// Index among the driven clamps.
    driven: Option<u32>,
    /// Levers of the constant loads of a driven clamp, for their torque.
    levers: Vec<Lever>,
    /// Elements under its pressure, with the force on each at rest, N.
    pressed: Vec<(u32, DVec3)>,
}

impl AttachmentSupport {
    /// Elements under its pressure, with the force on each in its present orientation, N.
    fn pressures<S: Scalar>(&self, system: &System<S>) -> impl Iterator<Item = (u32, DVec3)> {
        let turned = |(i, force): &(u32, DVec3)| (*i, system.rotation(*i as usize) * *force);
        self.pressed.iter().map(turned)
    }

    /// Adds the constant force `force × amount` on one of the attachment's elements, and its moment, to the reaction of
    /// the attachment. `arm`: position of the element at rest, from the centre of the attachment, m.
    fn load(&mut self, arm: DVec3, force: DVec3, amount: f64) {
        if self.driven.is_none() {
            self.constant += Wrench::at(arm, force * amount, DVec3::ZERO);
            return;
        }
        self.constant.force += force * amount;
        match self.levers.last_mut() {
            Some(lever) if lever.force == force => lever.arm += arm * amount,
            _ => self.levers.push(Lever {
                arm: arm * amount,
                force,
            }),
        }
    }
}

/// Number, step and time step of a frame.
#[derive(Clone, Copy, Debug)]
pub struct FrameTime {
    /// Number of the frame.
    pub frame: u32,
    /// Number of steps done.
    pub step: u64,
    /// Time step, s.
    pub dt: f64,
}

/// All supports, which bear loads: colliders, then attachments, in the order of the pipeline.
#[derive(Clone, Debug)]
pub struct Supports {
    colliders: Vec<SolidCollider>,
    attached: Vec<AttachmentSupport>,
    held: Vec<ClampedElement>,
    clamps: Clamps,
}

impl Supports {
    /// Supports of a system at rest; `attached_elements` lists the elements of each attachment.
    pub fn new<S: Scalar>(
        colliders: Vec<SolidCollider>,
        attachments: &[Attachment],
        attached_elements: Vec<AttachedElements>,
        system: &System<S>,
        rest: &RestData,
    ) -> Self {
        let mut held = Vec::new();
        let mut attached = Vec::new();
        let mut clamps = Clamps::default();
        for (attachment, own) in attachments.iter().zip(attached_elements) {
            let middle = middle(system, &own.elements);
            let (kind, constant_force) = match attachment.action {
                Action::Clamp { .. } => (LoadKind::Clamp, DVec3::ZERO),
                Action::Force { force, .. } => (LoadKind::Force, -DVec3::from_array(force)),
                Action::Spring { .. } => (LoadKind::Spring, DVec3::ZERO),
                Action::Pressure { .. } => (LoadKind::Pressure, DVec3::ZERO),
                Action::Gauge {} => (LoadKind::Gauge, DVec3::ZERO),
            };
            let (constant_torque, signal) = match attachment.action {
                Action::Force { torque, signal, .. } => (-DVec3::from_array(torque), signal),
                _ => (DVec3::ZERO, None),
            };
            let driven = match own.clamps {
                true => clamps.add(&attachment.action, &own.elements, middle, system),
                false => None,
            };
            let mut one = AttachmentSupport {
                kind,
                name: attachment.name.clone(),
                elements: own.elements,
                middle,
                constant: Wrench::at(DVec3::ZERO, constant_force, constant_torque),
                signal,
                driven,
                levers: Vec::new(),
                pressed: Vec::new(),
            };
            if own.clamps {
                for at in 0..one.elements.len() {
                    let element = one.elements[at];
                    let arm = system.position(element as usize) - middle;
                    one.load(arm, rest.gravity, rest.mass[element as usize]);
                    held.push(ClampedElement {
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
        Supports {
            colliders,
            attached,
            held,
            clamps,
        }
    }

    /// The clamp that holds an element, if any.
    pub fn clamped_element(&self, element: u32) -> Option<&ClampedElement> {
        let found = self
            .held
            .binary_search_by_key(&element, |held| held.element);
        found.ok().map(|at| &self.held[at])
    }

    /// Adds a constant force on each of these elements; those held by a clamp pass it on to the clamp.
    pub fn load(&mut self, elements: &[u32], force: DVec3) {
        for element in elements {
            if let Some(ClampedElement {
                attachment, arm, ..
            }) = self.clamped_element(*element).copied()
            {
                self.attached[attachment as usize].load(arm, force, 1.0);
            }
        }
    }

    /// Elements of an attachment.
    pub fn elements(&self, index: usize) -> &[u32] {
        &self.attached[index].elements
    }

    /// Mean present position of the elements of an attachment, m.
    pub fn middle<S: Scalar>(&self, attachment: u32, system: &System<S>) -> DVec3 {
        middle(system, self.elements(attachment as usize))
    }

    /// Elements of all attachments.
    pub fn attached_elements(&self) -> impl Iterator<Item = &u32> {
        self.attached.iter().flat_map(|one| &one.elements)
    }

    /// Sets the forces (N, at rest) of a pressure attachment on its elements.
    pub fn press(&mut self, index: usize, forces: Vec<(u32, DVec3)>) {
        self.attached[index].pressed = forces;
    }

    /// Elements under pressure, with the force on each in its present orientation, N.
    pub fn pressures<S: Scalar>(&self, system: &System<S>) -> impl Iterator<Item = (u32, DVec3)> {
        self.attached.iter().flat_map(|one| one.pressures(system))
    }

    /// Number of supports.
    pub fn count(&self) -> usize {
        self.colliders.len() + self.attached.len()
    }

    /// The colliders.
    pub fn colliders(&self) -> &[SolidCollider] {
        &self.colliders
    }

    /// Clamped elements, ascending.
    pub fn held(&self) -> &[ClampedElement] {
        &self.held
    }

    /// The driven clamps.
    pub fn clamps(&self) -> &Clamps {
        &self.clamps
    }

    /// Index of an attachment among all supports.
    pub fn attachment(&self, index: u32) -> usize {
        self.colliders.len() + index as usize
    }

    /// Mean of the constant loads on an attachment over the last `steps` steps.
    fn constant(&self, attached: &AttachmentSupport, frame_time: FrameTime, steps: u64) -> Wrench {
        let mut constant = attached.constant;
        if let Some(signal) = attached.signal {
            return constant * signal.at(frame_time.step as f64 * frame_time.dt);
        }
        if let Some(driven) = attached.driven {
            for lever in &attached.levers {
                let arm_at = |back: u64| {
                    let time = (frame_time.step - back) as f64 * frame_time.dt;
                    self.clamps.pose(driven, time).rotation * lever.arm
                };
                // Weighted as the half steps of velocity Verlet weight the loads.
                let within: DVec3 = (1..steps).map(arm_at).sum();
                let arms = within + (arm_at(0) + arm_at(steps)) * 0.5;
                constant.torque += (arms / steps as f64).cross(lever.force);
            }
        }
        constant
    }

    /// Kind, index among colliders or attachments, and name of each support.
    pub fn kinds(&self) -> impl Iterator<Item = (LoadKind, u32, &str)> {
        let colliders = self
            .colliders
            .iter()
            .map(|c| (LoadKind::Collider, &c.collider.name));
        let attached = self.attached.iter().map(|a| (a.kind, &a.name));
        let all = (0..).zip(colliders).chain((0..).zip(attached));
        all.map(|(index, (kind, name))| (kind, index, name.as_str()))
    }

    /// The load table of a frame. `mean` is `None` before the first step; `touching` is the number of
    /// elements that touch each collider.
    pub fn table<S: Scalar>(
        &self,
        frame_time: FrameTime,
        mean: Option<MeanWrenches>,
        touching: &[u32],
        system: &System<S>,
    ) -> Loads {
        let mut table = Loads::default();
        let time = frame_time.step as f64 * frame_time.dt;
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
                        wrench += self.constant(attached, frame_time, mean.steps);
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
            table.frame.push(frame_time.frame);
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
