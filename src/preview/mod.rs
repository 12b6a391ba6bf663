//! Shaded pictures of a shot without a GPU: a PNG a frame and one sheet with some of them.
//!
//! Draws the surfaces of a frame where they exist, its elements as balls where they do not, and the colliders.
//! Reads the store and nothing else. A frame's picture depends on the store alone, whatever the threads.

mod camera;
mod colliders;
mod font;
mod light;
mod occlusion;
mod png;
mod raster;
mod scene;
mod shade;
mod sheet;
mod spheres;

use std::ops::Range;
use std::path::PathBuf;

use rayon::prelude::*;

use crate::spec;
use crate::store::{Manifest, Store, StoreError};
use scene::Source;

/// Why a preview failed.
#[derive(Debug, thiserror::Error)]
pub enum PreviewError {
    /// The store could not be read or a picture not written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nothing to draw.
    #[error(
        "{path}: neither surfaces nor elements in frames {}..{}; run `cullet simulate` first or widen the range",
        .frames.start, .frames.end, path = .path.display()
    )]
    NoFrames {
        /// The store.
        path: PathBuf,
        /// Frames asked for.
        frames: Range<u32>,
    },
    /// Picture size out of bounds.
    #[error("preview of {width} x {height} pixels: each side must lie between 16 and {limit}")]
    Size {
        /// Width asked for.
        width: u32,
        /// Height asked for.
        height: u32,
        /// Longest side.
        limit: u32,
    },
    /// A camera that sees nothing.
    #[error("preview camera: {what}")]
    Camera {
        /// What is wrong with it.
        what: String,
    },
}

/// What a preview wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreviewSummary {
    /// The pictures in order of frames, then the sheet.
    pub files: Vec<PathBuf>,
}

/// Longest side of a picture, pixels; four samples a pixel of it take about 1 GB.
const LONGEST_SIDE: u32 = 4096;

/// Writes `preview/NNNNNN.png` for each frame in `frames`, and `preview/contact_sheet.png`.
///
/// `on_frame` hears (done, of how many).
pub fn run(
    store: &Store,
    preview: &spec::Preview,
    frames: Range<u32>,
    on_frame: &mut dyn FnMut(usize, usize),
) -> Result<PreviewSummary, PreviewError> {
    let (width, height) = (preview.width, preview.height);
    let sides = 16..=LONGEST_SIDE;
    if !sides.contains(&width) || !sides.contains(&height) {
        return Err(PreviewError::Size {
            width,
            height,
            limit: LONGEST_SIDE,
        });
    }
    let source = Source::new(store, Manifest::read(store)?.pipeline)?;
    let numbers = source.frames(&frames)?;
    if numbers.is_empty() {
        let path = store.root().to_owned();
        return Err(PreviewError::NoFrames { path, frames });
    }
    let stage = camera::stage(&source, preview, &numbers)?;
    let mut sheet = sheet::Sheet::new(&numbers, width, height);
    let mut summary = PreviewSummary::default();
    for batch in numbers.chunks(rayon::current_num_threads()) {
        let drawn = batch
            .par_iter()
            .map(|&frame| {
                let scene = source.read(frame)?;
                let picture = shade::draw(&scene, &stage);
                let path = store.numbered("preview", frame, "png");
                png::write(&path, &picture)?;
                Ok((path, scene.time, picture))
            })
            .collect::<Result<Vec<_>, PreviewError>>()?;
        for (&frame, (path, time, picture)) in batch.iter().zip(drawn) {
            sheet.offer(frame, time, &picture);
            summary.files.push(path);
            on_frame(summary.files.len(), numbers.len());
        }
    }
    let path = store.path("preview/contact_sheet.png");
    png::write(&path, &sheet.finish())?;
    summary.files.push(path);
    Ok(summary)
}
