//! 6×6 blocks, stored by column.
//!
//! Loops use indices: the standard library does not mark `zip` and `map` of arrays for inlining, so each
//! number might cost a call.

use std::ops::{AddAssign, Mul};

/// The six unknowns of an element.
pub type Six = [f64; 6];
/// A 6×6 block, stored by column: `[column][row]`.
pub type Block = [[f64; 6]; 6];

/// The zero block.
pub const ZERO: Block = [[0.0; 6]; 6];

/// A multiple of the identity.
pub fn diagonal(value: f64) -> Block {
    let mut block = ZERO;
    for (k, column) in block.iter_mut().enumerate() {
        column[k] = value;
    }
    block
}

/// Converts a block to single precision.
#[inline(always)]
pub fn single(block: &Block) -> [[f32; 6]; 6] {
    let mut single = [[0.0; 6]; 6];
    for (k, column) in single.iter_mut().enumerate() {
        for (row, value) in column.iter_mut().enumerate() {
            *value = block[k][row] as f32;
        }
    }
    single
}

/// Number type of matrix entries: single precision halves the memory traffic of a preconditioner, which need
/// not be exact.
pub trait MatrixEntry:
    Copy + Default + Send + Sync + Into<f64> + Mul<Output = Self> + AddAssign
{
    /// Nearest value.
    fn from_f64(value: f64) -> Self;
}
impl MatrixEntry for f64 {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }
}
impl MatrixEntry for f32 {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

/// `y += A x`.
#[inline(always)]
pub fn add_times<V: MatrixEntry>(y: &mut Six, a: &[[V; 6]; 6], x: &Six) {
    for (k, column) in a.iter().enumerate() {
        for (row, y) in y.iter_mut().enumerate() {
            *y += column[row].into() * x[k];
        }
    }
}

/// Adds the products of `A x` to 36 sums, by column: the sums are independent, so the processor computes many
/// at a time.
#[inline(always)]
pub fn spread_times<V: MatrixEntry + Into<S>, S: MatrixEntry>(
    sums: &mut [[S; 6]; 6],
    a: &[[V; 6]; 6],
    x: &[S; 6],
) {
    for (k, sums) in sums.iter_mut().enumerate() {
        for (row, sum) in sums.iter_mut().enumerate() {
            let a: S = a[k][row].into();
            *sum += a * x[k];
        }
    }
}

/// Adds up the sums of [`spread_times`].
#[inline(always)]
pub fn gathered<S: MatrixEntry>([mut sum, b, mut c, d, mut e, f]: [[S; 6]; 6]) -> [S; 6] {
    for row in 0..6 {
        sum[row] += b[row];
        c[row] += d[row];
        e[row] += f[row];
        sum[row] += c[row];
        sum[row] += e[row];
    }
    sum
}

/// `y += Aᵀ x`.
#[inline(always)]
pub fn add_transposed_times(y: &mut Six, a: &Block, x: &Six) {
    for (k, y) in y.iter_mut().enumerate() {
        let mut sum = 0.0;
        for (row, x) in x.iter().enumerate() {
            sum += a[k][row] * x;
        }
        *y += sum;
    }
}

/// `C += A B`.
#[inline(always)]
pub fn add_product(c: &mut Block, a: &Block, b: &Block) {
    for (k, c) in c.iter_mut().enumerate() {
        add_times(c, a, &b[k]);
    }
}

/// `C += Aᵀ B`.
#[inline(always)]
pub fn add_transposed_product(c: &mut Block, a: &Block, b: &Block) {
    for (k, c) in c.iter_mut().enumerate() {
        add_transposed_times(c, a, &b[k]);
    }
}

/// `A += B`.
#[inline(always)]
pub fn add(a: &mut Block, b: &Block) {
    for (k, a) in a.iter_mut().enumerate() {
        add_six(a, &b[k]);
    }
}

/// `a += b`.
#[inline(always)]
pub fn add_six(a: &mut Six, b: &Six) {
    for (k, a) in a.iter_mut().enumerate() {
        *a += b[k];
    }
}

/// `a − b`.
#[inline(always)]
pub fn difference(a: &Six, b: &Six) -> Six {
    let mut left = *a;
    for (k, left) in left.iter_mut().enumerate() {
        *left -= b[k];
    }
    left
}

/// The transposed block.
#[inline(always)]
pub fn transposed(a: &Block) -> Block {
    let mut transposed = ZERO;
    for (k, column) in transposed.iter_mut().enumerate() {
        for (row, value) in column.iter_mut().enumerate() {
            *value = a[row][k];
        }
    }
    transposed
}

/// Lower Cholesky factor of a symmetric positive definite block, `[column][row]`. None if a pivot is not
/// positive.
fn cholesky<const N: usize>(a: &[[f64; N]; N]) -> Option<[[f64; N]; N]> {
    let mut l = [[0.0; N]; N];
    for j in 0..N {
        let mut pivot = a[j][j];
        for column in &l[..j] {
            pivot -= column[j] * column[j];
        }
        // A smaller pivot is only rounding error.
        if pivot.is_nan() || pivot <= 1e-14 * a[j][j] {
            return None;
        }
        let root = pivot.sqrt();
        for i in j..N {
            let mut sum = a[j][i];
            for column in &l[..j] {
                sum -= column[i] * column[j];
            }
            l[j][i] = sum / root;
        }
    }
    Some(l)
}

/// Solves `L x = e` for column `unit` of the identity.
fn forward<const N: usize>(l: &[[f64; N]; N], unit: usize) -> [f64; N] {
    let mut x = [0.0; N];
    for i in unit..N {
        let mut sum = if i == unit { 1.0 } else { 0.0 };
        for j in unit..i {
            sum -= l[j][i] * x[j];
        }
        x[i] = sum / l[i][i];
    }
    x
}

/// Inverse of a block's Cholesky factor L; none if the block is not positive definite.
pub fn inverse_root<const N: usize>(a: &[[f64; N]; N]) -> Option<[[f64; N]; N]> {
    let l = cholesky(a)?;
    Some(std::array::from_fn(|column| forward(&l, column)))
}

/// Inverse of a symmetric positive definite block by its Cholesky factor. None if a pivot is not positive.
pub fn inverse<const N: usize>(a: &[[f64; N]; N]) -> Option<[[f64; N]; N]> {
    let l = cholesky(a)?;
    Some(std::array::from_fn(|column| {
        let mut x = forward(&l, column);
        for i in (0..N).rev() {
            let mut sum = x[i];
            for j in i + 1..N {
                sum -= l[i][j] * x[j];
            }
            x[i] = sum / l[i][i];
        }
        x
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_undoes_its_block() {
        let mut a = diagonal(3.0);
        for (j, column) in a.iter_mut().enumerate() {
            for (i, value) in column.iter_mut().enumerate() {
                *value += 1.0 / (1.0 + (i + j) as f64);
            }
        }
        let mut unit = ZERO;
        add_product(&mut unit, &inverse(&a).unwrap(), &a);
        let expected = diagonal(1.0);
        let pairs = unit.as_flattened().iter().zip(expected.as_flattened());
        assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-13));
        let mut twice = ZERO;
        add_transposed_product(&mut twice, &transposed(&a), &unit);
        assert!((twice[2][1] - a[2][1]).abs() < 1e-12);
        assert_eq!(inverse(&diagonal(0.0)), None);
        assert_eq!(inverse(&diagonal(-1.0)), None);
    }
}
