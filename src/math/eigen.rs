//! Eigenvalues and inverses of small symmetric matrices.

/// Eigenvalues below this part of the largest count as zero.
const ZERO: f64 = 1e-10;

/// Eigenvalues, and eigenvectors as rows, of a symmetric matrix by Jacobi rotations.
pub fn eigen<const N: usize>(mut a: [[f64; N]; N]) -> ([f64; N], [[f64; N]; N]) {
    let mut v = [[0.0; N]; N];
    for (k, row) in v.iter_mut().enumerate() {
        row[k] = 1.0;
    }
    // Convergence is quadratic: about five sweeps suffice.
    for _ in 0..8 {
        for p in 0..N {
            for q in p + 1..N {
                if a[p][q].abs() <= 1e-14 * (a[p][p].abs() + a[q][q].abs()) {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for row in &mut a {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                for rows in [&mut a, &mut v] {
                    let (above, below) = rows.split_at_mut(q);
                    for (x, y) in above[p].iter_mut().zip(&mut below[0]) {
                        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                    }
                }
            }
        }
    }
    (std::array::from_fn(|k| a[k][k]), v)
}

/// Pseudo-inverse of a symmetric matrix: the inverse where none of its eigenvalues is zero.
pub fn pseudo_inverse<const N: usize>(a: [[f64; N]; N]) -> [[f64; N]; N] {
    let (values, vectors) = eigen(a);
    let largest = values
        .iter()
        .fold(0.0, |most: f64, value| most.max(value.abs()));
    let mut inverse = [[0.0; N]; N];
    for (value, vector) in values.iter().zip(&vectors) {
        if value.abs() <= ZERO * largest {
            continue;
        }
        for (row, x) in inverse.iter_mut().zip(vector) {
            for (entry, y) in row.iter_mut().zip(vector) {
                *entry += x * y / value;
            }
        }
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<const N: usize>(a: [[f64; N]; N]) {
        let (values, vectors) = eigen(a);
        for (value, vector) in values.iter().zip(&vectors) {
            for (k, row) in a.iter().enumerate() {
                let image: f64 = row.iter().zip(vector).map(|(a, x)| a * x).sum();
                assert!((image - value * vector[k]).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn eigenvectors_diagonalise() {
        check([[4.0, 1.0, -2.0], [1.0, 2.0, 0.5], [-2.0, 0.5, 3.0]]);
        check([
            [4.0, 1.0, -2.0, 0.3],
            [1.0, 2.0, 0.5, -1.0],
            [-2.0, 0.5, 3.0, 0.0],
            [0.3, -1.0, 0.0, -5.0],
        ]);
        check([[0.0; 4]; 4]);
    }
    #[test]
    fn a_pseudo_inverse_inverts_what_is_not_zero() {
        // Rows 0 and 1 have the inverse [[2, -1], [-1, 3]] / 5; row 2 is zero.
        let inverse = pseudo_inverse([[3.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0; 3]]);
        let expected = [[0.4, -0.2, 0.0], [-0.2, 0.6, 0.0], [0.0; 3]];
        for (found, expected) in inverse.as_flattened().iter().zip(expected.as_flattened()) {
            assert!((found - expected).abs() < 1e-14, "{found} {expected}");
        }
    }
}
