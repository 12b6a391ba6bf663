//! Contact whose coefficient of friction is larger at rest, μ_s, than in motion, μ (Coulomb): [`contact`] with a memory
//! of whether it slides.
//!
//! ```text
//! sticks: F_f = −k_t ξ; it slides once k_t |ξ| > μ_s |F_r|
//! slides: F_f = −μ |F_r| ξ/|ξ|, ξ ← −F_f/k_t; it sticks once k_t |ξ| ≤ μ |F_r|
//! ```
//! ξ, k_t and F_r are those of [`contact`], ξ stretched by the whole step. Each step of a contact that slides steadily
//! stretches ξ beyond μ |F_r|/k_t, so its friction stays at μ |F_r|. It sticks once the motion stops or turns back, or
//! the normal force rises faster than the spring is stretched. A new contact sticks.

use super::contact::{self, ContactParameters, ContactState, PairLoad};
use crate::math::Real;

/// The contact law over one step of length `dt` (s), for both elements, and whether the contact then slides.
/// `coefficient`: μ_s, at least the μ of `k`. `slides`: whether it slid before.
#[inline(always)]
pub fn pair<T: Real>(
    s: ContactState<T>,
    dt: T,
    k: ContactParameters<T>,
    coefficient: T,
    slides: T::Mask,
) -> (PairLoad<T>, T::Mask) {
    let trial = contact::trial(s, dt, k);
    let limit = k.friction * trial.repulsion;
    let holds = T::select(slides, limit, coefficient * trial.repulsion);
    let slips = holds.lt(trial.size) & T::zero().lt(trial.overlap);
    (contact::limited(trial, holds, limit), slips)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vec3;

    /// Gravitational acceleration, m/s².
    const G: f64 = 9.81;
    /// Mass of the block, kg.
    const MASS: f64 = 2.0;
    const STATIC: f64 = 0.6;
    const KINETIC: f64 = 0.3;
    const K: ContactParameters<f64> = ContactParameters {
        normal: 2e5,
        tangential: 1e5,
        friction: KINETIC,
        damping: 0.0,
    };

    /// A block on a plane that pushes it along y with a given force.
    #[derive(Default)]
    struct Block {
        spring: [f64; 3],
        slides: bool,
    }

    impl Block {
        /// Friction along x after a step at this velocity along x.
        fn step(&mut self, push: f64, v: f64, dt: f64) -> f64 {
            let state = ContactState {
                x: Vec3::new(0.0, 1.0 - push / K.normal, 0.0),
                v: Vec3::new(v, 0.0, 0.0),
                w_i: Vec3::zero(),
                w_j: Vec3::zero(),
                arm_i: 0.5,
                arm_j: 0.5,
                touch: 1.0,
                spring: Vec3::from_f64(self.spring),
            };
            let (load, slides) = pair(state, dt, K, STATIC, self.slides);
            (self.spring, self.slides) = ([load.spring.x, load.spring.y, load.spring.z], slides);
            load.force.x
        }
    }

    #[test]
    fn a_block_on_a_plane_that_is_tilted_holds_up_to_its_static_friction_and_then_slides_by_the_other()
     {
        let (mut block, mut v, dt) = (Block::default(), 0.0, 1e-4);
        let mut tilt: f64 = 0.0;
        while !block.slides {
            tilt += 1e-5;
            let friction = block.step(MASS * G * tilt.cos(), v, dt);
            v += (G * tilt.sin() + friction / MASS) * dt;
        }
        assert!((tilt - STATIC.atan()).abs() < 2e-3, "{tilt}");
        // The plane now stays as it is.
        let (from, steps) = (v, 5000);
        for _ in 0..steps {
            let friction = block.step(MASS * G * tilt.cos(), v, dt);
            v += (G * tilt.sin() + friction / MASS) * dt;
        }
        let found = (v - from) / (f64::from(steps) * dt);
        let expected = G * (tilt.sin() - KINETIC * tilt.cos());
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }

    #[test]
    fn a_block_that_is_pulled_steadily_has_one_peak_and_sticks_when_it_turns_back() {
        let (push, v, dt) = (100.0, 0.01, 1e-4);
        let per_step = K.tangential * v * dt;
        let mut block = Block::default();
        for direction in [1.0, -1.0] {
            // Where friction is at first, seen along the motion.
            let before = if direction > 0.0 {
                0.0
            } else {
                -KINETIC * push
            };
            // 60 N/(0.1 N per step), and 30 N more after it turned.
            let rise = ((STATIC * push - before) / per_step).round() as u32;
            for step in 1..=2 * rise {
                let friction = -direction * block.step(push, direction * v, dt);
                let elastic = before + f64::from(step) * per_step;
                let (expected, slides) = match step <= rise {
                    true => (elastic, false),
                    false => (KINETIC * push, true),
                };
                // In the step of the peak rounding decides.
                if step != rise {
                    assert!(
                        (friction - expected).abs() < 1e-6,
                        "{step}: {friction} {expected}"
                    );
                    assert_eq!(block.slides, slides, "{step}");
                }
            }
        }
        // It is lifted off, and sticks when it comes back.
        assert_eq!(block.step(-1.0, v, dt), 0.0);
        assert!(!block.slides && block.spring == [0.0; 3]);
    }

    #[test]
    fn exchanging_both_elements_changes_signs_only_and_equal_coefficients_are_plain_friction() {
        let mut slid = 0;
        for k in 1..200 {
            let unit = |axis: u32| ((f64::from(k * 7 + axis * 13)) * 0.618).fract() - 0.5;
            let vector = |from: u32| Vec3::new(unit(from), unit(from + 1), unit(from + 2));
            let state = ContactState {
                x: vector(0),
                v: vector(3),
                w_i: vector(6),
                w_j: vector(9),
                arm_i: 0.3,
                arm_j: 0.4,
                // Always larger than the distance.
                touch: 2.0,
                spring: vector(12) * 8.0,
            };
            let exchanged = ContactState {
                x: -state.x,
                v: -state.v,
                w_i: state.w_j,
                w_j: state.w_i,
                arm_i: state.arm_j,
                arm_j: state.arm_i,
                spring: -state.spring,
                ..state
            };
            for slides in [false, true] {
                let (load, after) = pair(state, 1e-2, K, STATIC, slides);
                let (other, same) = pair(exchanged, 1e-2, K, STATIC, slides);
                let bits = |v: Vec3<f64>| [v.x, v.y, v.z].map(f64::to_bits);
                assert_eq!((bits(load.force), after), (bits(-other.force), same));
                assert_eq!(bits(load.spring), bits(-other.spring));
                let (equal, _) = pair(state, 1e-2, K, KINETIC, slides);
                let plain = contact::pair(state, 1e-2, K);
                assert_eq!(bits(equal.force), bits(plain.force));
                slid += u32::from(after);
            }
        }
        assert!((50..350).contains(&slid), "{slid}");
    }
}
