//! Solids of revolution about y from a profile of radii and heights.

use std::f64::consts::TAU;

use glam::{DVec2, DVec3};

use super::exact::turn;
use super::mesh::TriMesh;

/// Sides of the prism where none are asked for.
pub const SEGMENTS: u32 = 96;

/// Outline of a solid of revolution in the half-plane of radii and heights, from the bottom to the top of the axis, m.
///
/// It crosses neither itself nor the axis, so that what it encloses with the axis is one solid, perhaps with
/// a hollow that opens upwards or downwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// (radius, y), m. The first and the last lie on the axis.
    points: Vec<DVec2>,
}

/// Why points are no profile.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProfileFault {
    /// No solid has fewer points.
    #[error("a profile needs two points [radius, y] or more")]
    Few,
    /// A coordinate is no number, or a radius lies beyond the axis.
    #[error("point {0} of the profile: its radius must be zero or more and both must be finite")]
    Beyond(usize),
    /// Not the first or last point lies on the axis.
    #[error("point {0} of the profile lies on the axis; only the first and the last may")]
    OnAxis(usize),
    /// The same point twice.
    #[error("points {0} and {1} of the profile are the same")]
    Twice(usize, usize),
    /// The end does not lie above the start.
    #[error(
        "a profile runs from bottom to top: its last point, at y = {last} m, is not above its first, at {first} m"
    )]
    Down {
        /// y of the first point, m.
        first: f64,
        /// y of the last point, m.
        last: f64,
    },
    /// Two stretches meet.
    #[error("the profile crosses itself: after point {0} and after point {1}")]
    Crossed(usize, usize),
}

impl Profile {
    /// A profile through these points (radius, y), closed by discs where its ends lie off the axis. Faults
    /// count points from 1.
    pub fn new(points: &[[f64; 2]]) -> Result<Self, ProfileFault> {
        let (&[_, first], &[_, last]) = match points {
            [first, .., last] => (first, last),
            _ => return Err(ProfileFault::Few),
        };
        let strange = |p: &[f64; 2]| !(p[0] >= 0.0 && p[0].is_finite() && p[1].is_finite());
        if let Some(at) = points.iter().position(strange) {
            return Err(ProfileFault::Beyond(at + 1));
        }
        if let Some(at) = points.windows(2).position(|pair| pair[0] == pair[1]) {
            return Err(ProfileFault::Twice(at + 1, at + 2));
        }
        let within = &points[1..points.len() - 1];
        if let Some(at) = within.iter().position(|p| p[0] == 0.0) {
            return Err(ProfileFault::OnAxis(at + 2));
        }
        if last <= first {
            return Err(ProfileFault::Down { first, last });
        }
        let ends = [DVec2::new(0.0, first), DVec2::new(0.0, last)];
        let mut all: Vec<DVec2> = points.iter().map(|&p| DVec2::from_array(p)).collect();
        let mut added = 0;
        if all[0].x > 0.0 {
            all.insert(0, ends[0]);
            added = 1;
        }
        if all[all.len() - 1].x > 0.0 {
            all.push(ends[1]);
        }
        // Two points of the axis alone enclose nothing.
        if all.len() < 3 {
            return Err(ProfileFault::Few);
        }
        let profile = Profile { points: all };
        match profile.crossing() {
            Some((i, j)) => Err(ProfileFault::Crossed((i + 1 - added).max(1), j + 1 - added)),
            None => Ok(profile),
        }
    }

    /// The first two stretches that meet but in the point they share.
    fn crossing(&self) -> Option<(usize, usize)> {
        let stretches: Vec<[DVec2; 2]> = self.points.windows(2).map(|p| [p[0], p[1]]).collect();
        (0..stretches.len()).find_map(|i| {
            let next = stretches
                .get(i + 1)
                .filter(|next| folds(stretches[i], **next));
            if next.is_some() {
                return Some((i, i + 1));
            }
            let meets = |j: &usize| meet(stretches[i], stretches[*j]);
            (i + 2..stretches.len()).find(meets).map(|j| (i, j))
        })
    }

    /// The profile moved inwards by `depth` (m), corners kept sharp; none where it then crosses itself or the axis.
    pub fn inset(&self, depth: f64) -> Option<Self> {
        let inward = |a: DVec2, b: DVec2| (b - a).perp().normalize_or_zero();
        let last = self.points.len() - 1;
        let moved = (0..=last).map(|k| {
            let p = self.points[k];
            // The mirror image beyond the axis continues the profile.
            let before = match k {
                0 => DVec2::new(-self.points[1].x, self.points[1].y),
                _ => self.points[k - 1],
            };
            let after = match k == last {
                true => DVec2::new(-self.points[k - 1].x, self.points[k - 1].y),
                false => self.points[k + 1],
            };
            let (m, n) = (inward(before, p), inward(p, after));
            let sum = m + n;
            let q = p + sum * (2.0 * depth / sum.length_squared());
            [if k == 0 || k == last { 0.0 } else { q.x }, q.y]
        });
        let moved: Vec<[f64; 2]> = moved.collect();
        let inset = Profile::new(&moved).ok()?;
        // A stretch that points back has vanished and stands inside out.
        let same_way = |(a, b): (&[DVec2], &[DVec2])| (a[1] - a[0]).dot(b[1] - b[0]) > 0.0;
        let pairs = self.points.windows(2).zip(inset.points.windows(2));
        (inset.points.len() == self.points.len() && pairs.into_iter().all(same_way))
            .then_some(inset)
    }

    /// Closed mesh of the solid, wound outward: a prism of so many sides and of the solid's volume.
    pub fn skin(&self, segments: u32) -> TriMesh {
        let sector = TAU / f64::from(segments);
        let wider = (sector / sector.sin()).sqrt();
        let last = self.points.len() - 1;
        let mut mesh = TriMesh::default();
        let ends = [self.points[0], self.points[last]];
        mesh.positions
            .extend(ends.map(|p| DVec3::new(0.0, p.y, 0.0)));
        for p in &self.points[1..last] {
            mesh.positions.extend((0..segments).map(|side| {
                let (sin, cos) = (sector * f64::from(side)).sin_cos();
                DVec3::new(wider * p.x * cos, p.y, wider * p.x * sin)
            }));
        }
        let rings = last as u32 - 1;
        let at = |ring: u32, side: u32| 2 + ring * segments + side % segments;
        for side in 0..segments {
            let next = side + 1;
            mesh.triangles.push([0, at(0, side), at(0, next)]);
            for ring in 1..rings {
                let [a, na] = [at(ring - 1, side), at(ring - 1, next)];
                let [b, nb] = [at(ring, side), at(ring, next)];
                mesh.triangles.extend([[a, b, nb], [a, nb, na]]);
            }
            let [a, na] = [at(rings - 1, side), at(rings - 1, next)];
            mesh.triangles.push([1, na, a]);
        }
        mesh
    }
}

/// Whether the second of two stretches in a row runs back over the first.
fn folds([a, b]: [DVec2; 2], [_, c]: [DVec2; 2]) -> bool {
    turn(a, b, c) == 0.0 && (b - a).dot(c - b) < 0.0
}

/// Whether two stretches share a point.
fn meet([a, b]: [DVec2; 2], [c, d]: [DVec2; 2]) -> bool {
    let apart = |p: DVec2, q: DVec2, r: DVec2, s: DVec2| {
        (p.max(q).cmplt(r.min(s)) | p.min(q).cmpgt(r.max(s))).any()
    };
    let sides = |p, q, r, s| turn(p, q, r).signum() * turn(p, q, s).signum();
    // signum of zero is one: a point on the other's line is looked at by itself.
    let touches = [turn(a, b, c), turn(a, b, d), turn(c, d, a), turn(c, d, b)].contains(&0.0);
    !apart(a, b, c, d) && (touches || (sides(a, b, c, d) < 0.0 && sides(c, d, a, b) < 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::check;
    use std::f64::consts::PI;

    #[test]
    fn skins_are_closed_outward_and_of_the_right_volume() {
        let frustum = |r: f64, s: f64, h: f64| PI / 3.0 * h * (r * r + r * s + s * s);
        let hourglass = [[0.0, 0.0], [1.0, 0.0], [0.2, 1.0], [1.0, 2.0], [0.0, 2.0]];
        // Walls of 0.1 about a hollow that opens upwards.
        let bowl = [[1.0, 0.0], [1.0, 1.0], [0.9, 1.0], [0.9, 0.1], [0.0, 0.1]];
        let cases = [
            (&hourglass[..], 2.0 * frustum(1.0, 0.2, 1.0)),
            (&hourglass[1..4], 2.0 * frustum(1.0, 0.2, 1.0)),
            (&bowl[..], PI * (1.0 - 0.81 * 0.9)),
        ];
        for (points, volume) in cases {
            let mesh = Profile::new(points).unwrap().skin(12);
            let mut checked = mesh.clone();
            check::require_solid(&mut checked).unwrap();
            assert_eq!(checked, mesh, "already wound outward");
            assert!((mesh.volume() / volume - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn insets_keep_their_distance() {
        let can = Profile::new(&[[2.0, 0.0], [2.0, 5.0]]).unwrap();
        let inner = can.inset(0.5).unwrap();
        assert_eq!(inner, Profile::new(&[[1.5, 0.5], [1.5, 4.5]]).unwrap());
        // A cone of half angle 45°: its side moves by √2 along the axis.
        let cone = Profile::new(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
        let inner = cone.inset(0.1).unwrap();
        let top = inner.points[2];
        assert!((top - DVec2::new(0.0, 1.0 - 0.1 * 2.0_f64.sqrt())).length() < 1e-12);
        assert_eq!(can.inset(2.1), None);
        assert_eq!(cone.inset(0.5), None);
    }

    #[test]
    fn faults_are_told_by_point() {
        use ProfileFault::*;
        let fault = |points: &[[f64; 2]]| Profile::new(points).unwrap_err();
        assert_eq!(fault(&[[1.0, 0.0]]), Few);
        assert_eq!(fault(&[[0.0, 0.0], [0.0, 1.0]]), Few);
        assert_eq!(fault(&[[1.0, 0.0], [-1.0, 1.0]]), Beyond(2));
        assert_eq!(fault(&[[1.0, 0.0], [0.0, 1.0], [1.0, 2.0]]), OnAxis(2));
        assert_eq!(fault(&[[1.0, 0.0], [1.0, 0.0], [1.0, 2.0]]), Twice(1, 2));
        let down = [[1.0, 2.0], [1.0, 0.0]];
        assert!(matches!(fault(&down), Down { .. }));
        // The third stretch, up from (1, 0), cuts the first.
        let loops = [[1.0, 0.0], [3.0, 1.0], [3.0, 0.0], [2.0, 3.0]];
        assert_eq!(fault(&loops), Crossed(1, 3));
        let back = [[1.0, 0.0], [1.0, 2.0], [1.0, 1.0]];
        assert_eq!(fault(&back), Crossed(1, 2));
    }
}
