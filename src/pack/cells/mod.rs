//! Cells that fill a shape without gaps: Voronoi cells and bricks, as convex polyhedra that share their faces.

mod bricks;
mod draw;
mod place;
mod relax;
mod walls;

use std::f64::consts::PI;

use glam::DVec3;

use self::bricks::BrickGrid;
pub(super) use self::place::place_cells;
use self::relax::CellBorder;
use super::error::PackError;
use super::filled::{Bonding, FilledShape, PackingStructure};
use super::outline::{Outline, OutlineForm, positive};
use super::points::ElementSpheres;
use super::random::stream;
use super::request::{MAX_ELEMENTS, SeededBody, refuse_too_many};
use super::solid::FillRegion;
use crate::geometry::TriMesh;
use crate::geometry::cells::Cells;
use crate::geometry::convex::Convex;
use crate::geometry::mirror::Mirror;
use crate::spec::{Body, BodyShape};

/// Largest relative difference between the volume of the Voronoi cells and that of the body.
const MAX_VOLUME_ERROR: f64 = 0.1;
/// Largest number of candidate points per cell. A valid body hardly fills less of its box.
const MAX_CANDIDATES_PER_CELL: f64 = 1e4;
/// Kind of the random stream for the initial generators.
const GENERATOR_STREAM: u64 = 3;

/// Fills a shape with Voronoi cells of a given size (m) or of about a given number, exactly one of which must
/// be given, after `relax` rounds of relaxation.
pub(super) fn voronoi(
    seeded: SeededBody,
    outline: Outline,
    size_or_number: (Option<f64>, Option<u32>),
    relax: u32,
) -> Result<FilledShape, PackError> {
    let body = seeded.body;
    let Outline { form, skin, volume } = outline;
    let count = match size_or_number {
        (Some(size), None) => volume / positive(body, "packing.size", size)?.powi(3),
        (None, Some(cells)) => positive(body, "packing.cells", f64::from(cells))?,
        other => return Err(size_or_number_error(body, "cells", other.0.is_some())),
    };
    let count = count.round().max(1.0);
    let spacing = (volume / count).cbrt();
    refuse_too_many(body, spacing / 2.0, count)?;
    let bounds = skin.bounds().unwrap_or_default();
    let sites = draw::candidate_count(bounds, spacing);
    if sites.is_nan() || sites > MAX_CANDIDATES_PER_CELL * count.max(10.0) {
        return Err(PackError::AlmostEmptyBox {
            body: body.name.clone(),
            radius: spacing / 2.0,
            sites,
            extent: bounds.1 - bounds.0,
        });
    }
    let (solid, border) = match form {
        OutlineForm::Cuboid { half } => (FillRegion::Cuboid { half }, CellBorder::Box { half }),
        _ => (
            FillRegion::closed(&skin),
            CellBorder::Skin(Mirror::new(&skin)),
        ),
    };
    let seed = seeded.seed.0 ^ stream(seeded.seed.1, GENERATOR_STREAM, 0);
    let generators = draw::draw_points(&solid, bounds, (count as usize, spacing), seed);
    let too_large = |cells: usize, held: f64| PackError::CellsTooLarge {
        body: body.name.clone(),
        cells,
        size: spacing,
        held,
        volume,
    };
    if generators.is_empty() {
        return Err(too_large(0, 0.0));
    }
    let solids = relax::relaxed_cells(&border, generators, spacing, relax).map_err(|near| {
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
        Some(filled) if (held / volume - 1.0).abs() <= MAX_VOLUME_ERROR => Ok(filled),
        _ => Err(too_large(cells, held)),
    }
}

fn size_or_number_error(body: &Body, other: &'static str, both: bool) -> PackError {
    PackError::SizeOrNumber {
        body: body.name.clone(),
        other,
        found: if both { "found both" } else { "found neither" },
    }
}

/// Fills a shape with bricks of about a given size (m), or in given numbers of rows, exactly one of which
/// must be given; `base` is the folder that mesh paths are relative to.
pub(super) fn cubic(
    body: &Body,
    mesh: Option<&TriMesh>,
    size_or_number: (Option<[f64; 3]>, Option<[u32; 3]>),
) -> Result<FilledShape, PackError> {
    let rows = |extent: DVec3| {
        let counts = match size_or_number {
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
            other => return Err(size_or_number_error(body, "rows", other.0.is_some())),
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
        let solids = walls::bricks_of_wall(body, rows)?;
        let skin = bricks::skin(&solids);
        return filled(solids, skin).ok_or_else(|| no_brick(body, DVec3::ZERO));
    }
    let outline = Outline::of(body, mesh)?;
    let (low, high) = outline.bounds();
    let counts = rows(high - low)?;
    let grid = BrickGrid::new(low, high, counts);
    let solids = match outline.form {
        OutlineForm::Cuboid { .. } => grid.solids(&vec![true; counts.iter().product()]),
        _ => grid.solids(&grid.inside(&outline.region(), body.is_bonded())),
    };
    filled(solids, outline.skin).ok_or_else(|| no_brick(body, grid.edges()))
}

fn no_brick(body: &Body, size: DVec3) -> PackError {
    PackError::NoBrickInside {
        body: body.name.clone(),
        size,
    }
}

/// The shape filled by these solids; `None` if there are none or one is flat.
fn filled(solids: Vec<Convex>, skin: TriMesh) -> Option<FilledShape> {
    let Cells { masses, .. } = Cells::of(&solids).ok()?;
    let volume: f64 = masses.iter().map(|mass| mass.volume).sum();
    let radii: Vec<f64> = masses
        .iter()
        .map(|mass| (0.75 * mass.volume / PI).cbrt())
        .collect();
    (!radii.is_empty()).then(|| FilledShape {
        radius: radii.iter().sum::<f64>() / radii.len() as f64,
        spheres: ElementSpheres {
            centres: masses.iter().map(|mass| mass.centre).collect(),
            radii,
        },
        bonding: Bonding::Given(Vec::new()),
        structure: PackingStructure::Cells { solids },
        volume,
        skin,
    })
}

#[cfg(test)]
mod tests;
