//! The time for which contact lists hold every pair that can touch.

use glam::DVec3;

use crate::geometry::solid::Solid;
use crate::math::Scalar;
use crate::parallel::prelude::*;
use crate::simulate::scene::colliders::PosedCollider;
use crate::simulate::sleep::groups::{Bounds, Groups};
use crate::simulate::sleep::piece::Piece;
use crate::simulate::sleep::pieces::Sleep;
use crate::simulate::sleep::surroundings::Surroundings;

impl<S: Scalar> Sleep<S> {
    /// Time for which contact lists that were just built hold every pair that can touch, s, while colliders are
    /// at rest and pieces keep to the bounds. The places of all elements must be up to date.
    pub fn lists_hold(&self, around: Surroundings<S>, bounds: &[Bounds]) -> f64 {
        let moving: Vec<usize> = (0..self.pieces.len())
            .filter(|&at| !self.pieces[at].still)
            .collect();
        let times = moving.par_iter().with_min_len(64).map(|&at| {
            let piece = &self.pieces[at];
            let mut time = f64::INFINITY;
            for (other_at, other) in self.pieces.iter().enumerate() {
                // Each pair once; a piece at rest does not look for others.
                if other_at < at || (other.still && other_at != at) {
                    let of = (bounds[at], bounds[other_at]);
                    time = time.min(self.pair_holds((piece, other), of, &around));
                }
            }
            for collider in around.colliders {
                time = time.min(self.collider_holds((piece, bounds[at]), collider, &around));
            }
            time
        });
        let times: Vec<f64> = times.collect();
        times.into_iter().fold(f64::INFINITY, f64::min)
    }

    /// As [`lists_hold`](Self::lists_hold) while elements are awake: the time for which no piece that listed
    /// contacts do not connect with them moves by more than half the skin, s.
    pub fn stays_within_skin(&self, around: Surroundings<S>, groups: &Groups) -> f64 {
        let (half, pull) = (0.5 * around.contacts.skin(), self.fields().gravity.length());
        let bounds = groups.bounds.iter().zip(&groups.meets_awake);
        let apart = bounds
            .zip(&self.pieces)
            .filter(|((_, meets_awake), piece)| !*meets_awake && !piece.still);
        let times = apart.map(|((bounds, _), _)| {
            closing_time(half, bounds.velocity.length() + bounds.speed, pull)
        });
        times.fold(f64::INFINITY, f64::min)
    }

    /// Time until two pieces may touch by elements that are not listed, s.
    fn pair_holds(
        &self,
        (a, b): (&Piece, &Piece),
        (of_a, of_b): (Bounds, Bounds),
        around: &Surroundings<S>,
    ) -> f64 {
        let skin = around.contacts.skin();
        let x = a.centre() - b.centre();
        let v = of_a.velocity - of_b.velocity;
        let reach = a.reach + b.reach + 2.0 * around.contacts.largest() + skin;
        let gap = x.length() - reach;
        let closing = v.length() + of_a.speed + of_b.speed;
        let margin = 2.0 * around.contacts.largest() + skin;
        let near = || a.placed().distance(&b.placed()) - margin;
        if a.is_free() && b.is_free() {
            // Both fall alike.
            return match gap > 0.0 {
                true => meeting(x, v, reach),
                false => near().max(skin) / closing,
            };
        }
        let gap = if gap < skin { near() } else { gap };
        closing_time(gap.max(skin), closing, 2.0 * self.fields().gravity.length())
    }

    /// Time until a piece may touch a collider by elements that are not listed, s.
    fn collider_holds(
        &self,
        (piece, bounds): (&Piece, Bounds),
        collider: &PosedCollider,
        around: &Surroundings<S>,
    ) -> f64 {
        let (contacts, pull) = (around.contacts, self.fields().gravity.length());
        let (pose, solid) = (&collider.pose, &collider.solid);
        let (distance, normal, _) = pose.surface(solid, piece.centre());
        let approach = match solid {
            Solid::HalfSpace { .. } => -bounds.velocity.dot(normal),
            _ => bounds.velocity.length(),
        };
        let gap = distance - piece.reach - contacts.largest() - contacts.skin();
        if gap > 0.0 {
            // Turning alone takes no element beyond the reach.
            let speed = match piece.is_free() {
                true => approach,
                false => approach + bounds.speed,
            };
            return closing_time(gap, speed, pull);
        }
        // Elements nearer than the skin are listed.
        let of = |element: &u32| {
            let i = *element as usize;
            let (distance, ..) = pose.surface(solid, around.system.position(i));
            let gap = distance - around.system.radius(i);
            if gap < contacts.skin() {
                f64::INFINITY
            } else {
                gap
            }
        };
        let nearest = piece.elements.par_iter().with_min_len(1024).map(of);
        let nearest = nearest.reduce(|| f64::INFINITY, f64::min);
        match nearest.is_finite() {
            true => closing_time(nearest, approach + bounds.speed, pull),
            false => f64::INFINITY,
        }
    }
}

/// Time until a gap (m) that closes at `speed` (m/s), and ever faster by `pull` (m/s²), is closed, s.
pub fn closing_time(gap: f64, speed: f64, pull: f64) -> f64 {
    if pull == 0.0 {
        return match speed > 0.0 {
            true => gap / speed,
            false => f64::INFINITY,
        };
    }
    let root = (speed * speed + 2.0 * pull * gap).sqrt();
    // Both forms are exact; each avoids the difference of almost equal numbers.
    match speed > 0.0 {
        true => 2.0 * gap / (speed + root),
        false => (root - speed) / pull,
    }
}

/// Time until a point at `x` (m) that moves at `v` (m/s) is `reach` (m) from the origin, s; it is farther now.
fn meeting(x: DVec3, v: DVec3, reach: f64) -> f64 {
    let (along, speed) = (-x.dot(v), v.length_squared());
    let c = x.length_squared() - reach * reach;
    let inside = along * along - speed * c;
    match along > 0.0 && inside >= 0.0 {
        true => c / (along + inside.sqrt()),
        false => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::{DVec3, closing_time, meeting};

    #[test]
    fn a_gap_is_closed_by_speed_and_pull() {
        for (gap, speed, pull) in [
            (2.0, 3.0, 0.0),
            (2.0, 3.0, 9.8),
            (2.0, -3.0, 9.8),
            (0.5, 0.0, 4.0),
        ] {
            let t: f64 = closing_time(gap, speed, pull);
            let closed = speed * t + 0.5 * pull * t * t;
            assert!(
                (closed - gap).abs() < 1e-12 * gap,
                "{gap} {speed} {pull}: {closed}"
            );
        }
        assert_eq!(closing_time(1.0, -1.0, 0.0), f64::INFINITY);
    }

    #[test]
    fn spheres_meet_where_their_distance_is_the_sum_of_their_radii() {
        let (x, v) = (DVec3::new(3.0, 0.5, 0.0), DVec3::new(-2.0, 0.1, 0.3));
        let t = meeting(x, v, 1.2);
        assert!(((x + v * t).length() - 1.2).abs() < 1e-12);
        assert_eq!(meeting(x, -v, 1.2), f64::INFINITY);
        assert_eq!(meeting(x, DVec3::new(-2.0, 2.0, 0.0), 1.2), f64::INFINITY);
    }
}
