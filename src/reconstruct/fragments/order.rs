//! The shells of single fragments: fewer triangles where that is asked for, and an order that renderers like.

use std::sync::atomic::{AtomicU32, Ordering};

use glam::DVec3;

use super::simplify::simplified;
use crate::geometry::CornerUv;
use crate::math::hash::QuickMap;
use crate::reconstruct::body::solid::Solid;
use crate::reconstruct::faces::surface::Surface;
use crate::reconstruct::surface::hold::Hold;
use crate::reconstruct::surface::shell::Shell;

/// These triangles of a surface, the skin's first and the cracks' after, each in an order that suits a vertex
/// cache, with vertices in the order of use. Where `solid.simplify` is not zero, triangles are taken away as
/// long as the surface moves no farther than that. `number` is all `u32::MAX` where they have vertices.
pub fn ordered(
    surface: &Surface,
    own: &[u32],
    number: &[AtomicU32],
    solid: &Solid,
) -> (Shell, Vec<Hold>) {
    let (mut shell, mut holds) = (Shell::default(), Vec::new());
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
    let texture = solid.skin.texture.as_ref();
    // Triangles of skin and cracks, and the texture coordinates of the skin's.
    let (mut indices, mut uv) = ([Vec::new(), Vec::new()], Vec::new());
    for &t in own {
        let (triangle, inside) = (surface.triangles[t as usize], surface.inside[t as usize]);
        indices[inside as usize].extend(triangle.map(&mut local));
        if let (Some(texture), 0) = (texture, inside) {
            let skin = &solid.skin.mesh.positions;
            uv.push(texture.on_skin(skin, surface.sources[t as usize], triangle.map(at)));
        }
    }
    if solid.simplify > 0.0 {
        let positions: Vec<DVec3> = vertices.iter().map(|&v| at(v)).collect();
        let density = texture.map_or(0.0, |texture| texture.density);
        (indices, uv) = simplified(indices, uv, &positions, solid.simplify, density);
    }
    let skin = indices[0].as_chunks::<3>().0.iter();
    let uv_of: QuickMap<(u32, u32, u32), CornerUv> = skin.map(|&t| t.into()).zip(uv).collect();
    let mut order = vec![u32::MAX; vertices.len()];
    for (inside, indices) in indices.iter().enumerate() {
        if indices.is_empty() {
            continue;
        }
        let indices = meshopt::optimize_vertex_cache(indices, vertices.len());
        for own in indices.as_chunks::<3>().0 {
            if let Some(texture) = texture {
                shell.mesh.uv.push(match inside {
                    0 => uv_of.get(&(*own).into()).copied().unwrap_or_default(),
                    _ => texture.on_crack(own.map(|v| at(vertices[v as usize]))),
                });
            }
            let triangle = own.map(|v| {
                let place = &mut order[v as usize];
                if *place == u32::MAX {
                    *place = shell.mesh.positions.len() as u32;
                    let v = vertices[v as usize] as usize;
                    shell.mesh.positions.push(surface.positions[v]);
                    holds.push(surface.holds[v]);
                }
                *place
            });
            shell.mesh.triangles.push(triangle);
            shell.inside.push(inside as u8);
        }
    }
    (shell, holds)
}
