//! Colliders as meshes in their own frames.

use glam::DVec3;
use serde_json::{Value, json};

use super::arrays::Arrays;
use super::error::ViewError;
use super::viewed::{StoreView, ViewedStore};
use crate::geometry::{TriMesh, shapes};
use crate::spec::{Collider, ColliderShape};
use crate::store::corner_normals::Fans;

/// Name and kind of each collider, in the order of the pipeline.
pub fn list(view: &StoreView) -> Vec<Value> {
    let colliders = view
        .pipeline
        .iter()
        .flat_map(|pipeline| &pipeline.colliders);
    let entry = |collider: &Collider| {
        let kind = match collider.shape {
            ColliderShape::HalfSpace { .. } => "plane",
            _ => "mesh",
        };
        json!({ "name": collider.name, "kind": kind })
    };
    colliders.map(entry).collect()
}

/// The meshes of all colliders, one after the other; planes are in the header.
pub fn meshes(viewed: &ViewedStore) -> Result<Vec<u8>, ViewError> {
    let view = viewed.view()?;
    let (mut positions, mut normals, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
    let mut ranges = Vec::new();
    let colliders = view
        .pipeline
        .iter()
        .flat_map(|pipeline| &pipeline.colliders);
    for (number, collider) in (0..).zip(colliders) {
        let Some(mesh) = mesh(&view, number, collider)? else {
            ranges.push(plane(collider));
            continue;
        };
        let points: Vec<[f32; 3]> = mesh
            .positions
            .iter()
            .map(|p| p.as_vec3().to_array())
            .collect();
        let one_side = vec![0; mesh.triangles.len()];
        let fans = Fans::new(&points, mesh.triangles.iter().copied(), &one_side);
        let first = positions.len() as u32;
        ranges.push(json!({ "first": triangles.len(), "count": fans.corners.len() }));
        positions.extend(fans.vertices.iter().map(|&vertex| points[vertex as usize]));
        normals.extend(fans.normals(&points));
        triangles.extend(
            fans.corners
                .iter()
                .map(|corners| corners.map(|c| c + first)),
        );
    }
    let mut arrays = Arrays::default();
    arrays.set("meshes", Value::Array(ranges));
    arrays.add_vectors("position", &positions);
    arrays.add_vectors("normal", &normals);
    arrays.add_vectors("triangles", &triangles);
    Ok(arrays.finish())
}

fn plane(collider: &Collider) -> Value {
    let ColliderShape::HalfSpace { normal } = collider.shape else {
        return Value::Null;
    };
    let normal = DVec3::from(normal).normalize_or_zero();
    json!({ "plane": { "point": [0.0, 0.0, 0.0], "normal": normal.to_array() } })
}

/// The mesh of a collider in its own frame; `None` for a half-space.
fn mesh(view: &StoreView, number: u32, collider: &Collider) -> Result<Option<TriMesh>, ViewError> {
    Ok(match &collider.shape {
        ColliderShape::HalfSpace { .. } => None,
        ColliderShape::Box { size } => Some(shapes::cuboid(DVec3::from(*size))),
        ColliderShape::Sphere { radius } => Some(shapes::sphere(*radius)),
        ColliderShape::Cylinder { radius, height } => Some(shapes::cylinder(*radius, *height)),
        ColliderShape::Mesh { .. } => Some(view.store.read_collider(number)?),
    })
}
