//! Barrier contacts in explicit steps: energy, rest, time step, lanes, and what they are refused with.

use cullet::columns::History;
use cullet::laws::barrier::{barrier, largest_stiffness, with_tangent};
use cullet::simulate::{Method, SimulateError, method, schedule};
use cullet::spec::*;
use cullet::store::Packing;
use glam::DVec3;

use crate::energy::{check_lanes, check_lists, stirred};
use crate::implicit::{DENSITY, R};
use crate::scenes;

/// Gravitational acceleration, m/s².
const G: f64 = 9.81;

/// Loose balls of a material that loses no energy, with barrier contacts.
fn balls(young: f64, points: &[DVec3]) -> (Packing, Pipeline) {
    let material = scenes::elastic(young, 0.4 * young, DENSITY);
    let mut packing = scenes::packing(points, R, &material, (f64::INFINITY, f64::INFINITY));
    packing.bonds = Default::default();
    let mut pipeline = scenes::pipeline(material);
    pipeline.simulate.contact = ContactLaw::Barrier;
    (packing, pipeline)
}

/// k of two balls, or of a ball and a wall, N/m.
fn stiffness(young: f64) -> f64 {
    young * std::f64::consts::PI * R / 2.0
}

fn start(packing: &Packing, pipeline: &Pipeline) -> (Box<dyn Method>, f64) {
    let dt = schedule(packing, pipeline).unwrap().dt;
    (method(packing, pipeline, Backend::Cpu, dt).unwrap(), dt)
}

fn mechanical_energy(h: &History) -> f64 {
    h.kinetic[0] + h.rotational[0] + h.gravity[0] + h.contact[0]
}

/// Drops a ball on a floor by 20 radii, with the step that is chosen by default. Returns its largest overlap, m.
fn bounce(young: f64, precision: Precision) -> f64 {
    let height = 20.0 * R;
    let (packing, mut pipeline) = balls(young, &[DVec3::Y * (R + height)]);
    pipeline.world.gravity = [0.0, -G, 0.0];
    pipeline.colliders = vec![scenes::rising_floor(0.0, 0.0)];
    pipeline.simulate.precision = precision;
    let (mut run, dt) = start(&packing, &pipeline);
    let all = G * height * packing.elements.mass[0];
    let first = mechanical_energy(&run.snapshot(0).unwrap().history);
    let (mut off, mut lowest, mut highest) = (0.0_f64, f64::INFINITY, 0.0_f64);
    let steps = (2.2 * (2.0 * height / G).sqrt() / dt) as u32;
    for step in 1..=steps {
        run.advance(1).unwrap();
        let now = run.snapshot(step).unwrap();
        off = off.max((mechanical_energy(&now.history) - first).abs() / all);
        let y = f64::from(now.frames.y[0]);
        if y < lowest {
            lowest = y;
            let stored = with_tangent(R - y, R, stiffness(young)).energy;
            assert!((now.history.contact[0] - stored).abs() < 1e-5 * all);
        }
        if now.frames.vy[0] > 0.0 {
            highest = highest.max(y);
        }
    }
    let back = (highest - R) / height;
    println!(
        "{precision:?}: overlap {:.3} radii, energy within {off:.1e}, bounces to {back:.5} of its height",
        1.0 - lowest / R
    );
    assert!(off < 5e-3, "{off}");
    assert!((back - 1.0).abs() < 2e-3, "{back}");
    R - lowest
}

#[test]
fn a_ball_bounces_to_the_height_from_which_it_fell() {
    for precision in [Precision::F64, Precision::F32] {
        let up_to_the_tangent = bounce(4e5, precision) / R;
        assert!((0.1..0.24).contains(&up_to_the_tangent));
        let beyond = bounce(1e4, precision) / R;
        assert!((0.35..0.7).contains(&beyond));
    }
}

/// Heights of three balls that came to rest on top of each other on a floor, m.
fn stack(integrator: Integrator, young: f64) -> [f64; 3] {
    let points = [1.0, 3.0, 5.0].map(|height| DVec3::Y * height * R);
    let (packing, mut pipeline) = balls(young, &points);
    pipeline.bodies = vec![crate::statics::body()];
    pipeline.world.gravity = [0.0, -G, 0.0];
    pipeline.colliders = vec![scenes::rising_floor(0.0, 0.0)];
    pipeline.simulate.drag = 20.0;
    pipeline.simulate.integrator = integrator;
    pipeline.simulate.implicit.tolerance = 1e-5;
    pipeline.simulate.precision = Precision::F64;
    let dt = match integrator {
        Integrator::Explicit => schedule(&packing, &pipeline).unwrap().dt,
        _ => 2e-3,
    };
    let mut run = method(&packing, &pipeline, Backend::Cpu, dt).unwrap();
    run.advance((1.0 / dt) as u64).unwrap();
    let y = run.snapshot(1).unwrap().frames.y;
    [0, 1, 2].map(|i| f64::from(y[i]))
}

#[test]
fn balls_rest_on_each_other_at_the_depth_of_implicit_steps() {
    let young = 2e3;
    let overlaps = |y: [f64; 3]| [R - y[0], 2.0 * R - (y[1] - y[0]), 2.0 * R - (y[2] - y[1])];
    let explicit = overlaps(stack(Integrator::Explicit, young));
    let implicit = overlaps(stack(Integrator::BackwardEuler, young));
    let radii = |overlaps: [f64; 3]| overlaps.map(|overlap| overlap / R);
    println!(
        "overlaps {:.5?} radii, {:.5?} by implicit steps",
        radii(explicit),
        radii(implicit)
    );
    assert!(explicit[0] > 0.1 * R, "one to be seen");
    let weight = G * (4.0 / 3.0 * std::f64::consts::PI * R.powi(3) * DENSITY);
    for (at, (own, known)) in explicit.into_iter().zip(implicit).enumerate() {
        assert!((own / known - 1.0).abs() < 0.01, "{at}");
        let reach = if at == 0 { R } else { 2.0 * R };
        let above = (3 - at) as f64 * weight;
        let force = barrier(reach - own, reach, stiffness(young)).force;
        assert!((force / above - 1.0).abs() < 0.01, "{at}");
    }
}

#[test]
fn damping_and_friction_take_the_energy_that_balls_lose() {
    // The second pair meets by more than a quarter of their distance.
    for young in [1e6, 2e4] {
        let points = [DVec3::ZERO, DVec3::new(2.3 * R, 0.6 * R, 0.0)];
        let (mut packing, mut pipeline) = balls(young, &points);
        let v = [DVec3::X * 1.0, DVec3::X * -1.0];
        scenes::set_motion(&mut packing.elements, &v, &[DVec3::Z * 3000.0; 2]);
        (
            pipeline.materials[0].friction,
            pipeline.materials[0].contact_damping,
        ) = (0.3, 0.05);
        pipeline.output.work = true;
        pipeline.time.fraction = 0.02;
        let (mut run, dt) = start(&packing, &pipeline);
        let first = run.snapshot(0).unwrap().history;
        let mut deepest = 0.0_f64;
        for frame in 1..=100 {
            run.advance((2e-5 / dt).ceil() as u64).unwrap();
            let now = run.snapshot(frame).unwrap();
            let apart = now.centres()[0].distance(now.centres()[1]);
            deepest = deepest.max(1.0 - apart / (2.0 * R));
        }
        let last = run.snapshot(101).unwrap().history;
        assert_eq!(last.contact[0], 0.0, "they parted");
        assert_eq!(deepest > 0.25, young < 1e5, "{deepest}");
        let [before, after] = [&first, &last].map(mechanical_energy);
        let (damped, rubbed) = (last.damping[0], last.friction[0]);
        println!(
            "overlap {deepest:.3} of the distance; {:.3} of the energy damped, {:.3} rubbed, {:.1e} missing",
            damped / before,
            rubbed / before,
            (before - after - damped - rubbed) / before
        );
        assert!(damped > 0.01 * before && rubbed > 0.01 * before);
        assert!((before - after - damped - rubbed).abs() < 1e-3 * before);
        // Momentum and angular momentum, over those of one ball.
        let unit = packing.elements.mass[0];
        assert!((last.px[0] - first.px[0]).abs() < 1e-5 * unit);
        assert!((last.lz[0] - first.lz[0]).abs() < 1e-5 * unit * R);
    }
}

/// The stiffness at which the barrier becomes its tangent bounds the step: it is that of penalty contacts with this
/// normal stiffness, whose tangential stiffness and damping stay. That of implicit steps stays as it was.
#[test]
fn the_step_counts_the_largest_stiffness() {
    let young = 1e6;
    let mut material = scenes::elastic(young, 4e5, DENSITY);
    material.contact_damping = 0.2;
    let points = scenes::block(3, 3, 2, R);
    for strength in [1e5, f64::INFINITY] {
        let packing = scenes::packing(&points, R, &material, (strength, strength));
        let mut pipeline = scenes::pipeline(material.clone());
        pipeline.colliders = vec![scenes::rising_floor(-R, 0.0)];
        let critical = |pipeline: &Pipeline| schedule(&packing, pipeline).unwrap().critical;
        let penalty = critical(&pipeline);
        let mut stiffer = pipeline.clone();
        let (part, changed) = (largest_stiffness(), &mut stiffer.materials[0]);
        changed.contact_young = Some(part * young);
        changed.contact_shear_ratio /= part;
        changed.contact_damping /= part.sqrt();
        let bound = critical(&stiffer);
        pipeline.simulate.contact = ContactLaw::Barrier;
        let found = critical(&pipeline);
        println!("{found:.3e} s, with penalty contacts {penalty:.3e} s");
        assert!((found / bound - 1.0).abs() < 1e-3, "{found} {bound}");
        assert!(found < 0.99 * penalty);
        pipeline.simulate.integrator = Integrator::Midpoint;
        let found = critical(&pipeline);
        pipeline.simulate.contact = ContactLaw::Penalty;
        assert_eq!(found, critical(&pipeline));
    }
}

/// [`stirred`] with barrier contacts.
fn stirred_with_barrier() -> (Packing, Pipeline, f64) {
    let (packing, mut pipeline, dt) = stirred();
    pipeline.simulate.contact = ContactLaw::Barrier;
    (packing, pipeline, dt)
}

#[test]
fn any_number_of_lanes_gives_barriers_the_same_bits() {
    let (packing, mut pipeline, dt) = stirred_with_barrier();
    for static_friction in [None, Some(0.8)] {
        pipeline.materials[0].static_friction = static_friction;
        pipeline.output.work = static_friction.is_some();
        let (last, _) = check_lanes(&packing, &pipeline, dt, 500);
        let count = packing.elements.id.len() as u32;
        assert!(last.history.contacts[0] > count, "they press each other");
    }
}

#[test]
fn neighbour_lists_and_threads_change_no_bit_of_barriers() {
    check_lists(stirred_with_barrier());
}

/// Option, value and remedy of the error for a pipeline.
fn refused(packing: &Packing, pipeline: &Pipeline, backend: Backend) -> [String; 3] {
    match method(packing, pipeline, backend, 1e-6).err() {
        Some(SimulateError::Unsupported {
            option,
            value,
            allowed,
        }) => [option.into(), value.into(), allowed],
        other => panic!("not refused as unsupported: {other:?}"),
    }
}

#[test]
fn barriers_are_refused_on_devices_and_with_sleep() {
    let (packing, mut pipeline) = balls(1e6, &[DVec3::ZERO]);
    assert!(method(&packing, &pipeline, Backend::Auto, 1e-6).is_ok());
    let [option, value, allowed] = refused(&packing, &pipeline, Backend::Gpu);
    assert_eq!(option, "simulate.contact on backend gpu");
    assert!(value == "barrier" && allowed.contains("--backend cpu"));
    pipeline.simulate.sleep = true;
    let [option, value, allowed] = refused(&packing, &pipeline, Backend::Cpu);
    assert_eq!(option, "simulate.contact with simulate.sleep");
    assert!(value == "barrier" && allowed.contains("simulate.sleep = false"));
}

/// A shot of one block with a coefficient of restitution for its material or for a pair of it with itself.
fn with_restitution(of_pair: bool, packing: &str, simulate: &str) -> (Packing, Pipeline) {
    let (own, pair) = match of_pair {
        false => ("restitution = 0.5\n", ""),
        true => (
            "",
            "[[pair]]\nmaterials = [\"m\", \"m\"]\nrestitution = 0.5\n",
        ),
    };
    let text = format!(
        "time = {{ end = 1, frames_per_second = 24 }}\n\
         [[material]]\nname = \"m\"\ndensity = 1000\nyoung = 1e6\n{own}{pair}\
         [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = {{ type = \"box\", size = [0.01, 0.01, 0.01] }}\n\
         packing = {{ {packing} }}\n[simulate]\n{simulate}"
    );
    let (pipeline, packed) = scenes::read(&text);
    (packed.packing, pipeline)
}

#[test]
fn restitution_is_refused_where_no_damping_follows_from_it() {
    let bonded = "type = \"hexagonal\", radius = 1e-3";
    let cells = "type = \"voronoi\", cells = 20";
    let barrier = "contact = \"barrier\"\n";
    let implicit = "contact = \"barrier\"\nintegrator = \"midpoint\"\n";
    for (of_pair, key) in [(false, "material.restitution"), (true, "pair.restitution")] {
        for (packing, simulate, other, value, remedy) in [
            (bonded, barrier, "simulate.contact", "barrier", "penalty"),
            (bonded, implicit, "simulate.contact", "barrier", "penalty"),
            (cells, "", "simulate.cell_contact", "polyhedra", "balls"),
        ] {
            let (packing, pipeline) = with_restitution(of_pair, packing, simulate);
            let [option, found, allowed] = refused(&packing, &pipeline, Backend::Cpu);
            assert_eq!(option, format!("{key} with {other}"));
            assert_eq!(found, value);
            assert!(allowed.starts_with(remedy) && allowed.contains("contact_damping"));
        }
        // Where forces are in proportion to an overlap, it is allowed.
        for (packing, simulate) in [(bonded, ""), (cells, "cell_contact = \"balls\"\n")] {
            let (packing, pipeline) = with_restitution(of_pair, packing, simulate);
            assert!(method(&packing, &pipeline, Backend::Cpu, 1e-6).is_ok());
        }
    }
}
