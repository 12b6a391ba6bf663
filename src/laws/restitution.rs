//! Coefficient of restitution e of a contact with linear spring and damper: rebound speed over approach speed of
//! two single elements.
//!
//! The force never pulls, so the contact ends when spring and damper cancel. With the damping ratio ζ this gives
//! (cf. Schwager and Pöschel 2007)
//!
//! ```text
//! ζ = sin φ < 1:    e = exp(−(π − 2φ) tan φ)
//! ζ = cosh ψ > 1:   e = exp(−2ψ coth ψ)
//! ```
//! e falls from 1 at ζ = 0 through exp(−2) at ζ = 1 towards 0.

use crate::math::bisection::argument_of;

/// e of a contact with damping ratio ζ.
pub fn restitution(ratio: f64) -> f64 {
    let loss = if ratio < 1.0 {
        let phi = ratio.asin();
        (std::f64::consts::PI - 2.0 * phi) * phi.tan()
    } else {
        let psi = ratio.acosh();
        // ψ coth ψ is 1 at ψ = 0.
        2.0 * if psi > 1e-6 { psi / psi.tanh() } else { 1.0 }
    };
    (-loss).exp()
}

/// ζ of a contact with restitution e, 0 < e ≤ 1.
pub fn damping_ratio(asked: f64) -> f64 {
    if asked >= 1.0 {
        return 0.0;
    }
    argument_of(asked, restitution)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// e by small steps of an oscillator of unit mass and stiffness that is pushed, but not pulled.
    fn stepped(ratio: f64) -> f64 {
        let (mut x, mut v, dt) = (0.0, 1.0, 1e-5);
        loop {
            let force: f64 = x + 2.0 * ratio * v;
            if force < 0.0 {
                return -v;
            }
            v -= dt * force;
            x += dt * v;
        }
    }

    #[test]
    fn a_stepped_contact_rebounds_as_the_formula_says() {
        for ratio in [0.02, 0.2, 0.7, 0.999, 1.0, 1.5] {
            let (stepped, exact) = (stepped(ratio), restitution(ratio));
            assert!((stepped - exact).abs() < 1e-4, "{ratio}: {stepped} {exact}");
        }
    }

    #[test]
    fn ratios_and_restitutions_are_inverse() {
        assert!(damping_ratio(1.0) < 1e-20);
        for ratio in [1e-3, 0.05, 0.2, 0.9, 1.0, 3.0] {
            let back = damping_ratio(restitution(ratio));
            assert!((back / ratio - 1.0).abs() < 1e-6, "{ratio}: {back}");
        }
    }
}
