//! Spheres around the clusters of a piece's elements: how far two pieces are apart where the spheres around the
//! whole pieces overlap.

use glam::{DQuat, DVec3};

/// Most elements of a cluster.
const MOST: usize = 32;

/// A sphere around the centres of some elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cluster {
    /// Its middle relative to the centre of mass of the piece, in the piece's frame, m.
    pub middle: DVec3,
    /// Largest distance of the elements' centres from it, m.
    pub reach: f64,
}

/// Clusters of elements at these places relative to the centre of mass, m.
pub fn clusters(places: Vec<DVec3>) -> Vec<Cluster> {
    let mut out = Vec::with_capacity(places.len().div_ceil(MOST / 2));
    let mut left = vec![places];
    while let Some(mut places) = left.pop() {
        let empty = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (low, high) = places
            .iter()
            .fold(empty, |(low, high), p| (low.min(*p), high.max(*p)));
        if places.len() > MOST {
            let axis = (high - low).max_position();
            let half = places.len() / 2;
            places.select_nth_unstable_by(half, |a, b| a[axis].total_cmp(&b[axis]));
            left.push(places.split_off(half));
            left.push(places);
        } else if !places.is_empty() {
            let middle = 0.5 * (low + high);
            let distances = places.iter().map(|p| p.distance(middle));
            out.push(Cluster {
                middle,
                reach: distances.fold(0.0, f64::max),
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
    fn spheres(&self) -> Vec<(DVec3, f64)> {
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

    /// An angle of two arms, each 40 elements long and three wide.
    fn angle() -> Vec<DVec3> {
        let mut places = Vec::new();
        for k in 0..40 {
            for across in 0..3 {
                places.push(DVec3::new(f64::from(k), f64::from(across), 0.0));
                places.push(DVec3::new(f64::from(across), f64::from(k), 1.0));
            }
        }
        places
    }

    #[test]
    fn the_distance_is_a_bound_that_sees_into_an_angle() {
        let places = angle();
        let found: Vec<Cluster> = clusters(places.clone());
        assert!(found.len() >= 8 && found.len() <= 16, "{}", found.len());
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
        assert_eq!(clusters(Vec::new()), []);
    }
}
