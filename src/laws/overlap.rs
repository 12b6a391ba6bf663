//! Contact of two solids with an energy of their overlap volume (Feng, Han and Owen, *Energy-conserving
//! contact interaction models for arbitrarily shaped discrete elements*, 2012), with damping and with a
//! tangential spring for friction.
//!
//! ```text
//! U = ½ k_V (V − V₀)² where V > V₀          V: overlap volume; V₀: the part without repulsion
//! p = k_V (V − V₀)
//! S = ∫ n dA, M = ∫ (x − x_i) × n dA        over the surface of i within j, n out of i: ∂V/∂x_i and ∂V/∂θ_i
//! force on i: −p S        torque: −p M      the gradient of U; on j the opposite force along the same line
//! k_V = E/((r_i + r_j) A)                   faces of area A that meet flush are as stiff as A of the solid, r_i + r_j long
//! ```
//! At the centre c of the overlap, with n = −S/|S| and v_c the velocity of i relative to j there,
//!
//! ```text
//! F_r = max(0, p |S| − d v_c·n)             d = 2ζ |S| √(k_V m*)
//! ξ   ← ξ − (ξ·n) n + v_t Δt                as in contact.rs, F_f = −k_t ξ up to μ F_r; k_t = (k_t/k_r) k_V A²;
//!                                           with static friction as in static_friction.rs
//! ```
//! Faces in flush contact can also rock about an axis in their plane and spin about n. Treated as a disc of
//! area |S|, ρ² = |S|/(4π), the contact resists both by moments,
//!
//! ```text
//! c_θ = 2 √(k_V |S|² ρ² I*) up to I*/(2 Δt)       I*: reduced from the smallest moments of inertia of both
//! M   = −ζ c_θ ω_t up to ρ F_r              ω = ω_i − ω_j, ω_t across n
//! M   = −c_θ ω_n up to (4/3) μ ρ F_r        friction torque of a spinning disc with uniform pressure
//! ```

use super::contact::SurfacePair;
use super::work::slip_loss;
use crate::math::{Real, Vec3};

/// Parameters of one contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverlapParameters<T> {
    /// k_V, N/m⁵.
    pub stiffness: T,
    /// k_t, N/m.
    pub tangential: T,
    /// Friction coefficient μ.
    pub friction: T,
    /// Coefficient of static friction, at least μ.
    pub static_friction: T,
    /// d/|S|, N s/m³.
    pub damping: T,
    /// ζ.
    pub damping_ratio: T,
    /// I*, kg m².
    pub inertia: T,
}

/// Overlap of two solids, and their relative motion there.
#[derive(Clone, Copy, Debug)]
pub struct OverlapState<T> {
    /// V − V₀, m³.
    pub volume: T,
    /// S, m².
    pub area: Vec3<T>,
    /// M, m³.
    pub moment: Vec3<T>,
    /// c − x_i, m.
    pub arm: Vec3<T>,
    /// v_c, m/s.
    pub v: Vec3<T>,
    /// ω_i − ω_j, rad/s.
    pub w: Vec3<T>,
    /// Tangential spring ξ, m.
    pub spring: Vec3<T>,
}

/// Load of a contact on i, and the energy that it dissipates.
#[derive(Clone, Copy, Debug)]
pub struct OverlapLoad<T> {
    /// Force on i, N; the opposite on j.
    pub force: Vec3<T>,
    /// Torque on i about its centre, N m.
    pub torque: Vec3<T>,
    /// Spring after the step, zero when apart.
    pub spring: Vec3<T>,
    /// Energy dissipated by damping over the step, J.
    pub damped: T,
    /// Energy dissipated by sliding over the step, J.
    pub slid: T,
}

/// Parameters of two surfaces whose friction is the same at rest and in motion; `length` = r_i + r_j, m; `area` = A,
/// m²; sums of the inverse masses, 1/kg, and of the inverses of the smallest moments of inertia, 1/(kg m²), which are 0
/// for held solids.
#[inline(always)]
pub fn parameters<T: Real>(
    pair: SurfacePair<T>,
    length: T,
    area: T,
    (inverse_mass, inverse_inertia): (T, T),
) -> OverlapParameters<T> {
    let stiffness = pair.modulus / (length * area);
    OverlapParameters {
        stiffness,
        tangential: pair.shear_ratio * stiffness * area * area,
        friction: pair.friction,
        static_friction: pair.friction,
        damping: super::damping::coefficient(
            pair.damping_ratio,
            stiffness,
            inverse_mass,
            T::zero(),
        ),
        damping_ratio: pair.damping_ratio,
        inertia: T::select(
            T::zero().lt(inverse_inertia),
            T::splat(1.0) / inverse_inertia.max(T::splat(f64::from(f32::MIN_POSITIVE))),
            T::zero(),
        ),
    }
}

/// Elastic energy, J; `volume` = V − V₀.
#[inline(always)]
pub fn energy<T: Real>(volume: T, spring: Vec3<T>, k: OverlapParameters<T>) -> T {
    let pushed = volume.max(T::zero());
    T::splat(0.5) * (k.stiffness * pushed * pushed + k.tangential * spring.dot(spring))
}

/// The contact law over one step of length `dt` (s), and whether the contact then slides; `slid`: whether it slid
/// before; `inverse_mass` = 1/m_i + 1/m_j, 1/kg. The volume must be positive and S not zero.
#[inline(always)]
pub fn pair<T: Real>(
    s: OverlapState<T>,
    slid: T::Mask,
    dt: T,
    inverse_mass: T,
    k: OverlapParameters<T>,
) -> (OverlapLoad<T>, T::Mask) {
    let zero = T::zero();
    let pressure = k.stiffness * s.volume;
    let size = s.area.norm();
    let n = s.area * (T::splat(-1.0) / size);
    let approach = s.v.dot(n);
    let elastic = pressure * size;
    let repulsion = (elastic - k.damping * size * approach).max(zero);

    let before = s.spring - n * s.spring.dot(n);
    let stretched = before + (s.v - n * approach) * dt;
    let trial = stretched * (-k.tangential);
    let pull = trial.norm();
    let limit = k.friction * repulsion;
    // The smallest positive divisor prevents 0/0 for a spring that is zero.
    let scale = limit / pull.max(T::splat(f64::from(f32::MIN_POSITIVE)));
    let slips = T::select(slid, limit, k.static_friction * repulsion).lt(pull);
    let friction = Vec3::select(slips, trial * scale, trial);
    let spring = Vec3::select(slips, stretched * scale, stretched);

    let turning = turning_resistance(s, (n, size, repulsion), dt, k);
    let at_centre = n * (repulsion - elastic) + friction;
    let middle = approach + repulsion * inverse_mass * dt * T::splat(0.5);
    let load = OverlapLoad {
        force: n * elastic + at_centre,
        torque: s.arm.cross(at_centre) - s.moment * pressure + turning.moment,
        spring,
        damped: (elastic - repulsion) * middle * dt + turning.rocking,
        slid: slip_loss([before, stretched, spring], k.tangential) + turning.spinning,
    };
    (load, slips)
}

/// Resistance to rocking and spinning.
struct TurningResistance<T> {
    /// Torque on i, N m; on j the opposite.
    moment: Vec3<T>,
    /// Energy dissipated by rocking over the step, J.
    rocking: T,
    /// Energy dissipated by spinning over the step, J.
    spinning: T,
}

#[inline(always)]
fn turning_resistance<T: Real>(
    s: OverlapState<T>,
    (n, size, repulsion): (Vec3<T>, T, T),
    dt: T,
    k: OverlapParameters<T>,
) -> TurningResistance<T> {
    let (half, least) = (T::splat(0.5), T::splat(f64::from(f32::MIN_POSITIVE)));
    let square = size * T::splat(0.25 / std::f64::consts::PI);
    let radius = square.sqrt();
    // Above I*/(2 Δt) the damping of a slender body would reverse its rotation.
    let most = half * k.inertia / dt.max(least);
    let critical = T::splat(2.0) * size * (k.stiffness * square * k.inertia).sqrt();
    let critical = critical.min(most);
    let along = n * s.w.dot(n);
    let across = s.w - along;
    let rocks = (repulsion * radius / across.norm().max(least)).min(critical * k.damping_ratio);
    let limit = k.friction * repulsion * radius * T::splat(4.0 / 3.0);
    let spins = (limit / along.norm().max(least)).min(critical);
    // From the spin in the middle of the kick.
    let taken = |spin: Vec3<T>, c: T| {
        let slowed = half * c * dt / k.inertia.max(least);
        spin.dot(spin) * c * (T::splat(1.0) - slowed) * dt
    };
    TurningResistance {
        moment: -(across * rocks + along * spins),
        rocking: taken(across, rocks),
        spinning: taken(along, spins),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surface(damping_ratio: f64) -> SurfacePair<f64> {
        SurfacePair {
            modulus: 1e9,
            shear_ratio: 0.5,
            friction: 0.4,
            damping_ratio,
        }
    }

    /// Flush faces of 4 m² of cubes 2 m wide, overlapping by 1e-4 m.
    fn flush(v: Vec3<f64>) -> OverlapState<f64> {
        OverlapState {
            volume: 4e-4,
            area: Vec3::new(0.0, -4.0, 0.0),
            moment: Vec3::zero(),
            arm: Vec3::new(0.0, -1.0, 0.0),
            v,
            w: Vec3::zero(),
            spring: Vec3::zero(),
        }
    }

    #[test]
    fn flush_faces_are_as_stiff_as_the_solid() {
        let k = parameters(surface(0.0), 2.0, 4.0, (1.0, 0.0));
        let load = pair(flush(Vec3::zero()), false, 1e-5, 1.0, k).0;
        // E A δ/(r_i + r_j).
        assert!((load.force - Vec3::new(0.0, 2e5, 0.0)).norm() < 1e-6);
        assert_eq!(load.torque.norm(), 0.0);
        let energy = energy(4e-4, Vec3::zero(), k);
        assert!((energy - 0.5 * 2e5 * 1e-4).abs() < 1e-9);
    }

    #[test]
    fn friction_holds_up_to_its_limit_and_then_slides() {
        let k = parameters(surface(0.0), 2.0, 4.0, (1.0, 0.0));
        let slow = pair(flush(Vec3::new(1.0, 0.0, 0.0)), false, 1e-5, 1.0, k).0;
        // k_t = ½ E A/(r_i + r_j).
        assert!((slow.force.x + 1e9 * 1e-5).abs() < 1e-6 && slow.slid == 0.0);
        // The force acts 1 m below the centre.
        assert!((slow.torque.z + 1e4).abs() < 1e-6);
        let fast = pair(flush(Vec3::new(100.0, 0.0, 0.0)), false, 1e-5, 1.0, k).0;
        assert!((fast.force.x + 0.4 * 2e5).abs() < 1e-6);
        // It slides most of 1 mm at 0 to 80 kN.
        assert!((fast.slid - 40e3 * (1e-3 - 80e3 / 1e9)).abs() < 1e-9 * fast.slid);
    }

    #[test]
    fn static_friction_holds_until_it_slides_and_again_once_the_motion_turns_back() {
        let k = OverlapParameters {
            static_friction: 0.6,
            ..parameters(surface(0.0), 2.0, 4.0, (1.0, 0.0))
        };
        // The normal force is 2e5 N; friction rises by 1e4 N per step.
        let (mut spring, mut slides) = (Vec3::zero(), false);
        let mut step = |v: f64| {
            let state = OverlapState {
                spring,
                ..flush(Vec3::new(v, 0.0, 0.0))
            };
            let (load, after) = pair(state, slides, 1e-5, 1.0, k);
            (spring, slides) = (load.spring, after);
            -load.force.x / 2e5
        };
        let pushed: Vec<f64> = (0..14).map(|_| step(1.0)).collect();
        assert!((pushed[10] - 0.55).abs() < 1e-9, "{pushed:?}");
        assert!(pushed[12..].iter().all(|ratio| (ratio - 0.4).abs() < 1e-9));
        let back: Vec<f64> = (0..22).map(|_| step(-1.0)).collect();
        assert!((back[18] + 0.55).abs() < 1e-9, "{back:?}");
        assert!(back[20..].iter().all(|ratio| (ratio + 0.4).abs() < 1e-9));
    }

    #[test]
    fn a_disc_that_spins_is_held_by_friction_all_over_it() {
        let k = parameters(surface(0.0), 2.0, 4.0, (1.0, 1.0));
        let spun = |w: Vec3<f64>| {
            let state = OverlapState {
                w,
                ..flush(Vec3::zero())
            };
            pair(state, false, 1e-5, 1.0, k).0
        };
        let fast = spun(Vec3::new(0.0, 1e7, 0.0));
        // ∫ μ p r dA over a disc of radius R is 2/3 μ F R.
        let radius = (4.0 / std::f64::consts::PI).sqrt();
        let known = 2.0 / 3.0 * 0.4 * 2e5 * radius;
        assert!(
            (fast.torque.y + known).abs() < 1e-6 * known,
            "{:?}",
            fast.torque
        );
        assert!((fast.slid - known * 1e7 * 1e-5).abs() < 0.1 * fast.slid);
        assert!(spun(Vec3::new(0.0, 1.0, 0.0)).torque.y > -known);
        // Without damping, rocking is not resisted.
        assert_eq!(spun(Vec3::new(1.0, 0.0, 0.0)).torque.norm(), 0.0);
    }

    #[test]
    fn damping_takes_energy_and_never_pulls() {
        let k = parameters(surface(0.5), 2.0, 4.0, (1.0, 0.0));
        let nearing = pair(flush(Vec3::new(0.0, -0.1, 0.0)), false, 1e-9, 1.0, k).0;
        let critical = 2.0 * (2e9f64).sqrt();
        assert!((nearing.force.y - (2e5 + 0.5 * critical * 0.1)).abs() < 1e-3);
        assert!(nearing.damped > 0.0);
        let parting = pair(flush(Vec3::new(0.0, 1e3, 0.0)), false, 1e-5, 1.0, k).0;
        assert_eq!(parting.force.norm(), 0.0);
    }
}
