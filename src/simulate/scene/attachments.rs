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

/// Effect of all attachments on the elements of a packing.
pub struct AppliedAttachments {
    /// Inverse masses, 1/kg; 0 for clamped elements.
    pub inverse_mass: Vec<f64>,
    /// Inverse inertias, 1/(kg m²); 0 for clamped elements.
    pub inverse_inertia: Vec<f64>,
    /// Velocity of each clamped element, m/s; `None` for free ones.
    pub clamped_velocity: Vec<Option<[f64; 3]>>,
    /// Forces applied by attachments.
    pub forces: Vec<AttachedForce>,
    /// Elements of each attachment, in the order of the pipeline.
    pub attached_elements: Vec<AttachedElements>,
}

/// Clamped elements, applied forces and the elements of each attachment.
///
/// # Errors
/// An attachment without elements.
pub fn attachments(e: &Elements, pipeline: &Pipeline) -> Result<AppliedAttachments, SimulateError> {
    let mut inverse_mass: Vec<f64> = e.mass.iter().map(|m| 1.0 / m).collect();
    let mut inverse_inertia: Vec<f64> = e.inertia.iter().map(|i| 1.0 / i).collect();
    let mut clamped_velocity = vec![None; e.id.len()];
    let mut forces = Vec::new();
    let attached_elements = attached_elements(e, pipeline);
    for (attachment, one) in pipeline.attachments.iter().zip(&attached_elements) {
        let chosen = &one.elements;
        if chosen.is_empty() {
            return Err(SimulateError::EmptyAttachment {
                attachment: attachment.name.clone(),
                body: attachment.body.clone(),
            });
        }
        match &attachment.action {
            Action::Clamp { velocity, .. } => {
                for &i in chosen {
                    inverse_mass[i as usize] = 0.0;
                    inverse_inertia[i as usize] = 0.0;
                    clamped_velocity[i as usize] = Some(*velocity);
                }
            }
            Action::Force {
                force,
                torque,
                signal,
            } => forces.push(AttachedForce {
                force: DVec3::from_array(*force) / chosen.len() as f64,
                torque: DVec3::from_array(*torque) / chosen.len() as f64,
                signal: *signal,
                elements: chosen.clone(),
            }),
            Action::Spring { .. } | Action::Pressure { .. } | Action::Gauge {} => {}
        }
    }
    Ok(AppliedAttachments {
        inverse_mass,
        inverse_inertia,
        clamped_velocity,
        forces,
        attached_elements,
    })
}

/// Elements of each attachment, in the order of the pipeline.
pub fn attached_elements(e: &Elements, pipeline: &Pipeline) -> Vec<AttachedElements> {
    let elements_of = |attachment: &Attachment| {
        let mut bodies = pipeline.bodies.iter();
        let body = bodies.position(|body| body.name == attachment.body);
        let within = |p: [f64; 3]| {
            (0..3).all(|k| attachment.region.min[k] <= p[k] && p[k] <= attachment.region.max[k])
        };
        AttachedElements {
            elements: (0..e.id.len())
                .filter(|&i| Some(e.body[i] as usize) == body && within([e.x[i], e.y[i], e.z[i]]))
                .map(|i| i as u32)
                .collect(),
            clamps: matches!(attachment.action, Action::Clamp { .. }),
        }
    };
    without_reclamped(pipeline.attachments.iter().map(elements_of).collect())
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
