//! How fragments move by the momentum and angular momentum of their elements, which free flight keeps
//! whatever vibrates within.
//!
//! ```text
//! v = Σ m v_e/Σ m,   I ω = Σ (m (x_e − x) × (v_e − v) + I_e ω_e),   I = Σ (m (|r|² 1 − r rᵀ) + I_e 1), r = x_e − x
//! ```

use glam::{DMat3, DQuat, DVec3};

use super::error::ExportError;
use super::job::Job;
use super::moment::Moment;
use super::rigid::Rigid;
use crate::columns::{Elements, Frames};
use crate::geometry::mass;
use crate::math::hash::QuickMap;
use crate::spec::FrameGroup;

/// A fragment in a frame, in the axes and units of the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turning {
    /// Centre of mass.
    pub centre: DVec3,
    /// Its velocity, units a second of the event.
    pub velocity: DVec3,
    /// Angular velocity, rad a second of the event.
    pub spin: DVec3,
    /// Moments of inertia about the centre, kg units².
    pub inertia: DMat3,
}

/// What frames must hold for it.
const NEEDED: [FrameGroup; 5] = [
    FrameGroup::Position,
    FrameGroup::Rotation,
    FrameGroup::Velocity,
    FrameGroup::Spin,
    FrameGroup::Fragment,
];

/// An element in the coordinates of the file.
struct Moving {
    mass: f64,
    inertia: f64,
    place: DVec3,
    velocity: DVec3,
    spin: DVec3,
}

/// The elements of a frame.
pub struct Crowd<'a> {
    job: &'a Job<'a>,
    elements: &'a Elements,
    table: Frames,
    /// Rows by label of their fragment.
    members: QuickMap<u32, Vec<u32>>,
}

impl<'a> Crowd<'a> {
    /// Those of a frame; nothing where it lacks a column that is needed.
    pub fn read(
        job: &'a Job,
        elements: &'a Elements,
        frame: u32,
    ) -> Result<Option<Self>, ExportError> {
        let there = job.store.frame_groups(frame);
        if !there.is_ok_and(|groups| NEEDED.iter().all(|group| groups.contains(group))) {
            return Ok(None);
        }
        let table = job.store.read_frame_of(frame, &NEEDED, elements.id.len())?;
        let mut members: QuickMap<u32, Vec<u32>> = QuickMap::default();
        for (row, &fragment) in table.fragment.iter().enumerate() {
            members.entry(fragment).or_default().push(row as u32);
        }
        Ok(Some(Crowd {
            job,
            elements,
            table,
            members,
        }))
    }

    /// How a fragment moves; nothing if it is not there.
    pub fn turning(&self, fragment: u32) -> Option<Turning> {
        let rows = self.members.get(&fragment)?;
        Some(self.turning_of(rows))
    }

    /// Rows of a fragment's elements.
    pub fn rows(&self, fragment: u32) -> Option<&[u32]> {
        self.members.get(&fragment).map(Vec::as_slice)
    }

    /// Places and rotations of elements.
    pub fn poses(&self, rows: &[u32]) -> Vec<(DVec3, DQuat)> {
        let (table, space) = (&self.table, self.job.space);
        let pose = |&row: &u32| {
            let k = row as usize;
            let axis = double(space.turned([table.qx[k], table.qy[k], table.qz[k]]));
            let turn = DQuat::from_vec4(axis.extend(f64::from(table.qw[k])));
            let place = double(space.lengths([table.x[k], table.y[k], table.z[k]]));
            (place, turn.normalize())
        };
        rows.iter().map(pose).collect()
    }

    /// The largest radius of elements.
    pub fn largest(&self, rows: &[u32]) -> f64 {
        let radii = rows.iter().map(|&row| self.elements.r[row as usize]);
        radii.fold(0.0, f64::max) * self.job.space.scale
    }

    /// How the elements of a fragment stand and move together in another frame, where they may belong to
    /// other fragments; `moment` is how it moves in this one.
    pub fn elsewhere(&self, fragment: u32, moment: &Moment, other: &Self) -> Option<Moment> {
        let rows = self.members.get(&fragment)?;
        let (own, turning) = (self.turning_of(rows), other.turning_of(rows));
        let turned = Rigid::fit(&self.feet(rows), &other.feet(rows)).rotation;
        let at = turning.centre + turned * (moment.at - own.centre);
        Some(Moment {
            frame: other.table.frame[0],
            at,
            rotation: turned * moment.rotation,
            velocity: turning.velocity + turning.spin.cross(at - turning.centre),
            spin: turning.spin,
        })
    }

    fn turning_of(&self, rows: &[u32]) -> Turning {
        let (table, space) = (&self.table, self.job.space);
        let moving = |&row: &u32| {
            let k = row as usize;
            let (mass, r) = (self.elements.mass[k], self.elements.r[k] * space.scale);
            Moving {
                mass,
                inertia: 0.4 * mass * r * r,
                place: double(space.lengths([table.x[k], table.y[k], table.z[k]])),
                velocity: double(space.lengths([table.vx[k], table.vy[k], table.vz[k]])),
                spin: double(space.turned([table.wx[k], table.wy[k], table.wz[k]])),
            }
        };
        Turning::of(&rows.iter().map(moving).collect::<Vec<_>>())
    }

    /// Three points of each element, which turn with it, so that even a single element has a rotation.
    fn feet(&self, rows: &[u32]) -> Vec<[f32; 3]> {
        let scale = self.job.space.scale;
        let feet = |(&row, (at, turn)): (&u32, (DVec3, DQuat))| {
            let r = self.elements.r[row as usize] * scale;
            [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| (at + turn * axis * r).as_vec3().to_array())
        };
        rows.iter().zip(self.poses(rows)).flat_map(feet).collect()
    }
}

fn double(vector: [f32; 3]) -> DVec3 {
    DVec3::from(vector.map(f64::from))
}

impl Turning {
    fn of(elements: &[Moving]) -> Self {
        let whole: f64 = elements.iter().map(|e| e.mass).sum();
        let mean = |of: fn(&Moving) -> DVec3| {
            elements.iter().map(|e| of(e) * e.mass).sum::<DVec3>() / whole
        };
        let (centre, velocity) = (mean(|e| e.place), mean(|e| e.velocity));
        let (mut inertia, mut momentum) = (DMat3::ZERO, DVec3::ZERO);
        for e in elements {
            let r = e.place - centre;
            momentum += r.cross(e.velocity - velocity) * e.mass + e.spin * e.inertia;
            inertia += mass::of_point(r) * e.mass + DMat3::from_diagonal(DVec3::splat(e.inertia));
        }
        Turning {
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
        let element = |arm: DVec3, swing: DVec3| Moving {
            mass: 2.0,
            inertia: 0.01,
            place: centre + arm,
            velocity: velocity + spin.cross(arm) + swing,
            spin,
        };
        let pairs = arms.into_iter().zip(swing);
        let elements: Vec<Moving> = pairs
            .flat_map(|(arm, swing)| [element(arm, swing), element(-arm, -swing)])
            .collect();
        let found = Turning::of(&elements);
        assert!(found.centre.distance(centre) < 1e-12, "{found:?}");
        assert!(found.velocity.distance(velocity) < 1e-12, "{found:?}");
        assert!(found.spin.distance(spin) < 1e-9, "{found:?}");
        // 2·2·(0.3² + 0.1²) + 4·0.01 about x.
        assert!((found.inertia.x_axis.x - 0.44).abs() < 1e-12, "{found:?}");
    }
}
