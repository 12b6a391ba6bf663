//! One piece: a fragment that is stepped as a rigid body. Its elements keep their places in it.

use glam::{DQuat, DVec3};

use crate::math::{Scalar, Vec3};
use crate::simulate::bonded::bond_tasks::StressAndEnergy;
use crate::simulate::bonded::rest::RestData;
use crate::simulate::bonded::rows::put;
use crate::simulate::bonded::system::{LoadRow, System, motion};
use crate::simulate::scene::clamps::{RigidPose, reach, rounded};
use crate::simulate::scene::reactions::Wrench;
use crate::simulate::scene::rigid_body::{BodyPart, RigidBody};
use crate::simulate::sleep::clusters::{Cluster, Placed, clusters};
use crate::simulate::sleep::held::HeldVibration;
use crate::simulate::sleep::loads::ElementLoad;
use crate::simulate::sleep::resting::RestingLoads;
use crate::simulate::sleep::statics::Statics;
use crate::simulate::sleep::strength::Strength;

/// A fragment that is stepped as a rigid body.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Its number in the mask of rigid elements.
    pub number: u32,
    /// Its elements, ascending.
    pub elements: Vec<u32>,
    /// Position of each element when the piece was made, m.
    pub rest: Vec<DVec3>,
    /// Rotation of each element when the piece was made.
    pub turns: Vec<DQuat>,
    /// Its motion since then.
    pub body: RigidBody,
    /// Largest distance of the elements from the centre, m.
    pub reach: f64,
    /// Spheres around parts of its elements.
    pub clusters: Vec<Cluster>,
    /// Stresses and energies of the bonds of each element when the piece was made; they stay as they are.
    pub carried: Vec<StressAndEnergy>,
    /// What a load may do to it; `None` for a body that the pipeline declares rigid and for single elements,
    /// which no load wakes.
    pub strength: Option<Strength>,
    /// Its vibration, if its energy is more than may be lost.
    pub held: HeldVibration,
    /// Places in `elements` of those with listed contacts.
    pub near: Vec<u32>,
    /// Elements with a contact force in the last step, ascending.
    pub loaded: Vec<u32>,
    /// Whether it is at rest: it is not moved, and its contacts with others at rest are not computed.
    pub still: bool,
    /// Its contact loads while it is at rest.
    pub resting: RestingLoads,
    /// Whether it left the bounds of the world: it is still for good, and nothing touches it.
    pub removed: bool,
    /// Whether its island steps it now, apart from what is awake.
    pub apart: bool,
    /// Step since which it has been slow; `None` while it moves.
    pub slow_since: Option<u64>,
    /// Loads with which the stresses of its bonds were in balance when it was made, ascending, in its frame.
    pub balanced: Vec<ElementLoad>,
    /// Sum of the lengths of their forces, N.
    balanced_force: f64,
    /// The last load that the judge found harmless.
    pub judged: Option<JudgedLoad>,
    /// Its bonds as a linear network, once the judge needed it.
    pub statics: Option<Box<Statics>>,
}

/// A load on a piece, and the use of strength that it causes.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedLoad {
    /// Loads on its elements, ascending, in its frame.
    pub loads: Vec<ElementLoad>,
    /// Largest stress over strength.
    pub use_of_strength: f64,
}

/// The element as a part of a body, from the columns of its system.
pub fn part<S: Scalar>(system: &System<S>, rest: &RestData, i: usize) -> BodyPart {
    BodyPart {
        mass: rest.mass[i],
        inertia: match rest.inverse_inertia[i] > 0.0 {
            true => 1.0 / rest.inverse_inertia[i],
            false => 0.0,
        },
        place: system.position(i),
        velocity: system.velocity(i),
        spin: system.spin(i),
    }
}

impl Piece {
    /// A piece of these elements (ascending), with their total momentum and angular momentum.
    pub fn new<S: Scalar>(
        number: u32,
        elements: Vec<u32>,
        (system, rest): (&System<S>, &RestData),
        carried: Vec<StressAndEnergy>,
    ) -> Self {
        let parts: Vec<BodyPart> = elements
            .iter()
            .map(|&i| part(system, rest, i as usize))
            .collect();
        let turns = elements.iter().map(|&i| rotation(system, i as usize));
        Piece {
            turns: turns.collect(),
            ..Self::of_body(
                number,
                elements,
                (
                    RigidBody::new(&parts),
                    parts.iter().map(|part| part.place).collect(),
                ),
                carried,
            )
        }
    }

    /// A piece with a body whose elements were at these places (m) when it was made, without rotations.
    pub fn of_body(
        number: u32,
        elements: Vec<u32>,
        (body, places): (RigidBody, Vec<DVec3>),
        carried: Vec<StressAndEnergy>,
    ) -> Self {
        let arms: Vec<DVec3> = places.iter().map(|place| *place - body.centre).collect();
        Piece {
            number,
            turns: vec![DQuat::IDENTITY; elements.len()],
            reach: reach(places.iter().copied(), body.centre),
            clusters: clusters(&arms),
            rest: places,
            elements,
            body,
            carried,
            strength: None,
            held: HeldVibration::default(),
            near: Vec::new(),
            loaded: Vec::new(),
            still: false,
            resting: RestingLoads::default(),
            removed: false,
            apart: false,
            slow_since: None,
            balanced: Vec::new(),
            balanced_force: 0.0,
            judged: None,
            statics: None,
        }
    }

    /// Kinetic energy, J.
    pub fn kinetic(&self) -> f64 {
        let moving = &self.body.moving;
        let spin = self.body.pose().spin;
        0.5 * moving.velocity.length_squared() / self.body.inverse_mass
            + 0.5 * spin.dot(moving.momentum)
    }

    /// Takes its motion away; returns its kinetic energy, J.
    pub fn stop(&mut self) -> f64 {
        let energy = self.kinetic();
        self.body.moving.velocity = DVec3::ZERO;
        self.body.moving.momentum = DVec3::ZERO;
        self.still = true;
        self.resting = RestingLoads::default();
        self.loaded.clear();
        energy
    }

    /// Upper bound on the speed of its elements, m/s.
    pub fn fastest(&self) -> f64 {
        self.body.moving.velocity.length() + self.spin_speed()
    }

    /// Upper bound on the speed that its spin gives to its elements, m/s.
    pub fn spin_speed(&self) -> f64 {
        let moving = &self.body.moving;
        moving.momentum.length() * self.body.top.largest_inverse() * self.reach
    }

    /// Centre of mass, m.
    pub fn centre(&self) -> DVec3 {
        self.body.centre + self.body.moving.displacement
    }

    /// Place of its `k`-th element, m.
    pub fn place(&self, k: usize) -> DVec3 {
        self.centre() + self.body.moving.rotation * (self.rest[k] - self.body.centre)
    }

    /// Whether no contact of it is listed: it moves freely.
    pub fn is_free(&self) -> bool {
        !self.still && self.near.is_empty()
    }

    /// Its clusters where they are now.
    pub fn placed(&self) -> Placed<'_> {
        Placed {
            clusters: &self.clusters,
            centre: self.centre(),
            rotation: self.body.moving.rotation,
        }
    }

    /// Loads on its elements with listed contacts that are not zero.
    pub fn loads<S: Scalar>(&self, load: &[LoadRow<S>]) -> Vec<ElementLoad> {
        let near = self.near.iter().map(|&k| self.elements[k as usize]);
        let all = near.map(|element| {
            let (force, torque) = loads(&load[element as usize]);
            ElementLoad {
                element,
                force,
                torque,
            }
        });
        all.filter(|one| one.force != DVec3::ZERO || one.torque != DVec3::ZERO)
            .collect()
    }

    /// Notes that the stresses of its bonds are in balance with these loads (its own frame).
    pub fn balance(&mut self, loads: Vec<ElementLoad>) {
        self.balanced_force = loads.iter().map(|one| one.force.length()).sum();
        self.judged = Some(JudgedLoad {
            loads: loads.clone(),
            use_of_strength: 0.0,
        });
        self.balanced = loads;
    }

    /// Its strength if forces whose lengths add up to `force` (N) might use as much of it as `limit`: the cheapest
    /// of all bounds.
    pub fn doubtful(&self, force: f64, limit: f64) -> Option<Strength> {
        let most = |strength: &Strength| strength.force * (force + self.balanced_force) >= limit;
        self.strength.filter(most)
    }

    /// These loads in its own frame.
    pub fn in_own_frame(&self, mut loads: Vec<ElementLoad>) -> Vec<ElementLoad> {
        let back = self.body.moving.rotation.inverse();
        for one in &mut loads {
            one.force = back * one.force;
            one.torque = back * one.torque;
        }
        loads
    }

    /// Force and torque about the centre of mass of the loads on its elements with listed contacts.
    pub fn wrench<S: Scalar>(&self, load: &[LoadRow<S>]) -> Wrench {
        let rotation = self.body.moving.rotation;
        let mut sum = Wrench::default();
        for &k in &self.near {
            let (force, torque) = loads(&load[self.elements[k as usize] as usize]);
            if force != DVec3::ZERO || torque != DVec3::ZERO {
                let arm = rotation * (self.rest[k as usize] - self.body.centre);
                sum += Wrench::at(arm, force, torque);
            }
        }
        sum
    }

    /// Sets positions and velocities of the elements with listed contacts.
    pub fn place_near<S: Scalar>(&self, system: &mut System<S>) {
        let pose = RigidPose::<S>::new(self.body.centre, self.body.pose());
        for &k in &self.near {
            place(
                &pose,
                self.rest[k as usize],
                self.elements[k as usize],
                system,
            );
        }
    }

    /// Sets positions and velocities of the elements for which `chosen` is true.
    pub fn place_where<S: Scalar>(&self, chosen: impl Fn(u32) -> bool, system: &mut System<S>) {
        let pose = RigidPose::<S>::new(self.body.centre, self.body.pose());
        for (rest, &element) in self.rest.iter().zip(&self.elements) {
            if chosen(element) {
                place(&pose, *rest, element, system);
            }
        }
    }

    /// Sets positions, rotations and velocities of all elements.
    pub fn place_all<S: Scalar>(&self, system: &mut System<S>) {
        let pose = RigidPose::<S>::new(self.body.centre, self.body.pose());
        let turned = self.body.moving.rotation;
        for (k, &element) in self.elements.iter().enumerate() {
            place(&pose, self.rest[k], element, system);
            let (q, unapplied) = rounded::<S>(turned * self.turns[k]);
            let row = &mut system.motion[element as usize].0;
            put(row, motion::Q, q.v);
            row[motion::Q + 3] = q.w;
            put(&mut system.tail[element as usize].0, 0, unapplied);
        }
    }

    /// Holds what its elements have beyond its rigid motion when it is made; `energy` is the kinetic energy of that, J.
    pub fn hold<S: Scalar>(&mut self, (system, rest): (&System<S>, &RestData), energy: f64) {
        let (velocity, spin) = (self.body.moving.velocity, self.body.pose().spin);
        let back = self.body.moving.rotation.inverse();
        let motions = self.elements.iter().map(|&i| {
            let part = part(system, rest, i as usize);
            let rigid = velocity + spin.cross(part.place - self.centre());
            [back * (part.velocity - rigid), back * (part.spin - spin)]
        });
        self.held = HeldVibration {
            motions: motions.collect(),
            energy,
        };
    }

    /// Gives the vibration that it holds to its elements, whose rows must be up to date. Returns its energy, J.
    pub fn give_back<S: Scalar>(&mut self, system: &mut System<S>) -> f64 {
        let held = std::mem::take(&mut self.held);
        let pose = RigidPose::<S>::new(self.body.centre, self.body.pose());
        let turned = self.body.moving.rotation;
        let rows = self.rest.iter().zip(&self.elements);
        for ([velocity, spin], (rest, &element)) in held.motions.iter().zip(rows) {
            let row = &mut system.motion[element as usize].0;
            let velocity = pose.velocity(*rest) + turned * *velocity;
            let spin = pose.pose.spin + turned * *spin;
            put(row, motion::V, Vec3::from_f64(velocity.to_array()));
            put(row, motion::W, Vec3::from_f64(spin.to_array()));
        }
        held.energy
    }
}

/// Sets position, velocity and spin of an element.
fn place<S: Scalar>(pose: &RigidPose<S>, rest: DVec3, element: u32, system: &mut System<S>) {
    system.set_position(element as usize, pose.place(rest));
    let row = &mut system.motion[element as usize].0;
    let (velocity, spin) = (pose.velocity(rest), pose.pose.spin);
    put(row, motion::V, Vec3::from_f64(velocity.to_array()));
    put(row, motion::W, Vec3::from_f64(spin.to_array()));
}

/// Force, N, and torque, N m, of a row of loads.
pub fn loads<S: Scalar>(row: &LoadRow<S>) -> (DVec3, DVec3) {
    let vector = |at: usize| DVec3::from_array([0, 1, 2].map(|k| row.0[at + k].to_f64()));
    (vector(0), vector(4))
}

/// Rotation of an element since packing, with the part that rounding kept out of its row.
fn rotation<S: Scalar>(system: &System<S>, i: usize) -> DQuat {
    let left = &system.tail[i].0;
    let left = DVec3::from_array([0, 1, 2].map(|k| left[k].to_f64()));
    (DQuat::from_scaled_axis(left) * system.rotation(i)).normalize()
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use crate::math::Vec3;
    use crate::simulate::bonded::rows::put;
    use crate::simulate::bonded::system::motion;
    use crate::simulate::sleep::piece::{Piece, part};
    use crate::simulate::sleep::test_scene::{asleep, two_blocks};

    #[test]
    fn a_turned_piece_gives_back_all_momenta_and_energy() {
        let (mut built, _) = asleep(&two_blocks(), 0..0);
        let (system, rest) = (&mut built.system, &built.rest);
        let own: Vec<u32> = (0..system.count as u32)
            .filter(|&i| rest.body[i as usize] == 1)
            .collect();
        for &i in &own {
            let x = f64::from(i);
            let v = DVec3::new(1.0 + (3.0 * x).sin(), (5.0 * x).cos(), (7.0 * x).sin());
            let row = &mut system.motion[i as usize].0;
            put(row, motion::V, Vec3::from_f64(v.to_array()));
            put(row, motion::W, Vec3::from_f64((1e3 * v).to_array()));
        }
        let sums = |system: &_| {
            let zero = (DVec3::ZERO, DVec3::ZERO, 0.0);
            own.iter().fold(zero, |(p, l, energy), &i| {
                let part = part(system, rest, i as usize);
                let momentum = part.mass * part.velocity;
                let spin = part.place.cross(momentum) + part.inertia * part.spin;
                let kinetic = part.kinetic(part.velocity, part.spin);
                (p + momentum, l + spin, energy + kinetic)
            })
        };
        let (p, l, energy) = sums(system);
        let carried = vec![Default::default(); own.len()];
        let mut piece = Piece::new(9, own.clone(), (&*system, rest), carried);
        let vibration = energy - piece.kinetic();
        assert!(vibration > 0.1 * energy);
        piece.hold((&*system, rest), vibration);
        let before = sums(system);
        assert_eq!(before, (p, l, energy));
        // The piece flies on and turns.
        piece.body.drift_long(0.3);
        piece.place_all(system);
        let (rigid, kinetic) = (sums(system), piece.kinetic());
        assert!((rigid.2 / kinetic - 1.0).abs() < 1e-12);
        assert_eq!(piece.give_back(system), vibration);
        let (p_now, l_now, energy_now) = sums(system);
        assert!((p_now - p).length() < 1e-12 * p.length(), "{p_now} {p}");
        assert!((l_now - l).length() < 1e-10 * l.length(), "{l_now} {l}");
        let wanted = kinetic + vibration;
        assert!(
            (energy_now / wanted - 1.0).abs() < 1e-12,
            "{energy_now} {wanted}"
        );
        // It holds nothing any more.
        assert_eq!(piece.give_back(system), 0.0);
    }
}
