//! Texture coordinates of triangle corners without duplicates.
//!
//! A vertex on a seam, or where skin and crack face meet, has several texture coordinates. Formats with
//! texture coordinates per vertex split the vertex there; others list the coordinates separately and index
//! them per corner.

use super::mesh::CornerUv;
use crate::math::hash::QuickMap;

/// Distinct triangle corners, in order of first use.
#[derive(Debug, Default, PartialEq)]
pub struct DistinctCorners {
    /// Vertex and texture coordinates of each distinct corner.
    pub distinct: Vec<(u32, [f32; 2])>,
    /// Indices in `distinct` of each triangle's corners.
    pub numbers: Vec<[u32; 3]>,
}

impl DistinctCorners {
    /// Merges corners with the same vertex and the same texture coordinates.
    pub fn of_vertices(triangles: impl Iterator<Item = [u32; 3]>, uv: &[CornerUv]) -> Self {
        let mut corners = DistinctCorners::default();
        let mut known: QuickMap<(u32, (u32, u32)), u32> = QuickMap::default();
        let numbers = triangles.zip(uv).map(|(triangle, uv)| {
            [0, 1, 2].map(|m| {
                // + 0.0 turns -0 into 0.
                let (vertex, uv) = (triangle[m], uv[m].map(|x| x + 0.0));
                let key = (vertex, uv.map(f32::to_bits).into());
                *known.entry(key).or_insert_with(|| {
                    corners.distinct.push((vertex, uv));
                    corners.distinct.len() as u32 - 1
                })
            })
        });
        corners.numbers = numbers.collect();
        corners
    }

    /// Merges corners with the same texture coordinates.
    pub fn of_texture(uv: &[CornerUv]) -> Self {
        DistinctCorners::of_vertices(uv.iter().map(|_| [0; 3]), uv)
    }

    /// Texture coordinates of the distinct corners.
    pub fn uv(&self) -> Vec<[f32; 2]> {
        self.distinct.iter().map(|(_, uv)| *uv).collect()
    }
}
