//! The number type that laws are generic over.
//!
//! `f64` is the reference, and `f32` the scalar counterpart of the vector lanes. Single precision uses only
//! operations that IEEE 754 rounds correctly, comparisons and polynomials, so that `f32` and every lane type
//! agree bit for bit.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};

/// Result of a comparison, one boolean per lane.
pub trait Mask: Copy + BitAnd<Output = Self> + BitOr<Output = Self> {
    /// Whether all lanes are true, in which case work for rare lanes is skipped. Results must not depend on
    /// it, as a lane shares it with unrelated neighbours.
    fn all(self) -> bool;
}

impl Mask for bool {
    #[inline(always)]
    fn all(self) -> bool {
        self
    }
}

/// A number, or several in vector lanes.
pub trait Real:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Result of comparisons.
    type Mask: Mask;

    /// The same constant in every lane.
    fn splat(value: f64) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// `self · factor + addend`. Single numbers and lanes round once (a fused multiply-add); a device may round the
    /// product, too. Rust fuses nothing on its own.
    fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// `self < other`.
    fn lt(self, other: Self) -> Self::Mask;
    /// `yes` where the mask is true, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// Zero.
    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0.0)
    }
    /// The smaller; `other` if either is NaN.
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self::select(self.lt(other), self, other)
    }
    /// The larger; `other` if either is NaN.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self::select(other.lt(self), self, other)
    }

    /// The number itself, rounded as written: a barrier against reassociation by compilers. Rust's does not
    /// reassociate; those of graphics drivers regroup sums and simplify `(a + b) − a` to b unless forbidden,
    /// which the calling kernel must do.
    ///
    /// It is used where a rounding error is itself the result, and where both ends of a pair must round
    /// alike.
    #[inline(always)]
    fn kept(self) -> Self {
        self
    }

    /// `atan(t)/t` for t in [0, 1], given t². Polynomial through Chebyshev nodes, within 3e-9.
    #[inline(always)]
    fn atan_ratio(t_squared: Self) -> Self {
        const COEFFICIENTS: [f64; 10] = [
            0.9999999971605454,
            -0.3333327629198255,
            0.19998075281148714,
            -0.14260016082820906,
            0.10932341501303093,
            -0.08349724968301601,
            0.05708955593030619,
            -0.030351864785781172,
            0.010487649254949306,
            -0.0017011700640685975,
        ];
        polynomial(&COEFFICIENTS, t_squared)
    }
    /// `asin(x)/x` for x in [0, ¼], given x². Polynomial through Chebyshev nodes, within 4e-9.
    #[inline(always)]
    fn asin_ratio(x_squared: Self) -> Self {
        const COEFFICIENTS: [f64; 4] = [
            0.9999999959734361,
            0.16666871471927674,
            0.0748379405851557,
            0.04870183409803034,
        ];
        polynomial(&COEFFICIENTS, x_squared)
    }
    /// `artanh(z)/z` for z in [0, 1/7], given z²: the Taylor series, within 1e-18 and the rounding of the sum.
    #[inline(always)]
    fn artanh_ratio(z_squared: Self) -> Self {
        const COEFFICIENTS: [f64; 10] = [
            1.0,
            1.0 / 3.0,
            1.0 / 5.0,
            1.0 / 7.0,
            1.0 / 9.0,
            1.0 / 11.0,
            1.0 / 13.0,
            1.0 / 15.0,
            1.0 / 17.0,
            1.0 / 19.0,
        ];
        polynomial(&COEFFICIENTS, z_squared)
    }
    /// `1/√(1 − x)` for x in [0, 1/16]. Polynomial through Chebyshev nodes, within 6e-10.
    #[inline(always)]
    fn inverse_root(x: Self) -> Self {
        const COEFFICIENTS: [f64; 5] = [
            1.000000000538723,
            0.49999957177694365,
            0.37505428969235044,
            0.3101062323367318,
            0.3158383314252219,
        ];
        polynomial(&COEFFICIENTS, x)
    }
    /// `sin(x)/x` given x², x in [0, π/2]: the Taylor series, within 1e-9.
    #[inline(always)]
    fn sinc(x_squared: Self) -> Self {
        const COEFFICIENTS: [f64; 7] = [
            1.0,
            -1.0 / 6.0,
            1.0 / 120.0,
            -1.0 / 5040.0,
            1.0 / 362_880.0,
            -1.0 / 39_916_800.0,
            1.0 / 6_227_020_800.0,
        ];
        polynomial(&COEFFICIENTS, x_squared)
    }
    /// `cos x` given x², x in [0, π/2]: the Taylor series, within 7e-9.
    #[inline(always)]
    fn cosine(x_squared: Self) -> Self {
        const COEFFICIENTS: [f64; 7] = [
            1.0,
            -1.0 / 2.0,
            1.0 / 24.0,
            -1.0 / 720.0,
            1.0 / 40_320.0,
            -1.0 / 3_628_800.0,
            1.0 / 479_001_600.0,
        ];
        polynomial(&COEFFICIENTS, x_squared)
    }
}

/// Value of a polynomial at x, by Estrin's scheme: pairs of terms, then pairs of pairs, so that the chain of
/// operations that wait for each other is short. In WGSL it is Horner's scheme.
#[inline(always)]
fn polynomial<T: Real, const N: usize>(coefficients: &[f64; N], x: T) -> T {
    const { assert!(N <= 16) };
    let mut terms = [T::zero(); N];
    for k in 0..N {
        terms[k] = T::splat(coefficients[k]);
    }
    let state = halved(halved((terms, N, x)));
    halved(halved(state)).0[0]
}

/// Terms of a polynomial, their number and the power of x between them, after joining pairs of terms.
#[inline(always)]
fn halved<T: Real, const N: usize>(
    (mut terms, count, power): ([T; N], usize, T),
) -> ([T; N], usize, T) {
    for k in 0..count / 2 {
        terms[k] = terms[2 * k + 1].mul_add(power, terms[2 * k]);
    }
    if count % 2 == 1 {
        terms[count / 2] = terms[count - 1];
    }
    let power = if count > 2 { power * power } else { power };
    (terms, count.div_ceil(2), power)
}

/// A [`Real`] that is a single number, as stored in memory.
pub trait Scalar: Real<Mask = bool> + bytemuck::Pod + PartialOrd + Send + Sync + Default {
    /// Rounds to the nearest value.
    fn from_f64(value: f64) -> Self {
        Self::splat(value)
    }
    /// Converts exactly.
    fn to_f64(self) -> f64;
}

/// Methods of [`Real`] that are the same in every precision.
macro_rules! single_number {
    () => {
        type Mask = bool;
        #[inline(always)]
        fn sqrt(self) -> Self {
            self.sqrt()
        }
        #[inline(always)]
        fn mul_add(self, factor: Self, addend: Self) -> Self {
            self.mul_add(factor, addend)
        }
        #[inline(always)]
        fn abs(self) -> Self {
            self.abs()
        }
        #[inline(always)]
        fn lt(self, other: Self) -> bool {
            self < other
        }
        #[inline(always)]
        fn select(mask: bool, yes: Self, no: Self) -> Self {
            if mask { yes } else { no }
        }
    };
}

impl Real for f32 {
    single_number!();
    #[inline(always)]
    fn splat(value: f64) -> Self {
        value as f32
    }
}

impl Scalar for f32 {
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    single_number!();
    #[inline(always)]
    fn splat(value: f64) -> Self {
        value
    }
    // The reference uses the library's functions; below 1e-4 the first terms of the series are exact to
    // rounding.
    fn atan_ratio(t_squared: Self) -> Self {
        if t_squared < 1e-8 {
            1.0 - t_squared / 3.0
        } else {
            let t = t_squared.sqrt();
            t.atan() / t
        }
    }
    fn asin_ratio(x_squared: Self) -> Self {
        if x_squared < 1e-3 {
            // The Taylor series, exact to rounding here; most bonds are bent by less.
            const SERIES: [f64; 6] = [
                1.0,
                1.0 / 6.0,
                3.0 / 40.0,
                15.0 / 336.0,
                105.0 / 3456.0,
                945.0 / 42240.0,
            ];
            polynomial(&SERIES, x_squared)
        } else {
            let x = x_squared.sqrt();
            x.asin() / x
        }
    }
    fn inverse_root(x: Self) -> Self {
        1.0 / (1.0 - x).sqrt()
    }
    fn sinc(x_squared: Self) -> Self {
        if x_squared < 1e-8 {
            1.0 - x_squared / 6.0
        } else {
            let x = x_squared.sqrt();
            x.sin() / x
        }
    }
    fn cosine(x_squared: Self) -> Self {
        x_squared.sqrt().cos()
    }
}

impl Scalar for f64 {
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_within_their_stated_error() {
        for k in 1..=1000 {
            let t = f64::from(k) / 1000.0;
            let x = t * std::f64::consts::FRAC_PI_2;
            let ratio = f64::from(<f32 as Real>::atan_ratio((t * t) as f32));
            assert!(
                (ratio - t.atan() / t).abs() < 1.5e-7,
                "atan at {t}: {ratio}"
            );
            let sinc = f64::from(<f32 as Real>::sinc((x * x) as f32));
            assert!((sinc - x.sin() / x).abs() < 2e-7, "sinc at {x}: {sinc}");
            let cosine = f64::from(<f32 as Real>::cosine((x * x) as f32));
            assert!((cosine - x.cos()).abs() < 3e-7, "cos at {x}: {cosine}");
            let x = t / 4.0;
            let ratio = f64::from(<f32 as Real>::asin_ratio((x * x) as f32));
            assert!(
                (ratio - x.asin() / x).abs() < 1.5e-7,
                "asin at {x}: {ratio}"
            );
            let z = t / 7.0;
            let ratio = f64::from(<f32 as Real>::artanh_ratio((z * z) as f32));
            assert!((ratio - z.atanh() / z).abs() < 2e-7, "artanh at {z}");
            let ratio = <f64 as Real>::artanh_ratio(z * z);
            assert!((ratio - z.atanh() / z).abs() < 5e-16, "artanh at {z}");
            let x = t / 16.0;
            let root = f64::from(<f32 as Real>::inverse_root(x as f32));
            assert!((root - 1.0 / (1.0 - x).sqrt()).abs() < 2e-7, "root at {x}");
        }
    }
}
