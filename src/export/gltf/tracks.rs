//! The ways of objects as keys of animation tracks, and no more keys than it takes.

use glam::{DQuat, DVec3};

/// Where an object's pivot is and how the object is turned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// The frame.
    pub frame: u32,
    /// Its pivot, units of the file.
    pub at: DVec3,
    /// From rest.
    pub rotation: DQuat,
}

/// An object's way: straight lines and even turns between poses.
#[derive(Clone, Debug)]
pub struct Track {
    /// In order of frames, at least one; one is enough for what stays where it is.
    pub poses: Vec<Pose>,
    /// Whether its pivot moves.
    pub moves: bool,
    /// Whether it turns.
    pub turns: bool,
}

/// How far a point may be off by leaving out keys, over the object's size.
const CLOSE: f64 = 1e-6;

impl Track {
    /// The way of an object of `size`, units of the file, through `poses`, at least one, without those that lie on the way between others.
    pub fn new(poses: &[Pose], size: f64) -> Self {
        let first = poses[0];
        // Nearer than that, single precision cannot tell places apart.
        let reach = poses.iter().map(|pose| pose.at.abs().max_element());
        let close = CLOSE * size + f64::from(f32::EPSILON) * reach.fold(0.0, f64::max);
        let moves = poses.iter().any(|p| p.at.distance(first.at) > close);
        let turns = poses.iter().any(|p| size * turn(p, &first) > close);
        if !moves && !turns {
            let poses = vec![first];
            return Track {
                poses,
                moves,
                turns,
            };
        }
        // Ramer 1972, Douglas and Peucker 1973: where the way from end to end is too far off, it goes through the pose that is farthest off.
        let mut kept = vec![false; poses.len()];
        let mut stretches = vec![(0, poses.len() - 1)];
        while let Some((from, to)) = stretches.pop() {
            (kept[from], kept[to]) = (true, true);
            let off = |k: usize| {
                poses[k].distance(&between(&poses[from], &poses[to], poses[k].frame), size)
            };
            let farthest = (from + 1..to)
                .map(|k| (k, off(k)))
                .max_by(|a, b| a.1.total_cmp(&b.1));
            if let Some((k, off)) = farthest
                && off > close
            {
                stretches.extend([(from, k), (k, to)]);
            }
        }
        let kept = poses.iter().zip(kept).filter(|(_, kept)| *kept);
        Track {
            poses: kept.map(|(pose, _)| *pose).collect(),
            moves,
            turns,
        }
    }
}

/// Where a player has the object at a frame between two poses.
fn between(a: &Pose, b: &Pose, frame: u32) -> Pose {
    let part = f64::from(frame - a.frame) / f64::from(b.frame - a.frame);
    Pose {
        frame,
        at: a.at.lerp(b.at, part),
        rotation: a.rotation.slerp(b.rotation, part),
    }
}

/// How far apart two rotations take a point half a unit from the pivot, to first order.
fn turn(a: &Pose, b: &Pose) -> f64 {
    (a.rotation - b.rotation).length()
}

impl Pose {
    /// How far a point of an object of `size` about the pivot can be from where it is in another pose.
    fn distance(&self, other: &Pose, size: f64) -> f64 {
        self.at.distance(other.at) + size * turn(self, other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pose(frame: u32, at: DVec3, angle: f64) -> Pose {
        let rotation = DQuat::from_rotation_z(angle);
        Pose {
            frame,
            at,
            rotation,
        }
    }

    fn frames(track: &Track) -> Vec<u32> {
        track.poses.iter().map(|pose| pose.frame).collect()
    }

    #[test]
    fn a_straight_way_has_two_keys() {
        let way = |frame: u32| {
            let steps = f64::from(frame);
            pose(frame, DVec3::new(0.5, -0.25 * steps, 0.0), 0.1 * steps)
        };
        let poses: Vec<Pose> = [0, 1, 2, 5, 9].map(way).to_vec();
        let track = Track::new(&poses, 1.0);
        assert_eq!(frames(&track), [0, 9]);
        assert!(track.moves && track.turns);
    }

    #[test]
    fn a_bend_is_a_key() {
        let way = |frame: u32| pose(frame, DVec3::X * f64::from(frame.saturating_sub(4)), 0.0);
        let poses: Vec<Pose> = (0..9).map(way).collect();
        let track = Track::new(&poses, 0.01);
        assert_eq!(frames(&track), [0, 4, 8]);
        assert!(track.moves && !track.turns);
    }

    #[test]
    fn more_than_half_a_turn_is_not_taken_the_short_way() {
        let poses: Vec<Pose> = (0..9)
            .map(|frame| pose(frame, DVec3::ZERO, f64::from(frame)))
            .collect();
        let track = Track::new(&poses, 1.0);
        assert!(!track.moves && track.turns);
        for pair in track.poses.windows(2) {
            assert!(pair[0].rotation.dot(pair[1].rotation) > 0.0, "{pair:?}");
        }
        for pose in &poses {
            let next = track.poses.iter().position(|key| key.frame >= pose.frame);
            let next = next.expect("the last is kept");
            let from = &track.poses[next.saturating_sub(1)];
            let shown = match track.poses[next] {
                key if key.frame == pose.frame => key,
                key => between(from, &key, pose.frame),
            };
            assert!(pose.distance(&shown, 1.0) < 2e-6, "{pose:?}");
        }
    }

    #[test]
    fn what_stays_has_one_pose() {
        let jitter = |frame: u32| pose(frame, DVec3::Y * (1.0 + 1e-8 * f64::from(frame % 2)), 0.7);
        let poses: Vec<Pose> = (3..9).map(jitter).collect();
        let track = Track::new(&poses, 0.01);
        assert_eq!(frames(&track), [3]);
        assert!(!track.moves && !track.turns);
    }
}
