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
                // Rows that were left out have no mass.
                .filter(|&i| system.inverse_mass[i].to_f64() > 0.0 && self.rest.mass[i] > 0.0)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::bonded_run::build::{build, build_start};
    use crate::{pack, spec};

    /// A block and a rigid ball above a floor at z = 3, so that rows of zeros lie in it; a clamp holds a slice of the
    /// block.
    const BLOCK: &str = r#"
[time]
end = 1
frames_per_second = 24
[[material]]
name = "a"
density = 1000
young = 1e6
poisson = 0.2
[[body]]
name = "block"
material = "a"
shape = { type = "box", size = [2, 2, 2] }
position = [0, 0, 4]
packing = { type = "hexagonal", elements = 300 }
[[body]]
name = "ball"
material = "a"
rigid = true
shape = { type = "sphere", radius = 0.5 }
position = [4, 0, 7]
packing = { type = "hexagonal", elements = 50 }
[[collider]]
name = "floor"
shape = { type = "half_space", normal = [0, 0, 1] }
position = [0, 0, 3]
[[attach]]
name = "slice"
body = "block"
region = { min = [-2, -2, 3.7], max = [2, 2, 4] }
action = { type = "clamp" }
"#;

    #[test]
    fn the_start_is_checked_with_few_rows_as_with_all() {
        let mut refused = Vec::new();
        for sunk in [-0.5, 0.0, 0.01, 0.1, 0.5] {
            let place = format!("body.block.position=[0, 0, {}]", 4.0 - sunk);
            let pipeline = spec::parse(BLOCK, "block.toml", &[place]).unwrap();
            let packing = pack::pack(&pipeline, ".".as_ref()).unwrap().packing;
            let whole = build::<f32>(&packing, &pipeline).unwrap();
            let few = build_start::<f32>(&packing, &pipeline).unwrap();
            let message = |built: &Built<f32>| {
                let checked = built.require_outside_colliders(&pipeline);
                checked.err().map(|error| error.to_string())
            };
            assert_eq!(message(&few), message(&whole), "{sunk}");
            refused.extend(message(&few).map(|_| sunk));
            let rows = |built: &Built<f32>| built.rest.mass.iter().filter(|&&m| m > 0.0).count();
            let held = packing.elements.body.iter().filter(|&&body| body == 1);
            assert!(rows(&few) < rows(&whole), "{sunk}");
            assert!(rows(&few) > held.count(), "{sunk}");
        }
        assert!(
            refused.contains(&0.5) && !refused.contains(&-0.5),
            "{refused:?}"
        );
    }
}
