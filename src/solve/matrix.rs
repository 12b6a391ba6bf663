//! A sparse matrix of 6×6 blocks, stored row by row.

use crate::parallel::prelude::*;

use super::block::{self, Block, MatrixEntry, Six};
use super::gradients::{Operator, Precondition};
use super::vector::CHUNK;
use super::wide::{self, Loop};
use crate::math::prefetch;

/// Number of rows that a thread multiplies at a time.
const ROWS_PER_TASK: usize = 256;
/// Distance in bytes at which blocks are prefetched: hardware prefetching does not cross page boundaries.
const PREFETCH_BYTES: usize = 4096;

/// A square or rectangular matrix of blocks; columns ascend within a row.
#[derive(Clone, Debug, Default)]
pub struct BlockMatrix<V = f64> {
    /// Index of the first block of each row, and the number of blocks at the end.
    pub start: Vec<u32>,
    /// Column of each block.
    pub column: Vec<u32>,
    /// Blocks.
    pub value: Vec<[[V; 6]; 6]>,
}

impl<V: MatrixEntry> BlockMatrix<V> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.start.len() - 1
    }

    /// Indices of the blocks of a row.
    #[inline(always)]
    pub fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.start[row] as usize..self.start[row + 1] as usize
    }

    /// Index of a block; none if it is not stored.
    pub fn find(&self, row: usize, column: usize) -> Option<usize> {
        let range = self.range(row);
        let found = self.column[range.clone()].binary_search(&(column as u32));
        found.ok().map(|at| range.start + at)
    }

    /// `y = A x`.
    pub fn times(&self, x: &[Six], y: &mut [Six]) {
        self.each_row(x, y, |_, image, y| *y = image);
    }

    /// `y = b − A x`.
    pub fn residual(&self, b: &[Six], x: &[Six], y: &mut [Six]) {
        self.each_row(x, y, |row, image, y| {
            *y = block::difference(&b[row], &image)
        });
    }

    /// `y += A x`.
    pub fn add(&self, y: &mut [Six], x: &[Six]) {
        self.each_row(x, y, |_, image, y| block::add_six(y, &image));
    }

    /// Calls `finish` for each row with its number, its product with x, and the row of y, which it may
    /// change.
    pub fn each_row(&self, x: &[Six], y: &mut [Six], finish: impl Fn(usize, Six, &mut Six) + Sync) {
        let finish = &finish;
        y.par_chunks_mut(ROWS_PER_TASK)
            .enumerate()
            .for_each(|(k, y)| {
                wide::run(RowLoop {
                    matrix: self,
                    first: k * ROWS_PER_TASK,
                    x,
                    y,
                    finish,
                });
            });
    }

    /// A row times x, in the precision of x; inlined into the calling loop.
    #[inline(always)]
    pub fn row_times<S: MatrixEntry>(&self, row: usize, x: &[[S; 6]]) -> [S; 6]
    where
        V: Into<S>,
    {
        let mut sums = [[S::default(); 6]; 6];
        let range = self.range(row);
        let columns = &self.column[range.clone()];
        for (k, block) in self.value[range].iter().enumerate() {
            prefetch(block, PREFETCH_BYTES);
            block::spread_times(&mut sums, block, &x[columns[k] as usize]);
        }
        block::gathered(sums)
    }

    /// Memory of columns and blocks in bytes.
    pub fn bytes(&self) -> usize {
        self.column.len() * (size_of::<[[V; 6]; 6]>() + 4)
    }
}

impl BlockMatrix {
    /// Builds a matrix from rows of blocks with ascending columns.
    pub fn from_rows(rows: Vec<Vec<(u32, Block)>>) -> Self {
        let mut matrix = BlockMatrix {
            start: vec![0],
            ..BlockMatrix::default()
        };
        let all = rows.iter().map(Vec::len).sum();
        matrix.column.reserve_exact(all);
        matrix.value.reserve_exact(all);
        for row in rows {
            for (column, value) in row {
                matrix.column.push(column);
                matrix.value.push(value);
            }
            matrix.start.push(matrix.column.len() as u32);
        }
        matrix
    }

    /// The transposed matrix; this one has `columns` columns.
    pub fn transposed(&self, columns: usize) -> Self {
        let mut start = vec![0u32; columns + 1];
        for &column in &self.column {
            start[column as usize + 1] += 1;
        }
        for k in 0..columns {
            start[k + 1] += start[k];
        }
        let mut next = start.clone();
        let mut column = vec![0; self.column.len()];
        let mut value = vec![block::ZERO; self.value.len()];
        for row in 0..self.rows() {
            for at in self.range(row) {
                let to = &mut next[self.column[at] as usize];
                column[*to as usize] = row as u32;
                value[*to as usize] = block::transposed(&self.value[at]);
                *to += 1;
            }
        }
        BlockMatrix {
            start,
            column,
            value,
        }
    }

    /// Inverses of the diagonal blocks; an error is the first row whose block is not positive definite.
    pub fn inverse_diagonal(&self) -> Result<Diagonal, usize> {
        let of = |row: usize| {
            let at = self.find(row, row).ok_or(row)?;
            block::inverse(&self.value[at]).ok_or(row)
        };
        let inverses: Vec<_> = (0..self.rows())
            .into_par_iter()
            .with_min_len(CHUNK)
            .map(of)
            .collect();
        Ok(Diagonal(inverses.into_iter().collect::<Result<_, _>>()?))
    }

    /// Converts to single precision.
    pub fn single(&self) -> BlockMatrix<f32> {
        let mut single = BlockMatrix {
            start: self.start.clone(),
            column: self.column.clone(),
            value: vec![[[0.0; 6]; 6]; self.value.len()],
        };
        self.copy_to(&mut single);
        single
    }

    /// Updates a copy in single precision.
    pub fn copy_to(&self, single: &mut BlockMatrix<f32>) {
        if single.start != self.start || single.column != self.column {
            *single = self.single();
            return;
        }
        let pairs = single
            .value
            .par_chunks_mut(CHUNK)
            .zip(self.value.par_chunks(CHUNK));
        pairs.for_each(|(to, from)| {
            for (k, to) in to.iter_mut().enumerate() {
                *to = block::single(&from[k]);
            }
        });
    }
}

/// Splits `all` into its rows, which begin at the indices `start`.
pub fn rows_mut<'a, T>(start: &[u32], all: &'a mut [T]) -> Vec<&'a mut [T]> {
    let mut rest = all;
    let of = |ends: &[u32]| {
        let (row, next) = std::mem::take(&mut rest).split_at_mut((ends[1] - ends[0]) as usize);
        rest = next;
        row
    };
    start.windows(2).map(of).collect()
}

struct RowLoop<'a, V, F> {
    matrix: &'a BlockMatrix<V>,
    first: usize,
    x: &'a [Six],
    y: &'a mut [Six],
    finish: &'a F,
}

impl<V: MatrixEntry, F: Fn(usize, Six, &mut Six)> Loop for RowLoop<'_, V, F> {
    #[inline(always)]
    fn run(self) {
        for (k, y) in self.y.iter_mut().enumerate() {
            let row = self.first + k;
            (self.finish)(row, self.matrix.row_times(row, self.x), y);
        }
    }
}

impl Operator for BlockMatrix {
    fn times(&self, x: &[Six], y: &mut [Six]) {
        BlockMatrix::times(self, x, y);
    }
}

/// Inverses of the diagonal blocks.
#[derive(Clone, Debug, Default)]
pub struct Diagonal<V = f64>(pub Vec<[[V; 6]; 6]>);

impl<V: MatrixEntry> Diagonal<V> {
    /// One row of `D⁻¹ x`.
    #[inline(always)]
    pub fn row_times(&self, row: usize, x: &Six) -> Six {
        let mut y = [0.0; 6];
        block::add_times(&mut y, &self.0[row], x);
        y
    }

    /// `y = D⁻¹ x`.
    pub fn times(&self, x: &[Six], y: &mut [Six]) {
        let rows = y.par_iter_mut().with_min_len(CHUNK).enumerate();
        rows.for_each(|(row, y)| *y = self.row_times(row, &x[row]));
    }
}

impl Diagonal {
    /// Converts to single precision.
    pub fn single(&self) -> Diagonal<f32> {
        let all = self.0.par_iter().with_min_len(CHUNK);
        Diagonal(all.map(block::single).collect())
    }
}

impl Precondition for Diagonal {
    fn apply(&mut self, r: &[Six], z: &mut [Six]) {
        self.times(r, z);
    }
}
