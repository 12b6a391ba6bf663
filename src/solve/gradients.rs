//! Preconditioned conjugate gradients.

use super::vector::{add_scaled, dot, norm, scale_and_add};

/// A square matrix with `N` unknowns per element, defined by its products. It is symmetric, unless the solver
/// does not need symmetry.
pub trait Operator<const N: usize = 6> {
    /// `y = A x`.
    fn times(&self, x: &[[f64; N]], y: &mut [[f64; N]]);
}

/// An approximate inverse of a matrix, symmetric and positive definite.
pub trait Precondition<const N: usize = 6> {
    /// `z ≈ A⁻¹ r`.
    fn apply(&mut self, r: &[[f64; N]], z: &mut [[f64; N]]);
}

/// Result of an iterative solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveReport {
    /// Number of iterations.
    pub iterations: u32,
    /// |b − A x| over |b|.
    pub residual: f64,
    /// Whether the matrix turned out not to be positive definite. x is then the last iterate, or the
    /// preconditioned b if this happened in the first iteration.
    pub indefinite: bool,
}

/// Solves `A x = b` from x = 0 until |b − A x| is at most `tolerance` |b|, in at most `most` iterations.
pub fn conjugate_gradients<const N: usize>(
    matrix: &impl Operator<N>,
    b: &[[f64; N]],
    x: &mut [[f64; N]],
    precondition: &mut dyn Precondition<N>,
    (tolerance, most): (f64, u32),
) -> SolveReport {
    x.fill([0.0; N]);
    let size = norm(b);
    let mut found = SolveReport {
        iterations: 0,
        residual: 1.0,
        indefinite: false,
    };
    if size == 0.0 {
        found.residual = 0.0;
        return found;
    }
    let mut r = b.to_vec();
    let mut z = vec![[0.0; N]; b.len()];
    precondition.apply(&r, &mut z);
    let mut p = z.clone();
    let mut image = vec![[0.0; N]; b.len()];
    let mut rz = dot(&r, &z);
    while found.residual > tolerance && found.iterations < most {
        matrix.times(&p, &mut image);
        let curvature = dot(&p, &image);
        // Not `<= 0`: this ends the iteration for NaN, too.
        if !(curvature > 0.0 && rz > 0.0) {
            found.indefinite = true;
            if found.iterations == 0 {
                x.copy_from_slice(&z);
            }
            return found;
        }
        let step = rz / curvature;
        add_scaled(x, step, &p);
        add_scaled(&mut r, -step, &image);
        found.iterations += 1;
        found.residual = norm(&r) / size;
        if found.residual <= tolerance {
            break;
        }
        precondition.apply(&r, &mut z);
        let next = dot(&r, &z);
        scale_and_add(&mut p, next / rz, &z);
        rz = next;
    }
    found
}
