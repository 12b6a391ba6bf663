//! The frame store: a folder of Parquet and rkyv files through which the stages talk.
//!
//! Layout, atomic files and `store.json`; the columns stand in [`crate::columns::tables`]. Knows no stage.

pub mod archive;
pub mod atomic;
mod colliders;
pub mod corner_normals;
mod encode;
pub mod format;
pub mod layout;
pub mod lock;
pub mod manifest;
pub mod parquet;
mod promises;
pub mod rules;
pub mod sums;
pub mod surface;
mod thrift;
pub mod validate;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::columns::{
    Bonds, Breaks, Convergence, Elements, Fragments, Frames, History, Loads, Table,
};
use crate::geometry::TriMesh;
use crate::spec::FrameGroup;
pub use format::Format;
pub use layout::writer_of;
pub use lock::{Hold, Lock};
pub use manifest::{Manifest, Parent, SCHEMA_VERSION, StageRecord};
use rules::Faults;
pub use sums::{Sum, Sums};
pub use surface::{Piece, SurfaceFrame};

/// What can go wrong with a store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder is no store.
    #[error("{path}: no frame store here ({missing} is missing); `cullet pack FILE --out DIR` makes one", path = .path.display())]
    NotAStore {
        /// The folder.
        path: PathBuf,
        /// The file looked for.
        missing: &'static str,
    },
    /// A file of the store is not there.
    #[error("{path}: missing; run `cullet {stage}` first", path = .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The stage that writes it.
        stage: &'static str,
    },
    /// A stage asks for a column that the frames were written without.
    #[error(
        "{path}: has no column {column}, which output.columns left out; add {word:?} to output.columns and run `cullet simulate` again",
        path = .path.display()
    )]
    LeftOut {
        /// The file.
        path: PathBuf,
        /// The column.
        column: &'static str,
        /// What `output.columns` lacks.
        word: String,
    },
    /// A file that was there is not any more.
    #[error("{path}: gone, though store.json lists it; `cullet {stage}` makes it anew", path = .path.display())]
    Gone {
        /// The file.
        path: PathBuf,
        /// The stage that writes it.
        stage: &'static str,
    },
    /// Another process is at work on the store.
    #[error("{path}: in use by {by}; wait until it ends", path = .path.display())]
    Locked {
        /// The store.
        path: PathBuf,
        /// Who holds it.
        by: String,
    },
    /// A file does not keep to the schema.
    #[error("{path}: {what}", path = .path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A file cannot be understood.
    #[error("{path}: {what}", path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The operating system refused.
    #[error("{path}: {source}", path = .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Its reason.
        source: std::io::Error,
    },
}

impl StoreError {
    /// Whether the folder named is not what the command needs; files that were damaged and the operating system are nobody's fault.
    pub fn caused_by_user(&self) -> bool {
        match self {
            StoreError::NotAStore { .. }
            | StoreError::Missing { .. }
            | StoreError::LeftOut { .. }
            | StoreError::Gone { .. }
            | StoreError::Locked { .. }
            | StoreError::Invalid { .. } => true,
            StoreError::Damaged { .. } | StoreError::Io { .. } => false,
        }
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| StoreError::Io {
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn invalid(path: &Path, what: impl std::fmt::Display) -> Self {
        StoreError::Invalid {
            path: path.to_owned(),
            what: what.to_string(),
        }
    }

    pub(crate) fn damaged(path: &Path, what: impl std::fmt::Display) -> Self {
        StoreError::Damaged {
            path: path.to_owned(),
            what: what.to_string(),
        }
    }
}

/// Result of a store operation.
pub type Result<T> = std::result::Result<T, StoreError>;

/// Rest state of all bodies: what `pack` writes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packing {
    /// The elements.
    pub elements: Elements,
    /// The bonds between them.
    pub bonds: Bonds,
    /// Meshes of the colliders that have one, in their own frames, by number.
    pub colliders: BTreeMap<u32, TriMesh>,
}

/// A folder laid out as a frame store.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
    /// What files must be like, as `store.json` said when the store was opened.
    sums: Arc<Sums>,
}

impl Store {
    /// The store at `root`, whether or not anything is there yet; files are read unchecked.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Store {
            root: root.into(),
            sums: Arc::default(),
        }
    }

    /// An existing store, known by its `store.json`; files are checked against the sums in it when they are read.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self> {
        let mut store = Self::at(root);
        if !store.path("store.json").is_file() {
            return Err(StoreError::NotAStore {
                path: store.root,
                missing: "store.json",
            });
        }
        store.sums = Arc::new(Manifest::read(&store)?.files);
        Ok(store)
    }

    /// Refuses a file that is not as `store.json` says, or not there: `stage` makes it.
    pub fn checked(&self, path: PathBuf, stage: &'static str) -> Result<PathBuf> {
        if !path.is_file() {
            return Err(StoreError::Missing { path, stage });
        }
        if let Some(sum) = self.name_of(&path).and_then(|name| self.sums.get(&name)) {
            sum.check(&path)?;
        }
        Ok(path)
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path inside the folder.
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// `kind/NNNNNN.extension`.
    pub fn numbered(&self, kind: &str, frame: u32, extension: &str) -> PathBuf {
        self.root.join(kind).join(format!("{frame:06}.{extension}"))
    }

    /// Skin of body number `body` at rest, in world coordinates (binary PLY).
    pub fn shape_path(&self, body: usize) -> PathBuf {
        self.root.join("packing/shapes").join(format!("{body}.ply"))
    }

    /// Numbers of the files `kind/NNNNNN.extension`, ascending. One that `store.json` lists and that is gone is an error.
    pub fn numbers(&self, kind: &str, extension: &str) -> Result<Vec<u32>> {
        let numbers = self.present(kind, extension)?;
        for name in self.sums.keys().filter(|name| in_folder(name, kind)) {
            let path = self.path(name);
            let number = number_of(&path, extension);
            if number.is_some_and(|number| numbers.binary_search(&number).is_err()) {
                let stage = writer_of(kind);
                return Err(StoreError::Gone { path, stage });
            }
        }
        Ok(numbers)
    }

    /// Numbers of the files `kind/NNNNNN.extension` that exist, ascending.
    fn present(&self, kind: &str, extension: &str) -> Result<Vec<u32>> {
        let folder = self.root.join(kind);
        if !folder.is_dir() {
            return Ok(Vec::new());
        }
        let mut numbers = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(StoreError::io(&folder))? {
            let path = entry.map_err(StoreError::io(&folder))?.path();
            // One that is called otherwise would not be found again.
            numbers.extend(
                number_of(&path, extension)
                    .filter(|&number| path == self.numbered(kind, number, extension)),
            );
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Frames that exist, ascending, restricted to `range`.
    pub fn frames(&self, range: &Range<u32>) -> Result<Vec<u32>> {
        let mut frames = self.numbers("frames", "parquet")?;
        frames.retain(|frame| range.contains(frame));
        Ok(frames)
    }

    /// Reads elements, bonds and meshes of colliders.
    pub fn read_packing(&self) -> Result<Packing> {
        Ok(Packing {
            elements: self.read_elements()?,
            bonds: self.read(self.path("packing/bonds.parquet"), "pack")?,
            colliders: self.read_colliders()?,
        })
    }

    /// Reads these columns of elements and bonds, which must keep to the [`rules`]; all others stay empty. Ids are read in any case.
    pub fn read_packing_columns(&self, elements: &[&str], bonds: &[&str]) -> Result<Packing> {
        let path = self.checked(self.path("packing/bonds.parquet"), "pack")?;
        let (elements, bonds) = rayon::join(
            || self.read_element_columns(elements),
            || parquet::read_columns::<Bonds>(&path, &[&["id"], bonds].concat()),
        );
        let (elements, bonds) = (elements?, bonds?);
        let mut faults = Faults::first();
        rules::bonds(&bonds, 0, elements.id.len(), &mut faults);
        faults.refuse(&path)?;
        Ok(Packing {
            elements,
            bonds,
            ..Packing::default()
        })
    }

    /// Reads these columns of the elements, which must keep to the [`rules`]; all others stay empty. Ids are read in any case.
    pub fn read_element_columns(&self, columns: &[&str]) -> Result<Elements> {
        let path = self.checked(self.path("packing/elements.parquet"), "pack")?;
        let elements = parquet::read_columns(&path, &[&["id"], columns].concat())?;
        let mut faults = Faults::first();
        rules::elements(&elements, 0, &mut faults);
        faults.refuse(&path)?;
        Ok(elements)
    }

    /// Reads the elements alone.
    pub fn read_elements(&self) -> Result<Elements> {
        self.read(self.path("packing/elements.parquet"), "pack")
    }

    /// Number of bonds.
    pub fn bond_count(&self) -> Result<usize> {
        parquet::rows(&self.checked(self.path("packing/bonds.parquet"), "pack")?)
    }

    /// Reads the bonds part by part, in order.
    pub fn read_bonds(&self, part: &mut dyn FnMut(&Bonds)) -> Result<()> {
        parquet::read_parts(
            &self.checked(self.path("packing/bonds.parquet"), "pack")?,
            part,
        )
    }

    /// Writes meshes of colliders, bonds and elements.
    pub fn write_packing(&self, packing: &Packing) -> Result<()> {
        for (&number, mesh) in &packing.colliders {
            self.write_collider(number, mesh)?;
        }
        parquet::write(&self.path("packing/bonds.parquet"), &packing.bonds)?;
        parquet::write(&self.path("packing/elements.parquet"), &packing.elements)
    }

    /// Puts what `fill` writes into a folder `kind` of its own in the place of the store's, and removes the folders `later`, which would not fit
    /// it. When `fill` fails, everything stays as it was.
    pub fn replace(
        &self,
        kind: &str,
        later: &[&str],
        fill: impl FnOnce(&Store) -> Result<()>,
    ) -> Result<()> {
        let fresh = Store::at(self.path(format!(".{kind}.{}.tmp", std::process::id())));
        let (from, to) = (fresh.path(kind), self.path(kind));
        let replaced = fill(&fresh).and_then(|()| {
            atomic::sync_folder(&from)?;
            self.clear(&[later, &[kind]].concat())?;
            std::fs::rename(&from, &to).map_err(StoreError::io(&to))?;
            atomic::sync_folder(&self.root)
        });
        // What is left of it has no reader.
        let _ = std::fs::remove_dir_all(fresh.root);
        replaced
    }

    /// Reads `frames/NNNNNN.parquet`.
    pub fn read_frame(&self, frame: u32) -> Result<Frames> {
        self.read_numbered("frames", frame)
    }

    /// Reads `frames/NNNNNN.parquet` for a stage that needs these columns; others that were left out read as zeros.
    pub fn read_frame_with(&self, frame: u32, needed: &[FrameGroup]) -> Result<Frames> {
        let path = self.numbered("frames", frame, "parquet");
        let frames = self.checked(path, "simulate")?;
        parquet::read_needed(&frames, |name| {
            let mut groups = FrameGroup::ALL.iter();
            let group = groups.find(|group| group.columns().contains(&name));
            group.is_none_or(|group| needed.contains(group))
        })
    }

    /// The same for a stage that takes row k for element k of `elements`: the frame must keep to the [`rules`].
    pub fn read_frame_of(
        &self,
        frame: u32,
        needed: &[FrameGroup],
        elements: usize,
    ) -> Result<Frames> {
        let table = self.read_frame_with(frame, needed)?;
        let mut faults = Faults::first();
        rules::one_an_element(table.id.len(), elements, &mut faults);
        let turned = needed.contains(&FrameGroup::Rotation);
        // They are brought to unit length: all but those without a direction will do.
        let rounding = if turned { 0.9 } else { f64::INFINITY };
        rules::frames(&table, 0, frame, rounding, &mut faults);
        faults.refuse(&self.numbered("frames", frame, "parquet"))?;
        Ok(table)
    }

    /// The groups of columns that are in `frames/NNNNNN.parquet`.
    pub fn frame_groups(&self, frame: u32) -> Result<Vec<FrameGroup>> {
        let there = parquet::column_names(&self.numbered("frames", frame, "parquet"))?;
        let whole = |group: &FrameGroup| {
            let mut names = group.columns().iter();
            names.all(|name| there.iter().any(|found| found == name))
        };
        Ok(FrameGroup::ALL.into_iter().filter(whole).collect())
    }

    /// Reads `breaks/NNNNNN.parquet`.
    pub fn read_breaks(&self, frame: u32) -> Result<Breaks> {
        self.read_numbered("breaks", frame)
    }

    /// Reads those columns of `breaks/NNNNNN.parquet` that are there; others that are optional stay empty.
    pub fn read_breaks_present(&self, frame: u32) -> Result<Breaks> {
        let path = self.numbered("breaks", frame, "parquet");
        parquet::read_present(&self.checked(path, "simulate")?)
    }

    /// The bonds in `breaks/NNNNNN.parquet`; a packing of `bonds` bonds must have each.
    pub fn read_broken(&self, frame: u32, bonds: usize) -> Result<Vec<u32>> {
        let path = self.checked(self.numbered("breaks", frame, "parquet"), "simulate")?;
        let broken = parquet::read_columns::<Breaks>(&path, &["bond"])?.bond;
        let mut faults = Faults::first();
        rules::broken(&broken, 0, bonds, &mut faults);
        faults.refuse(&path)?;
        Ok(broken)
    }

    /// Reads `history/NNNNNN.parquet`; columns that are optional and not there stay empty.
    pub fn read_history(&self, frame: u32) -> Result<History> {
        let path = self.numbered("history", frame, "parquet");
        parquet::read_present(&self.checked(path, "simulate")?)
    }

    /// Reads `fragments/NNNNNN.parquet`.
    pub fn read_fragments(&self, frame: u32) -> Result<Fragments> {
        self.read_numbered("fragments", frame)
    }

    /// Reads `loads/NNNNNN.parquet`.
    pub fn read_loads(&self, frame: u32) -> Result<Loads> {
        self.read_numbered("loads", frame)
    }

    /// Reads `convergence/NNNNNN.parquet`.
    pub fn read_convergence(&self, frame: u32) -> Result<Convergence> {
        self.read_numbered("convergence", frame)
    }

    /// Writes table `kind/NNNNNN.parquet`; that it is there lasts once [`sync_names`](Self::sync_names) has been called.
    pub fn write_unlisted<T: Table>(
        &self,
        kind: &str,
        frame: u32,
        table: &T,
        format: &Format,
    ) -> Result<()> {
        parquet::write_unlisted(&self.numbered(kind, frame, "parquet"), table, format)
    }

    /// Makes the names of all files in the folder `kind` last.
    pub fn sync_names(&self, kind: &str) -> Result<()> {
        atomic::sync_folder(&self.path(kind))
    }

    /// Writes table `kind/NNNNNN.parquet`.
    pub fn write_numbered<T: Table>(&self, kind: &str, frame: u32, table: &T) -> Result<()> {
        parquet::write(&self.numbered(kind, frame, "parquet"), table)
    }

    /// Removes `kind/NNNNNN.extension`.
    pub fn remove_numbered(&self, kind: &str, frame: u32, extension: &str) -> Result<()> {
        let path = self.numbered(kind, frame, extension);
        std::fs::remove_file(&path).map_err(StoreError::io(&path))
    }

    /// Removes the folders `kinds` with everything in them: a stage starts anew.
    pub fn clear(&self, kinds: &[&str]) -> Result<()> {
        self.forget(|name| kinds.iter().any(|kind| in_folder(name, kind)))?;
        for path in kinds.iter().map(|kind| self.path(kind)) {
            if path.exists() {
                std::fs::remove_dir_all(&path).map_err(StoreError::io(&path))?;
            }
        }
        Ok(())
    }

    /// Removes the numbered files of these folders that lie behind `frame`.
    pub fn clear_after(&self, kinds: &[&str], frame: u32) -> Result<()> {
        for kind in kinds {
            let folder = self.path(kind);
            let mut behind = Vec::new();
            for extension in ["parquet", "rkyv"] {
                let numbers = self.present(kind, extension)?.into_iter();
                let numbers = numbers.filter(|&number| number > frame);
                behind.extend(numbers.map(|number| self.numbered(kind, number, extension)));
            }
            if behind.is_empty() {
                continue;
            }
            let names: Vec<_> = behind
                .iter()
                .filter_map(|path| self.name_of(path))
                .collect();
            self.forget(|name| names.iter().any(|gone| gone == name))?;
            for path in behind {
                std::fs::remove_file(&path).map_err(StoreError::io(&path))?;
            }
            atomic::sync_folder(&folder)?;
        }
        Ok(())
    }

    /// Adds sums to `store.json`, where there is one.
    pub fn list(&self, mut sums: Sums) -> Result<()> {
        if self.path("store.json").is_file() && !sums.is_empty() {
            Manifest::update(self, |manifest| manifest.files.append(&mut sums))?;
        }
        Ok(())
    }

    /// Drops the sums of files that are about to be removed, and the records of the stages that wrote them.
    fn forget(&self, gone: impl Fn(&str) -> bool) -> Result<()> {
        if self.path("store.json").is_file() {
            Manifest::update(self, |manifest| manifest.forget(gone))?;
        }
        Ok(())
    }

    fn read_numbered<T: Table>(&self, kind: &str, frame: u32) -> Result<T> {
        self.read(self.numbered(kind, frame, "parquet"), "simulate")
    }

    fn read<T: Table>(&self, path: PathBuf, stage: &'static str) -> Result<T> {
        parquet::read(&self.checked(path, stage)?)
    }
}

/// The number that a file is called by, where it has this extension.
fn number_of(path: &Path, extension: &str) -> Option<u32> {
    path.extension().filter(|found| *found == extension)?;
    path.file_stem()?.to_str()?.parse().ok()
}

/// Whether a file's name in the sums lies in a folder of the store.
pub fn in_folder(name: &str, folder: &str) -> bool {
    let rest = name.strip_prefix(folder);
    rest.is_some_and(|rest| rest.starts_with('/'))
}
