//! A random field of numbers by place, so that draws do not depend on how a body is packed.
//!
//! ```text
//! z(p) = Σ w_k g_k/√(Σ w_k²)        w_k = exp(−2 |p/L − k|²), g_k normal numbers on the points k of a lattice
//! ```
//! z is a standard normal number at each place, with correlation exp(−d²/L²) at distance d.

use std::f64::consts::TAU;

use super::weibull::uniform_on;

/// A number uniformly distributed in (0, 1) at a place, with correlation length `length` (m).
pub fn uniform_at(place: [f64; 3], length: f64, seed: u64) -> f64 {
    let at = place.map(|c| c / length);
    let first = at.map(|c| c.floor() as i64 - 1);
    let (mut sum, mut squares) = (0.0, 0.0);
    for n in 0..64 {
        let offset = [n & 3, n >> 2 & 3, n >> 4];
        let point = [0, 1, 2].map(|k| first[k] + offset[k]);
        let d = [0, 1, 2].map(|k| at[k] - point[k] as f64);
        let weight = (-2.0 * d.iter().map(|d| d * d).sum::<f64>()).exp();
        sum += weight * normal(point, seed);
        squares += weight * weight;
    }
    distribution(sum / squares.sqrt())
}

/// The normal number of a point of the lattice.
fn normal(point: [i64; 3], seed: u64) -> f64 {
    let draw = |k| uniform_on(point, seed, k);
    (-2.0 * draw(0).ln()).sqrt() * (TAU * draw(1)).cos()
}

/// Distribution function of the normal distribution, within 1.2e-7 of its value (Press et al. 1992, `erfcc`).
fn distribution(z: f64) -> f64 {
    const SERIES: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let x = z.abs() * std::f64::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.5 * x);
    let series = SERIES.iter().rev().fold(0.0, |sum, term| sum * t + term);
    let tail = 0.5 * t * (-x * x + series).exp();
    if z < 0.0 { tail } else { 1.0 - tail }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::weibull::uniform;

    #[test]
    fn the_distribution_is_that_of_tables() {
        for (z, value) in [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_543),
            (-3.0, 1.349_898_031_630_095e-3),
            (-6.0, 9.865_876_450_376_98e-10),
        ] {
            assert!((distribution(z) / value - 1.0).abs() < 2e-7, "{z}");
        }
    }

    #[test]
    fn draws_are_even_and_alike_where_they_are_near() {
        let length = 0.3;
        let at = |k: u32, off: f64| {
            let place = [0, 1, 2].map(|axis| 40.0 * uniform(9, 3 * k + axis));
            uniform_at([place[0] + off, place[1], place[2]], length, 5)
        };
        let n = 4000;
        // Correlation of uniform numbers: (6/π) asin(ρ/2) of the normal ones.
        for (off, expected) in [
            (0.0, 1.0),
            (
                0.5,
                (6.0 / std::f64::consts::PI) * (0.5 * (-0.25f64).exp()).asin(),
            ),
            (3.0, 0.0),
        ] {
            let pairs = (0..n).map(|k| (at(k, 0.0) - 0.5) * (at(k, off * length) - 0.5));
            let found = 12.0 * pairs.sum::<f64>() / f64::from(n);
            assert!((found - expected).abs() < 0.05, "{off}: {found} {expected}");
        }
        let mean = (0..n).map(|k| at(k, 0.0)).sum::<f64>() / f64::from(n);
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
    }
}
