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
    let sigma = normal(load.axial, load.bend.norm(), section);
    let tau = tangential(load.shear.norm(), load.twist.norm(), section);
    (sigma, tau)
}

/// Whether σ or τ may exceed its strength: never false where one does, and without the roots that [`stress`] takes. Most steps of most
/// bonds ask for no more.
#[inline(always)]
pub fn may_exceed<T: Real>(
    load: &BondLoad<T>,
    section: &Section<T>,
    sigma_c: T,
    tau_c: T,
) -> T::Mask {
    // The sum of a vector's components bounds its length; a little more, so that rounding cannot turn that round.
    let room = T::splat(1.00001);
    let bend = load.bend.sum_of_sizes() * room;
    let shear = load.shear.sum_of_sizes() * room;
    let twist = load.twist.sum_of_sizes() * room;
    let sigma = normal(load.axial, bend, section);
    let tau = tangential(shear, twist, section);
    sigma_c.lt(sigma) | tau_c.lt(tau)
}

/// σ from the signed normal force and |M_b|.
#[inline(always)]
pub fn normal<T: Real>(axial: T, bend: T, section: &Section<T>) -> T {
    let counts = T::splat(0.5).lt(section.compression_counts);
    let counted = T::select(counts, axial.abs(), axial);
    counted * section.inverse_area + bend * section.bend_modulus
}

/// τ from |F_s| and |M_t|.
#[inline(always)]
pub fn tangential<T: Real>(shear: T, twist: T, section: &Section<T>) -> T {
    shear * section.inverse_area + twist * section.twist_modulus
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vec3;

    #[test]
    fn what_may_exceed_misses_nothing_and_lets_most_go() {
        let mut seed = 1u64;
        let mut draw = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
            (seed >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        };
        let (mut broken, mut asked) = (0, 0);
        let rows = 200_000;
        for row in 0..rows {
            let mut vector = || Vec3::new(draw(), draw() * draw(), draw() * draw() * draw());
            let none = Vec3::zero();
            let load = BondLoad {
                force: none,
                shear_moment: none,
                moment: none,
                shear: vector(),
                twist: vector(),
                bend: vector(),
                axial: draw(),
            };
            let section = Section {
                inverse_area: 1.0,
                bend_modulus: 1.0,
                twist_modulus: 1.0,
                compression_counts: (row % 2) as f32,
            };
            let (sigma, tau) = stress(&load, &section);
            // Strengths at, just below and far above what there is.
            let strength = [1.0, 1.0 - f32::EPSILON, 4.0][row % 3];
            let (sigma_c, tau_c) = (sigma * strength, tau * strength);
            let exceeds = sigma_c < sigma || tau_c < tau;
            let may = may_exceed(&load, &section, sigma_c, tau_c);
            assert!(may || !exceeds, "{load:?}");
            broken += u32::from(exceeds);
            asked += u32::from(may && row % 3 == 2);
        }
        assert!(broken > rows as u32 / 4, "{broken}");
        assert!(asked < rows as u32 / 20, "{asked}");
    }
}
