//! Prepares implicit runs, in double precision.

use super::{Implicit, refuse};
use crate::laws::table::bond_laws;
use crate::simulate::bonded_run::build::{Built, build, build_start};
use crate::simulate::error::SimulateError;
use crate::simulate::method::{Method, MethodEntry, Prepare};
use crate::spec::{Backend, Law, Pipeline};

/// Registration of this method for `resolve`.
pub const ENTRY: MethodEntry = MethodEntry {
    refuse: refuse::unsupported,
    prepare: |source, pipeline, _shared| Ok(Box::new(PreparedImplicit(build(source, pipeline)?))),
    prepare_start: |source, pipeline| {
        Ok(Box::new(PreparedImplicit(build_start(source, pipeline)?)))
    },
};

/// Starts the run for a bond law that has an energy.
macro_rules! begin {
    (
        [$law:expr, $arguments:tt]
        $({ $doc:literal, $row:ident, $module:ident, $type:path, $energy:ident, $texts:tt })*
    ) => {
        match $law {
            $(Law::$row => begin_by!($energy $type, $arguments),)*
        }
    };
}

macro_rules! begin_by {
    (energy $type:path, ($built:expr, $pipeline:expr, $dt:expr, $critical:expr)) => {
        Box::new(Implicit::<$type>::new($built, $pipeline, $dt, $critical))
    };
    (no_energy $type:path, $arguments:tt) => {
        unreachable!("laws without an energy are refused")
    };
}

struct PreparedImplicit(Built<f64>);

impl Prepare for PreparedImplicit {
    fn hash(&self) -> u64 {
        self.0.hash
    }

    fn critical(&self, pipeline: &Pipeline) -> f64 {
        self.0.critical_step(pipeline)
    }

    fn step_over_critical(&self, pipeline: &Pipeline) -> f64 {
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
        let PreparedImplicit(built) = *self;
        let critical = built.critical_step(pipeline);
        Ok(bond_laws!(begin [pipeline.simulate.bond_law(), (built, pipeline, dt, critical)]))
    }
}
