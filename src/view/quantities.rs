//! The quantities by which elements can be coloured, and their columns.

use serde_json::{Value, json};

use super::arrays::Arrays;
use super::error::ViewError;
use super::viewed::ViewedStore;
use crate::columns::{Frames, Table};
use crate::spec::FrameGroup;

/// A quantity that is computed from columns of the frames.
struct Derived {
    name: &'static str,
    unit: &'static str,
    doc: &'static str,
    group: FrameGroup,
}

const DERIVED: [Derived; 2] = [
    Derived {
        name: "speed",
        unit: "m/s",
        doc: "speed",
        group: FrameGroup::Velocity,
    },
    Derived {
        name: "use_of_strength",
        unit: "1",
        doc: "largest stress over the smallest strength of the element's bonds",
        group: FrameGroup::Stress,
    },
];

/// Quantities of the elements at rest.
const AT_REST: [(&str, &str, &str); 2] = [
    ("body", "1", "index of the body in the pipeline"),
    ("material", "1", "index of the material in the pipeline"),
];

/// Columns of frames that are no quantities to look at: the same in every row, or of rotations.
const LEFT_OUT: [&str; 7] = ["frame", "time", "id", "qx", "qy", "qz", "qw"];

/// Name, unit and meaning of each quantity that a frame has.
pub fn list(viewed: &ViewedStore, frame: u32) -> Result<Vec<Value>, ViewError> {
    let groups = viewed.view()?.store.frame_groups(frame)?;
    let entry =
        |name: &str, unit: &str, doc: &str| json!({ "name": name, "unit": unit, "doc": doc });
    let derived = DERIVED.iter().filter(|one| groups.contains(&one.group));
    let mut list: Vec<Value> = derived
        .map(|one| entry(one.name, one.unit, one.doc))
        .collect();
    let columns = Frames::columns();
    let shown = columns.iter().filter(|column| {
        let group = FrameGroup::ALL.into_iter();
        let mut group = group.filter(|group| group.columns().contains(&column.name));
        !LEFT_OUT.contains(&column.name)
            && group.next().is_some_and(|group| groups.contains(&group))
    });
    list.extend(shown.map(|column| entry(column.name, column.unit, column.doc)));
    let no_materials = viewed.rest()?.elements.material.is_empty();
    let at_rest = AT_REST.iter();
    let at_rest = at_rest.filter(|(name, ..)| !(no_materials && *name == "material"));
    list.extend(at_rest.map(|(name, unit, doc)| entry(name, unit, doc)));
    Ok(list)
}

/// The groups of columns that a quantity needs; `None` if there is no such quantity.
pub fn groups(name: &str) -> Option<Vec<FrameGroup>> {
    if AT_REST.iter().any(|(known, ..)| *known == name) {
        return Some(Vec::new());
    }
    let derived = DERIVED.iter().find(|one| one.name == name);
    let group = derived.map(|one| one.group).or_else(|| {
        let mut groups = FrameGroup::ALL.into_iter();
        groups.find(|group| group.columns().contains(&name) && !LEFT_OUT.contains(&name))
    });
    group.map(|group| vec![group])
}

/// Adds the values of a quantity to an answer.
pub fn add(
    arrays: &mut Arrays,
    name: &str,
    rows: &Frames,
    viewed: &ViewedStore,
) -> Result<(), ViewError> {
    match name {
        "x" | "y" | "z" => {} // every answer has them
        "vx" => arrays.add(name, &rows.vx),
        "vy" => arrays.add(name, &rows.vy),
        "vz" => arrays.add(name, &rows.vz),
        "wx" => arrays.add(name, &rows.wx),
        "wy" => arrays.add(name, &rows.wy),
        "wz" => arrays.add(name, &rows.wz),
        "fragment" => arrays.add(name, &rows.fragment),
        "sigma" => arrays.add(name, &rows.sigma),
        "tau" => arrays.add(name, &rows.tau),
        "broken" => arrays.add(name, &rows.broken),
        "speed" => {
            let velocities = rows.vx.iter().zip(&rows.vy).zip(&rows.vz);
            let speeds = velocities.map(|((x, y), z)| (x * x + y * y + z * z).sqrt());
            arrays.add(name, &speeds.collect::<Vec<f32>>());
        }
        "use_of_strength" => arrays.add(name, &viewed.strengths()?.use_of_strength(rows)),
        "body" => arrays.add(name, &viewed.rest()?.elements.body),
        "material" if !viewed.rest()?.elements.material.is_empty() => {
            arrays.add(name, &viewed.rest()?.elements.material);
        }
        _ => return Err(ViewError::NoSuchAddress(format!("column {name}"))),
    }
    Ok(())
}
