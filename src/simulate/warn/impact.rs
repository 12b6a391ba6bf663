//! Warnings about impacts: too fast for the elements or for the steps, or too slow to break anything.

use glam::DVec3;

use super::facts::{BodyFacts, median, up};
use super::warning::Warning;
use crate::geometry::solid::Pose;
use crate::simulate::resolve::Schedule;
use crate::simulate::scene::attachments::AttachmentFinder;
use crate::simulate::scene::colliders::SolidCollider;
use crate::simulate::scene::reactions::AttachedElements;
use crate::simulate::scene::{clamps, colliders};
use crate::spec::{Attachment, Elasticity, Pipeline};
use crate::store::Packing;
use crate::units::show::{figures, quantity};

/// Least number of steps from unstressed to broken.
const STEPS_TO_BREAK: f64 = 2.0;
/// Upper bound on the stress concentration of an impact by bending and notches, over ρ c v.
const MAX_CONCENTRATION: f64 = 10.0;

/// The fastest impact of a body.
pub struct Impact {
    speed: f64,
    /// Partner of the impact, such as `collider "floor"`.
    with: String,
}

/// Everything that a body can collide with.
pub struct ImpactScene<'a> {
    pipeline: &'a Pipeline,
    colliders: Vec<SolidCollider>,
    up: DVec3,
    gravity: f64,
    end: f64,
    /// Height of the lowest point of the scene, against gravity, m.
    bottom: f64,
    /// Whether any collider moves; it can load bodies without bound.
    driven: bool,
    /// Motions of each attachment; empty unless it is a clamp.
    clamps: Vec<Vec<SurfaceMotion>>,
}

/// A velocity, m/s, and the speed that rotation adds at the farthest point, m/s.
type SurfaceMotion = (DVec3, f64);

impl<'a> ImpactScene<'a> {
    pub fn new(packing: &Packing, pipeline: &'a Pipeline, schedule: &Schedule) -> Self {
        let up = up(pipeline);
        let e = &packing.elements;
        let heights = (0..e.id.len()).map(|i| DVec3::new(e.x[i], e.y[i], e.z[i]).dot(up) - e.r[i]);
        // Invalid colliders are refused when the run is built; warnings ignore them.
        let colliders = colliders::solid_colliders(packing, pipeline).unwrap_or_default();
        let bottoms = colliders.iter().map(|collider| lowest(collider, up));
        let at = |i: &u32| {
            let i = *i as usize;
            DVec3::new(e.x[i], e.y[i], e.z[i])
        };
        let mut finder = AttachmentFinder::new(pipeline);
        finder.add(e);
        let attached_elements = finder.finish();
        let clamp = |(one, own): (&Attachment, &AttachedElements)| {
            let elements: Vec<DVec3> = own.elements.iter().map(at).collect();
            clamps::speeds(&one.action, &elements)
        };
        ImpactScene {
            pipeline,
            up,
            gravity: DVec3::from_array(pipeline.world.gravity).length(),
            end: schedule.dt * schedule.steps_per_frame as f64 * f64::from(schedule.frames),
            bottom: heights.chain(bottoms).fold(f64::INFINITY, f64::min),
            driven: colliders
                .iter()
                .flat_map(motions)
                .any(|(v, w)| v != DVec3::ZERO || w > 0.0),
            clamps: pipeline
                .attachments
                .iter()
                .zip(&attached_elements)
                .map(clamp)
                .collect(),
            colliders,
        }
    }

    /// Upper bound on the impact speed of body number `index`, falling included.
    pub fn impact(&self, bodies: &[BodyFacts], index: usize) -> Impact {
        let body = &bodies[index];
        let held = self.attachments(body).count() > 0;
        let mut fastest = Impact {
            speed: 0.0,
            with: String::new(),
        };
        let mut meet = |speed: f64, with: String| {
            if speed > fastest.speed {
                fastest = Impact { speed, with };
            }
        };
        let partners = self.colliders.len() + bodies.len() - 1;
        let fallen = match held || partners == 0 {
            true => 0.0,
            false => self.fall(body),
        };
        for collider in &self.colliders {
            for (velocity, turning) in motions(collider) {
                let met = (body.velocity - velocity).length() + body.spread + turning;
                meet(
                    met.hypot(fallen),
                    format!("collider {:?}", collider.collider.name),
                );
            }
        }
        for (_, other) in bodies.iter().enumerate().filter(|(at, _)| *at != index) {
            let met = (body.velocity - other.velocity).length() + body.spread + other.spread;
            meet(met.hypot(fallen), format!("body {:?}", other.body.name));
        }
        for (attachment, motions) in self.attachments(body) {
            for (velocity, turning) in motions {
                let pulled = (*velocity - body.velocity).length() + turning;
                meet(
                    pulled + body.spread,
                    format!("attach {:?}", attachment.name),
                );
            }
        }
        fastest
    }

    /// Attachments of a body, with the motions of those that are clamps.
    fn attachments<'b>(
        &'b self,
        body: &'b BodyFacts,
    ) -> impl Iterator<Item = (&'b Attachment, &'b [SurfaceMotion])> {
        let all = self.pipeline.attachments.iter().zip(&self.clamps);
        all.filter(|(one, _)| one.body == body.body.name)
            .map(|(one, motions)| (one, motions.as_slice()))
    }

    /// Speed gained by falling to the bottom of the scene, or until the end of the shot, m/s.
    fn fall(&self, body: &BodyFacts) -> f64 {
        let down = (-body.velocity.dot(self.up)).max(0.0);
        let reach = down * self.end + 0.5 * self.gravity * self.end * self.end;
        let height = (body.top - self.bottom).max(0.0).min(reach);
        (2.0 * self.gravity * height).sqrt()
    }
}

/// Height of the lowest point of a collider at the start; for a half-space, of its surface at its origin.
fn lowest(collider: &SolidCollider, up: DVec3) -> f64 {
    let extent = collider.solid.extent();
    collider.collider.pose(0.0).position.dot(up) - if extent.is_finite() { extent } else { 0.0 }
}

/// Motions of a collider's surface in each stretch of its drive.
fn motions(collider: &SolidCollider) -> Vec<SurfaceMotion> {
    let motion = |pose: Pose| match pose.spin_speed_bound(&collider.solid) {
        turning if turning.is_finite() => (pose.velocity, turning),
        // A half-space has no farthest point.
        _ => (pose.velocity, 0.0),
    };
    collider
        .collider
        .drive()
        .poses_at_interval_starts()
        .map(motion)
        .collect()
}

/// Contacts are found once per step: an element that moves farther than its radius can penetrate before it is
/// found.
pub fn fast(body: &BodyFacts, impact: &Impact, schedule: &Schedule) -> Option<Warning> {
    let distance = impact.speed * schedule.dt;
    if distance <= body.radius {
        return None;
    }
    let text = format!(
        "body {:?} and {} meet at up to {}: {} in a step of {}, more than the radius of an element, {}; contacts may be \
         missed: use a `time.step` below {} or larger elements",
        body.body.name,
        impact.with,
        quantity(impact.speed, "m/s"),
        quantity(distance, "m"),
        quantity(schedule.dt, "s"),
        quantity(body.radius, "m"),
        quantity(body.radius / impact.speed, "s"),
    );
    let severity = distance / body.radius;
    Some(Warning::about(body.body, "fast", severity, text))
}

/// In an impact at speed v a bond of length l is strained by at most v dt / l per step; a bond that breaks
/// within two steps breaks at up to twice its strength.
pub fn unresolved(
    body: &BodyFacts,
    impact: &Impact,
    pipeline: &Pipeline,
    schedule: &Schedule,
) -> Option<Warning> {
    if body.stretch.is_empty() || impact.speed == 0.0 {
        return None;
    }
    let distance = impact.speed * schedule.dt;
    let early = body
        .stretch
        .iter()
        .filter(|s| **s < STEPS_TO_BREAK * distance);
    let fraction = early.count() as f64 / body.stretch.len() as f64;
    let stretch = median(body.stretch.clone());
    let steps = stretch / distance;
    if steps >= STEPS_TO_BREAK {
        return None;
    }
    // Slightly smaller, because the message rounds it.
    let shorter = 0.98 * steps / STEPS_TO_BREAK;
    let remedy = match pipeline.time.step {
        Some(step) => format!("`time.step` of {}", quantity(step * shorter, "s")),
        None => format!(
            "`time.fraction` of {}",
            figures(pipeline.time.fraction * shorter)
        ),
    };
    let text = format!(
        "body {:?}: where it meets {} at up to {}, a bond ({} long, broken at a strain of {:.1e}) goes from unstressed to broken in {steps:.2} \
         steps of {}, {:.0} % of the bonds in fewer than {STEPS_TO_BREAK:.0}: stresses overshoot the strength by up to {:.0} %; {remedy} or less \
         resolves it",
        body.body.name,
        impact.with,
        quantity(impact.speed, "m/s"),
        quantity(body.length, "m"),
        stretch / body.length,
        quantity(schedule.dt, "s"),
        100.0 * fraction,
        100.0 / steps,
    );
    Some(Warning::about(
        body.body,
        "steps_to_break",
        1.0 / steps,
        text,
    ))
}

/// An impact at speed v causes a stress of about ρ c v = v √(E ρ); much higher strengths are never reached.
pub fn unreachable(
    body: &BodyFacts,
    impact: &Impact,
    scene: &ImpactScene,
    pipeline: &Pipeline,
) -> Option<Warning> {
    let material = pipeline.material_of(body.body)?;
    // Driven or loaded bodies are strained until something breaks; a spinning body strains itself.
    let loaded = scene.driven || scene.attachments(body).count() > 0 || body.spread > 0.0;
    if loaded || impact.speed == 0.0 || !body.weakest.is_finite() {
        return None;
    }
    let stress = impact.speed * (material.young * material.density).sqrt();
    if body.weakest <= MAX_CONCENTRATION * stress {
        return None;
    }
    let whose = match material.elasticity {
        Elasticity::Material => "",
        Elasticity::Bond => " of the bonds",
    };
    let text = format!(
        "body {:?} will not break: the strength of its weakest bond is {}, {:.0} times the stress ρ c v = {} of an impact on {} at up to {} (`young`{whose} \
         {}); lower strengths or a higher speed would break it",
        body.body.name,
        quantity(body.weakest, "Pa"),
        body.weakest / stress,
        quantity(stress, "Pa"),
        impact.with,
        quantity(impact.speed, "m/s"),
        quantity(material.young, "Pa"),
    );
    let severity = body.weakest / stress;
    Some(Warning::about(body.body, "too_strong", severity, text))
}
