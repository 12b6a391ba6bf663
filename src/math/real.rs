//! The number that laws are generic over.
//!
//! `f64` is the reference, `f32` the plain single-precision twin of the vector lanes. Only operations that
//! IEEE 754 rounds correctly, comparisons and polynomials are used in single precision, so that `f32` and
//! every lane type agree bit for bit.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};

/// Outcome of comparing numbers, one truth value a lane.
pub trait Mask: Copy + BitAnd<Output = Self> + BitOr<Output = Self> {
    /// Whether every lane holds: where it does, what rare lanes would need is left out. Results may not
    /// depend on it, since lanes share it with whatever stands beside them.
    fn all(self) -> bool;
}

impl Mask for bool {
    #[inline(always)]
    fn all(self) -> bool {
        self
    }
}

/// A number, or several side by side.
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
    /// Absolute value.
    fn abs(self) -> Self;
    /// `self < other`.
    fn lt(self, other: Self) -> Self::Mask;
    /// `yes` where the mask holds, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// Zero.
    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0.0)
    }
    /// The smaller; `other` where either is no number.
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self::select(self.lt(other), self, other)
    }
    /// The larger; `other` where either is no number.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self::select(other.lt(self), self, other)
    }

    /// The number itself, rounded as it is: no compiler may see through it. Rust's do not; those of graphics
    /// drivers regroup sums and simplify `(a + b) − a` to b unless told, and there it is the caller's kernel
    /// that says how.
    ///
    /// It stands where the error of a rounding is itself the result, and where both ends of a pair must round alike.
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
        horner(&COEFFICIENTS, t_squared)
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
        horner(&COEFFICIENTS, x_squared)
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
        horner(&COEFFICIENTS, x)
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
        horner(&COEFFICIENTS, x_squared)
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
        horner(&COEFFICIENTS, x_squared)
    }
}

#[inline(always)]
fn horner<T: Real>(coefficients: &[f64], x: T) -> T {
    let mut sum = T::zero();
    for &c in coefficients.iter().rev() {
        sum = sum * x + T::splat(c);
    }
    sum
}

/// A [`Real`] that is one number, the kind that memory holds.
pub trait Scalar: Real<Mask = bool> + bytemuck::Pod + PartialOrd + Send + Sync + Default {
    /// Nearest value.
    fn from_f64(value: f64) -> Self {
        Self::splat(value)
    }
    /// Exact.
    fn to_f64(self) -> f64;
}

/// What one number does alike in every precision.
macro_rules! single_number {
    () => {
        type Mask = bool;
        #[inline(always)]
        fn sqrt(self) -> Self {
            self.sqrt()
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
    // The reference takes the library's functions; below 1e-4 the first terms of the series are exact to rounding.
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
            // The Taylor series, exact to rounding here; most bonds lean by less.
            const SERIES: [f64; 6] = [
                1.0,
                1.0 / 6.0,
                3.0 / 40.0,
                15.0 / 336.0,
                105.0 / 3456.0,
                945.0 / 42240.0,
            ];
            horner(&SERIES, x_squared)
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
            let x = t / 16.0;
            let root = f64::from(<f32 as Real>::inverse_root(x as f32));
            assert!((root - 1.0 / (1.0 - x).sqrt()).abs() < 2e-7, "root at {x}");
        }
    }
}
