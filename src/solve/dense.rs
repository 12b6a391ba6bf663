//! Direct solution of small symmetric positive definite systems by Cholesky factorization.

use super::block::Six;
use super::matrix::BlockMatrix;

/// Number of partial sums that are computed side by side.
const LANES: usize = 8;

/// A Cholesky factor L, A = L Lᵀ.
#[derive(Clone, Debug)]
pub struct Cholesky {
    /// Rows of L; entries right of the diagonal are not used.
    factor: Vec<f64>,
    unknowns: usize,
}

impl Cholesky {
    /// Factors a matrix; none if it is not positive definite.
    pub fn new(matrix: &BlockMatrix) -> Option<Self> {
        let n = 6 * matrix.rows();
        let mut a = vec![0.0; n * n];
        for row in 0..matrix.rows() {
            for at in matrix.range(row) {
                let column = matrix.column[at] as usize;
                for (c, values) in matrix.value[at].iter().enumerate() {
                    for (r, value) in values.iter().enumerate() {
                        a[(6 * row + r) * n + 6 * column + c] = *value;
                    }
                }
            }
        }
        for i in 0..n {
            let (above, here) = a.split_at_mut(i * n);
            let here = &mut here[..n];
            for (j, row) in above.chunks_exact(n).enumerate() {
                here[j] = (here[j] - product(&here[..j], &row[..j])) / row[j];
            }
            let pivot = here[i] - product(&here[..i], &here[..i]);
            if pivot.is_nan() || pivot <= 0.0 {
                return None;
            }
            here[i] = pivot.sqrt();
        }
        Some(Cholesky {
            factor: a,
            unknowns: n,
        })
    }

    /// Solves `A x = b`.
    pub fn solve(&self, b: &[Six], x: &mut [Six]) {
        let n = self.unknowns;
        let x = x.as_flattened_mut();
        x.copy_from_slice(b.as_flattened());
        for (i, row) in self.factor.chunks_exact(n).enumerate() {
            x[i] = (x[i] - product(&row[..i], &x[..i])) / row[i];
        }
        for (i, row) in self.factor.chunks_exact(n).enumerate().rev() {
            x[i] /= row[i];
            let found = x[i];
            for (x, a) in x[..i].iter_mut().zip(row) {
                *x -= a * found;
            }
        }
    }
}

/// Scalar product, in a fixed order of additions.
fn product(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (heads, tail) = a.as_chunks::<LANES>();
    let (others, rest) = b.as_chunks::<LANES>();
    for (a, b) in heads.iter().zip(others) {
        for k in 0..LANES {
            sums[k] += a[k] * b[k];
        }
    }
    let tail: f64 = tail.iter().zip(rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + tail
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::multigrid::tests::{load, packing, system};
    use crate::solve::vector::norm;

    #[test]
    fn a_factor_solves_its_matrix() {
        let places = packing(4, 3, 2);
        let matrix = system(&places, 20.0);
        let b = load(&places);
        let mut x = vec![[1.0; 6]; b.len()];
        Cholesky::new(&matrix).unwrap().solve(&b, &mut x);
        let mut left = b.clone();
        matrix.residual(&b, &x, &mut left);
        assert!(norm(&left) < 1e-12 * norm(&b), "{}", norm(&left));
    }

    #[test]
    fn what_is_not_positive_has_none() {
        let mut matrix = system(&packing(3, 1, 1), 20.0);
        for block in &mut matrix.value {
            for value in block.as_flattened_mut() {
                *value = -*value;
            }
        }
        assert!(Cholesky::new(&matrix).is_none());
    }
}
