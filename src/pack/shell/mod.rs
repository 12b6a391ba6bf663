//! Hollow shells: layers of elements right under the skin of a closed shape, nothing further in.
//!
//! Each layer lies on a surface offset inwards from the skin. Elements are drawn on it apart from each other,
//! spread until they lie nearly as on a triangular lattice, and settle between the layers beside theirs. The
//! layers stand a little farther apart than close-packed ones: on a curved surface no layer fits the next one
//! everywhere.

mod relax;
mod spread;

use crate::parallel::prelude::*;
use glam::DVec3;

use self::relax::{Layers, Surface};
use super::error::PackError;
use super::filled::{Bonding, Filled, Makeup};
use super::outline::{Form, Outline};
use super::points::Points;
use super::request::{CLOSE, DEPTH, Job, Wanted, refuse_too_many};
use crate::geometry::{TriMesh, check, offset, shapes};
use crate::spec::Body;

/// Area that an element takes on its layer over r²: that of the triangular lattice of touching elements, 2√3,
/// and as much more as a lattice grown at random needs, so that hardly any element is left out for want of
/// room.
const EACH: f64 = 3.9;
/// From layer to layer over the radius; close-packed ones are 1.633 apart.
const APART: f64 = 1.8;
/// Cells of the grid that the surfaces under a mesh are drawn on, over the radius.
const CELL: f64 = 1.5;
/// Elements that a shell's innermost layer has at least: fewer close no surface.
const FEWEST: usize = 4;
/// Radii tried for a number of elements, at most.
const TRIES: usize = 8;

/// Depth of layer `k` under the skin over the radius.
fn layer(k: u32) -> f64 {
    DEPTH + f64::from(k) * APART
}

/// Thickness of a shell of so many layers over the radius: elements stick out of its inner surface as far as
/// out of the skin.
fn thickness(layers: u32) -> f64 {
    layer(layers - 1) + DEPTH
}

/// The surface at `depth` (m) under the skin, wound outward; none where nothing lies deeper. Exact for plain
/// shapes, on a grid of cells `spacing` (m) else.
fn surface(outline: &Outline, depth: f64, spacing: f64) -> Option<TriMesh> {
    match &outline.form {
        Form::Ball { radius } => (*radius > depth).then(|| shapes::sphere(radius - depth)),
        Form::Cuboid { half } => {
            (half.min_element() > depth).then(|| shapes::cuboid(2.0 * (*half - depth)))
        }
        Form::Cylinder { radius, height } => (radius.min(height / 2.0) > depth)
            .then(|| shapes::cylinder(radius - depth, height - 2.0 * depth)),
        Form::Revolved { profile, segments } => match profile.inset(depth) {
            Some(inset) => Some(inset.skin(*segments)),
            None => drawn(&outline.skin, depth, spacing),
        },
        Form::Closed | Form::Wound => drawn(&outline.skin, depth, spacing),
    }
}

fn drawn(skin: &TriMesh, depth: f64, spacing: f64) -> Option<TriMesh> {
    let found = offset::inner(skin, depth, spacing);
    (!found.triangles.is_empty()).then_some(found)
}

/// The surfaces that the layers of elements of this radius (m) lie on, and the inner one of the shell.
fn surfaces(outline: &Outline, layers: u32, radius: f64) -> Option<(Vec<TriMesh>, TriMesh)> {
    let at = |depth: f64| surface(outline, depth * radius, CELL * radius);
    let inner = at(thickness(layers))?;
    let of_layers = (0..layers).map(|k| at(layer(k)));
    Some((of_layers.collect::<Option<_>>()?, inner))
}

fn area(surfaces: &[TriMesh]) -> f64 {
    surfaces.iter().map(TriMesh::area).sum()
}

/// Fills the shell of a shape with `layers` layers.
pub(super) fn fill(
    job: Job,
    wanted: Wanted,
    outline: Outline,
    layers: u32,
    neighbourhood: f64,
) -> Result<Filled, PackError> {
    let body = job.body;
    let thin = |radius| too_thin(body, layers, radius);
    let tried = |radius: f64| {
        let estimate = f64::from(layers) * outline.skin.area() / (EACH * radius * radius);
        refuse_too_many(body, radius, estimate)?;
        Ok::<_, PackError>(surfaces(&outline, layers, radius))
    };
    let (radius, (on, mut inner)) = match wanted {
        Wanted::Radius(radius) => (radius, tried(radius)?.ok_or_else(|| thin(radius))?),
        Wanted::Elements(number) => {
            let fitting = |area: f64| (area / (EACH * number)).sqrt();
            let mut radius = fitting(f64::from(layers) * outline.skin.area());
            let mut found = tried(radius)?;
            for _ in 0..TRIES {
                let next = match &found {
                    // The layers within are smaller than the skin.
                    Some((on, _)) => fitting(area(on)),
                    None => 0.8 * radius,
                };
                if found.is_some() && (next / radius - 1.0).abs() < CLOSE / 4.0 {
                    break;
                }
                radius = next;
                found = tried(radius)?;
            }
            (radius, found.ok_or_else(|| thin(radius))?)
        }
    };
    let drawn: Vec<Vec<DVec3>> = (0..on.len() as u32)
        .into_par_iter()
        .map(|k| {
            let surface = &on[k as usize];
            let count = (surface.area() / (EACH * radius * radius)).round() as usize;
            spread::draw(surface, count, EACH.sqrt() * radius, (job.draw, k))
        })
        .collect();
    if drawn.iter().any(|layer| layer.len() < FEWEST) {
        return Err(thin(radius));
    }
    let depths = (0..layers).map(|k| layer(k) * radius).collect();
    let mut packing = Layers::new(Surface::new(&outline.skin), radius, depths, drawn);
    packing.pack(EACH.sqrt());
    let (centres, inward) = packing.done();
    let mut skin = outline.skin;
    check::flip(&mut inner);
    skin.append(inner);
    Ok(Filled {
        points: Points::equal(centres, radius),
        radius,
        bonding: Bonding::Within(neighbourhood),
        makeup: Makeup::Shell { inward },
        volume: skin.volume(),
        skin,
    })
}

fn too_thin(body: &Body, layers: u32, radius: f64) -> PackError {
    PackError::TooThin {
        body: body.name.clone(),
        layers,
        radius,
        thickness: thickness(layers) * radius,
    }
}

#[cfg(test)]
mod tests;
