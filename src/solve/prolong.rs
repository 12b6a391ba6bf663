//! Prolongation from aggregates, and the coarse matrix.
//!
//! An aggregate that moves as a rigid body is again an element with position and rotation. For element i of
//! aggregate a the tentative prolongator has the block `[I, −[x_i − x_a]×/s_a; 0, s_i/s_a I]`, s being the
//! length by which rotations are multiplied. It represents all six rigid motions exactly.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::aggregate::ALONE;
use super::block::{self, Block};
use super::matrix::{BlockMatrix, Diagonal};
use super::wide::{self, Loop};

/// Position of a row's element, m, and the length by which its rotation is multiplied, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElementPosition {
    /// Position.
    pub position: DVec3,
    /// Length by which the rotation is multiplied.
    pub length: f64,
}

/// Centres of aggregates. Their lengths are root mean squares of the distances and lengths of their members.
pub fn aggregate_positions(
    fine: &[ElementPosition],
    of: &[u32],
    count: usize,
) -> Vec<ElementPosition> {
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
    let place = |(position, spread, members): &(DVec3, f64, f64)| ElementPosition {
        position: *position,
        length: (spread / members).sqrt(),
    };
    sums.iter().map(place).collect()
}

/// Block of the tentative prolongator.
#[inline(always)]
fn rigid_block(member: &ElementPosition, aggregate: &ElementPosition) -> Block {
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

/// The smoothed prolongator (I − ω D⁻¹A) P.
pub fn prolongator(
    matrix: &BlockMatrix,
    diagonal: &Diagonal,
    omega: f64,
    (fine, of): (&[ElementPosition], &[u32]),
    coarse: &[ElementPosition],
) -> BlockMatrix {
    let smoothed = SmoothedProlongator {
        matrix,
        diagonal,
        omega,
        fine,
        of,
        coarse,
    };
    BlockMatrix::from_rows(in_parallel(matrix.rows(), &smoothed))
}

/// `Pᵀ A P`, given the prolongator and its transpose.
pub fn galerkin(matrix: &BlockMatrix, p: &BlockMatrix, transposed: &BlockMatrix) -> BlockMatrix {
    let image = in_parallel(matrix.rows(), &MatrixTimesProlongator { matrix, p });
    let image = &image[..];
    let coarse = CoarseMatrix { transposed, image };
    BlockMatrix::from_rows(in_parallel(transposed.rows(), &coarse))
}

/// A row under construction: columns and blocks.
type BlockRow = Vec<(u32, Block)>;

/// Computes the rows of a matrix independently.
trait MakeRow: Sync {
    /// Row i; must be `#[inline(always)]`.
    fn row(&self, i: usize) -> BlockRow;
}

/// Number of rows that a thread computes at a time.
const ROWS_PER_TASK: usize = 64;

struct MakeRowsLoop<'a, M> {
    make: &'a M,
    first: usize,
    rows: &'a mut [BlockRow],
}

impl<M: MakeRow> Loop for MakeRowsLoop<'_, M> {
    #[inline(always)]
    fn run(self) {
        for (k, row) in self.rows.iter_mut().enumerate() {
            *row = self.make.row(self.first + k);
        }
    }
}

fn in_parallel<M: MakeRow>(count: usize, make: &M) -> Vec<BlockRow> {
    let mut rows = vec![BlockRow::new(); count];
    rows.par_chunks_mut(ROWS_PER_TASK)
        .enumerate()
        .for_each(|(k, rows)| {
            let first = k * ROWS_PER_TASK;
            wide::run(MakeRowsLoop { make, first, rows });
        });
    rows
}

struct SmoothedProlongator<'a> {
    matrix: &'a BlockMatrix,
    diagonal: &'a Diagonal,
    omega: f64,
    fine: &'a [ElementPosition],
    of: &'a [u32],
    coarse: &'a [ElementPosition],
}

impl MakeRow for SmoothedProlongator<'_> {
    #[inline(always)]
    fn row(&self, i: usize) -> BlockRow {
        let mut sums = BlockRow::with_capacity(8);
        for at in self.matrix.range(i) {
            let j = self.matrix.column[at] as usize;
            let a = self.of[j];
            if a == ALONE {
                continue;
            }
            let tentative = rigid_block(&self.fine[j], &self.coarse[a as usize]);
            block::add_product(
                block_of_column(&mut sums, a),
                &self.matrix.value[at],
                &tentative,
            );
        }
        for (a, sum) in &mut sums {
            let mut smoothed = block::ZERO;
            block::add_product(&mut smoothed, &self.diagonal.0[i], sum);
            for value in smoothed.as_flattened_mut() {
                *value *= -self.omega;
            }
            if *a == self.of[i] {
                block::add(
                    &mut smoothed,
                    &rigid_block(&self.fine[i], &self.coarse[*a as usize]),
                );
            }
            *sum = smoothed;
        }
        sums.sort_unstable_by_key(|(a, _)| *a);
        sums
    }
}

/// `A P`; the columns of a row are in the order in which they first occur.
struct MatrixTimesProlongator<'a> {
    matrix: &'a BlockMatrix,
    p: &'a BlockMatrix,
}

impl MakeRow for MatrixTimesProlongator<'_> {
    #[inline(always)]
    fn row(&self, i: usize) -> BlockRow {
        let mut sums = BlockRow::with_capacity(12);
        for at in self.matrix.range(i) {
            for to in self.p.range(self.matrix.column[at] as usize) {
                let sum = block_of_column(&mut sums, self.p.column[to]);
                block::add_product(sum, &self.matrix.value[at], &self.p.value[to]);
            }
        }
        sums
    }
}

/// `Pᵀ` times `A P`.
struct CoarseMatrix<'a> {
    transposed: &'a BlockMatrix,
    image: &'a [BlockRow],
}

impl MakeRow for CoarseMatrix<'_> {
    #[inline(always)]
    fn row(&self, a: usize) -> BlockRow {
        let mut sums = BlockRow::with_capacity(24);
        for at in self.transposed.range(a) {
            for (b, value) in &self.image[self.transposed.column[at] as usize] {
                block::add_product(
                    block_of_column(&mut sums, *b),
                    &self.transposed.value[at],
                    value,
                );
            }
        }
        sums.sort_unstable_by_key(|(b, _)| *b);
        sums
    }
}

/// The block of a column in a row of few columns; a new one is zero.
#[inline(always)]
fn block_of_column(sums: &mut BlockRow, column: u32) -> &mut Block {
    let at = sums.iter().position(|(c, _)| *c == column);
    let at = at.unwrap_or_else(|| {
        sums.push((column, block::ZERO));
        sums.len() - 1
    });
    &mut sums[at].1
}
