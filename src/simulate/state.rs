//! `state/NNNNNN.rkyv`: everything needed to go on as if a run had never stopped.

use bytemuck::Pod;
use rkyv::{Archive, Deserialize, Serialize, rancor};

use super::contacts::SpringEntry;
use super::system::{Load, Motion, Tail};
use crate::math::Scalar;
use crate::store::{self, Store, StoreError};

/// Why a state does not fit the run that wants to continue from it.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// Lengths differ.
    #[error("{what}: {found} entries in the state, {wanted} in the packing")]
    Length {
        /// What is counted.
        what: &'static str,
        /// In the state.
        found: usize,
        /// In the run.
        wanted: usize,
    },
    /// Single against double precision.
    #[error(
        "the state is of {found}-byte numbers, the run of {wanted}-byte ones (simulate.precision)"
    )]
    Precision {
        /// In the state.
        found: usize,
        /// In the run.
        wanted: usize,
    },
    /// A friction spring has no pair.
    #[error("{lost} contacts of the state are out of reach in the packing")]
    LostContacts {
        /// Their number.
        lost: usize,
    },
}

impl StateError {
    /// Fewer entries than the bond masks ask for.
    pub fn short(what: &'static str) -> Self {
        StateError::Length {
            what,
            found: 0,
            wanted: 1,
        }
    }
}

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
    pub whole: Vec<u32>,
    /// Touching distance of each broken side, in the order of elements and slots.
    pub touch: Vec<u8>,
    spring_pairs: Vec<[u32; 2]>,
    springs: Vec<u8>,
    /// Fragment labels.
    pub labels: Vec<u32>,
}

const MAGIC: &[u8; 8] = b"culletst";

impl State {
    /// From columns.
    #[allow(clippy::too_many_arguments)] // each is a column of the file
    pub fn pack<S: Scalar>(
        frame: u32,
        (step, dt): (u64, f64),
        motion: &[Motion<S>],
        tail: &[Tail<S>],
        load: &[Load<S>],
        whole: Vec<u32>,
        touch: &[S],
        springs: &[SpringEntry<S>],
        labels: Vec<u32>,
    ) -> Self {
        let flat: Vec<S> = springs.iter().flat_map(|entry| entry.spring).collect();
        State {
            frame,
            step,
            dt,
            inputs: 0,
            scalar_bytes: size_of::<S>() as u32,
            motion: bytes(motion.iter().map(|row| row.0)),
            tail: bytes(tail.iter().map(|row| row.0)),
            load: bytes(load.iter().map(|row| row.0)),
            whole,
            touch: bytemuck::cast_slice(touch).to_vec(),
            spring_pairs: springs
                .iter()
                .map(|entry| [entry.element, entry.partner])
                .collect(),
            springs: bytemuck::cast_slice(&flat).to_vec(),
            labels,
        }
    }

    /// Into columns of the same length and precision.
    pub fn unpack<S: Scalar>(
        &self,
        motion: &mut [Motion<S>],
        tail: &mut [Tail<S>],
        load: &mut [Load<S>],
    ) -> Result<(), StateError> {
        let wanted = size_of::<S>();
        if self.scalar_bytes as usize != wanted {
            return Err(StateError::Precision {
                found: self.scalar_bytes as usize,
                wanted,
            });
        }
        self.rows(
            "motion",
            &self.motion,
            motion.iter_mut().map(|row| &mut row.0),
        )?;
        self.rows(
            "left-over rotations",
            &self.tail,
            tail.iter_mut().map(|row| &mut row.0),
        )?;
        self.rows("loads", &self.load, load.iter_mut().map(|row| &mut row.0))
    }

    fn rows<'a, S: Scalar, const C: usize>(
        &self,
        what: &'static str,
        from: &[u8],
        to: impl ExactSizeIterator<Item = &'a mut [S; C]>,
    ) -> Result<(), StateError> {
        let scalars = self.scalars::<S>(from)?;
        self.check_length(what, scalars.len(), to.len() * C)?;
        for (row, values) in to.zip(scalars.chunks_exact(C)) {
            row.copy_from_slice(values);
        }
        Ok(())
    }

    /// Raw bytes as numbers.
    pub fn scalars<S: Scalar>(&self, from: &[u8]) -> Result<Vec<S>, StateError> {
        if !from.len().is_multiple_of(size_of::<S>()) {
            return Err(StateError::Length {
                what: "bytes",
                found: from.len(),
                wanted: from.len().next_multiple_of(size_of::<S>()),
            });
        }
        Ok(from
            .chunks_exact(size_of::<S>())
            .map(bytemuck::pod_read_unaligned)
            .collect())
    }

    /// The friction springs.
    pub fn springs<S: Scalar>(&self) -> Result<Vec<SpringEntry<S>>, StateError> {
        let values = self.scalars::<S>(&self.springs)?;
        self.check_length("springs", values.len(), 3 * self.spring_pairs.len())?;
        Ok(self
            .spring_pairs
            .iter()
            .zip(values.chunks_exact(3))
            .map(|(&[element, partner], s)| SpringEntry {
                element,
                partner,
                spring: [s[0], s[1], s[2]],
            })
            .collect())
    }

    /// Refuses lengths that differ.
    pub fn check_length(
        &self,
        what: &'static str,
        found: usize,
        wanted: usize,
    ) -> Result<(), StateError> {
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

    /// Writes `state/NNNNNN.rkyv`.
    pub fn write(&self, store: &Store) -> store::Result<()> {
        let path = store.numbered("state", self.frame, "rkyv");
        store::archive::write(&path, MAGIC, || rkyv::to_bytes::<rancor::Error>(self))
    }

    /// Reads and validates `state/NNNNNN.rkyv`.
    pub fn read(store: &Store, frame: u32) -> store::Result<Self> {
        let path = store.numbered("state", frame, "rkyv");
        let bytes = store::archive::read(&path, MAGIC)?;
        rkyv::from_bytes::<_, rancor::Error>(&bytes)
            .map_err(|error| StoreError::damaged(&path, error))
    }
}

fn bytes<T: Pod>(rows: impl Iterator<Item = T>) -> Vec<u8> {
    let mut out = Vec::new();
    rows.for_each(|row| out.extend_from_slice(bytemuck::bytes_of(&row)));
    out
}
