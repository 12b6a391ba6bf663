//! A polyhedron at a collider: at the plane through the collider's point nearest to the polyhedron's centre.

use glam::DVec3;

use super::list::{ShapeMemory, ShapeWall};
use super::pair::{Acting, solids, velocity};
use super::placed::Placed;
use super::shapes::Shapes;
use crate::geometry::polyhedron::Scratch;
use crate::math::Scalar;
use crate::simulate::contact::wall_list::Walls;
use crate::simulate::scene::reactions::Wrench;

/// Part of its radius that a polyhedron may move over a mesh until its nearest triangles are looked up again.
const NEAR_SLACK: f64 = 0.05;

/// What a collider does to a polyhedron over a step; none where it does not touch. Brings up to date when
/// they are next looked at.
pub fn evaluate<S: Scalar>(
    (walls, shapes): (&Walls<S>, &Shapes),
    entry: &mut ShapeWall,
    scratch: &mut Scratch,
) -> Option<Acting> {
    if walls.neared < entry.quiet {
        return None;
    }
    let (system, element) = (walls.system, entry.element as usize);
    let obstacle = &walls.obstacles[entry.wall as usize];
    let placed = Placed::new(system, shapes, element);
    let reach = shapes.reach(system, element);
    let slack = NEAR_SLACK * system.radius(element);
    let (solid, pose) = (&obstacle.solid, &obstacle.pose);
    pose.look(solid, placed.position, slack, &mut entry.near);
    let (distance, normal, _) = pose.surface_near(solid, placed.position, &entry.near);
    if distance >= reach {
        // A thousandth covers the rounding of positions and speeds.
        entry.quiet = walls.neared + 0.999 * (distance - reach);
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
    let step = (walls.dt.to_f64(), inverse_mass, entry.parameters);
    let w = system.spin(element) - pose.spin;
    Some(solids((&overlap, v, w), entry.memory, step))
}

/// Force and torque on the collider about its origin; `arm` leads from there to the polyhedron's centre, m.
pub fn on_collider(acting: &Acting, arm: DVec3) -> Wrench {
    Wrench::at(arm, -acting.force, -acting.torque)
}
