//! Mean stress of an element and hydrostatic failure (rod-based BDEM, eq. 32): where ⅓ tr σ̄_i exceeds the
//! hydrostatic strength, every bond of i breaks.
//!
//! ```text
//! σ̄_i = 1/(4 V_i) Σ_j (x_ij⊗F + F⊗x_ij)        so        ⅓ tr σ̄_i = 1/(6 V_i) Σ_j x_ij·F
//! ```
//! over the bonds of i; x_ij from i to j, F the force of j on i, V_i the volume that i represents. Only the
//! component of F along the bond contributes to the trace: x_ij·F = l F_n, tension positive, the same for both ends.

use crate::math::Real;

/// x_ij·F of a bond, N m, from its length (m) and the signed axial force in it (N).
#[inline(always)]
pub fn virial<T: Real>(length: T, axial: T) -> T {
    length * axial
}

/// A component of σ̄ of an element, Pa, from that of Σ ½ (x_ij⊗F + F⊗x_ij) over its bonds (N m) and its volume (m³).
#[inline(always)]
pub fn stress<T: Real>(virial: T, volume: T) -> T {
    virial / (volume * T::splat(2.0))
}

/// ⅓ tr σ̄ of an element, Pa, from Σ x_ij·F over its bonds (N m) and its volume (m³).
pub fn mean_stress(virial: f64, volume: f64) -> f64 {
    virial / (6.0 * volume)
}
