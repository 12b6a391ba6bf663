//! Cracks that a body has from the start.
//!
//! An element whose centre lies in the plane of a crack, up to rounding errors, counts as on the side opposite to its
//! normal. So the position of a body does not change which bonds are cut.

use glam::DVec3;

use super::error::PackError;
use crate::geometry::polygon;
use crate::spec::{Body, Crack};

/// Distance from the plane, over the length of a bond, up to which a centre counts as in the plane.
const ROUNDING: f64 = 1e-6;

/// A flat, convex polygon.
struct Polygon {
    corners: Vec<DVec3>,
    normal: DVec3,
}

impl Polygon {
    fn of(crack: &Crack) -> Self {
        let corners: Vec<DVec3> = crack.points.iter().map(|&p| p.into()).collect();
        Polygon {
            normal: polygon::normal(&corners).normalize(),
            corners,
        }
    }

    /// Whether a line from `p` to `q` passes through it.
    fn is_crossed(&self, p: DVec3, q: DVec3) -> bool {
        let [above, below] = [p, q].map(|end| (end - self.corners[0]).dot(self.normal));
        let least = ROUNDING * p.distance(q);
        if (above > least) == (below > least) {
            return false;
        }
        let at = p + (q - p) * (above / (above - below));
        let mut edges = self.corners.iter().zip(self.corners.iter().cycle().skip(1));
        // Lines through an edge that polygons share cross both.
        edges.all(|(a, b)| (b - a).cross(at - a).dot(self.normal) >= -least * a.distance(*b))
    }
}

/// For each pair of elements of a body, whether a crack runs between them; empty if the body has no crack.
/// `centres`: of its elements, in the frame of the world, m.
///
/// # Errors
/// A crack that runs between no elements.
pub(super) fn between(
    body: &Body,
    pairs: &[[u32; 2]],
    centres: &[DVec3],
) -> Result<Vec<bool>, PackError> {
    if body.cracks.is_empty() {
        return Ok(Vec::new());
    }
    let turn = body.rotation.quaternion().inverse();
    let position = DVec3::from_array(body.position);
    let place = |k: u32| turn * (centres[k as usize] - position);
    let mut cracked = vec![false; pairs.len()];
    for (number, crack) in body.cracks.iter().enumerate() {
        let polygon = Polygon::of(crack);
        let mut is_outside = true;
        for (cracked, pair) in cracked.iter_mut().zip(pairs) {
            let [p, q] = pair.map(place);
            if polygon.is_crossed(p, q) {
                (*cracked, is_outside) = (true, false);
            }
        }
        if is_outside {
            return Err(PackError::CrackOutside {
                body: body.name.clone(),
                number,
            });
        }
    }
    Ok(cracked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_through_a_polygon_cross_it() {
        let points = vec![
            [0.0, 0.0, 1.0],
            [2.0, 0.0, 1.0],
            [2.0, 1.0, 1.0],
            [0.0, 1.0, 1.0],
        ];
        let crosses = |points: &[[f64; 3]], p: [f64; 3], q: [f64; 3]| {
            let points = points.to_vec();
            let polygon = Polygon::of(&Crack { points });
            polygon.is_crossed(p.into(), q.into())
        };
        let reversed: Vec<_> = points.iter().copied().rev().collect();
        for points in [points, reversed] {
            assert!(crosses(&points, [1.0, 0.5, 0.0], [1.0, 0.5, 3.0]));
            assert!(crosses(&points, [1.0, 0.5, 3.0], [1.0, 0.5, 0.0]));
            assert!(crosses(&points, [-1.0, 0.5, 0.0], [2.0, 0.5, 1.5]));
            // Past the border, and short of the plane.
            assert!(!crosses(&points, [1.0, 1.5, 0.0], [1.0, 1.5, 3.0]));
            assert!(!crosses(&points, [1.0, 0.5, 1.5], [1.0, 0.5, 3.0]));
            // An element in the plane is parted from those on one of its sides only.
            let sides = [0.0, 2.0].map(|z| crosses(&points, [1.0, 0.5, 1.0], [1.0, 0.5, z]));
            assert_eq!(sides.iter().filter(|&&crossed| crossed).count(), 1);
        }
    }
}
