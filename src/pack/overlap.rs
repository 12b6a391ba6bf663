//! Bodies must start apart: contact forces of deep overlaps would throw them across the scene.

use glam::DVec3;

use super::body::PackedBody;
use super::error::PackError;
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
    let largest = |body: &PackedBody| body.radii.iter().copied().fold(0.0, f64::max);
    let touch = largest(a) + largest(b);
    let ((a_low, a_high), (b_low, b_high)) = (bounds(&a.centres), bounds(&b.centres));
    let (low, high) = (a_low.max(b_low) - touch, a_high.min(b_high) + touch);
    let within = |body: &PackedBody| -> Vec<(DVec3, f64)> {
        let is_in = |p: DVec3| (p.cmpge(low) & p.cmple(high)).all();
        let all = body.centres.iter().copied().zip(body.radii.iter().copied());
        all.filter(|(p, _)| is_in(*p)).collect()
    };
    let (a_near, b_near) = (within(a), within(b));
    if a_near.is_empty() || b_near.is_empty() {
        return None;
    }
    let grid = HashGrid::new(a_near.len(), touch, |i| a_near[i].0);
    let (mut closest, mut found) = (APART, None);
    for (q, r) in &b_near {
        grid.around(*q, |i| {
            let (p, other) = a_near[i as usize];
            let (distance, touch) = (p.distance(*q), r + other);
            if distance < closest * touch {
                closest = distance / touch;
                found = Some((touch - distance, (p + *q) / 2.0));
            }
        });
    }
    found
}

fn bounds(points: &[DVec3]) -> (DVec3, DVec3) {
    let empty = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    points
        .iter()
        .fold(empty, |(low, high), p| (low.min(*p), high.max(*p)))
}
