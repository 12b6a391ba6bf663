//! The part of a body's surface that lies in a region, and tractions on it.

use glam::{DMat3, DVec3};

use crate::bem::points::place;
use crate::bem::traction::SIDE_MIDPOINTS;
use crate::bem::{Surface, Traction};
use crate::geometry::mass::point_inertia;
use crate::math::eigen;
use crate::spec::Region;

/// Ratio of the determinant of a patch's second moments to the cube of their trace, below which the patch is
/// a line or a point and carries no torque about some axis.
const MIN_DETERMINANT: f64 = 1e-12;
/// Ratio of a patch's second moment about an axis to its largest one, below which it carries no torque about
/// that axis.
const MIN_MOMENT: f64 = 1e-9;

/// How tractions that vary over a patch vary within a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variation {
    /// Constant on each triangle: the traction at its centroid.
    Stepwise,
    /// Linear on each triangle, so that even a patch of one triangle carries torques.
    Linear,
}

/// Triangles of a surface that lie in a region, at least in part.
#[derive(Clone, Debug)]
pub struct Patch {
    /// Index of each triangle, and the fraction of its area that lies in the region.
    pub triangles: Vec<(usize, f64)>,
    /// Area in the region, m².
    pub area: f64,
    /// Centre of that area, m.
    pub centre: DVec3,
    /// Mean of the triangles' centroids, weighted with their areas in the region, m: the point where a
    /// uniform traction on the patch acts.
    traction_centre: DVec3,
    /// Σ (r·r − r rᵀ) A about `traction_centre`, m⁴, with r at the centroid of each triangle.
    moment: DMat3,
}

impl Patch {
    /// The part of a surface in a closed box; none if its area is zero.
    pub fn new(surface: &Surface, region: &Region) -> Option<Self> {
        let (low, high) = (DVec3::from(region.min), DVec3::from(region.max));
        let mut first = DVec3::ZERO;
        let mut triangles = Vec::new();
        for t in 0..surface.len() {
            let (area, centre) = clipped_area(surface.mesh.corners(t), low, high);
            if area > 0.0 {
                triangles.push((t, area / surface.areas[t]));
                first += centre * area;
            }
        }
        let mut patch = Patch::of(surface, triangles)?;
        patch.centre = first / patch.area;
        Some(patch)
    }

    /// A patch of the given triangles, each with the fraction of its area that belongs to the patch; none if
    /// the area is zero.
    pub fn of(surface: &Surface, triangles: Vec<(usize, f64)>) -> Option<Self> {
        let area: f64 = triangles.iter().map(|(t, p)| surface.areas[*t] * p).sum();
        if area <= 0.0 {
            return None;
        }
        let mut patch = Patch {
            triangles,
            area,
            centre: DVec3::ZERO,
            traction_centre: DVec3::ZERO,
            moment: DMat3::ZERO,
        };
        patch.traction_centre = patch.sum(surface, |x| x) / area;
        patch.centre = patch.traction_centre;
        patch.moment = patch.moment(surface, Variation::Stepwise);
        Some(patch)
    }

    /// Torque per unit of `turn` of the tractions `turn × (x − traction_centre)`, m⁴.
    fn moment(&self, surface: &Surface, variation: Variation) -> DMat3 {
        let of = |(t, part): &(usize, f64)| {
            let about_centre = |x: DVec3| point_inertia(x - self.traction_centre);
            let mean = match variation {
                Variation::Stepwise => about_centre(surface.centroids[*t]),
                Variation::Linear => {
                    let [a, b, c] = SIDE_MIDPOINTS.map(|at| about_centre(place(surface, *t, &at)));
                    (a + b + c) * (1.0 / 3.0)
                }
            };
            mean * (surface.areas[*t] * part)
        };
        let each = self.triangles.iter().map(of);
        each.fold(DMat3::ZERO, |sum, own| sum + own)
    }

    /// Orthogonal axes about which the patch carries torques.
    pub fn axes(&self, surface: &Surface, variation: Variation) -> Vec<DVec3> {
        let (moments, axes) = eigen(self.moment(surface, variation).to_cols_array_2d());
        let least = MIN_MOMENT * moments.iter().copied().fold(0.0, f64::max);
        let pairs = moments.into_iter().zip(axes);
        pairs
            .filter(|(moment, _)| *moment > least)
            .map(|(_, axis)| DVec3::from(axis))
            .collect()
    }

    /// Sum over the triangles of area times a function of the centroid.
    fn sum(&self, surface: &Surface, of: impl Fn(DVec3) -> DVec3) -> DVec3 {
        let parts = self.triangles.iter();
        parts
            .map(|(t, part)| of(surface.centroids[*t]) * (surface.areas[*t] * part))
            .sum()
    }

    /// Adds tractions `uniform + turn × (x − traction_centre)`, Pa, to those of the triangles.
    pub fn add_traction(
        &self,
        surface: &Surface,
        variation: Variation,
        (uniform, turn): (DVec3, DVec3),
        tractions: &mut [Traction],
    ) {
        for (t, part) in &self.triangles {
            let at = |x: DVec3| uniform + turn.cross(x - self.traction_centre);
            let own = match variation {
                Variation::Stepwise => Traction::uniform(at(surface.centroids[*t])),
                Variation::Linear => Traction {
                    corners: surface.mesh.corners(*t).map(at),
                },
            };
            tractions[*t].add(&own, *part);
        }
    }

    /// Uniform traction, Pa, and `turn`, Pa/m, for [`add_traction`](Self::add_traction) with stepwise
    /// variation, whose resultant about the centre is this force, N, and torque, N m. A patch that is a line
    /// or a point carries no torque: the result is none if `torque` is not zero.
    pub fn tractions_of(&self, force: DVec3, torque: DVec3) -> Option<(DVec3, DVec3)> {
        let uniform = force / self.area;
        let size = self.moment.x_axis.x + self.moment.y_axis.y + self.moment.z_axis.z;
        if self.moment.determinant() > MIN_DETERMINANT * size.powi(3) {
            let about_centre = torque + (self.centre - self.traction_centre).cross(force);
            return Some((uniform, self.moment.inverse() * about_centre));
        }
        (torque == DVec3::ZERO).then_some((uniform, DVec3::ZERO))
    }

    /// Adds a pressure, Pa, along the inward normals of the triangles.
    pub fn add_pressure(&self, surface: &Surface, pressure: f64, tractions: &mut [Traction]) {
        for (t, part) in &self.triangles {
            let inward = Traction::uniform(-surface.normals[*t]);
            tractions[*t].add(&inward, pressure * part);
        }
    }
}

/// Area, m², and centroid of the part of a triangle in a box: Sutherland and Hodgman's clipping by the six
/// sides of the box.
fn clipped_area(corners: [DVec3; 3], low: DVec3, high: DVec3) -> (f64, DVec3) {
    let mut polygon = corners.to_vec();
    for axis in 0..3 {
        for (sign, limit) in [(1.0, high[axis]), (-1.0, -low[axis])] {
            let depth = |p: DVec3| limit - sign * p[axis];
            let mut kept = Vec::with_capacity(polygon.len() + 1);
            for (k, &a) in polygon.iter().enumerate() {
                let b = polygon[(k + 1) % polygon.len()];
                let (from, to) = (depth(a), depth(b));
                if from >= 0.0 {
                    kept.push(a);
                }
                if (from > 0.0 && to < 0.0) || (from < 0.0 && to > 0.0) {
                    kept.push(a.lerp(b, from / (from - to)));
                }
            }
            polygon = kept;
        }
    }
    let (mut area, mut moment) = (0.0, DVec3::ZERO);
    for ends in polygon.windows(2) {
        let first = polygon[0];
        let own = (ends[0] - first).cross(ends[1] - first).length() / 2.0;
        area += own;
        moment += (first + ends[0] + ends[1]) * (own / 3.0);
    }
    match area > 0.0 {
        true => (area, moment / area),
        false => (0.0, DVec3::ZERO),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::shapes;

    fn region(min: [f64; 3], max: [f64; 3]) -> Region {
        Region { min, max }
    }

    #[test]
    fn a_patch_is_the_area_in_the_box() {
        let surface = Surface::new(&shapes::cuboid(DVec3::splat(2.0))).unwrap();
        // A quarter of the top, and strips of two sides.
        let patch = Patch::new(&surface, &region([0.0, 0.5, 0.0], [1.0, 1.0, 1.0])).unwrap();
        assert!((patch.area - 2.0).abs() < 1e-12);
        let whole = Patch::new(&surface, &region([-1.0; 3], [1.0; 3])).unwrap();
        assert!((whole.area - 24.0).abs() < 1e-12 && whole.centre.length() < 1e-12);
        assert!(Patch::new(&surface, &region([2.0; 3], [3.0; 3])).is_none());
    }

    #[test]
    fn two_triangles_carry_torques_about_all_axes_where_tractions_vary_in_them() {
        let surface = Surface::new(&shapes::cuboid(DVec3::new(2.0, 1.0, 3.0))).unwrap();
        let end = region([-1.0, -0.5, 1.4999], [1.0, 0.5, 2.0]);
        let patch = Patch::new(&surface, &end).unwrap();
        let ends: Vec<_> = (patch.triangles.iter().copied())
            .filter(|(_, part)| *part > 0.99)
            .collect();
        assert_eq!(ends.len(), 2);
        let patch = Patch::of(&surface, ends).unwrap();
        assert_eq!(patch.axes(&surface, Variation::Stepwise).len(), 2);
        assert_eq!(patch.axes(&surface, Variation::Linear).len(), 3);
        // b h³/12 about x and y, both about z.
        let moment = patch.moment(&surface, Variation::Linear);
        let wanted = DVec3::new(2.0, 8.0, 10.0) / 12.0;
        let off = moment - DMat3::from_diagonal(wanted);
        assert!(off.to_cols_array().iter().all(|v| v.abs() < 1e-12));
    }

    #[test]
    fn tractions_have_the_given_resultant() {
        let mesh = shapes::cuboid(DVec3::new(2.0, 1.0, 3.0));
        let surface = Surface::new(&mesh).unwrap();
        let patch = Patch::new(&surface, &region([-1.0, 0.2, -1.5], [0.3, 0.5, 0.4])).unwrap();
        let (force, torque) = (DVec3::new(1.0, -2.0, 3.0), DVec3::new(0.3, 0.7, -0.2));
        let mut tractions = vec![Traction::default(); surface.len()];
        patch.add_traction(
            &surface,
            Variation::Stepwise,
            patch.tractions_of(force, torque).unwrap(),
            &mut tractions,
        );
        let (mut sum, mut turn) = (DVec3::ZERO, DVec3::ZERO);
        for (t, traction) in tractions.iter().enumerate() {
            let own = traction.mean() * surface.areas[t];
            sum += own;
            turn += (surface.centroids[t] - patch.centre).cross(own);
        }
        assert!((sum - force).length() < 1e-12 && (turn - torque).length() < 1e-12);
    }
}
