//! Largest eigenvalue of a symmetric operator on displacements and rotations, by Lanczos iteration.

use crate::parallel::prelude::*;

/// The iteration stops when λ has changed by less than this part twice.
const TOLERANCE: f64 = 1e-3;
/// What the unconverged rest may add to λ_max, from below as the iteration approaches it.
const MARGIN: f64 = 1.03;
/// Iterations at most.
const ITERATIONS: usize = 100;

/// Displacement and rotation of each element.
pub type State = Vec<[f32; 6]>;

/// Largest eigenvalue of a symmetric operator on `count` elements that has no negative one, with a margin for
/// what the iteration leaves out.
pub fn largest(count: usize, apply: impl Fn(&State) -> State) -> f64 {
    // A start that every mode has a part in; the same on every machine.
    let wave = |i: usize, k: f64| (i as f64 * (0.7 + 0.31 * k) + k).sin() as f32;
    let mut v: State = (0..count)
        .map(|i| [0.0, 1.0, 2.0, 3.0, 4.0, 5.0].map(|k| wave(i, k)))
        .collect();
    let mut before: State = vec![[0.0; 6]; v.len()];
    let mut length = dot(&v, &v).sqrt();
    let (mut diagonal, mut beside) = (Vec::new(), Vec::new());
    let (mut lambda, mut settled) = (0.0, 0);
    while length > 0.0 && diagonal.len() < ITERATIONS && settled < 2 {
        scale(&mut v, 1.0 / length);
        let mut next = apply(&v);
        if let Some(&length) = beside.last() {
            subtract(&mut next, length, &before);
        }
        let along = dot(&next, &v);
        subtract(&mut next, along, &v);
        diagonal.push(along);
        let last = lambda;
        lambda = largest_of_tridiagonal(&diagonal, &beside);
        settled = if (lambda - last).abs() <= TOLERANCE * lambda {
            settled + 1
        } else {
            0
        };
        length = dot(&next, &next).sqrt();
        beside.push(length);
        before = std::mem::replace(&mut v, next);
    }
    lambda * MARGIN
}

/// Elements summed up before others are added: of a fixed size, so that nothing changes a bit.
pub const PART: usize = 1024;

/// Product of two states; parts are added up in order, so that threads change nothing.
fn dot(a: &State, b: &State) -> f64 {
    let product = |(a, b): (&[f32; 6], &[f32; 6])| -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum()
    };
    let chunks: Vec<f64> = a
        .par_chunks(PART)
        .zip(b.par_chunks(PART))
        .map(|(a, b)| a.iter().zip(b).map(product).sum())
        .collect();
    chunks.iter().sum()
}

fn scale(a: &mut State, factor: f64) {
    let times = |value: &mut f32| *value = (f64::from(*value) * factor) as f32;
    a.par_iter_mut()
        .for_each(|row| row.iter_mut().for_each(times));
}

/// a ← a − factor b.
fn subtract(a: &mut State, factor: f64, b: &State) {
    a.par_iter_mut().zip(b).for_each(|(a, b)| {
        for (a, b) in a.iter_mut().zip(b) {
            *a = (f64::from(*a) - factor * f64::from(*b)) as f32;
        }
    });
}

/// Largest eigenvalue of a symmetric tridiagonal matrix, by bisection of Sturm's count; `beside` are at least
/// as many as are between.
fn largest_of_tridiagonal(diagonal: &[f64], beside: &[f64]) -> f64 {
    let next = |k: usize| {
        let before = if k > 0 { beside[k - 1].abs() } else { 0.0 };
        let after = if k + 1 < diagonal.len() {
            beside[k].abs()
        } else {
            0.0
        };
        (before, after)
    };
    // Gershgorin's bounds.
    let bounds = (0..diagonal.len()).map(|k| (diagonal[k], next(k)));
    let mut high = bounds
        .clone()
        .map(|(d, (a, b))| d + a + b)
        .fold(0.0, f64::max);
    let mut low = bounds.map(|(d, _)| d).fold(f64::NEG_INFINITY, f64::max);
    // All eigenvalues are below x when the pivots of T − x are all negative.
    let all_below = |x: f64| {
        let mut pivot = f64::INFINITY;
        (0..diagonal.len()).all(|k| {
            let (before, _) = next(k);
            pivot = diagonal[k] - x - before * before / pivot;
            pivot < 0.0
        })
    };
    while high - low > 1e-6 * high.abs() {
        let middle = 0.5 * (low + high);
        if all_below(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_has_the_eigenvalue_that_is_known() {
        // 2 − 2 cos(πk/(n + 1)), largest at k = n.
        let n = 12;
        let found = largest_of_tridiagonal(&vec![2.0; n], &vec![-1.0; n - 1]);
        let known = 2.0 - 2.0 * (std::f64::consts::PI * 12.0 / 13.0).cos();
        assert!((found - known).abs() < 1e-5, "{found} {known}");
    }
}
