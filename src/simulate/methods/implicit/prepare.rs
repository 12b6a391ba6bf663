//! Implicit steps as a method: their scene in double precision.

use super::{Implicit, refuse};
use crate::laws::energy::{Cosserat, Manifold};
use crate::simulate::bonded_run::build::{Built, build};
use crate::simulate::error::SimulateError;
use crate::simulate::method::{Entry, Method, Prepare};
use crate::simulate::source::Source;
use crate::spec::{Backend, Law, Pipeline};

/// The method in the list of all.
pub const ENTRY: Entry = Entry {
    takes: |pipeline| pipeline.simulate.integrator.is_implicit(),
    refuse: refuse::combination,
    prepare,
};

struct Scene(Built<f64>);

fn prepare(source: &dyn Source, pipeline: &Pipeline) -> Result<Box<dyn Prepare>, SimulateError> {
    Ok(Box::new(Scene(build(source, pipeline)?)))
}

impl Prepare for Scene {
    fn hash(&self) -> u64 {
        self.0.hash
    }

    fn critical(&self, pipeline: &Pipeline) -> f64 {
        self.0.critical_step(pipeline)
    }

    fn part_of_critical(&self, pipeline: &Pipeline) -> f64 {
        pipeline.simulate.implicit.periods
    }

    fn check_start(&self, pipeline: &Pipeline) -> Result<(), SimulateError> {
        self.0.require_outside_colliders(pipeline)
    }

    fn start(
        self: Box<Self>,
        pipeline: &Pipeline,
        _: Backend,
        dt: f64,
    ) -> Result<Box<dyn Method>, SimulateError> {
        let Scene(built) = *self;
        let critical = built.critical_step(pipeline);
        Ok(match pipeline.simulate.bond_law() {
            Law::Cosserat => Box::new(Implicit::<Cosserat>::new(built, pipeline, dt, critical)),
            Law::Manifold | Law::Bdem => {
                Box::new(Implicit::<Manifold>::new(built, pipeline, dt, critical))
            }
        })
    }
}
