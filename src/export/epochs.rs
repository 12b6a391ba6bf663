//! Epochs: fragments over the frames in which their surface mesh stays the same, and their motion.
//!
//! An epoch is a fragment over consecutive frames in which its vertices at rest and its triangles are the
//! same. When a fragment splits, the part that keeps its label begins the next epoch. Formats of moving
//! objects have one object per epoch.

use std::collections::BTreeMap;
use std::io;

use crate::parallel::prelude::*;
use glam::{DMat3, DVec3};

use super::birth::{Birth, FramePair};
use super::error::ExportError;
use super::fragment_motion::FrameElements;
use super::job::ExportJob;
use super::keyframe::{JUMP_DURATION, Keyframe};
use super::rigid_state::RigidState;
use super::rigid_transform::{RIGID_TOLERANCE, RigidTransform};
use super::shape_hash::shape_hash;
use super::space::bounds;
use super::trajectory::Trajectory;
use crate::geometry::mass::Mass;
use crate::store::{FragmentRange, StoreError, SurfaceFrame};

/// A fragment over consecutive frames in which its surface mesh stays the same.
pub struct Epoch<T> {
    /// Hash of the mesh at rest: positions, triangles, crack faces and texture coordinates.
    shape: u64,
    /// First frame of the epoch.
    pub first: u32,
    /// Last frame of the epoch.
    pub last: u32,
    /// Diagonal of the bounding box of the full mesh at rest, units of the file.
    pub size: f64,
    /// Centre of mass at rest.
    centre: DVec3,
    /// Inertia tensor about the centre of mass at rest, for any density.
    inertia: DMat3,
    /// State of the best-fitting rigid body in each frame.
    pub states: Vec<RigidState>,
    /// Rigid state of its elements in the frame before the epoch and in the frame after it; `None` if the
    /// frames lack the columns.
    adjacent: [Option<RigidState>; 2],
    /// Largest deviation of a vertex from the rigid motion in any frame, units of the file.
    pub deviation: f64,
    /// What the format records of it.
    pub record: T,
}

/// Epochs by body and label, in order of time.
pub type Epochs<T> = BTreeMap<(u32, u32), Vec<Epoch<T>>>;

/// Records what a format needs of each epoch.
pub trait EpochRecorder {
    /// The data recorded per epoch.
    type Record;

    /// Begins the record of an epoch from its first piece; `centre` is the centre of mass at rest.
    fn begin(
        &mut self,
        surface: &SurfaceFrame,
        piece: &FragmentRange,
        centre: DVec3,
    ) -> io::Result<Self::Record>;

    /// Called for an epoch that begins after the first frame, if the frames say where its elements were
    /// before; the last argument is the vertex positions in the first frame of the epoch.
    fn add_birth(&mut self, _: &mut Self::Record, _: &Birth, _: &[[f32; 3]]) -> io::Result<()> {
        Ok(())
    }

    /// Called for each frame of an epoch, including the first.
    fn add_frame(
        &mut self,
        record: &mut Self::Record,
        surface: &SurfaceFrame,
        piece: &FragmentRange,
        state: &RigidState,
    ) -> io::Result<()>;

    /// Called after the last frame of an epoch.
    fn end(&mut self, _: &mut Self::Record) -> io::Result<()> {
        Ok(())
    }
}

/// Collects the epochs of all frames of a job. Memory holds one surface, reduced and full, the elements of two
/// frames, the states of each epoch, and the records.
pub fn gather<K: EpochRecorder>(
    job: &ExportJob,
    recorder: &mut K,
    on_frame: &mut dyn FnMut(usize, usize),
) -> Result<Epochs<K::Record>, ExportError> {
    let io = |error| StoreError::io(&job.target)(error);
    let mut epochs = Epochs::new();
    let elements = job.store.read_element_columns(&["mass", "r"]).ok();
    let mut before: Option<(u32, Option<FrameElements>)> = None;
    for (done, &frame) in job.frames.iter().enumerate() {
        let (surface, full) = job.read_both(frame)?;
        let measured = full.as_ref().unwrap_or(&surface);
        let frame_elements = match &elements {
            Some(elements) => FrameElements::read(job, elements, frame)?,
            None => None,
        };
        // Elements of both frames, if both have the columns.
        let pair = match (&before, &frame_elements) {
            (Some((_, Some(before))), Some(now)) => Some(FramePair { now, before }),
            _ => None,
        };
        let last = before.as_ref().map(|(frame, _)| *frame);
        let found: Vec<FittedPiece> = measured
            .pieces
            .par_iter()
            .map(|piece| FittedPiece::new(measured, piece, frame_elements.as_ref()))
            .collect();
        for (piece, found) in surface.pieces.iter().zip(found) {
            let fragment_epochs: &mut Vec<Epoch<K::Record>> =
                epochs.entry((piece.body, piece.fragment)).or_default();
            let continues =
                |epoch: &Epoch<_>| epoch.shape == found.shape && Some(epoch.last) == last;
            if !fragment_epochs.last().is_some_and(continues) {
                let mut record = recorder.begin(&surface, piece, found.centre).map_err(io)?;
                let birth = pair
                    .as_ref()
                    .and_then(|pair| Birth::of(piece.fragment, &found.state, pair));
                if let Some(birth) = &birth {
                    let positions = &surface.positions[surface.vertex_range(piece)];
                    recorder
                        .add_birth(&mut record, birth, positions)
                        .map_err(io)?;
                }
                let mut epoch = found.begin(frame, record);
                epoch.adjacent[0] = birth.map(|birth| birth.earlier);
                fragment_epochs.push(epoch);
            }
            let epoch = fragment_epochs.last_mut().expect("an epoch was pushed");
            // The centre of mass moves within a fragment that vibrates, so the one of its first frame is the
            // reference.
            let state = found.state.at_point(&found.transform, epoch.centre);
            epoch.add_frame(state, found.deviation);
            let record = &mut epoch.record;
            recorder
                .add_frame(record, &surface, piece, &state)
                .map_err(io)?;
        }
        for (&(_, fragment), fragment_epochs) in &mut epochs {
            // Epochs that ended with the frame before: the label is gone, or continues with another surface.
            let ended = |epoch: &&mut Epoch<_>| Some(epoch.last) == last;
            let Some(epoch) = fragment_epochs.iter_mut().rev().take(2).find(ended) else {
                continue;
            };
            recorder.end(&mut epoch.record).map_err(io)?;
            if let Some(FramePair { now, before }) = pair {
                let state = &epoch.states[epoch.states.len() - 1];
                epoch.adjacent[1] = before.state_in_frame(fragment, state, now);
            }
        }
        before = Some((frame, frame_elements));
        on_frame(done + 1, job.frames.len());
    }
    let last = before.map(|(frame, _)| frame);
    for epoch in epochs.values_mut().flatten() {
        if Some(epoch.last) == last {
            recorder.end(&mut epoch.record).map_err(io)?;
        }
    }
    Ok(epochs)
}

/// A piece of one frame with its rigid fit.
struct FittedPiece {
    shape: u64,
    size: f64,
    centre: DVec3,
    inertia: DMat3,
    transform: RigidTransform,
    state: RigidState,
    deviation: f64,
}

impl FittedPiece {
    fn new(
        surface: &SurfaceFrame,
        piece: &FragmentRange,
        frame_elements: Option<&FrameElements>,
    ) -> Self {
        let vertices = surface.vertex_range(piece);
        let rest = &surface.rest_positions[vertices.clone()];
        let now = &surface.positions[vertices.clone()];
        let transform = RigidTransform::fit(rest, now);
        let motion =
            frame_elements.and_then(|frame_elements| frame_elements.motion_of(piece.fragment));
        let (state, centre, inertia) = match motion {
            Some(motion) => {
                let rotation = DMat3::from_quat(transform.rotation);
                let state = RigidState {
                    frame: surface.frame,
                    at: motion.centre,
                    rotation: transform.rotation,
                    velocity: motion.velocity,
                    spin: motion.spin,
                };
                let centre = transform.rotation.inverse() * (motion.centre - transform.shift);
                (
                    state,
                    centre,
                    rotation.transpose() * motion.inertia * rotation,
                )
            }
            None => {
                let mass = Mass::of(rest, surface.local_triangles(piece));
                let at_rest = (&transform, mass.centre);
                let velocities = &surface.velocities[vertices];
                let state = RigidState::fit(surface.frame, at_rest, now, velocities);
                (state, mass.centre, mass.inertia)
            }
        };
        let (low, high) = bounds(rest);
        FittedPiece {
            shape: shape_hash(surface, piece),
            size: DVec3::from(low.map(f64::from)).distance(DVec3::from(high.map(f64::from))),
            deviation: transform.largest_error(rest, now),
            centre,
            inertia,
            transform,
            state,
        }
    }

    fn begin<T>(&self, frame: u32, record: T) -> Epoch<T> {
        Epoch {
            shape: self.shape,
            first: frame,
            last: frame,
            size: self.size,
            centre: self.centre,
            inertia: self.inertia,
            states: Vec::new(),
            adjacent: [None; 2],
            deviation: 0.0,
            record,
        }
    }
}

impl<T> Epoch<T> {
    fn add_frame(&mut self, state: RigidState, deviation: f64) {
        self.last = state.frame;
        self.states.push(state);
        self.deviation = self.deviation.max(deviation);
    }

    /// Whether it moves as a rigid body, to [`RIGID_TOLERANCE`].
    pub fn is_rigid(&self) -> bool {
        self.deviation <= RIGID_TOLERANCE * self.size
    }

    /// Keyframes of its rigid motion in a shot of `frames`, at `fps` frames per second of the event.
    pub fn keyframes(&self, frames: &[u32], fps: f64) -> Vec<Keyframe> {
        let trajectory = Trajectory {
            states: &self.states,
            adjacent: self.adjacent,
            lifetime: self.lifetime(frames),
            inertia: &self.inertia,
            size: self.size,
            fps,
        };
        trajectory.keyframes()
    }

    /// Times, in frames, at which it appears and disappears; `None` if it exists from the first or to the
    /// last of `frames`. These times are half-way between two frames: a shutter that is open around a frame
    /// sees one surface only, and rounding cannot move a surface into the wrong frame.
    pub fn lifetime(&self, frames: &[u32]) -> [Option<f64>; 2] {
        let between = |a: u32, b: u32| 0.5 * (f64::from(a) + f64::from(b));
        let before = frames.iter().rev().find(|frame| **frame < self.first);
        let after = frames.iter().find(|frame| **frame > self.last);
        [
            before.map(|before| between(*before, self.first)),
            after.map(|after| between(self.last, *after)),
        ]
    }

    /// Whether it is visible, by ascending times in frames: just before it appears or disappears, and then. Empty if it
    /// exists in all of `frames`.
    pub fn visibility(&self, frames: &[u32]) -> Vec<(f64, bool)> {
        let [birth, death] = self.lifetime(frames);
        let appears = birth.map(|birth| [(birth - JUMP_DURATION, false), (birth, true)]);
        let disappears = death.map(|death| [(death - JUMP_DURATION, true), (death, false)]);
        appears.into_iter().chain(disappears).flatten().collect()
    }
}

/// Name of epoch number `index` of a fragment, unique within its body.
pub fn name(fragment: u32, index: usize) -> String {
    match index {
        0 => format!("fragment_{fragment}"),
        index => format!("fragment_{fragment}_{index}"),
    }
}
