//! Cells that fill a shape without gaps: Voronoi cells and bricks, as convex polyhedra that share their faces.

mod bricks;
mod draw;
mod place;
mod relax;
mod walls;

use std::f64::consts::PI;
use std::path::Path;

use glam::DVec3;

use self::bricks::Grid;
pub(super) use self::place::placed;
use self::relax::Border;
use super::error::PackError;
use super::filled::{Bonding, Filled, Makeup};
use super::outline::{Form, Outline, positive};
use super::points::Points;
use super::random::stream;
use super::request::{Job, MAX_ELEMENTS, refuse_too_many};
use super::solid::Solid;
use crate::geometry::TriMesh;
use crate::geometry::cells::Cells;
use crate::geometry::convex::Convex;
use crate::geometry::mirror::Mirror;
use crate::spec::{Body, BodyShape, CELLS_CLOSED};

/// Part of the body's volume by which that of its Voronoi cells may be off.
const OFF: f64 = 0.1;
/// Places tried for each cell at most: less of its box a body hardly fills.
const SPARSE: f64 = 1e4;
/// Kind of the numbers that the generators' first places are drawn by.
const PLACES: u64 = 3;

/// Fills a shape with Voronoi cells of this size (m) or about so many, of which one is given, relaxed in so
/// many rounds.
pub(super) fn voronoi(
    job: Job,
    outline: Outline,
    wanted: (Option<f64>, Option<u32>),
    relax: u32,
) -> Result<Filled, PackError> {
    let body = job.body;
    let Outline { form, skin, volume } = outline;
    if matches!(form, Form::Wound) {
        return Err(PackError::Unfit {
            body: body.name.clone(),
            what: CELLS_CLOSED,
        });
    }
    let count = match wanted {
        (Some(size), None) => volume / positive(body, "packing.size", size)?.powi(3),
        (None, Some(cells)) => positive(body, "packing.cells", f64::from(cells))?,
        other => return Err(size_or(body, "cells", other.0.is_some())),
    };
    let count = count.round().max(1.0);
    let spacing = (volume / count).cbrt();
    refuse_too_many(body, spacing / 2.0, count)?;
    let bounds = skin.bounds().unwrap_or_default();
    let sites = draw::tries(bounds, spacing);
    if sites.is_nan() || sites > SPARSE * count.max(10.0) {
        return Err(PackError::Sparse {
            body: body.name.clone(),
            radius: spacing / 2.0,
            sites,
            extent: bounds.1 - bounds.0,
        });
    }
    let (solid, border) = match form {
        Form::Cuboid { half } => (Solid::Cuboid { half }, Border::Box { half }),
        _ => (Solid::closed(&skin), Border::Skin(Mirror::new(&skin))),
    };
    let seed = job.draw.0 ^ stream(job.draw.1, PLACES, 0);
    let places = draw::draw(&solid, bounds, (count as usize, spacing), seed);
    let too_large = |cells: usize, held: f64| PackError::CellsTooLarge {
        body: body.name.clone(),
        cells,
        size: spacing,
        held,
        volume,
    };
    if places.is_empty() {
        return Err(too_large(0, 0.0));
    }
    let solids = relax::cells(&border, places, spacing, relax).map_err(|near| {
        PackError::CoincidentCells {
            body: body.name.clone(),
            near,
        }
    })?;
    drop((solid, border));
    let cells = solids.len();
    let filled = filled(solids, skin);
    let held = filled.as_ref().map_or(0.0, |filled| filled.volume);
    match filled {
        Some(filled) if (held / volume - 1.0).abs() <= OFF => Ok(filled),
        _ => Err(too_large(cells, held)),
    }
}

fn size_or(body: &Body, other: &'static str, both: bool) -> PackError {
    PackError::SizeOrNumber {
        body: body.name.clone(),
        other,
        found: if both { "found both" } else { "found neither" },
    }
}

/// Fills a shape with bricks of about this size (m), or in so many rows, of which one is given; `base` is the
/// folder that mesh paths start from.
pub(super) fn cubic(
    body: &Body,
    base: &Path,
    wanted: (Option<[f64; 3]>, Option<[u32; 3]>),
) -> Result<Filled, PackError> {
    let rows = |extent: DVec3| {
        let counts = match wanted {
            (Some(size), None) => {
                for edge in size {
                    positive(body, "packing.size", edge)?;
                }
                (extent / DVec3::from_array(size)).round().max(DVec3::ONE)
            }
            (None, Some(rows)) => {
                for row in rows {
                    positive(body, "packing.rows", f64::from(row))?;
                }
                DVec3::from_array(rows.map(f64::from))
            }
            other => return Err(size_or(body, "rows", other.0.is_some())),
        };
        let all = counts.element_product();
        let estimate = if all.is_nan() { f64::INFINITY } else { all };
        if estimate > f64::from(MAX_ELEMENTS) {
            let radius = ((extent / counts).element_product() * 0.75 / PI).cbrt();
            refuse_too_many(body, radius, estimate)?;
        }
        Ok(counts.to_array().map(|n| n as usize))
    };
    if let BodyShape::CylinderShell { .. } | BodyShape::SphereShell { .. } = &body.shape {
        let solids = walls::fill(body, rows)?;
        let skin = bricks::skin(&solids);
        return filled(solids, skin).ok_or_else(|| no_brick(body, DVec3::ZERO));
    }
    let outline = Outline::of(body, base)?;
    let (low, high) = outline.bounds();
    let counts = rows(high - low)?;
    let grid = Grid::new(low, high, counts);
    let solids = match outline.form {
        Form::Cuboid { .. } => grid.solids(&vec![true; counts.iter().product()]),
        _ => grid.solids(&grid.inside(&outline.solid(), body.is_bonded())),
    };
    filled(solids, outline.skin).ok_or_else(|| no_brick(body, grid.edges()))
}

fn no_brick(body: &Body, size: DVec3) -> PackError {
    PackError::NoBrick {
        body: body.name.clone(),
        size,
    }
}

/// What solids fill; nothing where there are none or one is flat.
fn filled(solids: Vec<Convex>, skin: TriMesh) -> Option<Filled> {
    let Cells { masses, .. } = Cells::of(&solids).ok()?;
    let volume: f64 = masses.iter().map(|mass| mass.volume).sum();
    let radii: Vec<f64> = masses
        .iter()
        .map(|mass| (0.75 * mass.volume / PI).cbrt())
        .collect();
    (!radii.is_empty()).then(|| Filled {
        radius: radii.iter().sum::<f64>() / radii.len() as f64,
        points: Points {
            centres: masses.iter().map(|mass| mass.centre).collect(),
            radii,
        },
        bonding: Bonding::Given(Vec::new()),
        makeup: Makeup::Cells { solids },
        volume,
        skin,
    })
}

#[cfg(test)]
mod tests;
