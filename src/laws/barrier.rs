//! Contact by a logarithmic barrier (Zhang 2024, eq. 30), for implicit steps.
//!
//! ```text
//! E       = −k (d̂ − d)² ln(d/d̂)                                0 < d < d̂, nothing beyond
//! F       = −dE/dd  = k (d̂ − d) [−2 ln(d/d̂) + (d̂ − d)/d]       pushes apart
//! d²E/dd² = k [−2 ln(d/d̂) + 4 (d̂ − d)/d + (d̂ − d)²/d²]
//! k = k_c π r/2, N/m                                            k_r of [`contact`](super::contact): k_c is the contact modulus, r the mean radius
//! ```
//! d is the distance of two centres and d̂ that at which they touch; at a wall the distance of the centre
//! from its surface and the radius. Small where the overlap is small (3 k δ²/d̂ to first order), without
//! bound as d goes to zero. The paper prints E without its sign, with which it would attract.

/// What a barrier comes to at a distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Barrier {
    /// E, J.
    pub energy: f64,
    /// F, N.
    pub force: f64,
    /// F over the overlap d̂ − d, N/m: that of a penalty which pushes as much.
    pub secant: f64,
    /// d²E/dd², N/m.
    pub stiffness: f64,
}

/// The barrier at `distance` d (m) that begins at `reach` d̂ (m), of stiffness `k` (N/m).
pub fn barrier(distance: f64, reach: f64, k: f64) -> Barrier {
    let overlap = (reach - distance).max(0.0);
    // Of d/d̂ itself little would be left where they hardly touch.
    let log = (-overlap / reach).ln_1p();
    let part = overlap / distance;
    let secant = k * (part - 2.0 * log);
    Barrier {
        energy: -k * overlap * overlap * log,
        force: secant * overlap,
        secant,
        stiffness: secant + k * part * (3.0 + part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_way_it_is_what_a_hand_finds() {
        let half = barrier(0.5, 1.0, 1.0);
        let ln2 = std::f64::consts::LN_2;
        assert!((half.energy - 0.25 * ln2).abs() < 1e-15);
        assert!((half.force - (ln2 + 0.5)).abs() < 1e-15);
        assert!((half.stiffness - (2.0 * ln2 + 5.0)).abs() < 1e-15);
        // Scaled by stiffness and length.
        let scaled = barrier(2e-3, 4e-3, 1e6);
        assert!((scaled.force / (half.force * 4e3) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn force_and_stiffness_are_derivatives_of_the_energy() {
        let (reach, k) = (2e-3, 3e5);
        for part in [0.01, 0.1, 0.4, 0.7, 0.95, 0.999] {
            let (d, step) = (part * reach, 1e-6 * part * reach);
            let at = barrier(d, reach, k);
            let [below, above] = [d - step, d + step].map(|d| barrier(d, reach, k));
            let force = (below.energy - above.energy) / (2.0 * step);
            let stiffness = (below.force - above.force) / (2.0 * step);
            assert!((force / at.force - 1.0).abs() < 1e-6, "{part}");
            assert!((stiffness / at.stiffness - 1.0).abs() < 1e-6, "{part}");
        }
    }

    #[test]
    fn it_is_soft_at_first_and_has_no_bound() {
        let first = barrier(1.0 - 1e-9, 1.0, 1.0);
        assert!((first.force / 3e-18 - 1.0).abs() < 1e-6);
        assert!(barrier(1e-12, 1.0, 1.0).force > 1e11);
        let beyond = barrier(1.5, 1.0, 1.0);
        assert_eq!([beyond.energy, beyond.force, beyond.stiffness], [0.0; 3]);
    }
}
