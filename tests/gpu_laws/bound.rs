//! A number that carries a bound on its single-precision error: the natural scale of every result of a law,
//! computed rather than chosen.
//!
//! Each operation adds the rounding that WGSL allows it (a sum or product half a unit in the last place, a
//! quotient 2½ units, a square root as the reciprocal of `inverseSqrt` 4½) and propagates the errors of its
//! operands. If the errors leave the outcome of a comparison open, the choice that depends on it is as
//! uncertain as its two values are apart.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};

use cullet::math::{Mask, Real};

/// Half a unit in the last place of f32, relative.
pub const ROUNDING: f64 = 1.0 / (1u64 << 24) as f64;

/// A value and a bound on its error.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    pub value: f64,
    pub error: f64,
}

/// Outcome of a comparison, and whether it holds for all values within the errors.
#[derive(Clone, Copy, Debug)]
pub struct BoundedComparison {
    holds: bool,
    sure: bool,
}

impl Bound {
    /// An input that is exact in f32.
    pub fn exact(value: f32) -> Self {
        Bound {
            value: f64::from(value),
            error: 0.0,
        }
    }

    /// Result of an operation with `roundings` roundings; subnormal values may be flushed to zero.
    fn rounded(value: f64, error: f64, roundings: f64) -> Self {
        let tiny = f64::from(f32::MIN_POSITIVE);
        let lost = if value != 0.0 && value.abs() < tiny {
            tiny
        } else {
            0.0
        };
        Bound {
            value,
            error: error + lost + roundings * ROUNDING * (value.abs() + error),
        }
    }
}

impl Add for Bound {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Bound::rounded(self.value + o.value, self.error + o.error, 1.0)
    }
}
impl Sub for Bound {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Bound::rounded(self.value - o.value, self.error + o.error, 1.0)
    }
}
impl Mul for Bound {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        let error = self.value.abs() * o.error + o.value.abs() * self.error + self.error * o.error;
        Bound::rounded(self.value * o.value, error, 1.0)
    }
}
impl Div for Bound {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let quotient = self.value / o.value;
        // If the divisor may be zero, the error is unbounded.
        let least = (o.value.abs() - o.error).max(0.0);
        let error = (self.error + quotient.abs() * o.error) / least;
        Bound::rounded(quotient, error, 5.0)
    }
}
impl Neg for Bound {
    type Output = Self;
    fn neg(self) -> Self {
        Bound {
            value: -self.value,
            ..self
        }
    }
}

impl BitAnd for BoundedComparison {
    type Output = Self;
    fn bitand(self, o: Self) -> Self {
        BoundedComparison {
            holds: self.holds & o.holds,
            sure: self.sure & o.sure,
        }
    }
}
impl BitOr for BoundedComparison {
    type Output = Self;
    fn bitor(self, o: Self) -> Self {
        BoundedComparison {
            holds: self.holds | o.holds,
            sure: self.sure & o.sure,
        }
    }
}
impl Mask for BoundedComparison {
    fn all(self) -> bool {
        self.sure && self.holds
    }
}

impl Real for Bound {
    type Mask = BoundedComparison;
    fn splat(value: f64) -> Self {
        Bound {
            value,
            error: (f64::from(value as f32) - value).abs(),
        }
    }
    fn sqrt(self) -> Self {
        let root = self.value.max(0.0).sqrt();
        let error = if self.error == 0.0 {
            0.0
        } else {
            (self.error / root).min(self.error.sqrt())
        };
        Bound::rounded(root, error, 9.0)
    }
    /// WGSL may round the product, too.
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        self * factor + addend
    }
    fn abs(self) -> Self {
        Bound {
            value: self.value.abs(),
            ..self
        }
    }
    fn lt(self, o: Self) -> BoundedComparison {
        let apart = (self.value - o.value).abs();
        let unclear = self.error + o.error;
        BoundedComparison {
            holds: self.value < o.value,
            sure: apart > unclear || unclear == 0.0,
        }
    }
    fn select(mask: BoundedComparison, yes: Self, no: Self) -> Self {
        let taken = if mask.holds { yes } else { no };
        if mask.sure {
            return taken;
        }
        Bound {
            value: taken.value,
            error: yes.error.max(no.error) + (yes.value - no.value).abs(),
        }
    }
}

#[test]
fn bounds_hold_what_single_precision_does() {
    // (1 + x) − 1 loses the digits of x, and the bound shows that.
    let law = |x: f32| ((1.0 + x) - 1.0) / x;
    let of = |x: f32| {
        let (one, x) = (Bound::splat(1.0), Bound::exact(x));
        (one + x - one) / x
    };
    for k in 1..1000 {
        let x = k as f32 * 1.7e-5;
        let bound = of(x);
        let error = (f64::from(law(x)) - bound.value).abs();
        assert!(error <= bound.error, "{x}: {error:.1e} {bound:?}");
        assert!(bound.error < 4.0 * ROUNDING / f64::from(x), "{bound:?}");
    }
    let open = Bound::select(
        (Bound::splat(0.1) + Bound::splat(0.2)).lt(Bound::splat(0.3)),
        Bound::splat(1.0),
        Bound::splat(-1.0),
    );
    assert!(open.error >= 2.0);
}
