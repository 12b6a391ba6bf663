//! The way of a fragment between frames: keys that a player joins by straight lines and even turns.
//!
//! A key stands in each frame, and in between where a blend of two would miss the [stretch](super::stretch)
//! between them.

use glam::DMat3;

use super::flight::Flight;
use super::key::Key;
use super::moment::Moment;
use super::stretch::Stretch;

/// A fragment's moments, in order, at least one.
pub struct Way<'a> {
    /// In the frames that have it.
    pub moments: &'a [Moment],
    /// In the frame before them what it was part of, and in the frame after them what became of it; absent
    /// where the frames do not tell.
    pub beside: [Option<Moment>; 2],
    /// When it comes and goes within the shot.
    pub life: [Option<f64>; 2],
    /// Moments of inertia about the centre of mass at rest, of any density.
    pub inertia: &'a DMat3,
    /// Diagonal of the bounds at rest, units of the file.
    pub size: f64,
    /// Frames a second of the event.
    pub fps: f64,
}

impl Way<'_> {
    /// Keys, at least one, in order. Where the fragment comes or goes within the shot they begin or end there.
    pub fn keys(&self) -> Vec<Key> {
        let moments = self.moments;
        let (first, last) = (&moments[0], &moments[moments.len() - 1]);
        let mut keys = Vec::with_capacity(moments.len() + 2);
        if let Some(birth) = self.life[0] {
            match &self.beside[0] {
                Some(before) => {
                    let stretch = self.stretch(before, first);
                    let from = stretch.part(birth);
                    keys.push(stretch.key(from));
                    stretch.within(from, 1.0, &mut keys);
                }
                None => keys.push(self.beyond(first, birth)),
            }
        }
        keys.push(key(first));
        for pair in moments.windows(2) {
            let stretch = self.stretch(&pair[0], &pair[1]);
            stretch.within(0.0, 1.0, &mut keys);
            keys.push(key(&pair[1]));
        }
        if let Some(death) = self.life[1] {
            match &self.beside[1] {
                Some(after) => {
                    let stretch = self.stretch(last, after);
                    let to = stretch.part(death);
                    stretch.within(0.0, to, &mut keys);
                    keys.push(stretch.key(to));
                }
                None => keys.push(self.beyond(last, death)),
            }
        }
        // Of the two quaternions of a rotation the one beside the last, or the blend takes the long way round.
        for k in 1..keys.len() {
            if keys[k - 1].rotation.dot(keys[k].rotation) < 0.0 {
                keys[k].rotation = -keys[k].rotation;
            }
        }
        keys
    }

    fn stretch<'a>(&self, a: &'a Moment, b: &'a Moment) -> Stretch<'a> {
        Stretch::new(a, b, self.inertia, (self.size, self.fps))
    }

    /// Where the fragment is at another time, flying freely.
    fn beyond(&self, moment: &Moment, time: f64) -> Key {
        let seconds = (time - f64::from(moment.frame)) / self.fps;
        let flight = Flight::free(moment, self.inertia, seconds);
        Key {
            time,
            at: moment.at + moment.velocity * seconds,
            rotation: flight.end(),
            slack: [0.0; 2],
        }
    }
}

fn key(moment: &Moment) -> Key {
    Key {
        time: moment.frame.into(),
        at: moment.at,
        rotation: moment.rotation,
        slack: [0.0; 2],
    }
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::*;

    /// A body that spins about x, `turns` a frame, in free flight.
    fn moment(frame: u32, turns: f64) -> Moment {
        let angle = std::f64::consts::TAU * turns;
        Moment {
            frame,
            at: DVec3::new(0.25 * f64::from(frame), 0.0, 0.0),
            rotation: DQuat::from_rotation_x(angle * f64::from(frame)),
            velocity: DVec3::new(25.0, 0.0, 0.0),
            spin: DVec3::new(100.0 * angle, 0.0, 0.0),
        }
    }

    /// A cube's.
    fn way(moments: &[Moment]) -> Way<'_> {
        Way {
            moments,
            beside: [None; 2],
            life: [None; 2],
            inertia: &DMat3::IDENTITY,
            size: 1.0,
            fps: 100.0,
        }
    }

    fn angle_at(keys: &[Key], time: f64) -> DQuat {
        let next = keys.partition_point(|key| key.time < time).max(1);
        let (a, b) = (&keys[next - 1], &keys[next]);
        let part = (time - a.time) / (b.time - a.time);
        a.rotation.slerp(b.rotation, part)
    }

    #[test]
    fn several_turns_a_frame_are_taken_the_right_way() {
        for turns in [-3.7, -0.9, -0.1, 0.05, 0.3, 0.6, 1.0, 2.5, 8.25] {
            let moments: Vec<Moment> = (0..3).map(|frame| moment(frame, turns)).collect();
            let keys = way(&moments).keys();
            for k in 0..=40 {
                let time = 0.05 * f64::from(k);
                let expected = DQuat::from_rotation_x(std::f64::consts::TAU * turns * time);
                let found = angle_at(&keys, time);
                assert!(found.dot(expected).abs() > 1.0 - 1e-9, "{turns} at {time}");
            }
            for pair in keys.windows(2) {
                assert!(pair[0].rotation.dot(pair[1].rotation) > 0.0);
                assert!(pair[0].time < pair[1].time);
            }
        }
    }

    #[test]
    fn slow_turns_need_no_keys_in_between() {
        let moments: Vec<Moment> = (0..5).map(|frame| moment(frame, 0.16)).collect();
        let keys = way(&moments).keys();
        assert_eq!(keys.len(), 5);
    }

    #[test]
    fn a_tumbling_brick_keeps_its_angular_momentum() {
        let inertia = DMat3::from_diagonal(DVec3::new(1.0, 2.0, 4.0));
        let start = Moment {
            frame: 0,
            at: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            velocity: DVec3::ZERO,
            spin: DVec3::new(3.0, 30.0, 2.0),
        };
        // A second of small steps is the truth.
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
        let end = Moment {
            frame: 1,
            rotation,
            spin,
            ..start
        };
        let keys = Way {
            inertia: &inertia,
            fps: 1.0,
            life: [None, Some(1.5)],
            ..way(&[start, end])
        }
        .keys();
        assert!(keys.len() > 20);
        for time in [0.25, 0.5, 0.75, 1.5] {
            let off = angle_at(&keys, time)
                .dot(truth(time).0)
                .abs()
                .min(1.0)
                .acos();
            // Even turns of a sixth miss that much of how its axis wanders.
            assert!(off < 0.05, "{time}: {off}");
        }
    }

    #[test]
    fn a_spin_that_a_blow_turns_round_goes_forth_and_back() {
        let (start, mut end) = (moment(0, 1.8), moment(1, 1.8));
        end.spin = -end.spin;
        end.rotation = start.rotation;
        let keys = way(&[start, end]).keys();
        for time in [0.125, 0.25, 0.75] {
            let turned = 1.8 * f64::min(time, 1.0 - time);
            let expected = DQuat::from_rotation_x(std::f64::consts::TAU * turned);
            let found = angle_at(&keys, time);
            assert!(found.dot(expected).abs() > 1.0 - 1e-9, "{time}: {found}");
        }
    }

    #[test]
    fn what_comes_and_goes_moves_on_beyond_its_frames() {
        let moments = [moment(3, 0.1)];
        let keys = Way {
            life: [Some(2.5), Some(3.5)],
            ..way(&moments)
        }
        .keys();
        let times: Vec<f64> = keys.iter().map(|key| key.time).collect();
        assert_eq!(times, [2.5, 3.0, 3.5]);
        for key in keys {
            assert!((key.at.x - 0.25 * key.time).abs() < 1e-12);
            let expected = DQuat::from_rotation_x(std::f64::consts::TAU * 0.1 * key.time);
            assert!(key.rotation.dot(expected).abs() > 1.0 - 1e-12);
        }
    }

    #[test]
    fn what_breaks_off_is_on_the_way_from_where_it_was_a_part() {
        // Two turns a frame, so the half of one that it lives before its frame needs keys in between.
        let all: Vec<Moment> = (2..5).map(|frame| moment(frame, 2.0)).collect();
        let keys = Way {
            beside: [Some(all[0]), Some(all[2])],
            life: [Some(2.5), Some(3.5)],
            ..way(&all[1..2])
        }
        .keys();
        assert_eq!((keys[0].time, keys[keys.len() - 1].time), (2.5, 3.5));
        assert!(keys.len() > 10);
        for key in &keys {
            assert!((key.at.x - 0.25 * key.time).abs() < 1e-12);
            let expected = DQuat::from_rotation_x(std::f64::consts::TAU * 2.0 * key.time);
            assert!(key.rotation.dot(expected).abs() > 1.0 - 1e-9);
        }
    }

    #[test]
    fn a_blow_is_where_it_was_with_the_turns_before_and_after() {
        // A brick that spins up, and flies another way, after 0.3 of the frame.
        let inertia = DMat3::from_diagonal(DVec3::new(1.0, 2.0, 2.5));
        let start = Moment {
            velocity: DVec3::new(10.0, -20.0, 0.0),
            spin: DVec3::new(20.0, 5.0, 100.0),
            ..moment(0, 0.0)
        };
        let step = |from: &Moment, velocity: DVec3, spin: DVec3, seconds: f64| {
            let from = Moment {
                velocity,
                spin,
                ..*from
            };
            let rotation = Flight::free(&from, &inertia, seconds).end();
            let turns = [from.rotation, rotation].map(DMat3::from_quat);
            let momentum = turns[0] * (inertia * (turns[0].transpose() * spin));
            Moment {
                at: from.at + velocity * seconds,
                rotation,
                spin: turns[1] * (inertia.inverse() * (turns[1].transpose() * momentum)),
                ..from
            }
        };
        let struck = (DVec3::new(8.0, 15.0, 3.0), DVec3::new(-700.0, 50.0, 900.0));
        let at = |time: f64| {
            let blow = step(&start, start.velocity, start.spin, 0.01 * time.min(0.3));
            if time < 0.3 {
                return blow;
            }
            step(&blow, struck.0, struck.1, 0.01 * (time - 0.3))
        };
        let end = Moment {
            frame: 1,
            ..at(1.0)
        };
        let keys = Way {
            inertia: &inertia,
            ..way(&[start, end])
        }
        .keys();
        for k in 1..40 {
            let time = f64::from(k) / 40.0;
            let (found, wanted) = (angle_at(&keys, time), at(time).rotation);
            let off = found
                .angle_between(wanted)
                .min(found.angle_between(-wanted));
            assert!(off < 0.1, "{time}: {off}");
        }
        let corner = keys.iter().find(|key| (key.time - 0.3).abs() < 0.02);
        let corner = corner.expect("a key at the blow");
        assert!(corner.at.distance(at(corner.time).at) < 1e-3, "{corner:?}");
        for pair in keys.windows(2) {
            assert!(
                pair[0].rotation.angle_between(pair[1].rotation) < 1.1,
                "{pair:?}"
            );
        }
    }

    #[test]
    fn turns_that_begin_with_a_blow_are_all_there() {
        // At rest until the blow, then 30 turns a frame.
        for blow in [0.985, 0.7, 0.515] {
            let seconds = 0.01 * (1.0 - blow);
            let turned = std::f64::consts::TAU * 30.0 * (1.0 - blow);
            let start = Moment {
                velocity: DVec3::ZERO,
                spin: DVec3::ZERO,
                ..moment(0, 0.0)
            };
            let velocity = DVec3::new(25.0, 0.0, 0.0);
            let end = Moment {
                frame: 1,
                at: start.at + velocity * seconds,
                rotation: DQuat::from_rotation_x(turned),
                velocity,
                spin: DVec3::new(turned / seconds, 0.0, 0.0),
            };
            let keys = way(&[start, end]).keys();
            let found: f64 = keys
                .windows(2)
                .map(|pair| pair[0].rotation.angle_between(pair[1].rotation))
                .sum();
            assert!(
                (found / turned - 1.0).abs() < 0.01,
                "{blow}: {found} and not {turned}"
            );
        }
    }
}
