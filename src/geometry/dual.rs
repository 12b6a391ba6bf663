//! Convex cells stored as their dual: each corner is a triangle of the three planes that meet there (Ray,
//! Sokolov, Lefebvre, Lévy: Meshless Voronoi on the GPU, 2018). A cut by a plane touches few corners and
//! allocates nothing; it is several times faster than [`Convex::cut`].

use glam::DVec3;

use super::convex::{Convex, Face};

/// A corner closer to a plane than this fraction of the cell's size lies on it.
const COPLANAR: f64 = 1e-12;
/// Marks a missing plane or corner.
const NONE: u32 = u32::MAX;

/// A bounded convex cell about the origin. A corner where four planes meet is stored as several triangles at
/// one position.
#[derive(Clone, Debug, Default)]
pub struct DualCell {
    /// Tag of each plane, which says what lies beyond it; some planes have no face left.
    tags: Vec<u32>,
    corners: Vec<DVec3>,
    /// The three planes of each corner, counterclockwise seen from outside.
    planes: Vec<[u32; 3]>,
    /// For each corner, the corner at the other end of the edge between its planes k and k + 1.
    next: Vec<[u32; 3]>,
    scratch: CutScratch,
}

#[derive(Clone, Debug, Default)]
struct CutScratch {
    heights: Vec<f64>,
    /// Indices of the corners that are cut off.
    removed: Vec<u32>,
    /// New corners: first and second plane, the kept corner at the inner end of their edge, the index of the
    /// edge at that corner, position.
    fresh: Vec<(u32, u32, u32, usize, DVec3)>,
    /// For each plane, the index in `fresh` of the new corner whose first plane it is.
    fresh_by_plane: Vec<u32>,
    /// Whether the face of each plane has been visited.
    walked: Vec<bool>,
}

/// Result of a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutResult {
    /// Nothing lay beyond the plane: the cell is unchanged.
    Unchanged,
    /// Something was cut off.
    Trimmed,
    /// Because of rounding the rim of the cut is not a simple ring: the cell is invalid.
    Invalid,
}

impl DualCell {
    /// Resets the cell to a box; `tags` are those of its faces −x, +x, −y, +y, −z, +z.
    pub fn reset(&mut self, low: DVec3, high: DVec3, tags: [u32; 6]) {
        self.tags.clear();
        self.tags.extend(tags);
        self.corners.clear();
        self.planes.clear();
        self.next.clear();
        for k in 0..8u32 {
            let up = [k & 1, k >> 1 & 1, k >> 2 & 1];
            let pick = |axis: usize| if up[axis] == 1 { high } else { low }[axis];
            self.corners.push(DVec3::new(pick(0), pick(1), pick(2)));
            let [x, y, z] = [up[0], 2 + up[1], 4 + up[2]];
            // The corner at the other end of the edge of two planes differs along the third axis.
            let [along_x, along_y, along_z] = [k ^ 1, k ^ 2, k ^ 4];
            if up.iter().sum::<u32>() % 2 == 1 {
                self.planes.push([x, y, z]);
                self.next.push([along_z, along_x, along_y]);
            } else {
                self.planes.push([x, z, y]);
                self.next.push([along_y, along_x, along_z]);
            }
        }
    }

    /// Squared distance from the origin to the farthest corner, m².
    pub fn reach_squared(&self) -> f64 {
        let squares = self.corners.iter().map(|corner| corner.length_squared());
        squares.fold(0.0, f64::max)
    }

    /// Keeps the part with x·normal ≤ offset. `normal` is a unit vector; the new face gets `tag`.
    pub fn cut(&mut self, normal: DVec3, offset: f64, tag: u32) -> CutResult {
        let scratch = &mut self.scratch;
        scratch.heights.clear();
        let heights = self
            .corners
            .iter()
            .map(|corner| corner.dot(normal) - offset);
        scratch.heights.extend(heights);
        let highest = scratch
            .heights
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        if highest <= 0.0 {
            return CutResult::Unchanged;
        }
        let on = COPLANAR * self.reach_squared().sqrt();
        if highest <= on {
            return CutResult::Unchanged;
        }
        let scratch = &mut self.scratch;
        scratch.removed.clear();
        scratch.fresh.clear();
        scratch.fresh_by_plane.clear();
        scratch.fresh_by_plane.resize(self.tags.len(), NONE);
        for (t, &high) in (0u32..).zip(&scratch.heights) {
            if high <= on {
                continue;
            }
            scratch.removed.push(t);
            for k in 0..3 {
                let other = self.next[t as usize][k];
                let low = scratch.heights[other as usize];
                if low > on {
                    continue;
                }
                let (a, b) = (
                    self.planes[t as usize][k],
                    self.planes[t as usize][(k + 1) % 3],
                );
                let inner = self.corners[other as usize];
                let at = if low >= -on {
                    inner
                } else {
                    inner + (self.corners[t as usize] - inner) * (low / (low - high))
                };
                // The index of this edge at the other corner.
                let back = self.planes[other as usize].iter().position(|p| *p == b);
                let Some(back) = back else {
                    return CutResult::Invalid;
                };
                if scratch.fresh_by_plane[a as usize] != NONE {
                    return CutResult::Invalid;
                }
                scratch.fresh_by_plane[a as usize] = scratch.fresh.len() as u32;
                scratch.fresh.push((a, b, other, back, at));
            }
        }
        self.join(tag)
    }

    /// Replaces the removed corners by the new ones, joined in a ring about the new plane.
    fn join(&mut self, tag: u32) -> CutResult {
        let scratch = &mut self.scratch;
        let (count, freed) = (scratch.fresh.len(), scratch.removed.len());
        if count == 0 {
            // The whole cell lies beyond the plane.
            self.corners.clear();
            self.planes.clear();
            self.next.clear();
            return CutResult::Trimmed;
        }
        let mut at = 0;
        for step in 1..=count {
            at = scratch.fresh_by_plane[scratch.fresh[at].1 as usize] as usize;
            if at >= count || (at == 0) != (step == count) {
                return CutResult::Invalid;
            }
        }
        let plane = self.tags.len() as u32;
        self.tags.push(tag);
        for _ in freed..count {
            scratch.removed.push(self.corners.len() as u32);
            self.corners.push(DVec3::ZERO);
            self.planes.push([NONE; 3]);
            self.next.push([NONE; 3]);
        }
        for (&(a, b, other, back, position), &slot) in scratch.fresh.iter().zip(&scratch.removed) {
            self.corners[slot as usize] = position;
            self.planes[slot as usize] = [a, b, plane];
            self.next[slot as usize][0] = other;
            self.next[other as usize][back] = slot;
            // The new corner whose first plane is b lies at the other end of the edge of b and the new plane.
            let after = scratch.removed[scratch.fresh_by_plane[b as usize] as usize];
            self.next[slot as usize][1] = after;
            self.next[after as usize][2] = slot;
        }
        // If fewer corners were added than removed, the last corners fill the free slots.
        for at in (count..freed).rev() {
            let place = self.scratch.removed[at] as usize;
            self.corners.swap_remove(place);
            self.planes.swap_remove(place);
            self.next.swap_remove(place);
            let before = self.corners.len() as u32;
            if place < self.corners.len() {
                for other in self.next[place] {
                    let ends = self.next[other as usize].iter_mut();
                    ends.filter(|end| **end == before)
                        .for_each(|end| *end = place as u32);
                }
            }
        }
        CutResult::Trimmed
    }

    /// Calls `visit` with the tag and the corners of each face, counterclockwise seen from outside. `rim` is
    /// a scratch buffer.
    pub fn each_face(&mut self, rim: &mut Vec<DVec3>, mut visit: impl FnMut(u32, &[DVec3])) {
        self.scratch.walked.clear();
        self.scratch.walked.resize(self.tags.len(), false);
        for start in 0..self.planes.len() {
            for plane in self.planes[start] {
                if std::mem::replace(&mut self.scratch.walked[plane as usize], true) {
                    continue;
                }
                rim.clear();
                let mut at = start;
                loop {
                    let corner = self.corners[at];
                    if rim.last() != Some(&corner) {
                        rim.push(corner);
                    }
                    let place = self.planes[at].iter().position(|p| *p == plane);
                    let Some(place) = place else { break };
                    at = self.next[at][(place + 2) % 3] as usize;
                    if at == start || rim.len() > self.corners.len() {
                        break;
                    }
                }
                if rim.len() > 1 && rim.first() == rim.last() {
                    rim.pop();
                }
                if rim.len() >= 3 {
                    visit(self.tags[plane as usize], rim);
                }
            }
        }
    }

    /// The cell as a polyhedron, shifted by `origin`.
    pub fn convex(&mut self, origin: DVec3) -> Convex {
        let (mut faces, mut corners) = (Vec::new(), Vec::new());
        self.each_face(&mut corners, |tag, corners| {
            let corners = corners.iter().map(|corner| origin + *corner).collect();
            faces.push(Face { tag, corners });
        });
        Convex { faces }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volume(solid: &Convex) -> f64 {
        solid.mass().map_or(0.0, |mass| mass.volume)
    }

    /// The same planes cut the same solid out of a box in both representations.
    #[test]
    fn cutting_the_dual_is_cutting_the_polyhedron() {
        let mut dual = DualCell::default();
        let mut state = 7u64;
        let mut draw = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as f64 / f64::from(1u32 << 31)
        };
        for _ in 0..200 {
            let tags = [90, 91, 92, 93, 94, 95];
            let mut solid = Convex::cuboid(-DVec3::ONE, DVec3::ONE, tags);
            dual.reset(-DVec3::ONE, DVec3::ONE, tags);
            for tag in 0..20 {
                let normal = DVec3::new(draw(), draw(), draw()) - 0.5;
                let (normal, offset) = (normal.normalize(), 0.3 + draw());
                let cut = dual.cut(normal, offset, tag);
                assert_eq!(cut == CutResult::Trimmed, solid.cut(normal, offset, tag));
                assert_ne!(cut, CutResult::Invalid);
            }
            let same = dual.convex(DVec3::ZERO);
            assert!((volume(&same) - volume(&solid)).abs() < 1e-13);
            let tags = |solid: &Convex| {
                let mut tags: Vec<u32> = solid.faces.iter().map(|face| face.tag).collect();
                tags.sort_unstable();
                tags
            };
            assert_eq!(tags(&same), tags(&solid));
            let reach = solid.reach_squared(DVec3::ZERO);
            assert!((dual.reach_squared() - reach).abs() < 1e-12);
        }
    }

    #[test]
    fn planes_through_corners_and_planes_below_all_are_cuts_too() {
        let mut dual = DualCell::default();
        dual.reset(-DVec3::ONE, DVec3::ONE, [0, 1, 2, 3, 4, 5]);
        assert!((volume(&dual.convex(DVec3::X)) - 8.0).abs() < 1e-14);
        assert_eq!(dual.cut(DVec3::X, 1.0, 9), CutResult::Unchanged);
        let diagonal = DVec3::new(1.0, 1.0, 0.0).normalize();
        assert_eq!(dual.cut(diagonal, 0.0, 9), CutResult::Trimmed);
        let wedge = dual.convex(DVec3::ZERO);
        assert_eq!(wedge.faces.len(), 5);
        assert!((volume(&wedge) - 4.0).abs() < 1e-14);
        assert_eq!(dual.cut(DVec3::X, -2.0, 9), CutResult::Trimmed);
        assert!(dual.convex(DVec3::ZERO).faces.is_empty());
    }
}
