//! Poses of a fragment as matrices.

use std::f64::consts::TAU;

use glam::{DMat3, DQuat, DVec3};

use crate::export::epochs::Epoch;
use crate::export::job::ExportJob;
use crate::export::track::Track;

/// Largest angle between successive matrices, rad: 30 degrees. Readers that interpolate the numbers of matrices show a
/// fragment up to 3.4 % too small half-way, which only chips that spin fast come near.
const MAX_TURN: f64 = TAU / 12.0;

/// Matrix of a row of the point times the matrix: three rows of rotation and scale, then the translation.
type Matrix = [f64; 16];

/// Poses of a fragment, and when it is visible, each with its time in frames.
pub struct Poses {
    /// Ascending; a fragment that is not visible has scale 0, as not every importer knows visibility.
    pub matrices: Vec<(f64, Matrix)>,
    /// Ascending; empty if the fragment is always visible.
    pub visible: Vec<(f64, bool)>,
}

impl Poses {
    /// The poses of an epoch.
    pub fn of<T>(epoch: &Epoch<T>, job: &ExportJob) -> Self {
        let keyframes = epoch.keyframes(&job.frames, job.fps);
        let track = Track::new(&keyframes, epoch.size);
        let visible = epoch.visibility(&job.frames);
        let mut times: Vec<f64> = visible.iter().map(|(time, _)| *time).collect();
        let frames = job.frames.iter().copied();
        let own = frames.filter(|frame| (epoch.first..=epoch.last).contains(frame));
        times.extend(own.map(f64::from));
        times.extend(track.translations.iter().map(|(time, _)| *time));
        times.extend(track.rotations.iter().map(|(time, _)| *time));
        times.sort_by(f64::total_cmp);
        times.dedup();
        let rotation = |time: f64| between(&track.rotations, time, DQuat::slerp);
        let times = split_turns(&times, rotation);
        let matrix = |time: f64| {
            let place = between(&track.translations, time, DVec3::lerp);
            let is_shown = visible.is_empty() || between(&visible, time, |before, _, _| before);
            matrix(place, rotation(time), if is_shown { 1.0 } else { 0.0 })
        };
        Poses {
            matrices: times.iter().map(|&time| (time, matrix(time))).collect(),
            visible,
        }
    }
}

/// Adds times, so that a fragment turns by at most [`MAX_TURN`] between two of them.
fn split_turns(times: &[f64], rotation: impl Fn(f64) -> DQuat) -> Vec<f64> {
    let mut split = Vec::from(&times[..1]);
    for pair in times.windows(2) {
        let [from, to] = [pair[0], pair[1]];
        let parts = (rotation(from).angle_between(rotation(to)) / MAX_TURN).ceil();
        let between = (1..parts as u32).map(|k| from + (to - from) * f64::from(k) / parts);
        split.extend(between);
        split.push(to);
    }
    split
}

/// Value of a track at a time; the first or last one outside of it.
fn between<T: Copy>(track: &[(f64, T)], time: f64, mix: impl Fn(T, T, f64) -> T) -> T {
    let next = track.partition_point(|(other, _)| *other <= time);
    match (
        next.checked_sub(1).map(|before| track[before]),
        track.get(next),
    ) {
        (Some((from, a)), Some(&(to, b))) => mix(a, b, (time - from) / (to - from)),
        (Some((_, value)), None) => value,
        (None, _) => track[0].1,
    }
}

fn matrix(place: DVec3, rotation: DQuat, scale: f64) -> Matrix {
    let [x, y, z] = (DMat3::from_quat(rotation) * scale).to_cols_array_2d();
    // In single precision like all coordinates of a shot.
    let [px, py, pz] = place.as_vec3().as_dvec3().to_array();
    // Rows of the transposed rotation are its columns.
    [
        x[0], x[1], x[2], 0.0, y[0], y[1], y[2], 0.0, z[0], z[1], z[2], 0.0, px, py, pz, 1.0,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_split_until_they_are_small() {
        let turn = |time: f64| DQuat::from_rotation_y(time);
        let times = split_turns(&[0.0, 0.1, 0.5, 1.5], turn);
        let steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(
            steps
                .iter()
                .all(|step| (1e-9..=MAX_TURN + 1e-9).contains(step)),
            "{times:?}"
        );
        assert_eq!(
            times
                .iter()
                .filter(|time| [0.0, 0.1, 0.5, 1.5].contains(time))
                .count(),
            4
        );
        assert_eq!(times.len(), 1 + 1 + 1 + 2);
    }

    #[test]
    fn values_are_held_and_mixed_between_the_keys_of_a_track() {
        let track = [(1.0, 10.0), (2.0, 20.0)];
        let mixed = |time| between(&track, time, |a, b, part| a + (b - a) * part);
        assert_eq!(
            [0.5, 1.0, 1.25, 2.0, 3.0].map(mixed),
            [10.0, 10.0, 12.5, 20.0, 20.0]
        );
        let held = |time| between(&track, time, |a, _, _| a);
        assert_eq!([0.5, 1.75, 2.0].map(held), [10.0, 10.0, 20.0]);
    }

    #[test]
    fn a_row_of_a_point_times_the_matrix_is_the_moved_point() {
        let (place, turn) = (DVec3::new(1.0, 2.0, 3.0), DQuat::from_rotation_z(0.5));
        let point = DVec3::new(0.25, -0.5, 0.75);
        let m = matrix(place, turn, 2.0);
        let moved = [0, 1, 2].map(|k| {
            let sum: f64 = (0..3).map(|row| point[row] * m[4 * row + k]).sum();
            sum + m[12 + k]
        });
        let expected = turn * (2.0 * point) + place;
        assert!((DVec3::from(moved) - expected).length() < 1e-12);
    }
}
