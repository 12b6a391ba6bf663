//! Moduli of bonds that make a packing behave as a given solid.
//!
//! A solid of isotropically distributed bonds, with k_n = E_b S/l0 along each bond and λ = k_s/(l0 k_n) =
//! G_b/E_b across it, has
//!
//! ```text
//! E = Σ k_n l0² / (3V) · (2 + 3λ)/(4 + λ),    ν = (1 − λ)/(4 + λ),    so    λ = (1 − 4ν)/(1 + ν)
//! ```
//!
//! with the sum over the bonds in the volume V (isotropic average, small strains). E_b, G_b: moduli of the
//! bond (Pa), S: section of the bond (m²), l0: its length (m). λ ≥ 0 limits ν to (−1, ¼]. For hexagonal close
//! packing, where Σ k_n l0²/(3V) = π/√2 E_b, it agrees with periodic homogenisation within 3 % along the
//! layers and within 17 % (λ = 0) to 7 % (λ = 0.4) across them.
//!
//! The average assumes that every element moves with the strain (affine motion). In a random packing elements
//! also move non-affinely, and the solid is softer the fewer bonds an element has and the less they resist
//! shear. Periodic homogenisation of cells of 2000 elements, equal or of radii from 0.5 to 1.5, with z = 7 to
//! 12.4 bonds per element and λ = 0 to 1, gives bulk and shear moduli whose ratios to the average's are
//!
//! ```text
//! 1 − a exp(−b (z − 9)) − c exp(−d (z − 9))/(λ + e)
//! ```
//!
//! within 0.02; a to e are below. [`random`] computes λ and E from these moduli.

use crate::math::bisection::argument_of;

/// Largest Poisson's ratio of a solid of bonds: λ = 0.
pub const POISSON_LIMIT: f64 = 0.25;

/// λ = G_b/E_b that gives Poisson's ratio `poisson` in (−1, ¼].
pub fn shear_ratio(poisson: f64) -> f64 {
    (1.0 - 4.0 * poisson) / (1.0 + poisson)
}

/// Poisson's ratio of the solid for λ = G_b/E_b.
pub fn poisson(ratio: f64) -> f64 {
    (1.0 - ratio) / (4.0 + ratio)
}

/// Young's modulus of the solid over that of its bonds; `fabric` = Σ S l0 / (3V) over the bonds of a volume,
/// dimensionless.
pub fn stiffening(fabric: f64, ratio: f64) -> f64 {
    fabric * (2.0 + 3.0 * ratio) / (4.0 + ratio)
}

/// Coefficients a to e of the bulk and of the shear modulus.
const BULK_COEFFICIENTS: [f64; 5] = [0.0290, 0.268, 0.0132, 0.436, 0.127];
const SHEAR_COEFFICIENTS: [f64; 5] = [0.0478, 0.276, 0.0172, 0.4365, 0.0676];
/// Range of bonds per element that is fitted; values beyond are clamped to it.
const FITTED_BONDS: (f64, f64) = (7.0, 15.0);

/// Young's modulus over that of the bonds, and Poisson's ratio, of a random packing with `bonds` bonds per
/// element far from any border.
fn random_packing_moduli(fabric: f64, bonds: f64, ratio: f64) -> (f64, f64) {
    let more = bonds.clamp(FITTED_BONDS.0, FITTED_BONDS.1) - 9.0;
    let part = |[a, b, c, d, e]: [f64; 5]| {
        1.0 - a * (-b * more).exp() - c * (-d * more).exp() / (ratio + e)
    };
    let bulk = part(BULK_COEFFICIENTS) * fabric / 3.0;
    let shear = part(SHEAR_COEFFICIENTS) * fabric * (2.0 + 3.0 * ratio) / 10.0;
    let young = 9.0 * bulk * shear / (3.0 * bulk + shear);
    (young, young / (2.0 * shear) - 1.0)
}

/// Young's modulus of a random packing over that of its bonds, and λ = G_b/E_b, for Poisson's ratio `poisson`
/// in (−1, ¼].
///
/// `fabric` = Σ S l0 / (3V) as for [`stiffening`]; `bonds`: mean number of bonds of an element far from any
/// border.
pub fn random(fabric: f64, bonds: f64, poisson: f64) -> (f64, f64) {
    let ratio = argument_of(poisson, |ratio| {
        random_packing_moduli(fabric, bonds, ratio).1
    });
    (random_packing_moduli(fabric, bonds, ratio).0, ratio)
}

/// Stiffness of bonds whose directions are isotropic about an axis 3, over E_b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransverseStiffness {
    /// Across the axis.
    pub c11: f64,
    /// Between two directions across the axis.
    pub c12: f64,
    /// Between the axis and a direction across it.
    pub c13: f64,
    /// Along the axis.
    pub c33: f64,
}

/// Stiffness of bonds whose directions are isotropic about an axis, where every element moves with the strain:
/// C = 1/V Σ k_n l0² (n⊗n⊗n⊗n + λ (½(δ⊗n⊗n)ˢ − n⊗n⊗n⊗n)), averaged over the directions about the axis.
///
/// `sum` = Σ S l0 / V; `moments`: means of s⁴, s²c² and c⁴ over the bonds, c and s the cosine and sine of the angle
/// between a bond and the axis.
pub fn transverse_stiffness(sum: f64, [ss, sc, cc]: [f64; 3], ratio: f64) -> TransverseStiffness {
    // Shear of a bond: |ε n|² − (n·ε n)².
    TransverseStiffness {
        c11: sum * (3.0 * ss / 8.0 + ratio * (ss + sc - 0.75 * ss) / 2.0),
        c12: sum * (1.0 - ratio) * ss / 8.0,
        c13: sum * (1.0 - ratio) * sc / 2.0,
        c33: sum * (cc + ratio * sc),
    }
}

/// In-plane Young's modulus over that of the bonds, and Poisson's ratio, of a shell that is isotropic in its
/// plane and free of stress across. `moments`: of the angles to the shell's normal.
fn shell_moduli(fabric: f64, moments: [f64; 3], ratio: f64) -> (f64, f64) {
    let TransverseStiffness { c11, c12, c13, c33 } =
        transverse_stiffness(3.0 * fabric, moments, ratio);
    // Zero stress across. A single layer has no stiffness across, either.
    let free = if c33 > 0.0 { c13 * c13 / c33 } else { 0.0 };
    let (q11, q12) = (c11 - free, c12 - free);
    (q11 - q12 * q12 / q11, q12 / q11)
}

/// In-plane Young's modulus of a shell over that of its bonds, and λ = G_b/E_b, for Poisson's ratio `poisson`
/// in (−1, ¼].
///
/// `fabric` = Σ S l0 / (3V) as for [`stiffening`]; `moments`: means of s⁴, s²c² and c⁴ over the bonds, c and
/// s the cosine and sine of the angle between a bond and the shell's normal.
pub fn shell(fabric: f64, moments: [f64; 3], poisson: f64) -> (f64, f64) {
    let ratio = argument_of(poisson, |ratio| shell_moduli(fabric, moments, ratio).1);
    (shell_moduli(fabric, moments, ratio).0, ratio)
}

/// G_b/E_b of a rod, whose bonds are cylinders of the material: 1 / (2 (1 + ν)).
pub fn rod_shear_ratio(poisson: f64) -> f64 {
    0.5 / (1.0 + poisson)
}

/// Factor on modulus or strength of a bond whose angle to the grain has this `cosine`: 1 + λ cos⁴ (Lu 2021,
/// eq. 30).
pub fn grain_factor(lambda: f64, cosine: f64) -> f64 {
    1.0 + lambda * cosine.powi(4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{PI, SQRT_2};

    #[test]
    fn hexagonal_packing_meets_homogenisation() {
        // G/E, E_x/E_b, E_z/E_b, ν_xy by periodic homogenisation of the lattice; the estimate averages over
        // directions, two in the layer and one across.
        let table = [
            (0.0, 1.111, 1.333, 0.333, 0.167, 1.111),
            (1.0 / 6.0, 1.369, 1.505, 0.237, 0.147, 1.333),
            (0.3, 1.536, 1.635, 0.185, 0.124, 1.498),
            (0.4, 1.650, 1.728, 0.151, 0.106, 1.616),
        ];
        for (ratio, ex, ez, nu_xy, nu_xz, printed) in table {
            let mean: f64 = (2.0 * ex + ez) / 3.0;
            let estimate = stiffening(PI / SQRT_2, ratio);
            assert!((estimate - printed).abs() < 1e-3, "{estimate} {printed}");
            assert!((estimate / mean - 1.0).abs() < 0.07, "{estimate} {mean}");
            assert!((estimate / ex - 1.0).abs() < 0.03, "{estimate} {ex}");
            assert!((poisson(ratio) - (nu_xy + nu_xz) / 2.0).abs() < 0.01);
        }
    }

    #[test]
    fn random_packing_meets_homogenisation() {
        // Bonds per element, λ, ratios of bulk and shear modulus to the average's, by periodic homogenisation
        // of 2000 elements; the last three rows have graded radii.
        let table = [
            (7.020, 1.0 / 6.0, 0.848, 0.752),
            (7.990, 0.05, 0.838, 0.690),
            (9.044, 0.0, 0.864, 0.695),
            (9.044, 1.0 / 6.0, 0.918, 0.874),
            (9.044, 0.5, 0.946, 0.929),
            (9.044, 1.0, 0.962, 0.927),
            (10.485, 1.0 / 6.0, 0.955, 0.931),
            (11.756, 0.3, 0.973, 0.967),
            (7.675, 1.0 / 6.0, 0.877, 0.804),
            (8.757, 0.3, 0.935, 0.905),
            (10.232, 0.05, 0.946, 0.879),
        ];
        for (bonds, ratio, bulk, shear) in table {
            let (young, nu) = random_packing_moduli(1.5, bonds, ratio);
            let found_shear = young / (2.0 * (1.0 + nu)) / (1.5 * (2.0 + 3.0 * ratio) / 10.0);
            let found_bulk = young / (3.0 * (1.0 - 2.0 * nu)) / 0.5;
            assert!(
                (found_bulk - bulk).abs() < 0.021,
                "{bonds} {ratio}: {found_bulk} {bulk}"
            );
            assert!(
                (found_shear - shear).abs() < 0.021,
                "{bonds} {ratio}: {found_shear} {shear}"
            );
        }
    }

    #[test]
    fn random_packing_gets_the_requested_poisson_ratio() {
        for bonds in [6.0, 7.5, 9.0, 13.0, 20.0] {
            for nu in [-0.5, 0.0, 0.15, POISSON_LIMIT] {
                let (young, ratio) = random(1.4, bonds, nu);
                let found = random_packing_moduli(1.4, bonds, ratio);
                assert!((found.1 - nu).abs() < 1e-9, "{bonds} {nu}: {found:?}");
                assert_eq!(young, found.0);
                // Softer than the average at the same λ.
                assert!(young < stiffening(1.4, ratio) && young > 0.4 * stiffening(1.4, ratio));
            }
        }
    }

    #[test]
    fn ratio_and_poisson_are_inverse() {
        for nu in [-0.9, -0.2, 0.0, 0.2, POISSON_LIMIT] {
            assert!((poisson(shear_ratio(nu)) - nu).abs() < 1e-15);
        }
        assert_eq!(shear_ratio(POISSON_LIMIT), 0.0);
    }

    #[test]
    fn isotropic_shells_match_solids_and_flat_ones_triangular_lattices() {
        // Isotropic bonds: means of s⁴, s²c², c⁴ over the sphere are 8/15, 2/15, 1/5.
        for ratio in [0.0, 0.3, 1.0] {
            let (young, nu) = shell_moduli(1.3, [8.0 / 15.0, 2.0 / 15.0, 0.2], ratio);
            assert!((young / stiffening(1.3, ratio) - 1.0).abs() < 1e-12);
            assert!((nu - poisson(ratio)).abs() < 1e-12);
        }
        // A triangular lattice of springs: E = 2/√3 k in two dimensions, ν = 1/3. With three bonds per
        // element of area 2√3 r² and k = E_b S/(2r), Σ k l0² over the area is 2√3 k.
        let fabric = 2.0 * 3.0_f64.sqrt() / 3.0;
        let (young, nu) = shell_moduli(fabric, [1.0, 0.0, 0.0], 0.0);
        assert!((young - 2.0 / 3.0_f64.sqrt()).abs() < 1e-12, "{young}");
        assert!((nu - 1.0 / 3.0).abs() < 1e-12, "{nu}");
        let (young, ratio) = shell(fabric, [0.7, 0.1, 0.1], 0.2);
        let (again, nu) = shell_moduli(fabric, [0.7, 0.1, 0.1], ratio);
        assert!(young == again && (nu - 0.2).abs() < 1e-9);
    }
}
