//! Shape of a new fragment half a frame before its first frame, while it was still part of a larger one: its
//! vertices follow the elements near them.

use glam::{DQuat, DVec3};

use super::fragment_motion::FrameElements;
use super::rigid_state::RigidState;
use crate::geometry::cell_grid::CellGrid;
use crate::parallel::prelude::*;

/// Distance up to which elements move a vertex, over the largest radius: a few layers, so that gaps between
/// elements do not show.
const INFLUENCE_RADIUS: f64 = 2.5;

/// Elements in a frame and in the frame before.
pub struct FramePair<'a> {
    pub now: &'a FrameElements<'a>,
    pub before: &'a FrameElements<'a>,
}

/// A new fragment: its elements in its first frame and in the frame before.
pub struct Birth {
    /// Rigid state in its first frame.
    state: RigidState,
    /// Rigid state of its elements in the frame before.
    pub earlier: RigidState,
    /// Positions of its elements in its first frame, units of the file.
    positions: Vec<DVec3>,
    /// Their positions in the frame before, and their rotations from the first frame to the frame before.
    earlier_poses: Vec<(DVec3, DQuat)>,
    /// Distance up to which an element moves a vertex, units of the file.
    radius: f64,
}

impl Birth {
    /// Finds a new fragment of rigid state `state`; `None` if its first frame does not have it.
    pub fn of(fragment: u32, state: &RigidState, pair: &FramePair) -> Option<Self> {
        let earlier = pair.now.state_in_frame(fragment, state, pair.before)?;
        let rows = pair.now.rows(fragment)?;
        let now = pair.now.poses(rows);
        let before = pair.before.poses(rows);
        let turned = |((_, now), (position, before)): (&(_, DQuat), &(DVec3, DQuat))| {
            (*position, *before * now.inverse())
        };
        Some(Birth {
            state: *state,
            earlier,
            positions: now.iter().map(|(position, _)| *position).collect(),
            earlier_poses: now.iter().zip(&before).map(turned).collect(),
            radius: INFLUENCE_RADIUS * pair.now.largest_radius(rows),
        })
    }

    /// Time, in frames, from which the fragment is shown.
    pub fn time(&self) -> f64 {
        0.5 * (f64::from(self.state.frame) + f64::from(self.earlier.frame))
    }

    /// Vertex positions half-way to the frame before, in the body frame; `positions` are the world positions
    /// in the first frame.
    pub fn half_way(&self, positions: &[[f32; 3]]) -> Vec<[f32; 3]> {
        let grid = CellGrid::new(&self.positions, self.radius);
        let half_way = |position: &[f32; 3]| {
            let now = self.state.body_position(*position);
            let earlier = self.earlier_position(&grid, DVec3::from(position.map(f64::from)));
            let earlier = earlier.map_or(now, |position| {
                self.earlier.rotation.inverse() * (position - self.earlier.at)
            });
            (0.5 * (now + earlier)).as_vec3().to_array()
        };
        positions.par_iter().map(half_way).collect()
    }

    /// Position in the frame before of a point that follows the elements around it; `None` if there are none.
    fn earlier_position(&self, grid: &CellGrid, position: DVec3) -> Option<DVec3> {
        let (mut sum, mut weights) = (DVec3::ZERO, 0.0);
        grid.around(position, |element| {
            let arm = position - self.positions[element as usize];
            let near = (1.0 - arm.length_squared() / (self.radius * self.radius)).max(0.0);
            let (earlier, turned) = self.earlier_poses[element as usize];
            sum += (earlier + turned * arm) * (near * near);
            weights += near * near;
        });
        (weights > 0.0).then(|| sum / weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(frame: u32, at: DVec3, rotation: DQuat) -> RigidState {
        RigidState {
            frame,
            at,
            rotation,
            velocity: DVec3::ZERO,
            spin: DVec3::ZERO,
        }
    }

    /// A row of elements along x that was bent upwards in the frame before.
    fn bent(height: f64) -> Birth {
        let positions: Vec<DVec3> = (-4..=4).map(|x| DVec3::X * f64::from(x)).collect();
        let turn = DQuat::from_rotation_y(0.4);
        let raised = |p: &DVec3| {
            let slope = DQuat::from_rotation_z((2.0 * height * p.x).atan());
            let raised = *p + DVec3::Y * height * p.x * p.x;
            (DVec3::X * 7.0 + turn * raised, turn * slope)
        };
        Birth {
            state: state(5, DVec3::ZERO, DQuat::IDENTITY),
            earlier: state(4, DVec3::X * 7.0, turn),
            earlier_poses: positions.iter().map(raised).collect(),
            positions,
            radius: 1.25,
        }
    }

    #[test]
    fn a_body_that_only_moves_keeps_its_shape() {
        let positions = [[0.5f32, 0.5, 0.0], [-4.0, -0.5, 0.2], [90.0, 0.0, 0.0]];
        let birth = bent(0.0);
        assert_eq!(birth.time(), 4.5);
        for (found, expected) in birth
            .half_way(&positions)
            .iter()
            .flatten()
            .zip(positions.as_flattened())
        {
            assert!(
                (found - expected).abs() < 1e-6,
                "{found} and not {expected}"
            );
        }
    }

    #[test]
    fn half_way_it_is_bent_half_as_much() {
        let positions = [[2.0f32, 0.0, 0.0], [-3.0, 0.0, 0.0], [0.0, 0.5, 0.0]];
        let found = bent(0.02).half_way(&positions);
        for (found, [x, y, _]) in found.iter().zip(positions) {
            let expected = y + 0.5 * 0.02 * x * x;
            assert!((found[1] - expected).abs() < 3e-3, "{found:?}: {expected}");
        }
    }
}
