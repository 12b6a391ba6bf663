//! Smooths cracks at rest.
//!
//! Taubin's λ|μ smoothing (1995) removes noise and keeps the volume. A vertex on a line (the tip of a crack,
//! or a line where cracks meet) is averaged only with its neighbours along that line; a vertex where lines
//! end or meet does not move. Both sides of a crack share their vertices here, so their faces stay
//! coincident.

use crate::parallel::prelude::*;
use glam::DVec3;

use crate::reconstruct::body::skin_grid::SkinGrid;

/// Number of λ|μ iterations.
const ITERATIONS: usize = 6;
/// Smoothing step λ and inflating step μ: a pass band of 1/λ + 1/μ = 0.1.
const STEPS: [f64; 2] = [0.5, -0.526];
/// Maximum displacement of a vertex, cells.
const MAX_DISPLACEMENT: f64 = 0.5;
/// In fragments with fewer elements than this the displacement is limited further, to preserve their shape.
const SMALL_FRAGMENT: f64 = 16.0;

/// A vertex of the cracks, shared by the sides that meet there.
#[derive(Clone, Copy, Debug)]
pub struct CrackVertex {
    /// Position, m.
    pub position: DVec3,
    /// Whether it stays fixed: it lies on the skin, or separates two arcs of a face.
    pub pinned: bool,
    /// Number of elements of the smallest fragment at the vertex.
    pub elements: u32,
}

/// Two vertices linked through a face between cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VertexLink {
    /// The two vertices, ascending.
    pub ends: [u32; 2],
    /// Whether it is part of a line: a tip, or a line where cracks meet.
    pub line: bool,
}

/// Smooths the vertices.
pub fn smooth(skin_grid: &SkinGrid, vertices: &mut [CrackVertex], links: &[VertexLink]) {
    let mut lines = vec![0_u8; vertices.len()];
    for link in links.iter().filter(|link| link.line) {
        for v in link.ends {
            lines[v as usize] = lines[v as usize].saturating_add(1);
        }
    }
    // Inside a line a vertex has two line links; at ends and junctions of lines it stays fixed.
    let averages = |v: u32, line: bool| match lines[v as usize] {
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
        .filter(|&(a, _, line)| moves(a) && averages(a, line))
        .map(|(a, b, _)| (a, b))
        .collect();
    pairs.par_sort_unstable();
    pairs.dedup();
    let moving: Vec<(usize, &[(u32, u32)])> = pairs
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|neighbours| neighbours.len() >= 2)
        .map(|neighbours| (neighbours[0].0 as usize, neighbours))
        .collect();
    let spacing = skin_grid.grid.spacing;
    let start: Vec<DVec3> = moving.iter().map(|&(v, _)| vertices[v].position).collect();
    let limits: Vec<f64> = moving
        .iter()
        .map(|&(v, _)| {
            MAX_DISPLACEMENT * spacing * (f64::from(vertices[v].elements) / SMALL_FRAGMENT).min(1.0)
        })
        .collect();
    for _ in 0..ITERATIONS {
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
