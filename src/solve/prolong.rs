//! From aggregates to a coarse matrix.
//!
//! An aggregate that moves as one is again one element, with place and rotation: the tentative prolongator has for element i of aggregate a the
//! block `[I, −[x_i − x_a]×/s_a; 0, s_i/s_a I]`, s the length that rotations are multiplied with. It keeps all six rigid motions exactly.

use glam::DVec3;
use rayon::prelude::*;

use super::aggregate::ALONE;
use super::block::{self, Block};
use super::matrix::{BlockMatrix, Diagonal};

/// Where a row is, m, and the length that its rotation is multiplied with, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Position.
    pub position: DVec3,
    /// Length.
    pub length: f64,
}

/// Places of aggregates: middles, and how far their members stand off.
pub fn places(fine: &[Place], of: &[u32], count: usize) -> Vec<Place> {
    let mut sums = vec![(DVec3::ZERO, 0.0, 0.0); count];
    for (place, &a) in fine.iter().zip(of).filter(|(_, a)| **a != ALONE) {
        let (middle, _, members) = &mut sums[a as usize];
        *middle += place.position;
        *members += 1.0;
    }
    for (middle, _, members) in &mut sums {
        *middle /= *members;
    }
    for (place, &a) in fine.iter().zip(of).filter(|(_, a)| **a != ALONE) {
        let (middle, spread, _) = &mut sums[a as usize];
        *spread += place.position.distance_squared(*middle) + place.length * place.length;
    }
    let place = |(position, spread, members): &(DVec3, f64, f64)| Place {
        position: *position,
        length: (spread / members).sqrt(),
    };
    sums.iter().map(place).collect()
}

/// Block of the tentative prolongator.
fn rigid(member: &Place, aggregate: &Place) -> Block {
    let arm = (member.position - aggregate.position) / aggregate.length;
    let mut out = block::diagonal(1.0);
    // Columns of −[arm]×.
    out[3] = [0.0, -arm.z, arm.y, 0.0, 0.0, 0.0];
    out[4] = [arm.z, 0.0, -arm.x, 0.0, 0.0, 0.0];
    out[5] = [-arm.y, arm.x, 0.0, 0.0, 0.0, 0.0];
    for (k, column) in out[3..].iter_mut().enumerate() {
        column[3 + k] = member.length / aggregate.length;
    }
    out
}

/// The prolongator, smoothed: (I − ω D⁻¹A) P.
pub fn prolongator(
    matrix: &BlockMatrix,
    diagonal: &Diagonal,
    omega: f64,
    (fine, of): (&[Place], &[u32]),
    coarse: &[Place],
) -> BlockMatrix {
    let row = |i: usize| -> Vec<(u32, Block)> {
        let mut sums: Vec<(u32, Block)> = Vec::with_capacity(8);
        for at in matrix.range(i) {
            let j = matrix.column[at] as usize;
            if of[j] == ALONE {
                continue;
            }
            let tentative = rigid(&fine[j], &coarse[of[j] as usize]);
            let sum = slot(&mut sums, of[j]);
            block::add_product(sum, &matrix.value[at], &tentative);
        }
        for (a, sum) in &mut sums {
            let mut smoothed = block::ZERO;
            block::add_product(&mut smoothed, &diagonal.0[i], sum);
            for value in smoothed.as_flattened_mut() {
                *value *= -omega;
            }
            if *a == of[i] {
                block::add(&mut smoothed, &rigid(&fine[i], &coarse[*a as usize]));
            }
            *sum = smoothed;
        }
        sums.sort_unstable_by_key(|(a, _)| *a);
        sums
    };
    BlockMatrix::from_rows(in_parallel(matrix.rows(), row))
}

/// `Pᵀ A P`, with the transpose of the prolongator at hand.
pub fn galerkin(matrix: &BlockMatrix, p: &BlockMatrix, transposed: &BlockMatrix) -> BlockMatrix {
    let product = |i: usize| -> Vec<(u32, Block)> {
        let mut sums: Vec<(u32, Block)> = Vec::with_capacity(12);
        for at in matrix.range(i) {
            let j = matrix.column[at] as usize;
            for to in p.range(j) {
                let sum = slot(&mut sums, p.column[to]);
                block::add_product(sum, &matrix.value[at], &p.value[to]);
            }
        }
        sums
    };
    let image = in_parallel(matrix.rows(), product);
    let row = |a: usize| -> Vec<(u32, Block)> {
        let mut sums: Vec<(u32, Block)> = Vec::with_capacity(24);
        for at in transposed.range(a) {
            for (b, value) in &image[transposed.column[at] as usize] {
                block::add_product(slot(&mut sums, *b), &transposed.value[at], value);
            }
        }
        sums.sort_unstable_by_key(|(b, _)| *b);
        sums
    };
    BlockMatrix::from_rows(in_parallel(transposed.rows(), row))
}

fn in_parallel<T: Send>(rows: usize, row: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    (0..rows)
        .into_par_iter()
        .with_min_len(64)
        .map(row)
        .collect()
}

/// The sum of a column among few.
fn slot(sums: &mut Vec<(u32, Block)>, column: u32) -> &mut Block {
    let at = sums.iter().position(|(c, _)| *c == column);
    let at = at.unwrap_or_else(|| {
        sums.push((column, block::ZERO));
        sums.len() - 1
    });
    &mut sums[at].1
}
