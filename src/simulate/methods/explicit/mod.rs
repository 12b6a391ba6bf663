//! Explicit steps (velocity Verlet, Lu 2021) of bonded elements: in lanes on the CPU, or on a graphics
//! processor.

pub mod cpu;
pub mod device;
mod refuse;

use self::cpu::Cpu;
use self::device::Gpu;
pub use self::refuse::unsupported_on_gpu;
use crate::gpu::{Device, DeviceRequest, GpuError};
#[cfg(target_arch = "aarch64")]
use crate::math::F32x4;
#[cfg(target_arch = "x86_64")]
use crate::math::{F32x8, F32x16};
use crate::simulate::bonded_run::build::{Built, build_shared, build_start};
use crate::simulate::error::SimulateError;
use crate::simulate::method::{Method, MethodEntry, Prepare};
use crate::simulate::share::shared::Shared;
use crate::simulate::source::Source;
use crate::spec::{Backend, Pipeline, Precision};

/// Registration of this method for `resolve`.
pub const ENTRY: MethodEntry = MethodEntry {
    refuse: refuse::unsupported,
    prepare,
    prepare_start,
};

/// The data of a run in the precision of its pipeline.
enum PreparedExplicit {
    Single(Built<f32>),
    Double(Built<f64>),
}

fn prepare(
    source: &dyn Source,
    pipeline: &Pipeline,
    shared: Option<Shared>,
) -> Result<Box<dyn Prepare>, SimulateError> {
    Ok(Box::new(match pipeline.simulate.precision {
        Precision::F32 => PreparedExplicit::Single(build_shared(source, pipeline, shared)?),
        Precision::F64 => PreparedExplicit::Double(build_shared(source, pipeline, shared)?),
    }))
}

fn prepare_start(
    source: &dyn Source,
    pipeline: &Pipeline,
) -> Result<Box<dyn Prepare>, SimulateError> {
    Ok(Box::new(match pipeline.simulate.precision {
        Precision::F32 => PreparedExplicit::Single(build_start(source, pipeline)?),
        Precision::F64 => PreparedExplicit::Double(build_start(source, pipeline)?),
    }))
}

/// Evaluates the same expression for either precision.
macro_rules! either {
    ($scene:expr, $built:ident => $value:expr) => {
        match $scene {
            PreparedExplicit::Single($built) => $value,
            PreparedExplicit::Double($built) => $value,
        }
    };
}

impl Prepare for PreparedExplicit {
    fn hash(&self) -> u64 {
        either!(self, built => built.hash)
    }

    fn critical(&self, pipeline: &Pipeline) -> f64 {
        either!(self, built => built.critical_step(pipeline))
    }

    fn step_over_critical(&self, pipeline: &Pipeline) -> f64 {
        pipeline.time.fraction
    }

    fn check_start(&self, pipeline: &Pipeline) -> Result<(), SimulateError> {
        either!(self, built => built.require_outside_colliders(pipeline))
    }

    fn start(
        self: Box<Self>,
        pipeline: &Pipeline,
        backend: Backend,
        dt: f64,
    ) -> Result<Box<dyn Method>, SimulateError> {
        let built = match *self {
            PreparedExplicit::Single(built) => built,
            PreparedExplicit::Double(built) => {
                return Ok(Box::new(Cpu::<f64>::new(built, pipeline, dt)));
            }
        };
        if backend != Backend::Cpu
            && unsupported_on_gpu(pipeline).is_none()
            && let Some(device) = open_device(pipeline, backend)?
        {
            return Ok(Box::new(Gpu::on(device, built, pipeline, dt)?));
        }
        Ok(cpu_with_widest_lanes(built, pipeline, dt))
    }
}

/// Opens the device that a pipeline names. None if the backend is `auto` and there is no suitable device, so
/// that the CPU is used.
pub fn open_device(pipeline: &Pipeline, backend: Backend) -> Result<Option<Device>, GpuError> {
    let settings = &pipeline.simulate.gpu;
    let request = DeviceRequest {
        adapter: settings.adapter.clone(),
        binding_limit: settings.binding_limit,
        workgroup_limit: settings.workgroup_limit,
    };
    match Gpu::open(&request) {
        Ok(device) => Ok(Some(device)),
        Err(GpuError::NoAdapter { .. } | GpuError::Lacks { .. }) if backend == Backend::Auto => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// A run on the CPU with the widest lanes that this machine supports; all widths give the same bits.
fn cpu_with_widest_lanes(built: Built<f32>, pipeline: &Pipeline, dt: f64) -> Box<dyn Method> {
    #[cfg(target_arch = "x86_64")]
    if F32x16::available() {
        return Box::new(Cpu::<F32x16>::new(built, pipeline, dt));
    } else if F32x8::available() {
        return Box::new(Cpu::<F32x8>::new(built, pipeline, dt));
    }
    #[cfg(target_arch = "aarch64")]
    let run = Cpu::<F32x4>::new(built, pipeline, dt);
    #[cfg(not(target_arch = "aarch64"))]
    let run = Cpu::<f32>::new(built, pipeline, dt);
    Box::new(run)
}
