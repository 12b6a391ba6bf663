//! A store that is being viewed: opened again when it changes, with what answers need again and again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use glam::DVec3;

use super::error::ViewError;
use super::strengths::Strengths;
use crate::columns::{Elements, History};
use crate::spec::Pipeline;
use crate::store::{Manifest, Result, Store, SurfaceFrame, if_present};

/// A store that is being viewed.
pub struct ViewedStore {
    root: PathBuf,
    opened: Mutex<Option<Opened>>,
}

/// A store as it was when its `store.json` was last read.
struct Opened {
    stamp: Stamp,
    store: StoreView,
    /// History of each frame that was asked for, with the stamp of its file.
    history: BTreeMap<u32, (Stamp, Arc<History>)>,
    /// Time of each frame that has no history, s.
    times: BTreeMap<u32, f64>,
    /// Parts that are read when they are first needed.
    rest: Option<Arc<RestState>>,
    strengths: Option<Arc<Strengths>>,
    removed: Option<(Vec<u32>, Arc<RemovedFragments>)>,
}

/// The packing, as far as answers need it.
pub struct RestState {
    /// Positions, radii, bodies and materials of the elements.
    pub elements: Elements,
    /// Corners of a box around all elements, m; `None` without elements.
    pub bounds: Option<(DVec3, DVec3)>,
    /// Number of bonds.
    pub bonds: usize,
}

/// Time and size of a file. That of `store.json` changes when a stage begins or ends.
pub type Stamp = (SystemTime, u64);

/// Frames from which on fragments are removed, and their labels.
pub type RemovedFragments = Vec<(u32, u32)>;

/// A store and its pipeline.
#[derive(Clone)]
pub struct StoreView {
    /// The store, whose files are compared with the checksums of `store.json` when they are read.
    pub store: Store,
    /// Its pipeline; absent in stores of other programs.
    pub pipeline: Option<Arc<Pipeline>>,
}

impl ViewedStore {
    /// The store at `root`; fails if there is none.
    pub fn new(root: &Path) -> std::result::Result<Self, ViewError> {
        let viewed = ViewedStore {
            root: root.to_owned(),
            opened: Mutex::new(None),
        };
        viewed.view()?;
        Ok(viewed)
    }

    /// Name of the store's folder.
    pub fn name(&self) -> String {
        let absolute = std::path::absolute(&self.root).unwrap_or_else(|_| self.root.clone());
        let name = absolute.file_name().unwrap_or(absolute.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// The store's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The store as it is now.
    pub fn view(&self) -> Result<StoreView> {
        self.with(|opened| Ok(opened.store.clone()))
    }

    /// Time and size of `store.json` when it was last read.
    pub fn stamp(&self) -> Result<Stamp> {
        self.with(|opened| Ok(opened.stamp))
    }

    /// The history of a frame; `None` if the store has no such table.
    pub fn history(&self, frame: u32) -> Result<Option<Arc<History>>> {
        let store = self.view()?.store;
        // A run that starts again replaces the file.
        let Some(stamp) = stamp(&store.numbered("history", frame, "parquet")) else {
            return Ok(None);
        };
        let known = self.with(|opened| Ok(opened.history.get(&frame).cloned()))?;
        if let Some((_, table)) = known.filter(|(of, _)| *of == stamp) {
            return Ok(Some(table));
        }
        let Some(table) = if_present(store.read_history(frame))?.map(Arc::new) else {
            return Ok(None);
        };
        self.with(|opened| {
            opened.history.insert(frame, (stamp, table.clone()));
            Ok(())
        })?;
        Ok(Some(table))
    }

    /// Time of a frame, s.
    pub fn time(&self, frame: u32) -> Result<f64> {
        if let Some(history) = self.history(frame)?
            && let Some(time) = history.time.first()
        {
            return Ok(*time);
        }
        if let Some(known) = self.with(|opened| Ok(opened.times.get(&frame).copied()))? {
            return Ok(known);
        }
        let store = self.view()?.store;
        let rows = if_present(store.read_frame_with(frame, &[]))?;
        let time = match rows.and_then(|rows| rows.time.first().copied()) {
            Some(time) => time,
            None => SurfaceFrame::read(&store, frame)?.time,
        };
        self.with(|opened| {
            opened.times.insert(frame, time);
            Ok(time)
        })
    }

    /// The packing.
    pub fn rest(&self) -> Result<Arc<RestState>> {
        self.cached(|opened| &mut opened.rest, RestState::read)
    }

    /// The smallest strengths of the bonds at each element.
    pub fn strengths(&self) -> Result<Arc<Strengths>> {
        self.cached(|opened| &mut opened.strengths, Strengths::read)
    }

    /// The fragments that were removed, in the order of the frames.
    pub fn removed(&self) -> Result<Arc<RemovedFragments>> {
        let store = self.view()?.store;
        let tables = store.numbers("sleep", "parquet")?;
        let known = self.with(|opened| Ok(opened.removed.clone()))?;
        if let Some((_, removed)) = known.filter(|(seen, _)| *seen == tables) {
            return Ok(removed);
        }
        let removed = Arc::new(store.removed_fragments()?);
        self.with(|opened| {
            opened.removed = Some((tables, removed.clone()));
            Ok(removed)
        })
    }

    /// A part of the store that is read when it is first needed. It is read without the lock, so that other requests do
    /// not wait.
    fn cached<T>(
        &self,
        part: fn(&mut Opened) -> &mut Option<Arc<T>>,
        read: fn(&Store) -> Result<T>,
    ) -> Result<Arc<T>> {
        let (known, store, stamp) = self.with(|opened| {
            let known = part(opened).clone();
            Ok((known, opened.store.store.clone(), opened.stamp))
        })?;
        if let Some(known) = known {
            return Ok(known);
        }
        let value = Arc::new(read(&store)?);
        self.with(|opened| {
            // A stage may have begun meanwhile.
            if opened.stamp == stamp {
                *part(opened) = Some(value.clone());
            }
            Ok(value)
        })
    }

    /// Calls `act` with the store, which is opened again if `store.json` has changed.
    fn with<T>(&self, act: impl FnOnce(&mut Opened) -> Result<T>) -> Result<T> {
        // A thread that panicked leaves what it had read whole: entries are added when they are complete.
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = stamp(&self.root.join("store.json"));
        let current = opened.take().filter(|opened| Some(opened.stamp) == stamp);
        let current = match current {
            Some(current) => current,
            None => open(&self.root, stamp)?,
        };
        act(opened.insert(current))
    }
}

impl RestState {
    fn read(store: &Store) -> Result<Self> {
        let columns = ["body", "material", "x", "y", "z", "r"];
        let elements = store.read_element_columns(&columns)?;
        let boxes = (0..elements.id.len()).map(|k| {
            let at = DVec3::new(elements.x[k], elements.y[k], elements.z[k]);
            (at - elements.r[k], at + elements.r[k])
        });
        Ok(RestState {
            bounds: boxes.reduce(|(low, high), (l, h)| (low.min(l), high.max(h))),
            bonds: store.bond_count()?,
            elements,
        })
    }
}

/// Time and size of a file; `None` if there is none.
fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

fn open(root: &Path, stamp: Option<Stamp>) -> Result<Opened> {
    let store = Store::open(root)?;
    let pipeline = Manifest::read(&store)?.pipeline.map(Arc::new);
    Ok(Opened {
        stamp: stamp.unwrap_or((SystemTime::UNIX_EPOCH, 0)),
        store: StoreView { store, pipeline },
        history: BTreeMap::new(),
        times: BTreeMap::new(),
        rest: None,
        strengths: None,
        removed: None,
    })
}
