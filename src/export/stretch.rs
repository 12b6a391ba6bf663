//! The way of a fragment from one frame to the next, by how it stands and moves in both.
//!
//! Between two frames a rotation is known but for whole turns, and a place but for when its velocity changed.
//! A fragment flies freely but for a blow, which the velocities of both ends date, or many; the spins of both
//! ends, carried on by free flight, tell how often it turned, and about which axes.

use std::f64::consts::FRAC_PI_3;

use glam::{DMat3, DQuat, DVec3};

use super::course::Course;
use super::flight::Flight;
use super::key::Key;
use super::moment::Moment;

/// The farthest that a key may be turned from the one before, rad.
const FARTHEST: f64 = FRAC_PI_3;

/// How far keys may miss the way, over what a point goes from frame to frame: a part of what could be seen in a blur.
const MISS: f64 = 0.02;

/// And over the fragment's size: less than a pixel of a fragment that fills a picture.
const PIXEL: f64 = 2e-4;

/// How often the way between two keys is halved at most.
const HALVES: u32 = 3;

/// Keys about a blow stand at multiples of this part of a way: less than any shutter tells apart, and tracks
/// that have their times in common are smaller.
const GRID: f64 = 1.0 / 32.0;

/// The way between two frames.
pub struct Stretch<'a> {
    a: &'a Moment,
    b: &'a Moment,
    frames: f64,
    size: f64,
    course: Course,
    /// Free flight from the start until the middle of the blow, and from the end back to it.
    flights: [Flight; 2],
    /// The part of the way that is behind there.
    middle: f64,
    /// From the rotation that the first flight ends with to that of the second.
    off: DVec3,
}

impl<'a> Stretch<'a> {
    /// From one moment to another of a fragment of a size, units of the file, at a number of frames a second
    /// of the event.
    pub fn new(a: &'a Moment, b: &'a Moment, inertia: &DMat3, (size, fps): (f64, f64)) -> Self {
        let frames = f64::from(b.frame - a.frame);
        let seconds = frames / fps;
        let course = Course::new([a.at, b.at], [a.velocity, b.velocity].map(|v| v * seconds));
        let middle = 0.5 * (course.blow[0] + course.blow[1]);
        let before = Flight::free(a, inertia, middle * seconds);
        let after = Flight::free(b, inertia, (middle - 1.0) * seconds);
        let mut off = after.end() * before.end().inverse();
        if off.w < 0.0 {
            off = -off;
        }
        Stretch {
            a,
            b,
            frames,
            size,
            course,
            flights: [before, after],
            middle,
            off: off.to_scaled_axis(),
        }
    }

    /// The part of the way that is behind at a time, frames.
    pub fn part(&self, time: f64) -> f64 {
        (time - f64::from(self.a.frame)) / self.frames
    }

    /// The pose at a part of the way.
    pub fn key(&self, part: f64) -> Key {
        Key {
            time: f64::from(self.a.frame) + part * self.frames,
            at: self.course.at(part),
            rotation: self.rotation(part),
            slack: self.slack(),
        }
    }

    fn rotation(&self, part: f64) -> DQuat {
        let [before, after] = &self.flights;
        let (begun, flown) = if part < self.middle {
            (0.0, before.at(part / self.middle))
        } else {
            // A blow at the end leaves nothing of the second flight.
            let left = (1.0 - part) / (1.0 - self.middle);
            (1.0, after.at(if left.is_nan() { 0.0 } else { left }))
        };
        let more = self.off * (self.made_up(part) - begun);
        (DQuat::from_scaled_axis(more) * flown).normalize()
    }

    /// How much of what the flights are off each other is made up for at a part of the way: one blow does it
    /// at once, many evenly.
    fn made_up(&self, part: f64) -> f64 {
        let [from, to] = self.course.blow;
        let blow = if part < from {
            0.0
        } else if part >= to {
            1.0
        } else {
            (part - from) / (to - from)
        };
        blow + self.course.many * (part - blow)
    }

    /// How far it turns between two parts of the way at most, rad.
    fn angle(&self, from: f64, to: f64) -> f64 {
        let share = |first: f64, last: f64, angle: f64| {
            let common = to.min(last) - from.max(first);
            if common > 0.0 {
                angle * common / (last - first)
            } else {
                0.0
            }
        };
        let [before, after] = &self.flights;
        share(0.0, self.middle, before.angle)
            + share(self.middle, 1.0, after.angle)
            + self.off.length() * (self.made_up(to) - self.made_up(from))
    }

    /// How far keys may miss the way by their places, and by their rotations.
    fn slack(&self) -> [f64; 2] {
        let ways = [
            self.a.at.distance(self.b.at),
            0.5 * self.size * self.angle(0.0, 1.0),
        ];
        ways.map(|way| MISS * way + PIXEL * self.size)
    }

    /// Adds the keys that the way needs between two parts of it: where the blow comes, where it turns far,
    /// and where it is not straight.
    pub fn within(&self, from: f64, to: f64, keys: &mut Vec<Key>) {
        let [begin, end] = self.course.blow;
        let turns = self.angle(from, to) > FARTHEST;
        let mut corners = vec![from];
        for (corner, needed) in [(begin, true), (self.middle, turns), (end, true)] {
            let corner = (corner / GRID).round() * GRID;
            if needed && corner > corners[corners.len() - 1] && corner < to {
                corners.push(corner);
            }
        }
        corners.push(to);
        for (section, pair) in corners.windows(2).enumerate() {
            if section > 0 {
                keys.push(self.key(pair[0]));
            }
            self.evenly(pair[0], pair[1], keys);
        }
    }

    /// Adds keys between two parts of a way that turns evenly.
    fn evenly(&self, from: f64, to: f64, keys: &mut Vec<Key>) {
        let turns = (self.angle(from, to) / FARTHEST).ceil().max(1.0);
        let part = |turn: usize| from + (to - from) * (turn as f64 / turns);
        let mut last = self.key(from);
        for turn in 1..=turns as usize {
            let key = self.key(part(turn));
            self.bend((part(turn - 1), &last), (part(turn), &key), HALVES, keys);
            if turn < turns as usize {
                keys.push(key);
            }
            last = key;
        }
    }

    /// Adds keys between two that are pushed elsewhere where a blend of them misses the way, by halves.
    fn bend(&self, from: (f64, &Key), to: (f64, &Key), halves: u32, keys: &mut Vec<Key>) {
        if halves == 0 || !self.misses(from, to) {
            return;
        }
        let half = 0.5 * (from.0 + to.0);
        let key = self.key(half);
        self.bend(from, (half, &key), halves - 1, keys);
        keys.push(key);
        self.bend((half, &key), to, halves - 1, keys);
    }

    /// Whether a blend of two keys misses the way. Curves that turn round are missed at the quarters rather
    /// than half-way.
    fn misses(&self, from: (f64, &Key), to: (f64, &Key)) -> bool {
        let [place, turn] = self.slack();
        [0.25, 0.5, 0.75].into_iter().any(|share| {
            let part = from.0 + share * (to.0 - from.0);
            let blend = from.1.rotation.slerp(to.1.rotation, share);
            let turned = self.rotation(part).angle_between(blend);
            let at = from.1.at.lerp(to.1.at, share);
            self.course.at(part).distance(at) > place || turned * 0.5 * self.size > turn
        })
    }
}
