//! Warnings about runs that will compute wrong results: bodies too thin, steps too long for strengths or
//! speeds, unreachable strengths, positions that files cannot resolve.
//!
//! Every warning states the numbers it is based on and what to change.

mod coarse;
mod far;
mod impact;
mod worst;

pub use worst::{Worst, entry_of, worst};

use glam::DVec3;

use self::impact::{ImpactScene, fast, unreachable, unresolved};
use crate::columns::{Bonds, Elements};
use crate::simulate::resolve::Schedule;
use crate::spec::{Body, BodyShape, PackingSpec, Pipeline};
use crate::store::Packing;
use crate::units::show::{grouped, quantity};

/// A warning.
#[derive(Clone, Debug, PartialEq)]
pub struct Warning {
    /// Kind of the warning, for programs.
    pub kind: &'static str,
    /// Name of the body that it is about; `None` if it is about the whole shot.
    pub body: Option<String>,
    /// How bad it is among warnings of its kind.
    pub severity: f64,
    /// One sentence with numbers and a remedy.
    pub text: String,
}

impl Warning {
    /// A warning about a body.
    fn about(body: &Body, kind: &'static str, severity: f64, text: String) -> Self {
        Warning {
            kind,
            body: Some(body.name.clone()),
            severity,
            text,
        }
    }
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
/// Warnings for a packed shot; empty if it is well resolved.
pub fn warnings(packing: &Packing, pipeline: &Pipeline, schedule: &Schedule) -> Vec<Warning> {
    let bodies = body_facts(packing, pipeline);
    let scene = ImpactScene::new(packing, pipeline, schedule);
    let mut out = far::far_bodies(packing, pipeline);
    out.extend(coarse::coarse_bodies(packing, pipeline));
    out.extend(coarse::bodies_coarser_than_flaws(packing, pipeline));
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
    Some(Warning::about(body.body, "thin", fraction, text))
}

#[cfg(test)]
mod tests;
