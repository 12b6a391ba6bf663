//! A sparse matrix of 6×6 blocks, row after row.

use rayon::prelude::*;

use super::block::{self, Block, Six, Value};
use super::gradients::{Operator, Precondition};
use super::vector::CHUNK;
use super::wide::{self, Loop};

/// A square or oblong matrix of blocks; columns ascend within a row.
#[derive(Clone, Debug, Default)]
pub struct BlockMatrix<V = f64> {
    /// Where each row begins; one more than there are rows.
    pub start: Vec<u32>,
    /// Column of each block.
    pub column: Vec<u32>,
    /// Blocks.
    pub value: Vec<[[V; 6]; 6]>,
}

impl<V: Value> BlockMatrix<V> {
    /// Rows.
    pub fn rows(&self) -> usize {
        self.start.len() - 1
    }

    /// Where the blocks of a row stand.
    #[inline(always)]
    pub fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.start[row] as usize..self.start[row + 1] as usize
    }

    /// Where a block stands.
    pub fn find(&self, row: usize, column: usize) -> Option<usize> {
        let range = self.range(row);
        let found = self.column[range.clone()].binary_search(&(column as u32));
        found.ok().map(|at| range.start + at)
    }

    /// `y = A x`.
    pub fn times(&self, x: &[Six], y: &mut [Six]) {
        self.each_row(y, |sum| sum, x);
    }

    /// `y = b − A x`.
    pub fn residual(&self, b: &[Six], x: &[Six], y: &mut [Six]) {
        y.copy_from_slice(b);
        self.add(y, -1.0, x);
    }

    /// `y += factor A x`.
    pub fn add(&self, y: &mut [Six], factor: f64, x: &[Six]) {
        y.par_chunks_mut(CHUNK).enumerate().for_each(|(k, y)| {
            wide::run(Rows {
                matrix: self,
                first: k * CHUNK,
                x,
                y,
                combine: |y: f64, sum: f64| y + factor * sum,
            });
        });
    }

    fn each_row(&self, y: &mut [Six], combine: impl Fn(f64) -> f64 + Sync + Copy, x: &[Six]) {
        y.par_chunks_mut(CHUNK).enumerate().for_each(|(k, y)| {
            wide::run(Rows {
                matrix: self,
                first: k * CHUNK,
                x,
                y,
                combine: |_: f64, sum: f64| combine(sum),
            });
        });
    }

    /// Bytes of columns and blocks.
    pub fn bytes(&self) -> usize {
        self.column.len() * (size_of::<[[V; 6]; 6]>() + 4)
    }
}

impl BlockMatrix {
    /// From rows of columns, ascending, and blocks.
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

    /// The matrix with rows and columns exchanged; it has `columns` columns.
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

    /// Inverses of the blocks on the diagonal; the first row whose block is not positive definite where there is one.
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

    /// The same in single precision.
    pub fn single(&self) -> BlockMatrix<f32> {
        let mut single = BlockMatrix {
            start: self.start.clone(),
            column: self.column.clone(),
            value: vec![[[0.0; 6]; 6]; self.value.len()],
        };
        self.copy_to(&mut single);
        single
    }

    /// Brings a copy in single precision up to date.
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
            let values = to.as_flattened_mut().as_flattened_mut().iter_mut();
            for (to, &from) in values.zip(from.as_flattened().as_flattened()) {
                *to = from as f32;
            }
        });
    }
}

/// What belongs to each row, rows beginning at `start`.
pub fn rows_mut<'a, T>(start: &[u32], all: &'a mut [T]) -> Vec<&'a mut [T]> {
    let mut rest = all;
    let of = |ends: &[u32]| {
        let (row, next) = std::mem::take(&mut rest).split_at_mut((ends[1] - ends[0]) as usize);
        rest = next;
        row
    };
    start.windows(2).map(of).collect()
}

struct Rows<'a, V, F> {
    matrix: &'a BlockMatrix<V>,
    first: usize,
    x: &'a [Six],
    y: &'a mut [Six],
    combine: F,
}

impl<V: Value, F: Fn(f64, f64) -> f64> Loop for Rows<'_, V, F> {
    #[inline(always)]
    fn run(self) {
        for (row, y) in self.y.iter_mut().enumerate() {
            let range = self.matrix.range(self.first + row);
            let mut sum = [0.0; 6];
            let columns = &self.matrix.column[range.clone()];
            for (block, &column) in self.matrix.value[range].iter().zip(columns) {
                block::add_times(&mut sum, block, &self.x[column as usize]);
            }
            for (y, sum) in y.iter_mut().zip(sum) {
                *y = (self.combine)(*y, sum);
            }
        }
    }
}

impl Operator for BlockMatrix {
    fn times(&self, x: &[Six], y: &mut [Six]) {
        BlockMatrix::times(self, x, y);
    }
}

/// Inverses of the blocks on a diagonal.
#[derive(Clone, Debug, Default)]
pub struct Diagonal(pub Vec<Block>);

impl Diagonal {
    /// `y = D⁻¹ x`.
    pub fn times(&self, x: &[Six], y: &mut [Six]) {
        y.par_chunks_mut(CHUNK)
            .zip(x.par_chunks(CHUNK))
            .zip(self.0.par_chunks(CHUNK))
            .for_each(|((y, x), inverse)| {
                for ((y, x), inverse) in y.iter_mut().zip(x).zip(inverse) {
                    *y = [0.0; 6];
                    block::add_times(y, inverse, x);
                }
            });
    }
}

impl Precondition for Diagonal {
    fn apply(&mut self, r: &[Six], z: &mut [Six]) {
        self.times(r, z);
    }
}
