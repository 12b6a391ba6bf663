//! The sections of a state that runs of bonded elements write and read.

use std::collections::BTreeMap;

use super::averages::LastLoad;
use super::snapshot::Effort;
use super::state::{SectionKind, State, check_length};
use crate::math::Scalar;
use crate::simulate::bonded::bonds::Bonds;
use crate::simulate::bonded::rigid_mask::RigidMask;
use crate::simulate::bonded::softening::Softening;
use crate::simulate::bonded::system::{LoadRow, System};
use crate::simulate::bonded::work::Work;
use crate::simulate::contact::chunk::SpringEntry;
use crate::simulate::contact::pair_list::Memory;
use crate::simulate::contact::polyhedra::list::{ShapeEntry, ShapeMemory};
use crate::simulate::error::StateError;
use crate::simulate::scene::rigid_body::BODY_NUMBERS;

const MOTION: SectionKind = SectionKind::first("motion");
const REMAINDERS: SectionKind = SectionKind::first("rotation remainders");
const LOADS: SectionKind = SectionKind::first("loads");
/// Angular momenta of cells; absent if there are none.
const MOMENTA: SectionKind = SectionKind::first("angular momenta");
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
const PAIRS: SectionKind = SectionKind::first("contact pairs");
const SPRINGS: SectionKind = SectionKind::first("friction springs");
/// Rolling springs of contacts; absent if all are zero.
const ROLLING: SectionKind = SectionKind::first("rolling springs");
/// Whether each contact slides, 1 or 0; absent if none does.
const SLIDING: SectionKind = SectionKind::first("sliding contacts");
/// Contact pairs of polyhedra; absent if there are none.
const SHAPE_PAIRS: SectionKind = SectionKind::first("contact pairs of polyhedra");
const SHAPE_MEMORY: SectionKind = SectionKind::first("contacts of polyhedra");
const SLIDING_SHAPES: SectionKind = SectionKind::first("sliding contacts of polyhedra");
const LABELS: SectionKind = SectionKind::first("fragment labels");
const LAST_NAMES: SectionKind = SectionKind::first("names of supports");
const LAST_LOADS: SectionKind = SectionKind::first("loads on supports");
const RIGID: SectionKind = SectionKind::first("rigid bodies");
const WORK: SectionKind = SectionKind::first("energy taken");
const EFFORT: SectionKind = SectionKind::first("implicit effort");

/// Writes elements, bonds and loads of a run with velocities at the end of a step. `whole` and `touch` are the masks of
/// intact bonds and the contact distances of broken ones, of all elements.
pub fn put_system<S: Scalar>(
    state: &mut State,
    system: &System<S>,
    load: &[LoadRow<S>],
    (whole, touch): (&[u32], &BTreeMap<u32, S>),
) {
    let bonds = &system.bonds;
    state.put(MOTION, system.motion.iter().map(|row| row.0));
    state.put(REMAINDERS, system.tail.iter().map(|row| row.0));
    state.put(LOADS, load.iter().map(|row| row.0));
    if system.rigid().any() {
        state.put(PIECES, system.rigid().pieces().iter().map(|&piece| [piece]));
    }
    state.put(WHOLE, whole.iter().map(|&bits| [bits]));
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

/// Writes angular momenta of cells, kg m²/s.
pub fn put_momenta<S: Scalar>(state: &mut State, momenta: impl ExactSizeIterator<Item = [S; 4]>) {
    state.put(MOMENTA, momenta);
}

/// Reads what [`put_momenta`] wrote.
pub fn read_momenta<'a, S: Scalar>(
    state: &State,
    to: impl ExactSizeIterator<Item = &'a mut [S; 4]>,
) -> Result<(), StateError> {
    state.copy_into(MOMENTA, to)
}

/// Writes the history of contacts that have any.
pub fn put_springs<S: Scalar>(state: &mut State, springs: &[SpringEntry<S>]) {
    state.put(PAIRS, springs.iter().map(|e| [e.element, e.partner]));
    state.put(SPRINGS, springs.iter().map(|e| e.memory.spring));
    let mut rolls = springs.iter().flat_map(|entry| entry.memory.roll);
    if rolls.any(|value| value.to_f64() != 0.0) {
        state.put(ROLLING, springs.iter().map(|e| e.memory.roll));
    }
    put_sliding(state, SLIDING, springs.iter().map(|e| e.memory.slides));
}

/// Reads what [`put_springs`] wrote.
pub fn springs<S: Scalar>(state: &State) -> Result<Vec<SpringEntry<S>>, StateError> {
    let pairs = state.require::<u32, 2>(PAIRS)?;
    let springs = state.require::<S, 3>(SPRINGS)?;
    check_length(SPRINGS.name, springs.len(), pairs.len())?;
    let rolls: Vec<[S; 3]> = match state.get::<S, 3>(ROLLING)? {
        Some(rolls) => rolls.collect(),
        None => vec![[S::default(); 3]; pairs.len()],
    };
    check_length(ROLLING.name, rolls.len(), pairs.len())?;
    let sliding = sliding(state, SLIDING, pairs.len())?;
    let all = pairs.zip(springs).zip(rolls).zip(sliding);
    Ok(all
        .map(
            |((([element, partner], spring), roll), slides)| SpringEntry {
                element,
                partner,
                memory: Memory {
                    spring,
                    roll,
                    slides,
                },
            },
        )
        .collect())
}

/// Writes which contacts slide, 1 or 0, if any does.
pub fn put_sliding(
    state: &mut State,
    section: SectionKind,
    sliding: impl ExactSizeIterator<Item = bool> + Clone,
) {
    if sliding.clone().any(|slides| slides) {
        state.put(section, sliding.map(|slides| [u8::from(slides)]));
    }
}

/// Reads what [`put_sliding`] wrote of `count` contacts.
pub fn sliding(state: &State, section: SectionKind, count: usize) -> Result<Vec<bool>, StateError> {
    let Some(rows) = state.get::<u8, 1>(section)? else {
        return Ok(vec![false; count]);
    };
    check_length(section.name, rows.len(), count)?;
    Ok(rows.map(|[slides]| slides != 0).collect())
}

/// Writes the memory of contacts of polyhedra, if there are any.
pub fn put_shapes(state: &mut State, entries: &[ShapeEntry]) {
    if entries.is_empty() {
        return;
    }
    let row = |entry: &ShapeEntry| {
        let ShapeMemory {
            spring: [a, b, c],
            roll: [d, e, f],
            allowed,
            slides: _,
        } = entry.memory;
        [a, b, c, d, e, f, allowed]
    };
    state.put(SHAPE_PAIRS, entries.iter().map(|e| [e.element, e.partner]));
    state.put(SHAPE_MEMORY, entries.iter().map(row));
    let sliding = entries.iter().map(|e| e.memory.slides);
    put_sliding(state, SLIDING_SHAPES, sliding);
}

/// Reads what [`put_shapes`] wrote.
pub fn shapes(state: &State) -> Result<Vec<ShapeEntry>, StateError> {
    let Some(pairs) = state.get::<u32, 2>(SHAPE_PAIRS)? else {
        return Ok(Vec::new());
    };
    let rows = state.require::<f64, 7>(SHAPE_MEMORY)?;
    check_length(SHAPE_MEMORY.name, rows.len(), pairs.len())?;
    let sliding = sliding(state, SLIDING_SHAPES, pairs.len())?;
    let all = pairs.zip(rows).zip(sliding);
    let all = all.map(|(([element, partner], row), slides)| {
        let [a, b, c, d, e, f, allowed] = row;
        ShapeEntry {
            element,
            partner,
            memory: ShapeMemory {
                spring: [a, b, c],
                roll: [d, e, f],
                allowed,
                slides,
            },
        }
    });
    Ok(all.collect())
}

/// Writes the fragment label of each element.
pub fn put_labels(state: &mut State, labels: &[u32]) {
    state.put(LABELS, labels.iter().map(|&label| [label]));
}

/// Reads what [`put_labels`] wrote for `count` elements.
pub fn labels(state: &State, count: usize) -> Result<Vec<u32>, StateError> {
    let labels = state.require::<u32, 1>(LABELS)?;
    check_length(LABELS.name, labels.len(), count)?;
    Ok(labels.map(|[label]| label).collect())
}

/// Writes the load on each collider and attachment in the last step.
pub fn put_last_loads(state: &mut State, loads: &[LastLoad]) {
    let names: Vec<(bool, &str)> = loads
        .iter()
        .map(|load| (load.attachment, load.name.as_str()))
        .collect();
    let names = serde_json::to_vec(&names).expect("names are text");
    state.put(LAST_NAMES, names.into_iter().map(|byte| [byte]));
    state.put(LAST_LOADS, loads.iter().map(|load| load.wrench));
}

/// Reads what [`put_last_loads`] wrote.
pub fn last_loads(state: &State) -> Result<Vec<LastLoad>, StateError> {
    let names = state.require::<u8, 1>(LAST_NAMES)?;
    let names: Vec<u8> = names.map(|[byte]| byte).collect();
    let names: Vec<(bool, String)> =
        serde_json::from_slice(&names).map_err(|error| StateError::Unreadable {
            section: LAST_NAMES.name,
            why: error.to_string(),
        })?;
    let wrenches = state.require::<f64, 6>(LAST_LOADS)?;
    check_length(LAST_LOADS.name, wrenches.len(), names.len())?;
    let all = names.into_iter().zip(wrenches);
    Ok(all
        .map(|((attachment, name), wrench)| LastLoad {
            attachment,
            name,
            wrench,
        })
        .collect())
}

/// Writes the motion of the free rigid bodies.
pub fn put_rigid(state: &mut State, bodies: &[[f64; BODY_NUMBERS]]) {
    state.put(RIGID, bodies.iter().copied());
}

/// Reads what [`put_rigid`] wrote; empty if the run had no rigid bodies.
pub fn rigid(state: &State) -> Result<Vec<[f64; BODY_NUMBERS]>, StateError> {
    let bodies = state.get(RIGID)?;
    Ok(bodies.map_or_else(Vec::new, Iterator::collect))
}

/// Writes the energy dissipated by damping, friction and breaking, if `output.work` is set.
pub fn put_work(state: &mut State, work: Option<Work>) {
    if let Some(work) = work {
        let row = [work.damping, work.friction, work.breaking];
        state.put(WORK, [row].into_iter());
    }
}

/// Reads what [`put_work`] wrote.
pub fn work(state: &State) -> Result<Option<Work>, StateError> {
    let row = state.get::<f64, 3>(WORK)?.and_then(|mut rows| rows.next());
    Ok(row.map(|[damping, friction, breaking]| Work {
        damping,
        friction,
        breaking,
    }))
}

/// Writes the effort of implicit steps since the start.
pub fn put_effort(state: &mut State, effort: Effort) {
    let row = [effort.solves, effort.newton, effort.gradients];
    state.put(EFFORT, [row].into_iter());
}

/// Reads what [`put_effort`] wrote; zero if the run was explicit.
pub fn effort(state: &State) -> Result<Effort, StateError> {
    let row = state.get::<u64, 3>(EFFORT)?;
    let row = row.and_then(|mut rows| rows.next()).unwrap_or_default();
    let [solves, newton, gradients] = row;
    Ok(Effort {
        solves,
        newton,
        gradients,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::lanes::LaneRow;
    use crate::simulate::bonded::bond_rows::BondRow;
    use crate::simulate::bonded::bonds::BLOCK;
    use crate::store::Store;

    fn packed<S: Scalar>(system: &System<S>, load: &[LoadRow<S>]) -> State {
        let mut state = State::new(4, 7, 1e-3);
        let bonds = (system.bonds.intact(), &system.bonds.touch);
        put_system(&mut state, system, load, bonds);
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
    fn a_state_whose_time_stands_still_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        for dt in [0.0, -1e-6, f64::NAN, f64::INFINITY] {
            let state = State::new(2, 7, dt);
            state.write(&store).unwrap();
            let message = State::read(&store, 2).unwrap_err().to_string();
            assert!(
                message.ends_with(&format!("its time step is {dt} s")),
                "{message}"
            );
        }
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
            ..LABELS
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
