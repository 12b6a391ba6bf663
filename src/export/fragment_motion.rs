//! Motion of fragments from the momentum and angular momentum of their elements, which free flight conserves
//! even while the fragment vibrates.
//!
//! ```text
//! v = Σ m v_e/Σ m,   I ω = Σ (m (x_e − x) × (v_e − v) + I_e ω_e),   I = Σ (m (|r|² 1 − r rᵀ) + I_e 1), r = x_e − x
//! ```

use glam::{DMat3, DQuat, DVec3};

use super::error::ExportError;
use super::job::ExportJob;
use super::rigid_state::RigidState;
use super::rigid_transform::RigidTransform;
use crate::columns::{Elements, Frames};
use crate::geometry::mass;
use crate::math::hash::QuickMap;
use crate::spec::FrameGroup;

/// Motion of a fragment in a frame, in the axes and units of the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FragmentMotion {
    /// Centre of mass.
    pub centre: DVec3,
    /// Velocity of the centre of mass, units per second of the event.
    pub velocity: DVec3,
    /// Angular velocity, rad per second of the event.
    pub spin: DVec3,
    /// Inertia tensor about the centre of mass, kg units².
    pub inertia: DMat3,
}

/// Column groups that a frame must have.
const REQUIRED_GROUPS: [FrameGroup; 5] = [
    FrameGroup::Position,
    FrameGroup::Rotation,
    FrameGroup::Velocity,
    FrameGroup::Spin,
    FrameGroup::Fragment,
];

/// Mass, position and motion of an element, in the coordinates of the file.
struct ElementMotion {
    mass: f64,
    inertia: f64,
    position: DVec3,
    velocity: DVec3,
    spin: DVec3,
}

/// The elements in one frame, with the columns in [`REQUIRED_GROUPS`].
pub struct FrameElements<'a> {
    job: &'a ExportJob<'a>,
    elements: &'a Elements,
    table: Frames,
    /// Rows of the elements, by fragment label.
    members: QuickMap<u32, Vec<u32>>,
}

impl<'a> FrameElements<'a> {
    /// Reads a frame; `None` if it lacks a required column.
    pub fn read(
        job: &'a ExportJob,
        elements: &'a Elements,
        frame: u32,
    ) -> Result<Option<Self>, ExportError> {
        let there = job.store.frame_groups(frame);
        if !there.is_ok_and(|groups| REQUIRED_GROUPS.iter().all(|group| groups.contains(group))) {
            return Ok(None);
        }
        let table = job
            .store
            .read_frame_of(frame, &REQUIRED_GROUPS, elements.id.len())?;
        let mut members: QuickMap<u32, Vec<u32>> = QuickMap::default();
        for (row, &fragment) in table.fragment.iter().enumerate() {
            members.entry(fragment).or_default().push(row as u32);
        }
        Ok(Some(FrameElements {
            job,
            elements,
            table,
            members,
        }))
    }

    /// Motion of a fragment; `None` if the frame does not have it.
    pub fn motion_of(&self, fragment: u32) -> Option<FragmentMotion> {
        let rows = self.members.get(&fragment)?;
        Some(self.motion_of_rows(rows))
    }

    /// Rows of a fragment's elements.
    pub fn rows(&self, fragment: u32) -> Option<&[u32]> {
        self.members.get(&fragment).map(Vec::as_slice)
    }

    /// Positions and rotations of the elements in `rows`.
    pub fn poses(&self, rows: &[u32]) -> Vec<(DVec3, DQuat)> {
        let (table, space) = (&self.table, self.job.space);
        let pose = |&row: &u32| {
            let k = row as usize;
            let axis = double(space.rotate([table.qx[k], table.qy[k], table.qz[k]]));
            let turn = DQuat::from_vec4(axis.extend(f64::from(table.qw[k])));
            let position = double(space.transform([table.x[k], table.y[k], table.z[k]]));
            (position, turn.normalize())
        };
        rows.iter().map(pose).collect()
    }

    /// Largest radius of the elements in `rows`, units of the file.
    pub fn largest_radius(&self, rows: &[u32]) -> f64 {
        let radii = rows.iter().map(|&row| self.elements.r[row as usize]);
        radii.fold(0.0, f64::max) * self.job.space.scale
    }

    /// Rigid state of a fragment's elements in another frame, where they may belong to other fragments;
    /// `state` is that of the fragment in this frame. `None` if this frame does not have the fragment.
    pub fn state_in_frame(
        &self,
        fragment: u32,
        state: &RigidState,
        other: &Self,
    ) -> Option<RigidState> {
        let rows = self.members.get(&fragment)?;
        let (own, motion) = (self.motion_of_rows(rows), other.motion_of_rows(rows));
        let turned =
            RigidTransform::fit(&self.axis_points(rows), &other.axis_points(rows)).rotation;
        let at = motion.centre + turned * (state.at - own.centre);
        Some(RigidState {
            frame: other.table.frame[0],
            at,
            rotation: turned * state.rotation,
            velocity: motion.velocity + motion.spin.cross(at - motion.centre),
            spin: motion.spin,
        })
    }

    fn motion_of_rows(&self, rows: &[u32]) -> FragmentMotion {
        let (table, space) = (&self.table, self.job.space);
        let moving = |&row: &u32| {
            let k = row as usize;
            let (mass, r) = (self.elements.mass[k], self.elements.r[k] * space.scale);
            ElementMotion {
                mass,
                inertia: 0.4 * mass * r * r,
                position: double(space.transform([table.x[k], table.y[k], table.z[k]])),
                velocity: double(space.transform([table.vx[k], table.vy[k], table.vz[k]])),
                spin: double(space.rotate([table.wx[k], table.wy[k], table.wz[k]])),
            }
        };
        FragmentMotion::of(&rows.iter().map(moving).collect::<Vec<_>>())
    }

    /// Three points of each element that rotate with it, so that even a single element has a rotation.
    fn axis_points(&self, rows: &[u32]) -> Vec<[f32; 3]> {
        let scale = self.job.space.scale;
        let axis_points = |(&row, (at, turn)): (&u32, (DVec3, DQuat))| {
            let r = self.elements.r[row as usize] * scale;
            [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| (at + turn * axis * r).as_vec3().to_array())
        };
        rows.iter()
            .zip(self.poses(rows))
            .flat_map(axis_points)
            .collect()
    }
}

fn double(vector: [f32; 3]) -> DVec3 {
    DVec3::from(vector.map(f64::from))
}

impl FragmentMotion {
    fn of(elements: &[ElementMotion]) -> Self {
        let total_mass: f64 = elements.iter().map(|e| e.mass).sum();
        let mean = |of: fn(&ElementMotion) -> DVec3| {
            elements.iter().map(|e| of(e) * e.mass).sum::<DVec3>() / total_mass
        };
        let (centre, velocity) = (mean(|e| e.position), mean(|e| e.velocity));
        let (mut inertia, mut momentum) = (DMat3::ZERO, DVec3::ZERO);
        for e in elements {
            let r = e.position - centre;
            momentum += r.cross(e.velocity - velocity) * e.mass + e.spin * e.inertia;
            inertia +=
                mass::point_inertia(r) * e.mass + DMat3::from_diagonal(DVec3::splat(e.inertia));
        }
        FragmentMotion {
            centre,
            velocity,
            spin: inertia.inverse() * momentum,
            inertia,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_vibrates_within_changes_neither_velocity_nor_spin() {
        let (velocity, spin) = (DVec3::new(3.0, -1.0, 0.5), DVec3::new(40.0, 10.0, -20.0));
        let centre = DVec3::new(0.5, 0.25, -1.0);
        // Elements in pairs on both sides of the centre, which swing against each other.
        let arms = [DVec3::new(0.2, 0.0, 0.1), DVec3::new(0.0, 0.3, 0.0)];
        let swing = [DVec3::new(5.0, 0.0, 2.5), DVec3::new(0.0, -7.0, 0.0)];
        let element = |arm: DVec3, swing: DVec3| ElementMotion {
            mass: 2.0,
            inertia: 0.01,
            position: centre + arm,
            velocity: velocity + spin.cross(arm) + swing,
            spin,
        };
        let pairs = arms.into_iter().zip(swing);
        let elements: Vec<ElementMotion> = pairs
            .flat_map(|(arm, swing)| [element(arm, swing), element(-arm, -swing)])
            .collect();
        let found = FragmentMotion::of(&elements);
        assert!(found.centre.distance(centre) < 1e-12, "{found:?}");
        assert!(found.velocity.distance(velocity) < 1e-12, "{found:?}");
        assert!(found.spin.distance(spin) < 1e-9, "{found:?}");
        // 2·2·(0.3² + 0.1²) + 4·0.01 about x.
        assert!((found.inertia.x_axis.x - 0.44).abs() < 1e-12, "{found:?}");
    }
}
