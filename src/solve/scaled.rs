//! Conjugate gradients preconditioned by diagonal blocks, with minimal memory traffic.
//!
//! With A = D + R and D = L Lᵀ, the preconditioned iteration is the plain one for L⁻¹ A Lᵀ⁻¹ = 1 + L⁻¹ R
//! Lᵀ⁻¹: neither D nor the preconditioned residual is read or written, and sums are computed in the passes
//! that compute their terms. Single precision halves the remaining traffic.

use crate::parallel::prelude::*;

use super::block::{self, Block, MatrixEntry, Six};
use super::gradients::SolveReport;
use super::matrix::{BlockMatrix, rows_mut};
use super::vector::CHUNK;
use super::wide::{self, Loop};

/// A symmetric matrix scaled so that its diagonal blocks are the identity, and the scaling.
#[derive(Clone, Debug)]
pub struct ScaledMatrix<V> {
    /// ScaledMatrix blocks off the diagonal.
    off_diagonal: BlockMatrix<V>,
    /// L⁻¹ of each row.
    inverse: Vec<Block>,
}

impl<V: MatrixEntry> ScaledMatrix<V> {
    /// Scales a matrix; an error is the first row whose diagonal block is not positive definite.
    pub fn new(matrix: &BlockMatrix) -> Result<Self, usize> {
        let all = 0..matrix.rows();
        let of = |row: usize| {
            let at = matrix.find(row, row).ok_or(row)?;
            block::inverse_root(&matrix.value[at]).ok_or(row)
        };
        let inverse: Vec<_> = all.into_par_iter().with_min_len(CHUNK).map(of).collect();
        let inverse = inverse.into_iter().collect::<Result<Vec<Block>, _>>()?;
        // Every row has one block on the diagonal.
        let start = matrix.start.iter().zip(0..).map(|(at, row)| at - row);
        let count = matrix.column.len() - matrix.rows();
        let mut off_diagonal = BlockMatrix {
            start: start.collect(),
            column: vec![0; count],
            value: vec![[[V::default(); 6]; 6]; count],
        };
        let values = rows_mut(&off_diagonal.start, &mut off_diagonal.value);
        let columns = rows_mut(&off_diagonal.start, &mut off_diagonal.column);
        let rows = values.into_par_iter().zip(columns).enumerate();
        rows.with_min_len(64).for_each(|(row, (value, column))| {
            wide::run(ScaleRowLoop {
                matrix,
                inverse: &inverse,
                row,
                value,
                column,
            });
        });
        Ok(ScaledMatrix {
            off_diagonal,
            inverse,
        })
    }

    /// Solves `A x = b` from x = 0 until the residual, in the norm of D⁻¹, is at most `tolerance` times that
    /// of b, or `most` iterations are done.
    pub fn solve(&self, b: &[Six], x: &mut [Six], (tolerance, most): (f64, u32)) -> SolveReport {
        let pairs = b.par_iter().zip(&self.inverse).with_min_len(CHUNK);
        let scaled = pairs.map(|(b, inverse)| {
            let mut r = [0.0; 6];
            block::add_times(&mut r, inverse, b);
            r.map(V::from_f64)
        });
        let mut r: Vec<[V; 6]> = scaled.collect();
        let mut p = r.clone();
        let mut at = vec![[V::default(); 6]; b.len()];
        let mut image = at.clone();
        // The image of zero is zero: this computes only r·r.
        let mut square = subtract(&mut r, &image, 0.0);
        let size = square.sqrt();
        let mut found = SolveReport {
            iterations: 0,
            residual: if size == 0.0 { 0.0 } else { 1.0 },
            indefinite: false,
        };
        while found.residual > tolerance && found.iterations < most {
            let curvature = self.times(&p, &mut image);
            // Not `<= 0` alone: NaN ends the iteration, too.
            if curvature.is_nan() || curvature <= 0.0 {
                found.indefinite = true;
                if found.iterations == 0 {
                    at.copy_from_slice(&r);
                }
                break;
            }
            let step = square / curvature;
            let next = subtract(&mut r, &image, step);
            advance(&mut at, &mut p, &r, [step, next / square]);
            found.iterations += 1;
            found.residual = next.sqrt() / size;
            square = next;
        }
        let pairs = x.par_iter_mut().zip(&at).zip(&self.inverse);
        pairs.with_min_len(CHUNK).for_each(|((x, at), inverse)| {
            *x = [0.0; 6];
            block::add_transposed_times(x, inverse, &at.map(V::into));
        });
        found
    }

    /// `y = A x`; returns x·y.
    fn times(&self, x: &[[V; 6]], y: &mut [[V; 6]]) -> f64 {
        let chunks = y.par_chunks_mut(CHUNK).enumerate();
        let of = |(k, y): (usize, &mut [[V; 6]])| {
            let mut sum = 0.0;
            wide::run(ProductLoop {
                off_diagonal: &self.off_diagonal,
                first: k * CHUNK,
                x,
                y,
                sum: &mut sum,
            });
            sum
        };
        chunks.map(of).collect::<Vec<f64>>().iter().sum()
    }
}

/// Computes the scaled off-diagonal blocks of a row.
struct ScaleRowLoop<'a, V> {
    matrix: &'a BlockMatrix,
    inverse: &'a [Block],
    row: usize,
    value: &'a mut [[[V; 6]; 6]],
    column: &'a mut [u32],
}

impl<V: MatrixEntry> Loop for ScaleRowLoop<'_, V> {
    #[inline(always)]
    fn run(self) {
        let here = self.matrix.range(self.row);
        let all = self.matrix.column[here.clone()].iter();
        let all = all.zip(&self.matrix.value[here]);
        let others = all.filter(|(column, _)| **column as usize != self.row);
        let to = self.value.iter_mut().zip(self.column);
        for ((to, at), (&column, block)) in to.zip(others) {
            let mut right = block::ZERO;
            let other = block::transposed(&self.inverse[column as usize]);
            block::add_product(&mut right, block, &other);
            let mut both = block::ZERO;
            block::add_product(&mut both, &self.inverse[self.row], &right);
            for (k, to) in to.iter_mut().enumerate() {
                for (row, to) in to.iter_mut().enumerate() {
                    *to = V::from_f64(both[k][row]);
                }
            }
            *at = column;
        }
    }
}

struct ProductLoop<'a, V> {
    off_diagonal: &'a BlockMatrix<V>,
    first: usize,
    x: &'a [[V; 6]],
    y: &'a mut [[V; 6]],
    sum: &'a mut f64,
}

impl<V: MatrixEntry> Loop for ProductLoop<'_, V> {
    #[inline(always)]
    fn run(self) {
        let mut sums = [0.0; 6];
        for (row, y) in self.y.iter_mut().enumerate() {
            let row = self.first + row;
            let own = self.x[row];
            let mut image = self.off_diagonal.row_times::<V>(row, self.x);
            for k in 0..6 {
                image[k] += own[k];
                sums[k] += own[k].into() * image[k].into();
            }
            *y = image;
        }
        *self.sum = sums.iter().sum();
    }
}

/// `r −= step q`; returns r·r.
fn subtract<V: MatrixEntry>(r: &mut [[V; 6]], q: &[[V; 6]], step: f64) -> f64 {
    let step = V::from_f64(-step);
    let chunks = r.par_chunks_mut(CHUNK).zip(q.par_chunks(CHUNK));
    let all = chunks.map(|(r, q)| {
        let mut sums = [0.0; 6];
        for (row, r) in r.iter_mut().enumerate() {
            for k in 0..6 {
                r[k] += step * q[row][k];
                sums[k] += r[k].into() * r[k].into();
            }
        }
        sums.iter().sum()
    });
    all.collect::<Vec<f64>>().iter().sum()
}

/// `x += step p`, then `p = r + turn p`.
fn advance<V: MatrixEntry>(x: &mut [[V; 6]], p: &mut [[V; 6]], r: &[[V; 6]], by: [f64; 2]) {
    let [step, turn] = by.map(V::from_f64);
    let ends = x.par_chunks_mut(CHUNK).zip(p.par_chunks_mut(CHUNK));
    ends.zip(r.par_chunks(CHUNK)).for_each(|((x, p), r)| {
        for (row, x) in x.iter_mut().enumerate() {
            for k in 0..6 {
                x[k] += step * p[row][k];
                let mut next = turn * p[row][k];
                next += r[row][k];
                p[row][k] = next;
            }
        }
    });
}

#[cfg(test)]
mod tests;
