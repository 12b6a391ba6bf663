//! Mean stress of an element and what it breaks (rod-based BDEM, eq. 32): where ⅓ tr σ̄_i passes the
//! hydrostatic strength, every bond of i breaks.
//!
//! ```text
//! σ̄_i = 1/(4 V_i) Σ_j (x_ij⊗F + F⊗x_ij)        so        ⅓ tr σ̄_i = 1/(6 V_i) Σ_j x_ij·F
//! ```
//! over the bonds of i; x_ij from i to j, F what j does to i, V_i the volume that i stands for. Of F only the
//! part along the bond counts: x_ij·F = l F_n, tension positive, the same for both ends.

use crate::math::Real;

/// x_ij·F of a bond, N m, from its length (m) and the signed axial force in it (N).
#[inline(always)]
pub fn virial<T: Real>(length: T, axial: T) -> T {
    length * axial
}

/// ⅓ tr σ̄ of an element, Pa, from Σ x_ij·F over its bonds (N m) and its volume (m³).
pub fn mean_stress(virial: f64, volume: f64) -> f64 {
    virial / (6.0 * volume)
}
