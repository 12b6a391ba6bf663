//! What all bonds have in common: the seam at which explicit steps take a law.

use serde::Serialize;

use crate::math::{Quat, Real, Vec3};

/// Stiffnesses of one bond.
#[derive(Clone, Copy, Debug)]
pub struct Stiffness<T> {
    /// k_n, N/m.
    pub normal: T,
    /// k_s, N/rad.
    pub shear: T,
    /// k_t, N m/rad.
    pub twist: T,
    /// k_b, N m/rad.
    pub bend: T,
}

/// What a bond does to element i, and the parts that criteria ask for.
#[derive(Clone, Copy, Debug)]
pub struct BondLoad<T> {
    /// Force on i, N; on j the opposite.
    pub force: Vec3<T>,
    /// M_s, N m, on both.
    pub shear_moment: Vec3<T>,
    /// M_t + M_b, N m, on i; on j the opposite.
    pub moment: Vec3<T>,
    /// Signed axial force, tension positive, N.
    pub axial: T,
    /// F_s on j, N.
    pub shear: Vec3<T>,
    /// M_t on i, N m.
    pub twist: Vec3<T>,
    /// M_b on i, N m.
    pub bend: Vec3<T>,
}

/// Stiffnesses of a bond from E S (N), G S (N/rad), G J and E I (N m²) of its section and its rest length (m).
#[inline(always)]
pub fn stiffness<T: Real>(es: T, gs: T, gj: T, ei: T, rest_length: T) -> Stiffness<T> {
    let inverse = T::splat(1.0) / rest_length;
    Stiffness {
        normal: es * inverse,
        shear: gs,
        twist: gj * inverse,
        bend: ei * inverse,
    }
}

/// How both ends of a bond stand, and what it is like at rest: the arguments of a law.
#[derive(Clone, Copy, Debug)]
pub struct BondState<T> {
    /// p_i − p_j, m.
    pub x: Vec3<T>,
    /// Rotation of i.
    pub q_i: Quat<T>,
    /// Rotation of j.
    pub q_j: Quat<T>,
    /// Rotation of j less that of i which the quaternions do not hold yet.
    pub unapplied: Vec3<T>,
    /// d0, from i to j.
    pub rest_direction: Vec3<T>,
    /// l0, m.
    pub rest_length: T,
    /// Stiffnesses.
    pub k: Stiffness<T>,
}

/// Radius of a bond, from those of the elements that it joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Thickness {
    /// The mean of both (Lu 2021).
    #[serde(rename = "sections of the mean radius")]
    Mean,
    /// The smaller (Zhang 2024): by the mean a rod between balls of 0.4 and 1.6 would bend 39 times too stiffly.
    #[serde(rename = "sections of the smaller radius")]
    Smaller,
}

impl Thickness {
    /// Whether it is the mean.
    pub fn is_mean(&self) -> bool {
        *self == Thickness::Mean
    }

    /// Radius of the bond between elements of these radii, m.
    pub fn radius(self, a: f64, b: f64) -> f64 {
        match self {
            Thickness::Mean => (a + b) / 2.0,
            Thickness::Smaller => a.min(b),
        }
    }
}

/// A law of bonds.
pub trait BondLaw: Copy + Send + Sync + 'static {
    /// Radius of its bonds.
    const THICKNESS: Thickness = Thickness::Mean;
    /// Whether `simulate.shear_correction` reduces its shear stiffness.
    const SHEAR_CORRECTED: bool = false;

    /// What the bond does to i.
    fn load<T: Real>(at: BondState<T>) -> BondLoad<T>;
    /// Its elastic energy, J; `load` is what it does. For a law without an energy, what its work is to first order.
    #[inline(always)]
    fn energy<T: Real>(at: BondState<T>, load: &BondLoad<T>) -> T {
        linear_energy(load, at.rest_length, at.k)
    }
}

/// Elastic energy of a bond to first order, J: ½k_n(l−l0)² + ½k_s l0 θ² + ½k_t Θ_t² + ½k_b Θ_b².
#[inline(always)]
pub fn linear_energy<T: Real>(load: &BondLoad<T>, rest_length: T, k: Stiffness<T>) -> T {
    let stretch = load.axial * load.axial / k.normal;
    let shear = load.shear.dot(load.shear) / k.shear * rest_length;
    let twist = load.twist.dot(load.twist) / k.twist;
    let bend = load.bend.dot(load.bend) / k.bend;
    (stretch + shear + twist + bend) * T::splat(0.5)
}
