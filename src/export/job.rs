//! Input of a format's writer.

use std::path::PathBuf;

use super::detail::Reduction;
use super::error::ExportError;
use super::full_frame;
use super::names::ShotNames;
use super::space::FileCoordinates;
use crate::columns::Frames;
use crate::spec::{FrameGroup, UsdFile};
use crate::store::{Store, SurfaceFrame};

/// Store, frames and settings of an export, as the writers of formats take them.
pub(super) struct ExportJob<'a> {
    pub store: &'a Store,
    /// Frames to write, ascending, at least one.
    pub frames: Vec<u32>,
    /// Frames per second of the event.
    pub fps: f64,
    /// Frames per second that a host plays.
    pub playback: f64,
    /// Times at which the shutter opens and closes, in frames relative to each frame: fragments that bend
    /// have points at those times too. `None`: points in frames only.
    pub shutter: Option<[f64; 2]>,
    /// Kind of USD files.
    pub usd: UsdFile,
    /// Whether animated glTF is compressed.
    pub compress: bool,
    /// Axes and units of the file.
    pub space: FileCoordinates,
    pub names: ShotNames,
    /// Reduced meshes of fragments; `None`: they have all their triangles.
    pub reduction: Option<Reduction>,
    /// Size below which fragments are debris, units of the file; `None`: there is no debris.
    pub debris: Option<f64>,
    /// Column groups that at least one frame table lacks.
    pub missing_groups: Vec<FrameGroup>,
    /// The file, or the folder of a sequence.
    pub target: PathBuf,
}

impl ExportJob<'_> {
    /// Reads the surfaces of a frame in the coordinates of the file, as detailed as they are exported; NaN or infinite
    /// coordinates are an error.
    pub fn read(&self, frame: u32) -> Result<SurfaceFrame, ExportError> {
        Ok(self.read_both(frame)?.0)
    }

    /// Reads the surfaces of a frame as [`ExportJob::read`] does, and, where they are reduced, also with all their
    /// triangles: the same fragments in the same order. What is computed from a mesh is that of the full one.
    pub fn read_both(
        &self,
        frame: u32,
    ) -> Result<(SurfaceFrame, Option<SurfaceFrame>), ExportError> {
        let full = full_frame::read(self.store, self.space, frame)?;
        Ok(match &self.reduction {
            Some(reduction) => (reduction.apply(&full), Some(full)),
            None => (full, None),
        })
    }

    /// Seconds of the event per played second: converts velocities of the event to those of playback.
    pub fn time_scale(&self) -> f64 {
        self.playback / self.fps
    }

    /// Reads the table of a frame, which must have one row for each of `elements` elements. It has all
    /// columns except those of `missing_groups`.
    pub fn read_table(&self, frame: u32, elements: usize) -> Result<Frames, ExportError> {
        let needed = [FrameGroup::Position];
        Ok(self.store.read_frame_of(frame, &needed, elements)?)
    }

    /// Whether a fragment of this size, units of the file, is debris. Fragments of size 0 are not, since no
    /// shape can be scaled to them.
    pub fn is_debris(&self, size: f64) -> bool {
        self.debris.is_some_and(|limit| size > 0.0 && size < limit)
    }
}
