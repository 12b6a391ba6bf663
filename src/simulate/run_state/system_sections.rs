//! The sections of a state with elements and bonds.

use std::collections::BTreeMap;

use super::state::{SectionKind, State, check_length};
use super::state_in_parts::StateInParts;
use crate::math::Scalar;
use crate::simulate::bonded::bonds::Bonds;
use crate::simulate::bonded::rigid_mask::RigidMask;
use crate::simulate::bonded::softening::Softening;
use crate::simulate::bonded::system::{LoadRow, MotionRow, System, TailRow};
use crate::simulate::error::StateError;

const MOTION: SectionKind = SectionKind::first("motion");
const REMAINDERS: SectionKind = SectionKind::first("rotation remainders");
const LOADS: SectionKind = SectionKind::first("loads");
/// Number of the rigid piece of each element, 0 for none; absent if no element is rigid.
const PIECES: SectionKind = SectionKind::first("rigid pieces");
const WHOLE: SectionKind = SectionKind::first("whole bonds");
/// Touching distances of broken bonds, in the order of their entries.
const TOUCHING: SectionKind = SectionKind::first("touching distances");
/// Touching distances of pairs that are crowded at rest; absent if there are none.
const CROWDED: SectionKind = SectionKind::first("crowded pairs");
/// Entries of damaged bonds that are intact, and their damage; absent if there are none.
const DAMAGED: SectionKind = SectionKind::first("damaged bonds");
const DAMAGE: SectionKind = SectionKind::first("damage");

/// Rows of elements that a state has, in the order of its sections. Where several ranks have them, they are empty, and
/// [come later](announce_rows).
#[derive(Clone, Copy, Debug)]
pub struct SystemRows<'a, S> {
    /// Rows of the motion.
    pub motion: &'a [MotionRow<S>],
    /// Residual rotations and radii.
    pub tail: &'a [TailRow<S>],
    /// Loads.
    pub load: &'a [LoadRow<S>],
    /// Masks of intact bonds.
    pub whole: &'a [u32],
}

/// Writes elements, bonds and loads of a run with velocities at the end of a step. `touch` has the contact distances of
/// all broken bonds.
pub fn put_system<S: Scalar>(
    state: &mut State,
    system: &System<S>,
    rows: SystemRows<S>,
    touch: &BTreeMap<u32, S>,
) {
    let bonds = &system.bonds;
    state.put(MOTION, rows.motion.iter().map(|row| row.0));
    state.put(REMAINDERS, rows.tail.iter().map(|row| row.0));
    state.put(LOADS, rows.load.iter().map(|row| row.0));
    if system.rigid().any() {
        state.put(PIECES, system.rigid().pieces().iter().map(|&piece| [piece]));
    }
    state.put(WHOLE, rows.whole.iter().map(|&bits| [bits]));
    state.put(TOUCHING, touch.values().map(|&touch| [touch]));
    let crowded = system.crowded.touches();
    if !crowded.is_empty() {
        state.put(CROWDED, crowded.iter().map(|&touch| [touch]));
    }
    let damaged = bonds.softening.iter().flat_map(Softening::damaged);
    let damaged = damaged.filter(|(entry, _)| bonds.is_intact(*entry as usize));
    let damaged: Vec<_> = damaged.collect();
    if !damaged.is_empty() {
        state.put(DAMAGED, damaged.iter().map(|(entry, _)| [*entry]));
        state.put(DAMAGE, damaged.iter().map(|(_, damage)| *damage));
    }
}

/// Announces the rows of this many elements, of which [`put_system`] has written none.
pub fn announce_rows<S: Scalar>(state: &mut StateInParts, elements: usize) {
    let widths = [
        (MOTION, size_of::<MotionRow<S>>()),
        (REMAINDERS, size_of::<TailRow<S>>()),
        (LOADS, size_of::<LoadRow<S>>()),
        (WHOLE, size_of::<u32>()),
    ];
    for (kind, width) in widths {
        state.announce(kind, (elements * width) as u64);
    }
}

/// Reads what [`put_system`] wrote into a newly built system of the same packing and precision. `of_all` returns the
/// entries of all broken bonds, given those of the bonds held here.
pub fn read_system<S: Scalar>(
    state: &State,
    system: &mut System<S>,
    load: &mut [LoadRow<S>],
    of_all: impl FnOnce(&Bonds<S>, Vec<u32>) -> Vec<u32>,
) -> Result<(), StateError> {
    state.copy_into(MOTION, system.motion.iter_mut().map(|row| &mut row.0))?;
    state.copy_into(REMAINDERS, system.tail.iter_mut().map(|row| &mut row.0))?;
    state.copy_into(LOADS, load.iter_mut().map(|row| &mut row.0))?;
    let pieces = state.get::<u32, 1>(PIECES)?;
    let pieces: Vec<u32> = pieces.map_or_else(Vec::new, |all| all.map(|[piece]| piece).collect());
    if !pieces.is_empty() {
        check_length(PIECES.name, pieces.len(), system.count)?;
    }
    let (was_rigid, bonds) = (system.rigid().any(), &system.bonds);
    let whole = state.require::<u32, 1>(WHOLE)?;
    check_length(WHOLE.name, whole.len(), bonds.intact().len())?;
    let whole: Vec<u32> = whole.map(|[bits]| bits).collect();
    let is_broken = |entry: usize| {
        let (owner, slot) = bonds.place(entry);
        whole[owner] >> slot & 1 == 0
    };
    let entries = bonds.entries().map(|(_, side)| side.entry);
    let broken = entries.filter(|&entry| is_broken(entry));
    let broken = broken.map(|entry| entry as u32).collect();
    let mut broken = of_all(bonds, broken);
    broken.sort_unstable();
    let touch = state.require::<S, 1>(TOUCHING)?;
    if was_rigid && pieces.is_empty() && touch.len() != broken.len() {
        // An older state, without the bonds within rigid bodies.
        return Err(StateError::Missing {
            section: PIECES.name,
        });
    }
    check_length(TOUCHING.name, touch.len(), broken.len())?;
    let touch = broken.into_iter().zip(touch.map(|[t]| t)).collect();
    system.bonds.set_intact(whole, touch);
    system.set_rigid(RigidMask::new(pieces));
    let crowded = system.crowded.touches_mut();
    if !crowded.is_empty() {
        let touches = state.require::<S, 1>(CROWDED)?;
        check_length(CROWDED.name, touches.len(), crowded.len())?;
        for (to, [touch]) in crowded.iter_mut().zip(touches) {
            *to = touch;
        }
    }
    read_damage(state, system)
}

fn read_damage<S: Scalar>(state: &State, system: &mut System<S>) -> Result<(), StateError> {
    let Some(softening) = &mut system.bonds.softening else {
        return Ok(());
    };
    let Some(damaged) = state.get::<u32, 1>(DAMAGED)? else {
        return Ok(());
    };
    let damage = state.require::<S, 3>(DAMAGE)?;
    check_length(DAMAGE.name, damage.len(), damaged.len())?;
    for ([entry], damage) in damaged.zip(damage) {
        softening.set(entry as usize, damage);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::lanes::LaneRow;
    use crate::simulate::bonded::bond_rows::BondRow;
    use crate::simulate::bonded::bonds::BLOCK;
    use crate::simulate::contact::chunk::SpringEntry;
    use crate::simulate::contact::pair_list::Memory;
    use crate::simulate::run_state::averages::LastLoad;
    use crate::simulate::run_state::sections::{
        labels, last_loads, put_labels, put_last_loads, put_springs, springs,
    };

    fn packed<S: Scalar>(system: &System<S>, load: &[LoadRow<S>]) -> State {
        let mut state = State::new(4, 7, 1e-3);
        let rows = SystemRows {
            motion: &system.motion,
            tail: &system.tail,
            load,
            whole: system.bonds.intact(),
        };
        put_system(&mut state, system, rows, &system.bonds.touch);
        state
    }

    /// Three elements in a row, bonded one to the next.
    fn chain<S: Scalar>() -> System<S> {
        let row = |k: usize| BondRow {
            ends: [k as u32, k as u32 + 1],
            direction: [1.0, 0.0, 0.0].map(S::splat),
            length: S::splat(1.0),
            class: 0,
            sigma_c: S::default(),
            tau_c: S::default(),
            id: k as u32,
        };
        let mut system = System::new(3, BLOCK, crate::spec::Law::Bdem);
        system.tail.fill(LaneRow([S::splat(0.5); 4]));
        system.bonds = Bonds::new(BLOCK, &[0, 1].map(row), system.rigid());
        for i in 0..3 {
            system.set_position(i, glam::DVec3::X * 0.9 * i as f64);
        }
        system
    }

    #[test]
    fn a_packed_system_comes_back_with_its_breaks() {
        let mut system = chain::<f32>();
        let entry = system.bonds.find(1, 2).unwrap().entry;
        let touch = system.touch_once_broken((1, 2), entry as u32);
        assert_eq!(touch, 0.9, "a pressed pair touches where it is");
        system.bonds.unbond(entry, touch);
        assert!(!system.bonds.is_intact(entry));
        assert_eq!(system.bonds.active_sides(1).count(), 1);
        let load: [_; BLOCK] = std::array::from_fn(|k| LaneRow([k as f32; 8]));
        let spring = SpringEntry {
            element: 2,
            partner: 1,
            memory: Memory {
                spring: [0.1, 0.2, 0.3],
                roll: [0.4, 0.5, 0.6],
                slides: true,
            },
        };
        let mut state = packed(&system, &load);
        put_springs(&mut state, &[spring]);
        put_labels(&mut state, &[0, 0, 1]);

        let (mut fresh, mut loads) = (chain::<f32>(), [LaneRow::default(); BLOCK]);
        fresh.motion = vec![LaneRow::default(); BLOCK];
        read_system(&state, &mut fresh, &mut loads, |_, broken| broken).unwrap();
        assert_eq!((fresh.motion, loads), (system.motion, load));
        assert_eq!(fresh.bonds.intact(), system.bonds.intact());
        assert_eq!(fresh.bonds.touch_distance(entry), Some(0.9));
        assert_eq!(fresh.bonds.touch.len(), 1);
        assert_eq!(labels(&state, 3).unwrap(), [0, 0, 1]);
        assert!(matches!(labels(&state, 2), Err(StateError::Length { .. })));
        assert_eq!(springs::<f32>(&state).unwrap(), [spring]);
    }

    #[test]
    fn a_state_knows_which_elements_are_rigid() {
        let mut system = chain::<f32>();
        system.set_rigid(RigidMask::new(vec![7; 3]));
        let entry = system.bonds.find(0, 1).unwrap().entry;
        let touch = system.touch_once_broken((0, 1), entry as u32);
        system.bonds.unbond(entry, touch);
        let state = packed(&system, &[LaneRow::default(); BLOCK]);
        let read = |fresh: &mut System<f32>| {
            let found = read_system(
                &state,
                fresh,
                &mut [LaneRow::default(); BLOCK],
                |_, broken| broken,
            );
            found.map(|()| fresh.clone())
        };
        let kept = read(&mut chain()).unwrap();
        assert_eq!(kept.rigid(), system.rigid());
        let inner = kept.bonds.find(1, 2).unwrap().entry;
        assert!(kept.bonds.is_intact(inner) && !kept.bonds.is_active(inner));
        let mut woken = kept.clone();
        woken.set_rigid(RigidMask::default());
        assert!(woken.bonds.is_active(inner) && !woken.bonds.is_active(entry));
        // A state without rigid elements makes elements elastic that were rigid at the start.
        let elastic = packed(&chain::<f32>(), &[LaneRow::default(); BLOCK]);
        let mut fresh = kept;
        read_system(
            &elastic,
            &mut fresh,
            &mut [LaneRow::default(); BLOCK],
            |_, broken| broken,
        )
        .unwrap();
        assert!(!fresh.rigid().any() && fresh.bonds.is_active(inner));
        // Older states do not contain bonds within rigid bodies.
        let mut old = State::new(4, 7, 1e-3);
        for (kind, rows) in [(MOTION, 16), (REMAINDERS, 4), (LOADS, 8)] {
            let values = vec![[0.0_f32]; rows * BLOCK];
            old.put(kind, values.into_iter());
        }
        old.put(WHOLE, [[0_u32]; BLOCK].into_iter());
        old.put(TOUCHING, [[1.0_f32]; 1].into_iter());
        let found = read_system(
            &old,
            &mut system,
            &mut [LaneRow::default(); BLOCK],
            |_, broken| broken,
        );
        let message = found.unwrap_err().to_string();
        assert!(message.contains("rigid pieces"), "{message}");
    }

    #[test]
    fn a_state_of_other_numbers_is_refused() {
        let state = packed(&chain::<f32>(), &[LaneRow::default(); BLOCK]);
        let read = read_system(
            &state,
            &mut chain::<f64>(),
            &mut [LaneRow::default(); BLOCK],
            |_, broken| broken,
        );
        assert!(matches!(read, Err(StateError::Precision { .. })));
        let mut long = [LaneRow::default(); 2 * BLOCK];
        let read = read_system(&state, &mut chain::<f32>(), &mut long, |_, broken| broken);
        assert!(matches!(read, Err(StateError::Length { .. })));
        let read = springs::<f32>(&state);
        assert!(matches!(read, Err(StateError::Missing { .. })));
    }

    #[test]
    fn a_section_of_another_version_is_refused_by_name() {
        let mut state = State::new(0, 0, 1.0);
        let newer = SectionKind {
            version: 2,
            name: "fragment labels",
        };
        state.put(newer, [[0_u32]; 3].into_iter());
        let message = labels(&state, 3).unwrap_err().to_string();
        assert!(
            message.contains("\"fragment labels\" of version 2"),
            "{message}"
        );
    }

    #[test]
    fn names_and_loads_of_supports_come_back() {
        let mut state = State::new(0, 0, 1.0);
        let load = LastLoad {
            attachment: true,
            name: "left\n\"jaw\"".to_owned(),
            wrench: [1.0, -2.0, 3.5, 0.0, 1e-300, f64::MAX],
        };
        put_last_loads(&mut state, std::slice::from_ref(&load));
        assert_eq!(last_loads(&state).unwrap(), [load]);
    }
}
