//! What loads a body, each load by itself: so that the stress at a place can be told by its causes.

use glam::DVec3;

use super::error::StressError;
use super::patch::{Patch, Variation};
use crate::bem::{Balance, Loads, Surface, Traction};
use crate::spec::{Action, Attachment, Body, Pipeline, Region};

/// One load on a body.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name of the attachment, or `gravity`, `spin`.
    pub name: String,
    /// Traction on each triangle, Pa.
    pub tractions: Vec<Traction>,
    /// Gravity, m/s².
    pub gravity: DVec3,
    /// Angular velocity, rad/s.
    pub spin: DVec3,
}

impl Case {
    /// No load at all.
    pub fn new(name: &str, triangles: usize) -> Self {
        Case {
            name: name.to_owned(),
            tractions: vec![Traction::default(); triangles],
            gravity: DVec3::ZERO,
            spin: DVec3::ZERO,
        }
    }

    /// The same for the solver, which is given the tractions beside it; a resultant accelerates the body.
    pub fn loads(&self, density: f64) -> Loads<'static> {
        Loads {
            tractions: &[],
            density,
            gravity: self.gravity,
            spin: self.spin,
            balance: Balance::Inertia,
        }
    }

    /// Adds a part of another load. Of two spins the sum is taken, whose centrifugal forces are not the sum:
    /// there is one at most.
    pub fn add(&mut self, other: &Case) {
        for (own, other) in self.tractions.iter_mut().zip(&other.tractions) {
            own.add(other, 1.0);
        }
        self.gravity += other.gravity;
        self.spin += other.spin;
    }
}

/// A clamp on a body's surface.
#[derive(Clone, Debug)]
pub struct Grip {
    /// Name of the attachment.
    pub name: String,
    /// Box of what it holds at rest.
    pub region: Region,
    /// What it holds.
    pub patch: Patch,
    /// Displacement of the patch's centre, m.
    pub displacement: DVec3,
    /// Rotation vector of the patch, rad.
    pub rotation: DVec3,
}

impl Grip {
    /// What the clamp holds of a piece of its body; none where that is nothing. Faces of cracks are free.
    pub fn on_piece(&self, surface: &Surface, is_face: &[bool]) -> Option<Self> {
        let patch = Patch::new(surface, &self.region)?;
        let own = patch.triangles.iter().filter(|(t, _)| !is_face[*t]);
        let patch = Patch::of(surface, own.copied().collect())?;
        let moved = patch.centre - self.patch.centre;
        Some(Grip {
            displacement: self.displacement + self.rotation.cross(moved),
            patch,
            ..self.clone()
        })
    }
}

/// Loads and clamps of a body at a time, in the order of the pipeline, gravity and spin last.
pub fn of_body(
    body: &Body,
    surface: &Surface,
    pipeline: &Pipeline,
    time: f64,
) -> Result<(Vec<Case>, Vec<Grip>), StressError> {
    let (mut cases, mut grips) = (Vec::new(), Vec::new());
    let own = pipeline
        .attachments
        .iter()
        .filter(|one| one.body == body.name);
    for attachment in own {
        let patch = match attachment.action {
            Action::Gauge {} => continue,
            Action::Spring { .. } => {
                let attachment = attachment.name.clone();
                return Err(StressError::Spring { attachment });
            }
            Action::Clamp { .. } | Action::Force { .. } | Action::Pressure { .. } => {
                Patch::new(surface, &attachment.region).ok_or_else(|| StressError::EmptyRegion {
                    attachment: attachment.name.clone(),
                    body: body.name.clone(),
                })?
            }
        };
        match grip(attachment, &patch, time) {
            Some(grip) => grips.push(grip),
            None => cases.push(load(attachment, surface, &patch, time)?),
        }
    }
    let gravity = DVec3::from(pipeline.world.gravity);
    // A body that falls freely is without weight.
    if gravity != DVec3::ZERO && !grips.is_empty() {
        cases.push(Case {
            gravity,
            ..Case::new("gravity", surface.len())
        });
    }
    let spin = DVec3::from(body.spin);
    if spin != DVec3::ZERO {
        cases.push(Case {
            spin,
            ..Case::new("spin", surface.len())
        });
    }
    Ok((cases, grips))
}

/// The clamp that an attachment is, if it is one.
fn grip(attachment: &Attachment, patch: &Patch, time: f64) -> Option<Grip> {
    let Action::Clamp { pivot, .. } = attachment.action else {
        return None;
    };
    let pose = attachment.action.drive()?.pose(time);
    let rotation = pose.rotation.to_scaled_axis();
    let pivot = pivot.map_or(patch.centre, DVec3::from);
    Some(Grip {
        name: attachment.name.clone(),
        displacement: pose.position + rotation.cross(patch.centre - pivot),
        rotation,
        region: attachment.region,
        patch: patch.clone(),
    })
}

/// The load that an attachment is.
fn load(
    attachment: &Attachment,
    surface: &Surface,
    patch: &Patch,
    time: f64,
) -> Result<Case, StressError> {
    let mut case = Case::new(&attachment.name, surface.len());
    match &attachment.action {
        Action::Force {
            force,
            torque,
            signal,
        } => {
            let factor = signal.as_ref().map_or(1.0, |signal| signal.at(time));
            let (force, torque) = (DVec3::from(*force) * factor, DVec3::from(*torque) * factor);
            let tractions =
                patch
                    .tractions_of(force, torque)
                    .ok_or_else(|| StressError::TooSmall {
                        attachment: attachment.name.clone(),
                    })?;
            let variation = Variation::Stepwise;
            patch.load(surface, variation, tractions, &mut case.tractions);
        }
        Action::Pressure { pressure } => patch.press(surface, *pressure, &mut case.tractions),
        Action::Clamp { .. } | Action::Spring { .. } | Action::Gauge {} => {}
    }
    Ok(case)
}
