//! Singular value decomposition of small matrices.

/// Largest number of sweeps; convergence is quadratic, and about eight suffice.
const MAX_SWEEPS: usize = 30;

/// `A = Σ_k value_k left_k right_kᵀ`, values in arbitrary order.
pub struct Svd {
    /// Singular values.
    pub values: Vec<f64>,
    /// Left vectors, each of length 1, or 0 if the value is zero.
    pub left: Vec<Vec<f64>>,
    /// Right vectors.
    pub right: Vec<Vec<f64>>,
}

impl Svd {
    /// Decomposes a square matrix, given by its columns, by one-sided Jacobi rotations (Hestenes 1958): small
    /// values are also exact to rounding.
    pub fn new(mut columns: Vec<Vec<f64>>) -> Self {
        let n = columns.len();
        let mut right: Vec<Vec<f64>> = (0..n)
            .map(|k| (0..n).map(|i| f64::from(u8::from(i == k))).collect())
            .collect();
        for _ in 0..MAX_SWEEPS {
            let mut turned = false;
            for p in 0..n {
                for q in p + 1..n {
                    let (a, b, c) = (
                        dot(&columns[p], &columns[p]),
                        dot(&columns[q], &columns[q]),
                        dot(&columns[p], &columns[q]),
                    );
                    if c.abs() <= 1e-15 * (a * b).sqrt() {
                        continue;
                    }
                    turned = true;
                    let theta = (b - a) / (2.0 * c);
                    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                    rotate(&mut columns, p, q, t);
                    rotate(&mut right, p, q, t);
                }
            }
            if !turned {
                break;
            }
        }
        let values: Vec<f64> = columns.iter().map(|a| dot(a, a).sqrt()).collect();
        for (column, value) in columns.iter_mut().zip(&values) {
            if *value > 0.0 {
                column.iter_mut().for_each(|x| *x /= value);
            }
        }
        Svd {
            values,
            left: columns,
            right,
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Rotates vectors p and q, p < q, by the angle of tangent t.
fn rotate(vectors: &mut [Vec<f64>], p: usize, q: usize, t: f64) {
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    let (before, after) = vectors.split_at_mut(q);
    for (x, y) in before[p].iter_mut().zip(&mut after[0]) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_give_the_matrix() {
        let n = 12;
        // A Hilbert matrix, whose smallest singular value is 1e-16 of the largest, with its columns in
        // reverse order so that it is not symmetric.
        let columns: Vec<Vec<f64>> = (0..n)
            .map(|j| (0..n).map(|i| 1.0 / (n - 1 - i + j + 1) as f64).collect())
            .collect();
        let svd = Svd::new(columns.clone());
        for (j, column) in columns.iter().enumerate() {
            for (i, exact) in column.iter().enumerate() {
                let found: f64 = (0..n)
                    .map(|k| svd.values[k] * svd.left[k][i] * svd.right[k][j])
                    .sum();
                assert!((found - exact).abs() < 1e-14);
            }
        }
        for a in 0..n {
            for b in 0..n {
                let exact = f64::from(u8::from(a == b));
                assert!((dot(&svd.right[a], &svd.right[b]) - exact).abs() < 1e-13);
            }
        }
    }
}
