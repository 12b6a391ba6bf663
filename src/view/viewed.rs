//! A store that is being viewed: opened again when it changes, with what answers need again and again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use super::error::ViewError;
use super::strengths::Strengths;
use crate::columns::{Elements, History};
use crate::spec::Pipeline;
use crate::store::{Manifest, Result, Store, StoreError, SurfaceFrame};

/// A store that is being viewed.
pub struct ViewedStore {
    root: PathBuf,
    opened: Mutex<Option<Opened>>,
}

/// A store as it was when its `store.json` was last read.
struct Opened {
    stamp: Stamp,
    store: StoreView,
    /// History of each frame that was asked for.
    history: BTreeMap<u32, Arc<History>>,
    /// Time of each frame that has no history, s.
    times: BTreeMap<u32, f64>,
    /// Parts that are read when they are first needed.
    elements: Option<Arc<Elements>>,
    strengths: Option<Arc<Strengths>>,
    removed: Option<(Vec<u32>, Arc<RemovedFragments>)>,
}

/// Time and size of `store.json`: another one means that a stage has begun or ended.
type Stamp = (SystemTime, u64);

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

    /// The history of a frame; `None` if the store has no such table.
    pub fn history(&self, frame: u32) -> Result<Option<Arc<History>>> {
        self.with(|opened| {
            if let Some(known) = opened.history.get(&frame) {
                return Ok(Some(known.clone()));
            }
            let Some(table) = if_present(opened.store.store.read_history(frame))? else {
                return Ok(None);
            };
            let table = Arc::new(table);
            opened.history.insert(frame, table.clone());
            Ok(Some(table))
        })
    }

    /// Time of a frame, s.
    pub fn time(&self, frame: u32) -> Result<f64> {
        if let Some(history) = self.history(frame)?
            && let Some(time) = history.time.first()
        {
            return Ok(*time);
        }
        self.with(|opened| {
            if let Some(known) = opened.times.get(&frame) {
                return Ok(*known);
            }
            let store = &opened.store.store;
            let rows = if_present(store.read_frame_with(frame, &[]))?;
            let time = match rows.and_then(|rows| rows.time.first().copied()) {
                Some(time) => time,
                None => SurfaceFrame::read(store, frame)?.time,
            };
            opened.times.insert(frame, time);
            Ok(time)
        })
    }

    /// Positions, radii, bodies and materials of the elements at rest.
    pub fn elements(&self) -> Result<Arc<Elements>> {
        self.with(|opened| {
            if let Some(known) = &opened.elements {
                return Ok(known.clone());
            }
            let columns = ["body", "material", "x", "y", "z", "r", "mass"];
            let elements = Arc::new(opened.store.store.read_element_columns(&columns)?);
            opened.elements = Some(elements.clone());
            Ok(elements)
        })
    }

    /// The smallest strengths of the bonds at each element.
    pub fn strengths(&self) -> Result<Arc<Strengths>> {
        self.with(|opened| {
            if let Some(known) = &opened.strengths {
                return Ok(known.clone());
            }
            let strengths = Arc::new(Strengths::read(&opened.store.store)?);
            opened.strengths = Some(strengths.clone());
            Ok(strengths)
        })
    }

    /// The fragments that were removed, in the order of the frames.
    pub fn removed(&self) -> Result<Arc<RemovedFragments>> {
        self.with(|opened| {
            let tables = opened.store.store.numbers("sleep", "parquet")?;
            if let Some((seen, known)) = &opened.removed
                && *seen == tables
            {
                return Ok(known.clone());
            }
            let removed = Arc::new(opened.store.store.removed_fragments()?);
            opened.removed = Some((tables, removed.clone()));
            Ok(removed)
        })
    }

    /// Calls `act` with the store, which is opened again if `store.json` has changed.
    fn with<T>(&self, act: impl FnOnce(&mut Opened) -> Result<T>) -> Result<T> {
        // A thread that panicked leaves what it had read whole: entries are added when they are complete.
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = stamp(&self.root);
        let current = opened.take().filter(|opened| Some(opened.stamp) == stamp);
        let current = match current {
            Some(current) => current,
            None => open(&self.root, stamp)?,
        };
        act(opened.insert(current))
    }
}

fn stamp(root: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(root.join("store.json")).ok()?;
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
        elements: None,
        strengths: None,
        removed: None,
    })
}

/// A table, or none if its file is missing.
pub fn if_present<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Ok(table) => Ok(Some(table)),
        Err(StoreError::Missing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
