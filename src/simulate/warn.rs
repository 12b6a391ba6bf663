//! Warnings about runs that will compute wrong results: bodies too thin, steps too long for strengths or
//! speeds, unreachable strengths, positions that files cannot resolve.
//!
//! Every warning states the numbers it is based on and what to change.

mod coarse;
mod facts;
mod far;
mod impact;
mod warning;
mod worst;

pub use warning::Warning;
pub use worst::{Worst, entry_of, worst};

use self::facts::{BodyFacts, body_facts};
use self::impact::{ImpactScene, fast, unreachable, unresolved};
use crate::simulate::resolve::Schedule;
use crate::spec::{BodyShape, Pipeline};
use crate::store::Packing;
use crate::units::show::{grouped, quantity};

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
