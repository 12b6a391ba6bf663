//! Bricks in rows: solids of a grid of corners.

use std::collections::BTreeMap;

use glam::DVec3;

use super::super::solid::Solid;
use crate::geometry::TriMesh;
use crate::geometry::convex::{Convex, Face};

/// Beyond it there is no cell.
const FREE: u32 = u32::MAX;

/// Corners of a brick's faces, by whether they lie on its upper side along each axis: −x, +x, −y, +y, −z, +z,
/// counterclockwise from outside.
const LOOPS: [[[usize; 3]; 4]; 6] = [
    [[0, 0, 0], [0, 0, 1], [0, 1, 1], [0, 1, 0]],
    [[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 0, 1]],
    [[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]],
    [[0, 1, 0], [0, 1, 1], [1, 1, 1], [1, 1, 0]],
    [[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0]],
    [[0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]],
];

/// A box of bricks.
pub struct Grid {
    low: DVec3,
    high: DVec3,
    counts: [usize; 3],
}

fn number([x, y, z]: [usize; 3], [nx, ny, _]: [usize; 3]) -> usize {
    (z * ny + y) * nx + x
}

/// The brick beyond each face, in the order of [`LOOPS`]; along x the last is beside the first where the grid
/// is a `ring`.
fn beside(at: [usize; 3], counts: [usize; 3], ring: bool) -> [Option<usize>; 6] {
    [0, 1, 2, 3, 4, 5].map(|side| {
        let (axis, up) = (side / 2, side % 2 == 1);
        let (mut other, count) = (at, counts[axis]);
        other[axis] = match (up, ring && axis == 0) {
            (true, true) => (at[axis] + 1) % count,
            (false, true) => (at[axis] + count - 1) % count,
            (true, false) => Some(at[axis] + 1).filter(|next| *next < count)?,
            (false, false) => at[axis].checked_sub(1)?,
        };
        Some(number(other, counts))
    })
}

/// Places of bricks in the order of their numbers.
fn places([nx, ny, nz]: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    (0..nx * ny * nz).map(move |k| [k % nx, k / nx % ny, k / nx / ny])
}

/// Those bricks of a grid that are `kept`, by the corners of the grid. Corners in one place are one.
pub fn solids(
    counts: [usize; 3],
    ring: bool,
    kept: &[bool],
    corner: impl Fn([usize; 3]) -> DVec3,
) -> Vec<Convex> {
    // Numbers of those that are kept.
    let mut next = 0;
    let numbers: Vec<u32> = kept
        .iter()
        .map(|kept| {
            let own = if *kept { next } else { FREE };
            next += u32::from(*kept);
            own
        })
        .collect();
    let solid = |at: [usize; 3]| {
        let faces = LOOPS.iter().zip(beside(at, counts, ring));
        let face = |(corners, other): (&[[usize; 3]; 4], Option<usize>)| {
            let mut corners: Vec<DVec3> = corners
                .iter()
                .map(|up| corner([0, 1, 2].map(|axis| at[axis] + up[axis])))
                .collect();
            corners.dedup();
            if corners.first() == corners.last() {
                corners.pop();
            }
            let tag = other.map_or(FREE, |other| numbers[other]);
            (corners.len() >= 3).then_some(Face { tag, corners })
        };
        Convex {
            faces: faces.filter_map(face).collect(),
        }
    };
    let all = places(counts).zip(kept);
    all.filter(|(_, kept)| **kept)
        .map(|(at, _)| solid(at))
        .collect()
}

impl Grid {
    /// So many bricks between two corners.
    pub fn new(low: DVec3, high: DVec3, counts: [usize; 3]) -> Self {
        Grid { low, high, counts }
    }

    /// Edges of a brick, m.
    pub fn edges(&self) -> DVec3 {
        (self.high - self.low) / DVec3::from_array(self.counts.map(|n| n as f64))
    }

    /// Which bricks have their centre in a solid; without those that share a face with no other, where
    /// `joined`, unless there is but one.
    pub fn inside(&self, solid: &Solid, joined: bool) -> Vec<bool> {
        let [nx, ny, nz] = self.counts;
        let (edges, mut row, mut inside) = (self.edges(), Vec::new(), Vec::new());
        let at = |axis: usize, k: usize| self.low[axis] + edges[axis] * (k as f64 + 0.5);
        let xs: Vec<f64> = (0..nx).map(|k| at(0, k)).collect();
        for k in 0..ny * nz {
            solid.row(&xs, at(1, k % ny), at(2, k / ny), 0.0, &mut row);
            inside.extend_from_slice(&row);
        }
        if !joined || inside.iter().filter(|inside| **inside).count() == 1 {
            return inside;
        }
        let beside = places(self.counts).map(|at| beside(at, self.counts, false));
        let has_other = |all: [Option<usize>; 6]| all.into_iter().flatten().any(|k| inside[k]);
        let lone: Vec<bool> = beside.map(|all| !has_other(all)).collect();
        let both = inside.iter().zip(lone);
        both.map(|(inside, lone)| *inside && !lone).collect()
    }

    /// Those bricks that are kept.
    pub fn solids(&self, kept: &[bool]) -> Vec<Convex> {
        let corner = |at: [usize; 3]| {
            let part = [0, 1, 2].map(|axis| at[axis] as f64 / self.counts[axis] as f64);
            let part = DVec3::from_array(part);
            // The same at both ends.
            self.low * (DVec3::ONE - part) + self.high * part
        };
        solids(self.counts, false, kept, corner)
    }
}

/// The free faces of solids as a mesh; faces that meet have the same corners.
pub fn skin(solids: &[Convex]) -> TriMesh {
    let mut mesh = TriMesh::default();
    let mut numbers = BTreeMap::new();
    for face in solids.iter().flat_map(|solid| &solid.faces) {
        if (face.tag as usize) < solids.len() {
            continue;
        }
        let corners: Vec<u32> = face
            .corners
            .iter()
            .map(|corner| {
                // No sign of zeros.
                let key = (*corner + DVec3::ZERO).to_array().map(f64::to_bits);
                *numbers.entry(key).or_insert_with(|| {
                    mesh.positions.push(*corner);
                    mesh.positions.len() as u32 - 1
                })
            })
            .collect();
        let fans = corners[1..].windows(2);
        mesh.triangles
            .extend(fans.map(|pair| [corners[0], pair[0], pair[1]]));
    }
    mesh
}
