//! Writes layers of Universal Scene Description, as text (`.usda`) or binary (`.usdc`).
//!
//! A writer of a scene describes prims and attributes to a [`Layer`] and does not know which of the two it writes.
//! Arrays are encoded as soon as they are known and kept in an [`ArraySpool`] until the layer needs them.

mod array;
mod binary;
mod content;
mod text;

use std::path::Path;

pub use array::{Array, ArraySpool, Digits, StoredArray};
pub use content::{Content, Layer, Prim, Stage, Timing, Value};

use std::io;

use crate::spec::UsdFile;
use crate::store::{Result, atomic};

/// Writes a layer file. `fill` describes what is in it.
pub fn write(
    target: &Path,
    stage: &Stage,
    spool: &mut ArraySpool,
    fill: impl FnOnce(&mut dyn Layer) -> io::Result<()>,
) -> Result<()> {
    atomic::write(target, |out| match spool.file() {
        UsdFile::Usda => {
            let mut layer = text::TextLayer::new(out, spool, stage)?;
            fill(&mut layer)
        }
        UsdFile::Usdc => {
            let mut layer = binary::BinaryLayer::new(out, spool, stage)?;
            fill(&mut layer)?;
            layer.finish()
        }
    })
}
