//! Surfaces of single fragments: simplified if requested, and in an order that is efficient for renderers.

use std::sync::atomic::{AtomicU32, Ordering};

use glam::DVec3;

use super::simplify::simplified;
use crate::math::hash::QuickMap;
use crate::reconstruct::body::skin_grid::SkinGrid;
use crate::reconstruct::faces::surface::BodySurface;
use crate::reconstruct::surface::attributes::TriangleAttributes;
use crate::reconstruct::surface::binding::Binding;
use crate::reconstruct::surface::rest_surface::RestSurface;

/// The triangles `own` of a surface: skin first, then crack faces, each in an order that suits a vertex
/// cache, with vertices in the order of use. If `skin_grid.simplify` is not zero, triangles are removed as
/// long as the surface moves no farther than that. `number` is scratch space; the entries of the vertices of
/// `own` must be `u32::MAX`.
pub fn ordered_surface(
    surface: &BodySurface,
    own: &[u32],
    number: &[AtomicU32],
    skin_grid: &SkinGrid,
) -> (RestSurface, Vec<Binding>) {
    let (mut rest_surface, mut bindings) = (RestSurface::default(), Vec::new());
    let mut vertices = Vec::new();
    let mut local = |v: u32| {
        let number = &number[v as usize];
        if number.load(Ordering::Relaxed) == u32::MAX {
            number.store(vertices.len() as u32, Ordering::Relaxed);
            vertices.push(v);
        }
        number.load(Ordering::Relaxed)
    };
    let at = |v: u32| surface.positions[v as usize];
    let attributes = skin_grid.skin.attributes.as_ref();
    // Triangles of skin and cracks, and the attributes of the skin's triangles.
    let (mut indices, mut of_skin) = ([Vec::new(), Vec::new()], Vec::new());
    for &t in own {
        let (triangle, inside) = (surface.triangles[t as usize], surface.inside[t as usize]);
        indices[inside as usize].extend(triangle.map(&mut local));
        if let (Some(attributes), 0) = (attributes, inside) {
            let skin = &skin_grid.skin.mesh.positions;
            let source = surface.sources[t as usize];
            of_skin.push(attributes.on_skin(skin, source, triangle.map(at)));
        }
    }
    if skin_grid.simplify > 0.0 {
        let positions: Vec<DVec3> = vertices.iter().map(|&v| at(v)).collect();
        let density = attributes.map_or(0.0, |attributes| attributes.density);
        (indices, of_skin) = simplified(indices, of_skin, &positions, skin_grid.simplify, density);
    }
    let skin = indices[0].as_chunks::<3>().0.iter();
    let known: QuickMap<(u32, u32, u32), TriangleAttributes> =
        skin.map(|&t| t.into()).zip(of_skin).collect();
    let mut order = vec![u32::MAX; vertices.len()];
    for (inside, indices) in indices.iter().enumerate() {
        if indices.is_empty() {
            continue;
        }
        let indices = meshopt::optimize_vertex_cache(indices, vertices.len());
        for own in indices.as_chunks::<3>().0 {
            if let Some(attributes) = attributes {
                let on_crack = || attributes.on_crack(own.map(|v| at(vertices[v as usize])));
                let found = known.get(&(*own).into()).filter(|_| inside == 0);
                let found = found.copied().unwrap_or_else(on_crack);
                attributes.push(found, &mut rest_surface.mesh);
            }
            let triangle = own.map(|v| {
                let new_vertex = &mut order[v as usize];
                if *new_vertex == u32::MAX {
                    *new_vertex = rest_surface.mesh.positions.len() as u32;
                    let v = vertices[v as usize] as usize;
                    rest_surface.mesh.positions.push(surface.positions[v]);
                    bindings.push(surface.bindings[v]);
                }
                *new_vertex
            });
            rest_surface.mesh.triangles.push(triangle);
            rest_surface.inside.push(inside as u8);
        }
    }
    if let Some(attributes) = attributes {
        attributes.name_materials(&mut rest_surface.mesh);
    }
    (rest_surface, bindings)
}
