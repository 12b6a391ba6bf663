//! Fragments while their surfaces stay the same, and how they move meanwhile.
//!
//! An epoch is a fragment over frames in a row in which its vertices at rest and its triangles are the same. When a fragment splits, what
//! keeps its label begins the next epoch. Formats that tell a shot by moving objects make one object an epoch.

use std::collections::BTreeMap;
use std::io;

use crate::parallel::prelude::*;
use glam::DVec3;
use xxhash_rust::xxh3::Xxh3;

use super::error::ExportError;
use super::job::Job;
use super::rigid::Rigid;
use super::space::bounds;
use crate::store::{Piece, StoreError, SurfaceFrame};

/// How far off a point of a rigid fragment may be, over the fragment's size: less than a pixel of a fragment that fills a picture.
const RIGID: f64 = 2e-4;

/// A fragment while its surface stays the same.
pub struct Epoch<T> {
    /// Hash of all that does not change.
    shape: u64,
    /// The first frame that has it.
    pub first: u32,
    /// The last.
    pub last: u32,
    /// Diagonal of the bounds at rest, units of the file.
    pub size: f64,
    /// For each frame the rigid motion from rest that is nearest to its own; of the two quaternions of a rotation the one beside the last,
    /// or the blend between them takes the long way round.
    pub motion: Vec<(u32, Rigid)>,
    /// How far off that motion a point ever is at most, units of the file.
    pub off: f64,
    /// What a format keeps of it.
    pub kept: T,
}

/// Epochs by body and label, in order of time.
pub type Epochs<T> = BTreeMap<(u32, u32), Vec<Epoch<T>>>;

/// How a format keeps epochs.
pub trait Keep {
    /// What it keeps of one.
    type Kept;

    /// An epoch begins with a piece.
    fn begin(&mut self, surface: &SurfaceFrame, piece: &Piece) -> io::Result<Self::Kept>;

    /// An epoch has a frame, the first too.
    fn follow(
        &mut self,
        kept: &mut Self::Kept,
        surface: &SurfaceFrame,
        piece: &Piece,
    ) -> io::Result<()>;
}

/// Goes through a job's frames; memory holds one frame and what is kept.
pub fn gather<K: Keep>(
    job: &Job,
    keep: &mut K,
    on_frame: &mut dyn FnMut(usize, usize),
) -> Result<Epochs<K::Kept>, ExportError> {
    let io = |error| StoreError::io(&job.target)(error);
    let mut epochs = Epochs::new();
    let mut before = None;
    for (done, &frame) in job.frames.iter().enumerate() {
        let surface = job.read(frame)?;
        let found: Vec<Found> = surface
            .pieces
            .par_iter()
            .map(|piece| Found::new(&surface, piece))
            .collect();
        for (piece, found) in surface.pieces.iter().zip(found) {
            let known: &mut Vec<Epoch<K::Kept>> =
                epochs.entry((piece.body, piece.fragment)).or_default();
            let goes_on =
                |epoch: &Epoch<_>| epoch.shape == found.shape && Some(epoch.last) == before;
            if !known.last().is_some_and(goes_on) {
                let kept = keep.begin(&surface, piece).map_err(io)?;
                known.push(found.begin(frame, kept));
            }
            let epoch = known.last_mut().expect("there is one now");
            epoch.follow(frame, found);
            keep.follow(&mut epoch.kept, &surface, piece).map_err(io)?;
        }
        before = Some(frame);
        on_frame(done + 1, job.frames.len());
    }
    Ok(epochs)
}

/// A piece of one frame.
struct Found {
    shape: u64,
    size: f64,
    motion: Rigid,
    off: f64,
}

impl Found {
    fn new(surface: &SurfaceFrame, piece: &Piece) -> Self {
        let vertices = surface.vertex_range(piece);
        let rest = &surface.rest_positions[vertices.clone()];
        let now = &surface.positions[vertices];
        let motion = Rigid::fit(rest, now);
        let mut hash = Xxh3::new();
        hash.update(bytemuck::cast_slice(rest));
        for triangle in surface.local_triangles(piece) {
            hash.update(bytemuck::cast_slice(&triangle));
        }
        hash.update(&surface.inside[surface.triangle_range(piece)]);
        hash.update(bytemuck::cast_slice(surface.uv_of(piece)));
        let (low, high) = bounds(rest);
        Found {
            shape: hash.digest(),
            size: DVec3::from(low.map(f64::from)).distance(DVec3::from(high.map(f64::from))),
            off: motion.worst(rest, now),
            motion,
        }
    }

    fn begin<T>(&self, frame: u32, kept: T) -> Epoch<T> {
        Epoch {
            shape: self.shape,
            first: frame,
            last: frame,
            size: self.size,
            motion: Vec::new(),
            off: 0.0,
            kept,
        }
    }
}

impl<T> Epoch<T> {
    fn follow(&mut self, frame: u32, found: Found) {
        let mut motion = found.motion;
        if let Some((_, last)) = self.motion.last()
            && last.rotation.dot(motion.rotation) < 0.0
        {
            motion.rotation = -motion.rotation;
        }
        self.motion.push((frame, motion));
        self.last = frame;
        self.off = self.off.max(found.off);
    }

    /// Whether it moves as one body.
    pub fn is_rigid(&self) -> bool {
        self.off <= RIGID * self.size
    }

    /// When it comes and goes, if it is not there in all of `frames`: half-way between two frames, so that a shutter open around a frame
    /// sees one surface only, and rounding cannot show a frame what belongs to the next.
    pub fn life(&self, frames: &[u32]) -> [Option<f64>; 2] {
        let between = |a: u32, b: u32| 0.5 * (f64::from(a) + f64::from(b));
        let before = frames.iter().rev().find(|frame| **frame < self.first);
        let after = frames.iter().find(|frame| **frame > self.last);
        [
            before.map(|before| between(*before, self.first)),
            after.map(|after| between(self.last, *after)),
        ]
    }
}

/// Name of epoch number `turn` of a fragment among those of its body.
pub fn name(fragment: u32, turn: usize) -> String {
    match turn {
        0 => format!("fragment_{fragment}"),
        turn => format!("fragment_{fragment}_{turn}"),
    }
}
