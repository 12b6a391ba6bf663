//! The judge: the use of strength that contact forces on a piece would cause if it were elastic and in balance.
//!
//! The bonds are those of the piece, as a linear network: what the judge finds is the stress that steps of the
//! awake fragment would settle at. The stress of each bond is then taken from its own law at the displaced
//! positions, so that the criterion of failure is that of the steps.

use glam::{DQuat, DVec3};

use crate::columns::SleepReason;
use crate::laws::bond::{BondLaw, BondLoad, BondState};
use crate::laws::failure::{self, CriterionSection};
use crate::laws::table::{dispatch_law, with_law};
use crate::math::{Quat, Scalar, Vec3};
use crate::simulate::bonded::rest::RestData;
use crate::simulate::bonded::system::System;
use crate::simulate::sleep::loads::{Blow, ElementLoad, differences, merged};
use crate::simulate::sleep::piece::{JudgedLoad, Piece};
use crate::simulate::sleep::statics::Statics;
use crate::simulate::sleep::strength::Strength;
use crate::simulate::sleep::watched::LEAST_LEFT;

/// Relative change of the forces on a piece from which they are judged again, if they then used as much of its
/// strength as wakes it.
const CHANGE: f64 = 0.2;
/// Largest such change.
const MOST_CHANGE: f64 = 2.0;
/// Relative residual of the balance.
const ACCURACY: f64 = 1e-3;
/// Neither displaced nor turned, and no load.
const REST: (DVec3, DVec3) = (DVec3::ZERO, DVec3::ZERO);

impl Piece {
    /// Judges loads, and touches that just begin and whose forces are among these loads, all in the frame of the world:
    /// by a bound, by whether they were judged before, and then by the stress that they cause in balance, or by the
    /// bound where no balance is found. `None` if they are harmless for sure, or were judged before.
    pub fn alarm<S: Scalar>(
        &mut self,
        (loads, blows): (Vec<ElementLoad>, Vec<Blow>),
        strength: Strength,
        around: (&System<S>, &RestData),
        limit: f64,
    ) -> Option<(SleepReason, f64)> {
        let torque = DVec3::ZERO;
        let load = |element: u32, force: DVec3| ElementLoad {
            element,
            force,
            torque,
        };
        let added = blows
            .iter()
            .map(|blow| load(blow.element, blow.force - blow.now));
        let loads = merged(loads.into_iter().chain(added).collect());
        let loads = self.in_own_frame(loads);
        let bound = self.use_bound(&loads, strength.force);
        if bound < limit || !self.is_load_new(&loads, limit) {
            return None;
        }
        let struck = blows.iter().map(|blow| load(blow.element, blow.force));
        let struck = self.in_own_frame(merged(struck.collect()));
        let energy = blows.iter().map(|blow| blow.energy).sum();
        Some(match self.judge(around, loads, (&struck, energy), limit) {
            Some(found) => (SleepReason::Stress, found),
            None => (SleepReason::Force, bound),
        })
    }

    /// Upper bound on the use of strength under these loads (frame of the piece), from `per_force` (1/N).
    fn use_bound(&self, loads: &[ElementLoad], per_force: f64) -> f64 {
        let added = differences(loads, &self.balanced);
        per_force * added.iter().map(|one| one.force.length()).sum::<f64>()
    }

    /// Whether these loads (frame of the piece) differ so much from those that were judged that they could use as
    /// much strength as wakes it, `limit`.
    fn is_load_new(&self, loads: &[ElementLoad], limit: f64) -> bool {
        let Some(judged) = &self.judged else {
            return true;
        };
        let size = |loads: &[ElementLoad]| loads.iter().map(|one| one.force.length()).sum::<f64>();
        let change = size(&differences(loads, &judged.loads));
        // Only what differs from the loads in balance used strength.
        let judged_size = match judged.use_of_strength > 0.0 {
            true => size(&differences(&judged.loads, &self.balanced)),
            false => size(&judged.loads),
        };
        let room = CHANGE * limit / judged.use_of_strength;
        change > room.clamp(CHANGE, MOST_CHANGE) * judged_size
    }

    /// Judges these loads (frame of the piece); remembers them and returns the use of strength, `None` if the
    /// balance was not found.
    ///
    /// The bonds keep the stresses that they had when the piece was made, so that only what changed since then
    /// strains them further.
    ///
    /// The forces `struck` are those that a rigid piece would be struck with, and the energy (J) is that of the
    /// contacts under them. The piece yields, which takes its part of the energy of the blow: if they would use more
    /// than the limit, they count as much less as makes up for that.
    fn judge<S: Scalar>(
        &mut self,
        (system, rest): (&System<S>, &RestData),
        mut loads: Vec<ElementLoad>,
        (struck, energy): (&[ElementLoad], f64),
        limit: f64,
    ) -> Option<f64> {
        let added = self.by_element(&differences(&loads, &self.balanced));
        let mut moved = self.network(system, rest).solve(&added, ACCURACY)?;
        let mut use_of_strength = self.largest_use(system, &moved);
        if use_of_strength >= limit && energy > 0.0 {
            let blow = self.by_element(struck);
            let network = self.network(system, rest);
            let by_blow = network.solve(&blow, ACCURACY)?;
            let taken = network.energy(&blow, &by_blow);
            let less = 1.0 - (1.0 + taken.max(0.0) / energy).sqrt().recip();
            for (moved, by_blow) in moved.iter_mut().zip(&by_blow) {
                moved.0 -= less * by_blow.0;
                moved.1 -= less * by_blow.1;
            }
            use_of_strength = self.largest_use(system, &moved);
            let gone = struck.iter().map(|load| ElementLoad {
                force: less * load.force,
                ..*load
            });
            loads = differences(&loads, &gone.collect::<Vec<_>>());
        }
        self.judged = Some(JudgedLoad {
            loads,
            use_of_strength,
        });
        Some(use_of_strength)
    }

    /// These loads (frame of the piece) as forces and torques on all of its elements.
    fn by_element(&self, loads: &[ElementLoad]) -> Vec<(DVec3, DVec3)> {
        let mut all = vec![REST; self.elements.len()];
        for load in loads {
            if let Ok(at) = self.elements.binary_search(&load.element) {
                all[at] = (load.force, load.torque);
            }
        }
        all
    }

    /// Its bonds as a linear network, made when it is first needed.
    fn network<S: Scalar>(&mut self, system: &System<S>, rest: &RestData) -> &Statics {
        self.statics.get_or_insert_with(|| {
            let elements = || self.elements.iter().map(|&i| i as usize);
            let mass: Vec<f64> = elements().map(|i| rest.mass[i]).collect();
            let inertia = elements().map(|i| 1.0 / rest.inverse_inertia[i]);
            let inertia: Vec<f64> = inertia.collect();
            let made = Statics::new(system, &self.elements, &self.rest, &mass, &inertia);
            Box::new(made)
        })
    }

    /// Largest use of strength of its bonds if its elements were displaced (m) and turned (rad) so.
    fn largest_use<S: Scalar>(&self, system: &System<S>, moved: &[(DVec3, DVec3)]) -> f64 {
        let bonds = &system.bonds;
        let mut largest = 0.0_f64;
        for (at, &element) in self.elements.iter().enumerate() {
            let sides = bonds.sides(element as usize).take_while(|side| side.owned);
            for side in sides.filter(|side| bonds.is_intact(side.entry)) {
                let Ok(other) = self.elements.binary_search(&(side.other as u32)) else {
                    continue;
                };
                let before = self.stress(system, side.entry, [(at, REST), (other, REST)]);
                let after =
                    self.stress(system, side.entry, [(at, moved[at]), (other, moved[other])]);
                largest = largest.max((after - before) / (1.0 - before).max(LEAST_LEFT));
            }
        }
        largest
    }

    /// Stress over strength of a bond whose ends, places in `elements`, are displaced (m) and turned (rad) so.
    fn stress<S: Scalar>(
        &self,
        system: &System<S>,
        entry: usize,
        ends: [(usize, (DVec3, DVec3)); 2],
    ) -> f64 {
        let bonds = &system.bonds;
        let [place_i, place_j] = ends.map(|(at, (shift, _))| self.rest[at] + shift);
        let [q_i, q_j] = ends.map(|(at, (_, turn))| {
            let q = DQuat::from_scaled_axis(turn) * self.turns[at];
            Quat::new(q.x, q.y, q.z, q.w)
        });
        let class = system.classes[bonds.class.get(entry) as usize].map(Scalar::to_f64);
        let direction = [0, 1, 2].map(|axis| bonds.direction[axis][entry]);
        let length = bonds.length.get(entry).to_f64();
        let state = BondState {
            x: Vec3::from_f64((place_i - place_j).to_array()),
            q_i,
            q_j,
            unapplied: Vec3::zero(),
            rest_direction: Vec3::from_f64(direction.map(Scalar::to_f64)),
            rest_length: length,
            k: class.stiffness(length),
        };
        let (sigma, tau) = with_law!(system.law, law => stresses(law, state, &class.section));
        let [sigma_c, tau_c] =
            [&bonds.sigma_c, &bonds.tau_c].map(|column| column.get(entry).to_f64());
        let used = (sigma / sigma_c).max(tau / tau_c).max(0.0);
        let left = bonds.left(entry);
        used * left.stiffness / left.strength
    }
}

/// Normal and shear stress of a bond, Pa.
fn stresses<B: BondLaw>(
    _: B,
    state: BondState<f64>,
    section: &CriterionSection<f64>,
) -> (f64, f64) {
    let load: BondLoad<f64> = B::load(state);
    failure::stress(&load, section)
}

#[cfg(test)]
mod tests {
    use super::{Blow, DVec3, ElementLoad, JudgedLoad};
    use crate::simulate::sleep::test_scene::{asleep, blocks};

    /// Two elements side by side; one is struck along the bond and away from the other. In balance it moves by a
    /// quarter of what the bond stretches by under the force (half the force, and half the stretch to each side).
    #[test]
    fn a_blow_loses_what_the_struck_piece_takes_of_its_energy() {
        let text = blocks(&[([2, 1, 1], 0.0)], 0.0);
        let (built, mut sleep) = asleep(&text, 0..1);
        let system = &built.system;
        let bond = system.bonds.sides(0).next().unwrap().entry;
        let (class, length) = (&system.classes[0], system.bonds.length.get(bond));
        let stiffness = class.es / length;
        let away = (system.position(0) - system.position(1)).normalize();
        let (force, energy) = (0.5, 1e-8);
        let blow = Blow {
            element: 0,
            force: force * away,
            now: DVec3::ZERO,
            energy,
        };
        let strength = sleep.strength(&[0, 1], 1e-3).unwrap();
        let mut used = |blows: Vec<Blow>, loads: Vec<ElementLoad>| {
            let piece = &mut sleep.pieces[0];
            piece.judged = None;
            let around = (system, &built.rest);
            piece
                .alarm((loads, blows), strength, around, 0.0)
                .unwrap()
                .1
        };
        let load = ElementLoad {
            element: 0,
            force: force * away,
            torque: DVec3::ZERO,
        };
        let (whole, struck) = (used(vec![], vec![load]), used(vec![blow], vec![]));
        let yielding = 0.5 * force * force / (4.0 * stiffness);
        let expected = whole / (1.0 + yielding / energy).sqrt();
        assert!(
            (struck / expected - 1.0).abs() < 1e-3,
            "{struck} {expected}"
        );
        assert!(struck < 0.9 * whole);
    }

    #[test]
    fn small_loads_on_a_piece_made_under_a_large_one_are_judged_once() {
        let text = blocks(&[([4, 3, 3], 0.0)], 0.0);
        let (_, mut sleep) = asleep(&text, 0..1);
        let piece = &mut sleep.pieces[0];
        let load = |element: u32, force: f64| {
            vec![ElementLoad {
                element,
                force: DVec3::X * force,
                torque: DVec3::ZERO,
            }]
        };
        piece.balance(load(0, 10.0));
        assert!(!piece.is_load_new(&load(0, 11.0), 0.5));
        // The large load is gone; a small one acts elsewhere and was judged.
        piece.judged = Some(JudgedLoad {
            loads: load(1, 0.1),
            use_of_strength: 0.1,
        });
        assert!(!piece.is_load_new(&load(2, 0.2), 0.5));
        assert!(piece.is_load_new(&load(2, 11.0), 0.5));
        // Loads that use most of what is allowed are judged again sooner.
        piece.judged.as_mut().unwrap().use_of_strength = 0.4;
        assert!(!piece.is_load_new(&load(2, 0.2), 0.5) && piece.is_load_new(&load(2, 3.0), 0.5));
    }
}
