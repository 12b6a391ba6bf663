//! The time for which contact lists hold every pair that can touch.

use glam::DVec3;

use crate::geometry::solid::Solid;
use crate::math::Scalar;
use crate::parallel::prelude::*;
use crate::simulate::bonded::system::System;
use crate::simulate::scene::colliders::PosedCollider;
use crate::simulate::sleep::clusters::Cluster;
use crate::simulate::sleep::groups::{Bounds, Groups};
use crate::simulate::sleep::piece::Piece;
use crate::simulate::sleep::pieces::Sleep;
use crate::simulate::sleep::surroundings::Surroundings;

/// Consecutive elements that are awake in one sphere.
const BLOCK: usize = 32;
/// Time after which lists are built again even if nothing can meet before, s, about.
const LONGEST: f64 = 1.0;

impl<S: Scalar> Sleep<S> {
    /// Time for which contact lists that were just built hold every pair that can touch, s, while nothing is
    /// awake, colliders are at rest and pieces keep to the bounds. The places of all elements must be up to date.
    pub fn lists_hold(&self, around: Surroundings<S>, bounds: &[Bounds]) -> f64 {
        let moving = |at: &usize| !self.pieces[*at].still;
        let moving: Vec<usize> = (0..self.pieces.len()).filter(moving).collect();
        self.hold_among(&moving, around, bounds)
    }

    /// Time until one of these pieces may touch another, a piece at rest or a collider by elements that are not
    /// listed, s.
    fn hold_among(&self, moving: &[usize], around: Surroundings<S>, bounds: &[Bounds]) -> f64 {
        let times = moving.par_iter().with_min_len(64).map(|&at| {
            let piece = (&self.pieces[at], bounds[at]);
            let all = around.colliders.iter();
            all.map(|collider| self.collider_holds(piece, collider, &around))
                .fold(f64::INFINITY, f64::min)
        });
        let times: Vec<f64> = times.collect();
        let time = times.into_iter().fold(f64::INFINITY, f64::min);
        let still = |at: &usize| self.pieces[*at].still && !self.pieces[*at].removed;
        let still: Vec<usize> = (0..self.pieces.len()).filter(still).collect();
        let speeds = moving
            .iter()
            .map(|&at| bounds[at].velocity.length() + bounds[at].speed);
        // Most pairs are far apart, so only those that may meet within a span are looked at. It grows until it is as
        // long as the answer.
        let mut span = around.contacts.skin() / speeds.fold(f64::MIN_POSITIVE, f64::max);
        loop {
            span = span.min(time);
            let found = self.pairs_hold((moving, &still), (around, bounds), span);
            if found <= span || span >= time {
                return time.min(found);
            }
            if span >= LONGEST {
                return span;
            }
            span *= 4.0;
        }
    }

    /// As [`hold_among`](Self::hold_among) for pairs of pieces, among those that may meet within `span` seconds.
    fn pairs_hold(
        &self,
        (moving, still): (&[usize], &[usize]),
        (around, bounds): (Surroundings<S>, &[Bounds]),
        span: f64,
    ) -> f64 {
        let fall = 0.5 * self.fields().gravity.length() * span * span;
        let extent = |&at: &usize| {
            let (piece, of) = (&self.pieces[at], &bounds[at]);
            let (x, moved) = (piece.centre().x, of.velocity.x * span);
            let room = piece.reach + around.contacts.largest() + of.speed * span;
            let room = if piece.still { room } else { room + fall };
            (x + moved.min(0.0) - room, x + moved.max(0.0) + room, at)
        };
        let mut order: Vec<(f64, f64, usize)> = moving.iter().chain(still).map(extent).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let times = (0..order.len()).into_par_iter().with_min_len(64).map(|k| {
            let (_, end, at) = order[k];
            let later = order[k + 1..].iter().take_while(|other| other.0 <= end);
            let mut time = f64::INFINITY;
            for &(.., other) in later {
                let pair = (&self.pieces[at], &self.pieces[other]);
                if !(pair.0.still && pair.1.still) {
                    let of = (bounds[at], bounds[other]);
                    time = time.min(self.pair_holds(pair, of, &around));
                }
            }
            time
        });
        let times: Vec<f64> = times.collect();
        times.into_iter().fold(f64::INFINITY, f64::min)
    }

    /// As [`lists_hold`](Self::lists_hold) while elements are awake: they, and pieces whose groups touch them, may
    /// move by half the skin.
    pub fn lists_hold_beside_awake(&self, around: Surroundings<S>, groups: &Groups) -> f64 {
        let (half, pull) = (0.5 * around.contacts.skin(), self.fields().gravity.length());
        let mut spheres = self.awake_spheres(around.system);
        let met = self.pieces.iter().zip(&groups.meets_awake);
        let met = met.filter(|(_, meets_awake)| **meets_awake);
        spheres.extend(met.flat_map(|(piece, _)| piece.placed().spheres()));
        let is_apart = |at: &usize| !groups.meets_awake[*at] && !self.pieces[*at].still;
        let apart: Vec<usize> = (0..self.pieces.len()).filter(is_apart).collect();
        let margin = 2.0 * around.contacts.largest();
        let times = apart.par_iter().with_min_len(16).map(|&at| {
            let (piece, bounds) = (&self.pieces[at], groups.bounds[at]);
            let distances = spheres.iter().map(|(p, r)| p.distance(piece.centre()) - r);
            let nearest = distances.fold(f64::INFINITY, f64::min) - piece.reach - margin;
            let gap = (nearest - half).max(half);
            let speed = bounds.velocity.length() + bounds.speed;
            closing_time(gap, speed, pull)
        });
        let times: Vec<f64> = times.collect();
        let among = self.hold_among(&apart, around, &groups.bounds);
        times.into_iter().fold(among, f64::min)
    }

    /// Spheres around the centres of elements that are awake.
    pub(super) fn awake_spheres(&self, system: &System<S>) -> Vec<(DVec3, f64)> {
        let blocks = (0..system.count).step_by(BLOCK);
        let sphere = |first: usize| {
            let block = first..(first + BLOCK).min(system.count);
            let awake = block.filter(|&i| !self.is_asleep(i));
            let places: Vec<DVec3> = awake.map(|i| system.position(i)).collect();
            let middle = places.iter().sum::<DVec3>() / places.len() as f64;
            let distances = places.iter().map(|place| place.distance(middle));
            (!places.is_empty()).then(|| (middle, distances.fold(0.0, f64::max)))
        };
        blocks.filter_map(sphere).collect()
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
        let margin = 2.0 * around.contacts.largest();
        let reach = a.reach + b.reach + margin;
        let gap = x.length() - reach;
        let closing = v.length() + of_a.speed + of_b.speed;
        // Elements nearer than the skin are listed.
        let near = || (a.placed().distance(&b.placed()) - margin).max(skin);
        if a.is_free() && b.is_free() {
            // Both fall alike.
            return match gap > skin {
                true => meeting(x, v, reach),
                false => near() / closing,
            };
        }
        let gap = if gap < 2.0 * skin { near() } else { gap };
        closing_time(gap, closing, 2.0 * self.fields().gravity.length())
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
        let gap = distance - piece.reach - contacts.largest();
        if gap > contacts.skin() {
            // Turning alone takes no element beyond the reach.
            let speed = match piece.is_free() {
                true => approach,
                false => approach + bounds.speed,
            };
            return closing_time(gap, speed, pull);
        }
        // Elements nearer than the skin are listed. The others are looked at by cluster, as far as that suffices.
        let of = |&k: &u32| {
            let (distance, ..) = pose.surface(solid, piece.place(k as usize));
            let gap = distance - around.system.radius(piece.elements[k as usize] as usize);
            match gap < contacts.skin() {
                true => f64::INFINITY,
                false => gap,
            }
        };
        let of_cluster = |(cluster, (middle, reach)): (&Cluster, (DVec3, f64))| {
            let (distance, ..) = pose.surface(solid, middle);
            let gap = distance - reach - contacts.largest();
            match gap > contacts.skin() {
                true => gap,
                false => cluster
                    .elements
                    .iter()
                    .map(of)
                    .fold(f64::INFINITY, f64::min),
            }
        };
        let clusters = piece.clusters.iter().zip(piece.placed().spheres());
        let nearest = clusters.map(of_cluster).fold(f64::INFINITY, f64::min);
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
    use super::{DVec3, Surroundings, closing_time, meeting};
    use crate::simulate::contact::lists::Contacts;
    use crate::simulate::sleep::test_scene::asleep;

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

    /// Thirty small blocks, three to a row along x, that fly about.
    fn swarm() -> String {
        let mut text = "[time]\nend = 1\nframes_per_second = 1\n[[material]]\nname = \"m\"\ndensity = 2600\nyoung = 1e7\n\
                        tensile_strength = 1e5\nshear_strength = 1e5\n"
            .to_owned();
        for k in 0..30 {
            let [x, y, z] = [k % 3, k / 3 % 5, k / 15].map(|at| 0.012 * f64::from(at));
            let [u, v, w] = [1.7, 2.3, 2.9].map(|turn: f64| (turn * f64::from(k)).sin());
            text += &format!(
                "[[body]]\nname = \"b{k}\"\nmaterial = \"m\"\nposition = [{x}, {y}, {z}]\nvelocity = [{u}, {v}, {w}]\n\
                 shape = {{ type = \"block\", rows = [3, 2, 2] }}\npacking = {{ type = \"hexagonal\", radius = 1e-3 }}\n"
            );
        }
        text
    }

    #[test]
    fn nothing_touches_as_long_as_lists_hold_and_soon_after_something_is_near() {
        let (built, sleep) = asleep(&swarm(), 0..30);
        let (system, rest) = (&built.system, &built.rest);
        let contacts = Contacts::new(system, &built.surfaces, &[]);
        assert_eq!(contacts.sides(), 0, "no pair is listed");
        let around = Surroundings {
            system,
            contacts: &contacts,
            colliders: &[],
        };
        let groups = sleep.groups(around);
        let time = sleep.lists_hold(around, &groups.bounds);
        let nearest = |time: f64| {
            let place = |i: usize| {
                let piece = &sleep.pieces[sleep.piece_of(i as u32).unwrap()];
                system.position(i) + piece.body.moving.velocity * time
            };
            let mut nearest = f64::INFINITY;
            for i in 0..system.count {
                for j in (0..i).filter(|&j| rest.body[i] != rest.body[j]) {
                    nearest = nearest.min(place(i).distance(place(j)));
                }
            }
            nearest
        };
        assert!(time > 1e-4 && nearest(time) >= 2e-3, "{time}");
        // The bound is that of spheres around the blocks, which are 6 by 4 by 4 mm.
        let later: Vec<f64> = (0..20)
            .map(|k| nearest(time * (1.0 + 0.5 * f64::from(k))))
            .collect();
        assert!(later.iter().any(|distance| *distance < 2e-3), "{later:?}");
    }
}
