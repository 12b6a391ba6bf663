//! The part of a body's surface that lies in a region, and tractions on it.

use glam::{DMat3, DVec3};

use crate::bem::points::place;
use crate::bem::traction::MIDDLES;
use crate::bem::{Surface, Traction};
use crate::geometry::mass::point_inertia;
use crate::math::eigen;
use crate::spec::Region;

/// Least over largest second moment of a patch, below which it carries no torque about some axis.
const THINNEST: f64 = 1e-12;
/// Second moment of a patch about an axis over the largest, below which it carries no torque about that axis.
const FLATTEST: f64 = 1e-9;

/// How tractions that vary over a patch vary within a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variation {
    /// Not at all: each triangle has the traction at its centroid.
    Stepwise,
    /// Linearly: then a patch of one triangle carries torques too.
    Linear,
}

/// Triangles of a surface that lie in a region, at least in part.
#[derive(Clone, Debug)]
pub struct Patch {
    /// Number of each triangle, and the part of its area that lies in the region.
    pub triangles: Vec<(usize, f64)>,
    /// Area in the region, m².
    pub area: f64,
    /// Centre of that area, m.
    pub centre: DVec3,
    /// Centre of the triangles by these parts of their areas, m: where an even traction on them acts.
    middle: DVec3,
    /// Σ (r·r − r rᵀ) A about that, m⁴, each triangle in its centroid.
    moment: DMat3,
}

impl Patch {
    /// The part of a surface in a box, ends included; none where there is no area.
    pub fn new(surface: &Surface, region: &Region) -> Option<Self> {
        let (low, high) = (DVec3::from(region.min), DVec3::from(region.max));
        let mut first = DVec3::ZERO;
        let mut triangles = Vec::new();
        for t in 0..surface.len() {
            let (area, centre) = covered(surface.mesh.corners(t), low, high);
            if area > 0.0 {
                triangles.push((t, area / surface.areas[t]));
                first += centre * area;
            }
        }
        let mut patch = Patch::of(surface, triangles)?;
        patch.centre = first / patch.area;
        Some(patch)
    }

    /// Triangles and the parts of their areas that are meant; none where there is no area.
    pub fn of(surface: &Surface, triangles: Vec<(usize, f64)>) -> Option<Self> {
        let area: f64 = triangles.iter().map(|(t, p)| surface.areas[*t] * p).sum();
        if area <= 0.0 {
            return None;
        }
        let mut patch = Patch {
            triangles,
            area,
            centre: DVec3::ZERO,
            middle: DVec3::ZERO,
            moment: DMat3::ZERO,
        };
        patch.middle = patch.sum(surface, |x| x) / area;
        patch.centre = patch.middle;
        patch.moment = patch.moment(surface, Variation::Stepwise);
        Some(patch)
    }

    /// Torque over turn of tractions `turn × (x − middle)`, m⁴.
    fn moment(&self, surface: &Surface, variation: Variation) -> DMat3 {
        let of = |(t, part): &(usize, f64)| {
            let about_middle = |x: DVec3| point_inertia(x - self.middle);
            let mean = match variation {
                Variation::Stepwise => about_middle(surface.centroids[*t]),
                Variation::Linear => {
                    let [a, b, c] = MIDDLES.map(|at| about_middle(place(surface, *t, &at)));
                    (a + b + c) * (1.0 / 3.0)
                }
            };
            mean * (surface.areas[*t] * part)
        };
        let each = self.triangles.iter().map(of);
        each.fold(DMat3::ZERO, |sum, own| sum + own)
    }

    /// Axes about which the patch carries torques, at right angles.
    pub fn axes(&self, surface: &Surface, variation: Variation) -> Vec<DVec3> {
        let (moments, axes) = eigen(self.moment(surface, variation).to_cols_array_2d());
        let least = FLATTEST * moments.iter().copied().fold(0.0, f64::max);
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

    /// Adds tractions `even + turn × (x − middle)`, Pa, to those of the triangles.
    pub fn load(
        &self,
        surface: &Surface,
        variation: Variation,
        (even, turn): (DVec3, DVec3),
        tractions: &mut [Traction],
    ) {
        for (t, part) in &self.triangles {
            let at = |x: DVec3| even + turn.cross(x - self.middle);
            let own = match variation {
                Variation::Stepwise => Traction::uniform(at(surface.centroids[*t])),
                Variation::Linear => Traction {
                    corners: surface.mesh.corners(*t).map(at),
                },
            };
            tractions[*t].add(&own, *part);
        }
    }

    /// Tractions with this resultant, N and N m about the centre, that vary linearly over the patch,
    /// stepwise. Where the patch is a line or a point it carries no torque: then none where one is asked for.
    pub fn tractions_of(&self, force: DVec3, torque: DVec3) -> Option<(DVec3, DVec3)> {
        let even = force / self.area;
        let size = self.moment.x_axis.x + self.moment.y_axis.y + self.moment.z_axis.z;
        if self.moment.determinant() > THINNEST * size.powi(3) {
            let about_middle = torque + (self.centre - self.middle).cross(force);
            return Some((even, self.moment.inverse() * about_middle));
        }
        (torque == DVec3::ZERO).then_some((even, DVec3::ZERO))
    }

    /// Presses on the triangles along their inward normals, Pa.
    pub fn press(&self, surface: &Surface, pressure: f64, tractions: &mut [Traction]) {
        for (t, part) in &self.triangles {
            let inward = Traction::uniform(-surface.normals[*t]);
            tractions[*t].add(&inward, pressure * part);
        }
    }
}

/// Area, m², and centre of the part of a triangle in a box: Sutherland and Hodgman's clipping by its six sides.
fn covered(corners: [DVec3; 3], low: DVec3, high: DVec3) -> (f64, DVec3) {
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
    fn tractions_have_the_resultant_asked_for() {
        let mesh = shapes::cuboid(DVec3::new(2.0, 1.0, 3.0));
        let surface = Surface::new(&mesh).unwrap();
        let patch = Patch::new(&surface, &region([-1.0, 0.2, -1.5], [0.3, 0.5, 0.4])).unwrap();
        let (force, torque) = (DVec3::new(1.0, -2.0, 3.0), DVec3::new(0.3, 0.7, -0.2));
        let mut tractions = vec![Traction::default(); surface.len()];
        patch.load(
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
