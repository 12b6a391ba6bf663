//! Poses of a fragment as matrices.

use glam::{DMat3, DQuat, DVec3};

use crate::export::epochs::Epoch;
use crate::export::job::ExportJob;
use crate::export::keyframe::JUMP_DURATION;
use crate::export::track::Track;

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
        let [birth, death] = epoch.lifetime(&job.frames);
        let jumps = [birth, death].into_iter().flatten();
        let mut times: Vec<f64> = jumps
            .flat_map(|time| [time - JUMP_DURATION, time])
            .collect();
        times.extend(track.translations.iter().map(|(time, _)| *time));
        times.extend(track.rotations.iter().map(|(time, _)| *time));
        times.sort_by(f64::total_cmp);
        times.dedup();
        let is_shown = |time: f64| {
            birth.is_none_or(|birth| time >= birth) && death.is_none_or(|death| time < death)
        };
        let matrix = |time: f64| {
            let place = between(&track.translations, time, DVec3::lerp);
            let rotation = between(&track.rotations, time, DQuat::slerp);
            matrix(place, rotation, if is_shown(time) { 1.0 } else { 0.0 })
        };
        let mut visible = Vec::new();
        if let Some(birth) = birth {
            visible.extend([(birth - JUMP_DURATION, false), (birth, true)]);
        }
        if let Some(death) = death {
            if visible.is_empty() {
                visible.push((death - JUMP_DURATION, true));
            }
            visible.push((death, false));
        }
        Poses {
            matrices: times.iter().map(|time| (*time, matrix(*time))).collect(),
            visible,
        }
    }
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
