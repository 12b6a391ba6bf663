//! Restarted GMRES for matrices without symmetry (Saad and Schultz 1986).

use super::gradients::{Operator, SolveReport};
use super::vector::{add_scaled, dot, norm, scale_and_add};

/// Number of iterations after which the iteration restarts without the directions so far: slender bodies take
/// more than two hundred, and stall with a smaller number.
const RESTART: usize = 400;

/// Solves `A x = b` from the given x until |b − A x| is at most `limits.0` |b|, in at most `limits.1`
/// iterations.
pub fn gmres<const N: usize>(
    matrix: &(impl Operator<N> + ?Sized),
    b: &[[f64; N]],
    x: &mut [[f64; N]],
    limits: (f64, u32),
) -> SolveReport {
    restarted(matrix, b, x, limits, RESTART)
}

/// As [`gmres`], with this number of iterations between restarts.
fn restarted<const N: usize>(
    matrix: &(impl Operator<N> + ?Sized),
    b: &[[f64; N]],
    x: &mut [[f64; N]],
    (tolerance, most): (f64, u32),
    restart: usize,
) -> SolveReport {
    let size = norm(b);
    let mut found = SolveReport {
        iterations: 0,
        residual: 0.0,
        indefinite: false,
    };
    if size == 0.0 {
        x.fill([0.0; N]);
        return found;
    }
    loop {
        let mut residual = vec![[0.0; N]; b.len()];
        matrix.times(x, &mut residual);
        scale_and_add(&mut residual, -1.0, b);
        found.residual = norm(&residual) / size;
        // Not `<=`: a NaN residual ends the iteration, too.
        if found.iterations >= most || !matches!(found.residual, r if r > tolerance) {
            return found;
        }
        let cycle = restart.min((most - found.iterations) as usize);
        let mut krylov = Krylov::new(residual);
        while krylov.steps() < cycle && krylov.left > tolerance * size && krylov.extend(matrix) {}
        found.iterations += krylov.steps() as u32;
        krylov.add_to(x);
        if krylov.steps() == 0 {
            return found;
        }
    }
}

/// Orthonormal directions of the Krylov space, and the triangular factor of the matrix on them.
struct Krylov<const N: usize> {
    basis: Vec<Vec<[f64; N]>>,
    /// Columns of the upper triangular factor.
    upper: Vec<Vec<f64>>,
    /// Cosine and sine of each Givens rotation.
    turns: Vec<[f64; 2]>,
    /// The rotated residual.
    right: Vec<f64>,
    /// Norm of the residual.
    left: f64,
}

impl<const N: usize> Krylov<N> {
    fn new(mut residual: Vec<[f64; N]>) -> Self {
        let left = norm(&residual);
        scale(&mut residual, 1.0 / left);
        Krylov {
            basis: vec![residual],
            upper: Vec::new(),
            turns: Vec::new(),
            right: vec![left],
            left,
        }
    }

    fn steps(&self) -> usize {
        self.upper.len()
    }

    /// Adds a direction; returns whether there was one.
    fn extend(&mut self, matrix: &(impl Operator<N> + ?Sized)) -> bool {
        let Some(last) = self
            .basis
            .last()
            .filter(|_| self.basis.len() > self.steps())
        else {
            return false;
        };
        let mut next = vec![[0.0; N]; last.len()];
        matrix.times(last, &mut next);
        let before = norm(&next);
        let mut column = Vec::with_capacity(self.basis.len() + 1);
        for direction in &self.basis {
            let along = dot(direction, &next);
            add_scaled(&mut next, -along, direction);
            column.push(along);
        }
        let rest = norm(&next);
        for (k, [c, s]) in self.turns.iter().enumerate() {
            let (a, b) = (column[k], column[k + 1]);
            (column[k], column[k + 1]) = (c * a + s * b, c * b - s * a);
        }
        let k = self.steps();
        let length = column[k].hypot(rest);
        if length == 0.0 || !length.is_finite() {
            return false;
        }
        let [c, s] = [column[k] / length, rest / length];
        column[k] = length;
        self.turns.push([c, s]);
        self.upper.push(column);
        self.right.push(-s * self.right[k]);
        self.right[k] *= c;
        self.left = self.right[k + 1].abs();
        // A remainder of rounding errors is not a direction.
        if rest > f64::EPSILON * before {
            scale(&mut next, 1.0 / rest);
            self.basis.push(next);
        }
        true
    }

    /// Adds the combination of directions with the smallest residual.
    fn add_to(&self, x: &mut [[f64; N]]) {
        let count = self.steps();
        let mut y = self.right[..count].to_vec();
        for k in (0..count).rev() {
            y[k] /= self.upper[k][k];
            let (known, unknown) = (y[k], &self.upper[k]);
            for (y, above) in y[..k].iter_mut().zip(unknown) {
                *y -= above * known;
            }
        }
        for (factor, direction) in y.iter().zip(&self.basis) {
            add_scaled(x, *factor, direction);
        }
    }
}

fn scale<const N: usize>(y: &mut [[f64; N]], factor: f64) {
    y.as_flattened_mut().iter_mut().for_each(|y| *y *= factor);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The identity, scaled by row, and a skew coupling of neighbours.
    struct Skew(usize);

    impl Operator<3> for Skew {
        fn times(&self, x: &[[f64; 3]], y: &mut [[f64; 3]]) {
            for (i, y) in y.iter_mut().enumerate() {
                let near = |j: usize| x.get(j).copied().unwrap_or_default();
                let (a, b) = (near(i.wrapping_sub(1)), near(i + 1));
                let factor = 1.0 + (i % self.0) as f64;
                *y = std::array::from_fn(|k| factor * x[i][k] + 0.7 * (a[k] - b[(k + 1) % 3]));
            }
        }
    }

    fn load(count: usize) -> Vec<[f64; 3]> {
        let wave = |i: usize, k: f64| (i as f64 * (0.7 + 0.3 * k)).sin();
        (0..count)
            .map(|i| [0.0, 1.0, 2.0].map(|k| wave(i, k)))
            .collect()
    }

    #[test]
    fn a_system_without_symmetry_is_solved_across_restarts() {
        let (matrix, b, restart) = (Skew(90), load(400), 60);
        let mut x = vec![[0.0; 3]; b.len()];
        let found = restarted(&matrix, &b, &mut x, (1e-11, 1000), restart);
        let mut image = x.clone();
        matrix.times(&x, &mut image);
        add_scaled(&mut image, -1.0, &b);
        assert!(found.iterations > restart as u32, "{found:?}");
        assert!(norm(&image) <= 1e-11 * norm(&b), "{found:?}");
        let again = gmres(&matrix, &b, &mut x, (1e-11, 1000));
        assert_eq!(again.iterations, 0);
    }

    #[test]
    fn two_eigenvalues_take_two_iterations() {
        struct Two;
        impl Operator<1> for Two {
            fn times(&self, x: &[[f64; 1]], y: &mut [[f64; 1]]) {
                for (i, y) in y.iter_mut().enumerate() {
                    *y = [x[i][0] * if i % 2 == 0 { 2.0 } else { -3.0 }];
                }
            }
        }
        let b = vec![[1.0]; 9];
        let mut x = vec![[0.0]; 9];
        let found = gmres(&Two, &b, &mut x, (1e-12, 50));
        assert_eq!(found.iterations, 2);
        assert!((x[0][0] - 0.5).abs() < 1e-12 && (x[1][0] + 1.0 / 3.0).abs() < 1e-12);
        let none = vec![[0.0]; 9];
        assert_eq!(gmres(&Two, &none, &mut x, (1e-12, 50)).iterations, 0);
        assert_eq!(x, none);
    }
}
