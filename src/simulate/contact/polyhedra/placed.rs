//! Polyhedra in their present positions and rotations, and their overlaps.

use glam::{DMat3, DQuat, DVec3};

use super::shapes::{Shape, Shapes};
use crate::geometry::polyhedron::{Overlap, OverlapScratch, RelativePose};
use crate::math::Scalar;
use crate::simulate::bonded::system::System;

/// An element in its present position and rotation.
pub struct PlacedElement<'a> {
    /// Its polyhedron, if it has one.
    pub shape: Option<&'a Shape>,
    /// Centre, m.
    pub position: DVec3,
    rotation: DQuat,
}

impl<'a> PlacedElement<'a> {
    /// An element of a system.
    pub fn new<S: Scalar>(system: &System<S>, shapes: &'a Shapes, element: usize) -> Self {
        PlacedElement {
            shape: shapes.get(element),
            position: system.position(element),
            rotation: system.rotation(element).normalize(),
        }
    }

    /// Rotation matrix from the axes at rest to the world axes.
    pub fn axes(&self) -> DMat3 {
        DMat3::from_quat(self.rotation)
    }

    /// Pose of another element relative to this one, whose axes are given.
    fn relative_pose(&self, axes: &DMat3, other: &Self) -> RelativePose {
        let back = axes.transpose();
        RelativePose {
            rotation: back * other.axes(),
            shift: back * (other.position - self.position),
        }
    }

    /// Overlap of two polyhedra, about the centre of this one in world axes; `None` if they are apart. `axis`
    /// is the separating direction found before, in this element's rest axes, or zero if they overlapped; it
    /// is updated.
    pub fn overlap(
        &self,
        other: &Self,
        axis: &mut DVec3,
        scratch: &mut OverlapScratch,
    ) -> Option<Overlap> {
        let (own, partner) = (self.shape?, other.shape?);
        let axes = self.axes();
        let at = self.relative_pose(&axes, other);
        // Pairs that overlapped in the previous step are likely to overlap again.
        if *axis != DVec3::ZERO
            && let Some(apart) = own.solid.separating_axis(&partner.solid, &at, *axis)
        {
            *axis = apart;
            return None;
        }
        match own.solid.overlap(&partner.solid, &at, scratch) {
            Ok(overlap) => {
                let found = to_world_axes(overlap, &axes);
                *axis = match found {
                    Some(_) => DVec3::ZERO,
                    None => at.shift.normalize_or(DVec3::X),
                };
                found
            }
            Err(apart) => {
                *axis = apart;
                None
            }
        }
    }

    /// The part of its polyhedron behind a plane (outward unit normal, a point of the plane), about its
    /// centre in world axes; `None` if it is empty.
    pub fn behind_plane(
        &self,
        (normal, point): (DVec3, DVec3),
        scratch: &mut OverlapScratch,
    ) -> Option<Overlap> {
        let axes = self.axes();
        let own = axes.transpose() * normal;
        let offset = normal.dot(point - self.position);
        let solid = &self.shape?.solid;
        to_world_axes(solid.behind_plane(own, offset, scratch), &axes)
    }

    /// Signed distance of a point from the surface of its polyhedron, and the outward unit normal there;
    /// `None` for a ball.
    pub fn distance(&self, p: DVec3) -> Option<(f64, DVec3)> {
        let back = self.rotation.inverse();
        let (distance, normal) = self.shape?.solid.distance(back * (p - self.position));
        Some((distance, self.rotation * normal))
    }
}

/// Converts an overlap to world axes; `None` if it is empty or exerts no net force.
fn to_world_axes(overlap: Overlap, axes: &DMat3) -> Option<Overlap> {
    let pushes = overlap.volume > 0.0 && overlap.area != DVec3::ZERO;
    pushes.then(|| Overlap {
        volume: overlap.volume,
        area: *axes * overlap.area,
        moment: *axes * overlap.moment,
        centre: *axes * overlap.centre,
    })
}
