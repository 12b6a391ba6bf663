//! A scene prepared for the method that its pipeline selects: schedule, checks, start.

use crate::simulate::error::SimulateError;
use crate::simulate::method::{Method, MethodEntry, Prepare, require_ranks};
use crate::simulate::methods::{explicit, implicit, voronoi};
use crate::simulate::share::shared::Shared;
use crate::simulate::source::Source;
use crate::spec::{Backend, MethodName, Pipeline};

/// The method that a pipeline selects.
fn method_of(pipeline: &Pipeline) -> &'static MethodEntry {
    match pipeline.method() {
        MethodName::Explicit => &explicit::ENTRY,
        MethodName::Implicit => &implicit::ENTRY,
        MethodName::Voronoi => &voronoi::ENTRY,
    }
}

/// Resolved time stepping, which `check` prints and `simulate` uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// Critical step found by Lanczos iteration, s.
    pub critical: f64,
    /// Longest step that the pipeline allows, s.
    pub longest: f64,
    /// Time step, s: a whole number of steps makes a frame.
    pub dt: f64,
    /// Steps per frame.
    pub steps_per_frame: u64,
    /// Number of frames, except frame 0, which is the start.
    pub frames: u32,
}

/// A scene built for the method that its pipeline selects.
pub struct PreparedScene(Box<dyn Prepare>);

impl PreparedScene {
    /// Builds the scene.
    pub fn new(source: &dyn Source, pipeline: &Pipeline) -> Result<Self, SimulateError> {
        Self::on_ranks(source, pipeline, None)
    }

    /// Builds the scene, or what this rank needs of it if ranks share it.
    ///
    /// # Errors
    /// Those of [`new`](Self::new). If ranks share the scene: what the pipeline asks for runs in one process only.
    pub fn on_ranks(
        source: &dyn Source,
        pipeline: &Pipeline,
        shared: Option<Shared>,
    ) -> Result<Self, SimulateError> {
        if shared.is_some() {
            require_ranks(pipeline)?;
        }
        let prepare = method_of(pipeline).prepare;
        Ok(PreparedScene(prepare(source, pipeline, shared)?))
    }

    /// Hash of all values of the packing.
    pub fn hash(&self) -> u64 {
        self.0.hash()
    }

    /// Finds the time step: the one in the pipeline, or a fraction of the critical step, shortened so that a frame is a
    /// whole number of steps. All ranks must call it.
    pub fn schedule(&self, pipeline: &Pipeline) -> Schedule {
        let critical = self.0.critical(pipeline);
        let time = &pipeline.time;
        let interval = 1.0 / time.frames_per_second;
        let fraction = self.0.step_over_critical(pipeline);
        let longest = time.step.unwrap_or(fraction * critical);
        let unrounded = longest.min(interval);
        // A `time.step` that divides the interval up to rounding is not shortened.
        let steps_per_frame = (interval / unrounded - 1e-9).ceil().max(1.0);
        Schedule {
            critical,
            longest,
            dt: interval / steps_per_frame,
            steps_per_frame: steps_per_frame as u64,
            frames: time.last_frame(),
        }
    }

    /// Fails if the method does not support the pipeline or its start, before any work is done or data are removed.
    pub fn validate(&self, pipeline: &Pipeline, backend: Backend) -> Result<(), SimulateError> {
        refuse(pipeline, backend)?;
        self.0.check_start(pipeline)
    }

    /// The method for a pipeline at time zero, or the reason why it does not support the pipeline.
    pub fn start(
        self,
        pipeline: &Pipeline,
        backend: Backend,
        dt: f64,
    ) -> Result<Box<dyn Method>, SimulateError> {
        refuse(pipeline, backend)?;
        self.0.start(pipeline, backend, dt)
    }
}

fn refuse(pipeline: &Pipeline, backend: Backend) -> Result<(), SimulateError> {
    let world = &pipeline.world;
    let has_borders = world.plane_strain.is_some() || !world.absorbing.is_empty();
    let refused = match pipeline.method() {
        MethodName::Explicit | MethodName::Implicit if has_borders => SimulateError::unsupported(
            "world.plane_strain and world.absorbing of bonded elements",
            "a side or an axis",
            "none: they require bodies packed with cells",
        ),
        _ => (method_of(pipeline).refuse)(pipeline, backend),
    };
    refused.map_or(Ok(()), Err)
}

/// Fails if the method does not support the packing, the pipeline or its start. As [`PreparedScene::validate`], but
/// most scenes take a fraction of the memory and the time: bonds are checked one by one, and few elements have rows.
///
/// # Errors
/// Those of [`PreparedScene::new`] and of [`PreparedScene::validate`].
pub fn validate(source: &dyn Source, pipeline: &Pipeline) -> Result<(), SimulateError> {
    let start = (method_of(pipeline).prepare_start)(source, pipeline)?;
    refuse(pipeline, pipeline.simulate.backend)?;
    start.check_start(pipeline)
}

/// The time step for a packing: see [`PreparedScene::schedule`].
pub fn schedule(source: &dyn Source, pipeline: &Pipeline) -> Result<Schedule, SimulateError> {
    Ok(PreparedScene::new(source, pipeline)?.schedule(pipeline))
}

/// The method for a packing at time zero: see [`PreparedScene::start`].
pub fn method(
    source: &dyn Source,
    pipeline: &Pipeline,
    backend: Backend,
    dt: f64,
) -> Result<Box<dyn Method>, SimulateError> {
    PreparedScene::new(source, pipeline)?.start(pipeline, backend, dt)
}
