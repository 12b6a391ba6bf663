//! Surfaces of a frame, with separate vertices at sharp edges.

use serde_json::json;

use super::arrays::Arrays;
use super::error::ViewError;
use super::frames::collider_poses;
use super::viewed::ViewedStore;
use crate::parallel::prelude::*;
use crate::store::corner_normals::Fans;
use crate::store::{FragmentRange, SurfaceFrame};

/// The surfaces of a frame.
pub fn surfaces(viewed: &ViewedStore, number: u32) -> Result<Vec<u8>, ViewError> {
    let surface = SurfaceFrame::read(&viewed.view()?.store, number)?;
    let parts: Vec<Part> = surface
        .pieces
        .par_iter()
        .map(|piece| Part::of(&surface, piece))
        .collect();
    let mut arrays = Arrays::of_frame(number, surface.time);
    arrays.set("colliders", collider_poses(viewed, surface.time)?);
    let all =
        |of: fn(&Part) -> &[u32]| -> Vec<u32> { parts.iter().flat_map(of).copied().collect() };
    let vertices = all(|part| &part.vertices);
    let at = |vertex: &u32| *vertex as usize;
    let positions: Vec<[f32; 3]> = vertices.iter().map(|v| surface.positions[at(v)]).collect();
    let normals: Vec<[i8; 4]> = parts
        .iter()
        .flat_map(|part| part.normals.iter().copied())
        .collect();
    let speed = |v: &u32| glam::Vec3::from(surface.velocities[at(v)]).length();
    arrays.add_vectors("position", &positions);
    arrays.add_vectors("normal", &normals);
    arrays.add(
        "stress",
        &vertices
            .iter()
            .map(|v| surface.stress[at(v)])
            .collect::<Vec<f32>>(),
    );
    arrays.add("speed", &vertices.iter().map(speed).collect::<Vec<f32>>());
    let mut labels = [Vec::new(), Vec::new()];
    for (piece, part) in surface.pieces.iter().zip(&parts) {
        for (labels, label) in labels.iter_mut().zip([piece.fragment, piece.body]) {
            labels.resize(labels.len() + part.vertices.len(), label);
        }
    }
    arrays.add("fragment", &labels[0]);
    arrays.add("body", &labels[1]);
    if !surface.colours.is_empty() {
        let colours = parts.iter().flat_map(|part| part.colours.iter().copied());
        arrays.add_vectors("colour", &colours.collect::<Vec<[u8; 4]>>());
    }
    let mut first = 0;
    let (mut skin, mut cracks) = (Vec::new(), Vec::new());
    for part in &parts {
        for (from, to) in [(&part.skin, &mut skin), (&part.cracks, &mut cracks)] {
            to.extend(
                from.iter()
                    .map(|corners| corners.map(|corner| corner + first)),
            );
        }
        first += part.vertices.len() as u32;
    }
    arrays.set("skin", json!(skin.len()));
    skin.append(&mut cracks);
    arrays.add_vectors("triangles", &skin);
    Ok(arrays.finish())
}

/// The surface of a fragment: one vertex per fan.
struct Part {
    /// Vertex of the frame of each fan.
    vertices: Vec<u32>,
    normals: Vec<[i8; 4]>,
    /// Mean colour of the corners of each fan; empty if the frame has no colours.
    colours: Vec<[u8; 4]>,
    skin: Vec<[u32; 3]>,
    cracks: Vec<[u32; 3]>,
}

impl Part {
    fn of(surface: &SurfaceFrame, piece: &FragmentRange) -> Self {
        let fans = Fans::of(surface, piece);
        let normals = fans.normals(&surface.positions[surface.vertex_range(piece)]);
        let byte = |x: f32| (x * 127.0).round() as i8;
        let (mut skin, mut cracks) = (Vec::new(), Vec::new());
        for (corners, t) in fans.corners.iter().zip(surface.triangle_range(piece)) {
            match surface.inside[t] {
                0 => skin.push(*corners),
                _ => cracks.push(*corners),
            }
        }
        Part {
            colours: colours(surface, piece, &fans),
            vertices: fans
                .vertices
                .iter()
                .map(|v| v + piece.first_vertex)
                .collect(),
            normals: normals
                .iter()
                .map(|&[x, y, z]| [byte(x), byte(y), byte(z), 0])
                .collect(),
            skin,
            cracks,
        }
    }
}

/// Mean colour of the corners of each fan.
fn colours(surface: &SurfaceFrame, piece: &FragmentRange, fans: &Fans) -> Vec<[u8; 4]> {
    let corners = surface.colours_of(piece);
    if corners.is_empty() {
        return Vec::new();
    }
    let mut sums = vec![[0.0f32; 4]; fans.vertices.len()];
    for (fans, colours) in fans.corners.iter().zip(corners) {
        for (fan, [r, g, b]) in fans.iter().zip(colours) {
            let sum = &mut sums[*fan as usize];
            *sum = [sum[0] + r, sum[1] + g, sum[2] + b, sum[3] + 1.0];
        }
    }
    let mean = |&[r, g, b, count]: &[f32; 4]| {
        [r, g, b, count].map(|sum| (sum / count.max(1.0) * 255.0).round() as u8)
    };
    sums.iter().map(mean).collect()
}
