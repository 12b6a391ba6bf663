//! Cracks that a body has from the start.

use glam::DVec3;

use crate::spec::{Body, Crack};

/// A flat, convex polygon.
struct Polygon {
    corners: Vec<DVec3>,
    normal: DVec3,
}

impl Polygon {
    fn of(crack: &Crack) -> Self {
        let corners: Vec<DVec3> = crack.points.iter().map(|&p| p.into()).collect();
        let edges = corners.iter().zip(corners.iter().cycle().skip(1));
        let normal = edges.map(|(a, b)| a.cross(*b)).sum();
        Polygon { corners, normal }
    }

    /// Whether a line from `p` to `q` passes through it. A point of the plane lies below it.
    fn is_crossed(&self, p: DVec3, q: DVec3) -> bool {
        let [above, below] = [p, q].map(|end| (end - self.corners[0]).dot(self.normal));
        if (above > 0.0) == (below > 0.0) {
            return false;
        }
        let at = p + (q - p) * (above / (above - below));
        let mut edges = self.corners.iter().zip(self.corners.iter().cycle().skip(1));
        edges.all(|(a, b)| (b - a).cross(at - a).dot(self.normal) >= 0.0)
    }
}

/// For each pair of elements of a body, whether a crack runs between them; empty if the body has no crack.
/// `centres`: of its elements, in the frame of the world, m.
pub(super) fn between(body: &Body, pairs: &[[u32; 2]], centres: &[DVec3]) -> Vec<bool> {
    if body.cracks.is_empty() {
        return Vec::new();
    }
    let polygons: Vec<Polygon> = body.cracks.iter().map(Polygon::of).collect();
    let turn = body.rotation.quaternion().inverse();
    let position = DVec3::from_array(body.position);
    let place = |k: u32| turn * (centres[k as usize] - position);
    let is_crossed = |pair: &[u32; 2]| {
        let [p, q] = pair.map(place);
        polygons.iter().any(|one| one.is_crossed(p, q))
    };
    pairs.iter().map(is_crossed).collect()
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
