//! Chebyshev polynomials of the block-Jacobi iteration as a smoother.

use super::block::Six;
use super::matrix::{BlockMatrix, Diagonal};
use super::vector::{add_scaled, dot, norm};

/// Damps the upper part of a spectrum.
#[derive(Clone, Debug)]
pub struct Smoother {
    /// Inverses of the diagonal.
    pub diagonal: Diagonal,
    /// The matrix.
    pub matrix: BlockMatrix<f32>,
    /// Largest eigenvalue of D⁻¹A, bounded from above as it is estimated.
    pub largest: f64,
    z: Vec<Six>,
    d: Vec<Six>,
    r: Vec<Six>,
}

/// Part of the spectrum that is left to coarser levels.
const LOWER: f64 = 0.15;
/// What the estimate of the largest eigenvalue may miss.
const ROOM: f64 = 1.08;
const POWER_STEPS: usize = 12;

impl Smoother {
    /// Of a matrix; the first row whose block is not positive definite where there is one.
    pub fn new(matrix: &BlockMatrix) -> Result<Self, usize> {
        let diagonal = matrix.inverse_diagonal()?;
        let rows = matrix.rows();
        let empty = || vec![[0.0; 6]; rows];
        let mut smoother = Smoother {
            diagonal,
            matrix: matrix.single(),
            largest: 1.0,
            z: empty(),
            d: empty(),
            r: empty(),
        };
        smoother.largest = ROOM * smoother.estimate();
        Ok(smoother)
    }

    /// Takes the diagonal of a changed matrix; the spectrum of D⁻¹A hardly moves.
    pub fn renew(&mut self, matrix: &BlockMatrix) -> Result<(), usize> {
        self.diagonal = matrix.inverse_diagonal()?;
        matrix.copy_to(&mut self.matrix);
        Ok(())
    }

    /// Largest eigenvalue of D⁻¹A by power iteration.
    fn estimate(&mut self) -> f64 {
        // Any start that has all frequencies; the same for everyone.
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        for row in &mut self.d {
            for value in row {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                *value = (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
            }
        }
        let mut largest = 1.0;
        for _ in 0..POWER_STEPS {
            let size = norm(&self.d);
            self.d
                .as_flattened_mut()
                .iter_mut()
                .for_each(|value| *value /= size);
            self.matrix.times(&self.d, &mut self.r);
            self.diagonal.times(&self.r, &mut self.z);
            // The quotient in the energy of D is a lower bound that grows.
            largest = norm(&self.z).max(dot(&self.d, &self.z));
            std::mem::swap(&mut self.d, &mut self.z);
        }
        largest
    }

    /// Two steps on `A x = b` from x; from zero where `fresh`.
    pub fn smooth(&mut self, b: &[Six], x: &mut [Six], fresh: bool) {
        let (high, low) = (self.largest, LOWER * self.largest);
        let (middle, half) = (0.5 * (high + low), 0.5 * (high - low));
        if fresh {
            self.r.copy_from_slice(b);
            x.fill([0.0; 6]);
        } else {
            self.matrix.residual(b, x, &mut self.r);
        }
        self.diagonal.times(&self.r, &mut self.d);
        let by = |d: &mut [Six], factor: f64| {
            d.as_flattened_mut().iter_mut().for_each(|d| *d *= factor);
        };
        by(&mut self.d, 1.0 / middle);
        add_scaled(x, 1.0, &self.d);
        // The three-term recurrence of Chebyshev polynomials, one term further.
        let ratio = half / middle;
        let rho = 1.0 / (2.0 / ratio - ratio);
        self.matrix.add(&mut self.r, -1.0, &self.d);
        self.diagonal.times(&self.r, &mut self.z);
        by(&mut self.d, rho * ratio);
        add_scaled(&mut self.d, 2.0 * rho / half, &self.z);
        add_scaled(x, 1.0, &self.d);
    }
}
