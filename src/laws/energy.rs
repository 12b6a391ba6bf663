//! What bonds with an energy have in common: the seam at which implicit steps take a law.

use super::bdem::Stiffness;
use super::relative::{Gradient, Relative};
use super::tangent::{Curvature, Tangent, exact, gauss_newton};
use super::{cosserat, manifold};
use crate::math::Real;

/// A bond with an energy.
pub trait EnergyLaw: Copy + Send + Sync + 'static {
    /// V, J.
    fn energy<T: Real>(at: Relative<T>, rest_length: T, k: Stiffness<T>) -> T;
    /// First derivatives.
    fn gradient<T: Real>(at: Relative<T>, rest_length: T, k: Stiffness<T>) -> Gradient<T>;
    /// Second derivatives by u and κ.
    fn curvature<T: Real>(at: Relative<T>, rest_length: T, k: Stiffness<T>) -> Curvature<T>;
    /// Their part that has no negative eigenvalue.
    fn gauss_newton<T: Real>(at: Relative<T>, rest_length: T, k: Stiffness<T>) -> Curvature<T>;

    /// Second derivatives in the unknowns of both ends.
    #[inline(always)]
    fn tangent<T: Real>(at: Relative<T>, rest_length: T, k: Stiffness<T>) -> Tangent<T> {
        let first = Self::gradient(at, rest_length, k);
        exact(at, first, Self::curvature(at, rest_length, k))
    }
    /// The same without what may be negative.
    #[inline(always)]
    fn gauss_newton_tangent<T: Real>(
        at: Relative<T>,
        rest_length: T,
        k: Stiffness<T>,
    ) -> Tangent<T> {
        gauss_newton(at, Self::gauss_newton(at, rest_length, k))
    }
}

/// [`manifold`].
#[derive(Clone, Copy, Debug)]
pub struct Manifold;
/// [`cosserat`].
#[derive(Clone, Copy, Debug)]
pub struct Cosserat;

macro_rules! energy_law {
    ($law:ident, $module:ident) => {
        impl EnergyLaw for $law {
            #[inline(always)]
            fn energy<T: Real>(at: Relative<T>, rest_length: T, k: Stiffness<T>) -> T {
                $module::energy(at, rest_length, k)
            }
            #[inline(always)]
            fn gradient<T: Real>(at: Relative<T>, rest_length: T, k: Stiffness<T>) -> Gradient<T> {
                $module::gradient(at, rest_length, k)
            }
            #[inline(always)]
            fn curvature<T: Real>(
                at: Relative<T>,
                rest_length: T,
                k: Stiffness<T>,
            ) -> Curvature<T> {
                $module::curvature(at, rest_length, k)
            }
            #[inline(always)]
            fn gauss_newton<T: Real>(
                at: Relative<T>,
                rest_length: T,
                k: Stiffness<T>,
            ) -> Curvature<T> {
                $module::gauss_newton(at, rest_length, k)
            }
        }
    };
}
energy_law!(Manifold, manifold);
energy_law!(Cosserat, cosserat);
