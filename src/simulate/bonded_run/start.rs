//! Checks of a built scene before its run: the critical step, and bodies inside colliders.

use crate::parallel::prelude::*;

use super::build::Built;
use super::stability;
use crate::math::Scalar;
use crate::simulate::error::SimulateError;
use crate::spec::Pipeline;

/// Fraction of its radius by which an element may start inside a collider. From deeper inside, the contact
/// would throw it out at high speed.
const MAX_START_DEPTH: f64 = 0.2;

impl<S: Scalar> Built<S> {
    /// Critical time step of central differences, s, springs and damping included. All ranks must call it.
    pub fn critical_step(&self, pipeline: &Pipeline) -> f64 {
        let colliders = self.supports.colliders().iter();
        let colliders: Vec<_> = colliders.map(|c| c.at(0.0)).collect();
        let damping = pipeline
            .materials
            .iter()
            .map(|m| m.damping)
            .fold(0.0, f64::max);
        let mut materials = pipeline.materials.iter();
        let any_breaks = materials.any(|m| m.hydrostatic_strength.is_some());
        let critical = stability::critical_step(self, &colliders, damping, any_breaks);
        // The largest eigenvalue of a sum is no larger than the sum of both.
        let springs = self.springs.largest_per_mass(&self.rest.mass);
        match springs > 0.0 {
            true => 2.0 / (4.0 / (critical * critical) + springs).sqrt(),
            false => critical,
        }
    }

    /// Returns an error if a body starts inside a collider.
    pub fn require_outside_colliders(&self, pipeline: &Pipeline) -> Result<(), SimulateError> {
        let system = &self.system;
        for collider in self.supports.colliders() {
            let posed = collider.at(0.0);
            let sunk = (0..system.count)
                .into_par_iter()
                .filter(|&i| system.inverse_mass[i].to_f64() > 0.0)
                .map(|i| {
                    let (distance, ..) = posed.pose.surface(&posed.solid, system.position(i));
                    (system.radius(i) - distance, i)
                })
                // Ties go to the first element, whatever the order of threads.
                .reduce(|| (0.0, 0), |a, b| if b.0 > a.0 { b } else { a });
            let (depth, i) = sunk;
            if depth > MAX_START_DEPTH * system.radius(i) {
                let body = self.rest.body[i] as usize;
                let (_, normal, _) = posed.pose.surface(&posed.solid, system.position(i));
                let near = system.position(i).to_array();
                return Err(SimulateError::StartsInside {
                    body: pipeline
                        .bodies
                        .get(body)
                        .map_or_else(|| body.to_string(), |body| body.name.clone()),
                    collider: collider.collider.name.clone(),
                    depth,
                    x: near[0],
                    y: near[1],
                    z: near[2],
                    out: (normal * depth).to_array(),
                });
            }
        }
        Ok(())
    }
}
