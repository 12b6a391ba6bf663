//! Largest fraction of a motion for which no element passes through another or through a collider. Barrier
//! contacts rely on it.
//!
//! A barrier acts only at the positions where it is evaluated. On the way there, and where a step begins and
//! ends, every pair keeps a fraction of its distance. A motion that would not is shortened, or its step is
//! repeated in halves.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::touch::CandidatePair;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::chunk::COLLIDER;
use crate::simulate::scene::colliders::PosedCollider;

/// Fraction of a pair's distance, or of its touching distance if that is smaller, that a motion leaves at
/// least.
const KEPT_FRACTION: f64 = 0.25;
/// Most distance queries per collider along one motion; the motion ends at the last one.
const MAX_DISTANCE_QUERIES: u32 = 64;
/// Distance to the allowed minimum at which the queries end, relative to that minimum.
const STOP_DISTANCE: f64 = 1e-3;

/// A straight motion that starts with every pair apart.
pub struct StraightMotion<'a> {
    /// Radii and masses.
    pub system: &'a System<f64>,
    /// Pairs that are near each other; all others are at least their touching distance apart.
    pub pairs: &'a [CandidatePair],
    /// Start of each element, m.
    pub from: &'a [DVec3],
    /// End of each element, m.
    pub to: &'a [DVec3],
    /// Colliders at the start.
    pub before: &'a [PosedCollider],
    /// Colliders at the end.
    pub after: &'a [PosedCollider],
}

impl StraightMotion<'_> {
    /// Whether the whole motion is allowed.
    pub fn is_free(&self) -> bool {
        self.free_fraction() == 1.0
    }

    /// The fraction of the motion that is allowed, 0 to 1.
    pub fn free_fraction(&self) -> f64 {
        self.listed_fraction().min(self.unlisted_fraction())
    }

    /// Whether the straight line keeps all listed pairs apart, and elements away from colliders. Iterations
    /// that each keep them apart may still have led around an obstacle.
    pub fn is_straight_line_free(&self) -> bool {
        self.listed_fraction() == 1.0
    }

    fn listed_fraction(&self) -> f64 {
        let least = || 1.0f64;
        let pairs = self.pairs.par_iter().with_min_len(256);
        let pairs = pairs
            .filter(|pair| pair.j < COLLIDER)
            .map(|pair| self.pair_fraction(pair))
            .reduce(least, f64::min);
        let elements = (0..self.from.len()).into_par_iter().with_min_len(256);
        let walls = elements
            .filter(|&i| self.system.inverse_mass[i] > 0.0)
            .map(|i| self.colliders_fraction(i))
            .reduce(least, f64::min);
        pairs.min(walls)
    }

    /// Pairs that are not listed approach by no more than the largest relative displacement of any elements.
    fn unlisted_fraction(&self) -> f64 {
        let nowhere = (DVec3::INFINITY, DVec3::NEG_INFINITY, f64::INFINITY);
        let (low, high, smallest) =
            (0..self.from.len()).fold(nowhere, |(low, high, smallest), i| {
                let by = self.to[i] - self.from[i];
                (
                    low.min(by),
                    high.max(by),
                    smallest.min(self.system.radius(i)),
                )
            });
        let closed = (high - low).length();
        let allowance = (1.0 - KEPT_FRACTION) * 2.0 * smallest;
        if closed > allowance {
            allowance / closed
        } else {
            1.0
        }
    }

    fn pair_fraction(&self, pair: &CandidatePair) -> f64 {
        let (i, j) = (pair.i as usize, pair.j as usize);
        let x = self.from[i] - self.from[j];
        let by = self.to[i] - self.to[j] - x;
        let (a, b) = (by.length_squared(), by.dot(x));
        if b >= 0.0 {
            return 1.0;
        }
        // Where |x + t by| has fallen to the minimum distance.
        let left = KEPT_FRACTION * x.length().min(pair.touch);
        let under = b * b - a * (x.length_squared() - left * left);
        if under <= 0.0 {
            return 1.0;
        }
        ((-b - under.sqrt()) / a).min(1.0)
    }

    fn colliders_fraction(&self, i: usize) -> f64 {
        let of = |(before, after): (&PosedCollider, &PosedCollider)| {
            // In the collider's frame: the start is shifted to where the element would be had it moved with
            // the collider.
            let (was, is) = (&before.pose, &after.pose);
            let resting = was.rotation.inverse() * (self.from[i] - was.position);
            let from = match before.pose == after.pose {
                true => self.from[i],
                false => is.position + is.rotation * resting,
            };
            collider_fraction(after, self.system.radius(i), from, self.to[i] - from)
        };
        let both = self.before.iter().zip(self.after);
        both.map(of).fold(1.0, f64::min)
    }
}

/// Allowed fraction of a displacement near a collider: advances by the distance to the surface as long as
/// that is large.
fn collider_fraction(obstacle: &PosedCollider, r: f64, from: DVec3, by: DVec3) -> f64 {
    let distance = |p: DVec3| obstacle.pose.surface(&obstacle.solid, p).0;
    let length = by.length();
    let mut far = distance(from);
    if far <= 0.0 {
        return 0.0;
    }
    let left = KEPT_FRACTION * far.min(r);
    let mut gone = 0.0;
    for _ in 0..MAX_DISTANCE_QUERIES {
        gone += far - left;
        if gone >= length {
            return 1.0;
        }
        far = distance(from + by * (gone / length));
        if far - left < STOP_DISTANCE * left {
            break;
        }
    }
    gone / length
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::solid::{Pose, Solid};

    fn plate() -> PosedCollider {
        PosedCollider {
            solid: Solid::Box {
                half: DVec3::new(1.0, 0.01, 1.0),
            },
            pose: Pose {
                position: DVec3::ZERO,
                rotation: glam::DQuat::IDENTITY,
                velocity: DVec3::ZERO,
                spin: DVec3::ZERO,
            },
            young: None,
            friction: 0.0,
        }
    }

    #[test]
    fn a_thin_plate_stops_what_would_jump_over_it() {
        let from = DVec3::new(0.1, 0.5, 0.1);
        let part = collider_fraction(&plate(), 0.1, from, DVec3::Y * -1.0);
        // A quarter of the radius remains above the plate.
        assert!((part - (0.5 - 0.01 - 0.025)).abs() < 1e-4, "{part}");
        let missed = collider_fraction(&plate(), 0.1, from + DVec3::X * 1.5, DVec3::Y * -1.0);
        assert_eq!(missed, 1.0);
        assert_eq!(collider_fraction(&plate(), 0.1, from, DVec3::Y), 1.0);
        assert_eq!(collider_fraction(&plate(), 0.1, DVec3::ZERO, DVec3::Y), 0.0);
    }
}
