//! Elements that may touch an obstacle, and what that does to them. In double precision, one by one: they are few.

use glam::DVec3;

use super::contact_pass::Obstacle;
use super::reaction_sums::ReactionSums;
use super::reactions::Wrench;
use super::system::{Load, System, motion};
use crate::geometry::mesh_solid::Near;
use crate::laws::contact::{self, ContactLoad, ContactParameters, ContactState, contact};
use crate::math::{Scalar, Vec3};

/// How far an element may move over a mesh, over its radius, until its nearest triangles are looked up anew: more are looked at in every
/// step where it is larger.
const NEAR_SLACK: f64 = 0.05;

/// An element near an obstacle.
#[derive(Clone, Debug)]
pub struct WallEntry<S> {
    /// The element.
    pub element: u32,
    /// Index of the obstacle.
    pub wall: u32,
    /// Tangential spring, m.
    pub spring: [S; 3],
    /// Parameters.
    pub k: ContactParameters<S>,
    /// Until element and obstacle may have neared so far (m) they cannot touch.
    pub quiet: f64,
    /// What of the obstacle is near it, where it is a mesh.
    pub near: Near,
}

/// Obstacles and the step in which they are touched.
#[derive(Clone, Copy)]
pub struct Walls<'a, S> {
    /// The system.
    pub system: &'a System<S>,
    /// Obstacles now.
    pub obstacles: &'a [Obstacle],
    /// Time step, s.
    pub dt: S,
    /// How far elements and obstacles may have neared since the lists were made, m.
    pub neared: f64,
}

impl<S: Scalar> Walls<'_, S> {
    /// Adds the load of an entry, on element `local` of a chunk, to the element's and to what its obstacle bears; steps its spring.
    pub fn apply(
        &self,
        entry: &mut WallEntry<S>,
        local: usize,
        load: &mut Load<S>,
        sums: &mut ReactionSums,
    ) {
        if self.neared < entry.quiet {
            return;
        }
        let (obstacle, i) = (&self.obstacles[entry.wall as usize], entry.element as usize);
        let (place, slack) = (self.system.position(i), NEAR_SLACK * self.system.radius(i));
        let near = &mut entry.near;
        obstacle.pose.look(&obstacle.solid, place, slack, near);
        match self.load(entry) {
            Ok(result) => {
                let (f, m) = (result.force, result.torque);
                for (sum, add) in load.0.iter_mut().zip([f.x, f.y, f.z]) {
                    *sum = *sum + add;
                }
                for (sum, add) in load.0[4..].iter_mut().zip([m.x, m.y, m.z]) {
                    *sum = *sum + add;
                }
                entry.spring = [result.spring.x, result.spring.y, result.spring.z];
                if result.overlap > S::default() {
                    let place = self.obstacles[entry.wall as usize].pose.position;
                    let arm = self.system.position(entry.element as usize) - place;
                    let [force, torque] =
                        [f, m].map(|v| -DVec3::new(v.x.to_f64(), v.y.to_f64(), v.z.to_f64()));
                    sums.add(local, entry.wall, Wrench::at(arm, force, torque));
                }
            }
            // A thousandth covers the rounding of positions and speeds.
            Err(gap) => entry.quiet = self.neared + 0.999 * gap,
        }
    }

    /// Elastic energy of an entry, J, where it touches.
    pub fn energy(&self, entry: &WallEntry<S>) -> Option<f64> {
        let load = self.load(entry).ok()?;
        let [x, y, z] = entry.spring;
        let touching = load.overlap > S::default();
        touching.then(|| contact::energy(load.overlap, Vec3::new(x, y, z), entry.k).to_f64())
    }

    /// What the obstacle does to the element, or how far they are apart, m.
    fn load(&self, entry: &WallEntry<S>) -> Result<ContactLoad<S>, f64> {
        let (system, i) = (self.system, entry.element as usize);
        let obstacle = &self.obstacles[entry.wall as usize];
        let (distance, normal, velocity) =
            obstacle
                .pose
                .surface_near(&obstacle.solid, system.position(i), &entry.near);
        let r = system.radius(i);
        if distance >= r && entry.spring.iter().all(|s| s.to_f64() == 0.0) {
            return Err(distance - r);
        }
        let row = &system.motion[i].0;
        let vector = |at: usize| Vec3::new(row[at], row[at + 1], row[at + 2]);
        let wall = contact::wall(distance, Vec3::from_f64(normal.to_array()), r);
        let [x, y, z] = entry.spring;
        let state = ContactState {
            x: Vec3::from_f64(wall.x.to_f64()),
            v: vector(motion::V) - Vec3::from_f64(velocity.to_array()),
            w_i: vector(motion::W),
            w_j: Vec3::zero(),
            arm_i: S::from_f64(wall.arm),
            arm_j: S::default(),
            touch: S::from_f64(wall.touch),
            spring: Vec3::new(x, y, z),
        };
        Ok(contact(state, self.dt, entry.k))
    }
}
