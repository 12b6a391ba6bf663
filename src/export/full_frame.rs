//! Reads the surfaces of a frame, with all their triangles.

use super::error::ExportError;
use super::space::FileCoordinates;
use crate::store::{Store, SurfaceFrame};

/// Reads the surfaces of a frame in the coordinates of the file; NaN or infinite coordinates are an error.
pub fn read(
    store: &Store,
    space: FileCoordinates,
    frame: u32,
) -> Result<SurfaceFrame, ExportError> {
    let mut surface = SurfaceFrame::read(store, frame)?;
    space.transform_surface(&mut surface);
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
