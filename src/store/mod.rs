//! The frame store: a folder of Parquet and rkyv files through which the stages exchange data.
//!
//! Folder layout, atomic files and `store.json`. Columns are declared in [`crate::columns::tables`]. This module does
//! not depend on any stage.

pub mod archive;
pub mod atomic;
pub mod batches;
mod cell_rules;
mod colliders;
mod contents;
pub mod corner_normals;
mod encode;
mod error;
mod folder;
pub mod format;
pub mod large;
pub mod layout;
pub mod lock;
pub mod manifest;
pub mod parquet;
mod parquet_limits;
pub mod parts;
pub mod rules;
pub mod sums;
pub mod surface;
mod tables;
mod thrift;
pub mod validate;
mod version;

pub use error::{Result, StoreError, if_present};
pub use folder::{Store, in_folder};
pub use format::TableFormat;
pub use layout::writer_of;
pub use lock::{Lock, LockMode};
pub use manifest::{Manifest, Parent, StageRecord};
pub use sums::{FileChecksum, FileChecksums};
pub use surface::{FragmentRange, SurfaceFrame};
pub use tables::{CellTables, Packing};
pub use version::{SCHEMA_MINOR, SCHEMA_VERSION};
