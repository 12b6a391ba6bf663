//! What a format's writer works on.

use std::path::PathBuf;

use super::error::ExportError;
use super::names::Names;
use super::space::Space;
use crate::columns::Frames;
use crate::spec::FrameGroup;
use crate::store::{Store, SurfaceFrame};

/// What a format's writer needs to know.
pub(super) struct Job<'a> {
    pub store: &'a Store,
    /// Frames to write, ascending, at least one.
    pub frames: Vec<u32>,
    /// Frames a second of the event.
    pub fps: f64,
    /// Frames a second that a host plays.
    pub playback: f64,
    /// When a shutter opens and closes, in frames about each frame: fragments that bend have points at those
    /// times too; absent: none.
    pub shutter: Option<[f64; 2]>,
    pub space: Space,
    pub names: Names,
    /// Fragments below this size are debris, units of the file; absent: none is.
    pub debris: Option<f64>,
    /// Columns that a frame table, or all of them, do not hold.
    pub left_out: Vec<FrameGroup>,
    /// The file, or the folder of a sequence.
    pub target: PathBuf,
}

impl Job<'_> {
    pub fn read(&self, frame: u32) -> Result<SurfaceFrame, ExportError> {
        let mut surface = SurfaceFrame::read(self.store, frame)?;
        self.space.bring(&mut surface);
        for piece in &surface.pieces {
            let range = surface.vertex_range(piece);
            let finite = [&surface.positions, &surface.normals, &surface.velocities]
                .iter()
                .all(|values| {
                    let mut numbers = values[range.clone()].as_flattened().iter();
                    numbers.all(|number| number.is_finite())
                });
            if !finite {
                let fragment = piece.fragment;
                return Err(ExportError::NotFinite { frame, fragment });
            }
        }
        Ok(surface)
    }

    /// Seconds of the event in a second that is played: what makes velocities those that a host sees.
    pub fn pace(&self) -> f64 {
        self.playback / self.fps
    }

    /// The table of a frame, a row for each of so many elements; it holds the columns that are not left out.
    pub fn read_table(&self, frame: u32, elements: usize) -> Result<Frames, ExportError> {
        let needed = [FrameGroup::Position];
        Ok(self.store.read_frame_of(frame, &needed, elements)?)
    }

    /// Whether a fragment of such a size, units of the file, is debris. What has no size has no shape to share.
    pub fn is_debris(&self, size: f64) -> bool {
        self.debris.is_some_and(|limit| size > 0.0 && size < limit)
    }
}
