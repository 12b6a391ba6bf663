//! The fragments of a body in one state of breakage, as closed surfaces at rest.

pub mod cavities;
pub mod influences;
pub mod necks;
pub mod order;
pub mod simplify;

use std::collections::HashSet;
use std::sync::atomic::AtomicU32;

use crate::parallel::prelude::*;

use self::influences::rigged;
use self::order::ordered_surface;
use crate::geometry::{TriMesh, icosphere};
use crate::reconstruct::body::rest::RestBody;
use crate::reconstruct::body::skin_grid::SkinGrid;
use crate::reconstruct::cells::draw;
use crate::reconstruct::cracks::field::Cracks;
use crate::reconstruct::cracks::owners::NodeOwners;
use crate::reconstruct::cut::intersection::{SkinGridMismatch, corners};
use crate::reconstruct::error::ReconstructError;
use crate::reconstruct::faces::extract::extract_surface;
use crate::reconstruct::faces::surface::BodySurface;
use crate::reconstruct::surface::binding::Binding;
use crate::reconstruct::surface::rest_surface::RestSurface;
use crate::reconstruct::surface::rigged::{DebrisElement, RiggedSurface};

/// Radius of a ball with the volume of the chip that an element of a fragment too small for the grid has,
/// radii.
pub const DUST_RADIUS: f64 = 0.8;
/// Maximum ratio of volume to area of a surface, radii, at which a fragment counts as too small for the grid.
const FLAT_THICKNESS: f64 = 1e-4;
/// Number of grid positions tried if the skin and the grid are inconsistent.
const GRID_ATTEMPTS: u32 = 6;

/// The surfaces of a body in one state of breakage.
#[derive(Debug)]
pub struct Fragments {
    /// Fragment label of each element of the body, for which the surfaces were made.
    pub labels: Vec<u32>,
    /// Number of broken bonds.
    pub broken: usize,
    /// One surface per fragment, ordered by label.
    pub surfaces: Vec<RiggedSurface>,
}

impl Fragments {
    /// Builds the surfaces of `body` from the fragment labels of its elements and the flags of its broken
    /// bonds.
    pub fn new(
        body: &RestBody,
        labels: Vec<u32>,
        broken: &[bool],
    ) -> Result<Self, ReconstructError> {
        if let Some(complex) = &body.cells {
            let rows = body.bonds.iter().zip(broken);
            let broken_rows: HashSet<u32> = rows
                .filter_map(|(bond, broken)| broken.then_some(bond.row))
                .collect();
            let is_whole = |bond: u32| !broken_rows.contains(&bond);
            return Ok(Fragments {
                broken: broken_rows.len(),
                surfaces: draw::surfaces(complex, &body.rows, &labels, is_whole),
                labels,
            });
        }
        let mut distinct_labels = labels.clone();
        distinct_labels.sort_unstable();
        distinct_labels.dedup();
        let fragment_of: Vec<u32> = labels
            .par_iter()
            .map(|label| distinct_labels.partition_point(|name| name < label) as u32)
            .collect();
        let mut elements: Vec<Vec<u32>> = vec![Vec::new(); distinct_labels.len()];
        for (element, &fragment) in fragment_of.iter().enumerate() {
            elements[fragment as usize].push(element as u32);
        }
        let cracks = Cracks::new(body, &fragment_of, broken);
        let rest_surfaces = match &body.skin_grid {
            Some(skin_grid) => rest_surfaces(skin_grid, &cracks, distinct_labels.len())
                .map_err(|SkinGridMismatch| ReconstructError::Uncut { body: body.index })?,
            None => vec![(RestSurface::default(), Vec::new()); distinct_labels.len()],
        };
        let surfaces = rest_surfaces
            .into_par_iter()
            .enumerate()
            .map(|(fragment, (rest_surface, bindings))| {
                if is_flat(&rest_surface.mesh, body.radius) {
                    debris(body, &elements[fragment], distinct_labels[fragment])
                } else {
                    rigged(
                        &cracks,
                        fragment as u32,
                        distinct_labels[fragment],
                        rest_surface,
                        &bindings,
                    )
                }
            })
            .collect();
        Ok(Fragments {
            labels,
            broken: broken.iter().filter(|&&broken| broken).count(),
            surfaces,
        })
    }
}

/// Surfaces of all `fragment_count` fragments, with the bindings of their vertices; empty for a fragment that
/// owns no grid node.
fn rest_surfaces(
    skin_grid: &SkinGrid,
    cracks: &Cracks,
    fragment_count: usize,
) -> Result<Vec<(RestSurface, Vec<Binding>)>, SkinGridMismatch> {
    let surface = if cracks.open.is_empty() {
        BodySurface::uncracked(skin_grid)
    } else {
        let mut surface = cracked_surface(skin_grid, cracks)?;
        necks::cut_necks(&mut surface, cracks);
        surface
    };
    let fragment_of_component = fragments_of_components(&surface, cracks);
    let mut triangles: Vec<Vec<u32>> = vec![Vec::new(); fragment_count];
    for (t, triangle) in surface.triangles.iter().enumerate() {
        let part = surface.component[triangle[0] as usize];
        triangles[fragment_of_component[part as usize] as usize].push(t as u32);
    }
    let positions = surface.positions.par_iter();
    let number: Vec<AtomicU32> = positions.map(|_| AtomicU32::new(u32::MAX)).collect();
    // Fragments share no vertex, so one table of new indices serves them all.
    let rest_surfaces = triangles
        .par_iter()
        .map(|own| ordered_surface(&surface, own, &number, skin_grid));
    Ok(rest_surfaces.collect())
}

/// Builds the surfaces with cracks. If rounding makes skin and grid inconsistent, it tries again with a
/// shifted grid.
fn cracked_surface(skin_grid: &SkinGrid, cracks: &Cracks) -> Result<BodySurface, SkinGridMismatch> {
    let draw = |skin_grid: &SkinGrid| {
        extract_surface(
            skin_grid,
            cracks,
            &mut NodeOwners::new(skin_grid, cracks),
            &corners(skin_grid),
        )
    };
    let mut result = draw(skin_grid);
    for attempt in 1..GRID_ATTEMPTS {
        if result.is_ok() {
            break;
        }
        result = draw(&skin_grid.with_shifted_grid(attempt));
    }
    result
}

/// Whether a surface encloses almost no volume. A fragment that owns no grid node has no surface. In a
/// fragment that owns only one or two corners of a cell, the faces of cracks may pass through each other, as
/// each is placed independently.
fn is_flat(mesh: &TriMesh, radius: f64) -> bool {
    mesh.volume() <= FLAT_THICKNESS * radius * mesh.area()
}

/// The fragment of each component, indexed by its smallest vertex: the fragment of the elements that its
/// vertices move with, by majority; for a cavity the fragment of the surface around it.
fn fragments_of_components(surface: &BodySurface, cracks: &Cracks) -> Vec<u32> {
    let of = |element: u32| cracks.fragment_of[element as usize];
    let mut fragment = vec![u32::MAX; surface.positions.len()];
    for (&part, binding) in surface.component.iter().zip(&surface.bindings) {
        if let (Binding::Elements(owners), u32::MAX) = (binding, fragment[part as usize]) {
            fragment[part as usize] = of(owners[0]);
        }
    }
    let mut votes: Vec<(u32, u32)> = Vec::new();
    for (v, &part) in surface.component.iter().enumerate() {
        if fragment[part as usize] != u32::MAX {
            continue;
        }
        let element = match surface.bindings[v] {
            Binding::SkinVertex(vertex) => cracks.body.nearest_elements[vertex as usize][0],
            _ => {
                let body = cracks.body;
                body.nearest_on_own_side(surface.positions[v], |_| true, 1)[0].1
            }
        };
        votes.push((part, of(element)));
    }
    votes.sort_unstable();
    let mut uncracked = Vec::new();
    for of_part in votes.chunk_by(|a, b| a.0 == b.0) {
        let counts = of_part.chunk_by(|a, b| a.1 == b.1);
        let most = counts.max_by(|a, b| a.len().cmp(&b.len()).then(b[0].1.cmp(&a[0].1)));
        fragment[of_part[0].0 as usize] = most.map_or(0, |votes| votes[0].1);
        uncracked.push(of_part[0].0);
    }
    if cracks.fragment_count() > 1 {
        cavities::assign_cavities(surface, &uncracked, &mut fragment);
    }
    fragment
}

/// The surface of elements without skin: chips of a fragment too small for the grid, or balls of loose
/// elements.
fn debris(body: &RestBody, elements: &[u32], fragment: u32) -> RiggedSurface {
    let of = |scale: f64| -> Vec<DebrisElement> {
        let all = elements.iter().map(|&element| element as usize);
        all.map(|element| DebrisElement {
            row: body.rows[element],
            centre: body.positions[element],
            radius: scale * body.radius,
        })
        .collect()
    };
    match &body.skin_grid {
        Some(skin_grid) => RiggedSurface::chips(fragment, &of(DUST_RADIUS))
            .as_cracks(skin_grid.skin.attributes.as_ref()),
        None => RiggedSurface::balls(fragment, &icosphere(1), &of(1.0)),
    }
}
