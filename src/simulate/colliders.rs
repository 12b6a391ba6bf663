//! Colliders as solids, and as obstacles at a time.

use std::sync::Arc;

use glam::DVec3;

use super::SimulateError;
use super::contact_pass::Obstacle;
use super::source::Source;
use crate::geometry::check;
use crate::geometry::mesh_solid::MeshSolid;
use crate::geometry::solid::Solid;
use crate::spec::{Collider, ColliderShape, Pipeline};

/// A collider with the solid that it is.
#[derive(Clone, Debug)]
pub struct Barrier {
    /// As the pipeline has it.
    pub collider: Collider,
    /// In its own frame.
    pub solid: Solid,
}

impl Barrier {
    /// The collider at time `t`, s.
    pub fn at(&self, t: f64) -> Obstacle {
        Obstacle {
            solid: self.solid.clone(),
            pose: self.collider.pose(t),
            young: self.collider.young,
            friction: self.collider.friction,
        }
    }
}

/// All colliders of a pipeline; `source` has the meshes of those that are made of one.
pub fn barriers(source: &dyn Source, pipeline: &Pipeline) -> Result<Vec<Barrier>, SimulateError> {
    let all = (0..).zip(&pipeline.colliders);
    all.map(|(number, collider)| {
        Ok(Barrier {
            solid: solid(source, number, collider)?,
            collider: collider.clone(),
        })
    })
    .collect()
}

fn solid(source: &dyn Source, number: u32, collider: &Collider) -> Result<Solid, SimulateError> {
    Ok(match collider.shape {
        ColliderShape::HalfSpace { normal } => Solid::HalfSpace {
            normal: DVec3::from_array(normal).normalize_or(DVec3::Y),
        },
        ColliderShape::Box { size } => Solid::Box {
            half: DVec3::from_array(size) / 2.0,
        },
        ColliderShape::Sphere { radius } => Solid::Sphere { radius },
        ColliderShape::Cylinder { radius, height } => Solid::Cylinder {
            radius,
            half_height: height / 2.0,
        },
        ColliderShape::Mesh { .. } => {
            let unfit = |what: String| {
                SimulateError::Packing(format!("mesh of collider {:?}: {what}", collider.name))
            };
            let mesh = source.collider(number)?;
            let mut mesh = mesh.ok_or_else(|| unfit("is not there; pack again".to_owned()))?;
            // A store may come from elsewhere, and an open mesh has no inside.
            check::require_solid(&mut mesh).map_err(|defect| unfit(defect.to_string()))?;
            Solid::Mesh(Arc::new(MeshSolid::new(mesh)))
        }
    })
}
