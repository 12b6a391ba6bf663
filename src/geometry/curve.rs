//! Smooth curves through points, with a frame that goes along without winding about them: what tubes and ropes follow.

use glam::DVec3;

use super::mesh::TriMesh;
use super::tube::{carried, tube};

/// Pieces that the curve is drawn with from one point to the next.
const PIECES: u32 = 16;
/// Sides of a tube's skin.
const SIDES: u32 = 48;

/// A curve through points: the centripetal Catmull–Rom spline (Yuksel, Schaefer and Keyser 2011), which has
/// no loops and cusps between its points, as a chain of short straight pieces. Two points make a straight
/// line.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    places: Vec<DVec3>,
    /// Length from the start to each place, m.
    lengths: Vec<f64>,
    /// Unit vectors along and across the curve at each place.
    frames: Vec<(DVec3, DVec3)>,
}

/// Why no tube follows points.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CurveFault {
    /// No curve has fewer points.
    #[error("a tube needs two points [x, y, z] or more")]
    Few,
    /// A coordinate is no number.
    #[error("point {0} of the tube is not finite")]
    NotFinite(usize),
    /// The same point twice.
    #[error("points {0} and {1} of the tube are the same")]
    Twice(usize, usize),
    /// A bend in which the tube would fold.
    #[error(
        "near point {point} the tube bends about a radius of {bend:.3e} m, less than its own radius of {radius:.3e} m; \
         move the points or give a smaller radius"
    )]
    Sharp {
        /// Number of the point before the bend.
        point: usize,
        /// Radius of curvature, m.
        bend: f64,
        /// Of the tube, m.
        radius: f64,
    },
}

/// A point of the spline from `p[1]` (at 0) to `p[2]` (at 1), by Barry and Goldman's pyramid; neighbours are
/// not the same.
fn spline(p: [DVec3; 4], part: f64) -> DVec3 {
    let mut knots = [0.0; 4];
    for k in 1..4 {
        knots[k] = knots[k - 1] + p[k].distance(p[k - 1]).sqrt();
    }
    let t = knots[1] + part * (knots[2] - knots[1]);
    let mut level = p;
    for reach in 1..4 {
        for k in 0..4 - reach {
            // The last step runs over the middle stretch alone.
            let (from, to) = if reach == 3 { (1, 2) } else { (k, k + reach) };
            let weight = (t - knots[from]) / (knots[to] - knots[from]);
            level[k] = level[k].lerp(level[k + 1], weight);
        }
    }
    level[0]
}

impl Curve {
    /// The axis of a tube of this radius (m) through these points. Faults count points from 1.
    pub fn new(points: &[[f64; 3]], radius: f64) -> Result<Self, CurveFault> {
        let points: Vec<DVec3> = points.iter().map(|&p| DVec3::from_array(p)).collect();
        if points.len() < 2 {
            return Err(CurveFault::Few);
        }
        if let Some(at) = points.iter().position(|p| !p.is_finite()) {
            return Err(CurveFault::NotFinite(at + 1));
        }
        if let Some(at) = points.windows(2).position(|pair| pair[0] == pair[1]) {
            return Err(CurveFault::Twice(at + 1, at + 2));
        }
        let last = points.len() - 1;
        // Beyond its ends the curve goes on as on the other side of its first and its last stretch: a circle
        // as a circle, a line as a line.
        let beyond = |end: DVec3, next: DVec3, then: Option<&DVec3>| {
            let across = (next - end).normalize_or_zero();
            let then = then.copied().unwrap_or(2.0 * next - end);
            then - 2.0 * across * (then - 0.5 * (end + next)).dot(across)
        };
        let before = beyond(points[0], points[1], points.get(2));
        let nearest = last.checked_sub(2).map(|k| &points[k]);
        let after = beyond(points[last], points[last - 1], nearest);
        let mut places = vec![points[0]];
        for k in 0..last {
            let near = [
                if k == 0 { before } else { points[k - 1] },
                points[k],
                points[k + 1],
                points.get(k + 2).copied().unwrap_or(after),
            ];
            let parts = (1..=PIECES).map(|piece| f64::from(piece) / f64::from(PIECES));
            places.extend(parts.map(|part| spline(near, part)));
        }
        let mut lengths = vec![0.0];
        for pair in places.windows(2) {
            lengths.push(lengths[lengths.len() - 1] + pair[0].distance(pair[1]));
        }
        for (k, three) in (1..).zip(places.windows(3)) {
            let (a, b) = (three[1] - three[0], three[2] - three[1]);
            let bend = 0.5 * (a.length() + b.length()) / a.angle_between(b);
            if bend < radius {
                let point = k / PIECES as usize + 1;
                return Err(CurveFault::Sharp {
                    point,
                    bend,
                    radius,
                });
            }
        }
        Ok(Curve {
            frames: carried(&places),
            places,
            lengths,
        })
    }

    /// m
    pub fn length(&self) -> f64 {
        self.lengths[self.lengths.len() - 1]
    }

    /// Where a point comes to lie that stands `aside` (m) from a straight axis along y, `y` (m) behind its
    /// start, when the axis is bent along the curve; the axis goes on straight at its ends.
    pub fn bent(&self, y: f64, [x, z]: [f64; 2]) -> DVec3 {
        let next = self.lengths.partition_point(|&length| length <= y);
        let piece = next.clamp(1, self.places.len() - 1) - 1;
        let (p, q) = (self.places[piece], self.places[piece + 1]);
        let part = (y - self.lengths[piece]) / (self.lengths[piece + 1] - self.lengths[piece]);
        let mixed = part.clamp(0.0, 1.0);
        let [(a, c), (b, d)] = [self.frames[piece], self.frames[piece + 1]];
        let along = a.lerp(b, mixed).normalize_or_zero();
        let across = c.lerp(d, mixed).reject_from(along).normalize_or_zero();
        p.lerp(q, part) + x * across + z * across.cross(along)
    }

    /// Closed skin of a tube of this radius (m) about the curve, of the section of a circle of that radius.
    pub fn skin(&self, radius: f64) -> TriMesh {
        let sector = std::f64::consts::TAU / f64::from(SIDES);
        tube(&self.places, radius * (sector / sector.sin()).sqrt(), SIDES)
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, PI};

    use super::*;
    use crate::geometry::check;

    /// Points of a quarter circle of radius 1 about the origin.
    fn quarter(count: u32) -> Vec<[f64; 3]> {
        let point = |k: u32| {
            let (sin, cos) = (FRAC_PI_2 * f64::from(k) / f64::from(count - 1)).sin_cos();
            [cos, sin, 0.3]
        };
        (0..count).map(point).collect()
    }

    #[test]
    fn a_curve_goes_smoothly_through_its_points() {
        let points = quarter(7);
        let curve = Curve::new(&points, 0.1).unwrap();
        assert!((curve.length() / FRAC_PI_2 - 1.0).abs() < 1e-3);
        for p in &points {
            let off = curve
                .places
                .iter()
                .map(|q| q.distance(DVec3::from_array(*p)));
            assert!(off.fold(1.0, f64::min) < 1e-12);
        }
        for k in 0..=100 {
            let y = curve.length() * f64::from(k) / 100.0;
            let axis = curve.bent(y, [0.0; 2]);
            assert!((axis.truncate().length() - 1.0).abs() < 1e-3, "{axis}");
            // The frame does not wind: what points out of the plane at the start does so all along.
            let up = [[1.0, 0.0], [0.0, 1.0]].map(|aside| (curve.bent(y, aside) - axis).z);
            let first = [[1.0, 0.0], [0.0, 1.0]]
                .map(|aside| (curve.bent(0.0, aside) - curve.bent(0.0, [0.0; 2])).z);
            assert!((up[0] - first[0]).abs() < 1e-3 && (up[1] - first[1]).abs() < 1e-3);
        }
    }

    #[test]
    fn a_straight_curve_moves_points_rigidly_with_y_along_it() {
        let curve = Curve::new(&[[1.0, 2.0, 3.0], [1.0, 2.0, 5.0]], 0.1).unwrap();
        let at = |x: f64, y: f64, z: f64| curve.bent(y, [x, z]);
        let [x, y, z] = [at(1.0, 0.0, 0.0), at(0.0, 1.0, 0.0), at(0.0, 0.0, 1.0)]
            .map(|p| p - at(0.0, 0.0, 0.0));
        assert!((y - DVec3::Z).length() < 1e-12);
        assert!((x.cross(y) - z).length() < 1e-12, "right-handed still");
        assert!((at(0.3, -2.0, 0.4) - (at(0.3, 0.0, 0.4) - 2.0 * DVec3::Z)).length() < 1e-12);
    }

    #[test]
    fn skins_of_tubes_are_closed_and_of_the_right_volume() {
        let curve = Curve::new(&quarter(7), 0.2).unwrap();
        let mut skin = curve.skin(0.2);
        let before = skin.clone();
        check::require_solid(&mut skin).unwrap();
        assert_eq!(skin, before, "already wound outward");
        // Pappus: the section times the way of its middle.
        let volume = PI * 0.04 * curve.length();
        assert!((skin.volume() / volume - 1.0).abs() < 2e-3);
    }

    #[test]
    fn what_makes_no_tube_is_refused() {
        let fault = |points: &[[f64; 3]]| Curve::new(points, 0.1).unwrap_err();
        let (a, b, c) = ([0.0; 3], [1.0, 0.0, 0.0], [1.0, 0.02, 0.0]);
        assert_eq!(fault(&[a]), CurveFault::Few);
        assert_eq!(fault(&[a, b, b]), CurveFault::Twice(2, 3));
        assert_eq!(fault(&[a, [f64::NAN; 3]]), CurveFault::NotFinite(2));
        let CurveFault::Sharp { point, bend, .. } = fault(&[a, b, c, [0.0, 0.02, 0.0]]) else {
            panic!("it folds");
        };
        assert!(bend < 0.1 && (1..=4).contains(&point), "{point} {bend}");
    }
}
