//! Rigid cells that fill a body (Monasse and Mariotti 2012): explicit steps that conserve energy, for any
//! Poisson ratio.

mod borders;
pub mod build;
pub mod columns;
pub mod cpu;
mod crossing_pass;
mod crossings;
pub mod device;
mod dilate;
mod face_pass;
mod motion_pass;
mod refuse;
mod row_sums;
pub mod stability;
mod stress;
pub mod tasks;
mod thin;

use self::build::{CellScene, scene};
use self::cpu::CellRun;
use self::stability::LinearisedCells;
use crate::laws::timestep::{critical, damping_rate_bound};
#[cfg(target_arch = "aarch64")]
use crate::math::F32x4;
use crate::math::Scalar;
#[cfg(target_arch = "x86_64")]
use crate::math::{F32x8, F32x16};
use crate::simulate::bonded_run::stability::{Touching, largest_radius, loose_step};
use crate::simulate::error::SimulateError;
use crate::simulate::method::{Method, MethodEntry, Prepare};
use crate::simulate::methods::explicit;
use crate::simulate::methods::explicit::device::Gpu;
use crate::simulate::methods::explicit::device::cells::has_enough_slots;
use crate::simulate::source::Source;
use crate::spec::{Backend, Pipeline, Precision};

/// Registration of this method for `resolve`.
pub const ENTRY: MethodEntry = MethodEntry {
    refuse: refuse::unsupported,
    prepare: |source, pipeline, _shared| prepare(source, pipeline),
    prepare_start: prepare,
};

/// The data of a run in the precision of its pipeline.
enum PreparedCells {
    Single(CellScene<f32>),
    Double(CellScene<f64>),
}

fn prepare(source: &dyn Source, pipeline: &Pipeline) -> Result<Box<dyn Prepare>, SimulateError> {
    Ok(Box::new(match pipeline.simulate.precision {
        Precision::F32 => PreparedCells::Single(scene(source, pipeline)?),
        Precision::F64 => PreparedCells::Double(scene(source, pipeline)?),
    }))
}

/// Evaluates the same expression for either precision.
macro_rules! either {
    ($scene:expr, $built:ident => $value:expr) => {
        match $scene {
            PreparedCells::Single($built) => $value,
            PreparedCells::Double($built) => $value,
        }
    };
}

impl<S: Scalar> CellScene<S> {
    /// Critical step of central differences, s, including springs, contacts and damping.
    fn critical_step(&self, pipeline: &Pipeline) -> f64 {
        let built = &self.built;
        let (system, surfaces) = (&built.system, &built.surfaces);
        let colliders = built.supports.colliders().iter();
        let colliders: Vec<_> = colliders.map(|c| c.at(0.0)).collect();
        let owned = built.ranks.owned();
        let largest = largest_radius(system, &owned);
        let stiffer = |i: usize| built.shapes.as_ref().map_or(1.0, |s| s.stiffer(system, i));
        let ground = |i: usize| match colliders.is_empty() {
            true => 0.0,
            false => {
                let (material, r) = (system.material[i] as usize, system.radius(i));
                // A face flush with the ground also resists the cell's rotation, at most as stiffly as its
                // translation.
                2.0 * stiffer(i) * surfaces.stiffest(material, r, largest, &colliders)
            }
        };
        let ground = (0..system.count).map(ground).collect();
        let inverse = &built.rest.inverse_mass;
        let linear = LinearisedCells::new(system, (&self.faces, &self.cells), inverse, ground);
        let mut lambda = linear.largest_eigenvalue();
        // The largest eigenvalue of a sum is at most the sum of the largest eigenvalues.
        lambda += built.springs.largest_per_mass(&built.rest.mass);
        let damping = pipeline.materials.iter().map(|m| m.damping);
        let damping = damping.fold(0.0, f64::max);
        let step = match lambda > 0.0 {
            true => critical(
                lambda,
                damping_rate_bound(lambda, damping, linear.largest_per_mass(inverse)),
            ),
            false => f64::INFINITY,
        };
        let loose = (&inverse[..], &stiffer as &dyn Fn(usize) -> f64);
        let touching = Touching {
            surfaces,
            colliders: &colliders,
            largest,
        };
        step.min(loose_step((system, &owned), loose, touching, false))
    }
}

impl Prepare for PreparedCells {
    fn hash(&self) -> u64 {
        either!(self, scene => scene.hash)
    }

    fn critical(&self, pipeline: &Pipeline) -> f64 {
        either!(self, scene => scene.critical_step(pipeline))
    }

    fn step_over_critical(&self, pipeline: &Pipeline) -> f64 {
        pipeline.time.fraction
    }

    fn check_start(&self, pipeline: &Pipeline) -> Result<(), SimulateError> {
        either!(self, scene => scene.built.require_outside_colliders(pipeline))
    }

    fn start(
        self: Box<Self>,
        pipeline: &Pipeline,
        backend: Backend,
        dt: f64,
    ) -> Result<Box<dyn Method>, SimulateError> {
        let scene = match *self {
            PreparedCells::Single(scene) => scene,
            PreparedCells::Double(scene) => {
                return Ok(Box::new(CellRun::<f64>::new(scene, pipeline, dt)));
            }
        };
        if backend != Backend::Cpu && refuse::unsupported_on_gpu(pipeline).is_none() {
            let opened = match backend == Backend::Gpu || has_enough_slots(&scene.built.system) {
                true => explicit::open_device(pipeline, backend)?,
                false => None,
            };
            if let Some(device) = opened {
                let tables = device::tables(&scene);
                let run = Gpu::with(device, (scene.built, Some(tables)), pipeline, dt)?;
                return Ok(Box::new(run));
            }
        }
        Ok(cpu_with_widest_lanes(scene, pipeline, dt))
    }
}

/// A run on the CPU with the widest lanes that this machine supports; all widths give the same bits.
fn cpu_with_widest_lanes(scene: CellScene<f32>, pipeline: &Pipeline, dt: f64) -> Box<dyn Method> {
    #[cfg(target_arch = "x86_64")]
    if F32x16::available() {
        return Box::new(CellRun::<F32x16>::new(scene, pipeline, dt));
    } else if F32x8::available() {
        return Box::new(CellRun::<F32x8>::new(scene, pipeline, dt));
    }
    #[cfg(target_arch = "aarch64")]
    let run = CellRun::<F32x4>::new(scene, pipeline, dt);
    #[cfg(not(target_arch = "aarch64"))]
    let run = CellRun::<f32>::new(scene, pipeline, dt);
    Box::new(run)
}
