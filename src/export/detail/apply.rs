//! Replaces the surfaces of a frame by reduced ones.

use std::collections::BTreeMap;

use super::corners;
use super::limits::DetailSummary;
use super::reduce::Reduced;
use super::survey::ShapeKey;
use crate::export::shape_hash::shape_hash;
use crate::parallel::prelude::*;
use crate::store::corner_normals::Fans;
use crate::store::{FragmentRange, SurfaceFrame};

/// Reduced meshes of a clip.
pub struct Reduction {
    /// The meshes; fragments without one keep all their triangles.
    pub(super) shapes: BTreeMap<ShapeKey, Reduced>,
    /// What is left.
    pub summary: DetailSummary,
}

impl Reduction {
    /// The surfaces of a frame with reduced meshes.
    pub fn apply(&self, full: &SurfaceFrame) -> SurfaceFrame {
        let mut surface = SurfaceFrame {
            frame: full.frame,
            time: full.time,
            material_names: full.material_names.clone(),
            ..SurfaceFrame::default()
        };
        let found = full.pieces.par_iter().map(|piece| {
            let key = (piece.body, piece.fragment, shape_hash(full, piece));
            let reduced = self.shapes.get(&key);
            // Where nothing is reduced, corners keep the normals that they have.
            let fans = reduced.is_none().then(|| Fans::of(full, piece).corners);
            (reduced, fans.unwrap_or_default())
        });
        let found: Vec<(Option<&Reduced>, Vec<[u32; 3]>)> = found.collect();
        for (piece, (reduced, fans)) in full.pieces.iter().zip(found) {
            let first_vertex = surface.positions.len() as u32;
            let first_triangle = surface.triangles.len() as u32;
            match reduced {
                Some(reduced) => append_reduced(&mut surface, full, piece, reduced),
                None => append_whole(&mut surface, full, piece, fans),
            }
            surface.pieces.push(FragmentRange {
                first_vertex,
                vertices: surface.positions.len() as u32 - first_vertex,
                first_triangle,
                triangles: surface.triangles.len() as u32 - first_triangle,
                ..*piece
            });
        }
        surface
    }
}

fn append_vertices(
    to: &mut SurfaceFrame,
    full: &SurfaceFrame,
    vertices: impl Iterator<Item = usize>,
) {
    for vertex in vertices {
        to.positions.push(full.positions[vertex]);
        to.normals.push(full.normals[vertex]);
        to.velocities.push(full.velocities[vertex]);
        to.rest_positions.push(full.rest_positions[vertex]);
        to.stress.push(full.stress[vertex]);
    }
}

fn append_reduced(
    to: &mut SurfaceFrame,
    full: &SurfaceFrame,
    piece: &FragmentRange,
    reduced: &Reduced,
) {
    let base = to.positions.len() as u32;
    let first = piece.first_vertex as usize;
    let sources = reduced.sources.iter();
    append_vertices(to, full, sources.map(|source| first + *source as usize));
    let triangles = reduced.triangles.iter();
    to.triangles
        .extend(triangles.map(|t| t.map(|vertex| base + vertex)));
    to.smooth.extend_from_slice(&reduced.groups);
    for rows in &reduced.rows {
        to.inside.push(corners::is_inside(&rows[0]).into());
        if !full.uv.is_empty() {
            to.uv.push([0, 1, 2].map(|m| corners::uv(&rows[m])));
        }
        if !full.colours.is_empty() {
            to.colours
                .push([0, 1, 2].map(|m| corners::colour(&rows[m])));
        }
        if !full.materials.is_empty() {
            to.materials.push(corners::material(&rows[0]));
        }
    }
}

fn append_whole(
    to: &mut SurfaceFrame,
    full: &SurfaceFrame,
    piece: &FragmentRange,
    fans: Vec<[u32; 3]>,
) {
    let base = to.positions.len() as u32;
    append_vertices(to, full, full.vertex_range(piece));
    let triangles = full.local_triangles(piece);
    to.triangles
        .extend(triangles.map(|t| t.map(|vertex| base + vertex)));
    to.smooth.extend(fans);
    let range = full.triangle_range(piece);
    to.inside.extend_from_slice(&full.inside[range.clone()]);
    to.uv.extend_from_slice(full.uv_of(piece));
    to.colours.extend_from_slice(full.colours_of(piece));
    let materials = full.materials.get(range);
    to.materials
        .extend_from_slice(materials.unwrap_or_default());
}
