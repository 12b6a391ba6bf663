//! Builds the tables of cells, and what rows of elements and bonds are computed from, from the packed bodies.

use super::body::PackedBody;
use super::bonds::BodyBonds;
use super::elements::BodyElements;
use super::error::PackError;
use super::faces;
use super::inputs::Inputs;
use super::kinds;
use super::stream::Bodies;
use crate::store::Packing;

/// Joins the bodies, in order; `materials` holds the index of each body's material. The packing lacks elements and
/// bonds.
pub(super) fn assemble(
    inputs: &Inputs,
    bodies: Vec<PackedBody>,
    materials: &[usize],
) -> Result<(Packing, Bodies), PackError> {
    let mut packing = Packing::default();
    for material in &inputs.materials {
        kinds::positive(material, "density", material.density)?;
    }
    let (mut rows, mut cells) = (Vec::with_capacity(bodies.len()), Vec::new());
    let (mut first, mut first_bond) = (0, 0);
    for (index, (mut packed, &own)) in bodies.into_iter().zip(materials).enumerate() {
        let body = &inputs.bodies[index];
        let of_elements = kinds::element_materials(inputs, body, &packed, own)?;
        let count = packed.centres.len() as u32;
        let joined = packed.pairs.len() as u32;
        let elements = BodyElements::new(inputs, index, &mut packed, of_elements, first);
        let bonds = match joined {
            0 => None,
            _ => Some(BodyBonds::new(
                inputs,
                (index, own),
                &mut packed,
                &elements,
                first_bond,
            )?),
        };
        if let Some(found) = packed.cells {
            let rotation = body.rotation.quaternion();
            faces::append(
                &mut packing,
                (inputs, &elements.materials),
                &found,
                (rotation, [first, first_bond]),
            );
            cells.push((first, found));
        }
        rows.push((elements, bonds));
        (first, first_bond) = (first + count, first_bond + joined);
    }
    faces::append_free(&mut packing, &cells);
    Ok((packing, rows))
}
