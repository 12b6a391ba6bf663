//! Where cracks cross edges of the grid and the skin.

use glam::DVec3;

use super::field::Cracks;

/// Minimum distance of a crossing from the ends of its segment or stretch, as a fraction of the length.
const INSET: f64 = 0.1;

/// Point where a crack crosses a grid edge or a chain of the skin.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    /// Position, m.
    pub point: DVec3,
    /// A point of the crack's tangent plane, m.
    pub plane: DVec3,
    /// Unit normal of the crack up to sign, or zero if unknown.
    pub normal: DVec3,
    /// Owners on both sides: of half 0 and of half 1.
    pub owners: [u32; 2],
}

/// Point where the crack crosses the stretch between `ends` (m), which are owned by `owners`.
pub fn crossing_on_stretch(cracks: &Cracks, ends: [DVec3; 2], owners: [u32; 2]) -> Crossing {
    let middle = (ends[0] + ends[1]) / 2.0;
    let length = ends[0].distance(ends[1]);
    let direction = (ends[1] - ends[0]).normalize_or_zero();
    let (plane, normal) = cracks.nearest_on_sheet(middle, owners);
    let step = plane - middle;
    let slope = normal.dot(direction);
    // Along the stretch the height above the sheet rises: the slope is positive unless the field turns over.
    let along = if slope > 0.2 && length > 0.0 {
        (step.dot(normal) / (slope * length)).clamp(INSET - 0.5, 0.5 - INSET)
    } else {
        0.0
    };
    Crossing {
        point: middle + direction * (along * length),
        plane: middle + step.clamp_length_max(length),
        normal,
        owners,
    }
}

/// Segment of a chain that the crack crosses, and the point of crossing, m.
pub fn locate_on_chain(cracks: &Cracks, points: &[DVec3], owners: [u32; 2]) -> (usize, DVec3) {
    let heights: Vec<f64> = points.iter().map(|&x| cracks.height(x, owners)).collect();
    let last = points.len() - 2;
    let beyond = heights
        .iter()
        .position(|&h| h > 0.0)
        .unwrap_or(points.len());
    let segment = beyond.saturating_sub(1).min(last);
    (
        segment,
        locate_on_segment(
            [points[segment], points[segment + 1]],
            [heights[segment], heights[segment + 1]],
        ),
    )
}

/// Point where a height that rises along a segment passes zero, not too close to either end.
pub fn locate_on_segment(ends: [DVec3; 2], heights: [f64; 2]) -> DVec3 {
    let rise = heights[1] - heights[0];
    let part = if rise > 0.0 { -heights[0] / rise } else { 0.5 };
    ends[0].lerp(ends[1], part.clamp(INSET, 1.0 - INSET))
}
