//! Loads that a frame of a simulation recorded: forces of colliders and attachments on a body that is whole,
//! and its spin. Inertia takes what they leave.
//!
//! Stress is computed in the body at rest, to which loads are turned back by the body's mean rotation. A
//! collider's force goes to the part of the surface that it touches, the torque with it as far as tractions
//! linear over that part carry it.

use std::sync::Arc;

use glam::{DMat3, DQuat, DVec3};

use super::case::Case;
use super::error::StressError;
use super::patch::{Patch, Variation};
use super::solid::Solid;
use crate::columns::{Elements, Frames, LoadKind, Loads};
use crate::geometry::mass::of_point;
use crate::geometry::mesh_solid::MeshSolid;
use crate::geometry::solid::Solid as Shape;
use crate::spec::{Action, Pipeline};
use crate::store::Store;

/// Place, rotation and spin of a body in a frame.
#[derive(Clone, Copy, Debug)]
pub struct Motion {
    /// Centre of mass at rest, m.
    rest: DVec3,
    /// Centre of mass in the frame, m.
    centre: DVec3,
    /// Mean rotation since packing.
    rotation: DQuat,
    /// Angular velocity in the axes at rest, rad/s.
    spin: DVec3,
}

impl Motion {
    /// Of a body's elements; none where it has none or where they are no longer one fragment.
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
        // Frames need not hold velocities.
        let spin = match frame.vx.len() == frame.id.len() && rows.len() > 3 {
            true => angular_velocity(elements, frame, &rows, centre),
            false => DVec3::ZERO,
        };
        Some(Motion {
            rest,
            centre,
            rotation,
            spin: rotation.inverse() * spin,
        })
    }

    /// A point of the body at rest, in the frame.
    fn moved(&self, x: DVec3) -> DVec3 {
        self.centre + self.rotation * (x - self.rest)
    }
}

/// J⁻¹ L of elements about their centre, rad/s, world axes.
fn angular_velocity(elements: &Elements, frame: &Frames, rows: &[usize], centre: DVec3) -> DVec3 {
    let (mut momentum, mut inertia) = (DVec3::ZERO, DMat3::ZERO);
    for &row in rows {
        let r = vector([frame.x[row], frame.y[row], frame.z[row]]) - centre;
        let v = vector([frame.vx[row], frame.vy[row], frame.vz[row]]);
        let mass = elements.mass[row];
        momentum += r.cross(v) * mass;
        inertia += of_point(r) * mass;
    }
    match inertia.determinant() > 0.0 {
        true => inertia.inverse() * momentum,
        false => DVec3::ZERO,
    }
}

fn vector(of: [f32; 3]) -> DVec3 {
    DVec3::from(of.map(f64::from))
}

/// What a frame holds of loads.
pub struct Recorded<'a> {
    /// The store.
    pub store: &'a Store,
    /// Its pipeline.
    pub pipeline: &'a Pipeline,
    /// The table.
    pub loads: &'a Loads,
    /// Time of the frame, s.
    pub time: f64,
}

/// The parts of the bodies' surfaces that each collider touches, by collider and body.
pub type Touched = Vec<Vec<Option<Patch>>>;

impl Recorded<'_> {
    /// What colliders touch: the surface no farther from them than an element's radius.
    pub fn touched(
        &self,
        solids: &[Solid],
        motions: &[Option<Motion>],
    ) -> Result<Touched, StressError> {
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
                let of = |(solid, motion): (&Solid, &Option<Motion>)| {
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

    /// Loads on the body at `at`, and what of them was left out.
    pub fn of_body(
        &self,
        solid: &Solid,
        motion: &Motion,
        at: usize,
        touched: &Touched,
    ) -> (Vec<Case>, Vec<String>) {
        let (mut cases, mut notes) = (Vec::new(), Vec::new());
        for row in 0..self.loads.name.len() {
            let index = self.loads.index[row] as usize;
            let name = &self.loads.name[row];
            let patch = match self.loads.kind[row] {
                LoadKind::Gauge => None,
                LoadKind::Collider => {
                    let of_all = touched.get(index).map_or(&[][..], |of_all| of_all);
                    let several = of_all.iter().flatten().count() > 1;
                    let own = of_all.get(at).and_then(Option::as_ref);
                    if several && own.is_some() {
                        notes.push(format!(
                            "collider {name:?} touches several bodies, whose loads a frame does not tell apart; it is left out"
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
            cases.push(Case {
                spin: motion.spin,
                ..Case::new("spin", solid.surface.len())
            });
        }
        (cases, notes)
    }

    /// The load of a row on a patch of a body.
    fn case(&self, row: usize, solid: &Solid, motion: &Motion, patch: &Patch) -> Case {
        let (loads, surface) = (self.loads, &solid.surface);
        let mut case = Case::new(&loads.name[row], surface.len());
        let attachment = self.pipeline.attachments.get(loads.index[row] as usize);
        if loads.kind[row] == LoadKind::Pressure
            && let Some(Action::Pressure { pressure }) = attachment.map(|one| &one.action)
        {
            patch.press(surface, *pressure, &mut case.tractions);
            return case;
        }
        // A frame records the force of the body on what carries it; the body has the opposite one.
        let force = -DVec3::new(loads.fx[row], loads.fy[row], loads.fz[row]);
        let torque = -DVec3::new(loads.tx[row], loads.ty[row], loads.tz[row]);
        let place = DVec3::new(loads.x[row], loads.y[row], loads.z[row]);
        let moment = torque + (place - motion.moved(patch.centre)).cross(force);
        let back = motion.rotation.inverse();
        let (force, moment) = (back * force, back * moment);
        // A line or a point carries no torque.
        let even = (force / patch.area, DVec3::ZERO);
        let tractions = patch.tractions_of(force, moment).unwrap_or(even);
        patch.load(surface, Variation::Stepwise, tractions, &mut case.tractions);
        case
    }
}
