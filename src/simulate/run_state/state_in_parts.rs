//! A state of which some sections come in parts, so that it is never in memory as a whole.

use std::cell::RefCell;
use std::io;

use rkyv::rancor::{self, Fallible, Source};
use rkyv::ser::Writer;
use rkyv::vec::{ArchivedVec, VecResolver};
use rkyv::{Archive, Place, Serialize};

use super::state::{LARGE_MAGIC, LargeState, MAGIC, Section, SectionKind, State};
use crate::store::{self, Store, archive, large};

/// Bytes of an archive besides the numbers of its sections, at most.
const OVERHEAD: u64 = 1 << 16;

/// What a state is passed on as.
#[derive(Debug)]
pub enum StatePart {
    /// The state, first.
    Head(Box<StateInParts>),
    /// The next bytes of a section that comes in parts.
    Bytes(Vec<u8>),
}

/// Returns the next part; `None` if there is no more.
pub type NextPart<'a> = dyn FnMut() -> Option<Vec<u8>> + 'a;

/// A state with sections whose bytes come later, in the order of the sections.
#[derive(Clone, Debug, PartialEq)]
pub struct StateInParts {
    state: State,
    /// Bytes of each section.
    lengths: Vec<u64>,
}

impl From<State> for StateInParts {
    fn from(state: State) -> Self {
        StateInParts {
            lengths: lengths(&state),
            state,
        }
    }
}

impl StateInParts {
    /// Announces that an empty section will have this many bytes.
    ///
    /// # Panics
    /// If there is no such section, or it is not empty.
    pub fn announce(&mut self, kind: SectionKind, length: u64) {
        let mut sections = self.state.sections.iter();
        let at = sections.position(|section| section.name == kind.name && section.bytes.is_empty());
        self.lengths[at.expect("an empty section of this name")] = length;
    }

    /// Sets the hash of what the state belongs to.
    pub fn set_inputs(&mut self, inputs: u64) {
        self.state.inputs = inputs;
    }

    /// The whole state, with the parts of its sections; `None` if some are missing.
    pub fn whole(self, next: &mut NextPart) -> Option<State> {
        let mut state = self.state;
        for (section, length) in state.sections.iter_mut().zip(self.lengths) {
            while (section.bytes.len() as u64) < length {
                section.bytes.extend_from_slice(&next()?);
            }
        }
        Some(state)
    }

    /// Writes `state/NNNNNN.rkyv`, atomically.
    ///
    /// # Errors
    /// Parts are missing, or the file cannot be written.
    pub fn write<'n>(&self, store: &Store, next: &'n mut NextPart<'n>) -> store::Result<()> {
        write_within(
            store,
            (&self.state, &self.lengths),
            next,
            large::MAX_ARCHIVE,
        )
    }
}

impl State {
    /// Writes `state/NNNNNN.rkyv`, atomically.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, store: &Store) -> store::Result<()> {
        let lengths = lengths(self);
        write_within(store, (self, &lengths), &mut || None, large::MAX_ARCHIVE)
    }
}

/// Bytes of each section.
fn lengths(state: &State) -> Vec<u64> {
    let sections = state.sections.iter();
    sections.map(|section| section.bytes.len() as u64).collect()
}

/// Writes a state whose sections will have these lengths: as one archive if that has at most so many bytes, else in
/// parts.
fn write_within<'n>(
    store: &Store,
    (state, lengths): (&State, &[u64]),
    next: &'n mut NextPart<'n>,
    most: u64,
) -> store::Result<()> {
    let path = store.numbered("state", state.frame, "rkyv");
    let next = RefCell::new(next);
    let view = view((state, lengths), &next);
    if lengths.iter().sum::<u64>() + OVERHEAD <= most {
        return archive::write(&path, MAGIC, &view);
    }
    let emptied = state.sections.iter().map(|section| Section {
        name: section.name.clone(),
        bytes: Vec::new(),
        ..*section
    });
    let index = LargeState {
        state: State {
            sections: emptied.collect(),
            ..*state
        },
        lengths: lengths.to_vec(),
    };
    let index = rkyv::to_bytes::<rancor::Error>(&index).expect("a short archive in memory");
    large::write(&path, LARGE_MAGIC, &index, |file| {
        let mut sections = view.sections.iter();
        sections.try_for_each(|section| section.bytes.each(|part| file.write_all(part)))
    })
}

/// What is archived as a state whose sections will have these lengths.
fn view<'a, 'n>(
    (state, lengths): (&'a State, &[u64]),
    next: &'a RefCell<&'n mut NextPart<'n>>,
) -> StateView<'a, 'n> {
    let sections = state.sections.iter().zip(lengths);
    let view = |(section, &length): (&'a Section, &u64)| SectionView {
        name: section.name.clone(),
        version: section.version,
        scalar_bytes: section.scalar_bytes,
        bytes: SectionBytes {
            here: &section.bytes,
            length,
            next,
        },
    };
    StateView {
        frame: state.frame,
        step: state.step,
        dt: state.dt,
        inputs: state.inputs,
        sections: sections.map(view).collect(),
    }
}

/// Has the fields of [`State`], and so its archive.
#[derive(Archive, Serialize)]
struct StateView<'a, 'n> {
    frame: u32,
    step: u64,
    dt: f64,
    inputs: u64,
    sections: Vec<SectionView<'a, 'n>>,
}

/// Has the fields of [`Section`], and so its archive.
#[derive(Archive, Serialize)]
struct SectionView<'a, 'n> {
    name: String,
    version: u32,
    scalar_bytes: u32,
    bytes: SectionBytes<'a, 'n>,
}

/// The bytes of a section, here or in parts that come.
struct SectionBytes<'a, 'n> {
    here: &'a [u8],
    length: u64,
    next: &'a RefCell<&'n mut NextPart<'n>>,
}

impl SectionBytes<'_, '_> {
    /// Passes all bytes to `take`.
    fn each(&self, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        take(self.here)?;
        let mut left = self.length - self.here.len() as u64;
        while left > 0 {
            let part = (self.next.borrow_mut())().filter(|part| part.len() as u64 <= left);
            let part = part.ok_or_else(|| io::Error::other("the state is not complete"))?;
            take(&part)?;
            left -= part.len() as u64;
        }
        Ok(())
    }
}

impl Archive for SectionBytes<'_, '_> {
    type Archived = ArchivedVec<u8>;
    type Resolver = VecResolver;

    fn resolve(&self, resolver: Self::Resolver, out: Place<Self::Archived>) {
        ArchivedVec::resolve_from_len(self.length as usize, resolver, out);
    }
}

impl<S: Fallible<Error: Source> + Writer + ?Sized> Serialize<S> for SectionBytes<'_, '_> {
    fn serialize(&self, serializer: &mut S) -> Result<VecResolver, S::Error> {
        let place = VecResolver::from_pos(serializer.pos());
        let written = self.each(|part| serializer.write(part).map_err(io::Error::other));
        written.map(|()| place).map_err(S::Error::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::StoreError;

    /// A state of several sections.
    fn state() -> State {
        let mut state = State::new(3, 70, 0.5);
        state.inputs = 11;
        let rows = (0..1000).map(|i| [f64::from(i), -1.0]);
        state.put(SectionKind::first("pairs"), rows);
        let none: [[u32; 1]; 0] = [];
        state.put(SectionKind::first("nothing"), none.into_iter());
        state.put(SectionKind::first("the last one"), [[7u32]].into_iter());
        state
    }

    #[test]
    fn a_large_state_is_written_in_parts_and_read_like_any() {
        let folder = tempfile::tempdir().unwrap();
        let (store, state) = (Store::at(folder.path()), state());
        let write_within = |most: u64| {
            let lengths = lengths(&state);
            super::write_within(&store, (&state, &lengths), &mut || None, most).unwrap();
        };
        write_within(OVERHEAD);
        let path = store.numbered("state", 3, "rkyv");
        let written = std::fs::read(&path).unwrap();
        assert_eq!(written[..8], *LARGE_MAGIC);
        assert_eq!(State::read(&store, 3).unwrap(), state);
        let error = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            State::read(&store, 3).unwrap_err().to_string()
        };
        assert!(error(&written[..written.len() - 1]).contains("truncated"));
        assert!(error(&[&written[..], &[0]].concat()).contains("more data"));
        assert!(error(&written[..20]).contains("truncated"));
        let mut altered = written.clone();
        altered[written.len() - 100] ^= 1;
        assert!(error(&altered).contains("checksum differs"));
        // A small one is one archive.
        write_within(large::MAX_ARCHIVE);
        assert_eq!(std::fs::read(&path).unwrap()[..8], *MAGIC);
        assert_eq!(State::read(&store, 3).unwrap(), state);
    }

    #[test]
    fn sections_that_come_in_parts_make_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let (store, whole) = (Store::at(folder.path()), state());
        let path = store.numbered("state", 3, "rkyv");
        let mut emptied = whole.clone();
        let kinds = ["pairs", "the last one"].map(SectionKind::first);
        let mut bytes = Vec::new();
        for kind in kinds {
            let mut sections = emptied.sections.iter_mut();
            let section = sections.find(|one| one.name == kind.name).unwrap();
            bytes.push(std::mem::take(&mut section.bytes));
        }
        let mut head = StateInParts::from(emptied);
        for (kind, bytes) in kinds.into_iter().zip(&bytes) {
            head.announce(kind, bytes.len() as u64);
        }
        let cut = |size: usize| {
            let parts = bytes.iter().flat_map(move |bytes| bytes.chunks(size));
            parts.map(<[u8]>::to_vec)
        };
        assert_eq!(head.clone().whole(&mut || None), None);
        for most in [large::MAX_ARCHIVE, OVERHEAD] {
            let write = |state: &StateInParts, next: &mut NextPart| {
                write_within(&store, (&state.state, &state.lengths), next, most)
            };
            write(&whole.clone().into(), &mut || None).unwrap();
            let expected = std::fs::read(&path).unwrap();
            for size in [1, 999, 1 << 20] {
                let mut parts = cut(size);
                assert_eq!(
                    head.clone().whole(&mut || parts.next()),
                    Some(whole.clone())
                );
                std::fs::remove_file(&path).unwrap();
                let mut parts = cut(size);
                write(&head, &mut || parts.next()).unwrap();
                assert!(std::fs::read(&path).unwrap() == expected, "{most} {size}");
            }
            // One part less: the old file remains.
            let mut parts = cut(999).skip(1);
            let error = write(&head, &mut || parts.next());
            let error = error.unwrap_err();
            assert!(matches!(error, StoreError::Io { .. }), "{error}");
            assert!(error.to_string().contains("not complete"), "{error}");
            assert!(std::fs::read(&path).unwrap() == expected);
        }
    }
}
