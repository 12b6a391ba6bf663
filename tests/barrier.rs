//! Barrier contacts: no element passes through another or a collider, and the contact force is that of the
//! law.

use cullet::laws::barrier::barrier;
use cullet::simulate::resolve::choose::choose;
use cullet::simulate::{Method, Snapshot, method};
use cullet::spec::*;
use cullet::store::Packing;
use glam::DVec3;

use crate::implicit::{DENSITY, R, period};
use crate::scenes;

const YOUNG: f64 = 1e8;

/// Loose elements at `points` with velocities `v`, moved by implicit steps.
fn loose_elements(
    young: f64,
    points: &[DVec3],
    v: &[DVec3],
    integrator: Integrator,
) -> (Pipeline, Packing) {
    let material = scenes::elastic(young, 0.4 * young, DENSITY);
    let mut packing = scenes::packing(points, R, &material, (f64::INFINITY, f64::INFINITY));
    scenes::set_motion(&mut packing.elements, v, &vec![DVec3::ZERO; v.len()]);
    packing.bonds = Default::default();
    let mut pipeline = scenes::pipeline(material);
    pipeline.bodies = vec![crate::statics::body()];
    pipeline.simulate.integrator = integrator;
    pipeline.simulate.contact = ContactLaw::Barrier;
    (pipeline, packing)
}

fn start((pipeline, packing): &(Pipeline, Packing), dt: f64) -> Box<dyn Method> {
    method(packing, pipeline, Backend::Cpu, dt).unwrap()
}

/// A plate half a radius thick, its upper face at height zero.
fn plate() -> Collider {
    let thickness = 0.5 * R;
    Collider {
        shape: ColliderShape::Box {
            size: [40.0 * R, thickness, 40.0 * R],
        },
        position: [0.0, -0.5 * thickness, 0.0],
        ..scenes::rising_floor(0.0, 0.0)
    }
}

#[test]
fn an_element_thrown_at_a_thin_plate_comes_back() {
    let speed = 20.0;
    for integrator in [Integrator::Midpoint, Integrator::BackwardEuler] {
        let from = [DVec3::new(0.3 * R, 8.0 * R, 0.0)];
        let mut scene = loose_elements(YOUNG, &from, &[DVec3::Y * -speed], integrator);
        scene.0.colliders = vec![plate()];
        // A step covers over three radii: without the barrier the element would jump over the plate.
        let dt = 40.0 * period(YOUNG);
        assert!(speed * dt > 3.0 * R);
        let mut run = start(&scene, dt);
        let mut least = f64::INFINITY;
        let mut last = 0.0;
        for frame in 0..12 {
            run.advance(1).unwrap();
            let now = run.snapshot(frame).unwrap();
            least = least.min(f64::from(now.frames.y[0]));
            assert!(least > 0.0, "{integrator:?}: it is through");
            last = f64::from(now.frames.vy[0]);
        }
        println!(
            "{integrator:?}: comes as near as {:.3} radii, leaves with {:.4} of its speed",
            least / R,
            last / speed
        );
        assert!(last > 0.0, "it comes back");
        // The time step is shorter than a contact lasts.
        scene.0.simulate.implicit.tolerance = 1e-6;
        let mut run = start(&scene, period(YOUNG));
        run.advance(300).unwrap();
        let back = f64::from(run.snapshot(0).unwrap().frames.vy[0]) / speed;
        println!("{integrator:?}, steps of T: leaves with {back:.4} of its speed");
        match integrator {
            Integrator::Midpoint => assert!((back - 1.0).abs() < 0.01),
            _ => assert!(back > 0.0 && back < 1.0),
        }
    }
}

#[test]
fn elements_thrown_at_each_other_do_not_pass() {
    let speed = 10.0;
    for integrator in [Integrator::Midpoint, Integrator::BackwardEuler] {
        let points = [
            DVec3::new(-6.0 * R, 0.0, 0.0),
            DVec3::new(6.0 * R, 0.1 * R, 0.0),
        ];
        let v = [DVec3::X * speed, DVec3::X * -speed];
        let scene = loose_elements(YOUNG, &points, &v, integrator);
        for steps in [40.0, 1.0] {
            let dt = steps * period(YOUNG);
            let mut run = start(&scene, dt);
            let apart = |snapshot: &Snapshot| {
                let f = &snapshot.frames;
                let of = |c: &[f32]| f64::from(c[1] - c[0]);
                DVec3::new(of(&f.x), of(&f.y), of(&f.z))
            };
            let mut end = run.snapshot(0).unwrap();
            for frame in 1..20 {
                let from = apart(&end);
                run.advance((40.0 / steps) as u64).unwrap();
                end = run.snapshot(frame).unwrap();
                // Between two frames no element passes through the middle of the other on the straight line.
                let way = apart(&end) - from;
                let nearest = (-from.dot(way) / way.length_squared()).clamp(0.0, 1.0);
                let least = (from + way * nearest).length();
                assert!(least > 0.5 * R, "{integrator:?}: they passed");
            }
            let history = &end.history;
            let mass = scene.1.elements.mass[0];
            let left = history.kinetic[0] / (mass * speed * speed);
            let momentum = history.px[0].hypot(history.py[0]) / (mass * speed);
            println!(
                "{integrator:?}, steps of {steps} T: {left:.4} of the energy is left, momentum {momentum:.1e} of what each had"
            );
            assert!(momentum < 1e-12);
            // Euler steps that are far longer than the contact dissipate the rebound: the elements may glide
            // off sideways.
            let back = end.frames.vx[0] < 0.0 && end.frames.vx[1] > 0.0;
            assert!(back || integrator == Integrator::BackwardEuler && steps > 1.0);
            if steps == 1.0 {
                match integrator {
                    Integrator::Midpoint => assert!((left - 1.0).abs() < 0.01),
                    _ => assert!(left < 1.0),
                }
            }
        }
    }
}

#[test]
fn a_stack_rests_where_the_barrier_supports_it() {
    let young = 1e3;
    let points: Vec<DVec3> = (0..3)
        .map(|k| DVec3::Y * (1.0 + 2.0 * f64::from(k)) * R)
        .collect();
    let mut scene = loose_elements(young, &points, &[DVec3::ZERO; 3], Integrator::BackwardEuler);
    scene.0.world.gravity = [0.0, -9.81, 0.0];
    scene.0.simulate.drag = 20.0;
    scene.0.simulate.implicit.tolerance = 1e-5;
    scene.0.colliders = vec![scenes::rising_floor(0.0, 0.0)];
    let mut run = start(&scene, 2e-3);
    run.advance(500).unwrap();
    let end = run.snapshot(1).unwrap();
    let weight = 9.81 * scene.1.elements.mass[0];
    let k = young * std::f64::consts::PI * R / 2.0;
    let y = |i: usize| f64::from(end.frames.y[i]);
    let force_over_weight = [
        barrier(y(0), R, k).force / (3.0 * weight),
        barrier(y(1) - y(0), 2.0 * R, k).force / (2.0 * weight),
        barrier(y(2) - y(1), 2.0 * R, k).force / weight,
    ];
    println!(
        "over the weight above: {force_over_weight:.4?}; the lowest is {:.3} radii above the floor",
        y(0) / R
    );
    assert!(y(0) < 0.9 * R, "the overlap is one to be seen");
    assert!(
        force_over_weight
            .iter()
            .all(|part| (part - 1.0).abs() < 5e-3)
    );
}

#[test]
fn a_floor_that_rises_by_radii_a_step_takes_its_load_along() {
    let from = [DVec3::Y * 1.5 * R];
    let mut scene = loose_elements(YOUNG, &from, &[DVec3::ZERO], Integrator::BackwardEuler);
    let speed = 10.0;
    scene.0.colliders = vec![scenes::rising_floor(0.0, speed)];
    let dt = 80.0 * period(YOUNG);
    assert!(speed * dt > 3.0 * R);
    let mut run = start(&scene, dt);
    for step in 1..=10 {
        run.advance(1).unwrap();
        let now = run.snapshot(step).unwrap();
        let above = f64::from(now.frames.y[0]) - speed * f64::from(step) * dt;
        assert!(above > 0.0, "step {step}: {:.3} radii", above / R);
    }
}

#[test]
fn an_integrator_chosen_automatically_is_implicit_with_a_barrier() {
    let (mut pipeline, packing) = loose_elements(
        YOUNG,
        &[DVec3::ZERO],
        &[DVec3::ZERO],
        Integrator::BackwardEuler,
    );
    pipeline.simulate.integrator = Integrator::Auto;
    let (settled, _) = choose(&packing, &pipeline).unwrap();
    assert!(settled.simulate.integrator.is_implicit());
}
