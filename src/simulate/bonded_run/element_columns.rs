//! The columns of the elements of a packing, filled batch by batch.

use glam::DVec3;

use crate::columns::Elements;
use crate::math::Scalar;
use crate::simulate::bonded::rest::RestData;
use crate::simulate::bonded::system::{LoadRow, System, motion};
use crate::simulate::bonded_run::element_survey::ElementSurvey;
use crate::simulate::error::SimulateError;
use crate::simulate::scene::attachments::clamped;
use crate::simulate::scene::reactions::AttachedElements;
use crate::simulate::scene::rigid::piece_of;
use crate::simulate::scene::rigid_body::BodyPart;
use crate::spec::Pipeline;

/// Columns of elements that are being filled. Rows that are not kept stay zero; the system gives them no memory.
pub struct ElementColumns<'a, S> {
    pipeline: &'a Pipeline,
    system: System<S>,
    load: Vec<LoadRow<S>>,
    mass: Vec<f64>,
    volume: Vec<f64>,
    body: Vec<u32>,
    parts: Vec<(u32, BodyPart)>,
    /// Number of elements so far, whether kept or not.
    count: usize,
}

/// Columns of elements.
pub struct FilledColumns<S> {
    /// Motion, radii and materials; without bonds.
    pub system: System<S>,
    /// Rows of load: zero loads, inverse masses and inertias.
    pub load: Vec<LoadRow<S>>,
    /// Constant data for frames and states.
    pub rest: RestData,
    /// Elements of rigid bodies, ascending.
    pub parts: Vec<(u32, BodyPart)>,
}

impl<'a, S: Scalar> ElementColumns<'a, S> {
    /// No rows yet, for `count` elements in chunks of `chunk`.
    pub fn new(pipeline: &'a Pipeline, (count, chunk): (usize, usize)) -> Self {
        let system = System::of_zeros(count, chunk, pipeline.simulate.bond_law());
        ElementColumns {
            pipeline,
            load: bytemuck::zeroed_vec(system.motion.len()),
            system,
            mass: bytemuck::zeroed_vec(count),
            volume: bytemuck::zeroed_vec(count),
            body: bytemuck::zeroed_vec(count),
            parts: Vec::new(),
            count: 0,
        }
    }

    /// Adds the next batch; `keeps` says which rows are kept.
    pub fn add(&mut self, e: &Elements, keeps: impl Fn(usize) -> bool) {
        let first = self.count;
        self.count += e.id.len();
        for k in (0..e.id.len()).filter(|k| keeps(first + k)) {
            let i = first + k;
            let place = DVec3::new(e.x[k], e.y[k], e.z[k]);
            let velocity = [e.vx[k], e.vy[k], e.vz[k]];
            let spin = [e.wx[k], e.wy[k], e.wz[k]];
            self.system.set_position(i, place);
            self.set_motion(i, [velocity, spin]);
            self.system.motion[i].0[motion::Q + 3] = S::splat(1.0);
            self.system.tail[i].0[3] = S::from_f64(e.r[k]);
            (self.mass[i], self.volume[i]) = (e.mass[k], e.volume[k]);
            self.body[i] = e.body[k];
            if piece_of(e.body[k], self.pipeline) != 0 {
                let part = BodyPart {
                    mass: e.mass[k],
                    inertia: e.inertia[k],
                    place,
                    velocity: DVec3::from_array(velocity),
                    spin: DVec3::from_array(spin),
                };
                self.parts.push((i as u32, part));
            }
        }
    }

    fn set_motion(&mut self, element: usize, both: [[f64; 3]; 2]) {
        let row = &mut self.system.motion[element].0;
        for (at, vector) in [motion::V, motion::W].into_iter().zip(both) {
            for (k, value) in vector.into_iter().enumerate() {
                row[at + k] = S::from_f64(value);
            }
        }
    }

    /// The columns once all batches are added; `keeps` is that of [`add`](Self::add). The system has inverse mass and
    /// material of every element.
    ///
    /// # Errors
    /// Fewer elements were read than the packing announces.
    pub fn finish(
        mut self,
        survey: ElementSurvey,
        attached_elements: &[AttachedElements],
        keeps: impl Fn(usize) -> bool,
    ) -> Result<FilledColumns<S>, SimulateError> {
        let (padded, count) = (self.system.motion.len(), self.count);
        if count != self.system.count {
            let expected = self.system.count;
            let what = format!("it announces {expected} elements, but {count} were read");
            return Err(SimulateError::Packing(what));
        }
        let pipeline = self.pipeline;
        for (elements, velocity) in clamped(attached_elements, pipeline) {
            for &i in elements {
                self.set_motion(i as usize, [velocity, [0.0; 3]]);
            }
        }
        let mut inverse = [(); 2].map(|()| bytemuck::zeroed_vec::<f64>(padded));
        for i in (0..count).filter(|&i| keeps(i)) {
            let row = &mut self.load[i].0;
            row[3] = S::from_f64(survey.inverse_mass[i]);
            row[7] = S::from_f64(survey.inverse_inertia[i]);
            inverse[0][i] = row[3].to_f64();
            inverse[1][i] = row[7].to_f64();
        }
        let mut system = self.system;
        for padding in &mut system.motion[count..] {
            padding.0[motion::Q + 3] = S::splat(1.0);
        }
        for (to, &from) in system.inverse_mass.iter_mut().zip(&survey.inverse_mass) {
            *to = S::from_f64(from);
        }
        system.material = survey.material;
        system.material.resize(padded, 0);
        system.set_rigid(survey.mask);
        let [inverse_mass, inverse_inertia] = inverse;
        Ok(FilledColumns {
            system,
            load: self.load,
            rest: RestData {
                mass: self.mass,
                volume: self.volume,
                body: self.body,
                inverse_mass,
                inverse_inertia,
                principal: Vec::new(),
                gravity: DVec3::from_array(pipeline.world.gravity),
                bounds: pipeline.world.bounds,
            },
            parts: self.parts,
        })
    }
}
