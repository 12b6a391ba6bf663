//! Contact of a polyhedron with a collider, approximated by the plane through the collider's point nearest to
//! the polyhedron's centre.

use glam::DVec3;

use super::list::{ShapeColliderContact, ShapeMemory};
use super::pair::{ContactAction, solids, velocity};
use super::placed::PlacedElement;
use super::shapes::Shapes;
use crate::geometry::polyhedron::OverlapScratch;
use crate::math::Scalar;
use crate::simulate::contact::collider_list::ColliderContext;
use crate::simulate::scene::reactions::Wrench;

/// Distance, over its radius, that a polyhedron may move along a mesh until its nearest triangles are
/// searched again.
const NEAR_SLACK: f64 = 0.05;

/// Load of a collider on a polyhedron over a step; `None` if they do not touch. Updates when the contact must
/// be evaluated next.
pub fn evaluate<S: Scalar>(
    (context, shapes): (&ColliderContext<S>, &Shapes),
    entry: &mut ShapeColliderContact,
    scratch: &mut OverlapScratch,
) -> Option<ContactAction> {
    if context.collider_approach < entry.clear_until {
        return None;
    }
    let (system, element) = (context.system, entry.element as usize);
    let collider = &context.colliders[entry.collider as usize];
    let placed = PlacedElement::new(system, shapes, element);
    let reach = shapes.reach(system, element);
    let slack = NEAR_SLACK * system.radius(element);
    let (solid, pose) = (&collider.solid, &collider.pose);
    pose.refresh_near(solid, placed.position, slack, &mut entry.near);
    let (distance, normal, _) = pose.surface_near(solid, placed.position, &entry.near);
    if distance >= reach {
        // A thousandth covers the rounding of positions and speeds.
        entry.clear_until = context.collider_approach + 0.999 * (distance - reach);
        entry.memory = ShapeMemory::default();
        return None;
    }
    let point = placed.position - normal * distance;
    let Some(overlap) = placed.behind_plane((normal, point), scratch) else {
        entry.memory = ShapeMemory::default();
        return None;
    };
    let centre = placed.position + overlap.centre;
    let v = velocity(system, element, centre) - pose.velocity_at(centre - pose.position);
    let inverse_mass = system.inverse_mass[element].to_f64();
    let step = (context.dt.to_f64(), inverse_mass, entry.parameters);
    let w = system.spin(element) - pose.spin;
    Some(solids((&overlap, v, w), entry.memory, step))
}

/// Force and torque on the collider about its origin; `arm` points from there to the polyhedron's centre, m.
pub fn on_collider(action: &ContactAction, arm: DVec3) -> Wrench {
    Wrench::at(arm, -action.force, -action.torque)
}
