//! Springs of zero rest length that pull elements to where a clamp would place them (Zhang 2024, §4.2).
//!
//! ```text
//! E = ½ k |x − x*|²,  F = −k (x − x*)         per element; x* is the packed position moved by the drive
//! ```
//! Springs act on centres only: rotations are free.

use std::collections::BTreeMap;

use glam::DVec3;

use crate::math::Scalar;
use crate::simulate::bonded::system::System;
use crate::simulate::scene::clamps::{RigidPose, pivot_of};
use crate::simulate::scene::reactions::{Supports, Wrench};
use crate::spec::{Action, Attachment};

/// The springs of one attachment.
#[derive(Clone, Debug)]
struct Spring {
    attachment: u32,
    action: Action,
    /// Centre of rotation of the drive at rest, m.
    pivot: DVec3,
    /// Stiffness per element, N/m.
    stiffness: f64,
    /// Elements that can move, with their packed positions, m.
    ends: Vec<(u32, DVec3)>,
}

/// The spring of one element at one time.
#[derive(Clone, Copy, Debug)]
pub struct SpringPull {
    /// Attachment that it belongs to.
    pub attachment: u32,
    /// The element at its end.
    pub element: u32,
    /// Target position of the element, m.
    pub target: DVec3,
    /// Stiffness k, N/m.
    pub stiffness: f64,
}

impl SpringPull {
    /// Force on the element, N.
    pub fn force<S: Scalar>(&self, system: &System<S>) -> DVec3 {
        (self.target - system.position(self.element as usize)) * self.stiffness
    }
}

/// All springs of a run.
#[derive(Clone, Debug, Default)]
pub struct Springs(Vec<Spring>);

impl Springs {
    /// Springs of all spring attachments, for a system at rest.
    pub fn new<S: Scalar>(
        attachments: &[Attachment],
        supports: &Supports,
        system: &System<S>,
    ) -> Self {
        let spring = |(index, attachment): (usize, &Attachment)| {
            let Action::Spring { stiffness, .. } = attachment.action else {
                return None;
            };
            let ends = supports.elements(index).iter();
            let ends = ends.map(|&i| (i, system.position(i as usize)));
            let all: Vec<(u32, DVec3)> = ends.collect();
            let middle = all.iter().map(|end| end.1).sum::<DVec3>() / all.len() as f64;
            let moves = |i: u32| system.inverse_mass[i as usize].to_f64() > 0.0;
            Some(Spring {
                attachment: index as u32,
                pivot: pivot_of(&attachment.action, middle),
                action: attachment.action.clone(),
                stiffness,
                ends: all.into_iter().filter(|end| moves(end.0)).collect(),
            })
        };
        Springs(attachments.iter().enumerate().filter_map(spring).collect())
    }

    /// Elements of all spring attachments, also those that a clamp holds.
    pub fn attached<'a>(&'a self, supports: &'a Supports) -> impl Iterator<Item = &'a u32> {
        let springs = self.0.iter();
        springs.flat_map(|spring| supports.elements(spring.attachment as usize))
    }

    /// Springs of all elements at time `t` (s), in the order of attachments and elements.
    pub fn pulls(&self, t: f64) -> Vec<SpringPull> {
        let of = |spring: &Spring| {
            let drive = spring.action.drive().expect("springs are driven");
            let hold = RigidPose::<f64>::new(spring.pivot, drive.pose(t));
            let pull = |&(element, rest): &(u32, DVec3)| SpringPull {
                attachment: spring.attachment,
                element,
                target: hold.place(rest),
                stiffness: spring.stiffness,
            };
            spring.ends.iter().map(pull).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(of).collect()
    }

    /// Largest spring stiffness over mass of any element, 1/s².
    pub fn largest_per_mass(&self, mass: &[f64]) -> f64 {
        let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
        for spring in &self.0 {
            for (element, _) in &spring.ends {
                *sums.entry(*element).or_default() += spring.stiffness;
            }
        }
        let per_mass = sums.iter().map(|(&element, k)| k / mass[element as usize]);
        per_mass.fold(0.0, f64::max)
    }
}

/// Wrench of these springs on each attachment, about the mean present position of its elements.
pub fn wrenches<S: Scalar>(
    pulls: &[SpringPull],
    supports: &Supports,
    system: &System<S>,
) -> Vec<(u32, Wrench)> {
    let of = |pulls: &[SpringPull]| {
        let attachment = pulls[0].attachment;
        let middle = supports.middle(attachment, system);
        let mut sum = Wrench::default();
        for pull in pulls {
            let arm = system.position(pull.element as usize) - middle;
            sum += Wrench::at(arm, -pull.force(system), DVec3::ZERO);
        }
        (attachment, sum)
    };
    let same = |a: &SpringPull, b: &SpringPull| a.attachment == b.attachment;
    pulls.chunk_by(same).map(of).collect()
}
