//! Bodies must start apart: contact forces of deep overlaps would throw them across the scene.

use glam::DVec3;

use super::body::PackedBody;
use super::error::PackError;
use crate::geometry::hash_grid::HashGrid;
use crate::spec::Body;

/// Distance over the sum of radii below which elements of two bodies count as overlapping.
const APART: f64 = 0.9;
/// Part of a cell's radius by which a point of another body may be in it.
const CLOSE: f64 = 0.05;
/// Part of its radius that the centre of a ball is away from a cell at least.
const HALF: f64 = 0.5;

/// Refuses bodies that overlap, naming the first two and their deepest pair of elements.
pub(super) fn refuse(bodies: &[Body], packed: &[PackedBody]) -> Result<(), PackError> {
    for (second, b) in packed.iter().enumerate() {
        for (first, a) in packed[..second].iter().enumerate() {
            let found = match (&a.cells, &b.cells) {
                (None, None) => deepest(a, b),
                _ => within_cells(a, b),
            };
            if let Some((depth, near)) = found {
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

/// The same where one of them is of cells, whose shapes balls do not tell: the deepest point of one in a cell
/// of the other. Points are the centres and those of the free faces.
fn within_cells(a: &PackedBody, b: &PackedBody) -> Option<(f64, DVec3)> {
    let both = [into_cells(a, b), into_cells(b, a)];
    let found = both.into_iter().flatten();
    found.max_by(|a, b| a.0.total_cmp(&b.0))
}

/// Depth and place of the point of `a` that is deepest in a cell of `b`, over what stacked bodies may have by
/// rounding; of elements that are balls so deep that half of one is in it.
fn into_cells(a: &PackedBody, b: &PackedBody) -> Option<(f64, DVec3)> {
    let cells = b.cells.as_ref()?;
    let mut points: Vec<(DVec3, f64)> = match &a.cells {
        None => a
            .centres
            .iter()
            .copied()
            .zip(a.radii.iter().copied())
            .collect(),
        Some(own) => {
            let faces = own.free.iter().map(|one| (one.section.centre, 0.0));
            a.centres.iter().map(|p| (*p, 0.0)).chain(faces).collect()
        }
    };
    // Planes of each cell's faces.
    let mut planes: Vec<Vec<(DVec3, DVec3)>> = vec![Vec::new(); b.centres.len()];
    for one in &cells.between {
        let [i, j] = one.cells.map(|cell| cell as usize);
        planes[i].push((one.section.centre, one.section.normal));
        planes[j].push((one.section.centre, -one.section.normal));
    }
    for one in &cells.free {
        planes[one.cell as usize].push((one.section.centre, one.section.normal));
    }
    let reach = planes.iter().zip(&b.centres).map(|(planes, centre)| {
        let reaches = planes.iter().map(|(p, _)| p.distance(*centre));
        // Corners lie farther than the middles of faces.
        2.0 * reaches.fold(0.0, f64::max)
    });
    let reach = reach.fold(0.0, f64::max);
    let (low, high) = bounds(&b.centres);
    points.retain(|(p, _)| (p.cmpge(low - reach) & p.cmple(high + reach)).all());
    if points.is_empty() {
        return None;
    }
    let grid = HashGrid::new(b.centres.len(), reach, |i| b.centres[i]);
    let mut found: Option<(f64, DVec3)> = None;
    for (p, r) in points {
        grid.around(p, |i| {
            let i = i as usize;
            let inside = planes[i].iter().map(|(q, normal)| normal.dot(*q - p));
            let inside = inside.fold(f64::INFINITY, f64::min);
            let depth = if r > 0.0 {
                inside + HALF * r
            } else {
                inside - CLOSE * b.radii[i]
            };
            if depth > found.map_or(0.0, |(depth, _)| depth) {
                found = Some((depth, p));
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
