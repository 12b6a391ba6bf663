//! Vibration that a piece holds while it sleeps, where its energy is more than may be lost: its elements get it back
//! when they wake.

use glam::DVec3;

use crate::math::{Scalar, Vec3};
use crate::simulate::bonded::rest::RestData;
use crate::simulate::bonded::rows::put as put_vector;
use crate::simulate::bonded::system::{System, motion};
use crate::simulate::error::StateError;
use crate::simulate::run_state::state::{SectionKind, State, check_length};
use crate::simulate::scene::clamps::RigidPose;
use crate::simulate::sleep::piece::{Piece, part};
use crate::simulate::sleep::pieces::Sleep;

/// Energy that each piece holds; absent if none does.
const ENERGIES: SectionKind = SectionKind::first("energy of held vibration");
/// Velocity and spin of each element of the pieces that hold some.
const MOTIONS: SectionKind = SectionKind::first("held vibration");

/// Vibration of the elements of a piece.
#[derive(Clone, Debug, Default)]
pub struct HeldVibration {
    /// Velocity, m/s, and spin, rad/s, of each element less those of the rigid motion, in the piece's frame; empty if
    /// it holds none.
    motions: Vec<[DVec3; 2]>,
    /// Their kinetic energy, J.
    pub energy: f64,
}

impl HeldVibration {
    /// What the elements of a new piece have beyond its rigid motion; `energy` is its kinetic energy, J.
    pub fn of<S: Scalar>(
        piece: &Piece,
        (system, rest): (&System<S>, &RestData),
        energy: f64,
    ) -> Self {
        let (velocity, spin) = (piece.body.moving.velocity, piece.body.pose().spin);
        let back = piece.body.moving.rotation.inverse();
        let motions = piece.elements.iter().map(|&i| {
            let part = part(system, rest, i as usize);
            let rigid = velocity + spin.cross(part.place - piece.centre());
            [back * (part.velocity - rigid), back * (part.spin - spin)]
        });
        HeldVibration {
            motions: motions.collect(),
            energy,
        }
    }
}

impl Piece {
    /// Gives the vibration that it holds to its elements, whose rows must be up to date. Returns its energy, J.
    pub fn give_back<S: Scalar>(&mut self, system: &mut System<S>) -> f64 {
        let held = std::mem::take(&mut self.held);
        let pose = RigidPose::<S>::new(self.body.centre, self.body.pose());
        let turned = self.body.moving.rotation;
        for ([velocity, spin], (rest, &element)) in held
            .motions
            .iter()
            .zip(self.rest.iter().zip(&self.elements))
        {
            let row = &mut system.motion[element as usize].0;
            let velocity = pose.velocity(*rest) + turned * *velocity;
            let spin = pose.pose.spin + turned * *spin;
            put_vector(row, motion::V, Vec3::from_f64(velocity.to_array()));
            put_vector(row, motion::W, Vec3::from_f64(spin.to_array()));
        }
        held.energy
    }
}

/// Writes the vibration that the pieces hold.
pub fn put<S: Scalar>(state: &mut State, sleep: &Sleep<S>) {
    let pieces = &sleep.pieces;
    if pieces.iter().all(|piece| piece.held.motions.is_empty()) {
        return;
    }
    state.put(ENERGIES, pieces.iter().map(|piece| [piece.held.energy]));
    let motions = pieces.iter().flat_map(|piece| &piece.held.motions);
    let motions: Vec<[f64; 6]> = motions
        .map(|[v, w]| [v.x, v.y, v.z, w.x, w.y, w.z])
        .collect();
    state.put(MOTIONS, motions.into_iter());
}

/// Reads what [`put`] wrote; the pieces have been read.
pub fn restore<S: Scalar>(state: &State, sleep: &mut Sleep<S>) -> Result<(), StateError> {
    let Some(energies) = state.get::<f64, 1>(ENERGIES)? else {
        return Ok(());
    };
    check_length(ENERGIES.name, energies.len(), sleep.pieces.len())?;
    let mut motions = state.require::<f64, 6>(MOTIONS)?;
    let with_energy = sleep.pieces.iter_mut().zip(energies);
    let holding: Vec<(&mut Piece, f64)> = with_energy
        .map(|(piece, [energy])| (piece, energy))
        .filter(|(_, energy)| *energy > 0.0)
        .collect();
    let count = holding.iter().map(|(piece, _)| piece.elements.len()).sum();
    check_length(MOTIONS.name, motions.len(), count)?;
    for (piece, energy) in holding {
        let own = motions.by_ref().take(piece.elements.len());
        let own = own.map(|[a, b, c, d, e, f]| [DVec3::new(a, b, c), DVec3::new(d, e, f)]);
        piece.held = HeldVibration {
            motions: own.collect(),
            energy,
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use crate::math::Vec3;
    use crate::simulate::bonded::rows::put;
    use crate::simulate::bonded::system::motion;
    use crate::simulate::sleep::held::HeldVibration;
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
        piece.held = HeldVibration::of(&piece, (&*system, rest), vibration);
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
