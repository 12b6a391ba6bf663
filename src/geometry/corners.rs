//! Texture coordinates of triangle corners, each once.
//!
//! A vertex on a seam, or where skin and crack face meet, has several. Formats with texture coordinates of
//! vertices split it there; others list them apart and number the corners.

use super::mesh::CornerUv;
use crate::math::hash::QuickMap;

/// Corners that are alike are one, in order of first use.
#[derive(Debug, Default, PartialEq)]
pub struct Corners {
    /// Vertex and texture coordinates of each.
    pub distinct: Vec<(u32, [f32; 2])>,
    /// Each triangle's corners by number.
    pub numbers: Vec<[u32; 3]>,
}

impl Corners {
    /// Corners with the same vertex and the same texture coordinates are alike.
    pub fn of_vertices(triangles: impl Iterator<Item = [u32; 3]>, uv: &[CornerUv]) -> Self {
        let mut corners = Corners::default();
        let mut known: QuickMap<(u32, (u32, u32)), u32> = QuickMap::default();
        let numbers = triangles.zip(uv).map(|(triangle, uv)| {
            [0, 1, 2].map(|m| {
                // + 0.0 makes -0 plain.
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

    /// Corners with the same texture coordinates are alike.
    pub fn of_texture(uv: &[CornerUv]) -> Self {
        Corners::of_vertices(uv.iter().map(|_| [0; 3]), uv)
    }

    /// Texture coordinates of each.
    pub fn uv(&self) -> Vec<[f32; 2]> {
        self.distinct.iter().map(|(_, uv)| *uv).collect()
    }
}
