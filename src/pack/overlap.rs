//! Bodies must start apart: contact forces of deep overlaps would throw them across the scene.

use glam::DVec3;

use super::{PackError, PackedBody};
use crate::geometry::hash_grid::HashGrid;
use crate::spec::Body;

/// Distance over the sum of radii below which elements of two bodies count as overlapping.
const APART: f64 = 0.9;

/// Refuses bodies that overlap, naming the first two and their deepest pair of elements.
pub(super) fn refuse(bodies: &[Body], packed: &[PackedBody]) -> Result<(), PackError> {
    for (second, b) in packed.iter().enumerate() {
        for (first, a) in packed[..second].iter().enumerate() {
            if let Some((depth, near)) = deepest(a, b) {
                return Err(PackError::Overlap {
                    first: bodies[first].name.clone(),
                    second: bodies[second].name.clone(),
                    depth,
                    near,
                });
            }
        }
    }
    Ok(())
}

/// Depth and middle of the deepest overlapping pair.
fn deepest(a: &PackedBody, b: &PackedBody) -> Option<(f64, DVec3)> {
    let touch = a.radius + b.radius;
    let ((a_low, a_high), (b_low, b_high)) = (bounds(&a.centres), bounds(&b.centres));
    let (low, high) = (a_low.max(b_low) - touch, a_high.min(b_high) + touch);
    let within = |centres: &[DVec3]| -> Vec<DVec3> {
        let is_in = |p: &&DVec3| (p.cmpge(low) & p.cmple(high)).all();
        centres.iter().filter(is_in).copied().collect()
    };
    let (a_near, b_near) = (within(&a.centres), within(&b.centres));
    if a_near.is_empty() || b_near.is_empty() {
        return None;
    }
    let grid = HashGrid::new(a_near.len(), touch, |i| a_near[i]);
    let mut closest = APART * touch;
    let mut place = None;
    for q in &b_near {
        grid.around(*q, |i| {
            let p = a_near[i as usize];
            let distance = p.distance(*q);
            if distance < closest {
                closest = distance;
                place = Some((p + *q) / 2.0);
            }
        });
    }
    place.map(|near| (touch - closest, near))
}

fn bounds(points: &[DVec3]) -> (DVec3, DVec3) {
    let empty = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    points
        .iter()
        .fold(empty, |(low, high), p| (low.min(*p), high.max(*p)))
}
