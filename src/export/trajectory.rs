//! Trajectory of a fragment: keyframes between which a player interpolates linearly and by slerp.
//!
//! There is a keyframe in each frame, and more in between where interpolation would miss the motion that
//! [`FrameInterval`] computes.

use glam::DMat3;

use super::frame_interval::FrameInterval;
use super::free_rotation::FreeRotation;
use super::keyframe::Keyframe;
use super::rigid_state::RigidState;

/// Motion of a fragment through its frames.
pub struct Trajectory<'a> {
    /// States in the frames that have the fragment, in order; at least one.
    pub states: &'a [RigidState],
    /// State of its elements in the frame before the first and in the frame after the last, when they belong
    /// to other fragments; `None` if the frames lack the columns.
    pub adjacent: [Option<RigidState>; 2],
    /// Times, in frames, at which the fragment appears and disappears; `None` if that is not within the shot.
    pub lifetime: [Option<f64>; 2],
    /// Inertia tensor about the centre of mass at rest, for any density.
    pub inertia: &'a DMat3,
    /// Diagonal of the bounding box at rest, units of the file.
    pub size: f64,
    /// Frames per second of the event.
    pub fps: f64,
}

impl Trajectory<'_> {
    /// Keyframes in order, at least one. If the fragment appears or disappears within the shot, they begin or
    /// end at that time.
    pub fn keyframes(&self) -> Vec<Keyframe> {
        let states = self.states;
        let (first, last) = (&states[0], &states[states.len() - 1]);
        let mut keyframes = Vec::with_capacity(states.len() + 2);
        if let Some(birth) = self.lifetime[0] {
            match &self.adjacent[0] {
                Some(before) => {
                    let interval = self.interval(before, first);
                    let from = interval.fraction(birth);
                    keyframes.push(interval.keyframe(from));
                    interval.add_keyframes(from, 1.0, &mut keyframes);
                }
                None => keyframes.push(self.free_flight(first, birth)),
            }
        }
        keyframes.push(keyframe(first));
        for pair in states.windows(2) {
            let interval = self.interval(&pair[0], &pair[1]);
            interval.add_keyframes(0.0, 1.0, &mut keyframes);
            keyframes.push(keyframe(&pair[1]));
        }
        if let Some(death) = self.lifetime[1] {
            match &self.adjacent[1] {
                Some(after) => {
                    let interval = self.interval(last, after);
                    let to = interval.fraction(death);
                    interval.add_keyframes(0.0, to, &mut keyframes);
                    keyframes.push(interval.keyframe(to));
                }
                None => keyframes.push(self.free_flight(last, death)),
            }
        }
        // Of the two quaternions of a rotation, take the one nearer to the last; otherwise interpolation
        // takes the long way round.
        for k in 1..keyframes.len() {
            if keyframes[k - 1].rotation.dot(keyframes[k].rotation) < 0.0 {
                keyframes[k].rotation = -keyframes[k].rotation;
            }
        }
        keyframes
    }

    fn interval<'a>(&self, a: &'a RigidState, b: &'a RigidState) -> FrameInterval<'a> {
        FrameInterval::new(a, b, self.inertia, (self.size, self.fps))
    }

    /// Pose at another time, by free flight from `state`.
    fn free_flight(&self, state: &RigidState, time: f64) -> Keyframe {
        let seconds = (time - f64::from(state.frame)) / self.fps;
        let flight = FreeRotation::new(state, self.inertia, seconds);
        Keyframe {
            time,
            at: state.at + state.velocity * seconds,
            rotation: flight.end(),
            tolerance: [0.0; 2],
        }
    }
}

fn keyframe(state: &RigidState) -> Keyframe {
    Keyframe {
        time: state.frame.into(),
        at: state.at,
        rotation: state.rotation,
        tolerance: [0.0; 2],
    }
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::*;

    /// A body that spins about x, `turns` per frame, in free flight.
    fn state(frame: u32, turns: f64) -> RigidState {
        let angle = std::f64::consts::TAU * turns;
        RigidState {
            frame,
            at: DVec3::new(0.25 * f64::from(frame), 0.0, 0.0),
            rotation: DQuat::from_rotation_x(angle * f64::from(frame)),
            velocity: DVec3::new(25.0, 0.0, 0.0),
            spin: DVec3::new(100.0 * angle, 0.0, 0.0),
        }
    }

    /// Trajectory of a cube.
    fn trajectory(states: &[RigidState]) -> Trajectory<'_> {
        Trajectory {
            states,
            adjacent: [None; 2],
            lifetime: [None; 2],
            inertia: &DMat3::IDENTITY,
            size: 1.0,
            fps: 100.0,
        }
    }

    fn angle_at(keyframes: &[Keyframe], time: f64) -> DQuat {
        let next = keyframes.partition_point(|key| key.time < time).max(1);
        let (a, b) = (&keyframes[next - 1], &keyframes[next]);
        let part = (time - a.time) / (b.time - a.time);
        a.rotation.slerp(b.rotation, part)
    }

    #[test]
    fn several_turns_a_frame_are_taken_the_right_way() {
        for turns in [-3.7, -0.9, -0.1, 0.05, 0.3, 0.6, 1.0, 2.5, 8.25] {
            let states: Vec<RigidState> = (0..3).map(|frame| state(frame, turns)).collect();
            let keyframes = trajectory(&states).keyframes();
            for k in 0..=40 {
                let time = 0.05 * f64::from(k);
                let expected = DQuat::from_rotation_x(std::f64::consts::TAU * turns * time);
                let found = angle_at(&keyframes, time);
                assert!(found.dot(expected).abs() > 1.0 - 1e-9, "{turns} at {time}");
            }
            for pair in keyframes.windows(2) {
                assert!(pair[0].rotation.dot(pair[1].rotation) > 0.0);
                assert!(pair[0].time < pair[1].time);
            }
        }
    }

    #[test]
    fn slow_turns_need_no_keys_in_between() {
        let states: Vec<RigidState> = (0..5).map(|frame| state(frame, 0.16)).collect();
        let keyframes = trajectory(&states).keyframes();
        assert_eq!(keyframes.len(), 5);
    }

    #[test]
    fn a_tumbling_brick_keeps_its_angular_momentum() {
        let inertia = DMat3::from_diagonal(DVec3::new(1.0, 2.0, 4.0));
        let start = RigidState {
            frame: 0,
            at: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            velocity: DVec3::ZERO,
            spin: DVec3::new(3.0, 30.0, 2.0),
        };
        // Reference: integration with many small steps.
        let truth = |seconds: f64| {
            let momentum = inertia * start.spin;
            let (mut q, steps) = (start.rotation, 40_000);
            let mut spin = start.spin;
            for _ in 0..steps {
                let h = seconds / f64::from(steps);
                let turn = |q: DQuat| {
                    let turn = DMat3::from_quat(q);
                    turn * (inertia.inverse() * (turn.transpose() * momentum))
                };
                let half = DQuat::from_scaled_axis(turn(q) * (0.5 * h)) * q;
                q = (DQuat::from_scaled_axis(turn(half) * h) * q).normalize();
                spin = turn(q);
            }
            (q, spin)
        };
        let (rotation, spin) = truth(1.0);
        let end = RigidState {
            frame: 1,
            rotation,
            spin,
            ..start
        };
        let keyframes = Trajectory {
            inertia: &inertia,
            fps: 1.0,
            lifetime: [None, Some(1.5)],
            ..trajectory(&[start, end])
        }
        .keyframes();
        assert!(keyframes.len() > 20);
        for time in [0.25, 0.5, 0.75, 1.5] {
            let off = angle_at(&keyframes, time)
                .dot(truth(time).0)
                .abs()
                .min(1.0)
                .acos();
            // Slerp over a sixth of a turn misses that much of the precession of the axis.
            assert!(off < 0.05, "{time}: {off}");
        }
    }

    #[test]
    fn a_spin_that_an_impact_reverses_turns_forth_and_back() {
        let (start, mut end) = (state(0, 1.8), state(1, 1.8));
        end.spin = -end.spin;
        end.rotation = start.rotation;
        let keyframes = trajectory(&[start, end]).keyframes();
        for time in [0.125, 0.25, 0.75] {
            let turned = 1.8 * f64::min(time, 1.0 - time);
            let expected = DQuat::from_rotation_x(std::f64::consts::TAU * turned);
            let found = angle_at(&keyframes, time);
            assert!(found.dot(expected).abs() > 1.0 - 1e-9, "{time}: {found}");
        }
    }

    #[test]
    fn a_fragment_moves_on_beyond_its_frames() {
        let states = [state(3, 0.1)];
        let keyframes = Trajectory {
            lifetime: [Some(2.5), Some(3.5)],
            ..trajectory(&states)
        }
        .keyframes();
        let times: Vec<f64> = keyframes.iter().map(|key| key.time).collect();
        assert_eq!(times, [2.5, 3.0, 3.5]);
        for key in keyframes {
            assert!((key.at.x - 0.25 * key.time).abs() < 1e-12);
            let expected = DQuat::from_rotation_x(std::f64::consts::TAU * 0.1 * key.time);
            assert!(key.rotation.dot(expected).abs() > 1.0 - 1e-12);
        }
    }

    #[test]
    fn a_new_fragment_begins_where_its_elements_were() {
        // At two turns per frame, the half frame before its first frame needs keyframes in between.
        let all: Vec<RigidState> = (2..5).map(|frame| state(frame, 2.0)).collect();
        let keyframes = Trajectory {
            adjacent: [Some(all[0]), Some(all[2])],
            lifetime: [Some(2.5), Some(3.5)],
            ..trajectory(&all[1..2])
        }
        .keyframes();
        assert_eq!(
            (keyframes[0].time, keyframes[keyframes.len() - 1].time),
            (2.5, 3.5)
        );
        assert!(keyframes.len() > 10);
        for key in &keyframes {
            assert!((key.at.x - 0.25 * key.time).abs() < 1e-12);
            let expected = DQuat::from_rotation_x(std::f64::consts::TAU * 2.0 * key.time);
            assert!(key.rotation.dot(expected).abs() > 1.0 - 1e-9);
        }
    }

    #[test]
    fn an_impact_is_dated_with_the_rotations_before_and_after() {
        // An impact after 0.3 of the frame spins up a brick and changes its direction.
        let inertia = DMat3::from_diagonal(DVec3::new(1.0, 2.0, 2.5));
        let start = RigidState {
            velocity: DVec3::new(10.0, -20.0, 0.0),
            spin: DVec3::new(20.0, 5.0, 100.0),
            ..state(0, 0.0)
        };
        let step = |from: &RigidState, velocity: DVec3, spin: DVec3, seconds: f64| {
            let from = RigidState {
                velocity,
                spin,
                ..*from
            };
            let rotation = FreeRotation::new(&from, &inertia, seconds).end();
            let turns = [from.rotation, rotation].map(DMat3::from_quat);
            let momentum = turns[0] * (inertia * (turns[0].transpose() * spin));
            RigidState {
                at: from.at + velocity * seconds,
                rotation,
                spin: turns[1] * (inertia.inverse() * (turns[1].transpose() * momentum)),
                ..from
            }
        };
        let struck = (DVec3::new(8.0, 15.0, 3.0), DVec3::new(-700.0, 50.0, 900.0));
        let at = |time: f64| {
            let impact = step(&start, start.velocity, start.spin, 0.01 * time.min(0.3));
            if time < 0.3 {
                return impact;
            }
            step(&impact, struck.0, struck.1, 0.01 * (time - 0.3))
        };
        let end = RigidState {
            frame: 1,
            ..at(1.0)
        };
        let keyframes = Trajectory {
            inertia: &inertia,
            ..trajectory(&[start, end])
        }
        .keyframes();
        for k in 1..40 {
            let time = f64::from(k) / 40.0;
            let (found, wanted) = (angle_at(&keyframes, time), at(time).rotation);
            let off = found
                .angle_between(wanted)
                .min(found.angle_between(-wanted));
            assert!(off < 0.1, "{time}: {off}");
        }
        let corner = keyframes.iter().find(|key| (key.time - 0.3).abs() < 0.02);
        let corner = corner.expect("a keyframe at the impact");
        assert!(corner.at.distance(at(corner.time).at) < 1e-3, "{corner:?}");
        for pair in keyframes.windows(2) {
            assert!(
                pair[0].rotation.angle_between(pair[1].rotation) < 1.1,
                "{pair:?}"
            );
        }
    }

    #[test]
    fn rotation_after_a_late_impact_is_complete() {
        // At rest until the impact, then 30 turns per frame.
        for impact in [0.985, 0.7, 0.515] {
            let seconds = 0.01 * (1.0 - impact);
            let turned = std::f64::consts::TAU * 30.0 * (1.0 - impact);
            let start = RigidState {
                velocity: DVec3::ZERO,
                spin: DVec3::ZERO,
                ..state(0, 0.0)
            };
            let velocity = DVec3::new(25.0, 0.0, 0.0);
            let end = RigidState {
                frame: 1,
                at: start.at + velocity * seconds,
                rotation: DQuat::from_rotation_x(turned),
                velocity,
                spin: DVec3::new(turned / seconds, 0.0, 0.0),
            };
            let keyframes = trajectory(&[start, end]).keyframes();
            let found: f64 = keyframes
                .windows(2)
                .map(|pair| pair[0].rotation.angle_between(pair[1].rotation))
                .sum();
            assert!(
                (found / turned - 1.0).abs() < 0.01,
                "{impact}: {found} and not {turned}"
            );
        }
    }
}
