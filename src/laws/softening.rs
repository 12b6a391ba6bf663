//! Softening of a bond that has reached its strength (crack band: Bažant and Oh 1983): a crack dissipates the
//! same energy per area whatever the size of the elements.
//!
//! ```text
//! κ   = largest u so far, at least 1              u = max(σ/σ_c, τ/τ_c) of the undamaged bond: use of strength
//! s   = (u_f − κ)/(u_f − 1)                       strength that is left, over the initial one
//! g   = s/κ                                       stiffness that is left: the bond unloads to the origin
//! u_f = D/w                                       the bond breaks when κ reaches it
//! w                                               energy of the bond when u reaches 1, by how it is loaded then
//! D   = G_c A w0/w̄                                energy that it dissipates; in calibrated random packings G_c A S
//! w0  = ½ (σ_c S)²/k_n                            w of a bond that is pulled
//! w̄   = Σ w0 l/Σ S l                              mean of w0/S over the bonds of a body between the same materials
//! G_c = K_IC² (1 − ν²)/E
//! A   = 2 V/(c² Σ S l)                            area of crack over the section of its bonds, divided by c²
//! ```
//! Damage leaves g times the energy W of the law, but a bond bears compression in full, as a crack does that
//! closes: its energy is g W + (1 − g) ½ k_n min(l − l0, 0)². The areas below both curves of stress over strain
//! differ by the factor u_f. Where bonds point in all directions alike, those that cross a plane have ½ Σ S l/V of
//! section for each area of the plane (V: volume of the body, l: lengths of its bonds).
//!
//! With c = 1, an ideal crack, which breaks the bonds that cross its plane and damages no other, takes G_c. Cracks
//! take more: bonds beside them soften too, random packings have no planes, and elements swing when bonds break. c is
//! the K_IC of a packing with c = 1 over the one entered: [`LATTICE`] and [`random`] are means over strips with a sharp
//! crack, 16 to 64 elements high, that were pulled until it ran (`tools/tear_strips.rs`). Packings are calibrated where
//! strengths are those of the solid; elsewhere c is 1.
//!
//! Where strengths scatter, stronger bonds dissipate more energy. In calibrated random packings, elements with few
//! bonds have bonds up to six times as strong, which would stop cracks if they dissipated more, too: there D follows
//! from the section alone. Where u_f of a pulled bond is below 1, elements are too large for the toughness: the
//! strengths of the bond are multiplied by √u_f.

use super::bond::BondLoad;
use super::tangent::Tangent;
use crate::math::{Mat3, Real, Vec3};

/// c of hexagonal packings, mean over cracks across x, y and z.
pub const LATTICE: f64 = 1.25;

/// c of random packings of a solid with Poisson's ratio `poisson`.
pub fn random(poisson: f64) -> f64 {
    1.33 + 28.0 * poisson.max(0.0).powi(3)
}

/// What is left of a bond; 1 and 1 before it is damaged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Left<T> {
    /// g, of its stiffness.
    pub stiffness: T,
    /// s, of its strength.
    pub strength: T,
}

/// G_c, J/m², from K_IC (Pa √m), E (Pa) and ν.
pub fn fracture_energy(toughness: f64, young: f64, poisson: f64) -> f64 {
    toughness * toughness * (1.0 - poisson * poisson) / young
}

/// A of a body, from its volume (m³), the sum of S l over its bonds (m³) and c.
pub fn crack_area(volume: f64, bonds: f64, excess: f64) -> f64 {
    2.0 * volume / (bonds * excess * excess)
}

/// w, J, of a bond that is pulled, from the tensile strength σ_c (Pa), the section S (m²) and k_n (N/m).
pub fn brittle_energy(strength: f64, section: f64, normal: f64) -> f64 {
    let force = strength * section;
    0.5 * force * force / normal
}

/// Factor on the strengths of a bond whose u_f is `end` when it is pulled.
pub fn weakening(end: f64) -> f64 {
    end.sqrt().min(1.0)
}

/// How much energy cracks take in a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrackRule {
    /// c.
    pub excess: f64,
    /// Whether bonds take as much as they are strong, not by their sections alone.
    pub by_strength: bool,
}

/// Sums over the bonds of a body, or of one material in it, that can break.
#[derive(Clone, Copy, Debug, Default)]
pub struct BondSums {
    /// Σ S l, m³.
    pub sections: f64,
    /// Σ w0 l, J m.
    pub energies: f64,
}

impl BondSums {
    /// Adds a bond of this section (m²), length (m) and energy w0 (J).
    pub fn add(&mut self, section: f64, length: f64, energy: f64) {
        self.sections += section * length;
        self.energies += energy * length;
    }

    /// D, J, of a bond with this section (m²) and energy w0 (J). `fracture`: G_c A, J/m².
    pub fn energy(&self, rule: CrackRule, fracture: f64, section: f64, energy: f64) -> f64 {
        match rule.by_strength {
            true => fracture * energy * self.sections / self.energies,
            false => fracture * section,
        }
    }
}

/// u_f of a bond that takes `energy` until it breaks, from the energy that it would release (`released`) if it
/// broke undamaged at u = `used`; both in J.
#[inline(always)]
pub fn end<T: Real>(energy: T, used: T, released: T) -> T {
    energy * used * used / released
}

/// κ after a stress of `used` times the strength left, from what was left before.
#[inline(always)]
pub fn reached<T: Real>(left: Left<T>, used: T) -> T {
    left.strength * used / left.stiffness
}

/// What is left at κ = `reached`, less than u_f = `end`.
#[inline(always)]
pub fn left_at<T: Real>(reached: T, end: T) -> Left<T> {
    let strength = (end - reached) / (end - T::splat(1.0));
    Left {
        stiffness: strength / reached,
        strength,
    }
}

/// What is left of a bond that breaks at κ = `end` after a stress of `used` times the strength left, from what
/// was left before; `None` if it breaks.
pub fn damaged(left: Left<f64>, used: f64, end: f64) -> Option<Left<f64>> {
    let reached = reached(left, used);
    (reached < end).then(|| left_at(reached, end))
}

/// Load of a bond with `stiffness` left, from that of the undamaged bond: `x` = p_i − p_j, the rest length (m)
/// and k_n (N/m). The derivative of [`energy`].
#[inline(always)]
pub fn softened<T: Real>(
    load: BondLoad<T>,
    x: Vec3<T>,
    rest_length: T,
    normal: T,
    stiffness: T,
) -> BondLoad<T> {
    let length = x.norm();
    // What is lost of the push between both ends.
    let push = (length - rest_length).min(T::zero()) * normal * (T::splat(1.0) - stiffness);
    BondLoad {
        force: load.force * stiffness - x * (push / length),
        moment: load.moment * stiffness,
        axial: load.axial * stiffness + push,
        shear: load.shear * stiffness,
        twist: load.twist * stiffness,
        bend: load.bend * stiffness,
    }
}

/// Elastic energy of a bond with `stiffness` left, J, from the energy of the undamaged bond; other arguments as of
/// [`softened`].
#[inline(always)]
pub fn energy<T: Real>(whole: T, x: Vec3<T>, rest_length: T, normal: T, stiffness: T) -> T {
    let short = (x.norm() - rest_length).min(T::zero());
    let pressed = short * short * normal * T::splat(0.5);
    whole * stiffness + pressed * (T::splat(1.0) - stiffness)
}

/// Second derivatives of [`energy`] from those of the undamaged bond; `exact`, or without their part that may be
/// negative.
pub fn tangent(
    whole: Tangent<f64>,
    x: Vec3<f64>,
    (rest_length, normal): (f64, f64),
    stiffness: f64,
    exact: bool,
) -> Tangent<f64> {
    let mut softened = whole.scaled(stiffness);
    let length = x.norm();
    let short = length - rest_length;
    if short < 0.0 {
        let along = Mat3::outer(x, x) * (1.0 / (length * length));
        let mut push = along;
        if exact {
            push = push + (Mat3::diagonal(1.0) - along) * (short / length);
        }
        softened.ww = softened.ww + push * (normal * (1.0 - stiffness));
    }
    softened
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_the_energy() {
        let (rest, normal, left) = (1.0, 3.0, 0.3);
        let push = |x: Vec3<f64>| energy(0.0, x, rest, normal, left);
        let none = Vec3::zero();
        let unloaded = BondLoad {
            force: none,
            moment: none,
            axial: 0.0,
            shear: none,
            twist: none,
            bend: none,
        };
        let force = |x| softened(unloaded, x, rest, normal, left).force;
        let h = 1e-6;
        for x in [[0.4, 0.5, 0.6], [0.7, 0.8, 0.9]] {
            let x = Vec3::from_f64(x);
            let second = tangent(Tangent::zero(), x, (rest, normal), left, true).ww;
            for axis in 0..3 {
                let mut step = [0.0; 3];
                step[axis] = h;
                let (ahead, behind) = (x + Vec3::from_f64(step), x - Vec3::from_f64(step));
                let slope = (push(ahead) - push(behind)) / (2.0 * h);
                assert!((force(x).to_f64()[axis] + slope).abs() < 1e-8);
                let bent = (force(ahead) - force(behind)) * (-0.5 / h);
                let off = bent - second.rows[axis];
                assert!(off.norm() < 1e-7, "{off:?}");
            }
        }
    }
}
