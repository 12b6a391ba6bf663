//! Implicit steps with contacts and breaking bonds: compared with explicit steps and with formulas, for all
//! lengths of steps.

use cullet::columns::Breaks;
use cullet::simulate::{Method, SimulateError, method};
use cullet::spec::*;
use cullet::store::Packing;
use glam::DVec3;

use crate::implicit::{DENSITY, R, period};
use crate::scenes;

const YOUNG: f64 = 1e8;

fn implicit(pipeline: &mut Pipeline, integrator: Integrator) {
    pipeline.simulate.integrator = integrator;
    pipeline.simulate.precision = Precision::F64;
}

fn start(packing: &Packing, pipeline: &Pipeline, dt: f64) -> Box<dyn Method> {
    method(packing, pipeline, Backend::Cpu, dt).unwrap()
}

/// A slab that slides on a floor with friction ½.
fn slab() -> (Pipeline, Packing) {
    let mut material = scenes::elastic(YOUNG, 0.4 * YOUNG, DENSITY);
    material.friction = 0.5;
    material.contact_damping = 0.5;
    let points: Vec<DVec3> = scenes::block(6, 2, 5, R)
        .iter()
        .map(|p| DVec3::new(p.x, p.y + R, p.z))
        .collect();
    let mut packing = scenes::packing(&points, R, &material, (f64::INFINITY, f64::INFINITY));
    packing.elements.vx = vec![0.5; points.len()];
    let mut pipeline = scenes::pipeline(material);
    pipeline.world.gravity = [0.0, -9.81, 0.0];
    pipeline.bodies = vec![crate::statics::body()];
    let mut floor = scenes::rising_floor(0.0, 0.0);
    floor.friction = 0.5;
    pipeline.colliders = vec![floor];
    implicit(&mut pipeline, Integrator::BackwardEuler);
    (pipeline, packing)
}

#[test]
fn friction_stops_a_slab_where_it_should_whatever_the_step() {
    let (pipeline, packing) = slab();
    let t = period(YOUNG);
    let friction = 0.5;
    let expected = 0.5 * 0.5 / (2.0 * friction * 9.81);
    for steps in [10.0, 40.0, 160.0] {
        let dt = steps * t;
        let mut run = start(&packing, &pipeline, dt);
        run.advance((0.15 / dt).ceil() as u64).unwrap();
        let end = run.snapshot(1).unwrap();
        let count = end.frames.x.len() as f64;
        let moved: f64 = end.frames.x.iter().map(|&x| f64::from(x)).sum::<f64>() / count
            - packing.elements.x.iter().sum::<f64>() / count;
        println!("steps of {steps} T: {moved:.5} m, expected {expected:.5} m");
        assert!((moved / expected - 1.0).abs() < 0.03);
        assert!(end.history.kinetic[0] < 1e-9, "it rests");
    }
}

#[test]
fn projected_friction_brakes_a_slab_by_its_coefficient() {
    let (mut pipeline, packing) = slab();
    pipeline.simulate.implicit.friction = Friction::Projected;
    let t = period(YOUNG);
    for steps in [10.0, 160.0] {
        let dt = steps * t;
        let mut run = start(&packing, &pipeline, dt);
        let speed = |frames: &cullet::columns::Frames| {
            let sum: f64 = frames.vx.iter().map(|&v| f64::from(v)).sum();
            sum / frames.vx.len() as f64
        };
        // Its bounces after landing have died away by then.
        let [first, last] = [0.02, 0.04].map(|span: f64| {
            let count = (span / dt).round() as u64;
            run.advance(count).unwrap();
            let now = run.snapshot(1).unwrap();
            (speed(&now.frames), count as f64 * dt, now.loads)
        });
        let slowed = (first.0 - last.0) / last.1 / (0.5 * 9.81);
        let weight = 9.81 * packing.elements.mass.iter().sum::<f64>();
        let friction_share = last.2.fx[0] / (0.5 * weight);
        println!(
            "steps of {steps} T: slowed by {slowed:.4} of μ g; the floor bears {friction_share:.4} of that"
        );
        assert!((slowed - 1.0).abs() < 0.03);
        assert!((friction_share - 1.0).abs() < 0.03);
    }
}

#[test]
fn projected_friction_stops_and_brakes_what_turns() {
    let (mut pipeline, _) = slab();
    pipeline.simulate.implicit.friction = Friction::Projected;
    pipeline.materials[0].friction = 0.0;
    pipeline.materials[0].rolling_friction = 0.2;
    let material = pipeline.materials[0].clone();
    let mut packing = scenes::packing(
        &[DVec3::Y * R],
        R,
        &material,
        (f64::INFINITY, f64::INFINITY),
    );
    let spin = 300.0;
    scenes::set_motion(&mut packing.elements, &[DVec3::ZERO], &[DVec3::Z * spin]);
    let dt = 40.0 * period(YOUNG);
    let mut run = start(&packing, &pipeline, dt);
    let mut at = |steps: u64| {
        run.advance(steps).unwrap();
        f64::from(run.snapshot(1).unwrap().frames.wz[0])
    };
    let count = (0.02 / dt).round() as u64;
    let (first, last) = (at(count), at(count));
    // μ_r r m g over 2/5 m r².
    let expected = 0.2 * 9.81 / (0.4 * R);
    let slowed = (first - last) / (count as f64 * dt);
    println!("a ball that spins is slowed by {slowed:.1} rad/s², expected {expected:.1}");
    assert!((slowed / expected - 1.0).abs() < 0.03);
    let rests = at(4 * count);
    assert!(rests.abs() < 1e-6 * spin, "{rests}");
    // Friction that is solved together with all other forces (`lagged`) has no rolling friction: the run is
    // refused.
    pipeline.simulate.implicit.friction = Friction::Lagged;
    assert!(method(&packing, &pipeline, Backend::Cpu, dt).is_err());
}

#[test]
fn a_floor_bears_what_rests_on_it() {
    let (mut pipeline, mut packing) = slab();
    packing.elements.vx.fill(0.0);
    pipeline.simulate.drag = 50.0;
    let dt = 100.0 * period(YOUNG);
    let mut run = start(&packing, &pipeline, dt);
    run.advance((0.5 / dt) as u64).unwrap();
    run.snapshot(1).unwrap();
    run.advance(4).unwrap();
    let end = run.snapshot(2).unwrap();
    let weight = -9.81 * packing.elements.mass.iter().sum::<f64>();
    assert!(
        (end.loads.fy[0] / weight - 1.0).abs() < 1e-3,
        "{} {weight}",
        end.loads.fy[0]
    );
}

/// A beam between two clamps, one of which moves or rotates.
fn clamped_beam(action: Action, strength: (f64, f64)) -> (Pipeline, Packing) {
    let material = scenes::elastic(YOUNG, 0.4 * YOUNG, DENSITY);
    let points = scenes::block(20, 4, 4, R);
    let packing = scenes::packing(&points, R, &material, strength);
    let mut pipeline = scenes::pipeline(material);
    pipeline.bodies = vec![crate::statics::body()];
    let length = points.iter().map(|p| p.x).fold(0.0, f64::max);
    for (name, from, to, action) in [
        ("foot", -1.0, 2.1 * R, scenes::clamp([0.0; 3])),
        ("head", length - 2.1 * R, 1.0, action),
    ] {
        pipeline.attachments.push(Attachment {
            name: name.into(),
            body: "beam".into(),
            region: Region {
                min: [from, -1.0, -1.0],
                max: [to, 1.0, 1.0],
            },
            action,
        });
    }
    pipeline.simulate.precision = Precision::F64;
    pipeline.simulate.drag = 400.0;
    (pipeline, packing)
}

fn rotation_at(rate: f64) -> Action {
    Action::Clamp {
        velocity: [0.0; 3],
        spin: [rate, 0.0, 0.0],
        pivot: None,
        keys: vec![],
    }
}

/// Time of the first break, and the positions just before it.
fn first_break(
    (pipeline, packing): &(Pipeline, Packing),
    (dt, steps): (f64, u64),
) -> (f64, Vec<DVec3>) {
    let mut run = start(packing, pipeline, dt);
    let mut before = scenes::at_rest(packing);
    for frame in 1..400 {
        run.advance(steps).unwrap();
        let snapshot = run.snapshot(frame).unwrap();
        let breaks: &Breaks = &snapshot.breaks;
        if let Some(first) = breaks.time.iter().copied().reduce(f64::min) {
            return (first, before);
        }
        before = scenes::places(&snapshot);
    }
    panic!("nothing breaks");
}

#[test]
fn stretched_and_twisted_beams_break_as_in_explicit_steps() {
    let t = period(YOUNG);
    let length = 40.0 * R;
    for (name, action, strength) in [
        (
            "stretched",
            scenes::clamp([0.1, 0.0, 0.0]),
            (2e6, f64::INFINITY),
        ),
        ("twisted", rotation_at(20.0), (f64::INFINITY, 1e6)),
    ] {
        let mut scene = clamped_beam(action, strength);
        // Frames of 100 T for both.
        let explicit = first_break(&scene, (0.2 * t, 500));
        for law in [Law::Manifold, Law::Cosserat] {
            implicit(&mut scene.0, Integrator::BackwardEuler);
            scene.0.simulate.law = Some(law);
            scene.0.simulate.shear_correction = 1.0;
            for (steps, dt) in [(1, 100.0 * t), (2, 50.0 * t)] {
                let found = first_break(&scene, (dt, steps));
                let off = explicit.1.iter().zip(&found.1).map(|(a, b)| a.distance(*b));
                let off = off.fold(0.0, f64::max) / length;
                println!(
                    "{name}, {law:?}, steps of {:.0} T: breaks at {:.5} s against {:.5} s, places {:.1e} of the length apart",
                    dt / t,
                    found.0,
                    explicit.0,
                    off
                );
                assert!((found.0 / explicit.0 - 1.0).abs() < 0.03);
                assert!(off < 0.01);
            }
        }
    }
}

#[test]
fn a_run_goes_on_from_a_state_to_the_same_bits() {
    let mut scene = clamped_beam(scenes::clamp([0.5, 0.0, 0.0]), (2e6, 2e6));
    implicit(&mut scene.0, Integrator::BackwardEuler);
    scene.0.colliders = vec![scenes::rising_floor(-1.2 * R, 0.05)];
    let dt = 50.0 * period(YOUNG);
    let mut whole = start(&scene.1, &scene.0, dt);
    whole.advance(30).unwrap();
    let middle = whole.state(1).unwrap();
    whole.advance(30).unwrap();
    let end = whole.state(2).unwrap();
    let mut again = start(&scene.1, &scene.0, dt);
    again.restore(&middle).unwrap();
    again.advance(30).unwrap();
    let breaks = again.snapshot(2).unwrap().history.broken[0];
    assert!(breaks > 0, "something breaks on the way");
    assert!(again.state(2).unwrap() == end);
}

#[test]
fn a_step_that_is_not_solved_says_so() {
    let mut scene = clamped_beam(rotation_at(20.0), (f64::INFINITY, f64::INFINITY));
    implicit(&mut scene.0, Integrator::BackwardEuler);
    scene.0.simulate.implicit.iterations = 1;
    scene.0.simulate.implicit.halvings = Some(1);
    scene.0.simulate.implicit.tolerance = 1e-12;
    let mut run = start(&scene.1, &scene.0, 100.0 * period(YOUNG));
    let Err(error @ SimulateError::NotConverged { .. }) = run.advance(5) else {
        panic!("one iteration cannot be enough");
    };
    let message = error.to_string();
    for part in [
        "step 0",
        "in 1 iterations",
        "simulate.implicit.tolerance is 1.0e-12",
        "time.step",
    ] {
        assert!(message.contains(part), "{message}");
    }
}
