//! The pieces in a state, so that a run that is resumed has the same bits.

use glam::{DQuat, DVec3};

use crate::math::Scalar;
use crate::simulate::bonded::bond_tasks::StressAndEnergy;
use crate::simulate::bonded::rest::RestData;
use crate::simulate::bonded_run::run::BondedRun;
use crate::simulate::contact::chunk::{COLLIDER, SpringEntry};
use crate::simulate::contact::lists::Contacts;
use crate::simulate::contact::pair_list::Memory;
use crate::simulate::error::StateError;
use crate::simulate::run_state::sections::{put_sliding, sliding};
use crate::simulate::run_state::state::{SectionKind, State, check_length};
use crate::simulate::scene::rigid_body::{BODY_NUMBERS, BodyMotion, BodyPart, RigidBody};
use crate::simulate::sleep::held::HeldVibration;
use crate::simulate::sleep::loads::ElementLoad;
use crate::simulate::sleep::piece::{JudgedLoad, Piece};
use crate::simulate::sleep::pieces::Sleep;
use crate::simulate::sleep::strength::Strength;
use crate::simulate::sleep::watched::Watched;

/// Last step without calm of each element; present in every state of a run with sleep.
const UNREST: SectionKind = SectionKind::first("last unrest");
/// Smallest and largest stress over strength of the bonds of each element since then.
const WATCHED: SectionKind = SectionKind::first("watched stresses");
const RIGIDIFIED: SectionKind = SectionKind::first("rigidified energy");
/// Absent if there is none.
const REMOVED: SectionKind = SectionKind::first("energy of removed fragments");
const KINETIC: SectionKind = SectionKind::first("largest kinetic energy");
/// Number, count of elements, whether a load can wake it, 1 if it is at rest or 2 if it is removed, step since which it
/// is slow plus one, count of loaded elements, count of judged loads plus one, count of balanced loads.
const PIECES: SectionKind = SectionKind::first("asleep pieces");
/// Motion, the use of strength of the judged load, and the strength: per closing speed and per force.
const MOTIONS: SectionKind = SectionKind::first("motion of asleep pieces");
const ELEMENTS: SectionKind = SectionKind::first("asleep elements");
/// Position and rotation of each element when its piece was made; stresses and energy of its bonds.
const PLACES: SectionKind = SectionKind::first("places of asleep elements");
const LOADED: SectionKind = SectionKind::first("loaded asleep elements");
/// Elements and loads in balance with the stresses of each piece, then those that were judged.
const JUDGED: SectionKind = SectionKind::first("judged elements");
const FORCES: SectionKind = SectionKind::first("judged forces");
/// Contacts that are not listed, also those inside a piece; and their springs.
const PAIRS: SectionKind = SectionKind::first("contact pairs at rest");
const SPRINGS: SectionKind = SectionKind::first("friction springs at rest");
/// Whether each of them slides, 1 or 0; absent if none does.
const SLIDING: SectionKind = SectionKind::first("sliding contacts at rest");
/// Element, and partner or [`COLLIDER`] plus the collider's index; and normal stiffness, N/m.
const SOFT: SectionKind = SectionKind::first("soft contacts of pieces");
const STIFFNESS: SectionKind = SectionKind::first("stiffness of soft contacts");

/// Energy of the vibration that each piece holds; absent if none does.
const HELD: SectionKind = SectionKind::first("energy of held vibration");
/// Velocity and spin of each element of the pieces that hold some.
const VIBRATION: SectionKind = SectionKind::first("held vibration");

/// Writes the pieces.
pub fn put<S: Scalar>(state: &mut State, sleep: &Sleep<S>, contacts: &Contacts<S>) {
    let soft = contacts.soft().into_iter();
    let soft = soft.chain(sleep.unlisted_soft.iter().copied());
    let (soft, normal): (Vec<[u32; 2]>, Vec<S>) = soft.unzip();
    state.put(SOFT, soft.into_iter());
    state.put(STIFFNESS, normal.into_iter().map(|normal| [normal]));
    let pieces = &sleep.pieces;
    state.put(UNREST, sleep.unrest.iter().map(|&step| [step]));
    let range = |one: &Watched| [one.low, one.high];
    state.put(WATCHED, sleep.watched.iter().map(range));
    put_held(state, sleep);
    state.put(RIGIDIFIED, [[sleep.rigidified]].into_iter());
    if sleep.removed_energy != 0.0 {
        state.put(REMOVED, [[sleep.removed_energy]].into_iter());
    }
    state.put(KINETIC, [[sleep.most_kinetic]].into_iter());
    let head = |piece: &Piece| {
        [
            u64::from(piece.number),
            piece.elements.len() as u64,
            u64::from(piece.strength.is_some()),
            u64::from(piece.still) + u64::from(piece.removed),
            piece.slow_since.map_or(0, |step| step + 1),
            piece.loaded.len() as u64,
            piece
                .judged
                .as_ref()
                .map_or(0, |one| one.loads.len() as u64 + 1),
            piece.balanced.len() as u64,
        ]
    };
    state.put(PIECES, pieces.iter().map(head));
    let motion = |piece: &Piece| {
        let mut row = [0.0; BODY_NUMBERS + 3];
        row[..BODY_NUMBERS].copy_from_slice(&piece.body.moving.to_numbers());
        row[BODY_NUMBERS] = piece.judged.as_ref().map_or(0.0, |one| one.use_of_strength);
        let strength = piece.strength.unwrap_or_default();
        (row[BODY_NUMBERS + 1], row[BODY_NUMBERS + 2]) = (strength.impact, strength.force);
        row
    };
    state.put(MOTIONS, pieces.iter().map(motion));
    let elements: Vec<[u32; 1]> = pieces
        .iter()
        .flat_map(|one| &one.elements)
        .map(|&i| [i])
        .collect();
    state.put(ELEMENTS, elements.into_iter());
    let places: Vec<[f64; 10]> = pieces.iter().flat_map(places).collect();
    state.put(PLACES, places.into_iter());
    let loaded: Vec<[u32; 1]> = pieces
        .iter()
        .flat_map(|one| &one.loaded)
        .map(|&i| [i])
        .collect();
    state.put(LOADED, loaded.into_iter());
    let judged = |piece: &Piece| {
        piece
            .judged
            .as_ref()
            .map_or_else(Vec::new, |one| one.loads.clone())
    };
    let both = |piece: &Piece| [piece.balanced.clone(), judged(piece)].concat();
    let loads: Vec<ElementLoad> = pieces.iter().flat_map(both).collect();
    state.put(JUDGED, loads.iter().map(|one| [one.element]));
    let numbers = |one: &ElementLoad| {
        let ([a, b, c], [d, e, f]) = (one.force.to_array(), one.torque.to_array());
        [a, b, c, d, e, f]
    };
    state.put(FORCES, loads.iter().map(numbers));
    let springs = &sleep.unlisted_springs;
    state.put(PAIRS, springs.iter().map(|one| [one.element, one.partner]));
    let memory = |one: &SpringEntry<S>| {
        let ([a, b, c], [d, e, f]) = (one.memory.spring, one.memory.roll);
        [a, b, c, d, e, f]
    };
    state.put(SPRINGS, springs.iter().map(memory));
    sleep.put_resting_loads(state);
    put_sliding(state, SLIDING, springs.iter().map(|one| one.memory.slides));
}

/// Writes the vibration that the pieces hold.
fn put_held<S: Scalar>(state: &mut State, sleep: &Sleep<S>) {
    let pieces = &sleep.pieces;
    if pieces.iter().all(|piece| piece.held.motions.is_empty()) {
        return;
    }
    state.put(HELD, pieces.iter().map(|piece| [piece.held.energy]));
    let motions = pieces.iter().flat_map(|piece| &piece.held.motions);
    let motions: Vec<[f64; 6]> = motions
        .map(|[v, w]| [v.x, v.y, v.z, w.x, w.y, w.z])
        .collect();
    state.put(VIBRATION, motions.into_iter());
}

/// Reads what [`put_held`] wrote; the pieces have been read.
fn restore_held<S: Scalar>(state: &State, sleep: &mut Sleep<S>) -> Result<(), StateError> {
    let Some(energies) = state.get::<f64, 1>(HELD)? else {
        return Ok(());
    };
    check_length(HELD.name, energies.len(), sleep.pieces.len())?;
    let mut motions = state.require::<f64, 6>(VIBRATION)?;
    let with_energy = sleep.pieces.iter_mut().zip(energies);
    let holding: Vec<(&mut Piece, f64)> = with_energy
        .map(|(piece, [energy])| (piece, energy))
        .filter(|(_, energy)| *energy > 0.0)
        .collect();
    let count = holding.iter().map(|(piece, _)| piece.elements.len()).sum();
    check_length(VIBRATION.name, motions.len(), count)?;
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

/// Place, rotation and carried stresses of each element of a piece.
fn places(piece: &Piece) -> impl Iterator<Item = [f64; 10]> {
    let all = piece.rest.iter().zip(&piece.turns).zip(&piece.carried);
    all.map(|((place, turn), carried)| {
        let ([x, y, z], [a, b, c, d]) = (place.to_array(), turn.to_array());
        [
            x,
            y,
            z,
            a,
            b,
            c,
            d,
            carried.sigma,
            carried.tau,
            carried.energy,
        ]
    })
}

/// Reads what [`put`] wrote into a run whose elements have not been read yet.
pub fn restore<S: Scalar>(
    state: &State,
    sleep: Option<&mut Sleep<S>>,
    run: &mut BondedRun<S>,
) -> Result<(), StateError> {
    let unrest = state.get::<u64, 1>(UNREST)?;
    let (Some(sleep), Some(unrest)) = (sleep, unrest) else {
        return match state.get::<u64, 1>(UNREST)? {
            Some(_) => Err(StateError::Asleep),
            None => Ok(()),
        };
    };
    check_length(UNREST.name, unrest.len(), run.system.count)?;
    sleep.unrest = unrest.map(|[step]| step).collect();
    let watched = state.require::<f32, 2>(WATCHED)?;
    check_length(WATCHED.name, watched.len(), run.system.count)?;
    sleep.watched = watched.map(|[low, high]| Watched { low, high }).collect();
    let rigidified = state.require::<f64, 1>(RIGIDIFIED)?.next();
    sleep.rigidified = rigidified.map_or(0.0, |[energy]| energy);
    let removed = state.get::<f64, 1>(REMOVED)?.and_then(|mut all| all.next());
    sleep.removed_energy = removed.map_or(0.0, |[energy]| energy);
    let kinetic = state.get::<f64, 1>(KINETIC)?.and_then(|mut all| all.next());
    sleep.most_kinetic = kinetic.map_or(0.0, |[energy]| energy);
    sleep.pieces.clear();
    let heads: Vec<[u64; 8]> = state.require(PIECES)?.collect();
    let motions: Vec<[f64; BODY_NUMBERS + 3]> = state.require(MOTIONS)?.collect();
    check_length(MOTIONS.name, motions.len(), heads.len())?;
    let mut reader = Reader {
        elements: state.require(ELEMENTS)?.collect(),
        places: state.require(PLACES)?.collect(),
        loaded: state.require(LOADED)?.collect(),
        judged: state.require(JUDGED)?.collect(),
        forces: state.require(FORCES)?.collect(),
    };
    let sum = |column: usize| {
        heads
            .iter()
            .map(|head| head[column] as usize)
            .sum::<usize>()
    };
    check_length(ELEMENTS.name, reader.elements.len(), sum(1))?;
    check_length(PLACES.name, reader.places.len(), sum(1))?;
    check_length(LOADED.name, reader.loaded.len(), sum(5))?;
    let judged: usize = heads
        .iter()
        .map(|head| (head[6].saturating_sub(1) + head[7]) as usize)
        .sum();
    check_length(JUDGED.name, reader.judged.len(), judged)?;
    check_length(FORCES.name, reader.forces.len(), judged)?;
    for [element] in reader
        .elements
        .iter()
        .chain(&reader.loaded)
        .chain(&reader.judged)
    {
        check_length(
            ELEMENTS.name,
            run.system.count.max(*element as usize + 1),
            run.system.count,
        )?;
    }
    for (head, motion) in heads.into_iter().zip(motions) {
        sleep.add(reader.piece(head, &motion, &run.rest));
    }
    restore_held(state, sleep)?;
    let pairs = state.require::<u32, 2>(PAIRS)?;
    let springs = state.require::<S, 6>(SPRINGS)?;
    check_length(SPRINGS.name, springs.len(), pairs.len())?;
    let sliding = sliding(state, SLIDING, pairs.len())?;
    let both = pairs.zip(springs).zip(sliding);
    sleep.unlisted_springs = both
        .map(
            |(([element, partner], [a, b, c, d, e, f]), slides)| SpringEntry {
                element,
                partner,
                memory: Memory {
                    spring: [a, b, c],
                    roll: [d, e, f],
                    slides,
                },
            },
        )
        .collect();
    sleep.restore_resting_loads(state, run.supports.colliders().len())?;
    sleep.mask(&mut run.system, &mut run.load, &run.rest);
    Ok(())
}

/// Makes the contacts soft that were soft in [`put`], listed or not.
pub fn restore_soft<S: Scalar>(
    state: &State,
    sleep: &mut Sleep<S>,
    run: &mut BondedRun<S>,
) -> Result<(), StateError> {
    sleep.unlisted_soft.clear();
    let Some(soft) = state.get::<u32, 2>(SOFT)? else {
        return Ok(());
    };
    let normal = state.require::<S, 1>(STIFFNESS)?;
    check_length(STIFFNESS.name, normal.len(), soft.len())?;
    for (contact, [normal]) in soft.zip(normal) {
        let elements = contact.into_iter().filter(|&end| end < COLLIDER);
        let most = elements.max().unwrap_or_default() as usize + 1;
        check_length(SOFT.name, run.system.count.max(most), run.system.count)?;
        match sleep.is_kept(contact) {
            true => sleep.unlisted_soft.push((contact, normal)),
            false => run.contacts.soften(contact, normal),
        }
    }
    Ok(())
}

/// What is left to read of the sections that hold one row per element.
struct Reader {
    elements: Vec<[u32; 1]>,
    places: Vec<[f64; 10]>,
    loaded: Vec<[u32; 1]>,
    judged: Vec<[u32; 1]>,
    forces: Vec<[f64; 6]>,
}

impl Reader {
    /// The next piece.
    fn piece(
        &mut self,
        [number, count, wakes, still, slow, loaded, judged, balanced]: [u64; 8],
        motion: &[f64; BODY_NUMBERS + 3],
        rest: &RestData,
    ) -> Piece {
        let count = count as usize;
        let elements: Vec<u32> = self.elements.drain(..count).map(|[i]| i).collect();
        let rows: Vec<[f64; 10]> = self.places.drain(..count).collect();
        let places: Vec<DVec3> = rows
            .iter()
            .map(|row| DVec3::new(row[0], row[1], row[2]))
            .collect();
        let parts = elements.iter().zip(&places).map(|(&i, &place)| BodyPart {
            mass: rest.mass[i as usize],
            inertia: 1.0 / rest.inverse_inertia[i as usize],
            place,
            velocity: DVec3::ZERO,
            spin: DVec3::ZERO,
        });
        let mut body = RigidBody::new(&parts.collect::<Vec<_>>());
        body.moving = BodyMotion::from_numbers(&std::array::from_fn(|k| motion[k]));
        let carried = rows.iter().map(|row| StressAndEnergy {
            sigma: row[7],
            tau: row[8],
            energy: row[9],
        });
        let mut piece = Piece::of_body(number as u32, elements, (body, places), carried.collect());
        let turn = |row: &[f64; 10]| DQuat::from_xyzw(row[3], row[4], row[5], row[6]);
        piece.turns = rows.iter().map(turn).collect();
        (piece.still, piece.removed) = (still > 0, still > 1);
        piece.slow_since = slow.checked_sub(1);
        piece.loaded = self.loaded.drain(..loaded as usize).map(|[i]| i).collect();
        piece.strength = (wakes != 0).then(|| Strength {
            impact: motion[BODY_NUMBERS + 1],
            force: motion[BODY_NUMBERS + 2],
        });
        piece.balance(self.loads(balanced));
        piece.judged = judged.checked_sub(1).map(|count| JudgedLoad {
            loads: self.loads(count),
            use_of_strength: motion[BODY_NUMBERS],
        });
        piece
    }

    /// The next loads on elements.
    fn loads(&mut self, count: u64) -> Vec<ElementLoad> {
        let elements = self.judged.drain(..count as usize);
        let numbers = self.forces.drain(..count as usize);
        let load = |([element], [a, b, c, d, e, f]): ([u32; 1], [f64; 6])| ElementLoad {
            element,
            force: DVec3::new(a, b, c),
            torque: DVec3::new(d, e, f),
        };
        elements.zip(numbers).map(load).collect()
    }
}
