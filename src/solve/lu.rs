//! Direct solution of small dense systems by LU factorization with partial pivoting.

/// Factors L U of a matrix with permuted rows.
#[derive(Clone, Debug)]
pub struct Lu {
    /// Rows of U; below its diagonal those of L, whose diagonal is 1.
    factors: Vec<f64>,
    /// For each row of the factors, its row in the matrix.
    order: Vec<usize>,
}

impl Lu {
    /// Factors an n×n matrix given by its rows; none if it is singular.
    pub fn new(mut a: Vec<f64>, n: usize) -> Option<Self> {
        let mut order: Vec<usize> = (0..n).collect();
        for k in 0..n {
            let size = |i: usize| a[i * n + k].abs();
            let pivot = (k..n).max_by(|i, j| size(*i).total_cmp(&size(*j)).then(j.cmp(i)))?;
            if size(pivot) == 0.0 || !size(pivot).is_finite() {
                return None;
            }
            if pivot != k {
                order.swap(k, pivot);
                let (above, below) = a.split_at_mut(pivot * n);
                above[k * n..(k + 1) * n].swap_with_slice(&mut below[..n]);
            }
            let (above, below) = a.split_at_mut((k + 1) * n);
            let row = &above[k * n..];
            for other in below.chunks_exact_mut(n) {
                let factor = other[k] / row[k];
                other[k] = factor;
                let pairs = other[k + 1..].iter_mut().zip(&row[k + 1..]);
                pairs.for_each(|(other, value)| *other -= factor * value);
            }
        }
        Some(Lu { factors: a, order })
    }

    /// Absolute value of the smallest pivot: for a matrix whose rows have entries of about 1, how near it is
    /// to a singular one.
    pub fn smallest_pivot(&self) -> f64 {
        let n = self.order.len();
        let pivots = (0..n).map(|k| self.factors[k * (n + 1)].abs());
        pivots.fold(f64::INFINITY, f64::min)
    }

    /// Solves A x = b.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let n = self.order.len();
        let mut x: Vec<f64> = self.order.iter().map(|i| b[*i]).collect();
        let part = |row: &[f64], x: &[f64]| -> f64 { row.iter().zip(x).map(|(a, x)| a * x).sum() };
        for i in 0..n {
            x[i] -= part(&self.factors[i * n..i * n + i], &x[..i]);
        }
        for i in (0..n).rev() {
            let row = &self.factors[i * n..(i + 1) * n];
            x[i] = (x[i] - part(&row[i + 1..], &x[i + 1..])) / row[i];
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_without_structure_is_solved() {
        let n = 9;
        let a: Vec<f64> = (0..n * n).map(|k| (1.7 * (k * k) as f64).sin()).collect();
        let x: Vec<f64> = (0..n).map(|k| k as f64 - 3.5).collect();
        let times = |row: &[f64]| row.iter().zip(&x).map(|(a, x)| a * x).sum();
        let b: Vec<f64> = a.chunks_exact(n).map(times).collect();
        let found = Lu::new(a.clone(), n).unwrap().solve(&b);
        for (found, x) in found.iter().zip(&x) {
            assert!((found - x).abs() < 1e-11);
        }
        let mut singular = a;
        singular.copy_within(0..n, n);
        singular[..n].fill(0.0);
        assert!(Lu::new(singular, n).is_none());
    }
}
