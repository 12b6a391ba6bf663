//! Eigenvalues and inverses of small symmetric matrices.

use super::real::{Mask, Real};
use super::vec3::Vec3;

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
                if !is_coupled(a[p][p], a[q][q], a[p][q]) {
                    continue;
                }
                let (c, s) = rotation(a[p][p], a[q][q], a[p][q]);
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

/// Whether the element (p, q) of a matrix is more than rounding errors of both diagonal elements.
#[inline(always)]
fn is_coupled<T: Real>(pp: T, qq: T, pq: T) -> T::Mask {
    ((pp.abs() + qq.abs()) * T::splat(1e-14)).lt(pq.abs())
}

/// Cosine and sine of the rotation about the third axis that makes the element (p, q) zero; 1 and 0 if it is nearly
/// zero.
#[inline(always)]
fn rotation<T: Real>(pp: T, qq: T, pq: T) -> (T, T) {
    let (zero, one, minus_one) = (T::splat(0.0), T::splat(1.0), T::splat(-1.0));
    let coupled = is_coupled(pp, qq, pq);
    let apart = qq - pp;
    let theta = apart / T::select(coupled, pq * T::splat(2.0), one);
    // The sign of `theta`, and of `pq` where `theta` is zero.
    let sign = T::select(apart.lt(zero), minus_one, one) * T::select(pq.lt(zero), minus_one, one);
    let t = sign / (theta.abs() + (theta * theta + one).sqrt());
    let c = one / (t * t + one).sqrt();
    (T::select(coupled, c, one), T::select(coupled, t * c, zero))
}

/// A symmetric 3 × 3 matrix in rotated axes.
#[derive(Clone, Copy, Debug)]
struct Rotated<T> {
    /// First row of the matrix.
    x: Vec3<T>,
    /// Second row.
    y: Vec3<T>,
    /// Third row.
    z: Vec3<T>,
    /// First axis.
    first: Vec3<T>,
    /// Second axis.
    second: Vec3<T>,
    /// Third axis.
    third: Vec3<T>,
}

/// Jacobi's rotation of the first two axes.
#[inline(always)]
fn in_xy<T: Real>(m: Rotated<T>) -> Rotated<T> {
    let (c, s) = rotation(m.x.x, m.y.y, m.x.y);
    let x = Vec3::new(m.x.x * c - m.x.y * s, m.x.x * s + m.x.y * c, m.x.z);
    let y = Vec3::new(m.y.x * c - m.y.y * s, m.y.x * s + m.y.y * c, m.y.z);
    let z = Vec3::new(m.z.x * c - m.z.y * s, m.z.x * s + m.z.y * c, m.z.z);
    Rotated {
        x: x * c - y * s,
        y: x * s + y * c,
        z,
        first: m.first * c - m.second * s,
        second: m.first * s + m.second * c,
        third: m.third,
    }
}

/// Jacobi's rotation of the first and third axes.
#[inline(always)]
fn in_xz<T: Real>(m: Rotated<T>) -> Rotated<T> {
    let (c, s) = rotation(m.x.x, m.z.z, m.x.z);
    let x = Vec3::new(m.x.x * c - m.x.z * s, m.x.y, m.x.x * s + m.x.z * c);
    let y = Vec3::new(m.y.x * c - m.y.z * s, m.y.y, m.y.x * s + m.y.z * c);
    let z = Vec3::new(m.z.x * c - m.z.z * s, m.z.y, m.z.x * s + m.z.z * c);
    Rotated {
        x: x * c - z * s,
        y,
        z: x * s + z * c,
        first: m.first * c - m.third * s,
        second: m.second,
        third: m.first * s + m.third * c,
    }
}

/// Jacobi's rotation of the last two axes.
#[inline(always)]
fn in_yz<T: Real>(m: Rotated<T>) -> Rotated<T> {
    let (c, s) = rotation(m.y.y, m.z.z, m.y.z);
    let x = Vec3::new(m.x.x, m.x.y * c - m.x.z * s, m.x.y * s + m.x.z * c);
    let y = Vec3::new(m.y.x, m.y.y * c - m.y.z * s, m.y.y * s + m.y.z * c);
    let z = Vec3::new(m.z.x, m.z.y * c - m.z.z * s, m.z.y * s + m.z.z * c);
    Rotated {
        x,
        y: y * c - z * s,
        z: y * s + z * c,
        first: m.first,
        second: m.second * c - m.third * s,
        third: m.second * s + m.third * c,
    }
}

/// Jacobi's rotation of each pair of axes.
#[inline(always)]
fn swept<T: Real>(m: Rotated<T>) -> Rotated<T> {
    in_yz(in_xz(in_xy(m)))
}

/// Whether no rotation is left to do.
#[inline(always)]
fn is_diagonal<T: Real>(m: Rotated<T>) -> T::Mask {
    let xy = is_coupled(m.x.x, m.y.y, m.x.y);
    let xz = is_coupled(m.x.x, m.z.z, m.x.z);
    let yz = is_coupled(m.y.y, m.z.z, m.y.z);
    // Masks have no negation.
    T::select(xy | xz | yz, T::splat(1.0), T::splat(0.0)).lt(T::splat(0.5))
}

/// Largest eigenvalue of a symmetric 3 × 3 matrix and its unit eigenvector, from the elements xx, yy, zz and yz, xz,
/// xy, without loops, for graphics processors. In double precision it has the bits of [`eigen()`] wherever five sweeps
/// suffice.
pub fn largest<T: Real>(diagonal: Vec3<T>, off_diagonal: Vec3<T>) -> (T, Vec3<T>) {
    let (zero, one) = (T::splat(0.0), T::splat(1.0));
    let start = Rotated {
        x: Vec3::new(diagonal.x, off_diagonal.z, off_diagonal.y),
        y: Vec3::new(off_diagonal.z, diagonal.y, off_diagonal.x),
        z: Vec3::new(off_diagonal.y, off_diagonal.x, diagonal.z),
        first: Vec3::new(one, zero, zero),
        second: Vec3::new(zero, one, zero),
        third: Vec3::new(zero, zero, one),
    };
    let four = swept(swept(swept(swept(start))));
    // Convergence is quadratic: a fifth sweep suffices.
    let m = if is_diagonal(four).all() {
        four
    } else {
        swept(four)
    };
    let second = m.x.x.lt(m.y.y);
    let value = T::select(second, m.y.y, m.x.x);
    let direction = Vec3::select(second, m.second, m.first);
    let third = value.lt(m.z.z);
    (
        T::select(third, m.z.z, value),
        Vec3::select(third, m.third, direction),
    )
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
    fn the_largest_eigenvalue_has_the_same_bits_as_among_all() {
        let mut word = 7_u64;
        let mut draw = || {
            word = word.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            // Equal values, and zeros, among others.
            (word >> 60) as f64 - 7.0 + (word >> 33 & 1) as f64 * (word >> 40) as f64 * 1e-8
        };
        for _ in 0..10_000 {
            let [xx, yy, zz, yz, xz, xy] = std::array::from_fn(|_| draw());
            let (values, vectors) = eigen([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]);
            let all = values.into_iter().zip(vectors);
            let (value, vector) = all.reduce(|a, b| if b.0 > a.0 { b } else { a }).unwrap();
            let off_diagonal = Vec3::new(yz, xz, xy);
            let (found, direction) = largest(Vec3::new(xx, yy, zz), off_diagonal);
            assert_eq!((found, direction.to_f64()), (value, vector));
            let single = [xx, yy, zz, yz, xz, xy].map(|x| x as f32);
            let [xx, yy, zz, yz, xz, xy] = single;
            let (found, direction) = largest(Vec3::new(xx, yy, zz), Vec3::new(yz, xz, xy));
            assert!((f64::from(found) - value).abs() < 2e-5, "{found} {value}");
            assert!((direction.norm() - 1.0).abs() < 5e-6, "{direction:?}");
        }
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
