//! The constant shape of a fragment in an animated glTF: at rest if it is rigid, the mean over its frames if
//! it bends.

use std::io;

use glam::{DVec3, Vec3};

use super::mesh::FragmentMesh;
use crate::export::epochs::{EpochRecorder, Epochs};
use crate::export::format::Stiffened;
use crate::export::rigid_state::RigidState;
use crate::store::{FragmentRange, SurfaceFrame};

/// Mesh of a fragment, and sums over frames for its mean shape.
pub struct MeanShape {
    /// Mesh for the file.
    pub fragment_mesh: FragmentMesh,
    /// Positions of each vertex of the piece over the frames, in the body frame.
    vertices: Vec<VertexRange>,
    /// Number of frames recorded.
    frames: u32,
}

/// Sum and bounds of the positions of a vertex over several frames.
#[derive(Clone)]
struct VertexRange {
    sum: DVec3,
    low: Vec3,
    high: Vec3,
}

impl MeanShape {
    /// Sets the mesh to the mean shape over its frames; returns the largest deviation of a vertex in any
    /// frame, units of the file.
    fn average(&mut self) -> f64 {
        let frames = f64::from(self.frames);
        for (position, &source) in self
            .fragment_mesh
            .positions
            .iter_mut()
            .zip(&self.fragment_mesh.sources)
        {
            let mean = self.vertices[source as usize].sum / frames;
            *position = mean.as_vec3().to_array();
        }
        let deviation = |vertex: &VertexRange| {
            let mean = (vertex.sum / frames).as_vec3();
            (vertex.high - mean).max(mean - vertex.low).length()
        };
        self.vertices
            .iter()
            .map(deviation)
            .fold(0.0, f32::max)
            .into()
    }
}

/// Sets all fragments that bend to their mean shapes and summarizes their deviation; `None` if none bends.
pub fn average_bending(epochs: &mut Epochs<MeanShape>) -> Option<Stiffened> {
    let total = epochs.values().flatten().count();
    let all = epochs.values_mut().flatten();
    let bent = all.filter(|epoch| !epoch.is_rigid());
    let deviation: Vec<f64> = bent.map(|epoch| epoch.record.average()).collect();
    Some(Stiffened {
        surfaces: deviation.len(),
        total,
        largest_error: deviation.into_iter().reduce(f64::max)?,
    })
}

/// Records the mesh and mean shape of each epoch.
pub struct ShapeRecorder;

impl EpochRecorder for ShapeRecorder {
    type Record = MeanShape;

    fn begin(
        &mut self,
        surface: &SurfaceFrame,
        piece: &FragmentRange,
        centre: DVec3,
    ) -> io::Result<MeanShape> {
        let rest = &surface.rest_positions[surface.vertex_range(piece)];
        let empty = VertexRange {
            sum: DVec3::ZERO,
            low: Vec3::INFINITY,
            high: Vec3::NEG_INFINITY,
        };
        Ok(MeanShape {
            fragment_mesh: FragmentMesh::new(surface, piece, rest, centre),
            vertices: vec![empty; rest.len()],
            frames: 0,
        })
    }

    fn add_frame(
        &mut self,
        shape: &mut MeanShape,
        surface: &SurfaceFrame,
        piece: &FragmentRange,
        state: &RigidState,
    ) -> io::Result<()> {
        let places = &surface.positions[surface.vertex_range(piece)];
        for (vertex, position) in shape.vertices.iter_mut().zip(places) {
            let position = state.body_position(*position);
            vertex.sum += position;
            vertex.low = vertex.low.min(position.as_vec3());
            vertex.high = vertex.high.max(position.as_vec3());
        }
        shape.frames += 1;
        Ok(())
    }
}
