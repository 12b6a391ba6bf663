//! Numbers with the functions that integrals over edges and triangles need.

use super::real::Real;

/// A number with logarithm and arc tangent; code may branch on its value.
pub trait Analytic: Real<Mask = bool> {
    /// The plain value, for branching.
    fn value(self) -> f64;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// ln(1 + `self`), accurate to rounding if `self` is small.
    fn ln_1p(self) -> Self;
    /// Angle of the point (`x`, `self`), rad.
    fn atan2(self, x: Self) -> Self;
}

impl Analytic for f64 {
    #[inline(always)]
    fn value(self) -> f64 {
        self
    }
    #[inline(always)]
    fn ln(self) -> Self {
        self.ln()
    }
    #[inline(always)]
    fn ln_1p(self) -> Self {
        self.ln_1p()
    }
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        self.atan2(x)
    }
}
