//! Stress on a bond's section and when it breaks (Lu 2021, §3.2; Potyondy and Cundall 2004).
//!
//! ```text
//! lu2021:   σ = |F_n|/S + |M_b| r0/I      τ = |F_s|/S + |M_t| r0/J      compression counts
//! tension:  σ =  F_n/S  + |M_b| r0/I      τ as above                    F_n signed: compression closes cracks
//! ```
//! A bond breaks when σ > σ_c or τ > τ_c.

use super::bdem::BondLoad;
use crate::math::Real;

/// Section of a bond as the criteria need it.
#[derive(Clone, Copy, Debug)]
pub struct Section<T> {
    /// 1/S, 1/m².
    pub inverse_area: T,
    /// r0/I, 1/m³.
    pub bend_modulus: T,
    /// r0/J, 1/m³.
    pub twist_modulus: T,
    /// 1 where compression counts as tension does (`lu2021`), 0 where it relieves (`tension`).
    pub compression_counts: T,
}

/// σ and τ, Pa.
#[inline(always)]
pub fn stress<T: Real>(load: &BondLoad<T>, section: &Section<T>) -> (T, T) {
    let counts = T::splat(0.5).lt(section.compression_counts);
    let axial = T::select(counts, load.axial.abs(), load.axial);
    let sigma = axial * section.inverse_area + load.bend * section.bend_modulus;
    let tau = load.shear * section.inverse_area + load.twist * section.twist_modulus;
    (sigma, tau)
}
