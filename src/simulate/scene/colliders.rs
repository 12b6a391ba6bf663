//! Colliders: their solids, and their poses at a given time.

use std::sync::Arc;

use glam::DVec3;

use crate::geometry::check;
use crate::geometry::mesh_solid::MeshSolid;
use crate::geometry::solid::{Pose, Solid};
use crate::simulate::error::SimulateError;
use crate::simulate::source::Source;
use crate::spec::{Collider, Pipeline};

/// A collider with its solid.
#[derive(Clone, Debug)]
pub struct SolidCollider {
    /// Settings from the pipeline.
    pub collider: Collider,
    /// Shape in the collider's own frame.
    pub solid: Solid,
}

impl SolidCollider {
    /// Whether it ever moves.
    pub fn moves(&self) -> bool {
        let drive = self.collider.drive();
        drive
            .poses_at_interval_starts()
            .any(|pose| pose.velocity != DVec3::ZERO || pose.spin != DVec3::ZERO)
    }

    /// The collider at time `t`, s.
    pub fn at(&self, t: f64) -> PosedCollider {
        PosedCollider {
            solid: self.solid.clone(),
            pose: self.collider.pose(t),
            young: self.collider.young,
            friction: self.collider.friction,
        }
    }
}

/// A collider at one time.
#[derive(Clone, Debug)]
pub struct PosedCollider {
    /// Shape.
    pub solid: Solid,
    /// Position, rotation, velocity and spin.
    pub pose: Pose,
    /// Young's modulus, Pa; `None` takes that of the touching element.
    pub young: Option<f64>,
    /// Friction coefficient.
    pub friction: f64,
}

impl PosedCollider {
    /// Upper bound on the speed of its surface, m/s; infinite for a rotating half-space.
    pub fn fastest(&self) -> f64 {
        self.pose.velocity.length() + self.pose.spin_speed_bound(&self.solid)
    }
}

/// All colliders of a pipeline; `source` provides the meshes of mesh colliders.
pub fn solid_colliders(
    source: &dyn Source,
    pipeline: &Pipeline,
) -> Result<Vec<SolidCollider>, SimulateError> {
    let all = (0..).zip(&pipeline.colliders);
    all.map(|(number, collider)| {
        Ok(SolidCollider {
            solid: solid(source, number, collider)?,
            collider: collider.clone(),
        })
    })
    .collect()
}

fn solid(source: &dyn Source, number: u32, collider: &Collider) -> Result<Solid, SimulateError> {
    if let Some(solid) = collider.shape.solid() {
        return Ok(solid);
    }
    let unfit = |what: String| {
        SimulateError::Packing(format!("mesh of collider {:?}: {what}", collider.name))
    };
    let mesh = source.collider(number)?;
    let mut mesh = mesh.ok_or_else(|| unfit("is missing; pack again".to_owned()))?;
    // A store may come from elsewhere, and an open mesh has no inside.
    check::require_solid(&mut mesh).map_err(|defect| unfit(defect.to_string()))?;
    Ok(Solid::Mesh(Arc::new(MeshSolid::new(mesh))))
}
