//! Where the vertices of a cell lie.
//!
//! Loops that share a crossing are sides of the same cracks, and share one place. It minimises the squared
//! distances to the cracks' tangent planes at the crossings, as in dual contouring (Ju et al. 2002), starting
//! from the mean of the crossings; directions in which the planes say little are left at the mean. That keeps
//! the lines sharp in which cracks meet, and a smooth crack smooth.

use glam::{DMat3, DVec3};

use crate::math;
use crate::reconstruct::body::solid::Solid;
use crate::reconstruct::cracks::crossing::Crossing;

/// Directions with less than this fraction of the largest eigenvalue stay at the mean: edges blunter than about 35° are
/// treated as smooth.
const SHARP: f64 = 0.1;
/// Share of a cell's edge that a vertex keeps away from its walls, so that neighbours never coincide.
const INSET: f64 = 0.02;

/// Groups of loops that share crossings: for each loop its group, and for each group its crossings. `halves`
/// lists halves with their loops.
pub fn groups(halves: &[(u32, u8)], loops: u8) -> (Vec<u8>, Vec<Vec<u32>>) {
    let mut group: Vec<u8> = (0..loops).collect();
    loop {
        let before = group.clone();
        for pair in halves.windows(2) {
            if pair[0].0 / 2 == pair[1].0 / 2 {
                let [a, b] = [pair[0].1, pair[1].1].map(usize::from);
                let least = group[a].min(group[b]);
                (group[a], group[b]) = (least, least);
            }
        }
        if before == group {
            break;
        }
    }
    let mut firsts = group.clone();
    firsts.sort_unstable();
    firsts.dedup();
    let number = |loop_: u8| firsts.partition_point(|&first| first < group[loop_ as usize]) as u8;
    let mut crossings: Vec<Vec<u32>> = vec![Vec::new(); firsts.len()];
    for &(half, own) in halves {
        let known = &mut crossings[number(own) as usize];
        if known.last() != Some(&(half / 2)) {
            known.push(half / 2);
        }
    }
    ((0..loops).map(number).collect(), crossings)
}

/// The place of a vertex in the cell at `node` between these crossings.
pub fn place<'a>(
    solid: &Solid,
    node: usize,
    crossings: impl Iterator<Item = &'a Crossing> + Clone,
) -> DVec3 {
    let count = crossings.clone().count() as f64;
    let mean = crossings.clone().map(|c| c.point).sum::<DVec3>() / count;
    let (mut a, mut b) = (DMat3::ZERO, DVec3::ZERO);
    for c in crossings {
        let n = c.normal;
        a += DMat3::from_cols(n * n.x, n * n.y, n * n.z);
        b += n * n.dot(c.plane - mean);
    }
    let (values, axes) = math::eigen(a.to_cols_array_2d());
    let (values, axes) = (DVec3::from(values), DMat3::from_cols_array_2d(&axes));
    let largest = values.max_element();
    let mut x = mean;
    for m in 0..3 {
        if values[m] > SHARP * largest {
            x += axes.col(m) * (axes.col(m).dot(b) / values[m]);
        }
    }
    let grid = &solid.grid;
    let low = grid.position(grid.coords(node)) + DVec3::splat(INSET * grid.spacing);
    x.clamp(low, low + DVec3::splat((1.0 - 2.0 * INSET) * grid.spacing))
}
