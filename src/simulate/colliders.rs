//! Colliders as obstacles at a time.

use glam::DVec3;

use super::contact_pass::Obstacle;
use crate::geometry::solid::Solid;
use crate::spec::{Collider, ColliderShape};

/// The collider at time `t`, s.
pub fn obstacle(collider: &Collider, t: f64) -> Obstacle {
    Obstacle {
        solid: solid(&collider.shape),
        pose: collider.pose(t),
        young: collider.young,
        friction: collider.friction,
    }
}

fn solid(shape: &ColliderShape) -> Solid {
    match *shape {
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
    }
}
