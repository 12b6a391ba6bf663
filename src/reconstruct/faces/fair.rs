//! Evens out the vertices of cracks at rest.
//!
//! Taubin's λ|μ smoothing (1995), which takes the grain and leaves the volume. A vertex on a line (a tip, or
//! where cracks meet) listens only to its neighbours along that line; one where lines end or meet stays. Both
//! sides of a crack have one vertex here, so they stay one sheet.

use crate::parallel::prelude::*;
use glam::DVec3;

use crate::reconstruct::body::solid::Solid;

/// Steps outward and back inward.
const ROUNDS: usize = 6;
/// Outward step λ and inward step μ: a pass band of 1/λ + 1/μ = 0.1.
const STEPS: [f64; 2] = [0.5, -0.526];
/// How far a vertex may move, cells.
const LIMIT: f64 = 0.5;
/// Fragments with fewer elements than this keep more of their shape: they have little else.
const SMALL: f64 = 16.0;

/// A place of the cracks, shared by the sides that meet there.
#[derive(Clone, Copy, Debug)]
pub struct Vertex {
    /// Position, m.
    pub position: DVec3,
    /// Whether it stays: it lies on the skin, or parts two arcs of a face.
    pub pinned: bool,
    /// Elements of the smallest fragment about it.
    pub elements: u32,
}

/// Two places joined through a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// The places, ascending.
    pub ends: [u32; 2],
    /// Whether a tip or a line where cracks meet runs along it.
    pub line: bool,
}

/// Moves the vertices.
pub fn fair(solid: &Solid, vertices: &mut [Vertex], links: &[Link]) {
    let mut lines = vec![0_u8; vertices.len()];
    for link in links.iter().filter(|link| link.line) {
        for v in link.ends {
            lines[v as usize] = lines[v as usize].saturating_add(1);
        }
    }
    // A line that passes has two links; where it ends or meets others it stays.
    let listens = |v: u32, line: bool| match lines[v as usize] {
        0 => true,
        2 => line,
        _ => false,
    };
    let moves = |v: u32| !vertices[v as usize].pinned;
    let mut pairs: Vec<(u32, u32)> = links
        .iter()
        .flat_map(|link| {
            let [a, b] = link.ends;
            [(a, b, link.line), (b, a, link.line)]
        })
        .filter(|&(a, _, line)| moves(a) && listens(a, line))
        .map(|(a, b, _)| (a, b))
        .collect();
    pairs.par_sort_unstable();
    pairs.dedup();
    let moving: Vec<(usize, &[(u32, u32)])> = pairs
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|neighbours| neighbours.len() >= 2)
        .map(|neighbours| (neighbours[0].0 as usize, neighbours))
        .collect();
    let spacing = solid.grid.spacing;
    let start: Vec<DVec3> = moving.iter().map(|&(v, _)| vertices[v].position).collect();
    let limits: Vec<f64> = moving
        .iter()
        .map(|&(v, _)| LIMIT * spacing * (f64::from(vertices[v].elements) / SMALL).min(1.0))
        .collect();
    for _ in 0..ROUNDS {
        for step in STEPS {
            let moved: Vec<DVec3> = moving
                .par_iter()
                .enumerate()
                .map(|(m, (v, neighbours))| {
                    let sum: DVec3 = neighbours
                        .iter()
                        .map(|&(_, other)| vertices[other as usize].position)
                        .sum();
                    let mean = sum / neighbours.len() as f64;
                    let x = vertices[*v].position + step * (mean - vertices[*v].position);
                    start[m] + (x - start[m]).clamp_length_max(limits[m])
                })
                .collect();
            for (&(v, _), x) in moving.iter().zip(moved) {
                vertices[v].position = x;
            }
        }
    }
}
