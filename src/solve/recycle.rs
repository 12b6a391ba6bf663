//! Solutions of earlier right-hand sides as a first guess for the next one.

use super::gradients::Operator;
use super::vector::{add_scaled, dot, norm};

/// A new image is ignored if its component outside the span of the earlier ones is at most this fraction of
/// it.
const MIN_NEW_FRACTION: f64 = 1e-6;

/// Solutions x and their images A x, the images orthonormal.
#[derive(Clone, Debug, Default)]
pub struct Recycled<const N: usize> {
    pairs: Vec<[Vec<[f64; N]>; 2]>,
}

impl<const N: usize> Recycled<N> {
    /// The combination of earlier solutions with the smallest residual.
    pub fn guess(&self, b: &[[f64; N]]) -> Vec<[f64; N]> {
        let mut x = vec![[0.0; N]; b.len()];
        for [solution, image] in &self.pairs {
            add_scaled(&mut x, dot(image, b), solution);
        }
        x
    }

    /// Adds a solution; this takes one product with the matrix.
    pub fn push(&mut self, matrix: &(impl Operator<N> + ?Sized), x: &[[f64; N]]) {
        let mut solution = x.to_vec();
        let mut image = vec![[0.0; N]; x.len()];
        matrix.times(x, &mut image);
        let before = norm(&image);
        for [earlier, other] in &self.pairs {
            let along = dot(other, &image);
            add_scaled(&mut image, -along, other);
            add_scaled(&mut solution, -along, earlier);
        }
        let rest = norm(&image);
        if rest > MIN_NEW_FRACTION * before {
            for rows in [&mut solution, &mut image] {
                let values = rows.as_flattened_mut().iter_mut();
                values.for_each(|v| *v /= rest);
            }
            self.pairs.push([solution, image]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Shift;

    impl Operator<1> for Shift {
        fn times(&self, x: &[[f64; 1]], y: &mut [[f64; 1]]) {
            for (i, y) in y.iter_mut().enumerate() {
                *y = [2.0 * x[i][0] + x[(i + 1) % x.len()][0]];
            }
        }
    }

    #[test]
    fn combinations_of_earlier_right_hand_sides_are_guessed() {
        let wave =
            |k: f64| -> Vec<[f64; 1]> { (0..9).map(|i| [(f64::from(i) * k).sin()]).collect() };
        let mut recycled = Recycled::default();
        let (a, b) = (wave(0.7), wave(1.9));
        for x in [&a, &b, &a] {
            recycled.push(&Shift, x);
        }
        assert_eq!(recycled.pairs.len(), 2);
        let mut sum = a;
        add_scaled(&mut sum, -3.0, &b);
        let mut image = sum.clone();
        Shift.times(&sum, &mut image);
        let guess = recycled.guess(&image);
        for (guess, sum) in guess.iter().zip(&sum) {
            assert!((guess[0] - sum[0]).abs() < 1e-12);
        }
    }
}
