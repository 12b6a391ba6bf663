//! Builds the table of elements, the tables of cells, and the rules of the bonds from the packed bodies.

use std::f64::consts::PI;

use crate::parallel::prelude::*;
use glam::DVec3;
use std::iter::repeat_n;

use super::body::PackedBody;
use super::bonds::BodyBonds;
use super::error::PackError;
use super::faces;
use super::inputs::Inputs;
use super::kinds;
use crate::columns::{Elements, Shape};
use crate::spec::{Body, MassModel};
use crate::store::Packing;

/// Joins the bodies, in order; `materials` holds the index of each body's material. The packing lacks the bonds.
pub(super) fn assemble(
    inputs: &Inputs,
    bodies: Vec<PackedBody>,
    materials: &[usize],
) -> Result<(Packing, Vec<BodyBonds>), PackError> {
    let mut packing = Packing::default();
    for material in &inputs.materials {
        kinds::positive(material, "density", material.density)?;
    }
    let (mut bonds, mut cells) = (Vec::with_capacity(bodies.len()), Vec::new());
    let mut first_bond = 0;
    for (index, (mut packed, &own)) in bodies.into_iter().zip(materials).enumerate() {
        let first = packing.elements.id.len() as u32;
        let body = &inputs.bodies[index];
        let of_elements = kinds::element_materials(inputs, body, &packed, own)?;
        let elements = &mut packing.elements;
        append_elements(elements, &packed, body, |i| {
            inputs.materials[of_elements[i] as usize].density
        });
        elements
            .body
            .extend(repeat_n(index as u32, packed.centres.len()));
        let joined = packed.pairs.len() as u32;
        if joined > 0 {
            let firsts = [first, first_bond];
            let own = (index, own);
            bonds.push(BodyBonds::new(
                inputs,
                own,
                &mut packed,
                &of_elements,
                firsts,
            )?);
        }
        elements.material.extend(of_elements);
        if let Some(found) = packed.cells {
            let rotation = body.rotation.quaternion();
            faces::append(
                &mut packing,
                inputs,
                &found,
                (rotation, [first, first_bond]),
            );
            cells.push((first, found));
        }
        first_bond += joined;
    }
    faces::append_free(&mut packing, &cells);
    Ok((packing, bonds))
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
