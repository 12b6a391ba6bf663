//! Fragments while their surfaces stay the same, and how they move meanwhile.
//!
//! An epoch is a fragment over frames in a row in which its vertices at rest and its triangles are the same.
//! When a fragment splits, what keeps its label begins the next epoch. Formats that tell a shot by moving
//! objects make one object an epoch.

use std::collections::BTreeMap;
use std::io;

use crate::parallel::prelude::*;
use glam::{DMat3, DVec3};
use xxhash_rust::xxh3::Xxh3;

use super::birth::{Birth, Crowds};
use super::error::ExportError;
use super::job::Job;
use super::key::Key;
use super::moment::Moment;
use super::path::Way;
use super::rigid::Rigid;
use super::space::bounds;
use super::turning::Crowd;
use crate::geometry::mass::Mass;
use crate::store::{Piece, StoreError, SurfaceFrame};

/// How far off a point of a rigid fragment may be, over the fragment's size: less than a pixel of a fragment
/// that fills a picture.
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
    /// Centre of mass at rest.
    centre: DVec3,
    /// Moments of inertia about it at rest, of any density.
    inertia: DMat3,
    /// For each frame the motion of the rigid body that is nearest to it.
    pub moments: Vec<Moment>,
    /// How its elements stand and move together in the frame before, and in the frame after; absent where
    /// frames do not tell.
    beside: [Option<Moment>; 2],
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

    /// Begins an epoch with a piece; `centre` is its centre of mass at rest.
    fn begin(
        &mut self,
        surface: &SurfaceFrame,
        piece: &Piece,
        centre: DVec3,
    ) -> io::Result<Self::Kept>;

    /// An epoch began after the first frame, and frames tell where its elements were.
    fn born(&mut self, _: &mut Self::Kept, _: &Birth, _: &[[f32; 3]]) -> io::Result<()> {
        Ok(())
    }

    /// An epoch has a frame, the first too.
    fn follow(
        &mut self,
        kept: &mut Self::Kept,
        surface: &SurfaceFrame,
        piece: &Piece,
        moment: &Moment,
    ) -> io::Result<()>;

    /// An epoch has had its last frame.
    fn end(&mut self, _: &mut Self::Kept) -> io::Result<()> {
        Ok(())
    }
}

/// Goes through a job's frames. Memory holds one surface, the elements of two frames, how each epoch moves,
/// and what is kept.
pub fn gather<K: Keep>(
    job: &Job,
    keep: &mut K,
    on_frame: &mut dyn FnMut(usize, usize),
) -> Result<Epochs<K::Kept>, ExportError> {
    let io = |error| StoreError::io(&job.target)(error);
    let mut epochs = Epochs::new();
    let elements = job.store.read_element_columns(&["mass", "r"]).ok();
    let mut before: Option<(u32, Option<Crowd>)> = None;
    for (done, &frame) in job.frames.iter().enumerate() {
        let surface = job.read(frame)?;
        let crowd = match &elements {
            Some(elements) => Crowd::read(job, elements, frame)?,
            None => None,
        };
        // Both frames' elements, where both frames tell.
        let pair = match (&before, &crowd) {
            (Some((_, Some(before))), Some(now)) => Some(Crowds { now, before }),
            _ => None,
        };
        let last = before.as_ref().map(|(frame, _)| *frame);
        let found: Vec<Found> = surface
            .pieces
            .par_iter()
            .map(|piece| Found::new(&surface, piece, crowd.as_ref()))
            .collect();
        for (piece, found) in surface.pieces.iter().zip(found) {
            let known: &mut Vec<Epoch<K::Kept>> =
                epochs.entry((piece.body, piece.fragment)).or_default();
            let goes_on = |epoch: &Epoch<_>| epoch.shape == found.shape && Some(epoch.last) == last;
            if !known.last().is_some_and(goes_on) {
                let mut kept = keep.begin(&surface, piece, found.centre).map_err(io)?;
                let birth = pair
                    .as_ref()
                    .and_then(|crowds| Birth::of(piece.fragment, &found.moment, crowds));
                if let Some(birth) = &birth {
                    let places = &surface.positions[surface.vertex_range(piece)];
                    keep.born(&mut kept, birth, places).map_err(io)?;
                }
                let mut epoch = found.begin(frame, kept);
                epoch.beside[0] = birth.map(|birth| birth.earlier);
                known.push(epoch);
            }
            let epoch = known.last_mut().expect("there is one now");
            // The centre of mass wanders within a fragment that vibrates: it turns about that of its first frame.
            let moment = found.moment.about(&found.motion, epoch.centre);
            epoch.follow(moment, found.off);
            let kept = &mut epoch.kept;
            keep.follow(kept, &surface, piece, &moment).map_err(io)?;
        }
        for (&(_, fragment), known) in &mut epochs {
            // What the frame before had and this one has not: its label is gone, or goes on with another surface.
            let ended = |epoch: &&mut Epoch<_>| Some(epoch.last) == last;
            let Some(epoch) = known.iter_mut().rev().take(2).find(ended) else {
                continue;
            };
            keep.end(&mut epoch.kept).map_err(io)?;
            if let Some(Crowds { now, before }) = pair {
                let moment = &epoch.moments[epoch.moments.len() - 1];
                epoch.beside[1] = before.elsewhere(fragment, moment, now);
            }
        }
        before = Some((frame, crowd));
        on_frame(done + 1, job.frames.len());
    }
    let last = before.map(|(frame, _)| frame);
    for epoch in epochs.values_mut().flatten() {
        if Some(epoch.last) == last {
            keep.end(&mut epoch.kept).map_err(io)?;
        }
    }
    Ok(epochs)
}

/// A piece of one frame.
struct Found {
    shape: u64,
    size: f64,
    centre: DVec3,
    inertia: DMat3,
    motion: Rigid,
    moment: Moment,
    off: f64,
}

impl Found {
    fn new(surface: &SurfaceFrame, piece: &Piece, crowd: Option<&Crowd>) -> Self {
        let vertices = surface.vertex_range(piece);
        let rest = &surface.rest_positions[vertices.clone()];
        let now = &surface.positions[vertices.clone()];
        let motion = Rigid::fit(rest, now);
        let turning = crowd.and_then(|crowd| crowd.turning(piece.fragment));
        let (moment, centre, inertia) = match turning {
            Some(turning) => {
                let turn = DMat3::from_quat(motion.rotation);
                let moment = Moment {
                    frame: surface.frame,
                    at: turning.centre,
                    rotation: motion.rotation,
                    velocity: turning.velocity,
                    spin: turning.spin,
                };
                let centre = motion.rotation.inverse() * (turning.centre - motion.shift);
                (moment, centre, turn.transpose() * turning.inertia * turn)
            }
            None => {
                let mass = Mass::of(rest, surface.local_triangles(piece));
                let at_rest = (&motion, mass.centre);
                let velocities = &surface.velocities[vertices];
                let moment = Moment::fit(surface.frame, at_rest, now, velocities);
                (moment, mass.centre, mass.inertia)
            }
        };
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
            centre,
            inertia,
            motion,
            moment,
        }
    }

    fn begin<T>(&self, frame: u32, kept: T) -> Epoch<T> {
        Epoch {
            shape: self.shape,
            first: frame,
            last: frame,
            size: self.size,
            centre: self.centre,
            inertia: self.inertia,
            moments: Vec::new(),
            beside: [None; 2],
            off: 0.0,
            kept,
        }
    }
}

impl<T> Epoch<T> {
    fn follow(&mut self, moment: Moment, off: f64) {
        self.last = moment.frame;
        self.moments.push(moment);
        self.off = self.off.max(off);
    }

    /// Whether it moves as one body.
    pub fn is_rigid(&self) -> bool {
        self.off <= RIGID * self.size
    }

    /// Its way as a rigid body through a shot of `frames`, `fps` a second of the event.
    pub fn keys(&self, frames: &[u32], fps: f64) -> Vec<Key> {
        let way = Way {
            moments: &self.moments,
            beside: self.beside,
            life: self.life(frames),
            inertia: &self.inertia,
            size: self.size,
            fps,
        };
        way.keys()
    }

    /// When it comes and goes, if it is not there in all of `frames`: half-way between two frames, so that a
    /// shutter open around a frame sees one surface only, and rounding cannot show a frame what belongs to
    /// the next.
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
