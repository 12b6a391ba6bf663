//! The criterion of Rod-BDEM in a run: a bond in shear breaks at three quarters of the force of the other
//! criteria.

use cullet::simulate::{Method, method};
use cullet::spec::*;
use cullet::store::Packing;
use glam::DVec3;
use serde_json::Value;

use crate::{device, scenes};

const R: f64 = 1e-3;
const E: f64 = 1e8;
const SPEED: f64 = 0.05;
const STRENGTH: f64 = 1e6;

/// A bond along x between two clamps, one of which moves sideways, and a loose element far away.
fn sheared(criterion: Criterion) -> (Pipeline, Packing) {
    let mut material = scenes::elastic(E, 0.4 * E, 2600.0);
    material.criterion = criterion;
    let points = [DVec3::ZERO, DVec3::X * 2.0 * R, DVec3::X * 20.0 * R];
    let packing = scenes::packing(&points, R, &material, (f64::INFINITY, STRENGTH));
    let mut pipeline = scenes::pipeline(material);
    pipeline.bodies = vec![crate::statics::body()];
    for (name, at, velocity) in [
        ("still", 0.0, [0.0; 3]),
        ("going", 2.0 * R, [0.0, SPEED, 0.0]),
    ] {
        pipeline.attachments.push(Attachment {
            name: name.into(),
            body: "beam".into(),
            region: Region {
                min: [at - R, -R, -R],
                max: [at + R, R, R],
            },
            action: scenes::clamp(velocity),
        });
    }
    (pipeline, packing)
}

/// Time at which the bond breaks, s, and τ at that time over the strength.
fn first_break(mut run: Box<dyn Method>, (dt, steps): (f64, u64)) -> (f64, f64) {
    let all = 2.0 * STRENGTH / (0.4 * E) * 2.0 * R / SPEED;
    for _ in 0..(all / (dt * steps as f64)) as u64 {
        run.advance(steps).unwrap();
        let found = run.snapshot(1).unwrap().breaks;
        if let Some(&time) = found.time.first() {
            return (time, f64::from(found.tau[0]) / STRENGTH);
        }
    }
    panic!("it does not break");
}

/// Every criterion that a pipeline file can name.
fn all_criteria() -> Vec<Criterion> {
    let schema: Value = serde_json::from_str(&json_schema()).unwrap();
    let words = schema["$defs"]["Criterion"]["oneOf"].as_array().unwrap();
    let words = words.iter().map(|word| word["const"].clone());
    words
        .map(|word| serde_json::from_value(word).unwrap())
        .collect()
}

#[test]
fn a_rod_in_shear_breaks_at_three_quarters_of_the_force() {
    // Expected where G θ = τ_c.
    let whole = STRENGTH / (0.4 * E) * 2.0 * R / SPEED;
    for criterion in all_criteria() {
        let part = match criterion {
            Criterion::Tension | Criterion::Lu2021 | Criterion::Rankine => 1.0,
            Criterion::Rod => 0.75,
        };
        for (precision, integrator, backend) in [
            (Precision::F32, Integrator::Explicit, Backend::Cpu),
            (Precision::F64, Integrator::Explicit, Backend::Cpu),
            (Precision::F64, Integrator::BackwardEuler, Backend::Cpu),
            (Precision::F32, Integrator::Explicit, Backend::Gpu),
        ] {
            let (mut pipeline, packing) = sheared(criterion);
            pipeline.simulate.precision = precision;
            pipeline.simulate.integrator = integrator;
            if backend == Backend::Gpu {
                if criterion == Criterion::Rankine {
                    continue;
                }
                let Some(request) = device::request() else {
                    continue;
                };
                pipeline.simulate.gpu.adapter = request.adapter;
            }
            let dt = whole / 400.0;
            let run = method(&packing, &pipeline, backend, dt).unwrap();
            let (time, tau) = first_break(run, (dt, 1));
            println!(
                "{criterion:?}, {integrator:?}, {precision:?}, {backend:?}: breaks at {:.4} of the time, τ/τ_c {tau:.4}",
                time / whole
            );
            assert!((time / whole - part).abs() < 0.01);
            assert!((tau - 1.0).abs() < 0.01);
        }
    }
}
