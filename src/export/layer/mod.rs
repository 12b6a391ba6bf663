//! Writes layers of Universal Scene Description, as text (`.usda`), binary (`.usdc`) or binary in a
//! package (`.usdz`).
//!
//! A writer of a scene describes prims and attributes to a [`Layer`] and does not know which of them it writes.
//! Arrays are encoded as soon as they are known and kept in an [`ArraySpool`] until the layer needs them.

mod array;
mod array_spool;
mod binary;
mod content;
mod encoding;
mod package;
mod text;

use std::path::Path;

pub use array::{Array, Digits};
pub use array_spool::{ArrayKey, ArraySpool, Encoding, StoredArray};
pub use content::{Content, Layer, Prim, Stage, Timing, Value};

use std::io;

use crate::spec::UsdFile;
use crate::store::{Result, atomic};

/// Writes a layer file of this kind, for which the arrays in the spool are encoded. `fill` describes what is in it.
pub fn write(
    (target, file): (&Path, UsdFile),
    stage: &Stage,
    spool: &mut ArraySpool,
    fill: impl FnOnce(&mut dyn Layer) -> io::Result<()>,
) -> Result<()> {
    atomic::write(target, |out| match file {
        UsdFile::Usda => {
            let mut layer = text::TextLayer::new(out, spool, stage)?;
            fill(&mut layer)
        }
        UsdFile::Usdc => {
            let mut layer = binary::BinaryLayer::new(out, spool, stage)?;
            fill(&mut layer)?;
            layer.finish()
        }
        UsdFile::Usdz => {
            let name = target.with_extension(UsdFile::Usdc.extension());
            let name = name.file_name().unwrap_or_default().to_string_lossy();
            let mut package = package::Package::new(out, name.into_owned())?;
            let mut layer = binary::BinaryLayer::new(&mut package, spool, stage)?;
            fill(&mut layer)?;
            layer.finish()?;
            package.finish()
        }
    })
}
