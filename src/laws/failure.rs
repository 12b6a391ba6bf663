//! Stress on a bond's section and when it breaks (Lu 2021, §3.2; Potyondy and Cundall 2004; Zhang 2024, §3.4).
//!
//! ```text
//! lu2021:   σ = |F_n|/S + |M_b| r0/I      τ = |F_s|/S + |M_t| r0/J      compression counts
//! tension:  σ =  F_n/S  + |M_b| r0/I      τ as above                    F_n signed: compression closes cracks
//! rod:      σ as of tension              τ = 4|F_s|/(3S) + |M_t| r0/J   the shear stress in the middle of a round rod's section
//! ```
//! A bond breaks when σ > σ_c or τ > τ_c. `rod` (Zhang 2024, eq. 24, 25) uses the larger torque of both ends.
//! Its torques (eq. 29) come only from the energy of bend and twist, which a common rotation of both ends
//! does not change: they are equal and opposite, M_b and M_t, here and in the other laws.

use super::bond::BondLoad;
use crate::math::Real;

/// Section of a bond, as failure criteria need it.
#[derive(Clone, Copy, Debug)]
pub struct CriterionSection<T> {
    /// 1/S, 1/m².
    pub inverse_area: T,
    /// r0/I, 1/m³.
    pub bend_modulus: T,
    /// r0/J, 1/m³.
    pub twist_modulus: T,
    /// 1 if compression adds to the failure stress as tension does (`lu2021`), 0 if it reduces it (`tension`, `rod`).
    pub compression_counts: T,
    /// Shear stress over shear force: 1/S, or 4/(3S) (`rod`), 1/m².
    pub inverse_shear_area: T,
}

/// σ and τ, Pa.
#[inline(always)]
pub fn stress<T: Real>(load: &BondLoad<T>, section: &CriterionSection<T>) -> (T, T) {
    let sigma = normal(load.axial, load.bend.norm(), section);
    let tau = tangential(load.shear.norm(), load.twist.norm(), section);
    (sigma, tau)
}

/// Whether σ or τ may exceed its strength: never false where one does, and cheaper than [`stress`], as it
/// takes no roots. It decides most steps of most bonds.
#[inline(always)]
pub fn may_exceed<T: Real>(
    load: &BondLoad<T>,
    section: &CriterionSection<T>,
    sigma_c: T,
    tau_c: T,
) -> T::Mask {
    // The sum of a vector's absolute components bounds its length; the factor keeps the bound despite
    // rounding.
    let margin = T::splat(1.00001);
    let bend = load.bend.sum_of_sizes() * margin;
    let shear = load.shear.sum_of_sizes() * margin;
    let twist = load.twist.sum_of_sizes() * margin;
    let sigma = normal(load.axial, bend, section);
    let tau = tangential(shear, twist, section);
    sigma_c.lt(sigma) | tau_c.lt(tau)
}

/// σ from the signed normal force and |M_b|.
#[inline(always)]
pub fn normal<T: Real>(axial: T, bend: T, section: &CriterionSection<T>) -> T {
    let counts = T::splat(0.5).lt(section.compression_counts);
    let counted = T::select(counts, axial.abs(), axial);
    bend.mul_add(section.bend_modulus, counted * section.inverse_area)
}

/// τ from |F_s| and |M_t|.
#[inline(always)]
pub fn tangential<T: Real>(shear: T, twist: T, section: &CriterionSection<T>) -> T {
    shear.mul_add(section.inverse_shear_area, twist * section.twist_modulus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::bdem::Bdem;
    use crate::laws::bond::{BondLaw, BondState, Stiffness};
    use crate::laws::cosserat::Cosserat;
    use crate::laws::manifold::Manifold;
    use crate::math::{Quat, Vec3};

    /// State of a bond of length 2 along x whose ends are rotated by `turns` (rad) and whose end j is
    /// displaced by `moved`.
    fn state(turns: [Vec3<f64>; 2], moved: Vec3<f64>, k: Stiffness<f64>) -> BondState<f64> {
        let turned = |by: Vec3<f64>| {
            let half = 0.5 * by.norm();
            let scale = if half > 0.0 {
                half.sin() / (2.0 * half)
            } else {
                0.5
            };
            Quat {
                v: by * scale,
                w: half.cos(),
            }
        };
        BondState {
            x: Vec3::new(-2.0, 0.0, 0.0) - moved,
            q_i: turned(turns[0]),
            q_j: turned(turns[1]),
            unapplied: Vec3::zero(),
            rest_direction: Vec3::new(1.0, 0.0, 0.0),
            rest_length: 2.0,
            k,
        }
    }

    /// Section of radius 1 for the criterion `rod`.
    fn rod() -> CriterionSection<f64> {
        let area = std::f64::consts::PI;
        CriterionSection {
            inverse_area: 1.0 / area,
            bend_modulus: 4.0 / area,
            twist_modulus: 2.0 / area,
            compression_counts: 0.0,
            inverse_shear_area: 4.0 / (3.0 * area),
        }
    }

    #[test]
    fn rod_in_shear_matches_hand_calculation() {
        let k = Stiffness {
            normal: 1e3,
            shear: 6.0,
            twist: 5.0,
            bend: 3.0,
        };
        let none = Vec3::zero();
        // j is displaced sideways by 2e-4: an angle of 1e-4, a force of 6e-4 N.
        let at = state([none; 2], Vec3::new(0.0, 2e-4, 0.0), k);
        let expected = 4.0 / 3.0 * 6e-4 / std::f64::consts::PI;
        for load in [Bdem::load(at), Manifold::load(at), Cosserat::load(at)] {
            let (sigma, tau) = stress(&load, &rod());
            assert!((tau / expected - 1.0).abs() < 1e-6, "{tau} {expected}");
            // To first order it is not stretched.
            assert!(sigma.abs() < 0.02 * expected);
        }
        // Twisted by 1e-3 about x and bent by 2e-3 about z: torques of 5e-3 and 6e-3 N m; pressed together by
        // 1e-6: 1e-3 N.
        let turn = Vec3::new(1e-3, 0.0, 2e-3) * 0.5;
        let at = state([-turn, turn], Vec3::new(-1e-6, 0.0, 0.0), k);
        let expected = [(-1e-3 + 4.0 * 6e-3), 2.0 * 5e-3].map(|v| v / std::f64::consts::PI);
        for load in [Bdem::load(at), Manifold::load(at), Cosserat::load(at)] {
            let (sigma, tau) = stress(&load, &rod());
            assert!(
                (sigma / expected[0] - 1.0).abs() < 1e-3,
                "{sigma} {expected:?}"
            );
            assert!((tau / expected[1] - 1.0).abs() < 1e-3, "{tau} {expected:?}");
        }
    }

    #[test]
    fn torques_of_bend_and_twist_are_equal_and_opposite_at_both_ends() {
        let none = Vec3::zero();
        let axes = [0, 1, 2].map(|axis| {
            let unit = |k: usize| if k == axis { 1.0 } else { 0.0 };
            Vec3::new(unit(0), unit(1), unit(2))
        });
        let turns = [Vec3::new(0.3, -0.2, 0.1), Vec3::new(-0.4, 0.5, 0.2)];
        for (twist, bend) in [(5.0, 0.0), (0.0, 3.0)] {
            let k = Stiffness {
                normal: 0.0,
                shear: 0.0,
                twist,
                bend,
            };
            let energy = |by: [Vec3<f64>; 2]| {
                let mut at = state(turns, Vec3::new(0.1, 0.3, -0.2), k);
                for (q, by) in [&mut at.q_i, &mut at.q_j].into_iter().zip(by) {
                    let turn = state([by; 2], none, k).q_i;
                    *q = turn.product(*q).normalised();
                }
                [
                    Manifold::energy(at, &Manifold::load(at)),
                    Cosserat::energy(at, &Cosserat::load(at)),
                ]
            };
            let at = state(turns, Vec3::new(0.1, 0.3, -0.2), k);
            let loads = [Manifold::load(at), Cosserat::load(at)];
            for (law, load) in loads.into_iter().enumerate() {
                let torque = |end: usize| {
                    let step = 1e-5;
                    let along = axes.map(|axis| {
                        let mut by = [none; 2];
                        by[end] = axis * step;
                        let above = energy(by)[law];
                        by[end] = axis * -step;
                        (energy(by)[law] - above) / (2.0 * step)
                    });
                    Vec3::new(along[0], along[1], along[2])
                };
                let (on_i, on_j) = (torque(0), torque(1));
                let size = on_i.norm();
                assert!(size > 0.1, "there is a torque");
                assert!((on_i + on_j).norm() < 1e-6 * size);
                assert!((load.twist + load.bend - on_i).norm() < 1e-6 * size);
            }
        }
    }

    #[test]
    fn may_exceed_has_no_false_negatives_and_few_false_positives() {
        let mut seed = 1u64;
        let mut draw = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
            (seed >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        };
        let (mut broken, mut checked) = (0, 0);
        let rows = 200_000;
        for row in 0..rows {
            let mut vector = || Vec3::new(draw(), draw() * draw(), draw() * draw() * draw());
            let none = Vec3::zero();
            let load = BondLoad {
                force: none,
                moment: none,
                shear: vector(),
                twist: vector(),
                bend: vector(),
                axial: draw(),
            };
            let section = CriterionSection {
                inverse_area: 1.0,
                bend_modulus: 1.0,
                twist_modulus: 1.0,
                compression_counts: (row % 2) as f32,
                inverse_shear_area: 1.0,
            };
            let (sigma, tau) = stress(&load, &section);
            // Strengths equal to the stress, just below and far above it.
            let strength = [1.0, 1.0 - f32::EPSILON, 4.0][row % 3];
            let (sigma_c, tau_c) = (sigma * strength, tau * strength);
            let exceeds = sigma_c < sigma || tau_c < tau;
            let may = may_exceed(&load, &section, sigma_c, tau_c);
            assert!(may || !exceeds, "{load:?}");
            broken += u32::from(exceeds);
            checked += u32::from(may && row % 3 == 2);
        }
        assert!(broken > rows as u32 / 4, "{broken}");
        assert!(checked < rows as u32 / 20, "{checked}");
    }
}
