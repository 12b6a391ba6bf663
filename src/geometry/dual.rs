//! Convex cells as their dual: each corner is a triangle of the three planes that meet there (Ray, Sokolov,
//! Lefebvre, Lévy: Meshless Voronoi on the GPU, 2018). Cutting one by a plane touches few corners and
//! allocates nothing, several times faster than [`Convex::cut`].

use glam::DVec3;

use super::convex::{Convex, Face};

/// A corner nearer to a plane than this part of the cell's size lies on it.
const ON: f64 = 1e-12;
/// No plane, no corner.
const NONE: u32 = u32::MAX;

/// A bounded convex cell about the origin. Corners that four planes meet in are several triangles in one place.
#[derive(Clone, Debug, Default)]
pub struct DualCell {
    /// What lies beyond each plane; some planes have no face left.
    tags: Vec<u32>,
    corners: Vec<DVec3>,
    /// Planes of each corner, counterclockwise from outside.
    planes: Vec<[u32; 3]>,
    /// The corner at the other end of the edge between planes k and k + 1 of each corner.
    next: Vec<[u32; 3]>,
    scratch: Scratch,
}

#[derive(Clone, Debug, Default)]
struct Scratch {
    heights: Vec<f64>,
    /// Corners that are cut off.
    removed: Vec<u32>,
    /// New corners: first and second plane, the kept corner beyond their edge and which of its edges that is, position.
    fresh: Vec<(u32, u32, u32, usize, DVec3)>,
    /// Place among `fresh` by first plane.
    starting: Vec<u32>,
    /// Planes whose face has been walked round.
    walked: Vec<bool>,
}

/// What a cut did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Nothing lay beyond the plane.
    Nothing,
    /// Something was cut off.
    Some,
    /// Rounding made the rim of the cut no simple ring: the cell is spoilt.
    Broken,
}

impl DualCell {
    /// Becomes a box; `tags` of its faces are for −x, +x, −y, +y, −z, +z.
    pub fn begin(&mut self, low: DVec3, high: DVec3, tags: [u32; 6]) {
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
            // The corner beyond the edge of two planes differs along the third axis.
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

    /// Square of the distance from the origin to the farthest corner.
    pub fn reach_squared(&self) -> f64 {
        let squares = self.corners.iter().map(|corner| corner.length_squared());
        squares.fold(0.0, f64::max)
    }

    /// Keeps what lies where x·normal ≤ offset; `normal` is a unit vector, and the new face has the tag.
    pub fn cut(&mut self, normal: DVec3, offset: f64, tag: u32) -> Cut {
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
            return Cut::Nothing;
        }
        let on = ON * self.reach_squared().sqrt();
        if highest <= on {
            return Cut::Nothing;
        }
        let scratch = &mut self.scratch;
        scratch.removed.clear();
        scratch.fresh.clear();
        scratch.starting.clear();
        scratch.starting.resize(self.tags.len(), NONE);
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
                // Its edge of the same planes.
                let back = self.planes[other as usize].iter().position(|p| *p == b);
                let Some(back) = back else {
                    return Cut::Broken;
                };
                if scratch.starting[a as usize] != NONE {
                    return Cut::Broken;
                }
                scratch.starting[a as usize] = scratch.fresh.len() as u32;
                scratch.fresh.push((a, b, other, back, at));
            }
        }
        self.join(tag)
    }

    /// Puts the new corners where the removed ones were, joined in a ring about the new plane.
    fn join(&mut self, tag: u32) -> Cut {
        let scratch = &mut self.scratch;
        let (count, room) = (scratch.fresh.len(), scratch.removed.len());
        if count == 0 {
            // All of it is beyond.
            self.corners.clear();
            self.planes.clear();
            self.next.clear();
            return Cut::Some;
        }
        let mut at = 0;
        for step in 1..=count {
            at = scratch.starting[scratch.fresh[at].1 as usize] as usize;
            if at >= count || (at == 0) != (step == count) {
                return Cut::Broken;
            }
        }
        let plane = self.tags.len() as u32;
        self.tags.push(tag);
        for _ in room..count {
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
            // The one that begins with b lies beyond the edge of b and the new plane.
            let after = scratch.removed[scratch.starting[b as usize] as usize];
            self.next[slot as usize][1] = after;
            self.next[after as usize][2] = slot;
        }
        // Faces that went whole leave places: the last corners take them.
        for at in (count..room).rev() {
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
        Cut::Some
    }

    /// Calls `visit` with the tag and the corners of each face, counterclockwise from outside.
    pub fn each_face(&mut self, loop_of: &mut Vec<DVec3>, mut visit: impl FnMut(u32, &[DVec3])) {
        self.scratch.walked.clear();
        self.scratch.walked.resize(self.tags.len(), false);
        for start in 0..self.planes.len() {
            for plane in self.planes[start] {
                if std::mem::replace(&mut self.scratch.walked[plane as usize], true) {
                    continue;
                }
                loop_of.clear();
                let mut at = start;
                loop {
                    let corner = self.corners[at];
                    if loop_of.last() != Some(&corner) {
                        loop_of.push(corner);
                    }
                    let place = self.planes[at].iter().position(|p| *p == plane);
                    let Some(place) = place else { break };
                    at = self.next[at][(place + 2) % 3] as usize;
                    if at == start || loop_of.len() > self.corners.len() {
                        break;
                    }
                }
                if loop_of.len() > 1 && loop_of.first() == loop_of.last() {
                    loop_of.pop();
                }
                if loop_of.len() >= 3 {
                    visit(self.tags[plane as usize], loop_of);
                }
            }
        }
    }

    /// The cell as a polyhedron about `origin`.
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

    /// The same planes cut the same solid out of a box either way.
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
            dual.begin(-DVec3::ONE, DVec3::ONE, tags);
            for tag in 0..20 {
                let normal = DVec3::new(draw(), draw(), draw()) - 0.5;
                let (normal, offset) = (normal.normalize(), 0.3 + draw());
                let cut = dual.cut(normal, offset, tag);
                assert_eq!(cut == Cut::Some, solid.cut(normal, offset, tag));
                assert_ne!(cut, Cut::Broken);
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
        dual.begin(-DVec3::ONE, DVec3::ONE, [0, 1, 2, 3, 4, 5]);
        assert!((volume(&dual.convex(DVec3::X)) - 8.0).abs() < 1e-14);
        assert_eq!(dual.cut(DVec3::X, 1.0, 9), Cut::Nothing);
        let diagonal = DVec3::new(1.0, 1.0, 0.0).normalize();
        assert_eq!(dual.cut(diagonal, 0.0, 9), Cut::Some);
        let wedge = dual.convex(DVec3::ZERO);
        assert_eq!(wedge.faces.len(), 5);
        assert!((volume(&wedge) - 4.0).abs() < 1e-14);
        assert_eq!(dual.cut(DVec3::X, -2.0, 9), Cut::Some);
        assert!(dual.convex(DVec3::ZERO).faces.is_empty());
    }
}
