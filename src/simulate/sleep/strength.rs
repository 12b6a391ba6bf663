//! What a load may do to a fragment at most, from the weakest of its bonds.

use crate::math::Scalar;
use crate::simulate::bonded::rest::RestData;
use crate::simulate::bonded::system::System;

/// Properties of the bonds of one element that decide about sleep.
#[derive(Clone, Copy, Debug)]
pub struct ElementBonds {
    /// Largest inverse speed of sound in its bonds, s/m; 0 without bonds.
    pub slowness: f64,
    /// Largest stress per closing speed of an impact over strength, √(E ρ)/σ_c, s/m.
    pub impact: f64,
    /// Largest stress per force over strength, 1/N.
    pub force: f64,
    /// Largest stress per bending or twisting moment over strength, 1/(N m).
    pub moment: f64,
}

/// What a load may do to a fragment at most. Here the *use* of strength is the stress that the load adds over the
/// strength that the stress before it leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Strength {
    /// Use of strength per closing speed of an impact, s/m.
    pub impact: f64,
    /// Use of strength per force, 1/N, wherever it acts.
    pub force: f64,
}

impl ElementBonds {
    /// Properties of the intact bonds of an element; `None` if one of them cannot break.
    pub fn of<S: Scalar>(system: &System<S>, rest: &RestData, i: usize) -> Option<Self> {
        let mut all = ElementBonds {
            slowness: 0.0,
            impact: 0.0,
            force: 0.0,
            moment: 0.0,
        };
        let density = rest.mass[i] / rest.volume[i];
        let bonds = &system.bonds;
        for side in bonds.sides(i).filter(|side| bonds.is_intact(side.entry)) {
            let class = &system.classes[bonds.class.get(side.entry) as usize];
            let section = &class.section;
            let strengths = [&bonds.sigma_c, &bonds.tau_c];
            let [sigma_c, tau_c] = strengths.map(|column| column.get(side.entry).to_f64());
            let strength = sigma_c.min(tau_c);
            if strength.is_infinite() {
                return None;
            }
            let (es, per_area) = (class.es.to_f64(), section.inverse_area.to_f64());
            let young = es * per_area;
            let shear = section.inverse_shear_area.to_f64();
            let (bend, twist) = (
                section.bend_modulus.to_f64(),
                section.twist_modulus.to_f64(),
            );
            let larger = |to: &mut f64, value: f64| *to = to.max(value);
            larger(&mut all.slowness, (density / young).sqrt());
            larger(&mut all.impact, (young * density).sqrt() / strength);
            larger(&mut all.force, (per_area / sigma_c).max(shear / tau_c));
            larger(&mut all.moment, (bend / sigma_c).max(twist / tau_c));
        }
        Some(all)
    }
}

impl Strength {
    /// Strength of a fragment whose elements lie within `reach` (m) of its centre. The bonds of each element come
    /// with the part of their strength that is left.
    ///
    /// A force is carried by one bond at worst, with the moment of an arm across the whole fragment.
    pub fn of<'a>(bonds: impl Iterator<Item = (&'a ElementBonds, f64)>, reach: f64) -> Self {
        let mut all = [0.0_f64; 3];
        for (one, left) in bonds {
            for (largest, value) in all.iter_mut().zip([one.impact, one.force, one.moment]) {
                *largest = largest.max(value / left);
            }
        }
        let [impact, force, moment] = all;
        Strength {
            impact,
            force: force + 2.0 * reach * moment,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ElementBonds, Strength};

    #[test]
    fn a_stressed_bond_bears_less_than_a_weaker_one_at_rest() {
        let bonds = |strength: f64| ElementBonds {
            slowness: 1.0,
            impact: 1.0 / strength,
            force: 2.0 / strength,
            moment: 3.0 / strength,
        };
        let (weak, strong) = (bonds(4.0), bonds(5.0));
        let of = |left: f64| Strength::of([(&weak, 1.0), (&strong, left)].into_iter(), 0.5);
        let expected = |strength: f64| Strength {
            impact: 1.0 / strength,
            force: 5.0 / strength,
        };
        assert_eq!(of(1.0), expected(4.0));
        assert_eq!(of(0.5), expected(2.5));
    }
}
