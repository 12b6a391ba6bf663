//! What all bonds have in common: the seam at which explicit steps take a law.

use super::bdem::{self, BondLoad, Stiffness};
use super::energy::{Cosserat, Manifold};
use super::relative::relative;
use super::{cosserat, manifold};
use crate::math::{Quat, Real, Vec3};

/// How both ends of a bond stand, and what it is like at rest: the arguments of [`bdem::bond`].
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

/// A law of bonds.
pub trait BondLaw: Copy + Send + Sync + 'static {
    /// What the bond does to i.
    fn load<T: Real>(at: BondState<T>) -> BondLoad<T>;
    /// Its elastic energy, J; `load` is what it does.
    fn energy<T: Real>(at: BondState<T>, load: &BondLoad<T>) -> T;
}

/// [`bdem`].
#[derive(Clone, Copy, Debug)]
pub struct Bdem;

impl BondLaw for Bdem {
    #[inline(always)]
    fn load<T: Real>(at: BondState<T>) -> BondLoad<T> {
        bdem::bond(
            at.x,
            at.q_i,
            at.q_j,
            at.unapplied,
            at.rest_direction,
            at.rest_length,
            at.k,
        )
    }
    /// To first order.
    #[inline(always)]
    fn energy<T: Real>(at: BondState<T>, load: &BondLoad<T>) -> T {
        bdem::linear_energy(load, at.rest_length, at.k)
    }
}

macro_rules! with_energy {
    ($law:ident, $module:ident) => {
        impl BondLaw for $law {
            #[inline(always)]
            fn load<T: Real>(at: BondState<T>) -> BondLoad<T> {
                $module::bond(
                    at.x,
                    at.q_i,
                    at.q_j,
                    at.unapplied,
                    at.rest_direction,
                    at.rest_length,
                    at.k,
                )
            }
            #[inline(always)]
            fn energy<T: Real>(at: BondState<T>, _: &BondLoad<T>) -> T {
                let ends = relative(at.x, at.q_i, at.q_j, at.unapplied, at.rest_direction);
                $module::energy(ends, at.rest_length, at.k)
            }
        }
    };
}
with_energy!(Manifold, manifold);
with_energy!(Cosserat, cosserat);
