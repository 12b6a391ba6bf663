//! Numbers that carry their gradient: forward-mode automatic differentiation, exact to rounding.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::analytic::Analytic;
use super::real::Real;

/// A value and its derivatives with respect to three variables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual {
    /// The value.
    pub value: f64,
    /// Its derivatives.
    pub slope: [f64; 3],
}

impl Dual {
    /// Variable `k` (0, 1 or 2) with this value.
    pub fn variable(value: f64, k: usize) -> Self {
        let mut slope = [0.0; 3];
        slope[k] = 1.0;
        Dual { value, slope }
    }

    /// Chain rule: the result of a function of `self` with this value and derivative.
    #[inline(always)]
    fn chain(self, value: f64, derivative: f64) -> Self {
        let slope = self.slope.map(|s| s * derivative);
        Dual { value, slope }
    }

    /// Number with this value, whose slope is the sum of the slopes of two numbers times these factors.
    #[inline(always)]
    fn combine(value: f64, (a, p): (Self, f64), (b, q): (Self, f64)) -> Self {
        let slope = [0, 1, 2].map(|k| a.slope[k] * p + b.slope[k] * q);
        Dual { value, slope }
    }
}

impl Add for Dual {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Dual::combine(self.value + o.value, (self, 1.0), (o, 1.0))
    }
}
impl Sub for Dual {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Dual::combine(self.value - o.value, (self, 1.0), (o, -1.0))
    }
}
impl Mul for Dual {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Dual::combine(self.value * o.value, (self, o.value), (o, self.value))
    }
}
impl Div for Dual {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        let (value, inverse) = (self.value / o.value, 1.0 / o.value);
        Dual::combine(value, (self, inverse), (o, -value * inverse))
    }
}
impl Neg for Dual {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.chain(-self.value, -1.0)
    }
}

impl Real for Dual {
    type Mask = bool;
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Dual {
            value,
            slope: [0.0; 3],
        }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.chain(root, 0.5 / root)
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        self * factor + addend
    }
    #[inline(always)]
    fn abs(self) -> Self {
        if self.value < 0.0 { -self } else { self }
    }
    #[inline(always)]
    fn lt(self, other: Self) -> bool {
        self.value < other.value
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
}

impl Analytic for Dual {
    #[inline(always)]
    fn value(self) -> f64 {
        self.value
    }
    #[inline(always)]
    fn ln(self) -> Self {
        self.chain(self.value.ln(), 1.0 / self.value)
    }
    #[inline(always)]
    fn ln_1p(self) -> Self {
        self.chain(self.value.ln_1p(), 1.0 / (1.0 + self.value))
    }
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        let squared = x.value * x.value + self.value * self.value;
        let value = self.value.atan2(x.value);
        Dual::combine(value, (self, x.value / squared), (x, -self.value / squared))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formula<T: Analytic>([x, y, z]: [T; 3]) -> T {
        let angle = (x * y - z).atan2(x + z.abs());
        let root = (x * x + y / z).abs().sqrt();
        (angle + root).ln_1p() - (root * y).ln() * -x
    }

    #[test]
    fn slopes_are_differences() {
        const STEP: f64 = 1e-6;
        let place = [0.7, 1.3, -0.4];
        let dual = formula([0, 1, 2].map(|k| Dual::variable(place[k], k)));
        assert_eq!(dual.value, formula(place));
        for k in 0..3 {
            let [up, down] = [STEP, -STEP].map(|step| {
                let mut moved = place;
                moved[k] += step;
                formula(moved)
            });
            let difference = (up - down) / (2.0 * STEP);
            assert!((dual.slope[k] - difference).abs() < 1e-8);
        }
    }
}
