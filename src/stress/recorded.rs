//! Loads that a frame of a simulation recorded: forces of colliders and attachments on a body that is whole,
//! and its spin. Inertia balances their resultant.
//!
//! Stress is computed in the body at rest: loads are rotated back by the body's mean rotation. A collider's
//! force acts on the part of the surface in contact with it; its torque acts there too, as far as tractions
//! that are linear over this part can carry it.

use std::sync::Arc;

use glam::{DMat3, DQuat, DVec3};

use super::case::LoadCase;
use super::error::StressError;
use super::patch::{Patch, Variation};
use super::solid::Solid;
use crate::columns::{Elements, Frames, LoadKind, Loads};
use crate::geometry::mass::point_inertia;
use crate::geometry::mesh_solid::MeshSolid;
use crate::geometry::solid::Solid as Shape;
use crate::spec::{Action, Pipeline};
use crate::store::Store;

/// Centre of mass, rotation and spin of a body in a frame.
#[derive(Clone, Copy, Debug)]
pub struct BodyMotion {
    /// Centre of mass at rest, m.
    rest: DVec3,
    /// Centre of mass in the frame, m.
    centre: DVec3,
    /// Mean rotation since packing.
    rotation: DQuat,
    /// Angular velocity in the axes of the body at rest, rad/s.
    spin: DVec3,
}

impl BodyMotion {
    /// From the elements of a body; none if it has none, or if they are no longer one fragment.
    pub fn new(elements: &Elements, frame: &Frames, body: u32) -> Option<Self> {
        let rows: Vec<usize> = (0..elements.id.len())
            .filter(|row| elements.body[*row] == body)
            .collect();
        let first = *rows.first()?;
        let label = frame.fragment.get(first)?;
        if rows
            .iter()
            .any(|row| frame.fragment.get(*row) != Some(label))
        {
            return None;
        }
        let mass: f64 = rows.iter().map(|row| elements.mass[*row]).sum();
        let rest_at = |row: usize| DVec3::new(elements.x[row], elements.y[row], elements.z[row]);
        let at = |row: usize| vector([frame.x[row], frame.y[row], frame.z[row]]);
        let mean = |of: &dyn Fn(usize) -> DVec3| {
            let weighted = rows.iter().map(|row| of(*row) * elements.mass[*row]);
            weighted.sum::<DVec3>() / mass
        };
        let (rest, centre) = (mean(&rest_at), mean(&at));
        let turn_of = |row: usize| {
            let [x, y, z, w] = [frame.qx[row], frame.qy[row], frame.qz[row], frame.qw[row]];
            DQuat::from_xyzw(x.into(), y.into(), z.into(), w.into())
        };
        let reference = turn_of(first);
        let mut sum = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
        for row in &rows {
            let own = turn_of(*row);
            let sign = if own.dot(reference) < 0.0 { -1.0 } else { 1.0 };
            sum += own * (sign * elements.mass[*row] / mass);
        }
        let rotation = sum.normalize();
        // Frames may lack velocities.
        let spin = match frame.vx.len() == frame.id.len() && rows.len() > 3 {
            true => angular_velocity(elements, frame, &rows, centre),
            false => DVec3::ZERO,
        };
        Some(BodyMotion {
            rest,
            centre,
            rotation,
            spin: rotation.inverse() * spin,
        })
    }

    /// Position in the frame of a point of the body at rest, m.
    fn moved(&self, x: DVec3) -> DVec3 {
        self.centre + self.rotation * (x - self.rest)
    }
}

/// Angular velocity J⁻¹ L of elements about their centre of mass, rad/s, in world axes.
fn angular_velocity(elements: &Elements, frame: &Frames, rows: &[usize], centre: DVec3) -> DVec3 {
    let (mut momentum, mut inertia) = (DVec3::ZERO, DMat3::ZERO);
    for &row in rows {
        let r = vector([frame.x[row], frame.y[row], frame.z[row]]) - centre;
        let v = vector([frame.vx[row], frame.vy[row], frame.vz[row]]);
        let mass = elements.mass[row];
        momentum += r.cross(v) * mass;
        inertia += point_inertia(r) * mass;
    }
    match inertia.determinant() > 0.0 {
        true => inertia.inverse() * momentum,
        false => DVec3::ZERO,
    }
}

fn vector(of: [f32; 3]) -> DVec3 {
    DVec3::from(of.map(f64::from))
}

/// The loads in a frame, and where their colliders and attachments are described.
pub struct RecordedLoads<'a> {
    /// The store.
    pub store: &'a Store,
    /// The pipeline of the store.
    pub pipeline: &'a Pipeline,
    /// The table of loads of the frame.
    pub loads: &'a Loads,
    /// Time of the frame, s.
    pub time: f64,
}

/// The part of each body's surface in contact with each collider: `[collider][body]`, none if they do not
/// touch.
pub type ContactPatches = Vec<Vec<Option<Patch>>>;

impl RecordedLoads<'_> {
    /// The parts of the surfaces in contact with colliders: no farther from them than an element's radius.
    pub fn contact_patches(
        &self,
        solids: &[Solid],
        motions: &[Option<BodyMotion>],
    ) -> Result<ContactPatches, StressError> {
        let colliders = self.pipeline.colliders.iter().enumerate();
        colliders
            .map(|(index, collider)| {
                let shape = match collider.shape.solid() {
                    Some(shape) => shape,
                    None => {
                        let mesh = self.store.read_collider(index as u32)?;
                        Shape::Mesh(Arc::new(MeshSolid::new(mesh)))
                    }
                };
                let pose = collider.pose(self.time);
                let of = |(solid, motion): (&Solid, &Option<BodyMotion>)| {
                    let motion = motion.as_ref()?;
                    let surface = &solid.surface;
                    let near = |t: &usize| {
                        let point = motion.moved(surface.centroids[*t]);
                        pose.reaches(&shape, point, solid.radius)
                    };
                    let triangles = (0..surface.len()).filter(near).map(|t| (t, 1.0));
                    Patch::of(surface, triangles.collect())
                };
                Ok(solids.iter().zip(motions).map(of).collect())
            })
            .collect()
    }

    /// Load cases of body number `at`, and notes on loads that were left out.
    pub fn load_cases(
        &self,
        solid: &Solid,
        motion: &BodyMotion,
        at: usize,
        contact_patches: &ContactPatches,
    ) -> (Vec<LoadCase>, Vec<String>) {
        let (mut cases, mut notes) = (Vec::new(), Vec::new());
        for row in 0..self.loads.name.len() {
            let index = self.loads.index[row] as usize;
            let name = &self.loads.name[row];
            let patch = match self.loads.kind[row] {
                LoadKind::Gauge => None,
                LoadKind::Collider => {
                    let of_all = contact_patches.get(index).map_or(&[][..], |of_all| of_all);
                    let several = of_all.iter().flatten().count() > 1;
                    let own = of_all.get(at).and_then(Option::as_ref);
                    if several && own.is_some() {
                        notes.push(format!(
                            "collider {name:?} touches several bodies, and a frame records only the sum of their loads; its load is left out"
                        ));
                    }
                    own.filter(|_| !several).cloned()
                }
                LoadKind::Clamp | LoadKind::Spring | LoadKind::Force | LoadKind::Pressure => {
                    let attachment = self.pipeline.attachments.get(index);
                    let own = attachment.filter(|one| one.body == solid.name);
                    own.and_then(|one| Patch::new(&solid.surface, &one.region))
                }
            };
            if let Some(patch) = patch {
                cases.push(self.case(row, solid, motion, &patch));
            }
        }
        if motion.spin != DVec3::ZERO {
            cases.push(LoadCase {
                spin: motion.spin,
                ..LoadCase::new("spin", solid.surface.len())
            });
        }
        (cases, notes)
    }

    /// The load case of a row of the table, on a patch of the body.
    fn case(&self, row: usize, solid: &Solid, motion: &BodyMotion, patch: &Patch) -> LoadCase {
        let (loads, surface) = (self.loads, &solid.surface);
        let mut case = LoadCase::new(&loads.name[row], surface.len());
        let attachment = self.pipeline.attachments.get(loads.index[row] as usize);
        if loads.kind[row] == LoadKind::Pressure
            && let Some(Action::Pressure { pressure }) = attachment.map(|one| &one.action)
        {
            patch.add_pressure(surface, *pressure, &mut case.tractions);
            return case;
        }
        // A frame records the force of the body on the collider or attachment; the force on the body is
        // opposite.
        let force = -DVec3::new(loads.fx[row], loads.fy[row], loads.fz[row]);
        let torque = -DVec3::new(loads.tx[row], loads.ty[row], loads.tz[row]);
        let place = DVec3::new(loads.x[row], loads.y[row], loads.z[row]);
        let moment = torque + (place - motion.moved(patch.centre)).cross(force);
        let back = motion.rotation.inverse();
        let (force, moment) = (back * force, back * moment);
        // A line or a point carries no torque.
        let uniform = (force / patch.area, DVec3::ZERO);
        let tractions = patch.tractions_of(force, moment).unwrap_or(uniform);
        patch.add_traction(surface, Variation::Stepwise, tractions, &mut case.tractions);
        case
    }
}
