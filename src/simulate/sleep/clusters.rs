//! Spheres around the clusters of a piece's elements: how far two pieces are apart where the spheres around the
//! whole pieces overlap.

use glam::{DQuat, DVec3};

/// Most elements of a cluster.
const MOST: usize = 32;

/// A sphere around the centres of some elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Places of its elements in the list of the piece's elements.
    pub elements: Vec<u32>,
    /// Its middle relative to the centre of mass of the piece, in the piece's frame, m.
    pub middle: DVec3,
    /// Largest distance of the elements' centres from it, m.
    pub reach: f64,
}

/// Clusters of elements at these places relative to the centre of mass, m.
pub fn clusters(places: &[DVec3]) -> Vec<Cluster> {
    let mut out = Vec::with_capacity(places.len().div_ceil(MOST / 2));
    let mut left: Vec<Vec<u32>> = vec![(0..places.len() as u32).collect()];
    let place = |k: &u32| places[*k as usize];
    while let Some(mut elements) = left.pop() {
        let empty = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (low, high) = elements
            .iter()
            .map(place)
            .fold(empty, |(low, high), p| (low.min(p), high.max(p)));
        if elements.len() > MOST {
            let axis = (high - low).max_position();
            let half = elements.len() / 2;
            elements.select_nth_unstable_by(half, |a, b| place(a)[axis].total_cmp(&place(b)[axis]));
            left.push(elements.split_off(half));
            left.push(elements);
        } else if !elements.is_empty() {
            let middle = 0.5 * (low + high);
            let distances = elements.iter().map(|k| place(k).distance(middle));
            out.push(Cluster {
                middle,
                reach: distances.fold(0.0, f64::max),
                elements,
            });
        }
    }
    out
}

/// Clusters of a piece with their place and rotation.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// The clusters.
    pub clusters: &'a [Cluster],
    /// Centre of mass, m.
    pub centre: DVec3,
    /// Rotation.
    pub rotation: DQuat,
}

impl Placed<'_> {
    /// Spheres around the clusters: middle and radius, m.
    pub fn spheres(&self) -> Vec<(DVec3, f64)> {
        let spheres = self.clusters.iter();
        spheres
            .map(|one| (self.centre + self.rotation * one.middle, one.reach))
            .collect()
    }

    /// Lower bound on the distance of the centres of two elements, one of each piece, m; at least zero.
    pub fn distance(&self, other: &Placed<'_>) -> f64 {
        let (own, others) = (self.spheres(), other.spheres());
        let mut nearest = f64::INFINITY;
        for (p, r) in &own {
            for (q, s) in &others {
                nearest = nearest.min(p.distance(*q) - r - s);
            }
        }
        nearest.max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cluster, DQuat, DVec3, Placed, clusters};

    /// An angle of two arms, each 40 elements long, three wide and three thick.
    fn angle() -> Vec<DVec3> {
        let mut places = Vec::new();
        for k in 0..360 {
            let [along, across, through] = [k / 9, k / 3 % 3, k % 3].map(f64::from);
            places.push(DVec3::new(along, across, through));
            places.push(DVec3::new(across, along, through));
        }
        places
    }

    #[test]
    fn the_distance_is_a_bound_that_sees_into_an_angle() {
        let places = angle();
        let found: Vec<Cluster> = clusters(&places);
        assert!((23..=46).contains(&found.len()), "{}", found.len());
        let turned = DQuat::from_rotation_z(std::f64::consts::PI);
        for shift in [60.0, 45.0, 43.0] {
            // The other angle faces this one: the arms of each lie around the other's ends.
            let moved = DVec3::new(shift, shift, 0.0);
            let [one, other] =
                [(DVec3::ZERO, DQuat::IDENTITY), (moved, turned)].map(|(centre, rotation)| {
                    Placed {
                        clusters: &found,
                        centre,
                        rotation,
                    }
                });
            let pairs = places
                .iter()
                .flat_map(|p| places.iter().map(move |q| (p, q)));
            let true_distance = pairs
                .map(|(p, q)| p.distance(moved + turned * *q))
                .fold(f64::INFINITY, f64::min);
            let bound = one.distance(&other);
            assert!(
                bound <= true_distance,
                "{shift}: {bound} and {true_distance}"
            );
            assert!(
                bound > true_distance - 12.0,
                "{shift}: {bound} and {true_distance}"
            );
        }
        assert_eq!(clusters(&[]), []);
        let mut all: Vec<u32> = found.into_iter().flat_map(|one| one.elements).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..places.len() as u32));
    }
}
