use super::*;
use crate::solve::conjugate_gradients;
use crate::solve::multigrid::tests::{load, packing, system};
use crate::solve::vector::norm;

/// Solves a system to 1e-6 in precision `V`: the iterations, the solution, and the relative residual.
fn solved<V: MatrixEntry>(matrix: &BlockMatrix, b: &[Six]) -> (SolveReport, Vec<Six>, f64) {
    let mut x = vec![[1.0; 6]; b.len()];
    let scaled = ScaledMatrix::<V>::new(matrix).unwrap();
    let found = scaled.solve(b, &mut x, (1e-6, 2000));
    let mut r = b.to_vec();
    matrix.residual(b, &x, &mut r);
    let left = norm(&r) / norm(b);
    (found, x, left)
}

#[test]
fn iterations_agree_with_gradients_preconditioned_by_the_diagonal() {
    let places = packing(12, 6, 6);
    let (matrix, b) = (system(&places, 20.0), load(&places));
    let mut diagonal = matrix.inverse_diagonal().unwrap();
    let mut expected = vec![[0.0; 6]; b.len()];
    let plain = conjugate_gradients(&matrix, &b, &mut expected, &mut diagonal, (1e-6, 2000));
    let (double, x, left) = solved::<f64>(&matrix, &b);
    assert!(
        double.iterations.abs_diff(plain.iterations) <= 3,
        "{double:?}, {plain:?}"
    );
    assert!(double.residual <= 1e-6 && left < 5e-6, "{left}");
    let pairs = x.as_flattened().iter().zip(expected.as_flattened());
    let largest = x
        .as_flattened()
        .iter()
        .fold(0.0, |most: f64, x| most.max(x.abs()));
    assert!(
        pairs
            .into_iter()
            .all(|(x, y)| (x - y).abs() < 1e-4 * largest)
    );
    // The rounding of the matrix to single precision is far below the inertia in such a step.
    let (single, _, left) = solved::<f32>(&matrix, &b);
    assert!(
        single.iterations.abs_diff(double.iterations) <= 3,
        "{single:?}, {double:?}"
    );
    assert!(left < 1e-3, "{left}");
}

#[test]
fn threads_change_no_bit() {
    let places = packing(20, 9, 9);
    let (matrix, b) = (system(&places, 100.0), load(&places));
    let solve = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| solved::<f32>(&matrix, &b))
    };
    assert_eq!(solve(1), solve(3));
}

#[test]
fn a_matrix_that_is_not_positive_definite_is_reported() {
    let places = packing(4, 3, 3);
    let (mut matrix, b) = (system(&places, 20.0), load(&places));
    // The diagonal blocks alone are positive definite.
    for row in 0..matrix.rows() {
        for at in matrix.range(row) {
            if matrix.column[at] as usize != row {
                matrix.value[at]
                    .as_flattened_mut()
                    .iter_mut()
                    .for_each(|value| *value *= 3.0);
            }
        }
    }
    let mut x = vec![[0.0; 6]; b.len()];
    let found = ScaledMatrix::<f64>::new(&matrix)
        .unwrap()
        .solve(&b, &mut x, (1e-6, 2000));
    assert!(found.indefinite);
    assert!(
        x.as_flattened().iter().any(|&x| x != 0.0),
        "the result is still a direction"
    );
    let at = matrix.find(5, 5).unwrap();
    matrix.value[at] = block::diagonal(-1.0);
    assert_eq!(ScaledMatrix::<f64>::new(&matrix).err(), Some(5));
}
