//! Elements: what stays the same, and what a frame has.

use serde_json::{Value, json};

use super::arrays::Arrays;
use super::error::ViewError;
use super::quantities;
use super::viewed::ViewedStore;
use crate::spec::FrameGroup;

/// Radius, body, number of bonds at rest and, if the store has it, material of each element.
pub fn elements(viewed: &ViewedStore) -> Result<Vec<u8>, ViewError> {
    let rest = viewed.rest()?;
    let elements = &rest.elements;
    let store = viewed.view()?.store;
    let packing = store.read_packing_columns(&[], &["i", "j"])?;
    let mut arrays = Arrays::default();
    let radii = elements.r.iter().map(|r| *r as f32);
    arrays.add("r", &radii.collect::<Vec<f32>>());
    arrays.add("body", &elements.body);
    if !elements.material.is_empty() {
        arrays.add("material", &elements.material);
    }
    arrays.add("bonds", &packing.bonds_per_element());
    Ok(arrays.finish())
}

/// Positions of the elements in a frame, these quantities, and the poses of the colliders.
pub fn frame(viewed: &ViewedStore, number: u32, names: &[&str]) -> Result<Vec<u8>, ViewError> {
    let view = viewed.view()?;
    let mut needed = vec![FrameGroup::Position];
    for name in names {
        let groups = quantities::groups(name)
            .ok_or_else(|| ViewError::NoSuchAddress(format!("column {name}")))?;
        needed.extend(groups);
    }
    let removed = viewed.removed()?;
    let gone = removed.iter().take_while(|(from, _)| *from <= number);
    let mut gone: Vec<u32> = gone.map(|(_, fragment)| *fragment).collect();
    gone.sort_unstable();
    // A frame without labels does not tell which elements are theirs.
    let labelled = !gone.is_empty()
        && view
            .store
            .frame_groups(number)?
            .contains(&FrameGroup::Fragment);
    if labelled {
        needed.push(FrameGroup::Fragment);
    }
    let count = viewed.rest()?.elements.id.len();
    let mut rows = view.store.read_frame_of(number, &needed, count)?;
    if labelled {
        for (x, fragment) in rows.x.iter_mut().zip(&rows.fragment) {
            if gone.binary_search(fragment).is_ok() {
                *x = f32::NAN;
            }
        }
    }
    let time = rows.time.first().copied().unwrap_or_default();
    let mut arrays = Arrays::of_frame(number, time);
    arrays.set("colliders", collider_poses(viewed, time)?);
    arrays.set("removed", json!(gone));
    arrays.add("x", &rows.x);
    arrays.add("y", &rows.y);
    arrays.add("z", &rows.z);
    for name in names {
        quantities::add(&mut arrays, name, &rows, viewed)?;
    }
    Ok(arrays.finish())
}

/// Position and rotation (x, y, z, w) of each collider at a time, s.
pub fn collider_poses(viewed: &ViewedStore, time: f64) -> Result<Value, ViewError> {
    let pipeline = viewed.view()?.pipeline;
    let colliders = pipeline.iter().flat_map(|pipeline| &pipeline.colliders);
    let poses = colliders.map(|collider| {
        let pose = collider.pose(time);
        json!({ "position": pose.position.to_array(), "rotation": pose.rotation.to_array() })
    });
    Ok(poses.collect())
}
