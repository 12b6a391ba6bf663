//! Which elements attachments clamp or load.

use glam::DVec3;

use crate::columns::Elements;
use crate::simulate::error::SimulateError;
use crate::simulate::scene::reactions::AttachedElements;
use crate::spec::{Action, Attachment, Pipeline, Signal};

/// A force and a torque that an attachment applies to its elements.
#[derive(Clone, Debug, PartialEq)]
pub struct AttachedForce {
    /// Elements.
    pub elements: Vec<u32>,
    /// Force on each, N.
    pub force: DVec3,
    /// Torque on each about its centre, N m.
    pub torque: DVec3,
    /// Factor on both over time; `None` if they are constant.
    pub signal: Option<Signal>,
}

/// Forces that attachments apply to their elements.
///
/// # Errors
/// An attachment without elements.
pub fn forces(
    attached_elements: &[AttachedElements],
    pipeline: &Pipeline,
) -> Result<Vec<AttachedForce>, SimulateError> {
    let mut forces = Vec::new();
    for (attachment, one) in pipeline.attachments.iter().zip(attached_elements) {
        let chosen = &one.elements;
        if chosen.is_empty() {
            return Err(SimulateError::EmptyAttachment {
                attachment: attachment.name.clone(),
                body: attachment.body.clone(),
            });
        }
        if let Action::Force {
            force,
            torque,
            signal,
        } = attachment.action
        {
            forces.push(AttachedForce {
                force: DVec3::from_array(force) / chosen.len() as f64,
                torque: DVec3::from_array(torque) / chosen.len() as f64,
                signal,
                elements: chosen.clone(),
            });
        }
    }
    Ok(forces)
}

/// Elements of each clamp with its velocity, m/s, in the order of the pipeline. An element may be in several; the last
/// one holds it.
pub fn clamped<'a>(
    attached_elements: &'a [AttachedElements],
    pipeline: &'a Pipeline,
) -> impl Iterator<Item = (&'a [u32], [f64; 3])> {
    let attachments = pipeline.attachments.iter().zip(attached_elements);
    attachments.filter_map(|(attachment, one)| match attachment.action {
        Action::Clamp { velocity, .. } => Some((&one.elements[..], velocity)),
        _ => None,
    })
}

/// Finds the elements of attachments, batch by batch.
pub struct AttachmentFinder<'a> {
    pipeline: &'a Pipeline,
    /// Body of each attachment; `None` if there is no such body.
    bodies: Vec<Option<usize>>,
    /// Elements of each attachment so far.
    found: Vec<Vec<u32>>,
    /// Number of elements so far.
    count: usize,
}

impl<'a> AttachmentFinder<'a> {
    /// No elements yet.
    pub fn new(pipeline: &'a Pipeline) -> Self {
        let body_of = |attachment: &Attachment| {
            let mut bodies = pipeline.bodies.iter();
            bodies.position(|body| body.name == attachment.body)
        };
        AttachmentFinder {
            pipeline,
            bodies: pipeline.attachments.iter().map(body_of).collect(),
            found: vec![Vec::new(); pipeline.attachments.len()],
            count: 0,
        }
    }

    /// Adds the next batch of elements.
    pub fn add(&mut self, e: &Elements) {
        let attachments = self.pipeline.attachments.iter().zip(&self.bodies);
        for ((attachment, &body), found) in attachments.zip(&mut self.found) {
            let region = &attachment.region;
            let within =
                |p: [f64; 3]| (0..3).all(|k| region.min[k] <= p[k] && p[k] <= region.max[k]);
            let of_body = (0..e.id.len()).filter(|&i| Some(e.body[i] as usize) == body);
            let own = of_body.filter(|&i| within([e.x[i], e.y[i], e.z[i]]));
            found.extend(own.map(|i| (self.count + i) as u32));
        }
        self.count += e.id.len();
    }

    /// Elements of each attachment, in the order of the pipeline.
    pub fn finish(self) -> Vec<AttachedElements> {
        let attachments = self.pipeline.attachments.iter().zip(self.found);
        let all = attachments.map(|(attachment, elements)| AttachedElements {
            elements,
            clamps: matches!(attachment.action, Action::Clamp { .. }),
        });
        without_reclamped(all.collect())
    }
}

/// Removes from each clamp the elements that a later clamp holds too. A clamp left without elements is no
/// longer a clamp.
fn without_reclamped(mut attached_elements: Vec<AttachedElements>) -> Vec<AttachedElements> {
    for at in 0..attached_elements.len() {
        let (before, later) = attached_elements.split_at_mut(at + 1);
        let one = &mut before[at];
        let theirs = |i: &u32| {
            let mut clamps = later.iter().filter(|one| one.clamps);
            clamps.any(|one| one.elements.binary_search(i).is_ok())
        };
        if one.clamps && one.elements.iter().all(theirs) {
            one.clamps = false;
        } else if one.clamps {
            one.elements.retain(|i| !theirs(i));
        }
    }
    attached_elements
}
