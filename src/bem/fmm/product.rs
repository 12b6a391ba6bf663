//! Products of small dense matrices with the densities or potentials of several boxes at once.

use crate::solve::wide::{self, Loop};

/// Number of boxes side by side.
pub const BOXES: usize = 8;
/// Number of columns of a batch: for each box the three components of P, and Q.
pub const COLUMNS: usize = 4 * BOXES;
/// A row of a batch.
pub type BatchRow = [f64; COLUMNS];

/// Number of rows that are summed side by side.
const ROWS_AT_ONCE: usize = 4;

/// A dense matrix, stored row by row.
#[derive(Clone, Debug)]
pub struct DenseMatrix {
    columns: usize,
    values: Vec<f64>,
}

impl DenseMatrix {
    /// From its entries by row and column.
    pub fn new(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let values = (0..rows * columns).map(|k| entry(k / columns, k % columns));
        DenseMatrix {
            columns,
            values: values.collect(),
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.values.len() / self.columns.max(1)
    }

    /// The transposed matrix times `factor`.
    pub fn transposed(&self, factor: f64) -> Self {
        let entry = |i, j| factor * self.values[j * self.columns + i];
        DenseMatrix::new(self.columns, self.rows(), entry)
    }

    /// `output = self · input`.
    pub fn multiply(&self, input: &[BatchRow], output: &mut [BatchRow]) {
        assert!(input.len() == self.columns && output.len() == self.rows());
        wide::run(MultiplyRows {
            matrix: self,
            input,
            output,
        });
    }
}

struct MultiplyRows<'a> {
    matrix: &'a DenseMatrix,
    input: &'a [BatchRow],
    output: &'a mut [BatchRow],
}

impl Loop for MultiplyRows<'_> {
    #[inline(always)]
    fn run(self) {
        let n = self.matrix.columns;
        let (tall, rest) = self.output.as_chunks_mut::<ROWS_AT_ONCE>();
        for (k, output) in tall.iter_mut().enumerate() {
            rows(
                &self.matrix.values[ROWS_AT_ONCE * k * n..],
                self.input,
                output,
            );
        }
        let done = ROWS_AT_ONCE * tall.len();
        for (k, output) in rest.iter_mut().enumerate() {
            let rows_left = &self.matrix.values[(done + k) * n..];
            rows::<1>(rows_left, self.input, std::array::from_mut(output));
        }
    }
}

/// Computes `T` rows of the product; every entry is summed in the order of the columns.
#[inline(always)]
fn rows<const T: usize>(values: &[f64], input: &[BatchRow], output: &mut [BatchRow; T]) {
    let n = input.len();
    let values = &values[..T * n];
    let mut sums = [[0.0; COLUMNS]; T];
    for k in 0..n {
        let row = &input[k];
        for t in 0..T {
            let a = values[t * n + k];
            for c in 0..COLUMNS {
                sums[t][c] += a * row[c];
            }
        }
    }
    *output = sums;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_sums_over_columns() {
        let entry = |i: usize, j: usize| (3 * i + j) as f64;
        let matrix = DenseMatrix::new(7, 5, entry);
        let input: Vec<BatchRow> = (0..5)
            .map(|j| std::array::from_fn(|c| (j * 100 + c) as f64))
            .collect();
        let mut output = vec![[0.0; COLUMNS]; 7];
        matrix.multiply(&input, &mut output);
        for (i, row) in output.iter().enumerate() {
            for (c, found) in row.iter().enumerate() {
                let exact: f64 = (0..5).map(|j| entry(i, j) * input[j][c]).sum();
                assert_eq!(*found, exact);
            }
        }
        let twice = matrix.transposed(2.0);
        assert_eq!((twice.rows(), twice.values[1]), (5, 6.0));
    }
}
