//! How much stiffer and stronger a packing is along a grain than across it, and which bonds make it so.
//!
//! Moduli and strengths of bonds have the factor 1 + λ cos⁴, with a λ for each (Lu 2021, eq. 30). The packing then has
//! other ratios than its bonds: bonds at an angle to a load bear a part of it, and a lattice has its own directions.
//!
//! **Hexagonal packing.** [`Lattice`] has E by homogenisation; bars 8 to 16 elements across have 0.985, 0.945 and 0.935
//! times that along x, y and z. Their strength is that of bars without a grain ([`strength::lattice_along`]), scaled by
//! the ratio of the lattice's strengths (first broken bond) with and without the grain, and corrected for layers across
//! the grain.
//!
//! **Random packings.** The affine (Voigt) estimate, in which every element moves with the strain, gives E∥ = C33 −
//! 2 C13²/(C11 + C12) and E⊥ = 1/S11, by [`elasticity::transverse_stiffness`] of isotropic directions with the factor
//! as weight. Real elements also move relative to each other, which unloads stiff bonds, the more the fewer bonds z an
//! element has and the smaller μ = G_b/E_b is. Relative to a packing without a grain:
//!
//! ```text
//! E⊥ = 1 + (1.036 − 0.216 μ) (estimate − 1)
//! E∥/E⊥ = 1 + κ (estimated ratio − 1),    κ(z) = 1 − (0.0555 + 0.0126 ln(1 + λ))/(μ + 0.104) exp(−0.265 (z − 9))
//! f∥/f⊥ = (1 + κ(9) (estimated ratio − 1)) x^0.67,    x = (1 + λ of strengths)/(1 + λ of moduli)
//! f⊥ = E⊥ (1 + (0.025 + 0.01 (z − 9)) λ/(1 + λ)) x^0.1 for x < 1, x^0.2 for x > 1
//! ```
//!
//! The corrections are fitted to bars pulled along and across the grain, as by `tools/pull_bars.rs`. Young's moduli are
//! within 6 % and strengths within 7.5 % of the means of bars in the tests below; ratios of moduli within 3 %.

use glam::DVec3;

use super::elasticity::{self, TransverseStiffness};
use super::lattice::Lattice;
use super::strength;
use crate::math::bisection::argument_of;

/// Least λ: a lattice may be stronger along a direction than its solid shall be.
const LEAST: f64 = -0.9;
/// Largest λ of moduli of hexagonal and of random packings that is fitted.
const LARGEST_STIFFNESS: [f64; 2] = [10.0, 20.0];
/// Largest x = (1 + λ of strengths)/(1 + λ of moduli) that is fitted; the least is its inverse.
const LARGEST_EXCESS: f64 = 10.0;

/// Number of intervals in which the largest ratio is searched.
const SAMPLES: u32 = 20;

/// Young's modulus of bars of hexagonal packing along x, y and z, 8 to 16 elements across, over that of the lattice.
const BARS: [f64; 3] = [0.985, 0.945, 0.935];

/// A packing that gets a grain, for a solid with Poisson's ratio `poisson` in (−1, ¼] without it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Packing {
    /// Hexagonal packing.
    Lattice {
        /// Direction of the grain in the frame of the packing, a unit vector.
        grain: DVec3,
        /// Poisson's ratio.
        poisson: f64,
    },
    /// Random packing.
    Random {
        /// Mean number of bonds of an element far from any border.
        bonds: f64,
        /// Poisson's ratio.
        poisson: f64,
    },
}

/// A property along the grain and across it, over the mean of all directions without a grain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlongAcross {
    /// Along the grain.
    pub along: f64,
    /// Across it: for a lattice, the mean of two directions at right angles.
    pub across: f64,
}

impl AlongAcross {
    fn ratio(self) -> f64 {
        self.along / self.across
    }
}

/// Smallest and largest ratio that bonds can give, where the one asked for is beyond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach(pub [f64; 2]);

impl Packing {
    /// Young's modulus for this λ of moduli.
    pub fn young(&self, lambda: f64) -> AlongAcross {
        match *self {
            Packing::Lattice { grain, poisson } => {
                let ratio = elasticity::shear_ratio(poisson);
                let of = |lattice: &Lattice, along| lattice.young(along) * along_axes(BARS, along);
                let bare = Lattice::new(ratio, 0.0, DVec3::X);
                let mean = DVec3::AXES.map(|axis| of(&bare, axis)).iter().sum::<f64>() / 3.0;
                let lattice = Lattice::new(ratio, lambda, grain);
                along_and_across(grain, |direction| of(&lattice, direction) / mean)
            }
            Packing::Random { bonds, poisson } => {
                let ratio = elasticity::shear_ratio(poisson);
                let across = random_across(lambda, ratio);
                AlongAcross {
                    along: across * random_ratio(lambda, ratio, bonds),
                    across,
                }
            }
        }
    }

    /// Tensile strength for these λ of moduli and of strengths.
    pub fn strength(&self, stiffness: f64, lambda: f64) -> AlongAcross {
        match *self {
            Packing::Lattice { grain, poisson } => {
                let ratio = elasticity::shear_ratio(poisson);
                let bare = Lattice::new(ratio, 0.0, DVec3::X);
                let lattice = Lattice::new(ratio, stiffness, grain);
                let axes = strength::lattice_along(poisson);
                let found = along_and_across(grain, |direction| {
                    let gain = lattice.strength(direction, lambda) / bare.strength(direction, 0.0);
                    along_axes(axes, direction) * gain
                });
                AlongAcross {
                    across: found.across * (1.0 + stiffness).powf(-0.04 * grain.z.powi(2)),
                    ..found
                }
            }
            Packing::Random { bonds, poisson } => {
                let ratio = elasticity::shear_ratio(poisson);
                let excess: f64 = (1.0 + lambda) / (1.0 + stiffness);
                let power = if excess < 1.0 { 0.1 } else { 0.2 };
                let bonds = bonds.clamp(strength::FITTED_BONDS.0, strength::FITTED_BONDS.1);
                let more = (0.025 + 0.01 * (bonds - 9.0)) * stiffness / (1.0 + stiffness);
                let across = random_across(stiffness, ratio) * (1.0 + more) * excess.powf(power);
                AlongAcross {
                    along: across * random_ratio(stiffness, ratio, 9.0) * excess.powf(0.67),
                    across,
                }
            }
        }
    }

    /// λ of moduli with which Young's modulus along the grain is `ratio` times that across it.
    pub fn stiffness_of_bonds(&self, ratio: f64) -> Result<f64, Reach> {
        let range = match self {
            Packing::Lattice { .. } => [LEAST, LARGEST_STIFFNESS[0]],
            Packing::Random { .. } => [0.0, LARGEST_STIFFNESS[1]],
        };
        solve(ratio, range, |lambda| self.young(lambda).ratio())
    }

    /// λ of strengths with which tensile strength along the grain is `ratio` times that across it, for the λ
    /// `stiffness` of moduli.
    pub fn strength_of_bonds(&self, stiffness: f64, ratio: f64) -> Result<f64, Reach> {
        let [least, most] = [LARGEST_EXCESS.recip(), LARGEST_EXCESS];
        let range = [least, most].map(|excess| (excess * (1.0 + stiffness) - 1.0).max(LEAST));
        solve(ratio, range, |lambda| {
            self.strength(stiffness, lambda).ratio()
        })
    }
}

/// Argument within `range` at which a function is `value` that rises up to its largest value there.
fn solve(value: f64, [least, most]: [f64; 2], rising: impl Fn(f64) -> f64) -> Result<f64, Reach> {
    let samples = (0..=SAMPLES).map(|k| least + (most - least) * f64::from(k) / f64::from(SAMPLES));
    let top = samples.max_by(|a, b| rising(*a).total_cmp(&rising(*b)));
    let range = [least, top.unwrap_or(most)];
    let reach = range.map(&rising);
    // A ratio of 1 of a random packing may differ from 1 by rounding.
    if value < reach[0] * (1.0 - 1e-9) || value > reach[1] || value.is_nan() {
        return Err(Reach(reach));
    }
    let within = |more: f64| (range[0] + more).min(range[1]);
    Ok(within(argument_of(-value, |more| -rising(within(more)))))
}

/// A property of hexagonal packing in a direction, from those along x, y and z; rows lie along x and at 60° to it.
fn along_axes([x, y, z]: [f64; 3], direction: DVec3) -> f64 {
    let across = direction.z.powi(2);
    let angle = direction.y.atan2(direction.x);
    let layer = 0.5 * (x + y) + 0.5 * (x - y) * (6.0 * angle).cos();
    across * z + (1.0 - across) * layer
}

/// A property along the grain and, as a mean of two directions, across it; one of the two lies in the layers.
fn along_and_across(grain: DVec3, property: impl Fn(DVec3) -> f64) -> AlongAcross {
    let first = DVec3::Z.cross(grain).try_normalize().unwrap_or(DVec3::X);
    AlongAcross {
        along: property(grain),
        across: 0.5 * (property(first) + property(grain.cross(first))),
    }
}

/// Young's modulus of isotropically distributed bonds where every element moves with the strain; `ratio` = G_b/E_b.
fn averaged_young(lambda: f64, ratio: f64) -> AlongAcross {
    // Means of cos^2k over the sphere are 1/(2k + 1).
    let mean = |power: f64| (power + 1.0).recip();
    let weighted = |power: f64| mean(power) + lambda * mean(power + 4.0);
    let [one, second, fourth] = [0.0, 2.0, 4.0].map(weighted);
    let moments = [one - 2.0 * second + fourth, second - fourth, fourth];
    let TransverseStiffness { c11, c12, c13, c33 } =
        elasticity::transverse_stiffness(1.0, moments, ratio);
    let along = c33 - 2.0 * c13 * c13 / (c11 + c12);
    let across = (c11 - c12) * along * (c11 + c12) / (c11 * c33 - c13 * c13);
    let bare = elasticity::stiffening(1.0 / 3.0, ratio);
    AlongAcross {
        along: along / bare,
        across: across / bare,
    }
}

/// E⊥ of a random packing over that without a grain.
fn random_across(lambda: f64, ratio: f64) -> f64 {
    1.0 + (1.036 - 0.216 * ratio) * (averaged_young(lambda, ratio).across - 1.0)
}

/// E∥/E⊥ of a random packing with `bonds` bonds per element.
fn random_ratio(lambda: f64, ratio: f64, bonds: f64) -> f64 {
    let bonds = bonds.clamp(strength::FITTED_BONDS.0, strength::FITTED_BONDS.1);
    let fewer = (-0.265 * (bonds - 9.0)).exp();
    let lost = (0.0555 + 0.0126 * (1.0 + lambda).ln()) / (ratio + 0.104) * fewer;
    1.0 + (1.0 - lost) * (averaged_young(lambda, ratio).ratio() - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lattice(grain: DVec3, poisson: f64) -> Packing {
        Packing::Lattice { grain, poisson }
    }

    fn random(bonds: f64, poisson: f64) -> Packing {
        Packing::Random { bonds, poisson }
    }

    #[test]
    fn averages_have_the_moduli_of_isotropic_directions() {
        // Without a grain, those of the isotropic average.
        for ratio in [0.0, 0.3, 1.0] {
            let bare = averaged_young(0.0, ratio);
            assert!((bare.along - 1.0).abs() < 1e-12 && (bare.across - 1.0).abs() < 1e-12);
        }
        // With λ = 1 of shear, directions do not couple: E is the mean of f cos² along each axis, which is
        // 1/3 + λ/7 along the grain and 1/3 + λ (1/5 - 1/7)/2 across it.
        for lambda in [0.5, 3.0, 8.0] {
            let found = averaged_young(lambda, 1.0);
            assert!((found.along - 3.0 * (1.0 / 3.0 + lambda / 7.0)).abs() < 1e-12);
            assert!((found.across - 3.0 * (1.0 / 3.0 + lambda / 35.0)).abs() < 1e-12);
        }
    }

    #[test]
    fn ratios_up_to_the_largest_are_reached_where_the_fit_falls_again() {
        // Without shear of bonds, and with fewer of them than were fitted.
        for packing in [random(9.0, 0.25), random(8.0, 0.2), random(8.0, 0.25)] {
            let Err(Reach([least, most])) = packing.stiffness_of_bonds(100.0) else {
                panic!("{packing:?} reaches everything");
            };
            assert!(
                most > 1.3 && (least - 1.0).abs() < 1e-9,
                "{packing:?}: {least} to {most}"
            );
            for part in [0.2, 0.6, 0.99] {
                let ratio = 1.0 + part * (most - 1.0);
                let lambda = packing.stiffness_of_bonds(ratio).unwrap();
                assert!(
                    (packing.young(lambda).ratio() - ratio).abs() < 1e-6,
                    "{packing:?}"
                );
            }
        }
    }

    #[test]
    fn solved_lambdas_give_the_ratios_asked_for() {
        let grains = [DVec3::X, DVec3::Y, DVec3::Z, DVec3::new(0.6, 0.0, 0.8)];
        let lattices = grains.map(|grain| lattice(grain, 0.2));
        for packing in lattices
            .into_iter()
            .chain([random(9.0, 0.2), random(14.6, 0.0)])
        {
            for ratio in [1.0, 1.5, 2.4] {
                let stiffness = packing.stiffness_of_bonds(ratio).unwrap();
                let found = packing.young(stiffness);
                assert!((found.along / found.across / ratio - 1.0).abs() < 1e-9);
                for ratio in [1.5, 2.5] {
                    let strength = packing.strength_of_bonds(stiffness, ratio).unwrap();
                    let found = packing.strength(stiffness, strength);
                    assert!((found.along / found.across / ratio - 1.0).abs() < 1e-9);
                }
            }
        }
        // A random packing without a grain stays as it is.
        assert!(random(9.0, 0.2).stiffness_of_bonds(1.0).unwrap() < 1e-9);
    }

    #[test]
    fn ratios_beyond_reach_are_refused_with_the_largest_that_is_not() {
        for packing in [
            lattice(DVec3::X, 0.2),
            lattice(DVec3::Z, 0.1),
            random(9.0, 0.2),
        ] {
            let Reach([least, most]) = packing.stiffness_of_bonds(20.0).unwrap_err();
            assert!(
                least <= 1.0 + 1e-9 && most > 2.5 && most < 8.0,
                "{least} {most}"
            );
            assert!(packing.stiffness_of_bonds(most).is_ok());
            assert!(packing.strength_of_bonds(1.0, 100.0).is_err());
            assert!(packing.stiffness_of_bonds(f64::NAN).is_err());
        }
    }

    /// Along and across the grain: Young's modulus and strength.
    type Bars = ([f64; 2], [f64; 2]);

    fn check(packing: Packing, [stiffness, strength]: [f64; 2], (young, strengths): Bars) {
        let found = packing.young(stiffness);
        let broken = packing.strength(stiffness, strength);
        let pairs = [
            (found.along, young[0], 0.06),
            (found.across, young[1], 0.06),
            (broken.along, strengths[0], 0.075),
            (broken.across, strengths[1], 0.075),
        ];
        for (found, bars, tolerance) in pairs {
            let off = found / bars - 1.0;
            assert!(
                off.abs() < tolerance,
                "{packing:?} {stiffness} {strength}: {found} {bars}"
            );
        }
        // Bars that break late lose bonds where their modulus is measured.
        if strength <= stiffness {
            let off = found.ratio() / (young[0] / young[1]) - 1.0;
            assert!(off.abs() < 0.03, "{packing:?} {stiffness}: {off}");
        }
    }

    #[test]
    fn moduli_and_strengths_are_those_of_pulled_bars() {
        // Bars 8 elements across along x, y and z, with the grain along each of them.
        for (bonds, poisson, lambdas, bars) in [
            (9.0, 0.2, [1.0, 1.0], ([1.453, 1.081], [1.513, 1.107])),
            (9.0, 0.2, [3.0, 3.0], ([2.246, 1.206], [2.321, 1.231])),
            (9.0, 0.2, [3.0, 9.0], ([2.250, 1.188], [5.057, 1.430])),
            (9.0, 0.2, [8.0, 8.0], ([4.007, 1.472], [4.151, 1.525])),
            (9.0, 0.2, [8.0, 24.0], ([4.020, 1.377], [10.077, 1.925])),
            (9.0, 0.0, [8.0, 8.0], ([3.908, 1.562], [3.884, 1.632])),
            (14.86, 0.2, [3.0, 3.0], ([2.585, 1.219], [2.302, 1.255])),
            (14.86, 0.2, [8.0, 8.0], ([4.965, 1.485], [4.389, 1.603])),
        ] {
            check(random(bonds, poisson), lambdas, bars);
        }
        for (grain, lambda, bars) in [
            (DVec3::X, 3.0, ([3.536, 1.187], [2.684, 1.241])),
            (DVec3::Y, 3.0, ([2.261, 1.167], [2.654, 1.097])),
            (DVec3::Z, 3.0, ([2.255, 1.106], [2.773, 0.960])),
            (DVec3::X, 8.0, ([7.754, 1.456], [5.868, 1.467])),
            (DVec3::Y, 8.0, ([4.156, 1.385], [5.175, 1.254])),
            (DVec3::Z, 8.0, ([4.039, 1.306], [5.544, 1.095])),
        ] {
            check(lattice(grain, 0.2), [lambda; 2], bars);
        }
    }
}
