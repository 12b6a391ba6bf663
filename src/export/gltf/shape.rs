//! The one shape that a fragment has in a clip: at rest where it is rigid, the mean of its frames where it bends.

use std::io;

use glam::{DVec3, Vec3};

use super::part::Part;
use crate::export::epochs::{Epochs, Keep};
use crate::export::format::Stiffened;
use crate::export::moment::Moment;
use crate::store::{Piece, SurfaceFrame};

/// A surface, and how it bends.
pub struct Shape {
    /// Ready for the file.
    pub part: Part,
    /// For each vertex of the piece, as the body sees it.
    vertices: Vec<Swing>,
    frames: u32,
}

/// Where a vertex is over some frames.
#[derive(Clone)]
struct Swing {
    sum: DVec3,
    low: Vec3,
    high: Vec3,
}

impl Shape {
    /// Gives it the mean shape of its frames; how far off a vertex is in any of them at most, units of the file.
    fn bend(&mut self) -> f64 {
        let frames = f64::from(self.frames);
        for (position, &source) in self.part.positions.iter_mut().zip(&self.part.sources) {
            let mean = self.vertices[source as usize].sum / frames;
            *position = mean.as_vec3().to_array();
        }
        let off = |vertex: &Swing| {
            let mean = (vertex.sum / frames).as_vec3();
            (vertex.high - mean).max(mean - vertex.low).length()
        };
        self.vertices.iter().map(off).fold(0.0, f32::max).into()
    }
}

/// Gives all that bend their mean shape and says by how much they are off.
pub fn bend(epochs: &mut Epochs<Shape>) -> Option<Stiffened> {
    let of = epochs.values().flatten().count();
    let all = epochs.values_mut().flatten();
    let bent = all.filter(|epoch| !epoch.is_rigid());
    let off: Vec<f64> = bent.map(|epoch| epoch.kept.bend()).collect();
    Some(Stiffened {
        surfaces: off.len(),
        of,
        off: off.into_iter().reduce(f64::max)?,
    })
}

/// Keeps shapes.
pub struct Shapes;

impl Keep for Shapes {
    type Kept = Shape;

    fn begin(&mut self, surface: &SurfaceFrame, piece: &Piece, centre: DVec3) -> io::Result<Shape> {
        let rest = &surface.rest_positions[surface.vertex_range(piece)];
        let nowhere = Swing {
            sum: DVec3::ZERO,
            low: Vec3::INFINITY,
            high: Vec3::NEG_INFINITY,
        };
        Ok(Shape {
            part: Part::new(surface, piece, rest, centre),
            vertices: vec![nowhere; rest.len()],
            frames: 0,
        })
    }

    fn follow(
        &mut self,
        shape: &mut Shape,
        surface: &SurfaceFrame,
        piece: &Piece,
        moment: &Moment,
    ) -> io::Result<()> {
        let places = &surface.positions[surface.vertex_range(piece)];
        for (vertex, place) in shape.vertices.iter_mut().zip(places) {
            let place = moment.local(*place);
            vertex.sum += place;
            vertex.low = vertex.low.min(place.as_vec3());
            vertex.high = vertex.high.max(place.as_vec3());
        }
        shape.frames += 1;
        Ok(())
    }
}
