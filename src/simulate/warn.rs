//! What can be computed but will not be right: bodies too thin, steps too long for strengths or speeds,
//! strengths out of reach, places that files lose.
//!
//! Every warning gives the numbers that it follows from and what to change.

mod far;

use glam::DVec3;

use crate::columns::{Bonds, Elements};
use crate::geometry::solid::Pose;

use crate::simulate::resolve::Schedule;
use crate::simulate::scene::colliders::Barrier;
use crate::simulate::scene::reactions::Grip;
use crate::simulate::scene::{attachments, clamps, colliders};
use crate::spec::{Attachment, Body, BodyShape, Elasticity, PackingSpec, Pipeline};
use crate::store::Packing;
use crate::units::show::{figures, grouped, quantity};

/// A warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What kind it is, for programs.
    pub kind: &'static str,
    /// One sentence with numbers and remedy.
    pub text: String,
}

/// Neighbours of an element inside a close packing.
const INSIDE: usize = 12;
/// The same of a random packing, where most have as many or one more and hardly one at the border has.
const INSIDE_RANDOM: usize = 8;
/// Bonds from the middle of three layers to their farthest corner.
const HOPS: usize = 2;
/// Part of a body that may be thinner than three elements: edges, tips of ears.
const THIN_PART: f64 = 0.05;
/// Fewer steps from rest to break than this are too few.
const STEPS_TO_BREAK: f64 = 2.0;
/// Stress of an impact, ρ c v, is concentrated by bending and notches several times; not so often.
const CONCENTRATION: f64 = 10.0;

/// Warnings of a packed shot; none for one that is resolved well.
pub fn warnings(packing: &Packing, pipeline: &Pipeline, plan: &Schedule) -> Vec<Warning> {
    let bodies = facts(packing, pipeline);
    let scene = Scene::new(packing, pipeline, plan);
    let far = far::far(packing, pipeline).into_iter();
    let mut out: Vec<_> = far.map(|text| Warning { kind: "far", text }).collect();
    for (index, body) in bodies.iter().enumerate() {
        out.extend(thin(body));
        let impact = scene.impact(&bodies, index);
        out.extend(fast(body, &impact, plan));
        out.extend(unresolved(body, &impact, pipeline, plan));
        out.extend(unreachable(body, &impact, &scene, pipeline));
    }
    out
}

/// What warnings ask of a body.
struct Facts<'a> {
    body: &'a Body,
    elements: usize,
    /// Elements farther than [`HOPS`] bonds from any with all its neighbours.
    thin: usize,
    radius: f64,
    /// Mean velocity, and how far an element's differs from it at most.
    velocity: DVec3,
    spread: f64,
    /// Highest element against gravity, m.
    top: f64,
    /// Of each bond that can break: rest length times the strain at which it does, m.
    stretch: Vec<f64>,
    /// Rest length in the middle of all bonds, m.
    length: f64,
    /// Least strength of all bonds, Pa; infinite when none breaks.
    weakest: f64,
}

fn facts<'a>(packing: &Packing, pipeline: &'a Pipeline) -> Vec<Facts<'a>> {
    let up = up(pipeline);
    let inside: Vec<usize> = pipeline.bodies.iter().map(inside).collect();
    let thin = thin_elements(&packing.elements, &packing.bonds, &inside);
    let mut rows = vec![(Vec::new(), Vec::new()); pipeline.bodies.len()];
    for (i, &body) in packing.elements.body.iter().enumerate() {
        // One that the pipeline lacks is refused when the run is built.
        if let Some(rows) = rows.get_mut(body as usize) {
            rows.0.push(i);
        }
    }
    // Bonds of rigid bodies bear nothing.
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
        .map(|(body, (elements, bonds))| fact(packing, body, (elements, bonds), &thin, up))
        .collect()
}

fn fact<'a>(
    packing: &Packing,
    body: &'a Body,
    (rows, own): (&[usize], &[usize]),
    thin: &[bool],
    up: DVec3,
) -> Facts<'a> {
    let (e, b) = (&packing.elements, &packing.bonds);
    let velocity = |i: usize| DVec3::new(e.vx[i], e.vy[i], e.vz[i]);
    let mean = rows.iter().map(|&i| velocity(i)).sum::<DVec3>() / rows.len() as f64;
    let most = |f: &dyn Fn(usize) -> f64| rows.iter().map(|&i| f(i)).fold(f64::MIN, f64::max);
    let strain = |k: usize| (b.sigma_c[k] / b.young[k]).min(b.tau_c[k] / b.shear[k]);
    let stretch = own.iter().map(|&k| strain(k) * b.l0[k]);
    Facts {
        body,
        elements: rows.len(),
        // Grains, and a few elements in a row, are no solid that could be thick.
        thin: match own.is_empty() || rows.len() <= inside(body) {
            true => 0,
            false => rows.iter().filter(|&&i| thin[i]).count(),
        },
        radius: rows.iter().map(|&i| e.r[i]).fold(f64::INFINITY, f64::min),
        velocity: mean,
        spread: most(&|i| velocity(i).distance(mean)),
        top: most(&|i| DVec3::new(e.x[i], e.y[i], e.z[i]).dot(up)),
        stretch: stretch.filter(|stretch| stretch.is_finite()).collect(),
        length: middle(own.iter().map(|&k| b.l0[k]).collect()),
        weakest: own
            .iter()
            .map(|&k| b.sigma_c[k].min(b.tau_c[k]))
            .fold(f64::INFINITY, f64::min),
    }
}

/// The number in the middle, 0 of none.
fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Against gravity; y where there is none.
fn up(pipeline: &Pipeline) -> DVec3 {
    -DVec3::from_array(pipeline.world.gravity).normalize_or(DVec3::NEG_Y)
}

/// Neighbours of an element away from the border of a body.
fn inside(body: &Body) -> usize {
    match body.packing {
        PackingSpec::Hexagonal { .. } => INSIDE,
        PackingSpec::Random { .. } => INSIDE_RANDOM,
        // Thin on purpose, or without bonds.
        PackingSpec::None {}
        | PackingSpec::Loose { .. }
        | PackingSpec::Shell { .. }
        | PackingSpec::Twisted { .. }
        | PackingSpec::Woven { .. } => 0,
        // One layer of cells bends as it should.
        PackingSpec::Voronoi { .. } | PackingSpec::Cubic { .. } => 0,
    }
}

/// Which elements lie where no element has all its neighbours, not [`HOPS`] bonds away either: there the body
/// has one or two layers. `inside`: how many are all, for each body.
fn thin_elements(elements: &Elements, bonds: &Bonds, inside: &[usize]) -> Vec<bool> {
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
    let all = |&body: &u32| inside.get(body as usize).copied().unwrap_or(INSIDE);
    let wanted = elements.body.iter().map(all);
    let mut thick: Vec<bool> = valence
        .iter()
        .zip(wanted)
        .map(|(&count, wanted)| count >= wanted)
        .collect();
    for _ in 0..HOPS {
        let before = thick.clone();
        for [i, j] in ends() {
            thick[i] |= before[j];
            thick[j] |= before[i];
        }
    }
    thick.into_iter().map(|thick| !thick).collect()
}

fn thin(body: &Facts) -> Option<Warning> {
    let part = body.thin as f64 / body.elements as f64;
    if part <= THIN_PART {
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
        100.0 * part,
        quantity(body.radius, "m"),
    );
    Some(Warning { kind: "thin", text })
}

/// The fastest meeting of a body with anything.
struct Impact {
    speed: f64,
    /// What it meets: `collider "floor"`.
    with: String,
}

/// What moves, falls and holds.
struct Scene<'a> {
    pipeline: &'a Pipeline,
    barriers: Vec<Barrier>,
    up: DVec3,
    gravity: f64,
    end: f64,
    /// Lowest point of the scene against gravity, m.
    bottom: f64,
    /// Whether something is driven, which loads without bound.
    driven: bool,
    /// Of each attachment the motions that it has, none of a force.
    clamps: Vec<Vec<Motion>>,
}

/// A velocity, m/s, and the speed that turning adds to it at the farthest point.
type Motion = (DVec3, f64);

impl<'a> Scene<'a> {
    fn new(packing: &Packing, pipeline: &'a Pipeline, plan: &Schedule) -> Self {
        let up = up(pipeline);
        let e = &packing.elements;
        let heights = (0..e.id.len()).map(|i| DVec3::new(e.x[i], e.y[i], e.z[i]).dot(up) - e.r[i]);
        // What cannot be built is refused when the run is, and no matter for a warning.
        let barriers = colliders::barriers(packing, pipeline).unwrap_or_default();
        let bottoms = barriers.iter().map(|barrier| lowest(barrier, up));
        let at = |i: &u32| {
            let i = *i as usize;
            DVec3::new(e.x[i], e.y[i], e.z[i])
        };
        let grips = attachments::grips(e, pipeline);
        let clamp = |(one, grip): (&Attachment, &Grip)| {
            let elements: Vec<DVec3> = grip.elements.iter().map(at).collect();
            clamps::speeds(&one.action, &elements)
        };
        Scene {
            pipeline,
            up,
            gravity: DVec3::from_array(pipeline.world.gravity).length(),
            end: plan.dt * plan.steps_per_frame as f64 * f64::from(plan.frames),
            bottom: heights.chain(bottoms).fold(f64::INFINITY, f64::min),
            driven: barriers
                .iter()
                .flat_map(motions)
                .any(|(v, w)| v != DVec3::ZERO || w > 0.0),
            clamps: pipeline.attachments.iter().zip(&grips).map(clamp).collect(),
            barriers,
        }
    }

    /// Bound on the speed at which body number `index` meets anything, falling included.
    fn impact(&self, bodies: &[Facts], index: usize) -> Impact {
        let body = &bodies[index];
        let held = self.attachments(body).count() > 0;
        let mut most = Impact {
            speed: 0.0,
            with: String::new(),
        };
        let mut meet = |speed: f64, with: String| {
            if speed > most.speed {
                most = Impact { speed, with };
            }
        };
        let partners = self.barriers.len() + bodies.len() - 1;
        let fallen = match held || partners == 0 {
            true => 0.0,
            false => self.fall(body),
        };
        for barrier in &self.barriers {
            for (velocity, turning) in motions(barrier) {
                let met = (body.velocity - velocity).length() + body.spread + turning;
                meet(
                    met.hypot(fallen),
                    format!("collider {:?}", barrier.collider.name),
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
        most
    }

    /// The attachments of a body, with the motions of each that is a clamp.
    fn attachments<'b>(
        &'b self,
        body: &'b Facts,
    ) -> impl Iterator<Item = (&'b Attachment, &'b [Motion])> {
        let all = self.pipeline.attachments.iter().zip(&self.clamps);
        all.filter(|(one, _)| one.body == body.body.name)
            .map(|(one, motions)| (one, motions.as_slice()))
    }

    /// Speed gained by falling to the bottom of the scene, or for as long as the shot lasts, m/s.
    fn fall(&self, body: &Facts) -> f64 {
        let down = (-body.velocity.dot(self.up)).max(0.0);
        let reach = down * self.end + 0.5 * self.gravity * self.end * self.end;
        let height = (body.top - self.bottom).max(0.0).min(reach);
        (2.0 * self.gravity * height).sqrt()
    }
}

/// Lowest point of a collider at the start; a half-space is as high as its surface at its origin.
fn lowest(barrier: &Barrier, up: DVec3) -> f64 {
    let extent = barrier.solid.extent();
    barrier.collider.pose(0.0).position.dot(up) - if extent.is_finite() { extent } else { 0.0 }
}

/// The motions that a collider's surface has in the course of time.
fn motions(barrier: &Barrier) -> Vec<Motion> {
    let motion = |pose: Pose| match pose.turning(&barrier.solid) {
        turning if turning.is_finite() => (pose.velocity, turning),
        // Of a half-space no point is the farthest.
        _ => (pose.velocity, 0.0),
    };
    barrier.collider.drive().stretches().map(motion).collect()
}

/// Contacts are looked for once a step: what moves farther than a radius is inside before it is seen.
fn fast(body: &Facts, impact: &Impact, plan: &Schedule) -> Option<Warning> {
    let way = impact.speed * plan.dt;
    if way <= body.radius {
        return None;
    }
    let text = format!(
        "body {:?} and {} meet at up to {}: {} in a step of {}, farther than the radius of an element, {}; `time.step` below {} or larger \
         elements keep contacts from being missed",
        body.body.name,
        impact.with,
        quantity(impact.speed, "m/s"),
        quantity(way, "m"),
        quantity(plan.dt, "s"),
        quantity(body.radius, "m"),
        quantity(body.radius / impact.speed, "s"),
    );
    Some(Warning { kind: "fast", text })
}

/// At an impact of speed v a bond of length l is strained by at most v dt / l a step; one that breaks within
/// two has twice or half its strength.
fn unresolved(
    body: &Facts,
    impact: &Impact,
    pipeline: &Pipeline,
    plan: &Schedule,
) -> Option<Warning> {
    if body.stretch.is_empty() || impact.speed == 0.0 {
        return None;
    }
    let way = impact.speed * plan.dt;
    let early = body.stretch.iter().filter(|s| **s < STEPS_TO_BREAK * way);
    let part = early.count() as f64 / body.stretch.len() as f64;
    let stretch = middle(body.stretch.clone());
    let steps = stretch / way;
    if steps >= STEPS_TO_BREAK {
        return None;
    }
    // A little less than that, since it is told rounded.
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
        quantity(plan.dt, "s"),
        100.0 * part,
        100.0 / steps,
    );
    Some(Warning {
        kind: "steps_to_break",
        text,
    })
}

/// The stress that an impact at speed v makes is about ρ c v = v √(E ρ); strengths far above it stay whole.
fn unreachable(
    body: &Facts,
    impact: &Impact,
    scene: &Scene,
    pipeline: &Pipeline,
) -> Option<Warning> {
    let material = pipeline
        .materials
        .iter()
        .find(|m| m.name == body.body.material)?;
    // What is driven or loaded goes on until something gives way; a spinning body strains itself.
    let loaded = scene.driven || scene.attachments(body).count() > 0 || body.spread > 0.0;
    if loaded || impact.speed == 0.0 || !body.weakest.is_finite() {
        return None;
    }
    let stress = impact.speed * (material.young * material.density).sqrt();
    if body.weakest <= CONCENTRATION * stress {
        return None;
    }
    let whose = match material.elasticity {
        Elasticity::Material => "",
        Elasticity::Bond => " of the bonds",
    };
    let text = format!(
        "body {:?} will not break: its weakest bond holds {}, {:.0} times the stress ρ c v = {} that meeting {} at up to {} makes (`young`{whose} \
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
