//! Attributes of triangle corners without duplicates.
//!
//! A vertex on a seam, or where skin and crack face meet, has several texture coordinates or colours. Formats with
//! attributes per vertex split the vertex there; others list the attributes separately and index them per corner.

use glam::DVec3;

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

/// Mean of the numbers at a triangle's corners with these weights.
pub fn blend<const N: usize>(values: [[f32; N]; 3], weights: [f64; 3]) -> [f32; N] {
    std::array::from_fn(|k| {
        let parts = (0..3).map(|m| weights[m] * f64::from(values[m][k]));
        parts.sum::<f64>() as f32
    })
}

/// Barycentric coordinates of a point in a triangle; in spite of rounding all of them lie between 0 and 1.
pub fn weights(x: DVec3, corners: [DVec3; 3]) -> [f64; 3] {
    let [a, b, c] = corners;
    let normal = (b - a).cross(c - a);
    let parts = [0, 1, 2].map(|m| {
        let [p, q] = [1, 2].map(|step| corners[(m + step) % 3] - x);
        p.cross(q).dot(normal).max(0.0)
    });
    let sum: f64 = parts.iter().sum();
    if sum > 0.0 {
        return parts.map(|part| part / sum);
    }
    // A triangle without area is treated as its longest edge.
    let length = |m: usize| corners[m].distance_squared(corners[(m + 1) % 3]);
    let m = (0..3)
        .max_by(|&m, &n| length(m).total_cmp(&length(n)))
        .unwrap_or(0);
    let (from, to) = (corners[m], corners[(m + 1) % 3]);
    let part = (x - from).dot(to - from) / length(m).max(f64::MIN_POSITIVE);
    let mut weights = [0.0; 3];
    weights[(m + 1) % 3] = part.clamp(0.0, 1.0);
    weights[m] = 1.0 - weights[(m + 1) % 3];
    weights
}
