//! Contact of two elements that no bond joins (Lu 2021, §3.3), with a tangential spring for friction.
//!
//! ```text
//! δ   = touch − l > 0                        overlap; touch = r_i + r_j; of a broken bond min(max(l0, r_i + r_j), l when it broke)
//! v_c = v_i + ω_i×(−a_i n) − v_j − ω_j×(a_j n)     velocity of the contact point (the paper leaves rotation out)
//! F_r = max(0, k_r δ − c v_c·n) n            on i; k_r = E S/(r_i + r_j), S = π((r_i + r_j)/2)²
//! ξ   ← ξ − (ξ·n) n + v_t Δt                 tangential spring, zero on first touch
//! F_f = −k_t ξ, and where |F_f| ≥ μ|F_r|:    F_f ← μ|F_r| F_f/|F_f|, ξ ← −F_f/k_t
//! torque on i: −a_i n × F_f                  on j: a_j n × (−F_f)
//! ```
//! a_i, a_j: arms from the centres to the contact point. The radii are a good approximation where the overlap
//! is small; arms that add up to l, as the simulation uses, conserve angular momentum exactly. Exchanging i
//! and j changes the sign of force and spring bit for bit, so both ends may evaluate the law independently.

use super::damping;
use crate::math::{Real, Vec3};

/// Contact properties of a pair of surfaces.
#[derive(Clone, Copy, Debug)]
pub struct SurfacePair<T> {
    /// Modulus of both in series, Pa.
    pub modulus: T,
    /// k_t/k_r.
    pub shear_ratio: T,
    /// Friction coefficient μ.
    pub friction: T,
    /// Ratio of critical normal damping.
    pub damping_ratio: T,
}

/// Parameters of one contact.
#[derive(Clone, Copy, Debug)]
pub struct ContactParameters<T> {
    /// k_r, N/m.
    pub normal: T,
    /// k_t, N/m.
    pub tangential: T,
    /// Friction coefficient μ.
    pub friction: T,
    /// Normal damping c, N s/m.
    pub damping: T,
}

/// State of both elements of a contact.
#[derive(Clone, Copy, Debug)]
pub struct ContactState<T> {
    /// p_i − p_j.
    pub x: Vec3<T>,
    /// v_i − v_j.
    pub v: Vec3<T>,
    /// ω_i.
    pub w_i: Vec3<T>,
    /// ω_j.
    pub w_j: Vec3<T>,
    /// Arm of i, m.
    pub arm_i: T,
    /// Arm of j, m.
    pub arm_j: T,
    /// Distance at which they touch.
    pub touch: T,
    /// Tangential spring ξ.
    pub spring: Vec3<T>,
}

/// A contact over a step, before its friction is limited.
#[derive(Clone, Copy, Debug)]
pub struct Trial<T> {
    /// n, the unit vector from j to i.
    pub normal: Vec3<T>,
    /// δ, positive when touching, m.
    pub overlap: T,
    /// |F_r|, N.
    pub repulsion: T,
    /// ξ, stretched by the whole step, m.
    pub stretched: Vec3<T>,
    /// −k_t ξ, N.
    pub force: Vec3<T>,
    /// k_t |ξ|, N.
    pub size: T,
}

/// Load of a contact on both elements.
#[derive(Clone, Copy, Debug)]
pub struct PairLoad<T> {
    /// Force on i, N; the opposite on j.
    pub force: Vec3<T>,
    /// Friction × normal, N: multiplied by the arm of either element it is the torque on that element.
    pub couple: Vec3<T>,
    /// Spring after the step, zero when apart.
    pub spring: Vec3<T>,
    /// Overlap, positive when touching, m.
    pub overlap: T,
}

/// Load of a contact on i.
#[derive(Clone, Copy, Debug)]
pub struct ContactLoad<T> {
    /// Force on i, N.
    pub force: Vec3<T>,
    /// Torque on i, N m.
    pub torque: Vec3<T>,
    /// Spring after the step, zero when apart.
    pub spring: Vec3<T>,
    /// Overlap, positive when touching, m.
    pub overlap: T,
}

/// The contact law over one step of length `dt` (s), for one element.
#[inline(always)]
pub fn contact<T: Real>(s: ContactState<T>, dt: T, k: ContactParameters<T>) -> ContactLoad<T> {
    of_one(pair(s, dt, k), s.arm_i)
}

/// The load on one element, whose arm is `arm` (m), from the load on both.
#[inline(always)]
pub fn of_one<T: Real>(both: PairLoad<T>, arm: T) -> ContactLoad<T> {
    ContactLoad {
        force: both.force,
        torque: both.couple * arm,
        spring: both.spring,
        overlap: both.overlap,
    }
}

/// The contact law over one step of length `dt` (s), for both elements.
#[inline(always)]
pub fn pair<T: Real>(s: ContactState<T>, dt: T, k: ContactParameters<T>) -> PairLoad<T> {
    let unlimited = trial(s, dt, k);
    let limit = k.friction * unlimited.repulsion;
    limited(unlimited, limit, limit)
}

/// The contact over a step of length `dt` (s), before its friction is limited.
#[inline(always)]
pub fn trial<T: Real>(s: ContactState<T>, dt: T, k: ContactParameters<T>) -> Trial<T> {
    let length = s.x.norm();
    let n = s.x * (T::splat(1.0) / length);
    let overlap = s.touch - length;

    // If a product were fused with the sum it would not be rounded, which would break the symmetry of i and
    // j.
    let rolling = (s.w_i * s.arm_i).each_kept() + (s.w_j * s.arm_j).each_kept();
    let v = s.v - rolling.cross(n);
    let approach = v.dot(n);
    let repulsion = (k.normal * overlap - k.damping * approach).max(T::zero());

    let tangential = v - n * approach;
    let stretched = s.spring - n * s.spring.dot(n) + tangential * dt;
    let force = stretched * (-k.tangential);
    Trial {
        normal: n,
        overlap,
        repulsion,
        stretched,
        force,
        size: force.norm(),
    }
}

/// The load of a contact that holds up to the friction `holds` (N), and beyond that slips with `slides` (N).
#[inline(always)]
pub fn limited<T: Real>(t: Trial<T>, holds: T, slides: T) -> PairLoad<T> {
    // The smallest positive divisor prevents 0/0 for a spring that is zero.
    let scale = slides / t.size.max(T::splat(f64::from(f32::MIN_POSITIVE)));
    let slips = holds.lt(t.size);
    let friction = Vec3::select(slips, t.force * scale, t.force);
    let spring = Vec3::select(slips, t.stretched * scale, t.stretched);

    let touching = T::zero().lt(t.overlap);
    let none = Vec3::zero();
    PairLoad {
        force: Vec3::select(touching, t.normal * t.repulsion + friction, none),
        couple: Vec3::select(touching, friction.cross(t.normal), none),
        spring: Vec3::select(touching, spring, none),
        overlap: t.overlap,
    }
}

/// k_r of two elements, N/m, from the contact modulus (Pa) and their radii (m).
#[inline(always)]
pub fn stiffness<T: Real>(modulus: T, r_i: T, r_j: T) -> T {
    let mean = T::splat(0.5) * (r_i + r_j);
    modulus * T::splat(std::f64::consts::PI) * mean * mean / (r_i + r_j)
}

/// Parameters of two surfaces at given radii (m) and inverse masses (1/kg, 0 where held).
#[inline(always)]
pub fn parameters<T: Real>(
    pair: SurfacePair<T>,
    r_i: T,
    r_j: T,
    inverse_i: T,
    inverse_j: T,
) -> ContactParameters<T> {
    let normal = stiffness(pair.modulus, r_i, r_j);
    ContactParameters {
        normal,
        tangential: normal * pair.shear_ratio,
        friction: pair.friction,
        damping: damping::coefficient(pair.damping_ratio, normal, inverse_i, inverse_j),
    }
}

/// Arms of both elements, m: each radius is reduced by its share of the overlap, so that both arms end at one
/// point.
#[inline(always)]
pub fn arms<T: Real>(x: Vec3<T>, r_i: T, r_j: T) -> (T, T) {
    let share = x.norm() / (r_i + r_j);
    (r_i * share, r_j * share)
}

/// Contact with a wall, as with a mirrored element of the same size that has neither mass nor spin.
#[derive(Clone, Copy, Debug)]
pub struct WallContact<T> {
    /// From the mirrored element to this one, m.
    pub x: Vec3<T>,
    /// Distance at which they touch, m.
    pub touch: T,
    /// Arm of the element, m.
    pub arm: T,
}

/// Contact of an element of radius `r` with the wall that its centre is `distance` from; `normal` points out
/// of the wall.
///
/// An element that has penetrated by more than its radius is still pushed out, since the normal is that of
/// the wall.
#[inline(always)]
pub fn wall<T: Real>(distance: T, normal: Vec3<T>, r: T) -> WallContact<T> {
    let length = (r + distance).max(r * T::splat(1e-3));
    WallContact {
        x: normal * length,
        touch: r - distance + length,
        arm: distance,
    }
}

/// Elastic energy of a touching contact, J: ½ k_r δ² + ½ k_t |ξ|², with overlap δ and tangential spring ξ.
#[inline(always)]
pub fn energy<T: Real>(overlap: T, spring: Vec3<T>, k: ContactParameters<T>) -> T {
    let stretch = k.normal * overlap * overlap;
    T::splat(0.5) * (stretch + k.tangential * spring.dot(spring))
}

/// Modulus of two materials in series, Pa.
pub fn series_modulus(e_i: f64, e_j: f64) -> f64 {
    2.0 / (1.0 / e_i + 1.0 / e_j)
}
