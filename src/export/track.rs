//! Translation and rotation tracks of an object, reduced to as few keyframes as the tolerance allows.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};

use super::keyframe::Keyframe;

/// Motion of an object, interpolated linearly and by slerp between keyframes. Each track has at least one
/// keyframe, and only one if it is constant.
#[derive(Clone, Debug)]
pub struct Track {
    /// Time, in frames, and position of the pivot, units of the file.
    pub translations: Vec<(f64, DVec3)>,
    /// Time, in frames, and rotation. Of the two quaternions of a rotation, each is the one nearer to its
    /// predecessor.
    pub rotations: Vec<(f64, DQuat)>,
}

/// Largest error of a point, over the object's size, that dropping a keyframe of zero tolerance may cause.
const TOLERANCE: f64 = 1e-6;

/// Largest angle between successive keyframes, rad. At this angle, players that interpolate quaternions
/// without slerp are off by 2 degrees.
const MAX_TURN: f64 = TAU / 3.0;

impl Track {
    /// Tracks of an object of `size`, units of the file, through `keyframes`, which must not be empty. Drops
    /// the keyframes that interpolation between the others reproduces.
    pub fn new(keyframes: &[Keyframe], size: f64) -> Self {
        // Rounding error of positions in single precision.
        let reach = keyframes.iter().map(|key| key.at.abs().max_element());
        let rounding = f64::from(f32::EPSILON) * reach.fold(0.0, f64::max);
        let allowed = |tolerance: f64| TOLERANCE * size + rounding + tolerance;
        let part = |a: &Keyframe, b: &Keyframe, k: &Keyframe| (k.time - a.time) / (b.time - a.time);
        let moved = |a: &Keyframe, b: &Keyframe, k: &Keyframe| {
            a.at.lerp(b.at, part(a, b, k)).distance(k.at) / allowed(k.tolerance[0])
        };
        let turned = |a: &Keyframe, b: &Keyframe, k: &Keyframe| {
            let shown = a.rotation.slerp(b.rotation, part(a, b, k));
            size * rotation_distance(shown, k.rotation) / allowed(k.tolerance[1])
        };
        let near = |_: &Keyframe, _: &Keyframe| true;
        let within = |a: &Keyframe, b: &Keyframe| a.rotation.angle_between(b.rotation) <= MAX_TURN;
        let translations = simplified(keyframes, moved, near).map(|key| (key.time, key.at));
        let mut rotations: Vec<(f64, DQuat)> = simplified(keyframes, turned, within)
            .map(|key| (key.time, key.rotation))
            .collect();
        for k in 1..rotations.len() {
            if rotations[k - 1].1.dot(rotations[k].1) < 0.0 {
                rotations[k].1 = -rotations[k].1;
            }
        }
        Track {
            translations: translations.collect(),
            rotations,
        }
    }
}

/// Keyframes that remain after simplification (Ramer 1972, Douglas and Peucker 1973): if the interpolation
/// between two keyframes is too far off, the keyframe with the largest error between them is kept as well.
/// `off(a, b, k)` is the error of the interpolation between `a` and `b` at `k`, over the allowed error;
/// `within(a, b)` is whether `a` and `b` may be interpolated at all.
fn simplified(
    keyframes: &[Keyframe],
    off: impl Fn(&Keyframe, &Keyframe, &Keyframe) -> f64,
    within: impl Fn(&Keyframe, &Keyframe) -> bool,
) -> impl Iterator<Item = &Keyframe> {
    let last = keyframes.len() - 1;
    let mut simplified = vec![false; keyframes.len()];
    simplified[0] = true;
    // A constant track needs one keyframe.
    let mut stretches = Vec::new();
    if (1..=last).any(|k| {
        off(
            &keyframes[0],
            &held(&keyframes[0], &keyframes[last]),
            &keyframes[k],
        ) > 1.0
    }) {
        stretches.push((0, last));
    }
    while let Some((from, to)) = stretches.pop() {
        (simplified[from], simplified[to]) = (true, true);
        let farthest = (from + 1..to)
            .map(|k| (k, off(&keyframes[from], &keyframes[to], &keyframes[k])))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        match farthest {
            Some((k, off)) if off > 1.0 => stretches.extend([(from, k), (k, to)]),
            Some(_) if !within(&keyframes[from], &keyframes[to]) => {
                let middle = from.midpoint(to);
                stretches.extend([(from, middle), (middle, to)]);
            }
            _ => {}
        }
    }
    let simplified = keyframes
        .iter()
        .zip(simplified)
        .filter(|(_, simplified)| *simplified);
    simplified.map(|(key, _)| key)
}

/// The pose of `first` at the time of `last`.
fn held(first: &Keyframe, last: &Keyframe) -> Keyframe {
    Keyframe {
        time: last.time,
        ..*first
    }
}

/// Distance between the images of a point half a unit from the pivot under two rotations, to first order.
fn rotation_distance(a: DQuat, b: DQuat) -> f64 {
    (a - b).length().min((a + b).length())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(frame: u32, at: DVec3, angle: f64) -> Keyframe {
        let rotation = DQuat::from_rotation_z(angle);
        Keyframe {
            time: frame.into(),
            at,
            rotation,
            tolerance: [0.0; 2],
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
        let keyframes: Vec<Keyframe> = [0, 1, 2, 5, 9].map(way).to_vec();
        let track = Track::new(&keyframes, 1.0);
        assert_eq!(times(&track.translations), [0.0, 9.0]);
        assert_eq!(times(&track.rotations), [0.0, 9.0]);
    }

    #[test]
    fn a_bend_is_a_key() {
        let way = |frame: u32| key(frame, DVec3::X * f64::from(frame.saturating_sub(4)), 0.0);
        let keyframes: Vec<Keyframe> = (0..9).map(way).collect();
        let track = Track::new(&keyframes, 0.01);
        assert_eq!(times(&track.translations), [0.0, 4.0, 8.0]);
        assert_eq!(times(&track.rotations), [0.0]);
    }

    #[test]
    fn no_turn_is_taken_the_wrong_way() {
        for speed in [0.5, 1.0, 1.04, 3.0] {
            let all = (0..90).map(|k| key(k, DVec3::ZERO, speed * f64::from(k)));
            let keyframes: Vec<Keyframe> = all.collect();
            let track = Track::new(&keyframes, 1.0);
            assert_eq!(times(&track.translations), [0.0]);
            for pair in track.rotations.windows(2) {
                assert!(pair[0].1.dot(pair[1].1) > 0.0, "{pair:?}");
                let turn = speed * (pair[1].0 - pair[0].0);
                assert!(turn <= MAX_TURN.max(speed) + 1e-9, "{speed}: {pair:?}");
            }
            for given in &keyframes {
                let next = track
                    .rotations
                    .iter()
                    .position(|(time, _)| *time >= given.time);
                let next = next.expect("the last is kept").max(1);
                let ((t0, a), (t1, b)) = (track.rotations[next - 1], track.rotations[next]);
                let shown = a.slerp(b, (given.time - t0) / (t1 - t0));
                assert!(
                    rotation_distance(shown, given.rotation) < 2e-6,
                    "{speed}: {given:?}"
                );
            }
        }
    }

    #[test]
    fn what_lies_within_its_slack_is_left_out() {
        let mut keyframes = vec![key(0, DVec3::ZERO, 0.0), key(1, DVec3::X, 0.0)];
        let between = |off: f64| Keyframe {
            time: 0.5,
            tolerance: [2e-3; 2],
            ..key(0, DVec3::new(0.5, off, 0.0), 0.0)
        };
        keyframes.insert(1, between(1e-3));
        assert_eq!(times(&Track::new(&keyframes, 1.0).translations), [0.0, 1.0]);
        keyframes[1] = between(3e-3);
        assert_eq!(
            times(&Track::new(&keyframes, 1.0).translations),
            [0.0, 0.5, 1.0]
        );
    }

    #[test]
    fn what_stays_has_one_pose() {
        let jitter = |frame: u32| key(frame, DVec3::Y * (1.0 + 1e-8 * f64::from(frame % 2)), 0.7);
        let keyframes: Vec<Keyframe> = (3..9).map(jitter).collect();
        let track = Track::new(&keyframes, 0.01);
        assert_eq!(times(&track.translations), [3.0]);
        assert_eq!(times(&track.rotations), [3.0]);
    }
}
