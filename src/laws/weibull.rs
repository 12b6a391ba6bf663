//! Scatter of strengths from bond to bond: s = s̄ · (−ln(1−u))^{1/m} / Γ(1 + 1/m), which keeps the mean s̄.
//!
//! m: Weibull modulus (dimensionless, > 0; the larger, the less scatter). u in (0, 1) comes from a
//! counter-based generator keyed by (seed, id), so that the order of draws does not matter.

use std::f64::consts::TAU;

/// Strength over the mean strength, for `u` in (0, 1).
pub fn factor(u: f64, modulus: f64) -> f64 {
    let power = 1.0 / modulus;
    // ln_1p keeps the digits of small u.
    (-(-u).ln_1p()).powf(power) / gamma(1.0 + power)
}

/// A number uniformly distributed in (0, 1) that depends only on seed and id.
pub fn uniform(seed: u64, id: u32) -> f64 {
    let bits = mix(mix(seed.wrapping_add(GOLDEN_GAMMA)) ^ u64::from(id).wrapping_mul(GOLDEN_GAMMA));
    ((bits >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// Number `k` of a point of a lattice, uniformly distributed in (0, 1).
pub fn uniform_on(point: [i64; 3], seed: u64, k: u32) -> f64 {
    let [x, y, z] = point.map(|c| c as u64);
    let key = x.wrapping_mul(0x8DA6_B343) ^ y.wrapping_mul(0xD816_3841_0001) ^ z << 42;
    uniform(seed ^ key, k)
}

const GOLDEN_GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// Finaliser of SplitMix64 (Steele, Lea and Flood 2014).
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(GOLDEN_GAMMA);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Γ(x) for x ≥ ½ by Lanczos' series (g = 7, nine terms), to about 1e-15 relative.
fn gamma(x: f64) -> f64 {
    const SERIES: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    debug_assert!(x >= 0.5);
    let x = x - 1.0;
    let sum = (1..)
        .zip(SERIES)
        .fold(0.999_999_999_999_809_9, |sum, (k, term)| {
            sum + term / (x + f64::from(k))
        });
    let t = x + 7.5;
    TAU.sqrt() * t.powf(x + 0.5) * (-t).exp() * sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[test]
    fn gamma_is_the_factorial() {
        for (x, value) in [
            (1.0, 1.0),
            (1.5, PI.sqrt() / 2.0),
            (2.0, 1.0),
            (5.0, 24.0),
            (11.0, 3_628_800.0),
        ] {
            assert!((gamma(x) / value - 1.0).abs() < 1e-13, "{x}");
        }
    }

    #[test]
    fn draws_keep_the_mean_and_the_spread() {
        let n = 100_000;
        for modulus in [1.0, 3.0, 10.0] {
            let draws: Vec<f64> = (0..n).map(|id| factor(uniform(42, id), modulus)).collect();
            let mean = draws.iter().sum::<f64>() / f64::from(n);
            let spread = draws.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / f64::from(n);
            let (g1, g2) = (gamma(1.0 + 1.0 / modulus), gamma(1.0 + 2.0 / modulus));
            let expected = g2 / (g1 * g1) - 1.0;
            // Four standard errors.
            assert!(
                (mean - 1.0).abs() < 4.0 * (expected / f64::from(n)).sqrt(),
                "{modulus}: {mean}"
            );
            assert!(
                (spread / expected - 1.0).abs() < 0.05,
                "{modulus}: {spread} {expected}"
            );
        }
    }

    #[test]
    fn seeds_and_ids_draw_apart() {
        let first: Vec<f64> = (0..1000).map(|id| uniform(1, id)).collect();
        let second: Vec<f64> = (0..1000).map(|id| uniform(2, id)).collect();
        let product: f64 = first
            .iter()
            .zip(&second)
            .map(|(a, b)| (a - 0.5) * (b - 0.5))
            .sum();
        assert!((product / 1000.0 * 12.0).abs() < 0.13);
        let next: f64 = first.windows(2).map(|p| (p[0] - 0.5) * (p[1] - 0.5)).sum();
        assert!((next / 999.0 * 12.0).abs() < 0.13);
    }
}
