//! Cylindrical and spherical walls in rows of bricks: around the axis, along the wall and through it. The
//! corners of bricks lie on the wall's curved surfaces, and all their faces are plane.

use std::f64::consts::{PI, TAU};

use glam::DVec3;

use super::super::error::PackError;
use super::super::outline::positive;
use super::bricks;
use crate::geometry::convex::Convex;
use crate::spec::{Body, BodyShape};

/// Relative tolerance within which an angle counts as a full turn.
const ANGLE_TOLERANCE: f64 = 1e-9;

/// The bricks of a wall; `rows` returns the numbers of rows for the extents (m) around the axis, along the
/// wall and through it.
pub fn bricks_of_wall(
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
        _ => unreachable!("called only for walls"),
    };
    let radius = positive(body, "shape.radius", radius)?;
    let thickness = positive(body, "shape.thickness", thickness)?;
    let inner = radius - 0.5 * thickness;
    positive(body, "inner radius of the wall", inner)?;
    let turn = positive(body, "shape.angle", turn)?;
    let ring = turn > TAU * (1.0 - ANGLE_TOLERANCE);
    // Unit vector on the circle about y, from z towards x.
    let around_axis = |k: usize, count: usize| {
        let k = if ring { k % count } else { k };
        let (sine, cosine) = (turn * k as f64 / count as f64).sin_cos();
        DVec3::new(sine, 0.0, cosine)
    };
    let radius_at = |k: usize, count: usize| inner + thickness * k as f64 / count as f64;
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
            // Around, along and outwards are right-handed if the direction along the wall points upwards.
            let corner = |[i, j, k]: [usize; 3]| {
                let (sine, cosine) = polar(to - along * j as f64 / counts[1] as f64);
                let out = around_axis(i, counts[0]) * sine + DVec3::Y * cosine;
                out * radius_at(k, counts[2])
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
                around_axis(i, counts[0]) * radius_at(k, counts[2]) + DVec3::Y * y
            };
            let all = vec![true; counts.iter().product()];
            Ok(bricks::solids(counts, ring, &all, corner))
        }
        _ => unreachable!("called only for walls"),
    }
}

/// Sine and cosine of an angle from the axis; exact at the poles, where bricks end in a point.
fn polar(angle: f64) -> (f64, f64) {
    if angle <= ANGLE_TOLERANCE {
        (0.0, 1.0)
    } else if angle >= PI - ANGLE_TOLERANCE {
        (0.0, -1.0)
    } else {
        angle.sin_cos()
    }
}

/// Refuses bricks that span half a turn or more, since they would be flat.
fn refuse_flat(body: &Body, rows: usize, turn: f64) -> Result<(), PackError> {
    if turn / (rows as f64) < PI * (1.0 - ANGLE_TOLERANCE) {
        return Ok(());
    }
    Err(PackError::TooFewBricksAround {
        body: body.name.clone(),
        rows: rows as u32,
        degrees: turn.to_degrees(),
    })
}
