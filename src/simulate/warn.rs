//! Warnings about runs that will compute wrong results: bodies too thin, steps too long for strengths or
//! speeds, unreachable strengths, positions that files cannot resolve.
//!
//! Every warning states the numbers it is based on and what to change.

mod coarse;
mod far;

use glam::DVec3;

use crate::columns::{Bonds, Elements};
use crate::geometry::solid::Pose;

use crate::simulate::resolve::Schedule;
use crate::simulate::scene::colliders::SolidCollider;
use crate::simulate::scene::reactions::AttachedElements;
use crate::simulate::scene::{attachments, clamps, colliders};
use crate::spec::{Attachment, Body, BodyShape, Elasticity, PackingSpec, Pipeline};
use crate::store::Packing;
use crate::units::show::{figures, grouped, quantity};

/// A warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Kind of the warning, for programs.
    pub kind: &'static str,
    /// One sentence with numbers and a remedy.
    pub text: String,
}

/// Number of neighbours of an interior element of a close packing.
const INNER_NEIGHBOURS: usize = 12;
/// Number of neighbours of interior elements of a random packing: most have as many or one more, and few at
/// the surface do.
const INNER_NEIGHBOURS_RANDOM: usize = 8;
/// Number of bonds from the middle of three layers to their farthest corner.
const THIN_HOPS: usize = 2;
/// Fraction of a body that may be thinner than three elements: edges, tips of ears.
const THIN_FRACTION: f64 = 0.05;
/// Least number of steps from unstressed to broken.
const STEPS_TO_BREAK: f64 = 2.0;
/// Upper bound on the stress concentration of an impact by bending and notches, over ρ c v.
const MAX_CONCENTRATION: f64 = 10.0;

/// Warnings for a packed shot; empty if it is well resolved.
pub fn warnings(packing: &Packing, pipeline: &Pipeline, schedule: &Schedule) -> Vec<Warning> {
    let bodies = body_facts(packing, pipeline);
    let scene = ImpactScene::new(packing, pipeline, schedule);
    let far = far::far_bodies(packing, pipeline).into_iter();
    let mut out: Vec<_> = far.map(|text| Warning { kind: "far", text }).collect();
    let coarse = coarse::coarse_bodies(packing, pipeline).into_iter();
    let scatter = coarse::bodies_coarser_than_flaws(packing, pipeline);
    out.extend(coarse.chain(scatter).map(|text| Warning {
        kind: "coarse",
        text,
    }));
    for (index, body) in bodies.iter().enumerate() {
        out.extend(thin(body));
        let impact = scene.impact(&bodies, index);
        out.extend(fast(body, &impact, schedule));
        out.extend(unresolved(body, &impact, pipeline, schedule));
        out.extend(unreachable(body, &impact, &scene, pipeline));
    }
    out
}

/// Data of a body for warnings.
struct BodyFacts<'a> {
    body: &'a Body,
    elements: usize,
    /// Number of elements more than [`THIN_HOPS`] bonds away from any element with all its neighbours.
    thin: usize,
    radius: f64,
    /// Mean velocity, m/s.
    velocity: DVec3,
    /// Largest difference of an element's velocity from the mean, m/s.
    spread: f64,
    /// Height of the highest element, against gravity, m.
    top: f64,
    /// Elongation at break of each bond that can break: rest length times the strain at break, m.
    stretch: Vec<f64>,
    /// Median rest length of all bonds, m.
    length: f64,
    /// Lowest strength of all bonds, Pa; infinite if none can break.
    weakest: f64,
}

fn body_facts<'a>(packing: &Packing, pipeline: &'a Pipeline) -> Vec<BodyFacts<'a>> {
    let up = up(pipeline);
    let inner_neighbours: Vec<usize> = pipeline.bodies.iter().map(inner_neighbours).collect();
    let thin = thin_elements(&packing.elements, &packing.bonds, &inner_neighbours);
    let mut rows = vec![(Vec::new(), Vec::new()); pipeline.bodies.len()];
    for (i, &body) in packing.elements.body.iter().enumerate() {
        // A body that the pipeline lacks is refused when the run is built.
        if let Some(rows) = rows.get_mut(body as usize) {
            rows.0.push(i);
        }
    }
    // Bonds of rigid bodies transmit no load.
    let rigid = |body: u32| pipeline.bodies.get(body as usize).is_some_and(|b| b.rigid);
    let bonds = packing.bonds.i.iter().enumerate();
    for (k, &i) in bonds.filter(|(_, i)| !rigid(packing.elements.body[**i as usize])) {
        if let Some(rows) = rows.get_mut(packing.elements.body[i as usize] as usize) {
            rows.1.push(k);
        }
    }
    let bodies = pipeline.bodies.iter().zip(&rows);
    bodies
        .filter(|(_, (elements, _))| !elements.is_empty())
        .map(|(body, (elements, bonds))| body_fact(packing, body, (elements, bonds), &thin, up))
        .collect()
}

fn body_fact<'a>(
    packing: &Packing,
    body: &'a Body,
    (rows, own): (&[usize], &[usize]),
    thin: &[bool],
    up: DVec3,
) -> BodyFacts<'a> {
    let (e, b) = (&packing.elements, &packing.bonds);
    let velocity = |i: usize| DVec3::new(e.vx[i], e.vy[i], e.vz[i]);
    let mean = rows.iter().map(|&i| velocity(i)).sum::<DVec3>() / rows.len() as f64;
    let most = |f: &dyn Fn(usize) -> f64| rows.iter().map(|&i| f(i)).fold(f64::MIN, f64::max);
    let strain = |k: usize| (b.sigma_c[k] / b.young[k]).min(b.tau_c[k] / b.shear[k]);
    let stretch = own.iter().map(|&k| strain(k) * b.l0[k]);
    BodyFacts {
        body,
        elements: rows.len(),
        // Grains and rows of a few elements are not solids that could be thick.
        thin: match own.is_empty() || rows.len() <= inner_neighbours(body) {
            true => 0,
            false => rows.iter().filter(|&&i| thin[i]).count(),
        },
        radius: rows.iter().map(|&i| e.r[i]).fold(f64::INFINITY, f64::min),
        velocity: mean,
        spread: most(&|i| velocity(i).distance(mean)),
        top: most(&|i| DVec3::new(e.x[i], e.y[i], e.z[i]).dot(up)),
        stretch: stretch.filter(|stretch| stretch.is_finite()).collect(),
        length: median(own.iter().map(|&k| b.l0[k]).collect()),
        weakest: own
            .iter()
            .map(|&k| b.sigma_c[k].min(b.tau_c[k]))
            .fold(f64::INFINITY, f64::min),
    }
}

/// Median, 0 if there are no values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Unit vector against gravity; y without gravity.
fn up(pipeline: &Pipeline) -> DVec3 {
    -DVec3::from_array(pipeline.world.gravity).normalize_or(DVec3::NEG_Y)
}

/// Number of neighbours of an interior element of a body.
fn inner_neighbours(body: &Body) -> usize {
    match body.packing {
        PackingSpec::Hexagonal { .. } => INNER_NEIGHBOURS,
        PackingSpec::Random { .. } => INNER_NEIGHBOURS_RANDOM,
        // Thin by intention, or without bonds.
        PackingSpec::None {}
        | PackingSpec::Loose { .. }
        | PackingSpec::Shell { .. }
        | PackingSpec::Twisted { .. }
        | PackingSpec::Woven { .. } => 0,
        // One layer of cells bends correctly.
        PackingSpec::Voronoi { .. } | PackingSpec::Cubic { .. } => 0,
    }
}

/// Elements that neither have all their neighbours nor are within [`THIN_HOPS`] bonds of one that has: there
/// the body has one or two layers. `inner_neighbours` is the full number of neighbours for each body.
fn thin_elements(elements: &Elements, bonds: &Bonds, inner_neighbours: &[usize]) -> Vec<bool> {
    let mut valence = vec![0usize; elements.id.len()];
    let ends = || {
        bonds
            .i
            .iter()
            .zip(&bonds.j)
            .map(|(&i, &j)| [i as usize, j as usize])
    };
    for end in ends().flatten() {
        valence[end] += 1;
    }
    let all = |&body: &u32| {
        inner_neighbours
            .get(body as usize)
            .copied()
            .unwrap_or(INNER_NEIGHBOURS)
    };
    let needed = elements.body.iter().map(all);
    let mut thick: Vec<bool> = valence
        .iter()
        .zip(needed)
        .map(|(&count, needed)| count >= needed)
        .collect();
    for _ in 0..THIN_HOPS {
        let before = thick.clone();
        for [i, j] in ends() {
            thick[i] |= before[j];
            thick[j] |= before[i];
        }
    }
    thick.into_iter().map(|thick| !thick).collect()
}

fn thin(body: &BodyFacts) -> Option<Warning> {
    let fraction = body.thin as f64 / body.elements as f64;
    if fraction <= THIN_FRACTION {
        return None;
    }
    let remedy = match body.body.shape {
        BodyShape::Plate { .. } => "`shape.layers` of 3 or more",
        BodyShape::Block { .. } => "3 or more in each of `shape.rows`",
        BodyShape::Mesh { .. }
        | BodyShape::Box { .. }
        | BodyShape::Sphere { .. }
        | BodyShape::Cylinder { .. }
        | BodyShape::Revolved { .. }
        | BodyShape::CylinderShell { .. }
        | BodyShape::SphereShell { .. }
        | BodyShape::Tube { .. } => "a smaller `packing.radius` (half of it doubles the layers)",
    };
    let text = format!(
        "body {:?}: {} of {} elements ({:.0} %) lie where it is thinner than three elements of radius {}, too few for bending and for cracks \
         through the thickness; {remedy} helps",
        body.body.name,
        grouped(body.thin as f64, 0),
        grouped(body.elements as f64, 0),
        100.0 * fraction,
        quantity(body.radius, "m"),
    );
    Some(Warning { kind: "thin", text })
}

/// The fastest impact of a body.
struct Impact {
    speed: f64,
    /// Partner of the impact, such as `collider "floor"`.
    with: String,
}

/// Everything that a body can collide with.
struct ImpactScene<'a> {
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
    fn new(packing: &Packing, pipeline: &'a Pipeline, schedule: &Schedule) -> Self {
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
        let attached_elements = attachments::attached_elements(e, pipeline);
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
    fn impact(&self, bodies: &[BodyFacts], index: usize) -> Impact {
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
fn fast(body: &BodyFacts, impact: &Impact, schedule: &Schedule) -> Option<Warning> {
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
    Some(Warning { kind: "fast", text })
}

/// In an impact at speed v a bond of length l is strained by at most v dt / l per step; a bond that breaks
/// within two steps breaks at up to twice its strength.
fn unresolved(
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
    Some(Warning {
        kind: "steps_to_break",
        text,
    })
}

/// An impact at speed v causes a stress of about ρ c v = v √(E ρ); much higher strengths are never reached.
fn unreachable(
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
    Some(Warning {
        kind: "too_strong",
        text,
    })
}

#[cfg(test)]
mod tests;
