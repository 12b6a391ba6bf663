//! Types common to all bonds, and the trait by which explicit steps use a bond law.

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

/// Load of a bond on element i, and its parts that failure criteria need.
#[derive(Clone, Copy, Debug)]
pub struct BondLoad<T> {
    /// Force on i, N; on j the opposite.
    pub force: Vec3<T>,
    /// M_t + M_b, N m, on i; on j the opposite. Both also get [`arm_torque`].
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

/// Torque on both ends, N m, of a bond's force on i (N), which acts at the bond's middle: ½ F × x, x = p_i −
/// p_j. With it the law keeps angular momentum. Its part from F_s is M_s.
#[inline(always)]
pub fn arm_torque<T: Real>(x: Vec3<T>, force: Vec3<T>) -> Vec3<T> {
    (x * T::splat(-0.5)).fused_cross(force)
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

/// Configuration of both ends of a bond, its rest state and its stiffnesses: the arguments of a law.
#[derive(Clone, Copy, Debug)]
pub struct BondState<T> {
    /// p_i − p_j, m.
    pub x: Vec3<T>,
    /// Rotation of i.
    pub q_i: Quat<T>,
    /// Rotation of j.
    pub q_j: Quat<T>,
    /// Rotation of j minus that of i not yet included in the quaternions.
    pub unapplied: Vec3<T>,
    /// d0, from i to j.
    pub rest_direction: Vec3<T>,
    /// l0, m.
    pub rest_length: T,
    /// Stiffnesses.
    pub k: Stiffness<T>,
}

/// Rule for the radius of a bond, from the radii of the elements that it joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum BondRadiusRule {
    /// Mean of both radii (Lu 2021).
    #[serde(rename = "sections of the mean radius")]
    Mean,
    /// The smaller radius (Zhang 2024). With the mean, a rod between balls of radii 0.4 and 1.6 would be 39
    /// times too stiff in bending.
    #[serde(rename = "sections of the smaller radius")]
    Smaller,
}

impl BondRadiusRule {
    /// Whether the rule is the mean.
    pub fn is_mean(&self) -> bool {
        *self == BondRadiusRule::Mean
    }

    /// Radius of the bond between elements of these radii, m.
    pub fn radius(self, a: f64, b: f64) -> f64 {
        match self {
            BondRadiusRule::Mean => (a + b) / 2.0,
            BondRadiusRule::Smaller => a.min(b),
        }
    }
}

/// A bond law.
pub trait BondLaw: Copy + Send + Sync + 'static {
    /// Rule for the radius of its bonds.
    const RADIUS_RULE: BondRadiusRule = BondRadiusRule::Mean;
    /// Whether `simulate.shear_correction` reduces its shear stiffness.
    const SHEAR_CORRECTED: bool = false;

    /// Load of the bond on i.
    fn load<T: Real>(at: BondState<T>) -> BondLoad<T>;
    /// Elastic energy, J; `load` is the load of the bond. For a law without an energy, its work to first
    /// order.
    #[inline(always)]
    fn energy<T: Real>(at: BondState<T>, load: &BondLoad<T>) -> T {
        linear_energy(load, at.rest_length, at.k)
    }
}

/// Elastic energy of a bond to first order, J: ½k_n(l−l0)² + ½k_s l0 θ² + ½k_t Θ_t² + ½k_b Θ_b².
#[inline(always)]
pub fn linear_energy<T: Real>(load: &BondLoad<T>, rest_length: T, k: Stiffness<T>) -> T {
    // Bonds of a solid with Poisson's ratio ¼ have no stiffness in shear and twist, and no such load.
    let least = T::splat(1e-30);
    let stretch = load.axial * load.axial / k.normal;
    let shear = load.shear.dot(load.shear) / k.shear.max(least) * rest_length;
    let twist = load.twist.dot(load.twist) / k.twist.max(least);
    let bend = load.bend.dot(load.bend) / k.bend;
    (stretch + shear + twist + bend) * T::splat(0.5)
}
