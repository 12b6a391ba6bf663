//! Tensile strength of a packing over that of its bonds, which break by their own stress or by that of the solid around
//! them (Rankine's criterion).
//!
//! It does not follow from a formula alone: where a packing breaks first depends on how its elements move in it. The
//! functions here are fitted to bars, 8 to 16 elements across, pulled until they broke by `tools/pull_bars.rs`
//! (`--fits` pulls most of them).
//! They are within 3.5 % of the means over three bars in the tests below, the loss by scatter from bond to bond within
//! 6.5 %, and strengths that scatter by place within 3 % in random packings and 8 % in hexagonal ones.

use super::elasticity::{shear_ratio, stiffening};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Σ S l0/(3V) of hexagonal packing.
const LATTICE_FABRIC: f64 = PI * FRAC_1_SQRT_2;
/// Range of bonds per element that is fitted; values beyond are clamped to it.
pub(super) const FITTED_BONDS: (f64, f64) = (9.0, 15.0);
/// Largest spread of radii that is fitted; larger ones are clamped to it.
const FITTED_SPREAD: f64 = 0.5;

/// Least Weibull modulus that counts: fits begin at 4.
const LEAST_MODULUS: f64 = 2.0;

/// Volume over L³ of one independent draw in a continuous field of strengths with correlation exp(−d²/L²): the mean of
/// the least strength of boxes of 16 to 54 L³ is that of as many independent draws, for moduli of 4 to 16 (Adler 1981
/// has the minima of such fields by the Euler characteristic of their excursion sets).
const INDEPENDENT_VOLUME: f64 = 0.195;

/// Least part that counts: an element with one bond needs no stronger one than an element with three.
const LEAST_PART: f64 = 0.3;

/// Strength of hexagonal packing over that of its bonds, mean over pulls along x, y and z, for a solid with Poisson's
/// ratio `poisson` in (−1, ¼]. `modulus`: Weibull modulus by which bonds scatter one by one.
///
/// A row of bonds along the pull (x) breaks at Σ k_n l0²/(3V) (1 − 2ν) of their strength if all elements move with the
/// strain; y and z are stronger ([`lattice_along`]). Where strengths scatter, rows break one bond after the other.
pub fn lattice(poisson: f64, modulus: Option<f64>) -> f64 {
    let ratio = shear_ratio(poisson);
    let others = 1.121 + 0.87 * poisson.max(0.0) - without_shear(0.07, ratio);
    let scatter = modulus.map_or(1.0, |modulus| 1.0 - modulus.max(LEAST_MODULUS).powf(-0.5));
    stiffening(LATTICE_FABRIC, ratio) * others * scatter
}

/// Strength of hexagonal packing over that of its bonds, which break by the stress of the solid: nearly the same along
/// x, y and z and for any Poisson's ratio. Less than 1, as clamps and borders disturb the stress of a bar.
pub fn lattice_by_stress(modulus: Option<f64>) -> f64 {
    let scatter = modulus.map_or(0.0, |modulus| 0.58 * modulus.max(LEAST_MODULUS).powf(-0.5));
    0.945 * (1.0 - scatter)
}

/// Strength of hexagonal packing along x, y and z over its mean, whether bonds scatter or not.
pub fn lattice_along(poisson: f64) -> [f64; 3] {
    let poisson = poisson.max(0.0);
    [
        0.85 - 0.42 * poisson,
        0.92 + 0.53 * poisson,
        1.23 - 0.11 * poisson,
    ]
}

/// Strength of a random packing over that of its bonds, if these have its Young's modulus and are as thick as that
/// needs; `bonds`: mean number of bonds of an element far from any border; radii scatter by ± `spread` of their mean.
pub fn random(bonds: f64, poisson: f64, spread: f64) -> f64 {
    let more = bonds.clamp(FITTED_BONDS.0, FITTED_BONDS.1) - 9.0;
    let fewer = (0.228 - 0.55 * poisson.max(0.0)) * (-0.52 * more).exp();
    let equal = 1.027 - fewer - without_shear(0.042, shear_ratio(poisson));
    equal * (1.0 + 1.18 * spread.min(FITTED_SPREAD).powi(2))
}

/// As [`random`], for bonds that break by the stress of the solid. Stresses of elements differ from their mean, the
/// less the more bonds they have. `modulus`: Weibull modulus by which bonds scatter one by one.
pub fn random_by_stress(bonds: f64, poisson: f64, spread: f64, modulus: Option<f64>) -> f64 {
    let more = bonds.clamp(FITTED_BONDS.0, FITTED_BONDS.1) - 9.0;
    let equal = 0.726 + 0.02 * more - 2.2 * poisson.max(0.0).powi(2);
    let scatter = modulus.map_or(0.0, |modulus| 0.4 * modulus.max(LEAST_MODULUS).powf(-0.8));
    equal * (1.0 - 0.21 * spread.min(FITTED_SPREAD)) * (1.0 - scatter)
}

/// Volume V₁ of one independent draw of strength in hexagonal packing, where strengths scatter by place with
/// correlation exp(−d²/L²): a body of volume V is as strong as the weakest of V/V₁ draws. `length`: L in mean diameters
/// of the elements; V₁ is in cubes of them. `by_stress`: whether bonds break by the stress of the solid.
///
/// V₁ = (0.195^{1/3} L + w)³: a weak place must be wider by about an element for a crack to grow from it. Fitted for L
/// from 2 to 8 and moduli from 4 to 16.
pub fn independent_volume_in_lattice(length: f64, by_stress: bool) -> f64 {
    let wider = if by_stress { 1.45 } else { 1.1 };
    (INDEPENDENT_VOLUME.cbrt() * length + wider).powi(3)
}

/// As [`independent_volume_in_lattice`], for bodies of random packing of about the volume of a cube of this `edge` a,
/// in mean diameters: V₁ = 0.195 L³ + c m a.
///
/// The loads of bonds scatter too, and weak bonds are rarely where the load is large, so that strength depends less on
/// volume; most so if strengths scatter little. Fitted for a from 10 to 20.
pub fn independent_volume_in_random(length: f64, edge: f64, modulus: f64, by_stress: bool) -> f64 {
    let by_edge = if by_stress { 3.7 } else { 6.9 };
    INDEPENDENT_VOLUME * length.powi(3) + by_edge * modulus.max(LEAST_MODULUS) * edge
}

/// What a packing loses whose bonds resist no shear, for this λ = G_b/E_b.
fn without_shear(loss: f64, ratio: f64) -> f64 {
    loss * (-20.0 * ratio).exp()
}

/// Strength of a bond of a random packing over that of others. `parts`: stiffness that the bonds of each of its ends
/// have together, over the mean; where it is small, a bond bears more than its part.
pub fn of_weaker_end(parts: [f64; 2]) -> f64 {
    let least = parts[0].min(parts[1]).clamp(LEAST_PART, 1.0);
    least.powf(-1.5)
}

#[cfg(test)]
mod tests {
    use super::{
        PI, independent_volume_in_lattice, independent_volume_in_random, lattice, lattice_along,
        lattice_by_stress, of_weaker_end, random, random_by_stress,
    };

    #[test]
    fn strengths_are_those_of_pulled_bars() {
        // Poisson's ratio; means over pulls along x, y and z, 8 and 16 elements across.
        let hexagonal = [
            (0.0, 2.49),
            (0.1, 2.116),
            (0.15, 1.926),
            (0.2, 1.726),
            (0.25, 1.409),
        ];
        for (poisson, found) in hexagonal {
            let off = lattice(poisson, None) / found - 1.0;
            assert!(off.abs() < 0.02, "{poisson}: {off}");
        }
        // Poisson's ratio; x, y and z over their mean, 16 elements across.
        let along = [
            (0.0, [0.850, 0.925, 1.225]),
            (0.1, [0.801, 0.967, 1.232]),
            (0.2, [0.745, 1.049, 1.205]),
            (0.25, [0.746, 1.044, 1.210]),
        ];
        for (poisson, found) in along {
            let fitted = lattice_along(poisson);
            for (fitted, found) in fitted.into_iter().zip(found) {
                assert!(
                    (fitted - found).abs() < 0.03,
                    "{poisson}: {fitted}, {found}"
                );
            }
        }
        // Poisson's ratio, Weibull modulus, strength over that without scatter; 8 elements across, then 16 and 24.
        let scattered = [
            (0.2, 4.0, 0.514),
            (0.2, 8.0, 0.647),
            (0.2, 16.0, 0.751),
            (0.2, 32.0, 0.844),
            (0.0, 8.0, 0.624),
            (0.25, 8.0, 0.671),
            (0.2, 4.0, 0.532),
            (0.2, 8.0, 0.652),
            (0.2, 16.0, 0.769),
            (0.2, 32.0, 0.855),
            (0.2, 8.0, 0.654),
        ];
        for (poisson, modulus, found) in scattered {
            let part = lattice(poisson, Some(modulus)) / lattice(poisson, None);
            let off = part / found - 1.0;
            assert!(off.abs() < 0.065, "{poisson}, {modulus}: {off}");
        }
        // Bonds per element, Poisson's ratio; the first three are of bars 16 elements across.
        let close = [
            (9.0, 0.0, 0.795),
            (9.0, 0.1, 0.856),
            (9.0, 0.25, 0.894),
            (9.0, 0.2, 0.920),
            (10.5, 0.2, 0.960),
            (12.5, 0.2, 1.000),
            (14.6, 0.0, 1.031),
            (14.6, 0.1, 1.036),
            (14.6, 0.2, 0.999),
        ];
        for (bonds, poisson, found) in close {
            let off = random(bonds, poisson, 0.0) / found - 1.0;
            assert!(off.abs() < 0.03, "{bonds} {poisson}: {off}");
        }
        // Means over 8 and 16 elements across.
        for (spread, found) in [(0.3, 1.010), (0.5, 1.172)] {
            let off = random(9.0, 0.2, spread) / found - 1.0;
            assert!(off.abs() < 0.03, "{spread}: {off}");
        }
    }

    #[test]
    fn strengths_by_the_stress_of_the_solid_are_those_of_pulled_bars() {
        // Weibull modulus; means over pulls along x, y and z, 8 or 16 elements across.
        let hexagonal = [
            (None, 0.931),
            (None, 0.949),
            (None, 0.963),
            (Some(4.0), 0.669),
            (Some(8.0), 0.730),
            (Some(16.0), 0.785),
            (Some(32.0), 0.840),
        ];
        for (modulus, found) in hexagonal {
            let off = lattice_by_stress(modulus) / found - 1.0;
            assert!(off.abs() < 0.035, "{modulus:?}: {off}");
        }
        // Bonds per element, Poisson's ratio, spread, Weibull modulus.
        let random = [
            ((9.0, 0.0, 0.0, None), 0.725),
            ((9.0, 0.1, 0.0, None), 0.700),
            ((9.0, 0.2, 0.0, None), 0.646),
            ((9.0, 0.25, 0.0, None), 0.576),
            ((10.5, 0.2, 0.0, None), 0.668),
            ((10.5, 0.0, 0.0, None), 0.743),
            ((12.5, 0.2, 0.0, None), 0.733),
            ((12.5, 0.0, 0.0, None), 0.794),
            ((14.6, 0.2, 0.0, None), 0.752),
            ((14.6, 0.0, 0.0, None), 0.812),
            ((9.0, 0.2, 0.3, None), 0.604),
            ((9.0, 0.2, 0.5, None), 0.582),
            ((9.0, 0.2, 0.0, Some(4.0)), 0.561),
            ((9.0, 0.2, 0.0, Some(8.0)), 0.590),
            ((9.0, 0.2, 0.0, Some(16.0)), 0.616),
            ((9.0, 0.2, 0.0, Some(32.0)), 0.636),
        ];
        for ((bonds, poisson, spread, modulus), found) in random {
            let off = random_by_stress(bonds, poisson, spread, modulus) / found - 1.0;
            assert!(
                off.abs() < 0.035,
                "{bonds} {poisson} {spread} {modulus:?}: {off}"
            );
        }
    }

    #[test]
    fn bars_are_as_weak_as_their_weakest_place() {
        // Elements across, L in elements, Weibull modulus; mean strength of bars over that of bars without scatter,
        // when strengths at a point were scaled with V₁ = π^(3/2) L³ and the volume of the middle of a bar, which
        // breaks. So it is (V₁/(π^(3/2) L³))^(1/m) for the V₁ sought. 30 to 90 bars 8 and 12 across, 9 to 44 of 16.
        let random = [
            ((8.0, 2.0, 8.0), 1.377),
            ((8.0, 4.0, 8.0), 1.037),
            ((8.0, 8.0, 8.0), 0.836),
            ((8.0, 4.0, 4.0), 0.945),
            ((8.0, 4.0, 16.0), 1.070),
            ((12.0, 4.0, 8.0), 1.112),
            ((16.0, 4.0, 8.0), 1.154),
            ((16.0, 8.0, 8.0), 0.907),
        ];
        let random_by_stress = [
            ((8.0, 4.0, 8.0), 0.983),
            ((8.0, 8.0, 8.0), 0.805),
            ((8.0, 4.0, 16.0), 1.022),
        ];
        let hexagonal = [
            ((8.0, 4.0, 8.0), 0.755),
            ((8.0, 2.0, 8.0), 0.810),
            ((8.0, 8.0, 8.0), 0.700),
            ((8.0, 4.0, 16.0), 0.868),
            ((8.0, 4.0, 4.0), 0.540),
            ((12.0, 4.0, 8.0), 0.813),
            ((16.0, 4.0, 8.0), 0.762),
        ];
        let hexagonal_by_stress = [
            ((8.0, 4.0, 8.0), 0.792),
            ((8.0, 8.0, 8.0), 0.722),
            ((8.0, 4.0, 16.0), 0.894),
        ];
        let check =
            |rows: &[((f64, f64, f64), f64)], most, volume: &dyn Fn(f64, f64, f64) -> f64| {
                for &((across, length, modulus), found) in rows {
                    let whole = PI.powf(1.5) * length.powi(3);
                    // The middle of a bar is twice as long as wide.
                    let edge = across * 2.0_f64.cbrt();
                    let fitted = (volume(length, edge, modulus) / whole).powf(1.0 / modulus);
                    let off: f64 = fitted / found - 1.0;
                    assert!(off.abs() < most, "{across} {length} {modulus}: {off}");
                }
            };
        check(&random, 0.03, &|length, edge, m| {
            independent_volume_in_random(length, edge, m, false)
        });
        check(&random_by_stress, 0.05, &|length, edge, m| {
            independent_volume_in_random(length, edge, m, true)
        });
        check(&hexagonal, 0.08, &|length, _, _| {
            independent_volume_in_lattice(length, false)
        });
        check(&hexagonal_by_stress, 0.02, &|length, _, _| {
            independent_volume_in_lattice(length, true)
        });
    }

    #[test]
    fn only_bonds_of_elements_with_few_of_them_are_stronger() {
        assert_eq!(of_weaker_end([1.0, 1.5]), 1.0);
        assert!((of_weaker_end([0.25_f64.sqrt(), 2.0]) - 2.0_f64.powf(1.5)).abs() < 1e-12);
        assert_eq!(of_weaker_end([0.01, 1.0]), of_weaker_end([0.3, 1.0]));
    }
}
