//! Walls of a cylinder and of a ball in rows of bricks: round, along and through. The corners of bricks lie
//! on the wall's curved surfaces, and all their faces are plane.

use std::f64::consts::{PI, TAU};

use glam::DVec3;

use super::super::error::PackError;
use super::super::outline::positive;
use super::bricks;
use crate::geometry::convex::Convex;
use crate::spec::{Body, BodyShape};

/// An angle this little short of the whole turn is all of it.
const CLOSED: f64 = 1e-9;

/// The bricks of a wall; `rows` gives how many there are of an extent round, along and through its middle (m).
pub fn fill(
    body: &Body,
    rows: impl Fn(DVec3) -> Result<[usize; 3], PackError>,
) -> Result<Vec<Convex>, PackError> {
    let (radius, thickness, turn) = match body.shape {
        BodyShape::CylinderShell {
            radius,
            thickness,
            angle,
            ..
        } => (radius, thickness, angle.unwrap_or(TAU)),
        BodyShape::SphereShell {
            radius, thickness, ..
        } => (radius, thickness, TAU),
        _ => unreachable!("asked for a wall"),
    };
    let radius = positive(body, "shape.radius", radius)?;
    let thickness = positive(body, "shape.thickness", thickness)?;
    let inner = radius - 0.5 * thickness;
    positive(body, "inner radius of the wall", inner)?;
    let turn = positive(body, "shape.angle", turn)?;
    let ring = turn > TAU * (1.0 - CLOSED);
    // From z towards x, on the circle about y.
    let round = |k: usize, count: usize| {
        let k = if ring { k % count } else { k };
        let (sine, cosine) = (turn * k as f64 / count as f64).sin_cos();
        DVec3::new(sine, 0.0, cosine)
    };
    let through = |k: usize, count: usize| inner + thickness * k as f64 / count as f64;
    match body.shape {
        BodyShape::SphereShell { from, to, .. } => {
            let along = positive(body, "shape.to - shape.from", to - from)?;
            let widest = if from < PI / 2.0 && to > PI / 2.0 {
                1.0
            } else {
                from.sin().max(to.sin())
            };
            let counts = rows(DVec3::new(turn * widest, along, thickness / radius) * radius)?;
            refuse_flat(body, counts[0], turn)?;
            // Round, along and outwards are right-handed where the way along leads upwards.
            let corner = |[i, j, k]: [usize; 3]| {
                let (sine, cosine) = polar(to - along * j as f64 / counts[1] as f64);
                let out = round(i, counts[0]) * sine + DVec3::Y * cosine;
                out * through(k, counts[2])
            };
            let all = vec![true; counts.iter().product()];
            Ok(bricks::solids(counts, ring, &all, corner))
        }
        BodyShape::CylinderShell { height, .. } => {
            let height = positive(body, "shape.height", height)?;
            let counts = rows(DVec3::new(turn * radius, height, thickness))?;
            refuse_flat(body, counts[0], turn)?;
            let corner = |[i, j, k]: [usize; 3]| {
                let y = height * (j as f64 / counts[1] as f64 - 0.5);
                round(i, counts[0]) * through(k, counts[2]) + DVec3::Y * y
            };
            let all = vec![true; counts.iter().product()];
            Ok(bricks::solids(counts, ring, &all, corner))
        }
        _ => unreachable!("asked for a wall"),
    }
}

/// Sine and cosine of an angle from the axis; exact at the poles, where bricks come to a point.
fn polar(angle: f64) -> (f64, f64) {
    if angle <= CLOSED {
        (0.0, 1.0)
    } else if angle >= PI - CLOSED {
        (0.0, -1.0)
    } else {
        angle.sin_cos()
    }
}

/// A brick that takes half a turn is flat.
fn refuse_flat(body: &Body, rows: usize, turn: f64) -> Result<(), PackError> {
    if turn / (rows as f64) < PI * (1.0 - CLOSED) {
        return Ok(());
    }
    Err(PackError::TooFewRound {
        body: body.name.clone(),
        rows: rows as u32,
        degrees: turn.to_degrees(),
    })
}
