//! Motion of a fragment from one frame to the next, from its rigid states in both.
//!
//! Two frames leave the number of whole turns open, and the time at which the velocity changed. The fragment
//! is assumed to fly freely except for one impact, whose time follows from the velocities at both ends, or
//! for several. The spins at both ends, continued by free flight, give the number of turns and their axes.

use std::f64::consts::FRAC_PI_3;

use glam::{DMat3, DQuat, DVec3};

use super::free_rotation::FreeRotation;
use super::keyframe::Keyframe;
use super::point_path::PointPath;
use super::rigid_state::RigidState;

/// Largest rotation between successive keyframes, rad.
const MAX_TURN: f64 = FRAC_PI_3;

/// Allowed error of interpolation, over the distance that a point moves from frame to frame: less than what
/// motion blur shows.
const RELATIVE_TOLERANCE: f64 = 0.02;

/// Allowed error in addition, over the fragment's size: less than a pixel of a fragment that fills a picture.
const SIZE_TOLERANCE: f64 = 2e-4;

/// Maximum number of times the interval between two keyframes is halved.
const MAX_HALVINGS: u32 = 3;

/// Keyframes at an impact are rounded to multiples of this fraction of the interval: finer than any shutter
/// resolves, and tracks that share their times take less space.
const TIME_GRID: f64 = 1.0 / 32.0;

/// Motion between two frames. Times are fractions of the interval unless said otherwise.
pub struct FrameInterval<'a> {
    /// State at the start.
    a: &'a RigidState,
    /// State at the end.
    b: &'a RigidState,
    /// Length of the interval, in frames.
    frames: f64,
    /// Size of the fragment, units of the file.
    size: f64,
    /// Path of the centre of mass.
    path: PointPath,
    /// Free rotation from the start to the middle of the impact, and from the end back to it.
    rotations: [FreeRotation; 2],
    /// Middle of the impact.
    split: f64,
    /// Rotation vector from the end of the first free rotation to the end of the second.
    mismatch: DVec3,
}

impl<'a> FrameInterval<'a> {
    /// Motion from state `a` to state `b` of a fragment of `size`, units of the file, at `fps` frames per
    /// second of the event; inertia about the centre of mass at rest.
    pub fn new(
        a: &'a RigidState,
        b: &'a RigidState,
        inertia: &DMat3,
        (size, fps): (f64, f64),
    ) -> Self {
        let frames = f64::from(b.frame - a.frame);
        let seconds = frames / fps;
        let path = PointPath::new([a.at, b.at], [a.velocity, b.velocity].map(|v| v * seconds));
        let split = 0.5 * (path.impact[0] + path.impact[1]);
        let before = FreeRotation::new(a, inertia, split * seconds);
        let after = FreeRotation::new(b, inertia, (split - 1.0) * seconds);
        let mut mismatch = after.end() * before.end().inverse();
        if mismatch.w < 0.0 {
            mismatch = -mismatch;
        }
        FrameInterval {
            a,
            b,
            frames,
            size,
            path,
            rotations: [before, after],
            split,
            mismatch: mismatch.to_scaled_axis(),
        }
    }

    /// Fraction of the interval at a time given in frames.
    pub fn fraction(&self, time: f64) -> f64 {
        (time - f64::from(self.a.frame)) / self.frames
    }

    /// Pose at a fraction of the interval.
    pub fn keyframe(&self, fraction: f64) -> Keyframe {
        Keyframe {
            time: f64::from(self.a.frame) + fraction * self.frames,
            at: self.path.at(fraction),
            rotation: self.rotation(fraction),
            tolerance: self.tolerance(),
        }
    }

    fn rotation(&self, fraction: f64) -> DQuat {
        let [before, after] = &self.rotations;
        let (corrected, flown) = if fraction < self.split {
            (0.0, before.at(fraction / self.split))
        } else {
            // If the impact is at the very end, the second flight has no duration.
            let left = (1.0 - fraction) / (1.0 - self.split);
            (1.0, after.at(if left.is_nan() { 0.0 } else { left }))
        };
        let correction = self.mismatch * (self.corrected(fraction) - corrected);
        (DQuat::from_scaled_axis(correction) * flown).normalize()
    }

    /// Share of the mismatch between both free rotations that is corrected at a fraction of the interval: one
    /// impact corrects it at once, several correct it evenly.
    fn corrected(&self, fraction: f64) -> f64 {
        let [from, to] = self.path.impact;
        let impact = if fraction < from {
            0.0
        } else if fraction >= to {
            1.0
        } else {
            (fraction - from) / (to - from)
        };
        impact + self.path.spread * (fraction - impact)
    }

    /// Upper bound of the rotation between two fractions of the interval, rad.
    fn angle(&self, from: f64, to: f64) -> f64 {
        let share = |first: f64, last: f64, angle: f64| {
            let common = to.min(last) - from.max(first);
            if common > 0.0 {
                angle * common / (last - first)
            } else {
                0.0
            }
        };
        let [before, after] = &self.rotations;
        share(0.0, self.split, before.angle)
            + share(self.split, 1.0, after.angle)
            + self.mismatch.length() * (self.corrected(to) - self.corrected(from))
    }

    /// Allowed errors of a point, units of the file, by interpolated positions and by interpolated rotations.
    fn tolerance(&self) -> [f64; 2] {
        let lengths = [
            self.a.at.distance(self.b.at),
            0.5 * self.size * self.angle(0.0, 1.0),
        ];
        lengths.map(|way| RELATIVE_TOLERANCE * way + SIZE_TOLERANCE * self.size)
    }

    /// Adds the keyframes needed between two fractions of the interval: at the impact, where the rotation is
    /// large, and where interpolation misses the motion.
    pub fn add_keyframes(&self, from: f64, to: f64, keyframes: &mut Vec<Keyframe>) {
        let [begin, end] = self.path.impact;
        let turns = self.angle(from, to) > MAX_TURN;
        let mut corners = vec![from];
        for (corner, needed) in [(begin, true), (self.split, turns), (end, true)] {
            let corner = (corner / TIME_GRID).round() * TIME_GRID;
            if needed && corner > corners[corners.len() - 1] && corner < to {
                corners.push(corner);
            }
        }
        corners.push(to);
        for (section, pair) in corners.windows(2).enumerate() {
            if section > 0 {
                keyframes.push(self.keyframe(pair[0]));
            }
            self.add_evenly(pair[0], pair[1], keyframes);
        }
    }

    /// Adds keyframes between two fractions of the interval during which the rotation is even.
    fn add_evenly(&self, from: f64, to: f64, keyframes: &mut Vec<Keyframe>) {
        let turns = (self.angle(from, to) / MAX_TURN).ceil().max(1.0);
        let fraction = |turn: usize| from + (to - from) * (turn as f64 / turns);
        let mut last = self.keyframe(from);
        for turn in 1..=turns as usize {
            let keyframe = self.keyframe(fraction(turn));
            self.subdivide(
                (fraction(turn - 1), &last),
                (fraction(turn), &keyframe),
                MAX_HALVINGS,
                keyframes,
            );
            if turn < turns as usize {
                keyframes.push(keyframe);
            }
            last = keyframe;
        }
    }

    /// Adds keyframes between two others by repeated halving while interpolation misses the motion. The
    /// caller pushes the two others.
    fn subdivide(
        &self,
        from: (f64, &Keyframe),
        to: (f64, &Keyframe),
        halvings: u32,
        keyframes: &mut Vec<Keyframe>,
    ) {
        if halvings == 0 || !self.deviates(from, to) {
            return;
        }
        let half = 0.5 * (from.0 + to.0);
        let keyframe = self.keyframe(half);
        self.subdivide(from, (half, &keyframe), halvings - 1, keyframes);
        keyframes.push(keyframe);
        self.subdivide((half, &keyframe), to, halvings - 1, keyframes);
    }

    /// Whether interpolation between two keyframes misses the motion. An S-shaped curve is missed at the
    /// quarters rather than in the middle.
    fn deviates(&self, from: (f64, &Keyframe), to: (f64, &Keyframe)) -> bool {
        let [shift, rotation] = self.tolerance();
        [0.25, 0.5, 0.75].into_iter().any(|share| {
            let fraction = from.0 + share * (to.0 - from.0);
            let blend = from.1.rotation.slerp(to.1.rotation, share);
            let turned = self.rotation(fraction).angle_between(blend);
            let at = from.1.at.lerp(to.1.at, share);
            self.path.at(fraction).distance(at) > shift || turned * 0.5 * self.size > rotation
        })
    }
}
