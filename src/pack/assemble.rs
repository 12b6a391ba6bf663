//! Builds the tables of elements and bonds from the packed bodies.

use std::f64::consts::PI;

use crate::parallel::prelude::*;
use glam::DVec3;
use std::iter::repeat_n;

use super::body::PackedBody;
use super::cracks;
use super::error::PackError;
use super::faces;
use super::filled::Calibration;
use super::inputs::{Inputs, PackedMaterial};
use super::kinds::{self, BondProperties, PairTable};
use super::lattice::NEIGHBOUR_DIRECTIONS;
use super::scatter::DrawnBond;
use super::sections::BondedElements;
use crate::columns::{Bonds, Elements, Shape};
use crate::spec::{Body, Law, MassModel, Strength};
use crate::store::Packing;

/// Joins the bodies, in order; `materials` holds the index of each body's material, `law` is stored with the
/// bonds.
pub(super) fn assemble(
    inputs: &Inputs,
    law: Law,
    bodies: &[PackedBody],
    materials: &[usize],
) -> Result<Packing, PackError> {
    let mut packing = Packing::default();
    for material in &inputs.materials {
        kinds::positive(material, "density", material.density)?;
    }
    for (index, (packed, &own)) in bodies.iter().zip(materials).enumerate() {
        let first = packing.elements.id.len();
        let body = &inputs.bodies[index];
        let of_elements = kinds::element_materials(inputs, body, packed, own)?;
        let elements = &mut packing.elements;
        append_elements(elements, packed, body, |i| {
            inputs.materials[of_elements[i] as usize].density
        });
        let count = packed.centres.len();
        elements.body.extend(repeat_n(index as u32, count));
        elements.material.extend(of_elements);
        append_bonds(
            &mut packing.bonds,
            packed,
            (inputs, body, own),
            &packing.elements.material[first..],
            first as u32,
        )?;
    }
    faces::append(&mut packing, inputs, bodies);
    packing.bonds.law = vec![law; packing.bonds.id.len()];
    Ok(packing)
}

/// Appends all columns except body and material; `density` returns the density of an element, kg/m³.
fn append_elements(
    elements: &mut Elements,
    packed: &PackedBody,
    body: &Body,
    density: impl Fn(usize) -> f64 + Sync,
) {
    let count = packed.centres.len();
    let radii = &packed.radii;
    // Relative to the mean radius: exactly 1 where all radii are equal.
    let cube = |r: &f64| (r / packed.radius).powi(3);
    let cells = packed.cells.as_ref().map(|cells| &cells.masses);
    let cubes: f64 = radii.iter().map(cube).sum();
    // The cell's own volume, or the body's volume divided in proportion to the volumes of the balls.
    let volume = |(i, r): (usize, &f64)| match cells {
        Some(cells) => cells[i].volume,
        None => packed.volume * cube(r) / cubes,
    };
    let mass = |(i, r): (usize, &f64)| match (body.mass, cells) {
        (MassModel::Bulk, _) | (_, Some(_)) => volume((i, r)) * density(i),
        (MassModel::Sphere, None) => 4.0 / 3.0 * PI * r.powi(3) * density(i),
    };
    // Masses are proportional to density × cube in both cases.
    let (mut weighted, mut weights) = (DVec3::ZERO, 0.0);
    for (i, (p, r)) in packed.centres.iter().zip(radii).enumerate() {
        let weight = cube(r) * density(i);
        weighted += *p * weight;
        weights += weight;
    }
    let centre = weighted / weights;
    let (velocity, spin) = (
        DVec3::from_array(body.velocity),
        DVec3::from_array(body.spin),
    );
    let first = elements.id.len() as u32;
    elements.id.extend(first..first + count as u32);
    let moving = |p: &DVec3| velocity + spin.cross(*p - centre);
    for (axis, (column, speeds)) in [
        (&mut elements.x, &mut elements.vx),
        (&mut elements.y, &mut elements.vy),
        (&mut elements.z, &mut elements.vz),
    ]
    .into_iter()
    .enumerate()
    {
        let centres = packed.centres.par_iter();
        column.par_extend(centres.clone().map(|p| p[axis]));
        speeds.par_extend(centres.map(|p| moving(p)[axis]));
    }
    let kind = if cells.is_some() {
        Shape::Cell
    } else {
        Shape::Sphere
    };
    elements.kind.extend(repeat_n(kind, count));
    elements.r.extend_from_slice(radii);
    let numbered = || radii.par_iter().enumerate();
    elements.mass.par_extend(numbered().map(mass));
    let inertia = |(i, r): (usize, &f64)| match cells {
        // The mean over all axes.
        Some(cells) => {
            let moments = [0, 1, 2].map(|k| cells[i].inertia.col(k)[k]);
            moments.iter().sum::<f64>() / 3.0 * density(i)
        }
        None => 0.4 * mass((i, r)) * r * r,
    };
    elements.inertia.par_extend(numbered().map(inertia));
    elements.volume.par_extend(numbered().map(volume));
    for (column, value) in [
        (&mut elements.wx, spin.x),
        (&mut elements.wy, spin.y),
        (&mut elements.wz, spin.z),
    ] {
        column.extend(repeat_n(value, count));
    }
}

/// Appends the bonds of a body; `materials` holds the material of each element, `own` is that of the body.
fn append_bonds(
    bonds: &mut Bonds,
    packed: &PackedBody,
    (inputs, body, own): (&Inputs, &Body, usize),
    materials: &[u32],
    first: u32,
) -> Result<(), PackError> {
    if packed.pairs.is_empty() {
        return Ok(());
    }
    let pairs = packed.pairs.par_iter();
    let first_bond = bonds.l0.len();
    let between = |&[i, j]: &[u32; 2]| packed.centres[j as usize] - packed.centres[i as usize];
    bonds
        .l0
        .par_extend(pairs.clone().map(|pair| between(pair).length()));
    let lengths = &bonds.l0[first_bond..];
    let (radii, stronger) = sections(inputs, packed, &inputs.materials[own], lengths);
    let fabric = fabric(packed, lengths, &radii);
    let table = PairTable::new(inputs, body, materials, fabric, packed.calibration)?;
    let id = bonds.id.len() as u32;
    let ids = id..id + packed.pairs.len() as u32;
    for (column, axis) in [&mut bonds.dx, &mut bonds.dy, &mut bonds.dz]
        .into_iter()
        .zip(0..)
    {
        let d0 = |(pair, l0): (_, &f64)| between(pair)[axis] * l0.recip();
        column.par_extend(pairs.clone().zip(lengths).map(d0));
    }
    bonds.radius.extend(radii);
    bonds.i.extend(packed.pairs.iter().map(|[i, _]| first + i));
    bonds.j.extend(packed.pairs.iter().map(|[_, j]| first + j));
    let seed = inputs.settings.seed;
    let turn = body.rotation.quaternion().inverse();
    let position = DVec3::from_array(body.position);
    let number = inputs.bodies.iter().position(|one| std::ptr::eq(one, body));
    let properties = |(pair, id): (&[u32; 2], u32)| {
        let [a, b] = pair.map(|k| materials[k as usize]);
        let [p, q] = pair.map(|k| packed.centres[k as usize]);
        let bond = DrawnBond {
            id,
            middle: turn * ((p + q) / 2.0 - position),
            body: number.unwrap_or(0) as u64,
        };
        table
            .pair(a, b)
            .bond_properties(between(pair).normalize(), seed, bond)
    };
    let mut properties: Vec<BondProperties> = packed
        .pairs
        .par_iter()
        .zip(ids.clone())
        .map(properties)
        .collect();
    let bonds_of_weak_ends = packed.pairs.iter().zip(stronger.into_iter().flatten());
    for (bond, (pair, factor)) in properties.iter_mut().zip(bonds_of_weak_ends) {
        let [a, b] = pair.map(|k| materials[k as usize]);
        let [sigma, tau] = table.pair(a, b).factors(factor);
        bond.sigma_c *= sigma;
        bond.tau_c *= tau;
    }
    let cracked = cracks::between(body, &packed.pairs, &packed.centres)?;
    for (bond, _) in properties
        .iter_mut()
        .zip(cracked)
        .filter(|(_, cracked)| *cracked)
    {
        (bond.sigma_c, bond.tau_c) = (0.0, 0.0);
    }
    let rows = || properties.iter();
    bonds.young.extend(rows().map(|bond| bond.young));
    bonds.shear.extend(rows().map(|bond| bond.shear));
    bonds.sigma_c.extend(rows().map(|bond| bond.sigma_c));
    bonds.tau_c.extend(rows().map(|bond| bond.tau_c));
    bonds.id.extend(ids);
    Ok(())
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
