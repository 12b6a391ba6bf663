//! Stress on a bond's section and when it breaks (Lu 2021, §3.2; Potyondy and Cundall 2004; Zhang 2024, §3.4).
//!
//! ```text
//! lu2021:   σ = |F_n|/S + |M_b| r0/I      τ = |F_s|/S + |M_t| r0/J      compression counts
//! tension:  σ =  F_n/S  + |M_b| r0/I      τ as above                    F_n signed: compression closes cracks
//! rod:      σ as of tension              τ = 4|F_s|/(3S) + |M_t| r0/J   the shear stress in the middle of a round rod's section
//! ```
//! A bond breaks when σ > σ_c or τ > τ_c. `rod` (Zhang 2024, eq. 24, 25) asks for the larger torque of both
//! ends. Its torques (eq. 29) come from the energy of bend and twist alone, which no common turn of both ends
//! changes: they are equal and opposite, M_b and M_t, here and in the other laws.

use super::bond::BondLoad;
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
    /// 1 where compression counts as tension does (`lu2021`), 0 where it relieves (`tension`, `rod`).
    pub compression_counts: T,
    /// Shear stress over shear force: 1/S, or 4/(3S) (`rod`), 1/m².
    pub inverse_shear_area: T,
}

/// σ and τ, Pa.
#[inline(always)]
pub fn stress<T: Real>(load: &BondLoad<T>, section: &Section<T>) -> (T, T) {
    let sigma = normal(load.axial, load.bend.norm(), section);
    let tau = tangential(load.shear.norm(), load.twist.norm(), section);
    (sigma, tau)
}

/// Whether σ or τ may exceed its strength: never false where one does, and without the roots that [`stress`]
/// takes. Most steps of most bonds ask for no more.
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
    shear * section.inverse_shear_area + twist * section.twist_modulus
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::bdem::Bdem;
    use crate::laws::bond::{BondLaw, BondState, Stiffness};
    use crate::laws::cosserat::Cosserat;
    use crate::laws::manifold::Manifold;
    use crate::math::{Quat, Vec3};

    /// How a bond of length 2 along x stands with its ends turned so (rad) and j displaced so.
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

    /// Of radius 1, as the criterion `rod` has it.
    fn rod() -> Section<f64> {
        let area = std::f64::consts::PI;
        Section {
            inverse_area: 1.0 / area,
            bend_modulus: 4.0 / area,
            twist_modulus: 2.0 / area,
            compression_counts: 0.0,
            inverse_shear_area: 4.0 / (3.0 * area),
        }
    }

    #[test]
    fn a_rod_in_shear_is_what_a_hand_finds() {
        let k = Stiffness {
            normal: 1e3,
            shear: 6.0,
            twist: 5.0,
            bend: 3.0,
        };
        let none = Vec3::zero();
        // j goes sideways by 2e-4: an angle of 1e-4, a force of 6e-4 N.
        let at = state([none; 2], Vec3::new(0.0, 2e-4, 0.0), k);
        let wanted = 4.0 / 3.0 * 6e-4 / std::f64::consts::PI;
        for load in [Bdem::load(at), Manifold::load(at), Cosserat::load(at)] {
            let (sigma, tau) = stress(&load, &rod());
            assert!((tau / wanted - 1.0).abs() < 1e-6, "{tau} {wanted}");
            // To first order it is not stretched.
            assert!(sigma.abs() < 0.02 * wanted);
        }
        // Twisted by 1e-3 about x and bent by 2e-3 about z: torques of 5e-3 and 6e-3 N m; pressed together by
        // 1e-6: 1e-3 N.
        let turn = Vec3::new(1e-3, 0.0, 2e-3) * 0.5;
        let at = state([-turn, turn], Vec3::new(-1e-6, 0.0, 0.0), k);
        let wanted = [(-1e-3 + 4.0 * 6e-3), 2.0 * 5e-3].map(|v| v / std::f64::consts::PI);
        for load in [Bdem::load(at), Manifold::load(at), Cosserat::load(at)] {
            let (sigma, tau) = stress(&load, &rod());
            assert!((sigma / wanted[0] - 1.0).abs() < 1e-3, "{sigma} {wanted:?}");
            assert!((tau / wanted[1] - 1.0).abs() < 1e-3, "{tau} {wanted:?}");
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
                inverse_shear_area: 1.0,
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
