//! The bonds of a body, which are computed when they are read: as a table they take several times the memory of the
//! elements.

use std::f64::consts::PI;
use std::ops::Range;

use crate::parallel::prelude::*;
use glam::{DQuat, DVec3};

use super::body::PackedBody;
use super::cracks;
use super::elements::BodyElements;
use super::error::PackError;
use super::filled::Calibration;
use super::inputs::{Inputs, PackedMaterial};
use super::kinds::{self, BondProperties, PairTable};
use super::lattice::NEIGHBOUR_DIRECTIONS;
use super::scatter::DrawnBond;
use super::sections::{BondSections, BondedElements};
use crate::columns::Bonds;
use crate::geometry::cells::SharedFace;
use crate::laws::bond::BondRadiusRule;
use crate::spec::Strength;

/// The bonds of a body.
#[derive(Clone, Debug)]
pub(super) struct BodyBonds {
    /// Ends, by element number in the body.
    pairs: Vec<[u32; 2]>,
    /// Id of its first bond.
    first: u32,
    radii: Radii,
    /// Whether a crack runs between the ends; empty if the body has no crack.
    cracked: Vec<bool>,
    properties: PairTable,
    draw: Draw,
}

/// Radii of bonds, m.
#[derive(Clone, Debug)]
enum Radii {
    /// They follow from the radii of both ends.
    Rule(BondRadiusRule),
    /// They and the strengths also depend on the other bonds of both ends.
    Sections(BondSections),
    /// Those of each bond.
    Each(Vec<f64>),
}

/// What the strengths of a body's bonds are drawn with.
#[derive(Clone, Copy, Debug)]
struct Draw {
    seed: u64,
    /// Number of the body.
    body: u64,
    /// Position of the body, m.
    position: DVec3,
    /// Turns directions of the world into the frame of the shape.
    turn: DQuat,
}

impl BodyBonds {
    /// Takes the pairs of body number `index`, whose material is number `own`, and which has these elements; `first`:
    /// id of its first bond.
    pub fn new(
        inputs: &Inputs,
        (index, own): (usize, usize),
        packed: &mut PackedBody,
        elements: &BodyElements,
        first: u32,
    ) -> Result<Self, PackError> {
        let body = &inputs.bodies[index];
        let radii = Radii::of(inputs, packed, elements, &inputs.materials[own]);
        let fabric = fabric(packed, elements, &radii);
        let count = elements.radii.len() as f64;
        let element = 2.0 * elements.radii.iter().sum::<f64>() / count;
        let packing = (packed.calibration, element);
        Ok(BodyBonds {
            properties: PairTable::new(inputs, body, &elements.materials, fabric, packing)?,
            radii,
            cracked: cracks::between(body, &packed.pairs, &elements.centres)?,
            pairs: std::mem::take(&mut packed.pairs),
            first,
            draw: Draw {
                seed: inputs.settings.seed,
                body: index as u64,
                position: DVec3::from_array(body.position),
                turn: body.rotation.quaternion().inverse(),
            },
        })
    }

    /// Ids of the bonds.
    pub fn ids(&self) -> Range<usize> {
        let first = self.first as usize;
        first..first + self.pairs.len()
    }

    /// Appends the bonds with these ids to a table, except their law; `elements` are those of the body.
    pub fn append(&self, elements: &BodyElements, ids: Range<usize>, bonds: &mut Bonds) {
        let first = self.ids().start;
        let rows = ids.start - first..ids.end - first;
        let pairs = self.pairs[rows.clone()].par_iter();
        let before = bonds.l0.len();
        let length = |pair: &[u32; 2]| between(elements, *pair).length();
        bonds.l0.par_extend(pairs.clone().map(length));
        let lengths = &bonds.l0[before..];
        for (column, axis) in [&mut bonds.dx, &mut bonds.dy, &mut bonds.dz]
            .into_iter()
            .zip(0..)
        {
            let d0 = |(pair, l0): (&[u32; 2], &f64)| between(elements, *pair)[axis] * l0.recip();
            column.par_extend(pairs.clone().zip(lengths).map(d0));
        }
        let indexed = rows.clone().into_par_iter();
        let radius = |row| self.radii.of_bond(row, self.pairs[row], elements);
        bonds.radius.par_extend(indexed.clone().map(radius));
        let first_element = elements.ids().start as u32;
        let [i, j] = [0, 1].map(|end| self.pairs[rows.clone()].iter().map(move |pair| pair[end]));
        bonds.i.extend(i.map(|i| first_element + i));
        bonds.j.extend(j.map(|j| first_element + j));
        let properties = indexed.map(|row| self.properties(elements, row));
        let properties: Vec<BondProperties> = properties.collect();
        let properties = || properties.iter();
        bonds.young.extend(properties().map(|bond| bond.young));
        bonds.shear.extend(properties().map(|bond| bond.shear));
        bonds.sigma_c.extend(properties().map(|bond| bond.sigma_c));
        bonds.tau_c.extend(properties().map(|bond| bond.tau_c));
        bonds.id.extend(ids.map(|id| id as u32));
    }

    /// Moduli and strengths of a bond.
    fn properties(&self, elements: &BodyElements, row: usize) -> BondProperties {
        let pair = self.pairs[row];
        let [a, b] = pair.map(|end| elements.materials[end as usize]);
        let [p, q] = pair.map(|end| elements.centres[end as usize]);
        let Draw {
            seed,
            body,
            position,
            turn,
        } = self.draw;
        let drawn = DrawnBond {
            id: self.first + row as u32,
            middle: turn * ((p + q) / 2.0 - position),
            body,
        };
        let rule = self.properties.pair(a, b);
        let mut bond = rule.bond_properties((q - p).normalize(), seed, drawn);
        if let Radii::Sections(sections) = &self.radii {
            let [sigma, tau] = rule.factors(sections.stronger(pair));
            bond.sigma_c *= sigma;
            bond.tau_c *= tau;
        }
        if self.cracked.get(row) == Some(&true) {
            (bond.sigma_c, bond.tau_c) = (0.0, 0.0);
        }
        bond
    }
}

/// From the first end of a bond to the second, m.
fn between(elements: &BodyElements, pair: [u32; 2]) -> DVec3 {
    let [p, q] = pair.map(|end| elements.centres[end as usize]);
    q - p
}

impl Radii {
    /// Those of a body of this material.
    fn of(
        inputs: &Inputs,
        packed: &PackedBody,
        elements: &BodyElements,
        material: &PackedMaterial,
    ) -> Self {
        if let Some(cells) = &packed.cells {
            // Radius of a disc with the area of the face.
            let radius = |face: &SharedFace| (face.section.area / PI).sqrt();
            return Radii::Each(cells.between.iter().map(radius).collect());
        }
        let rule = inputs.settings.bond_radius;
        let (Strength::Material, Calibration::Random(packing)) =
            (material.strength, packed.calibration)
        else {
            return Radii::Rule(rule);
        };
        let bonded = BondedElements {
            pairs: &packed.pairs,
            length: |pair| between(elements, pair).length(),
            radii: &elements.radii,
        };
        let fabric = kinds::fabric_of_bonds(material, packing);
        Radii::Sections(bonded.sections(rule, (fabric, packed.volume, packing.share)))
    }

    /// Radius of bond number `row` of the body, m.
    fn of_bond(&self, row: usize, pair: [u32; 2], elements: &BodyElements) -> f64 {
        match self {
            Radii::Each(radii) => radii[row],
            Radii::Sections(sections) => sections.radius(pair, &elements.radii),
            Radii::Rule(rule) => {
                let [a, b] = pair.map(|end| elements.radii[end as usize]);
                rule.radius(a, b)
            }
        }
    }
}

/// Σ S l0 / (3V) of a body whose bonds have these radii, m.
fn fabric(packed: &PackedBody, elements: &BodyElements, radii: &Radii) -> f64 {
    let volume = |(row, &pair): (usize, &[u32; 2])| {
        let radius = radii.of_bond(row, pair, elements);
        PI * radius.powi(2) * between(elements, pair).length()
    };
    let sum: f64 = packed.pairs.iter().enumerate().map(volume).sum();
    // An element at the border of a lattice counts as an interior one: a free border carries no load across
    // it, so the bonds missing there do not soften the rows along it. Elements at the border of a random
    // packing have no such rows: only their own bonds count.
    let counted = match packed.calibration {
        Calibration::Lattice => {
            let all = (NEIGHBOUR_DIRECTIONS.len() * elements.centres.len()) as f64;
            all / 2.0 / packed.pairs.len() as f64
        }
        Calibration::Random(_)
        | Calibration::Shell { .. }
        | Calibration::Yarn
        | Calibration::Cells => 1.0,
    };
    counted * sum / (3.0 * packed.volume)
}
