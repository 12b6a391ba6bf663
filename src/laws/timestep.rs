//! Critical time step of central differences, from the largest eigenvalue of M⁻¹K.
//!
//! K is the bond law linearised at rest, translations and rotations: with the bond vector d = l0 n,
//! the stretch e = u_j − u_i − ½(θ_i + θ_j) × d and the bend θ_j − θ_i,
//! ```text
//! s = k_n n(n·e) + (k_s/l0)(e − n(n·e))      + on i, − on j; torque ½ d × s on both
//! m = k_t n(n·b) + k_b (b − n(n·b))          + on i, − on j, b = θ_j − θ_i
//! ```

use glam::DVec3;

/// One linear bond.
#[derive(Clone, Copy, Debug)]
pub struct LinearBond {
    /// Direction from i to j at rest.
    pub n: DVec3,
    /// Length at rest, m.
    pub length: f64,
    /// k_n, N/m.
    pub normal: f64,
    /// k_s/l0, N/m.
    pub transverse: f64,
    /// k_t, N m.
    pub twist: f64,
    /// k_b, N m.
    pub bend: f64,
}

impl LinearBond {
    /// Restoring force and torque on i for displacements u and rotations θ of both ends.
    #[inline]
    pub fn restoring(
        &self,
        u_i: DVec3,
        theta_i: DVec3,
        u_j: DVec3,
        theta_j: DVec3,
    ) -> (DVec3, DVec3) {
        let (n, d) = (self.n, self.n * self.length);
        let e = u_j - u_i - 0.5 * (theta_i + theta_j).cross(d);
        let along = n * n.dot(e);
        let s = self.normal * along + self.transverse * (e - along);
        let b = theta_j - theta_i;
        let axial = n * n.dot(b);
        let m = self.twist * axial + self.bend * (b - axial);
        (s, m + 0.5 * d.cross(s))
    }
}

/// Critical step of central differences whose damping lags by half a step, s: the largest Δt with Δt² λ/4 + Δt γ/2 ≤ 1.
///
/// λ, 1/s², and γ, 1/s, bound the quadratic forms of stiffness and of damping over that of mass. For one
/// mode, λ = ω² and γ = 2ζω, that is 2/ω (√(1 + ζ²) − ζ) (Belytschko, Liu, Moran 2000, eq. 6.2.10). Being
/// linear in both forms, what holds for two systems holds for any mixture of them.
pub fn critical(lambda: f64, gamma: f64) -> f64 {
    let half = 0.5 * gamma;
    2.0 * ((half * half + lambda).sqrt() - half) / lambda
}

/// γ of bonds whose damping is proportional to their stiffness, c = 2ζ√(k m*): λ c/k.
pub fn proportional(lambda: f64, damping_ratio: f64, stiffness_over_mass: f64) -> f64 {
    2.0 * damping_ratio * lambda / stiffness_over_mass.sqrt()
}

/// Most that Σ(n·e)² comes to over the directions n of balls that touch one of their size, for any direction e.
const ALONG: f64 = 4.5;
/// Balls that touch one of their size at once.
const KISSING: f64 = 12.0;
/// Most that Σ(1 − (n·e)²) comes to.
const ACROSS: f64 = 8.5;

/// An element that touches as many like it as can.
#[derive(Clone, Copy, Debug)]
pub struct Touching {
    /// k_r/m, 1/s².
    pub stiffness_over_mass: f64,
    /// k_t/k_r.
    pub shear_ratio: f64,
    /// Ratio of critical normal damping.
    pub damping_ratio: f64,
    /// Whether contacts resist rolling, by a quarter of what they resist sliding.
    pub rolls: bool,
}

impl Touching {
    /// Critical step, s.
    ///
    /// A spring between a and b has no more than twice the energy of one to the ground at either end, k(a −
    /// b)² ≤ 2k(a² + b²). So the forms of all contacts are bounded by twice those of an element whose
    /// partners are held; a ball's inertia is 2/5 m r².
    pub fn critical(&self) -> f64 {
        let (k, s) = (self.stiffness_over_mass, self.shear_ratio);
        let sliding = 2.0 * k * (ALONG + (KISSING - ALONG) * s);
        // c = 2ζ√(k m/2).
        let gamma = 2.0 * ALONG * self.damping_ratio * (2.0 * k).sqrt();
        let rolling = if self.rolls { 1.25 } else { 1.0 };
        let turning = 2.0 * k * 2.5 * rolling * ACROSS * s;
        critical(sliding, gamma).min(critical(turning, 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half the form of an element's contacts with held partners in directions n, k_r = m = r = 1: largest
    /// eigenvalue, and Σ(n·e)² at most.
    fn largest(directions: &[DVec3], shear_ratio: f64, rolls: bool) -> f64 {
        // Rotations in units in which the inertia is the mass.
        let turn = 2.5_f64.sqrt();
        let apply = |u: DVec3, t: DVec3| {
            let (mut force, mut torque) = (DVec3::ZERO, DVec3::ZERO);
            for &n in directions {
                let slip = u + turn * t.cross(n);
                let across = shear_ratio * (slip - n * n.dot(slip));
                force += n * n.dot(u) + across;
                torque += turn * n.cross(across);
                if rolls {
                    torque += 0.25 * 2.5 * shear_ratio * (t - n * n.dot(t));
                }
            }
            (force, torque)
        };
        let (mut u, mut t) = (DVec3::new(1.0, 0.7, 0.4), DVec3::new(0.3, 0.6, 0.9));
        let mut length = 0.0;
        for _ in 0..60 {
            (u, t) = apply(u, t);
            length = (u.length_squared() + t.length_squared()).sqrt();
            (u, t) = (u / length, t / length);
        }
        length
    }

    /// Numbers between −1 and 1, the same on every machine.
    fn numbers() -> impl FnMut() -> f64 {
        let mut state = 1_u64;
        move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        }
    }

    #[test]
    fn no_twelve_balls_are_stiffer_than_the_bound() {
        let mut number = numbers();
        let mut direction = |spread: f64, about: DVec3| {
            (about + spread * DVec3::new(number(), number(), number())).normalize()
        };
        for (shear_ratio, rolls) in [
            (0.0, false),
            (0.1, false),
            (0.3, true),
            (0.5, false),
            (1.0, true),
        ] {
            let touching = Touching {
                stiffness_over_mass: 1.0,
                shear_ratio,
                damping_ratio: 0.0,
                rolls,
            };
            let bound = 4.0 / touching.critical().powi(2);
            let mut worst: f64 = 0.0;
            for _ in 0..6 {
                let mut balls: Vec<DVec3> = Vec::new();
                let mut found = 0.0;
                for attempt in 0..1500 {
                    let new = direction(1.0, DVec3::ZERO);
                    if balls.len() < 12 && balls.iter().all(|ball| ball.dot(new) <= 0.5) {
                        balls.push(new);
                        found = largest(&balls, shear_ratio, rolls);
                    }
                    let at = attempt % balls.len();
                    let (old, new) = (balls[at], direction(0.2, balls[at]));
                    let free = |(k, ball): (usize, &DVec3)| k == at || ball.dot(new) <= 0.5;
                    if balls.iter().enumerate().all(free) {
                        balls[at] = new;
                        let value = largest(&balls, shear_ratio, rolls);
                        if value > found {
                            found = value;
                        } else {
                            balls[at] = old;
                        }
                    }
                }
                worst = worst.max(2.0 * found);
            }
            assert!(worst <= bound, "{shear_ratio}: {worst} beyond {bound}");
            assert!(
                worst > 0.6 * bound,
                "{shear_ratio}: {worst} far below {bound}"
            );
        }
    }

    #[test]
    fn a_damped_mode_is_stable_up_to_the_step_that_is_known() {
        let (omega, zeta) = (3.0, 0.4_f64);
        let found = critical(omega * omega, 2.0 * zeta * omega);
        let known = 2.0 / omega * ((1.0 + zeta * zeta).sqrt() - zeta);
        assert!((found - known).abs() < 1e-14);
        // Two equal masses: the mode against one another has λ = 2k/m = k/m*, so γ = 2ζω.
        let (k, m) = (5.0, 0.7);
        let lambda = 2.0 * k / m;
        let gamma = proportional(lambda, zeta, 2.0 * k / m);
        assert!((gamma - 2.0 * zeta * lambda.sqrt()).abs() < 1e-12 * gamma);
        let grows = |dt: f64| {
            // Leapfrog, force from the velocity half a step ago.
            let (mut x, mut v) = (1.0, 0.0);
            for _ in 0..400 {
                v += dt * (-lambda * x - gamma * v);
                x += dt * v;
            }
            x.abs() > 1.0
        };
        let dt = critical(lambda, gamma);
        assert!(!grows(0.999 * dt) && grows(1.001 * dt));
    }
}
