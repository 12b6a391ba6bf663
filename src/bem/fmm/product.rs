//! Products of small dense matrices with the densities or potentials of several boxes at once.

use crate::solve::wide::{self, Loop};

/// Boxes side by side.
pub const BOXES: usize = 8;
/// Columns of a batch: P, three components, and Q of each box.
pub const COLUMNS: usize = 4 * BOXES;
/// A row of a batch.
pub type Row = [f64; COLUMNS];

/// Rows that are summed side by side.
const TALL: usize = 4;

/// A matrix, row by row.
#[derive(Clone, Debug)]
pub struct Matrix {
    columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// From its entries by row and column.
    pub fn new(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let values = (0..rows * columns).map(|k| entry(k / columns, k % columns));
        Matrix {
            columns,
            values: values.collect(),
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.values.len() / self.columns.max(1)
    }

    /// Rows and columns exchanged, times `factor`.
    pub fn transposed(&self, factor: f64) -> Self {
        let entry = |i, j| factor * self.values[j * self.columns + i];
        Matrix::new(self.columns, self.rows(), entry)
    }

    /// `output = self · input`.
    pub fn multiply(&self, input: &[Row], output: &mut [Row]) {
        assert!(input.len() == self.columns && output.len() == self.rows());
        wide::run(Multiply {
            matrix: self,
            input,
            output,
        });
    }
}

struct Multiply<'a> {
    matrix: &'a Matrix,
    input: &'a [Row],
    output: &'a mut [Row],
}

impl Loop for Multiply<'_> {
    #[inline(always)]
    fn run(self) {
        let n = self.matrix.columns;
        let (tall, rest) = self.output.as_chunks_mut::<TALL>();
        for (k, output) in tall.iter_mut().enumerate() {
            rows(&self.matrix.values[TALL * k * n..], self.input, output);
        }
        let done = TALL * tall.len();
        for (k, output) in rest.iter_mut().enumerate() {
            let rows_left = &self.matrix.values[(done + k) * n..];
            rows::<1>(rows_left, self.input, std::array::from_mut(output));
        }
    }
}

/// `T` rows of the product; every entry is summed in the order of the columns.
#[inline(always)]
fn rows<const T: usize>(values: &[f64], input: &[Row], output: &mut [Row; T]) {
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
        let matrix = Matrix::new(7, 5, entry);
        let input: Vec<Row> = (0..5)
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
