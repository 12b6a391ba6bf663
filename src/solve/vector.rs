//! Operations on vectors with `N` unknowns per element.

use crate::parallel::prelude::*;

/// Number of elements in a partial sum; it is fixed, so that threads do not change any bit.
pub const CHUNK: usize = 1024;

/// Scalar product.
pub fn dot<const N: usize>(a: &[[f64; N]], b: &[[f64; N]]) -> f64 {
    let of = |(a, b): (&[[f64; N]], &[[f64; N]])| -> f64 {
        let mut sums = [0.0; N];
        for (row, a) in a.iter().enumerate() {
            for (k, sum) in sums.iter_mut().enumerate() {
                *sum += a[k] * b[row][k];
            }
        }
        sums.iter().sum()
    };
    let parts: Vec<f64> = a
        .par_chunks(CHUNK)
        .zip(b.par_chunks(CHUNK))
        .map(of)
        .collect();
    parts.iter().sum()
}

/// Euclidean norm.
pub fn norm<const N: usize>(a: &[[f64; N]]) -> f64 {
    dot(a, a).sqrt()
}

/// `y += factor x`.
pub fn add_scaled<const N: usize>(y: &mut [[f64; N]], factor: f64, x: &[[f64; N]]) {
    zip_with(y, x, |y, x| *y += factor * x);
}

/// `y = x + factor y`.
pub fn scale_and_add<const N: usize>(y: &mut [[f64; N]], factor: f64, x: &[[f64; N]]) {
    zip_with(y, x, |y, x| *y = x + factor * *y);
}

/// `y = factor y − x`.
pub fn scale_and_subtract<const N: usize>(y: &mut [[f64; N]], factor: f64, x: &[[f64; N]]) {
    zip_with(y, x, |y, x| *y = factor * *y - x);
}

fn zip_with<const N: usize>(y: &mut [[f64; N]], x: &[[f64; N]], f: impl Fn(&mut f64, f64) + Sync) {
    y.par_chunks_mut(CHUNK)
        .zip(x.par_chunks(CHUNK))
        .for_each(|(y, x)| {
            let pairs = y.as_flattened_mut().iter_mut().zip(x.as_flattened());
            pairs.for_each(|(y, &x)| f(y, x));
        });
}
