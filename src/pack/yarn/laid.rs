//! Yarns as they are laid: filaments in their section, elements along their curve.

use std::f64::consts::PI;

use glam::{DVec2, DVec3};

use crate::geometry::TriMesh;
use crate::geometry::tube::tube;
use crate::pack::filled::{Bonding, Filled, Makeup};
use crate::pack::neighbours;
use crate::pack::points::Points;

/// Distance over the sum of radii up to which elements of a yarn are bonded. Of two filaments side by side
/// each element finds one or two on the other: the nearest is at most half an element's length further on,
/// √5/2.
pub(super) const BESIDE: f64 = 1.15;
/// Sides of a yarn's skin.
const SIDES: u32 = 8;
/// Radius of a yarn's skin over that of the yarn: the skins of yarns that touch stay apart.
const SLIM: f64 = 0.97;
/// Elements that a filament has at least.
pub(super) const FEWEST: usize = 3;

/// Places of so many parallel filaments in their yarn's section, 1 from one to the next, from the middle outwards.
pub(super) fn bundle(count: u32) -> Vec<DVec2> {
    // A ring more than `count` fill.
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
    // Squared distances are whole numbers.
    sites.sort_by_key(|&(i, j)| (i * i + i * j + j * j, i, j));
    let places = sites.into_iter().map(|(i, j)| site(i, j));
    places.take(count as usize).collect()
}

/// Radius of a yarn of parallel touching filaments over that of its elements.
pub(super) fn thickness(sites: &[DVec2]) -> f64 {
    let farthest = sites.iter().map(|p| p.length()).fold(0.0, f64::max);
    1.0 + 2.0 * farthest
}

/// Parameters along a curve from `from` on, up to `to`, of points `step` (m) from each other. `speed`: metres
/// along the curve for each unit of its parameter, about.
pub(super) fn chain(
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

/// Yarns as they are laid.
#[derive(Default)]
pub(super) struct Laid {
    pub centres: Vec<DVec3>,
    /// Number of the yarn of each element.
    pub yarn: Vec<u32>,
    pub yarns: u32,
    pub skin: TriMesh,
}

impl Laid {
    /// Adds a yarn: the elements of its filaments, and the points its skin goes about at this radius (m).
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
        self.skin.append(tube(axis, SLIM * radius, SIDES));
    }

    /// Least distance of two elements of this radius (m) over its double, 1 where none are nearer.
    pub fn closest(&self, radius: f64) -> f64 {
        let radii = vec![radius; self.centres.len()];
        let near = neighbours::pairs(&self.centres, &radii, 1.0);
        let apart = near.iter().map(|pair| {
            let [a, b] = pair.map(|end| self.centres[end as usize]);
            a.distance(b) / (2.0 * radius)
        });
        apart.fold(1.0, f64::min)
    }

    /// The yarns as what fills a shape with elements of this radius (m); `room`: distance of filaments side
    /// by side over that of filaments that touch.
    pub fn filled(self, radius: f64, room: f64) -> Filled {
        let points = Points::equal(self.centres, radius);
        let mut pairs = neighbours::pairs(&points.centres, &points.radii, BESIDE * room);
        pairs.retain(|[i, j]| self.yarn[*i as usize] == self.yarn[*j as usize]);
        Filled {
            radius,
            bonding: Bonding::Given(pairs),
            makeup: Makeup::Yarn,
            // Each element stands for the piece of filament that is as long as itself.
            volume: points.centres.len() as f64 * 2.0 * PI * radius.powi(3),
            points,
            skin: self.skin,
        }
    }
}

/// The axis of a yarn, longer by half an element at each end, to where its elements reach.
pub(super) fn ends_covered(mut axis: Vec<DVec3>, radius: f64) -> Vec<DVec3> {
    let beyond = |p: DVec3, q: DVec3| p + (p - q).normalize_or_zero() * radius;
    let last = axis.len() - 1;
    axis[0] = beyond(axis[0], axis[1]);
    axis[last] = beyond(axis[last], axis[last - 1]);
    axis
}
