//! The classes of the bonds of a packing: what bonds of equal sections, materials and ends share.

use std::collections::HashMap;

use crate::columns;
use crate::laws::damping;
use crate::laws::failure::CriterionSection;
use crate::math::Scalar;
use crate::simulate::bonded::system::BondClass;
use crate::simulate::bonded_run::element_survey::ElementSurvey;
use crate::spec::{Criterion, Material, Pipeline};

/// Collects the distinct classes of bonds.
pub struct BondClasses<'a, S> {
    materials: &'a [Material],
    /// Shear correction factor of the law.
    correction: f64,
    survey: &'a ElementSurvey,
    /// Number of each class, by the bits of its inputs.
    known: HashMap<([u64; 5], [u64; 3]), u32>,
    /// The classes so far.
    pub all: Vec<BondClass<S>>,
}

impl<'a, S: Scalar> BondClasses<'a, S> {
    /// No classes yet of the bonds between these elements.
    pub fn new(pipeline: &'a Pipeline, survey: &'a ElementSurvey) -> Self {
        BondClasses {
            materials: &pipeline.materials,
            correction: match pipeline.simulate.bond_law().is_shear_corrected() {
                true => pipeline.simulate.shear_correction,
                false => 1.0,
            },
            survey,
            known: HashMap::new(),
            all: Vec::new(),
        }
    }

    /// Number of the class of bond `k`.
    pub fn number(&mut self, b: &columns::Bonds, k: usize) -> u32 {
        let ElementSurvey {
            material,
            inverse_mass,
            inverse_inertia,
            ..
        } = self.survey;
        let (i, j) = (b.i[k] as usize, b.j[k] as usize);
        let inputs = ClassInputs {
            radius: b.radius[k],
            young: b.young[k],
            shear: b.shear[k],
            inverse_mass: inverse_mass[i] + inverse_mass[j],
            inverse_inertia: inverse_inertia[i] + inverse_inertia[j],
            traits: BondTraits::of([i, j].map(|end| &self.materials[material[end] as usize])),
        };
        *self.known.entry(inputs.key()).or_insert_with(|| {
            let mut made = inputs.class();
            made.gs *= self.correction;
            self.all.push(made.map(S::from_f64));
            self.all.len() as u32 - 1
        })
    }
}

/// Properties that a bond derives from the materials of both ends, whatever their order.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BondTraits {
    /// Mean of the damping ratios.
    damping: f64,
    /// Whether compression counts in either criterion.
    compression_counts: bool,
    /// Whether either criterion uses the largest shear stress of the section, 4/3 of the mean.
    shear_peaks: bool,
}

impl BondTraits {
    fn of(ends: [&Material; 2]) -> Self {
        let mut made = BondTraits {
            damping: 0.5 * (ends[0].damping + ends[1].damping),
            compression_counts: false,
            shear_peaks: false,
        };
        for end in ends {
            match end.criterion {
                // With `rankine` the stress of the solid counts in tension, and that of the bond in shear.
                Criterion::Tension | Criterion::Rankine => {}
                Criterion::Lu2021 => made.compression_counts = true,
                Criterion::Rod => made.shear_peaks = true,
            }
        }
        made
    }

    /// Bits of all fields.
    fn key(self) -> [u64; 3] {
        let BondTraits {
            damping,
            compression_counts,
            shear_peaks,
        } = self;
        [
            damping.to_bits(),
            compression_counts.into(),
            shear_peaks.into(),
        ]
    }
}

/// All inputs of a bond's class: bonds with equal inputs share one class.
#[derive(Clone, Copy, Debug)]
struct ClassInputs {
    /// r0, m.
    radius: f64,
    /// Young's modulus, Pa.
    young: f64,
    /// Shear modulus, Pa.
    shear: f64,
    /// Sum of the inverse masses of both ends, 1/kg.
    inverse_mass: f64,
    /// Sum of the inverse moments of inertia of both ends, 1/(kg m²).
    inverse_inertia: f64,
    traits: BondTraits,
}

impl ClassInputs {
    /// Bits of all fields.
    fn key(&self) -> ([u64; 5], [u64; 3]) {
        let ClassInputs {
            radius,
            young,
            shear,
            inverse_mass,
            inverse_inertia,
            traits,
        } = *self;
        let numbers = [radius, young, shear, inverse_mass, inverse_inertia];
        (numbers.map(f64::to_bits), traits.key())
    }

    /// Section stiffnesses (S = πr0², I = πr0⁴/4, J = πr0⁴/2) and damping.
    ///
    /// The damping coefficients assume touching elements, l0 = 2 r0: damping is a ratio chosen by the user,
    /// not a law.
    fn class(&self) -> BondClass<f64> {
        let ClassInputs {
            radius: r0,
            young,
            shear,
            inverse_mass,
            inverse_inertia,
            traits,
        } = *self;
        let BondTraits {
            damping: ratio,
            compression_counts,
            shear_peaks,
        } = traits;
        let area = std::f64::consts::PI * r0 * r0;
        let second_moment = area * r0 * r0 / 4.0;
        let polar = 2.0 * second_moment;
        let l0 = 2.0 * r0;
        BondClass {
            es: young * area,
            gs: shear * area,
            gj: shear * polar,
            ei: young * second_moment,
            section: CriterionSection {
                inverse_area: 1.0 / area,
                bend_modulus: r0 / second_moment,
                twist_modulus: r0 / polar,
                compression_counts: f64::from(u8::from(compression_counts)),
                inverse_shear_area: match shear_peaks {
                    true => 4.0 / (3.0 * area),
                    false => 1.0 / area,
                },
            },
            damping: damping::coefficient(ratio, young * area / l0, inverse_mass, 0.0),
            spin_damping: damping::coefficient(
                ratio,
                young * second_moment / l0,
                inverse_inertia,
                0.0,
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec;

    #[test]
    fn a_bond_between_two_materials_has_the_damping_and_criterion_of_both() {
        let text = "[time]\nend = 1\nframes_per_second = 24\n\
            [[material]]\nname = \"a\"\ndensity = 1\nyoung = 1e6\npoisson = 0.2\ndamping = 0.1\ncriterion = \"lu2021\"\n\
            [[material]]\nname = \"b\"\ndensity = 1\nyoung = 1e6\npoisson = 0.2\ndamping = 0.5\ncriterion = \"rod\"\n\
            [[body]]\nname = \"ball\"\nmaterial = \"a\"\nshape = { type = \"sphere\", radius = 1 }\n\
            packing = { type = \"hexagonal\", elements = 10 }\n";
        let pipeline = spec::parse(text, "two.toml", &[]).unwrap();
        let [a, b] = [0, 1].map(|k| &pipeline.materials[k]);
        let both = BondTraits::of([a, b]);
        assert_eq!(both, BondTraits::of([b, a]));
        assert_eq!(both.damping, 0.3);
        assert!(both.compression_counts && both.shear_peaks);
        let own = BondTraits::of([a, a]);
        assert!(own.damping == 0.1 && own.compression_counts && !own.shear_peaks);
    }
}
