//! Largest eigenvalue of a symmetric operator on displacements and rotations, by Lanczos iteration.

use crate::parallel::prelude::*;

/// The iteration stops when the relative change of λ has been at most this in two successive steps.
const TOLERANCE: f64 = 1e-3;
/// Safety factor for λ_max, which the iteration approaches from below.
const SAFETY_FACTOR: f64 = 1.03;
/// Largest number of iterations.
const MAX_ITERATIONS: usize = 100;

/// Displacement and rotation of an element.
pub type ElementRow = [f32; 6];
/// Displacement and rotation of each element.
pub type ElementVector = Vec<ElementRow>;

/// Number of elements in a block, whose products are summed by themselves. It is fixed, so that the result has the same
/// bits for any number of threads, and of processes that share the elements.
pub const BLOCK: usize = 512;

/// The part of the elements that a process computes, if several share them. All of them make the same calls in the same
/// order.
pub trait Share: Sync {
    /// Whether this process computes block number `block`.
    fn computes(&self, block: usize) -> bool;
    /// Brings the rows of other processes that the operator reads here up to date.
    fn receive(&self, rows: &mut ElementVector);
    /// Brings a number for each block up to date: each process has computed those of its own blocks.
    fn complete(&self, blocks: &mut [f64]);
}

/// A process that computes all elements.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Share for Alone {
    fn computes(&self, _: usize) -> bool {
        true
    }
    fn receive(&self, _: &mut ElementVector) {}
    fn complete(&self, _: &mut [f64]) {}
}

/// Largest eigenvalue of a symmetric positive semidefinite operator on `count` elements, times a safety
/// factor for the error of the iteration. `apply` need only compute the rows of this process.
pub fn largest(
    count: usize,
    share: &dyn Share,
    apply: impl Fn(&ElementVector) -> ElementVector,
) -> f64 {
    // A start vector with a component in every mode; the same on every machine.
    let wave = |i: usize, k: f64| (i as f64 * (0.7 + 0.31 * k) + k).sin() as f32;
    // Rows that are not written take no memory.
    let mut v: ElementVector = bytemuck::zeroed_vec(count);
    each_block(share, &mut v, |first, rows| {
        for (i, row) in (first..).zip(rows) {
            *row = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0].map(|k| wave(i, k));
        }
    });
    let mut before: ElementVector = bytemuck::zeroed_vec(count);
    let mut length = dot(share, &v, &v).sqrt();
    let (mut diagonal, mut off_diagonal) = (Vec::new(), Vec::new());
    let (mut lambda, mut unchanged_steps) = (0.0, 0);
    while length > 0.0 && diagonal.len() < MAX_ITERATIONS && unchanged_steps < 2 {
        scale(share, &mut v, 1.0 / length);
        share.receive(&mut v);
        let mut next = apply(&v);
        if let Some(&length) = off_diagonal.last() {
            subtract(share, &mut next, length, &before);
        }
        let along = dot(share, &next, &v);
        subtract(share, &mut next, along, &v);
        diagonal.push(along);
        let last = lambda;
        lambda = largest_of_tridiagonal(&diagonal, &off_diagonal);
        unchanged_steps = if (lambda - last).abs() <= TOLERANCE * lambda {
            unchanged_steps + 1
        } else {
            0
        };
        length = dot(share, &next, &next).sqrt();
        off_diagonal.push(length);
        before = std::mem::replace(&mut v, next);
    }
    lambda * SAFETY_FACTOR
}

/// Calls `act` with the first element and the rows of each block of this process.
fn each_block(
    share: &dyn Share,
    rows: &mut ElementVector,
    act: impl Fn(usize, &mut [ElementRow]) + Sync,
) {
    let blocks = rows.par_chunks_mut(BLOCK).enumerate();
    blocks
        .filter(|(block, _)| share.computes(*block))
        .for_each(|(block, rows)| act(block * BLOCK, rows));
}

/// Scalar product of two states; the products of blocks are added in order, so that neither threads nor processes
/// change the result.
fn dot(share: &dyn Share, a: &ElementVector, b: &ElementVector) -> f64 {
    let product = |(a, b): (&ElementRow, &ElementRow)| -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum()
    };
    let mut blocks: Vec<f64> = a
        .par_chunks(BLOCK)
        .zip(b.par_chunks(BLOCK))
        .enumerate()
        .map(|(block, (a, b))| match share.computes(block) {
            true => a.iter().zip(b).map(product).sum(),
            false => 0.0,
        })
        .collect();
    share.complete(&mut blocks);
    blocks.iter().sum()
}

fn scale(share: &dyn Share, a: &mut ElementVector, factor: f64) {
    let times = |value: &mut f32| *value = (f64::from(*value) * factor) as f32;
    each_block(share, a, |_, rows| {
        rows.iter_mut().flatten().for_each(times);
    });
}

/// a ← a − factor b.
fn subtract(share: &dyn Share, a: &mut ElementVector, factor: f64, b: &ElementVector) {
    each_block(share, a, |first, rows| {
        for (a, b) in rows.iter_mut().zip(&b[first..]) {
            for (a, b) in a.iter_mut().zip(b) {
                *a = (f64::from(*a) - factor * f64::from(*b)) as f32;
            }
        }
    });
}

/// Largest eigenvalue of a symmetric tridiagonal matrix, by bisection of Sturm's count; `off_diagonal` has at
/// least one entry less than `diagonal`.
fn largest_of_tridiagonal(diagonal: &[f64], off_diagonal: &[f64]) -> f64 {
    let next = |k: usize| {
        let before = if k > 0 {
            off_diagonal[k - 1].abs()
        } else {
            0.0
        };
        let after = if k + 1 < diagonal.len() {
            off_diagonal[k].abs()
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
    // All eigenvalues are below x if the pivots of T − x are all negative.
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
