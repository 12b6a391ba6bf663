//! `state/NNNNNN.rkyv`: everything needed to go on as if a run had never stopped.

use bytemuck::Pod;
use rkyv::{Archive, Deserialize, Serialize, rancor};

use crate::math::Scalar;
use crate::simulate::bonded::system::{Load, System};
use crate::simulate::bonded::work::Work;
use crate::simulate::contact::lists::SpringEntry;
use crate::simulate::contact::pair_list::Memory;
use crate::simulate::error::StateError;
use crate::simulate::run_state::averages::Borne;
use crate::simulate::run_state::snapshot::Effort;
use crate::simulate::scene::rigid::NUMBERS;
use crate::store::{self, Store, StoreError};

/// A state as it lies in the file. Rows are raw bytes of the run's precision.
#[derive(Clone, Debug, PartialEq, Archive, Serialize, Deserialize)]
pub struct State {
    /// Frame that it belongs to.
    pub frame: u32,
    /// Steps done.
    pub step: u64,
    /// Time step, s.
    pub dt: f64,
    /// Hash of packing and pipeline; set by the stage.
    pub inputs: u64,
    /// Bytes of a number.
    pub scalar_bytes: u32,
    motion: Vec<u8>,
    tail: Vec<u8>,
    load: Vec<u8>,
    /// Whole bonds by element.
    whole: Vec<u32>,
    /// Touching distance of each broken bond, in the order of entries.
    touch: Vec<u8>,
    spring_pairs: Vec<[u32; 2]>,
    springs: Vec<u8>,
    /// Springs against rolling of the same contacts; empty where all are zero.
    rolls: Vec<u8>,
    /// Fragment labels.
    labels: Vec<u32>,
    /// What colliders and attachments bore in the last step.
    pub borne: Vec<Borne>,
    /// Where free rigid bodies are and how they move.
    pub rigid: Vec<[f64; NUMBERS]>,
    /// What damping, friction and breaking took since the start, where that is accounted for.
    pub work: Option<Work>,
    /// What implicit steps took since the start.
    pub effort: Option<Effort>,
}

const MAGIC: &[u8; 8] = b"cullets4";

impl State {
    /// From the columns of a run whose velocities are at the end of a step; `springs` are those that are not zero.
    pub fn pack<S: Scalar>(
        frame: u32,
        (step, dt): (u64, f64),
        system: &System<S>,
        load: &[Load<S>],
        springs: &[SpringEntry<S>],
        labels: &[u32],
        borne: Vec<Borne>,
    ) -> Self {
        let bonds = &system.bonds;
        State {
            frame,
            step,
            dt,
            inputs: 0,
            scalar_bytes: size_of::<S>() as u32,
            motion: bytes(system.motion.iter().map(|row| row.0)),
            tail: bytes(system.tail.iter().map(|row| row.0)),
            load: bytes(load.iter().map(|row| row.0)),
            whole: bonds.whole.clone(),
            touch: bytes(bonds.touch.values().copied()),
            spring_pairs: springs
                .iter()
                .map(|entry| [entry.element, entry.partner])
                .collect(),
            springs: bytes(springs.iter().map(|entry| entry.memory.spring)),
            rolls: rolls(springs),
            labels: labels.to_vec(),
            borne,
            rigid: Vec::new(),
            work: None,
            effort: None,
        }
    }

    /// Into the columns of a run just built from the same packing in the same precision; [`springs`](Self::springs) are apart.
    pub fn unpack<S: Scalar>(
        &self,
        system: &mut System<S>,
        load: &mut [Load<S>],
        labels: &mut Vec<u32>,
    ) -> Result<(), StateError> {
        let wanted = size_of::<S>();
        if self.scalar_bytes as usize != wanted {
            return Err(StateError::Precision {
                found: self.scalar_bytes as usize,
                wanted,
            });
        }
        let (motion, tail) = (&mut system.motion, &mut system.tail);
        rows("motion", &self.motion, motion.iter_mut().map(|r| &mut r.0))?;
        rows(
            "left-over rotations",
            &self.tail,
            tail.iter_mut().map(|r| &mut r.0),
        )?;
        rows("loads", &self.load, load.iter_mut().map(|r| &mut r.0))?;
        check_length("bond masks", self.whole.len(), system.bonds.whole.len())?;
        check_length("labels", self.labels.len(), system.count)?;
        system.bonds.whole.clone_from(&self.whole);
        labels.clone_from(&self.labels);
        let touch = scalars::<S>(&self.touch)?;
        let mut broken: Vec<u32> = system
            .bonds
            .entries()
            .map(|(_, side)| side.entry)
            .filter(|&entry| !system.bonds.is_whole(entry))
            .map(|entry| entry as u32)
            .collect();
        broken.sort_unstable();
        check_length("touching distances", touch.len(), broken.len())?;
        system.bonds.touch = broken.into_iter().zip(touch).collect();
        Ok(())
    }

    /// The friction springs.
    pub fn springs<S: Scalar>(&self) -> Result<Vec<SpringEntry<S>>, StateError> {
        let values = scalars::<S>(&self.springs)?;
        check_length("springs", values.len(), 3 * self.spring_pairs.len())?;
        let rolls = scalars::<S>(&self.rolls)?;
        if !rolls.is_empty() {
            check_length("springs against rolling", rolls.len(), values.len())?;
        }
        let triple = |values: &[S], at: usize| {
            [0, 1, 2].map(|k| values.get(3 * at + k).copied().unwrap_or_default())
        };
        Ok(self
            .spring_pairs
            .iter()
            .enumerate()
            .map(|(at, &[element, partner])| SpringEntry {
                element,
                partner,
                memory: Memory {
                    spring: triple(&values, at),
                    roll: triple(&rolls, at),
                },
            })
            .collect())
    }

    /// Writes `state/NNNNNN.rkyv`.
    pub fn write(&self, store: &Store) -> store::Result<()> {
        let path = store.numbered("state", self.frame, "rkyv");
        store::archive::write(&path, MAGIC, self)
    }

    /// Reads and validates `state/NNNNNN.rkyv`.
    pub fn read(store: &Store, frame: u32) -> store::Result<Self> {
        let path = store.numbered("state", frame, "rkyv");
        let bytes = store::archive::read(&path, MAGIC)?;
        let state: Self = rkyv::from_bytes::<_, rancor::Error>(&bytes)
            .map_err(|error| StoreError::damaged(&path, error))?;
        if !(state.dt > 0.0 && state.dt.is_finite()) {
            let what = format!("its time step is {} s", state.dt);
            return Err(StoreError::damaged(&path, what));
        }
        Ok(state)
    }
}

/// Springs against rolling, unless there are none.
fn rolls<S: Scalar>(springs: &[SpringEntry<S>]) -> Vec<u8> {
    let mut values = springs.iter().flat_map(|entry| entry.memory.roll);
    if values.any(|value| value.to_f64() != 0.0) {
        bytes(springs.iter().map(|entry| entry.memory.roll))
    } else {
        Vec::new()
    }
}

fn bytes<T: Pod>(rows: impl ExactSizeIterator<Item = T>) -> Vec<u8> {
    let mut out = Vec::with_capacity(rows.len() * size_of::<T>());
    rows.for_each(|row| out.extend_from_slice(bytemuck::bytes_of(&row)));
    out
}

fn rows<'a, S: Scalar, const C: usize>(
    what: &'static str,
    from: &[u8],
    to: impl ExactSizeIterator<Item = &'a mut [S; C]>,
) -> Result<(), StateError> {
    let scalars = scalars::<S>(from)?;
    check_length(what, scalars.len(), to.len() * C)?;
    for (row, values) in to.zip(scalars.chunks_exact(C)) {
        row.copy_from_slice(values);
    }
    Ok(())
}

/// Raw bytes as numbers.
fn scalars<S: Scalar>(from: &[u8]) -> Result<Vec<S>, StateError> {
    let wanted = from.len().next_multiple_of(size_of::<S>());
    check_length("bytes", from.len(), wanted)?;
    Ok(from
        .chunks_exact(size_of::<S>())
        .map(bytemuck::pod_read_unaligned)
        .collect())
}

fn check_length(what: &'static str, found: usize, wanted: usize) -> Result<(), StateError> {
    if found == wanted {
        Ok(())
    } else {
        Err(StateError::Length {
            what,
            found,
            wanted,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::lanes::Row;
    use crate::simulate::bonded::bonds::{BLOCK, BondRow, BondRows, Bonds};

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
        let mut rows = BondRows::with_capacity(2);
        (0..2).for_each(|k| rows.push(row(k)));
        let mut system = System {
            count: 3,
            chunk: BLOCK,
            motion: vec![Row::default(); BLOCK],
            tail: vec![Row([S::splat(0.5); 4]); BLOCK],
            inverse_mass: vec![S::splat(1.0); BLOCK],
            rigid: Vec::new(),
            material: vec![0; BLOCK],
            bonds: Bonds::new(BLOCK, rows),
            law: crate::spec::Law::Bdem,
            classes: Vec::new(),
        };
        for i in 0..3 {
            system.set_position(i, glam::DVec3::X * 0.9 * i as f64);
        }
        system
    }

    #[test]
    fn a_packed_system_comes_back_with_its_breaks() {
        let mut system = chain::<f32>();
        let touch = system.touch_once_broken(1, 2);
        assert_eq!(touch, 0.9, "a pressed pair touches where it is");
        let entry = system.bonds.find(1, 2).unwrap().entry;
        system.bonds.unbond(entry, touch);
        assert!(!system.bonds.is_whole(entry));
        assert_eq!(system.bonds.whole_sides(1).count(), 1);
        let load: [_; BLOCK] = std::array::from_fn(|k| Row([k as f32; 8]));
        let spring = SpringEntry {
            element: 2,
            partner: 1,
            memory: Memory {
                spring: [0.1, 0.2, 0.3],
                roll: [0.4, 0.5, 0.6],
            },
        };
        let state = State::pack(4, (7, 1e-3), &system, &load, &[spring], &[0, 0, 1], vec![]);

        let (mut fresh, mut loads, mut labels) = (chain::<f32>(), [Row::default(); BLOCK], vec![]);
        fresh.motion = vec![Row::default(); BLOCK];
        state.unpack(&mut fresh, &mut loads, &mut labels).unwrap();
        assert_eq!((fresh.motion, loads), (system.motion, load));
        assert_eq!(fresh.bonds.whole, system.bonds.whole);
        assert_eq!(fresh.bonds.touch_distance(entry), Some(0.9));
        assert_eq!(fresh.bonds.touch.len(), 1);
        assert_eq!(labels, [0, 0, 1]);
        assert_eq!(state.springs::<f32>().unwrap(), [spring]);
    }

    #[test]
    fn a_state_whose_time_stands_still_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        for dt in [0.0, -1e-6, f64::NAN, f64::INFINITY] {
            let load = [Row::default(); BLOCK];
            let state = State::pack::<f32>(2, (7, dt), &chain(), &load, &[], &[0; 3], vec![]);
            state.write(&store).unwrap();
            let told = State::read(&store, 2).unwrap_err().to_string();
            assert!(
                told.ends_with(&format!("its time step is {dt} s")),
                "{told}"
            );
        }
    }

    #[test]
    fn a_state_of_other_numbers_is_refused() {
        let state = State::pack::<f32>(
            0,
            (0, 1.0),
            &chain(),
            &[Row::default(); BLOCK],
            &[],
            &[0; 3],
            vec![],
        );
        let unpacked = state.unpack(
            &mut chain::<f64>(),
            &mut [Row::default(); BLOCK],
            &mut vec![],
        );
        assert!(matches!(unpacked, Err(StateError::Precision { .. })));
        let mut short = state.clone();
        short.whole = vec![0; BLOCK];
        let unpacked = short.unpack(
            &mut chain::<f32>(),
            &mut [Row::default(); BLOCK],
            &mut vec![],
        );
        assert!(matches!(unpacked, Err(StateError::Length { .. })));
    }
}
