//! Preconditioned minimal residuals (Paige and Saunders 1975, MINRES) for symmetric matrices that need not be definite.

use super::gradients::{Operator, Precondition, SolveReport};
use super::vector::{add_scaled, dot};

/// Solves `A x = b` from x = 0 until the residual, in the norm of the preconditioner, is at most `tolerance`
/// times its initial value, in at most `most` iterations.
pub fn minimal_residuals<const N: usize>(
    matrix: &impl Operator<N>,
    b: &[[f64; N]],
    x: &mut [[f64; N]],
    precondition: &mut dyn Precondition<N>,
    (tolerance, most): (f64, u32),
) -> SolveReport {
    let zeros = || vec![[0.0; N]; b.len()];
    x.fill([0.0; N]);
    let mut found = SolveReport {
        iterations: 0,
        residual: 1.0,
        indefinite: false,
    };
    // Lanczos vectors (current and previous), preconditioned vectors, and search directions.
    let (mut v, mut before, mut z) = (b.to_vec(), zeros(), zeros());
    precondition.apply(&v, &mut z);
    let first = dot(&z, &v).sqrt();
    if first == 0.0 {
        found.residual = 0.0;
        return found;
    }
    let (mut image, mut next_z) = (zeros(), zeros());
    let (mut w, mut w_before) = (zeros(), zeros());
    let (mut gamma, mut gamma_before, mut eta) = (first, 1.0, first);
    // Cosines and sines of the last two rotations.
    let (mut c, mut c_before, mut s, mut s_before) = (1.0, 1.0, 0.0, 0.0);
    while found.residual > tolerance && found.iterations < most {
        scale(&mut z, 1.0 / gamma);
        matrix.times(&z, &mut image);
        let delta = dot(&image, &z);
        // The next Lanczos vector replaces the previous one.
        scale(&mut before, -gamma / gamma_before);
        add_scaled(&mut before, 1.0, &image);
        add_scaled(&mut before, -delta / gamma, &v);
        std::mem::swap(&mut v, &mut before);
        precondition.apply(&v, &mut next_z);
        let gamma_next = dot(&next_z, &v).max(0.0).sqrt();
        let along = c * delta - c_before * s * gamma;
        let size = along.hypot(gamma_next);
        let (one, two) = (s * delta + c_before * c * gamma, s_before * gamma);
        // w_next = (z − one w − two w_before) / size.
        scale(&mut w_before, -two);
        add_scaled(&mut w_before, -one, &w);
        add_scaled(&mut w_before, 1.0, &z);
        scale(&mut w_before, 1.0 / size);
        std::mem::swap(&mut w, &mut w_before);
        (c_before, s_before) = (c, s);
        (c, s) = (along / size, gamma_next / size);
        add_scaled(x, c * eta, &w);
        eta *= -s;
        found.iterations += 1;
        found.residual = eta.abs() / first;
        (gamma_before, gamma) = (gamma, gamma_next);
        std::mem::swap(&mut z, &mut next_z);
        // The residual is zero, or a value is NaN or infinite.
        if gamma == 0.0 || !size.is_finite() {
            break;
        }
    }
    found
}

fn scale<const N: usize>(y: &mut [[f64; N]], factor: f64) {
    y.as_flattened_mut().iter_mut().for_each(|y| *y *= factor);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::vector::norm;

    /// A chain of springs with a constraint on each pair of unknowns: two unknowns and a multiplier per row.
    struct Saddle;

    impl Operator<3> for Saddle {
        fn times(&self, x: &[[f64; 3]], y: &mut [[f64; 3]]) {
            for (i, y) in y.iter_mut().enumerate() {
                let [a, b, m] = x[i];
                let near = |j: usize| x.get(j).map_or(0.0, |x| x[0]);
                let side = near(i.wrapping_sub(1)) + near(i + 1);
                *y = [2.5 * a - side + m, 3.0 * b - 2.0 * m, a - 2.0 * b];
            }
        }
    }

    struct Scaled;

    impl Precondition<3> for Scaled {
        fn apply(&mut self, r: &[[f64; 3]], z: &mut [[f64; 3]]) {
            for (r, z) in r.iter().zip(z) {
                *z = [r[0] / 2.5, r[1] / 3.0, r[2] / 1.7];
            }
        }
    }

    #[test]
    fn an_indefinite_system_is_solved() {
        let b: Vec<[f64; 3]> = (0..50)
            .map(|i| [(i as f64).sin(), 0.1 * i as f64, (3.0 * i as f64).cos()])
            .collect();
        let mut x = vec![[0.0; 3]; b.len()];
        let found = minimal_residuals(&Saddle, &b, &mut x, &mut Scaled, (1e-10, 200));
        let mut left = b.clone();
        let mut image = b.clone();
        Saddle.times(&x, &mut image);
        add_scaled(&mut left, -1.0, &image);
        assert!(found.iterations < 100, "{found:?}");
        assert!(norm(&left) < 1e-9 * norm(&b), "{}", norm(&left));
        let none = vec![[0.0; 3]; 50];
        let found = minimal_residuals(&Saddle, &none, &mut x, &mut Scaled, (1e-10, 200));
        assert_eq!((found.iterations, x), (0, none));
    }
}
