//! The shells of single fragments: fewer triangles where that is asked for, and an order that renderers like.

use std::sync::atomic::{AtomicU32, Ordering};

use glam::DVec3;

use super::carry::Shell;
use super::surface::{Hold, Surface};
use crate::math::hash::QuickMap;

/// These triangles of a surface, the skin's first and the cracks' after, each in an order that suits a vertex cache, with
/// vertices in the order of use. Where `simplify` is not zero, triangles are taken away as long as the surface moves no farther than that (m).
/// `number` is all `u32::MAX` where they have vertices.
pub fn ordered(
    surface: &Surface,
    own: &[u32],
    number: &[AtomicU32],
    simplify: f64,
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
    let mut indices = [Vec::new(), Vec::new()];
    for &t in own {
        let triangle = surface.triangles[t as usize].map(&mut local);
        indices[surface.inside[t as usize] as usize].extend(triangle);
    }
    if simplify > 0.0 {
        let positions = vertices.iter().map(|&v| surface.positions[v as usize]);
        let positions: Vec<DVec3> = positions.collect();
        indices = simplified(indices, &positions, simplify);
    }
    let mut order = vec![u32::MAX; vertices.len()];
    for (inside, indices) in indices.iter().enumerate() {
        if indices.is_empty() {
            continue;
        }
        let indices = meshopt::optimize_vertex_cache(indices, vertices.len());
        for triangle in indices.as_chunks::<3>().0 {
            let triangle = triangle.map(|v| {
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

/// The triangles of skin and cracks with as many taken away as leave the surface within `error` (m). Vertices that both share stay.
fn simplified(indices: [Vec<u32>; 2], positions: &[DVec3], error: f64) -> [Vec<u32>; 2] {
    let mut part_of = vec![0_u8; positions.len()];
    for (part, indices) in [1, 2].into_iter().zip(&indices) {
        indices.iter().for_each(|&v| part_of[v as usize] |= part);
    }
    let locked: Vec<bool> = part_of.iter().map(|&parts| parts == 3).collect();
    // In units of the error about the first vertex: single precision is enough then. Both faces of a crack lie on each other at rest, and would be
    // taken for one; a thousandth of the error tells them apart.
    let scaled: Vec<[f32; 3]> = positions
        .iter()
        .zip(0_u32..)
        .map(|(&x, v)| {
            let apart = f64::from(v.wrapping_mul(0x9e37_79b9) >> 16) / 65536e3;
            ((x - positions[0]) / error + apart).as_vec3().to_array()
        })
        .collect();
    let fewer = |indices: &[u32]| {
        meshopt::simplify_with_locks_decoder(
            indices,
            &scaled,
            &locked,
            0,
            1.0,
            meshopt::SimplifyOptions::LockBorder | meshopt::SimplifyOptions::ErrorAbsolute,
            None,
        )
    };
    // Skin and cracks may come to share an edge between two points of a rim; then one of them keeps what it has, or both.
    let [skin, crack] = [fewer(&indices[0]), fewer(&indices[1])];
    let choices = [[&skin, &crack], [&skin, &indices[1]], [&indices[0], &crack]];
    let closed = choices.into_iter().find(is_closed);
    closed.map_or_else(|| indices.clone(), |choice| choice.map(Vec::clone))
}

/// Whether every edge has one triangle on either side.
fn is_closed(indices: &[&Vec<u32>; 2]) -> bool {
    let mut edges: QuickMap<(u32, u32), u32> = QuickMap::default();
    let triangles = || {
        indices
            .iter()
            .flat_map(|indices| indices.as_chunks::<3>().0)
    };
    for t in triangles() {
        for m in 0..3 {
            *edges.entry((t[m], t[(m + 1) % 3])).or_insert(0) += 1;
        }
    }
    let mut all = triangles().flat_map(|t| (0..3).map(move |m| (t[m], t[(m + 1) % 3])));
    all.all(|(a, b)| edges.get(&(a, b)) == Some(&1) && edges.get(&(b, a)) == Some(&1))
        && triangles().next().is_some()
}
