//! Evens out the vertices of cracks and rims at rest.
//!
//! Taubin's λ|μ smoothing (1995), which takes the grain and leaves the volume. A vertex listens only to neighbours
//! where at least its own owners meet: cracks to cracks and rims, rims along the rim, lines of three fragments along
//! that line. Both sides of a crack are one vertex here, so they stay one sheet.

use glam::DVec3;
use rayon::prelude::*;

use super::body::Solid;
use super::field::OUTSIDE;

/// Steps outward and back inward.
const ROUNDS: usize = 6;
/// Outward step λ and inward step μ: a pass band of 1/λ + 1/μ = 0.1.
const STEPS: [f64; 2] = [0.5, -0.526];
/// How far a vertex may move, cells.
const LIMIT: f64 = 0.5;
/// Fragments with fewer elements than this keep more of their shape: they have little else.
const SMALL: f64 = 16.0;
/// Rings of skin vertices beside a rim that give way to it.
const RINGS: usize = 2;

/// A vertex of the sheets between owners.
#[derive(Clone, Copy, Debug)]
pub struct Vertex {
    /// Position, m.
    pub position: DVec3,
    /// Owners that meet here, ascending, filled up with the last; [`OUTSIDE`] among them on the skin.
    pub owners: [u32; 4],
    /// Whether it stays: more owners meet, or the skin has an edge here.
    pub pinned: bool,
}

impl Vertex {
    /// A vertex where `owners` meet.
    pub fn new(position: DVec3, owners: impl Iterator<Item = u32>, sharp: bool) -> Self {
        let mut known: Vec<u32> = owners.collect();
        known.sort_unstable();
        known.dedup();
        let last = known.last().copied().unwrap_or(OUTSIDE);
        Vertex {
            position,
            owners: std::array::from_fn(|m| known.get(m).copied().unwrap_or(last)),
            pinned: sharp || known.len() > 4,
        }
    }

    fn is_skin(&self) -> bool {
        self.owners[3] == OUTSIDE
    }

    /// Whether two fragments meet here.
    fn is_crack(&self) -> bool {
        self.owners[1] != OUTSIDE && self.owners[0] != self.owners[1]
    }

    fn listens_to(&self, other: &Vertex) -> bool {
        self.owners.iter().all(|owner| other.owners.contains(owner))
    }
}

/// Moves the vertices. `edges` joins neighbours, in any order and any number of times; `elements` counts those of each piece.
pub fn fair(solid: &Solid, vertices: &mut [Vertex], edges: &[[u32; 2]], elements: &[u32]) {
    let mut moves: Vec<bool> = vertices.iter().map(Vertex::is_crack).collect();
    for _ in 0..RINGS {
        let before = moves.clone();
        for &[a, b] in edges {
            let (a, b) = (a as usize, b as usize);
            moves[a] |= before[b];
            moves[b] |= before[a];
        }
    }
    let moves = |v: u32| moves[v as usize] && !vertices[v as usize].pinned;
    let mut pairs: Vec<(u32, u32)> = edges
        .iter()
        .flat_map(|&[a, b]| [(a, b), (b, a)])
        .filter(|&(a, b)| moves(a) && vertices[a as usize].listens_to(&vertices[b as usize]))
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
        .map(|&(v, _)| {
            let owners = vertices[v].owners.into_iter().filter(|&o| o != OUTSIDE);
            let least = owners.map(|o| elements[o as usize]).min().unwrap_or(0);
            LIMIT * spacing * (f64::from(least) / SMALL).min(1.0)
        })
        .collect();
    for round in 0..ROUNDS {
        for (half, step) in STEPS.into_iter().enumerate() {
            let back_to_skin = half == 1 && round % 2 == 1;
            let moved: Vec<DVec3> = moving
                .par_iter()
                .enumerate()
                .map(|(m, (v, neighbours))| {
                    let vertex = &vertices[*v];
                    let sum: DVec3 = neighbours
                        .iter()
                        .map(|&(_, other)| vertices[other as usize].position)
                        .sum();
                    let mean = sum / neighbours.len() as f64;
                    let x = vertex.position + step * (mean - vertex.position);
                    let x = start[m] + (x - start[m]).clamp_length_max(limits[m]);
                    if !back_to_skin || !vertex.is_skin() {
                        return x;
                    }
                    let nearest = solid.triangles.nearest(&solid.skin, x, 0.5 * spacing);
                    nearest.map_or(x, |(point, _)| point)
                })
                .collect();
            for (&(v, _), x) in moving.iter().zip(moved) {
                vertices[v].position = x;
            }
        }
    }
}
