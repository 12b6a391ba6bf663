//! Rolling resistance of a contact: an elastic moment that gives way (Iwashita and Oda 1998), capped at μ_r r |F_r|.
//!
//! ```text
//! ω   = (ω_i − ω_j) − ((ω_i − ω_j)·n) n         rolling velocity
//! θ   ← θ − (θ·n) n + ω Δt                      rolling spring, zero on first touch
//! M   = −k_θ θ, and where |M| ≥ μ_r r |F_r|:    M ← μ_r r |F_r| M/|M|, θ ← −M/k_θ
//! M   ← M − c_θ ω                               where it does not give way
//! k_θ = k_t R²,  c_θ = c R²,  R = r_i r_j/(r_i + r_j),  r = 2 R
//! ```
//! M acts on i, −M on j, so angular momentum is kept. r is the radius of equal elements, and of an element at
//! a wall, its mirror. Exchanging i and j flips moment and spring bit for bit.

use super::contact::ContactParameters;
use crate::math::{Real, Vec3};

/// Parameters of the rolling resistance of one contact.
#[derive(Clone, Copy, Debug)]
pub struct RollingParameters<T> {
    /// k_θ, N m/rad.
    pub stiffness: T,
    /// c_θ, N m s.
    pub damping: T,
    /// μ_r r, m.
    pub arm: T,
}

/// What a contact does against rolling.
#[derive(Clone, Copy, Debug)]
pub struct RollingLoad<T> {
    /// Torque on i, N m; on j the opposite.
    pub moment: Vec3<T>,
    /// Spring after the step, zero when apart, rad.
    pub spring: Vec3<T>,
}

/// Parameters from those of the contact, its coefficient of rolling friction and the radii of both elements (m).
#[inline(always)]
pub fn parameters<T: Real>(
    contact: ContactParameters<T>,
    friction: T,
    r_i: T,
    r_j: T,
) -> RollingParameters<T> {
    let reduced = r_i * r_j / (r_i + r_j);
    RollingParameters {
        stiffness: contact.tangential * reduced * reduced,
        damping: contact.damping * reduced * reduced,
        arm: friction * (reduced + reduced),
    }
}

/// Rolling resistance over a step of length `dt` of a contact along `x` = p_i − p_j that pushes with `force`
/// (N) and has `spring`.
#[inline(always)]
pub fn rolling<T: Real>(
    (x, force): (Vec3<T>, Vec3<T>),
    w: Vec3<T>,
    spring: Vec3<T>,
    dt: T,
    k: RollingParameters<T>,
) -> RollingLoad<T> {
    let n = x * (T::splat(1.0) / x.norm());
    let repulsion = force.dot(n).max(T::zero());
    let across = w - n * w.dot(n);
    let turned = spring - n * spring.dot(n) + across * dt;
    let trial = turned * (-k.stiffness);
    let size = trial.norm();
    let limit = k.arm * repulsion;
    // The smallest positive divisor that keeps 0/0 from an untouched spring out.
    let scale = limit / size.max(T::splat(f64::from(f32::MIN_POSITIVE)));
    let gives = limit.lt(size);
    let touching = T::zero().lt(repulsion);
    let none = Vec3::zero();
    let moment = Vec3::select(gives, trial * scale, trial - across * k.damping);
    RollingLoad {
        moment: Vec3::select(touching, moment, none),
        spring: Vec3::select(touching, Vec3::select(gives, turned * scale, turned), none),
    }
}

/// Elastic energy of the spring, J: ½ k_θ |θ|².
#[inline(always)]
pub fn energy<T: Real>(spring: Vec3<T>, k: RollingParameters<T>) -> T {
    T::splat(0.5) * k.stiffness * spring.dot(spring)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(friction: f64) -> RollingParameters<f64> {
        let contact = ContactParameters {
            normal: 1e4,
            tangential: 5e3,
            friction: 0.5,
            damping: 0.0,
        };
        parameters(contact, friction, 2e-3, 2e-3)
    }

    #[test]
    fn it_bears_up_to_its_cap_and_gives_way_beyond() {
        let k = of(0.1);
        let (x, force) = (Vec3::new(0.0, 3.9e-3, 0.0), Vec3::new(0.0, 2.0, 0.0));
        // 0.1 · 2 mm · 2 N.
        let cap = 0.1 * 2e-3 * 2.0;
        let w = Vec3::new(1.0, 7.0, 0.0);
        let mut spring = Vec3::zero();
        let dt = 1e-4;
        for step in 1..=2000 {
            let load = rolling((x, force), w, spring, dt, k);
            let wanted = (k.stiffness * f64::from(step) * dt).min(cap);
            assert!(
                (load.moment.x + wanted).abs() < 1e-12 * cap.max(wanted),
                "{step}"
            );
            // The turn about the normal is none of its business.
            assert_eq!([load.moment.y, load.moment.z], [0.0; 2]);
            spring = load.spring;
        }
        assert!(k.stiffness * 0.2 > cap, "it gave way in the end");
        assert!((energy(spring, k) - cap * cap / (2.0 * k.stiffness)).abs() < 1e-15);
        // Seen from the other end the opposite, bit for bit.
        let mirrored = rolling((-x, -force), -w, -spring, dt, k);
        let load = rolling((x, force), w, spring, dt, k);
        assert_eq!(mirrored.moment.x.to_bits(), (-load.moment.x).to_bits());
        // Apart it forgets.
        let apart = rolling((x, Vec3::zero()), w, spring, dt, k);
        assert_eq!(apart.spring.x, 0.0);
        assert_eq!(apart.moment.x, 0.0);
    }
}
