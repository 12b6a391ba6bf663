//! Attributes of triangle corners without duplicates.
//!
//! A vertex on a seam, or where skin and crack face meet, has several texture coordinates or colours. Formats with
//! attributes per vertex split the vertex there; others list the attributes separately and index them per corner.

use crate::math::hash::QuickMap;

/// Distinct triangle corners with `N` numbers each, in order of first use.
#[derive(Debug, PartialEq)]
pub struct DistinctCorners<const N: usize> {
    /// Vertex and numbers of each distinct corner.
    pub distinct: Vec<(u32, [f32; N])>,
    /// Indices in `distinct` of each triangle's corners.
    pub numbers: Vec<[u32; 3]>,
}

impl<const N: usize> DistinctCorners<N> {
    /// Merges corners with the same vertex and the same numbers, such as texture coordinates.
    pub fn of_vertices(
        triangles: impl Iterator<Item = [u32; 3]>,
        values: &[[[f32; N]; 3]],
    ) -> Self {
        let mut distinct = Vec::new();
        let mut known: QuickMap<(u32, [u32; N]), u32> = QuickMap::default();
        let numbers = triangles.zip(values).map(|(triangle, values)| {
            [0, 1, 2].map(|m| {
                // + 0.0 turns -0 into 0.
                let (vertex, value) = (triangle[m], values[m].map(|x| x + 0.0));
                let key = (vertex, value.map(f32::to_bits));
                *known.entry(key).or_insert_with(|| {
                    distinct.push((vertex, value));
                    distinct.len() as u32 - 1
                })
            })
        });
        let numbers = numbers.collect();
        DistinctCorners { distinct, numbers }
    }

    /// Merges corners with the same numbers.
    pub fn of_values(values: &[[[f32; N]; 3]]) -> Self {
        DistinctCorners::of_vertices(values.iter().map(|_| [0; 3]), values)
    }

    /// Numbers of the distinct corners.
    pub fn values(&self) -> Vec<[f32; N]> {
        self.distinct.iter().map(|(_, value)| *value).collect()
    }
}
