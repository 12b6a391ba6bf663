//! Load cases of a body, one for each load, so that the stress at a point can be attributed to its causes;
//! and its clamps.

use glam::DVec3;

use super::error::StressError;
use super::patch::{Patch, Variation};
use crate::bem::{Balance, Loads, Surface, Traction};
use crate::spec::{Action, Attachment, Body, Pipeline, Region};

/// One load on a body.
#[derive(Clone, Debug)]
pub struct LoadCase {
    /// Name of the attachment, or `gravity`, `spin`.
    pub name: String,
    /// Traction on each triangle, Pa.
    pub tractions: Vec<Traction>,
    /// Gravity, m/s².
    pub gravity: DVec3,
    /// Angular velocity, rad/s.
    pub spin: DVec3,
}

impl LoadCase {
    /// No load at all.
    pub fn new(name: &str, triangles: usize) -> Self {
        LoadCase {
            name: name.to_owned(),
            tractions: vec![Traction::default(); triangles],
            gravity: DVec3::ZERO,
            spin: DVec3::ZERO,
        }
    }

    /// Weight and spin of this case for the solver, which gets the tractions separately. A resultant
    /// accelerates the body.
    pub fn loads(&self, density: f64) -> Loads<'static> {
        Loads {
            tractions: &[],
            density,
            gravity: self.gravity,
            spin: self.spin,
            balance: Balance::Inertia,
        }
    }

    /// Adds another case. Spins are summed, although centrifugal forces do not add up; only one case has a
    /// spin.
    pub fn add(&mut self, other: &LoadCase) {
        for (own, other) in self.tractions.iter_mut().zip(&other.tractions) {
            own.add(other, 1.0);
        }
        self.gravity += other.gravity;
        self.spin += other.spin;
    }
}

/// A clamp on a body's surface.
#[derive(Clone, Debug)]
pub struct Clamp {
    /// Name of the attachment.
    pub name: String,
    /// Box that contains the clamped part of the surface at rest.
    pub region: Region,
    /// The clamped part of the surface.
    pub patch: Patch,
    /// Displacement of the patch's centre, m.
    pub displacement: DVec3,
    /// Rotation vector of the patch, rad.
    pub rotation: DVec3,
}

impl Clamp {
    /// The clamp on a piece of its body; none if it holds no part of the piece. Faces of cracks are free.
    pub fn on_piece(&self, surface: &Surface, is_face: &[bool]) -> Option<Self> {
        let patch = Patch::new(surface, &self.region)?;
        let own = patch.triangles.iter().filter(|(t, _)| !is_face[*t]);
        let patch = Patch::of(surface, own.copied().collect())?;
        let moved = patch.centre - self.patch.centre;
        Some(Clamp {
            displacement: self.displacement + self.rotation.cross(moved),
            patch,
            ..self.clone()
        })
    }
}

/// Load cases and clamps of a body at a time, s, in the order of the pipeline; gravity and spin are last.
pub fn cases_and_clamps(
    body: &Body,
    surface: &Surface,
    pipeline: &Pipeline,
    time: f64,
) -> Result<(Vec<LoadCase>, Vec<Clamp>), StressError> {
    let (mut cases, mut clamps) = (Vec::new(), Vec::new());
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
        match clamp(attachment, &patch, time) {
            Some(clamp) => clamps.push(clamp),
            None => cases.push(load_case(attachment, surface, &patch, time)?),
        }
    }
    let gravity = DVec3::from(pipeline.world.gravity);
    // Gravity causes no stress in a body that falls freely.
    if gravity != DVec3::ZERO && !clamps.is_empty() {
        cases.push(LoadCase {
            gravity,
            ..LoadCase::new("gravity", surface.len())
        });
    }
    let spin = DVec3::from(body.spin);
    if spin != DVec3::ZERO {
        cases.push(LoadCase {
            spin,
            ..LoadCase::new("spin", surface.len())
        });
    }
    Ok((cases, clamps))
}

/// The clamp of an attachment; none if it is not a clamp.
fn clamp(attachment: &Attachment, patch: &Patch, time: f64) -> Option<Clamp> {
    let Action::Clamp { pivot, .. } = attachment.action else {
        return None;
    };
    let pose = attachment.action.drive()?.pose(time);
    let rotation = pose.rotation.to_scaled_axis();
    let pivot = pivot.map_or(patch.centre, DVec3::from);
    Some(Clamp {
        name: attachment.name.clone(),
        displacement: pose.position + rotation.cross(patch.centre - pivot),
        rotation,
        region: attachment.region,
        patch: patch.clone(),
    })
}

/// The load case of an attachment that is a force or a pressure.
fn load_case(
    attachment: &Attachment,
    surface: &Surface,
    patch: &Patch,
    time: f64,
) -> Result<LoadCase, StressError> {
    let mut case = LoadCase::new(&attachment.name, surface.len());
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
            patch.add_traction(surface, variation, tractions, &mut case.tractions);
        }
        Action::Pressure { pressure } => {
            patch.add_pressure(surface, *pressure, &mut case.tractions)
        }
        Action::Clamp { .. } | Action::Spring { .. } | Action::Gauge {} => {}
    }
    Ok(case)
}
