//! Three-vectors of any [`Real`].

use std::ops::{Add, Mul, Neg, Sub};

use super::real::{Real, Scalar};

/// A vector of three components.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vec3<T> {
    /// First component.
    pub x: T,
    /// Second component.
    pub y: T,
    /// Third component.
    pub z: T,
}

impl<T: Real> Vec3<T> {
    /// From components.
    #[inline(always)]
    pub fn new(x: T, y: T, z: T) -> Self {
        Vec3 { x, y, z }
    }
    /// Zero.
    #[inline(always)]
    pub fn zero() -> Self {
        Self::new(T::zero(), T::zero(), T::zero())
    }
    /// Scalar product.
    #[inline(always)]
    pub fn dot(self, other: Self) -> T {
        self.x * other.x + self.y * other.y + self.z * other.z
    }
    /// Vector product. Each component is `a·b − c·d`, so that exchanging the operands flips every sign
    /// exactly if products are rounded (a device may fuse one of them). Rounded as written ([`Real::kept`]),
    /// since its two terms nearly cancel if the factors are nearly parallel: regrouped with other terms they
    /// would leave their rounding errors behind.
    #[inline(always)]
    pub fn cross(self, other: Self) -> Self {
        let product = Self::new(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        );
        product.each_kept()
    }
    /// Sum of the absolute components: at least the length of the vector, and at most √3 times it.
    #[inline(always)]
    pub fn sum_of_sizes(self) -> T {
        self.x.abs() + self.y.abs() + self.z.abs()
    }
    /// `self · factor + addend` with fused multiply-adds.
    #[inline(always)]
    pub fn scaled_add(self, factor: T, addend: Self) -> Self {
        Self::new(
            self.x.mul_add(factor, addend.x),
            self.y.mul_add(factor, addend.y),
            self.z.mul_add(factor, addend.z),
        )
    }
    /// Scalar product with fused multiply-adds.
    #[inline(always)]
    pub fn fused_dot(self, other: Self) -> T {
        let z = self.z * other.z;
        self.x.mul_add(other.x, self.y.mul_add(other.y, z))
    }
    /// Vector product with fused multiply-adds, rounded as written like [`cross`](Self::cross). The opposite of one
    /// factor gives the opposite product, bit for bit; exchanging the factors does not.
    #[inline(always)]
    pub fn fused_cross(self, other: Self) -> Self {
        let product = Self::new(
            self.y.mul_add(other.z, -(self.z * other.y)),
            self.z.mul_add(other.x, -(self.x * other.z)),
            self.x.mul_add(other.y, -(self.y * other.x)),
        );
        product.each_kept()
    }
    /// `self × other + addend` with fused multiply-adds, rounded as written.
    #[inline(always)]
    pub fn cross_add(self, other: Self, addend: Self) -> Self {
        let sum = Self::new(
            self.y
                .mul_add(other.z, (-self.z).mul_add(other.y, addend.x)),
            self.z
                .mul_add(other.x, (-self.x).mul_add(other.z, addend.y)),
            self.x
                .mul_add(other.y, (-self.y).mul_add(other.x, addend.z)),
        );
        sum.each_kept()
    }
    /// Length.
    #[inline(always)]
    pub fn norm(self) -> T {
        self.dot(self).sqrt()
    }
    /// Each component rounded as written: see [`Real::kept`].
    #[inline(always)]
    pub fn each_kept(self) -> Self {
        Self::new(self.x.kept(), self.y.kept(), self.z.kept())
    }
    /// `yes` where the mask is true, else `no`.
    #[inline(always)]
    pub fn select(mask: T::Mask, yes: Self, no: Self) -> Self {
        Self::new(
            T::select(mask, yes.x, no.x),
            T::select(mask, yes.y, no.y),
            T::select(mask, yes.z, no.z),
        )
    }
}

impl<S: Scalar> Vec3<S> {
    /// From double precision, rounded.
    #[inline(always)]
    pub fn from_f64(v: [f64; 3]) -> Self {
        Self::new(S::from_f64(v[0]), S::from_f64(v[1]), S::from_f64(v[2]))
    }
    /// To double precision.
    #[inline(always)]
    pub fn to_f64(self) -> [f64; 3] {
        [self.x.to_f64(), self.y.to_f64(), self.z.to_f64()]
    }
}

impl<T: Real> Add for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self::new(self.x + o.x, self.y + o.y, self.z + o.z)
    }
}
impl<T: Real> Sub for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self::new(self.x - o.x, self.y - o.y, self.z - o.z)
    }
}
impl<T: Real> Neg for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::new(-self.x, -self.y, -self.z)
    }
}
impl<T: Real> Mul<T> for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: T) -> Self {
        Self::new(self.x * s, self.y * s, self.z * s)
    }
}
