//! Hollow shells: layers of elements right under the skin of a closed shape, nothing further in.
//!
//! Each layer lies on a surface offset inwards from the skin. Elements are drawn on it at a minimum distance
//! from each other, spread until they lie nearly on a triangular lattice, and settle into the hollows of the
//! adjacent layers. The layers are a little farther apart than close-packed ones: on a curved surface no
//! layer fits the next one everywhere.

mod relax;
mod spread;

use crate::parallel::prelude::*;
use glam::DVec3;

use self::relax::{ShellLayers, SkinSurface};
use super::error::PackError;
use super::filled::{Bonding, FilledShape, PackingStructure};
use super::outline::{Outline, OutlineForm};
use super::points::ElementSpheres;
use super::request::{CENTRE_DEPTH, COUNT_TOLERANCE, SeededBody, SizeRequest, refuse_too_many};
use crate::geometry::{TriMesh, check, offset, shapes};
use crate::spec::Body;

/// Area per element on its layer over r²: 2√3 for the triangular lattice of touching elements, plus an
/// allowance for the defects of a random arrangement, so that hardly any element has to be removed.
const AREA_PER_ELEMENT: f64 = 3.9;
/// Distance between layers over the radius; close-packed layers are 1.633 apart.
const LAYER_SPACING: f64 = 1.8;
/// Cell size, over the radius, of the grid on which surfaces under a mesh are extracted.
const GRID_CELL: f64 = 1.5;
/// Least number of elements of a layer: fewer cannot enclose a hollow.
const MIN_LAYER_ELEMENTS: usize = 4;
/// Largest number of radii tried to reach a number of elements.
const MAX_TRIES: usize = 8;

/// Depth of the centres of layer `k` under the skin, over the radius.
fn layer_depth(k: u32) -> f64 {
    CENTRE_DEPTH + f64::from(k) * LAYER_SPACING
}

/// Thickness of a shell of `layers` layers over the radius. Elements stick out of its inner surface as far as
/// out of the skin.
fn thickness(layers: u32) -> f64 {
    layer_depth(layers - 1) + CENTRE_DEPTH
}

/// The surface at `depth` (m) under the skin, wound outward; `None` if nothing lies deeper. Exact for simple
/// shapes, otherwise extracted on a grid with cells of size `spacing` (m).
fn surface(outline: &Outline, depth: f64, spacing: f64) -> Option<TriMesh> {
    match &outline.form {
        OutlineForm::Ball { radius } => (*radius > depth).then(|| shapes::sphere(radius - depth)),
        OutlineForm::Cuboid { half } => {
            (half.min_element() > depth).then(|| shapes::cuboid(2.0 * (*half - depth)))
        }
        OutlineForm::Cylinder { radius, height } => (radius.min(height / 2.0) > depth)
            .then(|| shapes::cylinder(radius - depth, height - 2.0 * depth)),
        OutlineForm::Revolved { profile, segments } => match profile.inset(depth) {
            Some(inset) => Some(inset.skin(*segments)),
            None => offset_surface(&outline.skin, depth, spacing),
        },
        OutlineForm::Closed => offset_surface(&outline.skin, depth, spacing),
    }
}

fn offset_surface(skin: &TriMesh, depth: f64, spacing: f64) -> Option<TriMesh> {
    let found = offset::inner_surface(skin, depth, spacing);
    (!found.triangles.is_empty()).then_some(found)
}

/// The surfaces on which the layers of elements of this radius (m) lie, and the inner surface of the shell.
fn surfaces(outline: &Outline, layers: u32, radius: f64) -> Option<(Vec<TriMesh>, TriMesh)> {
    let at = |depth: f64| surface(outline, depth * radius, GRID_CELL * radius);
    let inner = at(thickness(layers))?;
    let of_layers = (0..layers).map(|k| at(layer_depth(k)));
    Some((of_layers.collect::<Option<_>>()?, inner))
}

fn area(surfaces: &[TriMesh]) -> f64 {
    surfaces.iter().map(TriMesh::area).sum()
}

/// Fills the shell of a shape with `layers` layers.
pub(super) fn fill(
    seeded: SeededBody,
    request: SizeRequest,
    outline: Outline,
    layers: u32,
    neighbourhood: f64,
) -> Result<FilledShape, PackError> {
    let body = seeded.body;
    let thin = |radius| too_thin(body, layers, radius);
    let tried = |radius: f64| {
        let estimate =
            f64::from(layers) * outline.skin.area() / (AREA_PER_ELEMENT * radius * radius);
        refuse_too_many(body, radius, estimate)?;
        Ok::<_, PackError>(surfaces(&outline, layers, radius))
    };
    let (radius, (surfaces_of_layers, mut inner)) = match request {
        SizeRequest::Radius(radius) => (radius, tried(radius)?.ok_or_else(|| thin(radius))?),
        SizeRequest::Elements(number) => {
            let fitting = |area: f64| (area / (AREA_PER_ELEMENT * number)).sqrt();
            let mut radius = fitting(f64::from(layers) * outline.skin.area());
            let mut found = tried(radius)?;
            for _ in 0..MAX_TRIES {
                let next = match &found {
                    // Inner layers have a smaller area than the skin.
                    Some((on, _)) => fitting(area(on)),
                    None => 0.8 * radius,
                };
                if found.is_some() && (next / radius - 1.0).abs() < COUNT_TOLERANCE / 4.0 {
                    break;
                }
                radius = next;
                found = tried(radius)?;
            }
            (radius, found.ok_or_else(|| thin(radius))?)
        }
    };
    let drawn: Vec<Vec<DVec3>> = (0..surfaces_of_layers.len() as u32)
        .into_par_iter()
        .map(|k| {
            let surface = &surfaces_of_layers[k as usize];
            let count = (surface.area() / (AREA_PER_ELEMENT * radius * radius)).round() as usize;
            spread::draw_points(
                surface,
                count,
                AREA_PER_ELEMENT.sqrt() * radius,
                (seeded.seed, k),
            )
        })
        .collect();
    if drawn.iter().any(|layer| layer.len() < MIN_LAYER_ELEMENTS) {
        return Err(thin(radius));
    }
    let depths = (0..layers).map(|k| layer_depth(k) * radius).collect();
    let mut packing = ShellLayers::new(SkinSurface::new(&outline.skin), radius, depths, drawn);
    packing.relax(AREA_PER_ELEMENT.sqrt());
    let (centres, inward) = packing.into_centres();
    let mut skin = outline.skin;
    check::flip(&mut inner);
    skin.append(inner);
    Ok(FilledShape {
        spheres: ElementSpheres::equal(centres, radius),
        radius,
        bonding: Bonding::Within(neighbourhood),
        structure: PackingStructure::Shell { inward },
        volume: skin.volume(),
        skin,
    })
}

fn too_thin(body: &Body, layers: u32, radius: f64) -> PackError {
    PackError::TooThinForShell {
        body: body.name.clone(),
        layers,
        radius,
        thickness: thickness(layers) * radius,
    }
}

#[cfg(test)]
mod tests;
