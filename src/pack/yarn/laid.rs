//! Construction of yarns: filaments in their section, elements along their curve.

use std::f64::consts::PI;

use glam::{DVec2, DVec3};

use crate::geometry::TriMesh;
use crate::geometry::tube::tube;
use crate::pack::filled::{Bonding, FilledShape, PackingStructure};
use crate::pack::neighbours;
use crate::pack::points::ElementSpheres;

/// Distance over the sum of radii up to which elements of a yarn are bonded. Between two filaments side by
/// side each element has one or two neighbours: the nearest is shifted by at most half an element's length,
/// which gives √5/2.
pub(super) const YARN_NEIGHBOURHOOD: f64 = 1.15;
/// Number of sides of a yarn's skin.
const SKIN_SIDES: u32 = 8;
/// Radius of a yarn's skin over that of the yarn: the skins of yarns that touch stay apart.
const SKIN_RADIUS_FACTOR: f64 = 0.97;
/// Least number of elements of a filament.
pub(super) const MIN_FILAMENT_ELEMENTS: usize = 3;

/// Positions of `count` parallel filaments in their yarn's section, at distance 1 from each other, from the
/// middle outwards.
pub(super) fn bundle_sites(count: u32) -> Vec<DVec2> {
    // One ring more than `count` filaments fill.
    let rings = (f64::from(count) / 3.0).sqrt().ceil() as i32 + 1;
    let site = |i: i32, j: i32| {
        DVec2::new(
            f64::from(i) + 0.5 * f64::from(j),
            0.75_f64.sqrt() * f64::from(j),
        )
    };
    let mut sites: Vec<(i32, i32)> = (-rings..=rings)
        .flat_map(|i| (-rings..=rings).map(move |j| (i, j)))
        .collect();
    // Sorts by the squared distance from the middle, which is an integer.
    sites.sort_by_key(|&(i, j)| (i * i + i * j + j * j, i, j));
    let places = sites.into_iter().map(|(i, j)| site(i, j));
    places.take(count as usize).collect()
}

/// Radius of a yarn of parallel touching filaments over that of its elements.
pub(super) fn bundle_radius(sites: &[DVec2]) -> f64 {
    let farthest = sites.iter().map(|p| p.length()).fold(0.0, f64::max);
    1.0 + 2.0 * farthest
}

/// Parameters of points along a curve at distance `step` (m) from each other, beginning at `from` and not
/// beyond `to`. `speed`: approximate length (m) per unit of the parameter.
pub(super) fn spaced_parameters(
    curve: impl Fn(f64) -> DVec3,
    (from, to): (f64, f64),
    step: f64,
    speed: f64,
) -> Vec<f64> {
    let mut found = vec![from];
    loop {
        let last = found[found.len() - 1];
        let p = curve(last);
        let beyond = |t: f64| curve(t).distance(p) >= step;
        let (mut low, mut high) = (last, last + step / speed);
        while !beyond(high) {
            high += step / speed;
        }
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            if beyond(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        if high > to {
            return found;
        }
        found.push(high);
    }
}

/// Finished yarns.
#[derive(Default)]
pub(super) struct LaidYarns {
    pub centres: Vec<DVec3>,
    /// Number of the yarn of each element.
    pub yarn: Vec<u32>,
    pub yarns: u32,
    pub skin: TriMesh,
}

impl LaidYarns {
    /// Adds a yarn: the elements of its filaments, and the axis of its skin of this radius (m).
    pub fn add(
        &mut self,
        filaments: impl IntoIterator<Item = Vec<DVec3>>,
        axis: &[DVec3],
        radius: f64,
    ) {
        for filament in filaments {
            self.centres.extend(filament);
        }
        self.yarn.resize(self.centres.len(), self.yarns);
        self.yarns += 1;
        self.skin
            .append(tube(axis, SKIN_RADIUS_FACTOR * radius, SKIN_SIDES));
    }

    /// Smallest distance between two elements over their diameter, at most 1; `radius` in m.
    pub fn closest(&self, radius: f64) -> f64 {
        let radii = vec![radius; self.centres.len()];
        let near = neighbours::pairs(&self.centres, &radii, 1.0);
        let apart = near.iter().map(|pair| {
            let [a, b] = pair.map(|end| self.centres[end as usize]);
            a.distance(b) / (2.0 * radius)
        });
        apart.fold(1.0, f64::min)
    }

    /// The shape filled by these yarns with elements of this radius (m); `spacing_factor`: distance between
    /// filaments over their contact distance.
    pub fn filled(self, radius: f64, spacing_factor: f64) -> FilledShape {
        let spheres = ElementSpheres::equal(self.centres, radius);
        let mut pairs = neighbours::pairs(
            &spheres.centres,
            &spheres.radii,
            YARN_NEIGHBOURHOOD * spacing_factor,
        );
        pairs.retain(|[i, j]| self.yarn[*i as usize] == self.yarn[*j as usize]);
        FilledShape {
            radius,
            bonding: Bonding::Given(pairs),
            structure: PackingStructure::Yarn,
            // Each element represents a piece of filament of its own length.
            volume: spheres.centres.len() as f64 * 2.0 * PI * radius.powi(3),
            spheres,
            skin: self.skin,
        }
    }
}

/// The axis of a yarn, extended by half an element at each end to the ends of its elements.
pub(super) fn with_covered_ends(mut axis: Vec<DVec3>, radius: f64) -> Vec<DVec3> {
    let beyond = |p: DVec3, q: DVec3| p + (p - q).normalize_or_zero() * radius;
    let last = axis.len() - 1;
    axis[0] = beyond(axis[0], axis[1]);
    axis[last] = beyond(axis[last], axis[last - 1]);
    axis
}
