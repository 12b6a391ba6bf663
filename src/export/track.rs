//! The way of an object as tracks of places and of rotations, and no more keys than it takes.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};

use super::key::Key;

/// An object's way: straight lines and even turns between keys. Each track has one key at least; one is
/// enough for what stays as it is.
#[derive(Clone, Debug)]
pub struct Track {
    /// Places of the pivot by time, frames.
    pub places: Vec<(f64, DVec3)>,
    /// Rotations by time, frames, each beside the one before of the two quaternions that mean it.
    pub turns: Vec<(f64, DQuat)>,
}

/// How far a point may be off by leaving out a key without slack, over the object's size.
const CLOSE: f64 = 1e-6;

/// The farthest turn from key to key, rad. Players that blend quaternions without slerp are off by 2 degrees then.
const FARTHEST: f64 = TAU / 3.0;

impl Track {
    /// The way of an object of `size`, units of the file, through `keys`, at least one, without those that
    /// lie on the way between others.
    pub fn new(keys: &[Key], size: f64) -> Self {
        // Nearer than that, single precision cannot tell places apart.
        let reach = keys.iter().map(|key| key.at.abs().max_element());
        let rounding = f64::from(f32::EPSILON) * reach.fold(0.0, f64::max);
        let allowed = |slack: f64| CLOSE * size + rounding + slack;
        let part = |a: &Key, b: &Key, k: &Key| (k.time - a.time) / (b.time - a.time);
        let moved = |a: &Key, b: &Key, k: &Key| {
            a.at.lerp(b.at, part(a, b, k)).distance(k.at) / allowed(k.slack[0])
        };
        let turned = |a: &Key, b: &Key, k: &Key| {
            let shown = a.rotation.slerp(b.rotation, part(a, b, k));
            size * apart(shown, k.rotation) / allowed(k.slack[1])
        };
        let near = |_: &Key, _: &Key| true;
        let within = |a: &Key, b: &Key| a.rotation.angle_between(b.rotation) <= FARTHEST;
        let places = kept(keys, moved, near).map(|key| (key.time, key.at));
        let mut turns: Vec<(f64, DQuat)> = kept(keys, turned, within)
            .map(|key| (key.time, key.rotation))
            .collect();
        for k in 1..turns.len() {
            if turns[k - 1].1.dot(turns[k].1) < 0.0 {
                turns[k].1 = -turns[k].1;
            }
        }
        Track {
            places: places.collect(),
            turns,
        }
    }
}

/// Keys without those that a blend of others comes near to (Ramer 1972, Douglas and Peucker 1973): where the
/// way from one to another is too far off, it goes through the key that is farthest off. `off` says how far a
/// third is, over what is allowed; `within` whether two may be blended at all.
fn kept(
    keys: &[Key],
    off: impl Fn(&Key, &Key, &Key) -> f64,
    within: impl Fn(&Key, &Key) -> bool,
) -> impl Iterator<Item = &Key> {
    let last = keys.len() - 1;
    let mut kept = vec![false; keys.len()];
    kept[0] = true;
    // What stays needs one key.
    let mut stretches = Vec::new();
    if (1..=last).any(|k| off(&keys[0], &still(&keys[0], &keys[last]), &keys[k]) > 1.0) {
        stretches.push((0, last));
    }
    while let Some((from, to)) = stretches.pop() {
        (kept[from], kept[to]) = (true, true);
        let farthest = (from + 1..to)
            .map(|k| (k, off(&keys[from], &keys[to], &keys[k])))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        match farthest {
            Some((k, off)) if off > 1.0 => stretches.extend([(from, k), (k, to)]),
            Some(_) if !within(&keys[from], &keys[to]) => {
                let middle = from.midpoint(to);
                stretches.extend([(from, middle), (middle, to)]);
            }
            _ => {}
        }
    }
    let kept = keys.iter().zip(kept).filter(|(_, kept)| *kept);
    kept.map(|(key, _)| key)
}

/// The first pose at another's time.
fn still(first: &Key, last: &Key) -> Key {
    Key {
        time: last.time,
        ..*first
    }
}

/// How far two rotations take a point half a unit from the pivot apart, to first order.
fn apart(a: DQuat, b: DQuat) -> f64 {
    (a - b).length().min((a + b).length())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(frame: u32, at: DVec3, angle: f64) -> Key {
        let rotation = DQuat::from_rotation_z(angle);
        Key {
            time: frame.into(),
            at,
            rotation,
            slack: [0.0; 2],
        }
    }

    fn times<T>(track: &[(f64, T)]) -> Vec<f64> {
        track.iter().map(|(time, _)| *time).collect()
    }

    #[test]
    fn a_straight_way_has_two_keys() {
        let way = |frame: u32| {
            let steps = f64::from(frame);
            key(frame, DVec3::new(0.5, -0.25 * steps, 0.0), 0.1 * steps)
        };
        let keys: Vec<Key> = [0, 1, 2, 5, 9].map(way).to_vec();
        let track = Track::new(&keys, 1.0);
        assert_eq!(times(&track.places), [0.0, 9.0]);
        assert_eq!(times(&track.turns), [0.0, 9.0]);
    }

    #[test]
    fn a_bend_is_a_key() {
        let way = |frame: u32| key(frame, DVec3::X * f64::from(frame.saturating_sub(4)), 0.0);
        let keys: Vec<Key> = (0..9).map(way).collect();
        let track = Track::new(&keys, 0.01);
        assert_eq!(times(&track.places), [0.0, 4.0, 8.0]);
        assert_eq!(times(&track.turns), [0.0]);
    }

    #[test]
    fn no_turn_is_taken_the_wrong_way() {
        for speed in [0.5, 1.0, 1.04, 3.0] {
            let all = (0..90).map(|k| key(k, DVec3::ZERO, speed * f64::from(k)));
            let keys: Vec<Key> = all.collect();
            let track = Track::new(&keys, 1.0);
            assert_eq!(times(&track.places), [0.0]);
            for pair in track.turns.windows(2) {
                assert!(pair[0].1.dot(pair[1].1) > 0.0, "{pair:?}");
                let turn = speed * (pair[1].0 - pair[0].0);
                assert!(turn <= FARTHEST.max(speed) + 1e-9, "{speed}: {pair:?}");
            }
            for given in &keys {
                let next = track.turns.iter().position(|(time, _)| *time >= given.time);
                let next = next.expect("the last is kept").max(1);
                let ((t0, a), (t1, b)) = (track.turns[next - 1], track.turns[next]);
                let shown = a.slerp(b, (given.time - t0) / (t1 - t0));
                assert!(apart(shown, given.rotation) < 2e-6, "{speed}: {given:?}");
            }
        }
    }

    #[test]
    fn what_lies_within_its_slack_is_left_out() {
        let mut keys = vec![key(0, DVec3::ZERO, 0.0), key(1, DVec3::X, 0.0)];
        let between = |off: f64| Key {
            time: 0.5,
            slack: [2e-3; 2],
            ..key(0, DVec3::new(0.5, off, 0.0), 0.0)
        };
        keys.insert(1, between(1e-3));
        assert_eq!(times(&Track::new(&keys, 1.0).places), [0.0, 1.0]);
        keys[1] = between(3e-3);
        assert_eq!(times(&Track::new(&keys, 1.0).places), [0.0, 0.5, 1.0]);
    }

    #[test]
    fn what_stays_has_one_pose() {
        let jitter = |frame: u32| key(frame, DVec3::Y * (1.0 + 1e-8 * f64::from(frame % 2)), 0.7);
        let keys: Vec<Key> = (3..9).map(jitter).collect();
        let track = Track::new(&keys, 0.01);
        assert_eq!(times(&track.places), [3.0]);
        assert_eq!(times(&track.turns), [3.0]);
    }
}
