//! Elements that may touch an obstacle, and what that does to them. In double precision, one by one: they are few.

use glam::DVec3;

use crate::geometry::mesh_solid::Near;
use crate::laws::contact::{self, ContactLoad, ContactParameters, ContactState, contact};
use crate::laws::rolling::{self, RollingLoad, RollingParameters};
use crate::laws::work;
use crate::math::{Scalar, Vec3};
use crate::simulate::bonded::rows::{put, vector};
use crate::simulate::bonded::system::{Load, System, motion};
use crate::simulate::bonded::work::Taken;
use crate::simulate::contact::pair_list::Memory;
use crate::simulate::scene::colliders::Obstacle;
use crate::simulate::scene::reaction_sums::ReactionSums;
use crate::simulate::scene::reactions::Wrench;

/// How far an element may move over a mesh, over its radius, until its nearest triangles are looked up anew:
/// more are looked at in every step where it is larger.
const NEAR_SLACK: f64 = 0.05;

/// An element near an obstacle.
#[derive(Clone, Debug)]
pub struct WallEntry<S> {
    /// The element.
    pub element: u32,
    /// Index of the obstacle.
    pub wall: u32,
    /// What it remembers.
    pub memory: Memory<S>,
    /// Parameters.
    pub k: ContactParameters<S>,
    /// Coefficient of rolling friction.
    pub rolling: S,
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
    /// Adds the load of an entry, on element `local` of a chunk, to the element's and to what its obstacle
    /// bears, and what it takes to `taken` where that is wanted; steps its spring.
    pub fn apply(
        &self,
        entry: &mut WallEntry<S>,
        (local, load): (usize, &mut Load<S>),
        sums: &mut ReactionSums,
        taken: Option<&mut Taken>,
    ) {
        if self.neared < entry.quiet {
            return;
        }
        let (obstacle, i) = (&self.obstacles[entry.wall as usize], entry.element as usize);
        let (place, slack) = (self.system.position(i), NEAR_SLACK * self.system.radius(i));
        let near = &mut entry.near;
        obstacle.pose.look(&obstacle.solid, place, slack, near);
        match self.load(entry) {
            Ok(touch) => {
                if let Some(taken) = taken {
                    self.account(entry, &touch, taken);
                }
                let (result, roll) = (touch.load, touch.rolled.spring);
                let (f, m) = (result.force, result.torque + touch.rolled.moment);
                let (force, torque) = (vector(&load.0, 0), vector(&load.0, 4));
                put(&mut load.0, 0, force + f);
                put(&mut load.0, 4, torque + m);
                entry.memory.spring = [result.spring.x, result.spring.y, result.spring.z];
                entry.memory.roll = [roll.x, roll.y, roll.z];
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
        let Touch { load, .. } = self.load(entry).ok()?;
        let touching = load.overlap > S::default();
        touching.then(|| {
            let [spring, roll] = entry.springs();
            let rolling = rolling::energy(roll, self.rolling(entry));
            (contact::energy(load.overlap, spring, entry.k) + rolling).to_f64()
        })
    }

    fn rolling(&self, entry: &WallEntry<S>) -> RollingParameters<S> {
        let r = self.system.tail[entry.element as usize].0[3];
        rolling::parameters(entry.k, entry.rolling, r, r)
    }

    /// Adds what damping and friction took.
    fn account(&self, entry: &WallEntry<S>, touch: &Touch<S>, taken: &mut Taken) {
        let (state, load) = (&touch.state, &touch.load);
        let done = work::Done {
            force: load.force,
            overlap: load.overlap,
            spring: load.spring,
        };
        let inverse_mass = self.system.inverse_mass[entry.element as usize];
        let (x, w, [_, roll]) = (state.x, state.w_i, entry.springs());
        for (damping, friction) in [
            work::contact(state, done, self.dt, inverse_mass, entry.k),
            work::rolling(x, w, roll, touch.rolled, self.dt, self.rolling(entry)),
        ] {
            taken.add(1.0, [damping.to_f64(), friction.to_f64()]);
        }
    }

    /// What the obstacle does to the element over the step, or how far they are apart, m.
    fn load(&self, entry: &WallEntry<S>) -> Result<Touch<S>, f64> {
        let (system, i) = (self.system, entry.element as usize);
        let obstacle = &self.obstacles[entry.wall as usize];
        let (distance, normal, velocity) =
            obstacle
                .pose
                .surface_near(&obstacle.solid, system.position(i), &entry.near);
        let r = system.radius(i);
        if distance >= r && !entry.memory.is_any() {
            return Err(distance - r);
        }
        let row = &system.motion[i].0;
        let vector = |at: usize| Vec3::new(row[at], row[at + 1], row[at + 2]);
        let wall = contact::wall(distance, Vec3::from_f64(normal.to_array()), r);
        let [spring, roll] = entry.springs();
        let x = Vec3::from_f64(wall.x.to_f64());
        let state = ContactState {
            x,
            v: vector(motion::V) - Vec3::from_f64(velocity.to_array()),
            w_i: vector(motion::W),
            w_j: Vec3::zero(),
            arm_i: S::from_f64(wall.arm),
            arm_j: S::default(),
            touch: S::from_f64(wall.touch),
            spring,
        };
        let load = contact(state, self.dt, entry.k);
        let (force, w) = (load.force, state.w_i);
        let rolled = rolling::rolling((x, force), w, roll, self.dt, self.rolling(entry));
        Ok(Touch {
            state,
            load,
            rolled,
        })
    }
}

/// An element at an obstacle.
struct Touch<S> {
    state: ContactState<S>,
    load: ContactLoad<S>,
    rolled: RollingLoad<S>,
}

impl<S: Scalar> WallEntry<S> {
    /// Tangential spring and spring against rolling.
    fn springs(&self) -> [Vec3<S>; 2] {
        [self.memory.spring, self.memory.roll].map(|[x, y, z]| Vec3::new(x, y, z))
    }
}
