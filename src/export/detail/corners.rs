//! Attributes of triangle corners as one row of numbers, to find seams: corners of a vertex whose rows differ.
//!
//! Crack faces have a texture that is projected along the axis which each triangle faces most, so their texture
//! coordinates jump from triangle to triangle. These jumps are no seams: rows of crack faces have none, and reduced
//! triangles are [projected again](super::projection).

use crate::geometry::corners::DistinctCorners;
use crate::store::{FragmentRange, SurfaceFrame};

/// Numbers of a corner: texture coordinates, colour, number of the material, whether it is on a crack face.
pub type CornerRow = [f32; 7];

/// Numbers of a corner that change along a surface: texture coordinates and colour.
pub const SMOOTH_NUMBERS: usize = 5;

/// Distinct corners of a fragment.
pub fn distinct(surface: &SurfaceFrame, piece: &FragmentRange) -> DistinctCorners<7> {
    let range = surface.triangle_range(piece);
    let attributes = surface.attributes_of(piece);
    let rows: Vec<[CornerRow; 3]> = range
        .clone()
        .map(|t| {
            let own = attributes.get(t - range.start);
            let material = surface
                .materials
                .get(t)
                .map_or(0.0, |m| material_number(*m));
            [0, 1, 2].map(|m| {
                let [mut u, mut v, r, g, b] = own.map_or([0.0; SMOOTH_NUMBERS], |own| own[m]);
                if surface.inside[t] != 0 {
                    (u, v) = (0.0, 0.0);
                }
                [u, v, r, g, b, material, f32::from(surface.inside[t])]
            })
        })
        .collect();
    DistinctCorners::of_vertices(surface.local_triangles(piece), &rows)
}

/// Number of a material in a row: 0 for none.
fn material_number(material: u32) -> f32 {
    material.wrapping_add(1) as f32
}

/// Texture coordinates of a corner.
pub fn uv(row: &CornerRow) -> [f32; 2] {
    [row[0], row[1]]
}

/// Colour of a corner.
pub fn colour(row: &CornerRow) -> [f32; 3] {
    [row[2], row[3], row[4]]
}

/// Material of a corner's triangle.
pub fn material(row: &CornerRow) -> u32 {
    (row[5] as u32).wrapping_sub(1)
}

/// Whether a corner's triangle is on a crack face.
pub fn is_inside(row: &CornerRow) -> bool {
    row[6] != 0.0
}
