//! The meshes of all fragments of a clip: in which frames they are, how near to the camera, and whether they bend.

use std::collections::BTreeMap;

use glam::DVec3;

use super::full::HeldMesh;
use crate::export::error::ExportError;
use crate::export::rigid_transform::{RIGID_TOLERANCE, RigidTransform};
use crate::export::shape_hash::shape_hash;
use crate::parallel::prelude::*;
use crate::store::{FragmentRange, SurfaceFrame};

/// Body, label and hash of the mesh of a fragment.
pub type ShapeKey = (u32, u32, u64);

/// Reads the surfaces of a frame.
pub type ReadFrame<'a> = dyn Fn(u32) -> Result<SurfaceFrame, ExportError> + Sync + 'a;

/// Most frames in which the shape of a fragment that bends is looked at.
const BENT_FRAMES: usize = 6;

/// Most frames that are held at once.
const BATCH: usize = 4;

/// A mesh of a fragment over the frames that have it.
pub struct SurveyedShape {
    /// The mesh.
    pub mesh: HeldMesh,
    /// Distance from the eye in the frame in which it is nearest, units of the file.
    pub distance: f64,
    /// Frames, and the largest deviation from rigid motion in each.
    deviations: Vec<(u32, f64)>,
}

/// The meshes of all fragments of a clip.
#[derive(Default)]
pub struct Survey {
    /// The meshes.
    pub shapes: BTreeMap<ShapeKey, SurveyedShape>,
    /// Meshes in each frame.
    pub frames: Vec<Vec<ShapeKey>>,
}

impl Survey {
    /// Surveys frames; `eye` is the position of the camera in the coordinates of the file.
    pub fn new(frames: &[u32], eye: DVec3, read: &ReadFrame) -> Result<Self, ExportError> {
        let mut survey = Survey::default();
        for batch in frames.chunks(BATCH) {
            let surfaces: Vec<_> = batch
                .par_iter()
                .map(|&frame| {
                    let surface = read(frame)?;
                    let seen = surface.pieces.par_iter();
                    let seen = seen.map(|piece| Sight::new(&surface, piece, eye));
                    let seen: Vec<Sight> = seen.collect();
                    Ok((surface, seen))
                })
                .collect::<Result<_, ExportError>>()?;
            for (surface, seen) in &surfaces {
                survey.add(surface, seen);
            }
        }
        survey.add_bent(read)?;
        Ok(survey)
    }

    fn add(&mut self, surface: &SurfaceFrame, seen: &[Sight]) {
        let all = surface.pieces.iter().zip(seen);
        let with_triangles = all.filter(|(piece, _)| piece.triangles > 0);
        let with_triangles: Vec<(&FragmentRange, &Sight)> = with_triangles.collect();
        let new = with_triangles
            .par_iter()
            .filter(|(_, sight)| !self.shapes.contains_key(&sight.key))
            .map(|(piece, sight)| (sight.key, HeldMesh::new(surface, piece)));
        let new: Vec<(ShapeKey, HeldMesh)> = new.collect();
        let shape = |mesh| SurveyedShape {
            mesh,
            distance: f64::INFINITY,
            deviations: Vec::new(),
        };
        let new = new.into_iter().map(|(key, mesh)| (key, shape(mesh)));
        self.shapes.extend(new);
        for (_, sight) in &with_triangles {
            let shape = self.shapes.get_mut(&sight.key).expect("it was added");
            shape.distance = shape.distance.min(sight.distance);
            shape.deviations.push((surface.frame, sight.deviation));
        }
        let keys = with_triangles.iter().map(|(_, sight)| sight.key);
        self.frames.push(keys.collect());
    }

    /// Adds to fragments that bend their shapes in some frames.
    fn add_bent(&mut self, read: &ReadFrame) -> Result<(), ExportError> {
        let mut wanted: BTreeMap<u32, Vec<ShapeKey>> = BTreeMap::new();
        for (key, shape) in &self.shapes {
            for frame in bent_frames(&shape.deviations, shape.mesh.size) {
                wanted.entry(frame).or_default().push(*key);
            }
        }
        for (frame, keys) in wanted {
            let surface = read(frame)?;
            for piece in &surface.pieces {
                // The third part of a key is the dearest to compute. A frame has one mesh of a label.
                let label = (piece.body, piece.fragment);
                let at = keys.partition_point(|key| (key.0, key.1) < label);
                if let Some(key) = keys.get(at).filter(|key| (key.0, key.1) == label)
                    && let Some(shape) = self.shapes.get_mut(key)
                {
                    shape.mesh.add_bent(&surface, piece);
                }
            }
        }
        Ok(())
    }
}

/// Frames, ascending, that show how a fragment of `size` bends: that with the largest deviation, and some in between;
/// none if it is rigid.
fn bent_frames(deviations: &[(u32, f64)], size: f64) -> Vec<u32> {
    let most = deviations.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let Some(most) = most.filter(|most| most.1 > RIGID_TOLERANCE * size) else {
        return Vec::new();
    };
    let last = deviations.len() - 1;
    let others = BENT_FRAMES - 1;
    let even = (0..others).map(|k| deviations[k * last / (others - 1)].0);
    let mut frames: Vec<u32> = even.chain([most.0]).collect();
    frames.sort_unstable();
    frames.dedup();
    frames
}

/// A fragment in a frame.
struct Sight {
    key: ShapeKey,
    distance: f64,
    deviation: f64,
}

impl Sight {
    fn new(surface: &SurfaceFrame, piece: &FragmentRange, eye: DVec3) -> Self {
        let range = surface.vertex_range(piece);
        let (rest, now) = (
            &surface.rest_positions[range.clone()],
            &surface.positions[range],
        );
        let away = now
            .iter()
            .map(|position| eye.distance_squared(DVec3::from(position.map(f64::from))));
        Sight {
            key: (piece.body, piece.fragment, shape_hash(surface, piece)),
            distance: away.fold(f64::INFINITY, f64::min).sqrt(),
            deviation: RigidTransform::fit(rest, now).largest_error(rest, now),
        }
    }
}
