//! `state/NNNNNN.rkyv`: all data needed to resume a run with the same results as without a stop.
//!
//! A state is a set of named sections, each with its own version. Each method writes and reads the sections
//! that it needs.

use bytemuck::Pod;
use rkyv::{Archive, Deserialize, Serialize, rancor};

use crate::math::Scalar;
use crate::simulate::error::StateError;
use crate::store::large::PartReader;
use crate::store::{self, Store, StoreError};

/// Name of a section, and the version in which this program writes it.
#[derive(Clone, Copy, Debug)]
pub struct SectionKind {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: u32,
}

impl SectionKind {
    /// Version 1 of a section.
    pub const fn first(name: &'static str) -> Self {
        SectionKind { name, version: 1 }
    }
}

/// A named array of numbers of one type, as raw little-endian bytes.
#[derive(Clone, Debug, PartialEq, Archive, Serialize, Deserialize)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) version: u32,
    /// Size of a number, bytes.
    pub(super) scalar_bytes: u32,
    pub(super) bytes: Vec<u8>,
}

/// A state, as stored in the file.
#[derive(Clone, Debug, PartialEq, Archive, Serialize, Deserialize)]
pub struct State {
    /// Frame that it belongs to.
    pub frame: u32,
    /// Number of steps done.
    pub step: u64,
    /// Time step, s.
    pub dt: f64,
    /// Hash of packing and pipeline; set by the stage.
    pub inputs: u64,
    pub(super) sections: Vec<Section>,
}

pub(super) const MAGIC: &[u8; 8] = b"cullets5";
/// Of states that are too large for one archive.
pub(super) const LARGE_MAGIC: &[u8; 8] = b"cullets6";

/// Index of a large state; its parts are the bytes of the sections.
#[derive(Archive, Serialize, Deserialize)]
pub(super) struct LargeState {
    /// The state, with empty sections.
    pub(super) state: State,
    /// Bytes of each section.
    pub(super) lengths: Vec<u64>,
}

impl State {
    /// A state without sections.
    pub fn new(frame: u32, step: u64, dt: f64) -> Self {
        State {
            frame,
            step,
            dt,
            inputs: 0,
            sections: Vec::new(),
        }
    }

    /// Adds a section of rows of numbers of type `T`.
    pub fn put<T: Pod, const C: usize>(
        &mut self,
        kind: SectionKind,
        rows: impl ExactSizeIterator<Item = [T; C]>,
    ) {
        let mut bytes = Vec::with_capacity(rows.len() * C * size_of::<T>());
        rows.for_each(|row| bytes.extend_from_slice(bytemuck::cast_slice(&row)));
        self.sections.push(Section {
            name: kind.name.to_owned(),
            version: kind.version,
            scalar_bytes: size_of::<T>() as u32,
            bytes,
        });
    }

    /// Reads a section as rows of `C` numbers; `None` if there is none of this name. Fails if it has another version or
    /// precision, or does not consist of whole rows.
    pub fn get<T: Pod, const C: usize>(
        &self,
        kind: SectionKind,
    ) -> Result<Option<impl ExactSizeIterator<Item = [T; C]>>, StateError> {
        let Some(section) = self.sections.iter().find(|one| one.name == kind.name) else {
            return Ok(None);
        };
        if section.version != kind.version {
            return Err(StateError::Version {
                section: kind.name,
                found: section.version,
                expected: kind.version,
            });
        }
        let expected = size_of::<T>();
        if section.scalar_bytes as usize != expected {
            return Err(StateError::Precision {
                found: section.scalar_bytes as usize,
                expected,
            });
        }
        let row = C * expected;
        let found = section.bytes.len();
        check_length(kind.name, found, found.next_multiple_of(row))?;
        let rows = section.bytes.chunks_exact(row);
        Ok(Some(rows.map(move |bytes| {
            let mut scalars = bytes.chunks_exact(expected);
            std::array::from_fn(|_| {
                bytemuck::pod_read_unaligned(scalars.next().expect("C numbers a row"))
            })
        })))
    }

    /// As [`get`](Self::get), for a section that must exist.
    pub fn require<T: Pod, const C: usize>(
        &self,
        kind: SectionKind,
    ) -> Result<impl ExactSizeIterator<Item = [T; C]>, StateError> {
        let rows = self.get(kind)?;
        rows.ok_or(StateError::Missing { section: kind.name })
    }

    /// Copies a section into `to`. Fails if the number of rows or the precision differs.
    pub fn copy_into<'a, S: Scalar, const C: usize>(
        &self,
        kind: SectionKind,
        to: impl ExactSizeIterator<Item = &'a mut [S; C]>,
    ) -> Result<(), StateError> {
        let rows = self.require::<S, C>(kind)?;
        check_length(kind.name, rows.len(), to.len())?;
        to.zip(rows).for_each(|(to, row)| *to = row);
        Ok(())
    }

    /// Reads and validates `state/NNNNNN.rkyv`.
    pub fn read(store: &Store, frame: u32) -> store::Result<Self> {
        let path = store.numbered("state", frame, "rkyv");
        let damaged = |error: rancor::Error| StoreError::damaged(&path, error);
        let state = match PartReader::open(&path, LARGE_MAGIC)? {
            None => {
                let bytes = store::archive::read(&path, MAGIC)?;
                rkyv::from_bytes::<Self, rancor::Error>(&bytes).map_err(damaged)?
            }
            Some(mut parts) => {
                let index = parts.index()?;
                let LargeState { mut state, lengths } =
                    rkyv::from_bytes::<LargeState, rancor::Error>(&index).map_err(damaged)?;
                for (section, length) in state.sections.iter_mut().zip(lengths) {
                    section.bytes = parts.part(length)?;
                }
                parts.finish()?;
                state
            }
        };
        if !(state.dt > 0.0 && state.dt.is_finite()) {
            let what = format!("its time step is {} s", state.dt);
            return Err(StoreError::damaged(&path, what));
        }
        Ok(state)
    }
}

/// Fails if the length of a section differs from the expected one.
pub fn check_length(what: &'static str, found: usize, expected: usize) -> Result<(), StateError> {
    if found == expected {
        Ok(())
    } else {
        Err(StateError::Length {
            what,
            found,
            expected,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
