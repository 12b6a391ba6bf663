//! Chebyshev polynomials of the block-Jacobi iteration as a smoother.

use crate::parallel::prelude::*;

use super::block::{Six, difference};
use super::matrix::{BlockMatrix, Diagonal};
use super::vector::{CHUNK, dot, norm};

/// Damps the upper part of a spectrum.
#[derive(Clone, Debug)]
pub struct Smoother {
    /// The matrix.
    pub matrix: BlockMatrix<f32>,
    /// Inverses of its diagonal.
    diagonal: Diagonal<f32>,
    /// Largest eigenvalue of D⁻¹A, bounded from above as it is estimated.
    pub largest: f64,
    /// After the first step.
    first: Vec<Six>,
}

/// Part of the spectrum that is left to coarser levels.
const LOWER: f64 = 0.15;
/// What the estimate of the largest eigenvalue may miss.
const ROOM: f64 = 1.08;
const POWER_STEPS: usize = 12;

impl Smoother {
    /// Of a matrix and the inverses of its diagonal.
    pub fn new(matrix: &BlockMatrix, diagonal: &Diagonal) -> Self {
        let mut smoother = Smoother {
            matrix: matrix.single(),
            diagonal: diagonal.single(),
            largest: 1.0,
            first: vec![[0.0; 6]; matrix.rows()],
        };
        smoother.largest = ROOM * smoother.estimate();
        smoother
    }

    /// Follows a changed matrix; the spectrum of D⁻¹A hardly moves. The first row whose block is not positive
    /// definite where there is one.
    pub fn renew(&mut self, matrix: &BlockMatrix) -> Result<(), usize> {
        self.diagonal = matrix.inverse_diagonal()?.single();
        matrix.copy_to(&mut self.matrix);
        Ok(())
    }

    /// Largest eigenvalue of D⁻¹A by power iteration.
    fn estimate(&self) -> f64 {
        // Any start that has all frequencies; the same for everyone.
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
            // The quotient in the energy of D is a lower bound that grows.
            largest = norm(&next).max(dot(&at, &next));
            std::mem::swap(&mut at, &mut next);
        }
        largest
    }

    /// Two steps on `A x = b` from x; from zero where `fresh`.
    pub fn smooth(&mut self, b: &[Six], x: &mut [Six], fresh: bool) {
        let (high, low) = (self.largest, LOWER * self.largest);
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
