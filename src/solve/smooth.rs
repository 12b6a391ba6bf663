//! Chebyshev polynomials of the block-Jacobi iteration as a smoother.

use crate::parallel::prelude::*;

use super::block::{Six, difference};
use super::matrix::{BlockMatrix, Diagonal};
use super::vector::{CHUNK, dot, norm};

/// Damps the upper part of the spectrum of D⁻¹A.
#[derive(Clone, Debug)]
pub struct Smoother {
    /// The matrix.
    pub matrix: BlockMatrix<f32>,
    /// Inverses of its diagonal blocks.
    diagonal: Diagonal<f32>,
    /// Upper bound of the largest eigenvalue of D⁻¹A: an estimate times a safety factor.
    pub largest: f64,
    /// Scratch buffer: x after the first step.
    first: Vec<Six>,
}

/// Fraction of the spectrum that is left to coarser levels.
const COARSE_FRACTION: f64 = 0.15;
/// Safety factor for the estimate of the largest eigenvalue.
const EIGENVALUE_MARGIN: f64 = 1.08;
const POWER_STEPS: usize = 12;

impl Smoother {
    /// Prepares the smoother of a matrix, given the inverses of its diagonal blocks.
    pub fn new(matrix: &BlockMatrix, diagonal: &Diagonal) -> Self {
        let mut smoother = Smoother {
            matrix: matrix.single(),
            diagonal: diagonal.single(),
            largest: 1.0,
            first: vec![[0.0; 6]; matrix.rows()],
        };
        smoother.largest = EIGENVALUE_MARGIN * smoother.estimate();
        smoother
    }

    /// Replaces the matrix by a changed one; the spectrum of D⁻¹A hardly changes and is kept. An error is the
    /// first row whose diagonal block is not positive definite.
    pub fn renew(&mut self, matrix: &BlockMatrix) -> Result<(), usize> {
        self.diagonal = matrix.inverse_diagonal()?.single();
        matrix.copy_to(&mut self.matrix);
        Ok(())
    }

    /// Largest eigenvalue of D⁻¹A by power iteration.
    fn estimate(&self) -> f64 {
        // A pseudorandom start with all frequencies; always the same.
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut draw = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let mut at: Vec<Six> = (0..self.matrix.rows())
            .map(|_| std::array::from_fn(|_| draw()))
            .collect();
        let mut next = at.clone();
        let mut largest = 1.0;
        for _ in 0..POWER_STEPS {
            let size = norm(&at);
            at.as_flattened_mut()
                .iter_mut()
                .for_each(|value| *value /= size);
            self.matrix.each_row(&at, &mut next, |row, image, next| {
                *next = self.diagonal.row_times(row, &image);
            });
            // The Rayleigh quotient in the energy of D is an increasing lower bound.
            largest = norm(&next).max(dot(&at, &next));
            std::mem::swap(&mut at, &mut next);
        }
        largest
    }

    /// Does two steps on `A x = b` from x, or from zero if `fresh`.
    pub fn smooth(&mut self, b: &[Six], x: &mut [Six], fresh: bool) {
        let (high, low) = (self.largest, COARSE_FRACTION * self.largest);
        let (middle, half) = (0.5 * (high + low), 0.5 * (high - low));
        let diagonal = &self.diagonal;
        let first = &mut self.first[..];
        if fresh {
            x.fill([0.0; 6]);
            let rows = first.par_iter_mut().with_min_len(CHUNK).enumerate();
            rows.for_each(|(row, first)| {
                *first = diagonal.row_times(row, &b[row]).map(|d| d / middle);
            });
        } else {
            self.matrix.each_row(x, first, |row, image, first| {
                let step = diagonal.row_times(row, &difference(&b[row], &image));
                for k in 0..6 {
                    first[k] = x[row][k] + step[k] / middle;
                }
            });
        }
        // The three-term recurrence of Chebyshev polynomials, one term further.
        let ratio = half / middle;
        let rho = 1.0 / (2.0 / ratio - ratio);
        let (on, by) = (rho * ratio, 2.0 * rho / half);
        let first = &self.first[..];
        self.matrix.each_row(first, x, |row, image, x| {
            let step = diagonal.row_times(row, &difference(&b[row], &image));
            for k in 0..6 {
                let at = first[row][k];
                x[k] = at + on * (at - x[k]) + by * step[k];
            }
        });
    }
}
