//! The bonds of a body, which are computed when they are read: as a table they take several times the memory of the
//! elements.

use std::f64::consts::PI;
use std::ops::Range;

use crate::parallel::prelude::*;
use glam::{DQuat, DVec3};

use super::body::PackedBody;
use super::cracks;
use super::error::PackError;
use super::filled::Calibration;
use super::inputs::{Inputs, PackedMaterial};
use super::kinds::{self, BondProperties, PairTable};
use super::lattice::NEIGHBOUR_DIRECTIONS;
use super::scatter::DrawnBond;
use super::sections::BondedElements;
use crate::columns::{Bonds, Elements};
use crate::laws::bond::BondRadiusRule;
use crate::spec::Strength;

/// The bonds of a body.
#[derive(Clone, Debug)]
pub(super) struct BodyBonds {
    /// Ends, by element number in the body.
    pairs: Vec<[u32; 2]>,
    /// Number of the body's first element in the packing.
    first: u32,
    /// Id of its first bond.
    first_bond: u32,
    radii: Radii,
    /// Factors on the strengths, if the bonds have any.
    stronger: Option<Vec<f64>>,
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
    /// Takes the pairs of body number `index`, whose material is number `own`; `materials` holds those of its elements,
    /// `firsts` the numbers of its first element and bond.
    pub fn new(
        inputs: &Inputs,
        (index, own): (usize, usize),
        packed: &mut PackedBody,
        materials: &[u32],
        firsts: [u32; 2],
    ) -> Result<Self, PackError> {
        let body = &inputs.bodies[index];
        let length =
            |&[i, j]: &[u32; 2]| (packed.centres[j as usize] - packed.centres[i as usize]).length();
        let lengths: Vec<f64> = packed.pairs.par_iter().map(length).collect();
        let (radii, stronger) = sections(inputs, packed, &inputs.materials[own], &lengths);
        let fabric = fabric(packed, &lengths, &radii);
        drop(lengths);
        let count = packed.radii.len() as f64;
        let element = 2.0 * packed.radii.iter().sum::<f64>() / count;
        let packing = (packed.calibration, element);
        Ok(BodyBonds {
            properties: PairTable::new(inputs, body, materials, fabric, packing)?,
            radii: match stronger.is_some() || packed.cells.is_some() {
                true => Radii::Each(radii),
                false => Radii::Rule(inputs.settings.bond_radius),
            },
            stronger,
            cracked: cracks::between(body, &packed.pairs, &packed.centres)?,
            pairs: std::mem::take(&mut packed.pairs),
            first: firsts[0],
            first_bond: firsts[1],
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
        let first = self.first_bond as usize;
        first..first + self.pairs.len()
    }

    /// Appends the bonds with these ids to a table, except their law; `elements` are those of the packing.
    pub fn append(&self, elements: &Elements, ids: Range<usize>, bonds: &mut Bonds) {
        let first = self.ids().start;
        let rows = ids.start - first..ids.end - first;
        let ends = Ends {
            elements,
            first: self.first as usize,
        };
        let pairs = self.pairs[rows.clone()].par_iter();
        let before = bonds.l0.len();
        let length = |pair: &[u32; 2]| ends.between(*pair).length();
        bonds.l0.par_extend(pairs.clone().map(length));
        let lengths = &bonds.l0[before..];
        for (column, axis) in [&mut bonds.dx, &mut bonds.dy, &mut bonds.dz]
            .into_iter()
            .zip(0..)
        {
            let d0 = |(pair, l0): (&[u32; 2], &f64)| ends.between(*pair)[axis] * l0.recip();
            column.par_extend(pairs.clone().zip(lengths).map(d0));
        }
        match &self.radii {
            Radii::Each(radii) => bonds.radius.extend_from_slice(&radii[rows.clone()]),
            Radii::Rule(rule) => {
                let radius = |pair: &[u32; 2]| {
                    let [a, b] = pair.map(|end| ends.radius(end));
                    rule.radius(a, b)
                };
                bonds.radius.par_extend(pairs.clone().map(radius));
            }
        }
        let [i, j] = [0, 1].map(|end| self.pairs[rows.clone()].iter().map(move |pair| pair[end]));
        bonds.i.extend(i.map(|i| self.first + i));
        bonds.j.extend(j.map(|j| self.first + j));
        let properties: Vec<BondProperties> = rows
            .into_par_iter()
            .map(|row| self.properties(&ends, row))
            .collect();
        let properties = || properties.iter();
        bonds.young.extend(properties().map(|bond| bond.young));
        bonds.shear.extend(properties().map(|bond| bond.shear));
        bonds.sigma_c.extend(properties().map(|bond| bond.sigma_c));
        bonds.tau_c.extend(properties().map(|bond| bond.tau_c));
        bonds.id.extend(ids.map(|id| id as u32));
    }

    /// Moduli and strengths of a bond.
    fn properties(&self, ends: &Ends, row: usize) -> BondProperties {
        let pair = self.pairs[row];
        let [a, b] = pair.map(|end| ends.material(end));
        let [p, q] = pair.map(|end| ends.centre(end));
        let Draw {
            seed,
            body,
            position,
            turn,
        } = self.draw;
        let drawn = DrawnBond {
            id: self.first_bond + row as u32,
            middle: turn * ((p + q) / 2.0 - position),
            body,
        };
        let rule = self.properties.pair(a, b);
        let mut bond = rule.bond_properties((q - p).normalize(), seed, drawn);
        if let Some(stronger) = &self.stronger {
            let [sigma, tau] = rule.factors(stronger[row]);
            bond.sigma_c *= sigma;
            bond.tau_c *= tau;
        }
        if self.cracked.get(row) == Some(&true) {
            (bond.sigma_c, bond.tau_c) = (0.0, 0.0);
        }
        bond
    }
}

/// The elements of a body, whose first one has this number.
struct Ends<'a> {
    elements: &'a Elements,
    first: usize,
}

impl Ends<'_> {
    fn centre(&self, end: u32) -> DVec3 {
        let (e, row) = (self.elements, self.first + end as usize);
        DVec3::new(e.x[row], e.y[row], e.z[row])
    }

    fn radius(&self, end: u32) -> f64 {
        self.elements.r[self.first + end as usize]
    }

    fn material(&self, end: u32) -> u32 {
        self.elements.material[self.first + end as usize]
    }

    /// From the first end to the second, m.
    fn between(&self, [i, j]: [u32; 2]) -> DVec3 {
        self.centre(j) - self.centre(i)
    }
}

/// Radii of the bonds of a body of this material, m, and factors on their strengths, if they have any. `lengths`: of
/// its bonds, m.
fn sections(
    inputs: &Inputs,
    packed: &PackedBody,
    material: &PackedMaterial,
    lengths: &[f64],
) -> (Vec<f64>, Option<Vec<f64>>) {
    let radius = |(k, &[i, j]): (usize, &[u32; 2])| match &packed.cells {
        // Radius of a disc with the area of the face.
        Some(cells) => (cells.between[k].section.area / PI).sqrt(),
        None => {
            let [a, b] = [i, j].map(|k| packed.radii[k as usize]);
            inputs.settings.bond_radius.radius(a, b)
        }
    };
    let radii = packed.pairs.par_iter().enumerate().map(radius);
    let mut radii: Vec<f64> = radii.collect();
    let (Strength::Material, Calibration::Random(packing)) =
        (material.strength, packed.calibration)
    else {
        return (radii, None);
    };
    let elements = BondedElements {
        pairs: &packed.pairs,
        lengths,
        radii: &packed.radii,
    };
    let fabric = kinds::fabric_of_bonds(material, packing);
    elements.thicken(&mut radii, fabric, packed.volume);
    (radii, Some(elements.strengths(packing.share)))
}

/// Σ S l0 / (3V) of a body whose bonds have these lengths and radii, m.
fn fabric(packed: &PackedBody, lengths: &[f64], radii: &[f64]) -> f64 {
    let sections = radii.iter().map(|radius| PI * radius.powi(2));
    let sum: f64 = lengths.iter().zip(sections).map(|(l0, s)| s * l0).sum();
    // An element at the border of a lattice counts as an interior one: a free border carries no load across
    // it, so the bonds missing there do not soften the rows along it. Elements at the border of a random
    // packing have no such rows: only their own bonds count.
    let counted = match packed.calibration {
        Calibration::Lattice => {
            let all = (NEIGHBOUR_DIRECTIONS.len() * packed.centres.len()) as f64;
            all / 2.0 / packed.pairs.len() as f64
        }
        Calibration::Random(_)
        | Calibration::Shell { .. }
        | Calibration::Yarn
        | Calibration::Cells => 1.0,
    };
    counted * sum / (3.0 * packed.volume)
}
