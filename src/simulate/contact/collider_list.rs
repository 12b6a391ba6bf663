//! Contacts of elements with colliders. In double precision, one by one, as they are few.

use glam::DVec3;

use crate::geometry::mesh_solid::NearTriangles;
use crate::laws::barrier;
use crate::laws::contact::{self, ContactLoad, ContactParameters, ContactState, contact};
use crate::laws::rolling::{self, RollingLoad, RollingParameters};
use crate::laws::{static_friction, work};
use crate::math::{Scalar, Vec3};
use crate::simulate::bonded::rows::{put, vector};
use crate::simulate::bonded::system::{LoadRow, System, motion};
use crate::simulate::bonded::work::Dissipation;
use crate::simulate::contact::pair_list::Memory;
use crate::simulate::scene::colliders::PosedCollider;
use crate::simulate::scene::reaction_sums::ReactionSums;
use crate::simulate::scene::reactions::Wrench;

/// Distance, over its radius, that an element may move along a mesh until its nearest triangles are searched
/// again; a larger value makes every step check more triangles.
const NEAR_SLACK: f64 = 0.05;

/// An element near a collider.
#[derive(Clone, Debug)]
pub struct ColliderContact<S> {
    /// The element.
    pub element: u32,
    /// Index of the collider.
    pub collider: u32,
    /// History of the contact.
    pub memory: Memory<S>,
    /// Contact parameters.
    pub k: ContactParameters<S>,
    /// Whether they are those of a soft contact.
    pub soft: bool,
    /// Normal stiffness while it is not soft, N/m.
    pub stiff: S,
    /// Coefficient of static friction.
    pub static_friction: S,
    /// Coefficient of rolling friction.
    pub rolling: S,
    /// They cannot touch until element and collider may have approached by this distance, m.
    pub clear_until: f64,
    /// Nearest triangles of the collider, if it is a mesh.
    pub near: NearTriangles,
}

/// Data to evaluate contacts with colliders in a step.
#[derive(Clone, Copy)]
pub struct ColliderContext<'a, S> {
    /// The system.
    pub system: &'a System<S>,
    /// Colliders in their present poses.
    pub colliders: &'a [PosedCollider],
    /// Time step, s.
    pub dt: S,
    /// Upper bound on how far elements and colliders have approached since the lists were built, m.
    pub collider_approach: f64,
    /// Whether contacts push by the barrier.
    pub barrier: bool,
}

impl<S: Scalar> ColliderContext<'_, S> {
    /// Adds the load of an entry to element `local` of a chunk and the opposite wrench to its collider, adds
    /// the dissipated energy to `dissipation` if given, and steps the springs. `BARRIER`: whether contacts push by
    /// the barrier.
    pub fn apply<const BARRIER: bool>(
        &self,
        entry: &mut ColliderContact<S>,
        (local, load): (usize, &mut LoadRow<S>),
        sums: &mut ReactionSums,
        dissipation: Option<&mut Dissipation>,
    ) {
        if self.collider_approach < entry.clear_until {
            return;
        }
        let (collider, i) = (
            &self.colliders[entry.collider as usize],
            entry.element as usize,
        );
        let (place, slack) = (self.system.position(i), NEAR_SLACK * self.system.radius(i));
        let near = &mut entry.near;
        collider
            .pose
            .refresh_near(&collider.solid, place, slack, near);
        match self.load::<BARRIER>(entry) {
            Ok(contact) => {
                if let Some(dissipation) = dissipation {
                    self.account(entry, &contact, dissipation);
                }
                let (result, roll) = (contact.load, contact.rolled.spring);
                let (f, m) = (result.force, result.torque + contact.rolled.moment);
                let (force, torque) = (vector(&load.0, 0), vector(&load.0, 4));
                put(&mut load.0, 0, force + f);
                put(&mut load.0, 4, torque + m);
                entry.memory = Memory {
                    spring: [result.spring.x, result.spring.y, result.spring.z],
                    roll: [roll.x, roll.y, roll.z],
                    slides: contact.slides,
                };
                if result.overlap > S::default() {
                    let place = self.colliders[entry.collider as usize].pose.position;
                    let arm = self.system.position(entry.element as usize) - place;
                    let [force, torque] =
                        [f, m].map(|v| -DVec3::new(v.x.to_f64(), v.y.to_f64(), v.z.to_f64()));
                    sums.add(local, entry.collider, Wrench::at(arm, force, torque));
                }
            }
            // A thousandth covers the rounding of positions and speeds.
            Err(gap) => entry.clear_until = self.collider_approach + 0.999 * gap,
        }
    }

    /// Elastic energy of an entry, J; `None` if it does not touch.
    pub fn energy<const BARRIER: bool>(&self, entry: &ColliderContact<S>) -> Option<f64> {
        let EvaluatedContact { load, .. } = self.load::<BARRIER>(entry).ok()?;
        let touching = load.overlap > S::default();
        touching.then(|| {
            let [spring, roll] = entry.springs();
            let rolling = rolling::energy(roll, self.rolling(entry));
            let stored = match BARRIER {
                true => barrier::energy((load.overlap, self.radius(entry)), spring, entry.k),
                false => contact::energy(load.overlap, spring, entry.k),
            };
            (stored + rolling).to_f64()
        })
    }

    fn radius(&self, entry: &ColliderContact<S>) -> S {
        self.system.tail[entry.element as usize].0[3]
    }

    fn rolling(&self, entry: &ColliderContact<S>) -> RollingParameters<S> {
        let r = self.radius(entry);
        rolling::parameters(entry.k, entry.rolling, r, r)
    }

    /// Adds the energy dissipated by damping and friction.
    fn account(
        &self,
        entry: &ColliderContact<S>,
        contact: &EvaluatedContact<S>,
        dissipation: &mut Dissipation,
    ) {
        let (state, load) = (&contact.state, &contact.load);
        let done = work::ContactOutcome {
            force: load.force,
            overlap: load.overlap,
            spring: load.spring,
        };
        let inverse_mass = self.system.inverse_mass[entry.element as usize];
        let (x, w, [_, roll]) = (state.x, state.w_i, entry.springs());
        for (damping, friction) in [
            work::contact(state, done, self.dt, inverse_mass, contact.k),
            work::rolling(x, w, roll, contact.rolled, self.dt, self.rolling(entry)),
        ] {
            dissipation.add(1.0, [damping.to_f64(), friction.to_f64()]);
        }
    }

    /// Load of the collider on the element over the step, or else their gap, m.
    fn load<const BARRIER: bool>(
        &self,
        entry: &ColliderContact<S>,
    ) -> Result<EvaluatedContact<S>, f64> {
        let (system, i) = (self.system, entry.element as usize);
        let collider = &self.colliders[entry.collider as usize];
        let (distance, normal, velocity) =
            collider
                .pose
                .surface_near(&collider.solid, system.position(i), &entry.near);
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
        let k = match BARRIER {
            true => barrier::parameters(state.touch - x.norm(), self.radius(entry), entry.k),
            false => entry.k,
        };
        let (load, slides) = entry.slide(state, self.dt, k);
        let (force, w) = (load.force, state.w_i);
        let rolled = rolling::rolling((x, force), w, roll, self.dt, self.rolling(entry));
        Ok(EvaluatedContact {
            state,
            k,
            load,
            slides,
            rolled,
        })
    }
}

/// An evaluated contact of an element with a collider.
struct EvaluatedContact<S> {
    state: ContactState<S>,
    /// Parameters of the contact law at this overlap.
    k: ContactParameters<S>,
    load: ContactLoad<S>,
    /// Whether it then slides.
    slides: bool,
    rolled: RollingLoad<S>,
}

impl<S: Scalar> ColliderContact<S> {
    /// Whether static friction exceeds kinetic friction.
    pub fn has_static_friction(&self) -> bool {
        self.static_friction > self.k.friction
    }

    /// Load of the contact law with these parameters over a step, and whether the contact then slides.
    fn slide(
        &self,
        state: ContactState<S>,
        dt: S,
        k: ContactParameters<S>,
    ) -> (ContactLoad<S>, bool) {
        if !self.has_static_friction() {
            return (contact(state, dt, k), false);
        }
        let was = self.memory.slides;
        let (both, slides) = static_friction::pair(state, dt, k, self.static_friction, was);
        (contact::of_one(both, state.arm_i), slides)
    }

    /// Tangential spring and rolling spring.
    fn springs(&self) -> [Vec3<S>; 2] {
        [self.memory.spring, self.memory.roll].map(|[x, y, z]| Vec3::new(x, y, z))
    }
}
