//! Convex polyhedra, cut by planes.

use glam::DVec3;

use super::mass::Mass;

/// A face: its corners counterclockwise from outside, and what it lies towards.
#[derive(Clone, Debug, PartialEq)]
pub struct Face {
    /// Given with the plane that made it.
    pub tag: u32,
    /// At least three.
    pub corners: Vec<DVec3>,
}

/// A bounded convex polyhedron; without faces it is empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Convex {
    /// In order of the planes that made them.
    pub faces: Vec<Face>,
}

/// A corner nearer to a plane than this part of the polyhedron's size lies on it.
const ON: f64 = 1e-12;

impl Convex {
    /// A box; `tags` of its faces are for −x, +x, −y, +y, −z, +z.
    pub fn cuboid(low: DVec3, high: DVec3, tags: [u32; 6]) -> Self {
        let corner = |x: usize, y: usize, z: usize| {
            let pick = |at: usize, k: usize| if at == 0 { low[k] } else { high[k] };
            DVec3::new(pick(x, 0), pick(y, 1), pick(z, 2))
        };
        let loops = [
            [[0, 0, 0], [0, 0, 1], [0, 1, 1], [0, 1, 0]],
            [[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 0, 1]],
            [[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]],
            [[0, 1, 0], [0, 1, 1], [1, 1, 1], [1, 1, 0]],
            [[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0]],
            [[0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]],
        ];
        let face = |(corners, tag): ([[usize; 3]; 4], u32)| Face {
            tag,
            corners: corners.map(|[x, y, z]| corner(x, y, z)).to_vec(),
        };
        Convex {
            faces: loops.into_iter().zip(tags).map(face).collect(),
        }
    }

    /// Volume, centre and moments of inertia of density 1; nothing where it is flat or empty.
    pub fn mass(&self) -> Option<Mass> {
        let first = *self.faces.first()?.corners.first()?;
        let triangles = self.faces.iter().flat_map(|face| {
            let pairs = face.corners.windows(2).skip(1);
            pairs.map(|pair| [face.corners[0], pair[0], pair[1]])
        });
        Mass::within(first, triangles)
    }

    /// Square of the distance from a point to the farthest corner.
    pub fn reach_squared(&self, from: DVec3) -> f64 {
        let corners = self.faces.iter().flat_map(|face| &face.corners);
        corners
            .map(|corner| corner.distance_squared(from))
            .fold(0.0, f64::max)
    }

    /// Keeps what lies where x·normal ≤ offset; `normal` is a unit vector, and the new face has the tag.
    /// Whether anything was cut off.
    pub fn cut(&mut self, normal: DVec3, offset: f64, tag: u32) -> bool {
        let beyond = |corner: &DVec3| corner.dot(normal) - offset;
        let corners = || self.faces.iter().flat_map(|face| &face.corners);
        let highest = corners().map(beyond).fold(f64::NEG_INFINITY, f64::max);
        if highest <= 0.0 {
            return false;
        }
        let size = corners().map(|corner| corner.abs().max_element());
        let on = ON * size.fold(offset.abs(), f64::max);
        if highest <= on {
            return false;
        }
        // Where edges cross the plane, each from both of its faces: in on one, out on the other.
        let mut rim: Vec<[DVec3; 2]> = Vec::new();
        for face in &mut self.faces {
            let count = face.corners.len();
            let (mut kept, mut crossings) = (Vec::with_capacity(count + 1), Vec::new());
            for at in 0..count {
                let (a, b) = (face.corners[at], face.corners[(at + 1) % count]);
                let (height_a, height_b) = (beyond(&a), beyond(&b));
                if height_a <= on {
                    kept.push(a);
                }
                if (height_a <= on) == (height_b <= on) {
                    continue;
                }
                // The same two numbers in the same order from both faces of the edge: the same bits.
                let inside_first = height_a <= on;
                let (inner, outer) = if inside_first { (a, b) } else { (b, a) };
                let (low, high) = (beyond(&inner), beyond(&outer));
                let crossing = if low >= -on {
                    inner
                } else {
                    inner + (outer - inner) * (low / (low - high))
                };
                crossings.push((inside_first, crossing));
                if crossing != inner {
                    kept.push(crossing);
                }
            }
            face.corners = kept;
            let leaves = crossings.iter().find(|(leaves, _)| *leaves);
            let enters = crossings.iter().find(|(leaves, _)| !*leaves);
            if let (Some((_, from)), Some((_, to))) = (leaves, enters)
                && from != to
            {
                // On the new face the edge runs the other way.
                rim.push([*to, *from]);
            }
        }
        self.faces.retain(|face| face.corners.len() >= 3);
        let corners = joined(rim);
        if corners.len() >= 3 {
            self.faces.push(Face { tag, corners });
        }
        if self.faces.len() < 4 {
            self.faces.clear();
        }
        true
    }
}

/// The corners of a closed rim of edges, in order.
fn joined(mut edges: Vec<[DVec3; 2]>) -> Vec<DVec3> {
    let mut corners = Vec::with_capacity(edges.len());
    let Some([first, mut end]) = edges.pop() else {
        return corners;
    };
    corners.push(first);
    while end != first {
        corners.push(end);
        let Some(next) = edges.iter().position(|[from, _]| *from == end) else {
            // A rim that does not close encloses nothing.
            return Vec::new();
        };
        [_, end] = edges.swap_remove(next);
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::section::Section;

    /// By pyramids over the faces.
    fn volume(solid: &Convex) -> f64 {
        let pyramid = |face: &Face| {
            let section = Section::of(&face.corners);
            section.map_or(0.0, |s| s.area * s.normal.dot(s.centre) / 3.0)
        };
        solid.faces.iter().map(pyramid).sum()
    }

    /// Every edge belongs to two faces, which go through it in opposite directions.
    fn closed(solid: &Convex) {
        let edges: Vec<[DVec3; 2]> = solid
            .faces
            .iter()
            .flat_map(|face| {
                let count = face.corners.len();
                (0..count).map(move |k| [face.corners[k], face.corners[(k + 1) % count]])
            })
            .collect();
        for [a, b] in &edges {
            let back = edges.iter().filter(|edge| **edge == [*b, *a]).count();
            assert_eq!(back, 1, "{solid:?}");
        }
    }

    fn cube() -> Convex {
        Convex::cuboid(-DVec3::ONE, DVec3::ONE, [0, 1, 2, 3, 4, 5])
    }

    #[test]
    fn a_corner_cut_off_leaves_a_triangle() {
        let mut solid = cube();
        closed(&solid);
        assert!((volume(&solid) - 8.0).abs() < 1e-14);
        let normal = DVec3::ONE.normalize();
        assert!(solid.cut(normal, normal.dot(DVec3::new(1.0, 1.0, 0.0)), 9));
        closed(&solid);
        assert!((volume(&solid) - (8.0 - 1.0 / 6.0)).abs() < 1e-14);
        let last = solid.faces.last().expect("a face");
        assert_eq!((last.tag, last.corners.len(), solid.faces.len()), (9, 3, 7));
    }

    #[test]
    fn planes_that_touch_cut_nothing_and_planes_below_leave_nothing() {
        let mut solid = cube();
        assert!(!solid.cut(DVec3::X, 1.0, 9));
        assert!(!solid.cut(DVec3::ONE.normalize(), 3f64.sqrt(), 9));
        assert_eq!(solid, cube());
        assert!(solid.cut(DVec3::X, -2.0, 9));
        assert!(solid.faces.is_empty());
    }

    #[test]
    fn a_plane_through_edges_and_corners_leaves_a_closed_solid() {
        // Through two opposite edges: a prism of half the volume.
        let mut solid = cube();
        assert!(solid.cut(DVec3::new(1.0, 1.0, 0.0).normalize(), 0.0, 9));
        closed(&solid);
        assert!((volume(&solid) - 4.0).abs() < 1e-14);
        assert_eq!(solid.faces.len(), 5);
        // Through three corners: a tetrahedron less.
        let mut solid = cube();
        let normal = DVec3::ONE.normalize();
        assert!(solid.cut(normal, normal.dot(DVec3::new(1.0, 1.0, -1.0)), 9));
        closed(&solid);
        assert!((volume(&solid) - (8.0 - 8.0 / 6.0)).abs() < 1e-14);
    }

    #[test]
    fn random_cuts_keep_a_solid_closed() {
        let mut state = 7u64;
        let mut number = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as f64 / f64::from(1u32 << 31) - 0.5
        };
        for _ in 0..200 {
            let mut solid = cube();
            for tag in 10..30 {
                let normal = DVec3::new(number(), number(), number()).normalize();
                let before = volume(&solid);
                let cut = solid.cut(normal, 0.5 + number().abs(), tag);
                closed(&solid);
                // What is cut off a corner may be less than rounding shows.
                assert!(cut || volume(&solid) == before);
                assert!(volume(&solid) <= before + 1e-14);
            }
            assert!(solid.reach_squared(DVec3::ZERO) <= 3.0 + 1e-12);
        }
    }
}
