//! Conjugate gradients preconditioned by diagonal blocks, with the fewest bytes moved.
//!
//! With A = D + R and D = L Lᵀ the preconditioned iteration is the plain one for L⁻¹ A Lᵀ⁻¹ = 1 + L⁻¹ R Lᵀ⁻¹: neither D nor the preconditioned residual
//! is read or written, single precision holds R, and sums go with the passes that make what they sum.

use rayon::prelude::*;

use super::block::{self, Block, Six, Value};
use super::gradients::Found;
use super::matrix::{BlockMatrix, rows_mut};
use super::vector::{CHUNK, dot, scale_and_add};
use super::wide::{self, Loop};

/// A symmetric matrix whose blocks on the diagonal are one, and what made them so.
#[derive(Clone, Debug)]
pub struct Scaled<V> {
    /// Blocks beside the diagonal.
    beside: BlockMatrix<V>,
    /// L⁻¹ of each row.
    inverse: Vec<Block>,
}

impl<V: Value> Scaled<V> {
    /// Of a matrix; the first row whose diagonal block is not positive definite where there is one.
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
        let mut beside = BlockMatrix {
            start: start.collect(),
            column: vec![0; count],
            value: vec![[[V::default(); 6]; 6]; count],
        };
        let values = rows_mut(&beside.start, &mut beside.value);
        let columns = rows_mut(&beside.start, &mut beside.column);
        let rows = values.into_par_iter().zip(columns).enumerate();
        rows.with_min_len(64).for_each(|(row, (value, column))| {
            wide::run(Scaling {
                matrix,
                inverse: &inverse,
                row,
                value,
                column,
            });
        });
        Ok(Scaled { beside, inverse })
    }

    /// Solves `A x = b` from x = 0 until the residual, in the norm of D⁻¹, is no more than `tolerance` of b, or `most` iterations are done.
    pub fn solve(&self, b: &[Six], x: &mut [Six], (tolerance, most): (f64, u32)) -> Found {
        let mut r = vec![[0.0; 6]; b.len()];
        self.scale(b, &mut r, block::add_times);
        let mut at = vec![[0.0; 6]; b.len()];
        let mut square = dot(&r, &r);
        let size = square.sqrt();
        let mut found = Found {
            iterations: 0,
            residual: if size == 0.0 { 0.0 } else { 1.0 },
            indefinite: false,
        };
        let mut p = r.clone();
        let mut image = vec![[0.0; 6]; b.len()];
        while found.residual > tolerance && found.iterations < most {
            let curvature = self.times(&p, &mut image);
            // Not only below zero: no number is not above it either.
            if curvature.is_nan() || curvature <= 0.0 {
                found.indefinite = true;
                if found.iterations == 0 {
                    at.copy_from_slice(&r);
                }
                break;
            }
            let next = advance(&mut at, &mut r, (&p, &image), square / curvature);
            found.iterations += 1;
            found.residual = next.sqrt() / size;
            scale_and_add(&mut p, next / square, &r);
            square = next;
        }
        self.scale(&at, x, block::add_transposed_times);
        found
    }

    fn scale(&self, x: &[Six], y: &mut [Six], times: impl Fn(&mut Six, &Block, &Six) + Sync) {
        let pairs = y.par_iter_mut().zip(x).zip(&self.inverse);
        pairs.with_min_len(CHUNK).for_each(|((y, x), inverse)| {
            *y = [0.0; 6];
            times(y, inverse, x);
        });
    }

    /// `y = A x`, and x·y.
    fn times(&self, x: &[Six], y: &mut [Six]) -> f64 {
        let chunks = y.par_chunks_mut(CHUNK).enumerate();
        let of = |(k, y): (usize, &mut [Six])| {
            let mut sum = 0.0;
            wide::run(Rows {
                beside: &self.beside,
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

/// Makes the blocks of a row beside the diagonal.
struct Scaling<'a, V> {
    matrix: &'a BlockMatrix,
    inverse: &'a [Block],
    row: usize,
    value: &'a mut [[[V; 6]; 6]],
    column: &'a mut [u32],
}

impl<V: Value> Loop for Scaling<'_, V> {
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
            for (to, both) in to.iter_mut().zip(both) {
                for (to, both) in to.iter_mut().zip(both) {
                    *to = V::from_f64(both);
                }
            }
            *at = column;
        }
    }
}

struct Rows<'a, V> {
    beside: &'a BlockMatrix<V>,
    first: usize,
    x: &'a [Six],
    y: &'a mut [Six],
    sum: &'a mut f64,
}

impl<V: Value> Loop for Rows<'_, V> {
    #[inline(always)]
    fn run(self) {
        let mut sums = [0.0; 6];
        for (row, y) in self.y.iter_mut().enumerate() {
            let row = self.first + row;
            let here = self.beside.range(row);
            let own = self.x[row];
            let mut image = own;
            let columns = &self.beside.column[here.clone()];
            for (block, &column) in self.beside.value[here].iter().zip(columns) {
                block::add_times(&mut image, block, &self.x[column as usize]);
            }
            for (sum, (own, image)) in sums.iter_mut().zip(own.iter().zip(image)) {
                *sum += own * image;
            }
            *y = image;
        }
        *self.sum = sums.iter().sum();
    }
}

/// `x += step p`, `r −= step q`, and r·r.
fn advance(x: &mut [Six], r: &mut [Six], (p, q): (&[Six], &[Six]), step: f64) -> f64 {
    let ends = x.par_chunks_mut(CHUNK).zip(r.par_chunks_mut(CHUNK));
    let ways = p.par_chunks(CHUNK).zip(q.par_chunks(CHUNK));
    let all = ends.zip(ways).map(|((x, r), (p, q))| {
        let mut sums = [0.0; 6];
        for ((x, r), (p, q)) in x.iter_mut().zip(r).zip(p.iter().zip(q)) {
            for k in 0..6 {
                x[k] += step * p[k];
                r[k] -= step * q[k];
                sums[k] += r[k] * r[k];
            }
        }
        sums.iter().sum()
    });
    all.collect::<Vec<f64>>().iter().sum()
}

#[cfg(test)]
mod tests;
