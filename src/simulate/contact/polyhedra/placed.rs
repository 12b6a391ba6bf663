//! Where polyhedra are, and how they overlap as contacts need it.

use glam::{DMat3, DQuat, DVec3};

use super::shapes::{Shape, Shapes};
use crate::geometry::polyhedron::{Overlap, RelativePose, Scratch};
use crate::math::Scalar;
use crate::simulate::bonded::system::System;

/// An element where it is.
pub struct Placed<'a> {
    /// Its polyhedron, if it has one.
    pub shape: Option<&'a Shape>,
    /// Centre, m.
    pub position: DVec3,
    rotation: DQuat,
}

impl<'a> Placed<'a> {
    /// An element of a system.
    pub fn new<S: Scalar>(system: &System<S>, shapes: &'a Shapes, element: usize) -> Self {
        Placed {
            shape: shapes.get(element),
            position: system.position(element),
            rotation: system.rotation(element).normalize(),
        }
    }

    /// From the axes at rest to the world's.
    pub fn axes(&self) -> DMat3 {
        DMat3::from_quat(self.rotation)
    }

    /// Where another is, seen from this one, whose axes are given.
    fn sees(&self, axes: &DMat3, other: &Self) -> RelativePose {
        let back = axes.transpose();
        RelativePose {
            rotation: back * other.axes(),
            shift: back * (other.position - self.position),
        }
    }

    /// What the surfaces of two polyhedra enclose together, about the centre of this one in the world's axes;
    /// none where they are apart. `axis` is the direction that told them apart before, in its own axes at
    /// rest, or zero where nothing did; it is brought up to date.
    pub fn overlap(
        &self,
        other: &Self,
        axis: &mut DVec3,
        scratch: &mut Scratch,
    ) -> Option<Overlap> {
        let (own, partner) = (self.shape?, other.shape?);
        let axes = self.axes();
        let at = self.sees(&axes, other);
        // What overlapped a step ago is likely to overlap.
        if *axis != DVec3::ZERO
            && let Some(apart) = own.solid.is_apart(&partner.solid, &at, *axis)
        {
            *axis = apart;
            return None;
        }
        match own.solid.overlap(&partner.solid, &at, scratch) {
            Ok(overlap) => {
                let found = turned(overlap, &axes);
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

    /// The part of its polyhedron behind a plane (outward unit normal, a point of it), about its centre in
    /// the world's axes; none where there is none.
    pub fn behind_plane(
        &self,
        (normal, point): (DVec3, DVec3),
        scratch: &mut Scratch,
    ) -> Option<Overlap> {
        let axes = self.axes();
        let own = axes.transpose() * normal;
        let offset = normal.dot(point - self.position);
        let solid = &self.shape?.solid;
        turned(solid.behind_plane(own, offset, scratch), &axes)
    }

    /// Signed distance of a point from the surface of its polyhedron, and the outward unit normal there; none
    /// of a ball.
    pub fn distance(&self, p: DVec3) -> Option<(f64, DVec3)> {
        let back = self.rotation.inverse();
        let (distance, normal) = self.shape?.solid.distance(back * (p - self.position));
        Some((distance, self.rotation * normal))
    }
}

/// In the world's axes; none where nothing is shared, or pushes into no direction.
fn turned(overlap: Overlap, axes: &DMat3) -> Option<Overlap> {
    let pushes = overlap.volume > 0.0 && overlap.area != DVec3::ZERO;
    pushes.then(|| Overlap {
        volume: overlap.volume,
        area: *axes * overlap.area,
        moment: *axes * overlap.moment,
        centre: *axes * overlap.centre,
    })
}
