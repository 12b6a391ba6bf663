//! Area, centre and second moments of a plane polygon.

use glam::{DMat3, DVec3};

/// A convex polygon in a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Section {
    /// Area, m².
    pub area: f64,
    /// Centre of area, m.
    pub centre: DVec3,
    /// Unit normal; the corners run counterclockwise about it.
    pub normal: DVec3,
    /// Unit axes s and t in the plane; right-handed with the normal, n × s = t.
    pub axes: [DVec3; 2],
    /// Second moments ∫ (x·s)² and ∫ (x·t)² about the centre, m⁴, the larger one first.
    pub second: [f64; 2],
}

impl Section {
    /// Section of at least three corners in order; `None` if they enclose no area.
    pub fn of(corners: &[DVec3]) -> Option<Self> {
        let first = *corners.first()?;
        let fans = || {
            let pairs = corners.windows(2).skip(1);
            pairs.map(move |pair| [pair[0] - first, pair[1] - first])
        };
        let twice: DVec3 = fans().map(|[a, b]| a.cross(b)).sum();
        let normal = twice.try_normalize()?;
        let area_of = |[a, b]: [DVec3; 2]| 0.5 * a.cross(b).dot(normal);
        let area = 0.5 * twice.length();
        let arm = fans().map(|fan| (fan[0] + fan[1]) * (area_of(fan) / 3.0));
        let arm = arm.sum::<DVec3>() / area;
        let square = |v: DVec3| DMat3::from_cols(v * v.x, v * v.y, v * v.z);
        // ∫ x xᵀ over a triangle with corners 0, a, b: A/12 (a aᵀ + b bᵀ + (a + b)(a + b)ᵀ).
        let moment = fans().fold(square(arm) * -area, |sum, [a, b]| {
            let all = square(a) + square(b) + square(a + b);
            sum + all * (area_of([a, b]) / 12.0)
        });
        let s = normal.any_orthonormal_vector();
        let t = normal.cross(s);
        let (ss, tt, st) = (s.dot(moment * s), t.dot(moment * t), s.dot(moment * t));
        let angle = 0.5 * (2.0 * st).atan2(ss - tt);
        let (sine, cosine) = angle.sin_cos();
        let (middle, half) = (0.5 * (ss + tt), (0.5 * (ss - tt)).hypot(st));
        let along = s * cosine + t * sine;
        Some(Section {
            area,
            centre: first + arm,
            normal,
            axes: [along, normal.cross(along)],
            second: [middle + half, (middle - half).max(0.0)],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rectangle_has_its_moments_however_it_lies() {
        let turn = glam::DQuat::from_scaled_axis(DVec3::new(0.4, -1.2, 0.7));
        let (wide, high) = (3.0, 0.5);
        let at = DVec3::new(10.0, -4.0, 2.0);
        let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        let corners =
            corners.map(|(x, y)| at + turn * DVec3::new(0.5 * wide * x, 0.5 * high * y, 0.0));
        let found = Section::of(&corners).expect("an area");
        assert!((found.area - 1.5).abs() < 1e-14);
        assert!(found.centre.distance(at) < 1e-14);
        assert!(found.normal.distance(turn * DVec3::Z) < 1e-14);
        assert!((found.axes[0].dot(turn * DVec3::X).abs() - 1.0).abs() < 1e-14);
        assert!(found.normal.cross(found.axes[0]).distance(found.axes[1]) < 1e-14);
        let expected = [high * wide.powi(3) / 12.0, wide * high.powi(3) / 12.0];
        for (found, expected) in found.second.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-13, "{found} {expected}");
        }
    }

    #[test]
    fn a_triangle_has_its_moments_and_a_line_has_none() {
        // A right triangle of sides a, b: ∫ x² = b a³/36 about the centre, ∫ xy = −a² b²/72.
        let (a, b) = (2.0, 1.0);
        let corners = [DVec3::ZERO, DVec3::X * a, DVec3::Y * b];
        let found = Section::of(&corners).expect("an area");
        assert!(found.centre.distance(DVec3::new(a / 3.0, b / 3.0, 0.0)) < 1e-15);
        let (xx, yy, xy) = (
            b * a * a * a / 36.0,
            a * b * b * b / 36.0,
            -a * a * b * b / 72.0,
        );
        let [s, t] = found.second;
        assert!((s + t - xx - yy).abs() < 1e-15 && (s * t - (xx * yy - xy * xy)).abs() < 1e-15);
        assert_eq!(Section::of(&[DVec3::ZERO, DVec3::X, DVec3::X * 2.0]), None);
    }
}
