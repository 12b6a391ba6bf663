//! What bonds with an energy have in common: the seam at which implicit steps take a law.

use super::bond::Stiffness;
use super::relative::{Gradient, Relative};
use super::tangent::{Curvature, Tangent, exact, gauss_newton};
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

/// Makes a type of the law that a file writes as `bond`, `energy`, `gradient`, `curvature` and
/// `gauss_newton`: a [`BondLaw`](super::bond::BondLaw) with the constants given, and an [`EnergyLaw`].
macro_rules! energy_law {
    ($law:ident $(, $constant:ident: $type:ty = $value:expr)*) => {
        /// The law as a type.
        #[derive(Clone, Copy, Debug)]
        pub struct $law;

        impl $crate::laws::bond::BondLaw for $law {
            $(const $constant: $type = $value;)*

            #[inline(always)]
            fn load<T: Real>(at: $crate::laws::bond::BondState<T>) -> BondLoad<T> {
                bond(
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
            fn energy<T: Real>(at: $crate::laws::bond::BondState<T>, _: &BondLoad<T>) -> T {
                let ends =
                    relative::relative(at.x, at.q_i, at.q_j, at.unapplied, at.rest_direction);
                energy(ends, at.rest_length, at.k)
            }
        }

        impl $crate::laws::energy::EnergyLaw for $law {
            #[inline(always)]
            fn energy<T: Real>(at: Relative<T>, rest_length: T, k: Stiffness<T>) -> T {
                energy(at, rest_length, k)
            }
            #[inline(always)]
            fn gradient<T: Real>(at: Relative<T>, rest_length: T, k: Stiffness<T>) -> Gradient<T> {
                gradient(at, rest_length, k)
            }
            #[inline(always)]
            fn curvature<T: Real>(
                at: Relative<T>,
                rest_length: T,
                k: Stiffness<T>,
            ) -> $crate::laws::tangent::Curvature<T> {
                curvature(at, rest_length, k)
            }
            #[inline(always)]
            fn gauss_newton<T: Real>(
                at: Relative<T>,
                rest_length: T,
                k: Stiffness<T>,
            ) -> $crate::laws::tangent::Curvature<T> {
                gauss_newton(at, rest_length, k)
            }
        }
    };
}
pub(super) use energy_law;
