//! Spatial hash of points in cubic cells: the time of a neighbour search does not depend on how far the
//! points have scattered.

use glam::{DVec3, I64Vec3};

/// Points sorted into hashed cells; a cell's points keep their order, so queries are deterministic.
#[derive(Clone, Debug)]
pub struct HashGrid {
    cell: f64,
    start: Vec<u32>,
    points: Vec<u32>,
}

impl HashGrid {
    /// Sorts `count` points into cells of edge `cell` (m). `position` returns the position of a point by its
    /// index.
    pub fn new(count: usize, cell: f64, position: impl Fn(usize) -> DVec3) -> Self {
        let buckets = (2 * count).next_power_of_two().max(64);
        let bucket_of: Vec<u32> = (0..count)
            .map(|k| bucket(coordinates(position(k), cell), buckets))
            .collect();
        let mut start = vec![0u32; buckets + 1];
        for &b in &bucket_of {
            start[b as usize + 1] += 1;
        }
        for b in 0..buckets {
            start[b + 1] += start[b];
        }
        let mut next = start.clone();
        let mut points = vec![0u32; count];
        for (k, &b) in bucket_of.iter().enumerate() {
            points[next[b as usize] as usize] = k as u32;
            next[b as usize] += 1;
        }
        HashGrid {
            cell,
            start,
            points,
        }
    }

    /// Number of buckets: the points of a cell are all in one of them.
    pub fn buckets(&self) -> usize {
        self.start.len() - 1
    }

    /// Points of a bucket, ascending.
    #[inline]
    pub fn bucket(&self, at: usize) -> &[u32] {
        &self.points[self.start[at] as usize..self.start[at + 1] as usize]
    }

    /// Calls `visit` once with every point in the 27 cells about `p`, and occasionally with one farther away,
    /// so callers must check distances.
    #[inline]
    pub fn around(&self, p: DVec3, visit: impl FnMut(u32)) {
        self.around_where(p, |_| true, visit);
    }

    /// As [`around`](Self::around), without the points of buckets for which `chosen` is false.
    #[inline]
    pub fn around_where(
        &self,
        p: DVec3,
        chosen: impl Fn(usize) -> bool,
        mut visit: impl FnMut(u32),
    ) {
        let centre = coordinates(p, self.cell);
        let mut seen = [u32::MAX; 27];
        let mut count = 0;
        for dz in -1..=1 {
            for dy in -1..=1 {
                for dx in -1..=1 {
                    // Points too far away for cell indices are all in the last cell.
                    let cell = centre.wrapping_add(I64Vec3::new(dx, dy, dz));
                    let b = bucket(cell, self.start.len() - 1);
                    // Two of the cells may share a bucket.
                    if seen[..count].contains(&b) {
                        continue;
                    }
                    seen[count] = b;
                    count += 1;
                    if chosen(b as usize) {
                        self.bucket(b as usize).iter().for_each(|&k| visit(k));
                    }
                }
            }
        }
    }
}

#[inline]
fn coordinates(p: DVec3, cell: f64) -> I64Vec3 {
    (p / cell).floor().as_i64vec3()
}

#[inline]
fn bucket(c: I64Vec3, buckets: usize) -> u32 {
    let mixed = (c.x as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ (c.y as u64).wrapping_mul(0xC2B2_AE3D_27D4_EB4F)
        ^ (c.z as u64).wrapping_mul(0x1656_67B1_9E37_79F9);
    ((mixed ^ (mixed >> 29)) & (buckets as u64 - 1)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_at_the_end_of_the_world_are_found() {
        let places = [
            DVec3::splat(f64::MAX),
            DVec3::NAN,
            DVec3::NEG_INFINITY,
            DVec3::X,
        ];
        let grid = HashGrid::new(places.len(), 1e-3, |k| places[k]);
        for (k, place) in (0..).zip(places) {
            let mut found = Vec::new();
            grid.around(place, |other| found.push(other));
            assert!(found.contains(&k), "{place}: {found:?}");
        }
    }
}
