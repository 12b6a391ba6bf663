//! What a load may do to a fragment at most, from the weakest of its bonds.

use crate::math::Scalar;
use crate::simulate::bonded::rest::RestData;
use crate::simulate::bonded::system::System;
use crate::simulate::sleep::watched::Watched;

/// Number of bonds between an element that is hit and the farthest one whose bonds the impact strains.
pub const RINGS: usize = 2;

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

/// The bonds of all elements, to find what an impact may do near one of them.
#[derive(Clone, Copy, Debug)]
pub struct LocalStrength<'a> {
    /// Properties of the bonds of each element; `None` for elements that never sleep.
    pub bonds: &'a [Option<ElementBonds>],
    /// Their stresses before their fragment fell asleep.
    pub watched: &'a [Watched],
}

impl LocalStrength<'_> {
    /// Use of strength per closing speed of an impact on an element, s/m: the largest of the bonds of all elements
    /// within [`RINGS`] bonds of it. Farther away the wave has spread.
    pub fn impact<S: Scalar>(&self, system: &System<S>, element: u32) -> f64 {
        let bonds = &system.bonds;
        let mut found = vec![element as usize];
        let mut from = 0;
        for _ in 0..RINGS {
            let ring = from..found.len();
            from = ring.end;
            for at in ring {
                let intact = bonds.sides(found[at]);
                for side in intact.filter(|side| bonds.is_intact(side.entry)) {
                    if !found.contains(&side.other) {
                        found.push(side.other);
                    }
                }
            }
        }
        let uses = found.into_iter().map(|i| {
            let impact = self.bonds[i].as_ref().map_or(0.0, |bonds| bonds.impact);
            impact / self.watched[i].left()
        });
        uses.fold(0.0, f64::max)
    }
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
    use super::{ElementBonds, LocalStrength, Strength};
    use crate::simulate::sleep::test_scene::{asleep, blocks};
    use crate::simulate::sleep::watched::Watched;

    #[test]
    fn an_impact_is_judged_by_the_bonds_within_two_of_the_element() {
        let text = blocks(&[([6, 1, 1], 0.0)], 0.0);
        let (built, _) = asleep(&text, 0..0);
        let system = &built.system;
        let mut order: Vec<u32> = (0..system.count as u32).collect();
        order.sort_by(|&a, &b| {
            let [a, b] = [a, b].map(|i| system.position(i as usize).x);
            a.total_cmp(&b)
        });
        let mut bonds: Vec<_> = (0..system.count)
            .map(|i| ElementBonds::of(system, &built.rest, i))
            .collect();
        let mut watched = vec![Watched::NEVER; system.count];
        let sound = bonds[0].as_ref().unwrap().impact;
        assert!(sound > 0.0);
        bonds[order[3] as usize].as_mut().unwrap().impact = 2.0 * sound;
        watched[order[3] as usize].add(0.5);
        let strength = LocalStrength {
            bonds: &bonds,
            watched: &watched,
        };
        let uses = order.iter().map(|&i| strength.impact(system, i) / sound);
        assert_eq!(uses.collect::<Vec<_>>(), [1.0, 4.0, 4.0, 4.0, 4.0, 4.0]);
    }

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
