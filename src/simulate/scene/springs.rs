//! Springs of no length at rest that draw elements to where a clamp would have them (Zhang 2024, §4.2).
//!
//! ```text
//! E = ½ k |x − x*|²,  F = −k (x − x*)         of each element; x* where the drive of the spring has what was packed there
//! ```
//! They act on centres: rotations are free.

use glam::DVec3;

use crate::math::Scalar;
use crate::simulate::bonded::system::System;
use crate::simulate::scene::clamps::{Hold, pivot_of};
use crate::simulate::scene::reactions::{Bearers, Wrench};
use crate::spec::{Action, Attachment};

/// Springs of one attachment.
#[derive(Clone, Debug)]
struct Spring {
    attachment: u32,
    action: Action,
    /// What it turns about, at rest, m.
    pivot: DVec3,
    /// Of each element, N/m.
    stiffness: f64,
    /// Elements that can move, and where they were packed, m.
    ends: Vec<(u32, DVec3)>,
}

/// A spring at a moment.
#[derive(Clone, Copy, Debug)]
pub struct Pull {
    /// Attachment that it belongs to.
    pub attachment: u32,
    /// The element that it draws.
    pub element: u32,
    /// Whither, m.
    pub target: DVec3,
    /// k, N/m.
    pub stiffness: f64,
}

impl Pull {
    /// Force on the element, N.
    pub fn force<S: Scalar>(&self, system: &System<S>) -> DVec3 {
        (self.target - system.position(self.element as usize)) * self.stiffness
    }
}

/// All springs of a run.
#[derive(Clone, Debug, Default)]
pub struct Springs(Vec<Spring>);

impl Springs {
    /// Of a system at rest.
    pub fn new<S: Scalar>(
        attachments: &[Attachment],
        bearers: &Bearers,
        system: &System<S>,
    ) -> Self {
        let spring = |(index, attachment): (usize, &Attachment)| {
            let Action::Spring { stiffness, .. } = attachment.action else {
                return None;
            };
            let places = bearers.elements(index).iter();
            let places = places.map(|&i| (i, system.position(i as usize)));
            let all: Vec<(u32, DVec3)> = places.collect();
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

    /// All of them at time `t`, s, in the order of attachments and elements.
    pub fn pulls(&self, t: f64) -> Vec<Pull> {
        let of = |spring: &Spring| {
            let drive = spring.action.drive().expect("springs are driven");
            let hold = Hold::<f64>::new(spring.pivot, drive.pose(t));
            let pull = |&(element, rest): &(u32, DVec3)| Pull {
                attachment: spring.attachment,
                element,
                target: hold.place(rest),
                stiffness: spring.stiffness,
            };
            spring.ends.iter().map(pull).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(of).collect()
    }

    /// Largest stiffness over mass of an element, 1/s².
    pub fn largest_per_mass(&self, mass: &[f64]) -> f64 {
        let mut sum = vec![0.0; mass.len()];
        for spring in &self.0 {
            for (element, _) in &spring.ends {
                sum[*element as usize] += spring.stiffness;
            }
        }
        let per_mass = sum.iter().zip(mass).map(|(k, m)| k / m);
        per_mass.fold(0.0, f64::max)
    }
}

/// What each attachment bears of such pulls, about the middle of its elements as they stand.
pub fn borne<S: Scalar>(
    pulls: &[Pull],
    bearers: &Bearers,
    system: &System<S>,
) -> Vec<(u32, Wrench)> {
    let of = |pulls: &[Pull]| {
        let attachment = pulls[0].attachment;
        let middle = bearers.middle(attachment, system);
        let mut sum = Wrench::default();
        for pull in pulls {
            let arm = system.position(pull.element as usize) - middle;
            sum += Wrench::at(arm, -pull.force(system), DVec3::ZERO);
        }
        (attachment, sum)
    };
    let same = |a: &Pull, b: &Pull| a.attachment == b.attachment;
    pulls.chunk_by(same).map(of).collect()
}
