//! Numbers with the functions that integrals over edges and triangles take.

use super::real::Real;

/// A number with logarithm and arc tangent, of which some choice can be made by its value.
pub trait Analytic: Real<Mask = bool> {
    /// The value, by which cases are told apart.
    fn value(self) -> f64;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// ln(1 + `self`), exact to rounding where `self` is small.
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
