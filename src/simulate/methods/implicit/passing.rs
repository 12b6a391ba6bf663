//! How far elements may go at once so that none passes through another or through a collider: what barriers rely on.
//!
//! A barrier holds where it is looked at. On the way there, and where a step begins and ends, every pair
//! keeps a part of its distance; a motion that would not is shortened, or its step is done again in halves.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::touch::Pair;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::chunk::COLLIDER;
use crate::simulate::scene::colliders::Obstacle;

/// Part of the distance of a pair, or of that at which it touches where it does not, that a motion leaves at least.
const KEPT: f64 = 0.25;
/// Looks at a collider along one motion at most; the motion ends where the last is taken.
const LOOKS: u32 = 64;
/// Nearness to a collider at which looking along a motion ends, over the radius.
const NEAR: f64 = 1e-3;

/// A motion in straight lines from where every pair is apart.
pub struct Motion<'a> {
    /// Radii and masses.
    pub system: &'a System<f64>,
    /// Pairs that are near each other; others are no nearer than where they touch.
    pub pairs: &'a [Pair],
    /// Where each element is, m.
    pub from: &'a [DVec3],
    /// Where it goes, m.
    pub to: &'a [DVec3],
    /// Colliders where it begins.
    pub before: &'a [Obstacle],
    /// Colliders where it ends.
    pub after: &'a [Obstacle],
}

impl Motion<'_> {
    /// Whether all of it may be made.
    pub fn is_free(&self) -> bool {
        self.part() == 1.0
    }

    /// The part of it that may be made, 0 to 1.
    pub fn part(&self) -> f64 {
        self.of_listed().min(self.of_unlisted())
    }

    /// Whether the straight way keeps all listed pairs apart, and elements from colliders. Iterations that
    /// each keep them apart may yet have gone round.
    pub fn is_straight(&self) -> bool {
        self.of_listed() == 1.0
    }

    fn of_listed(&self) -> f64 {
        let least = || 1.0f64;
        let pairs = self.pairs.par_iter().with_min_len(256);
        let pairs = pairs
            .filter(|pair| pair.j < COLLIDER)
            .map(|pair| self.of_pair(pair))
            .reduce(least, f64::min);
        let elements = (0..self.from.len()).into_par_iter().with_min_len(256);
        let walls = elements
            .filter(|&i| self.system.inverse_mass[i] > 0.0)
            .map(|i| self.of_walls(i))
            .reduce(least, f64::min);
        pairs.min(walls)
    }

    /// Pairs that are not listed close up by no more than all elements move against each other.
    fn of_unlisted(&self) -> f64 {
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
        let room = (1.0 - KEPT) * 2.0 * smallest;
        if closed > room { room / closed } else { 1.0 }
    }

    fn of_pair(&self, pair: &Pair) -> f64 {
        let (i, j) = (pair.i as usize, pair.j as usize);
        let x = self.from[i] - self.from[j];
        let by = self.to[i] - self.to[j] - x;
        let (a, b) = (by.length_squared(), by.dot(x));
        if b >= 0.0 {
            return 1.0;
        }
        // Where |x + t by| has come down to what must be left.
        let left = KEPT * x.length().min(pair.touch);
        let under = b * b - a * (x.length_squared() - left * left);
        if under <= 0.0 {
            return 1.0;
        }
        ((-b - under.sqrt()) / a).min(1.0)
    }

    fn of_walls(&self, i: usize) -> f64 {
        let of = |(before, after): (&Obstacle, &Obstacle)| {
            // In the frame of the collider the element comes from where it would be had it gone along.
            let (was, is) = (&before.pose, &after.pose);
            let resting = was.rotation.inverse() * (self.from[i] - was.position);
            let from = match before.pose == after.pose {
                true => self.from[i],
                false => is.position + is.rotation * resting,
            };
            of_wall(after, self.system.radius(i), from, self.to[i] - from)
        };
        let both = self.before.iter().zip(self.after);
        both.map(of).fold(1.0, f64::min)
    }
}

/// Goes along in steps as long as the surface is far.
fn of_wall(obstacle: &Obstacle, r: f64, from: DVec3, by: DVec3) -> f64 {
    let distance = |p: DVec3| obstacle.pose.surface(&obstacle.solid, p).0;
    let length = by.length();
    let mut far = distance(from);
    if far <= 0.0 {
        return 0.0;
    }
    let left = KEPT * far.min(r);
    let mut gone = 0.0;
    for _ in 0..LOOKS {
        gone += far - left;
        if gone >= length {
            return 1.0;
        }
        far = distance(from + by * (gone / length));
        if far - left < NEAR * left {
            break;
        }
    }
    gone / length
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::solid::{Pose, Solid};

    fn plate() -> Obstacle {
        Obstacle {
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
        let part = of_wall(&plate(), 0.1, from, DVec3::Y * -1.0);
        // A quarter of the radius is left above the plate.
        assert!((part - (0.5 - 0.01 - 0.025)).abs() < 1e-4, "{part}");
        let beside = of_wall(&plate(), 0.1, from + DVec3::X * 1.5, DVec3::Y * -1.0);
        assert_eq!(beside, 1.0);
        assert_eq!(of_wall(&plate(), 0.1, from, DVec3::Y), 1.0);
        assert_eq!(of_wall(&plate(), 0.1, DVec3::ZERO, DVec3::Y), 0.0);
    }
}
