//! A scene prepared for the method that its pipeline asks for: schedule, refusals, start.

use crate::simulate::error::SimulateError;
use crate::simulate::method::{Entry, Method, Prepare};
use crate::simulate::methods::{explicit, implicit, voronoi};
use crate::simulate::source::Source;
use crate::spec::{Backend, MethodName, Pipeline};

/// The method that a pipeline asks for.
fn method_of(pipeline: &Pipeline) -> &'static Entry {
    match pipeline.method() {
        MethodName::Explicit => &explicit::ENTRY,
        MethodName::Implicit => &implicit::ENTRY,
        MethodName::Voronoi => &voronoi::ENTRY,
    }
}

/// Time stepping as resolved: what `check` prints and `simulate` uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// Critical step found by Lanczos iteration, s.
    pub critical: f64,
    /// Longest step that the pipeline allows, s.
    pub longest: f64,
    /// Time step, s: a whole number of them makes a frame.
    pub dt: f64,
    /// Steps from frame to frame.
    pub steps_per_frame: u64,
    /// Frames after the first, which shows the start.
    pub frames: u32,
}

/// A scene built for the method that its pipeline asks for.
pub struct Prepared(Box<dyn Prepare>);

impl Prepared {
    /// Builds the scene, once for all that is asked of it.
    pub fn new(source: &dyn Source, pipeline: &Pipeline) -> Result<Self, SimulateError> {
        Ok(Prepared((method_of(pipeline).prepare)(source, pipeline)?))
    }

    /// Hash of all numbers of the packing.
    pub fn hash(&self) -> u64 {
        self.0.hash()
    }

    /// Finds the time step: the one asked for, or a fraction of the critical one, shortened so that frames
    /// fall on steps.
    pub fn schedule(&self, pipeline: &Pipeline) -> Schedule {
        let critical = self.0.critical(pipeline);
        let time = &pipeline.time;
        let interval = 1.0 / time.frames_per_second;
        let part = self.0.part_of_critical(pipeline);
        let longest = time.step.unwrap_or(part * critical);
        let wanted = longest.min(interval);
        // A step asked for that divides the interval up to rounding is taken as it is.
        let steps_per_frame = (interval / wanted - 1e-9).ceil().max(1.0);
        Schedule {
            critical,
            longest,
            dt: interval / steps_per_frame,
            steps_per_frame: steps_per_frame as u64,
            frames: ((time.end / interval + 1e-9).floor() as u32).max(1),
        }
    }

    /// Refuses what no method does, before any work is done or lost.
    pub fn validate(&self, pipeline: &Pipeline, backend: Backend) -> Result<(), SimulateError> {
        refuse(pipeline, backend)?;
        self.0.check_start(pipeline)
    }

    /// The method for a pipeline at time zero, or the reason why there is none.
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
        MethodName::Explicit | MethodName::Implicit if has_borders => SimulateError::lack(
            "world.plane_strain and world.absorbing of bonded elements",
            "a side or an axis",
            "none: they are for bodies packed with cells",
        ),
        _ => (method_of(pipeline).refuse)(pipeline, backend),
    };
    refused.map_or(Ok(()), Err)
}

/// The time step of a packing: see [`Prepared::schedule`].
pub fn schedule(source: &dyn Source, pipeline: &Pipeline) -> Result<Schedule, SimulateError> {
    Ok(Prepared::new(source, pipeline)?.schedule(pipeline))
}

/// The method for a packing: see [`Prepared::start`].
pub fn method(
    source: &dyn Source,
    pipeline: &Pipeline,
    backend: Backend,
    dt: f64,
) -> Result<Box<dyn Method>, SimulateError> {
    Prepared::new(source, pipeline)?.start(pipeline, backend, dt)
}
