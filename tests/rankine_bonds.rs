//! Rankine's criterion on bonds: a bond breaks by the mean stress of its ends.

use cullet::math::LaneWidth;
use cullet::simulate::{Method, method};
use cullet::spec::{
    Attachment, Backend, Criterion, Grain, Integrator, Law, Material, Pipeline, Precision, Region,
};
use cullet::store::Packing;
use glam::DVec3;

use crate::bars::Bar;
use crate::device;
use crate::energy::unit_step;
use crate::scenes;

pub const R: f64 = 1e-3;
pub const YOUNG: f64 = 1e7;
/// Small, so that strains are.
pub const STRENGTH: f64 = 1e4;

pub fn material() -> Material {
    Material {
        criterion: Criterion::Rankine,
        ..scenes::elastic(YOUNG, 4e6, 2600.0)
    }
}

/// Strengths over those entered along x, y and z.
fn strengths(packing: &str) -> [f64; 3] {
    [0, 1, 2].map(|axis| {
        let bar = Bar {
            packing: packing.into(),
            across: 8.0,
            axis,
            seed: 1 + axis as u64,
            poisson: 0.2,
            material: "criterion = \"rankine\"".into(),
        };
        let found = bar.pull();
        println!("{packing}, axis {axis}: {found:?}");
        found.strength
    })
}

#[test]
fn bars_break_at_the_strength_of_their_material_in_every_direction() {
    for (packing, most) in [("type = \"hexagonal\"", 0.05), ("type = \"random\"", 0.08)] {
        let found = strengths(packing);
        let off = found.iter().map(|one| (one - 1.0).abs());
        assert!(off.fold(0.0, f64::max) < most, "{packing}: {found:?}");
    }
}

/// Two elements of volume V, joined by a bond of length l, are pulled apart: their stress is l F/(2 V).
#[test]
fn a_bond_breaks_where_the_stress_of_its_ends_reaches_the_strength() {
    let speed = 1e-3;
    let material = material();
    let points = [DVec3::ZERO, DVec3::X * 2.0 * R];
    let packing = scenes::packing(&points, R, &material, (STRENGTH, f64::INFINITY));
    let [volume, section] = [packing.elements.volume[0], std::f64::consts::PI * R * R];
    let force = STRENGTH * 2.0 * volume / (2.0 * R);
    let expected = force / (YOUNG * section) * 2.0 * R / speed;
    let dt = 0.1 * unit_step(&material);
    let mut pipeline = scenes::pipeline(material);
    pipeline.bodies = vec![crate::statics::body()];
    for (name, at, velocity) in [("still", 0.0, 0.0), ("going", 2.0 * R, speed)] {
        pipeline.attachments.push(Attachment {
            name: name.into(),
            body: "beam".into(),
            region: Region {
                min: [at - R, -R, -R],
                max: [at + R, R, R],
            },
            action: scenes::clamp([velocity, 0.0, 0.0]),
        });
    }
    for (precision, integrator, longer) in [
        (Precision::F32, Integrator::Explicit, 1.0),
        (Precision::F64, Integrator::Explicit, 1.0),
        (Precision::F64, Integrator::BackwardEuler, 4.0),
    ] {
        pipeline.simulate.precision = precision;
        pipeline.simulate.integrator = integrator;
        let dt = longer * dt;
        let mut run = method(&packing, &pipeline, Backend::Cpu, dt).unwrap();
        let (used, time) = use_and_break(run.as_mut(), expected, dt);
        let is_right = (used - 0.9).abs() < 0.01 && (time - 1.0).abs() < 0.01;
        assert!(is_right, "{precision:?} {integrator:?}: {used} {time}");
    }
    (pipeline.simulate.precision, pipeline.simulate.integrator) =
        (Precision::F32, Integrator::Explicit);
    if let Some(request) = device::request() {
        let mut run = device::engine(&packing, &pipeline, dt, &request);
        let (used, time) = use_and_break(&mut run, expected, dt);
        let is_right = (used - 0.9).abs() < 0.01 && (time - 1.0).abs() < 0.01;
        assert!(is_right, "on a device: {used} {time}");
    }
}

/// σ of the first element over the strength after 0.9 of the `expected` time, and the time at which a bond breaks over
/// that time.
fn use_and_break(run: &mut dyn Method, expected: f64, dt: f64) -> (f64, f64) {
    run.advance((0.9 * expected / dt) as u64).unwrap();
    let before = run.snapshot(1).unwrap();
    assert!(before.breaks.time.is_empty(), "a bond broke early");
    run.advance((0.2 * expected / dt) as u64).unwrap();
    let breaks = run.snapshot(2).unwrap().breaks;
    let time = breaks.time[0] / expected;
    (f64::from(before.frames.sigma[0]) / STRENGTH, time)
}

/// A lattice that is suddenly stretched along x: it breaks across x, not along it.
#[test]
fn bonds_along_a_crack_stay_whole() {
    let material = material();
    let points = scenes::block(9, 7, 7, R);
    let mut packing = scenes::packing(&points, R, &material, (STRENGTH, f64::INFINITY));
    let dt = 0.01 * unit_step(&material);
    let pipeline = scenes::pipeline(material);
    let stretch = 1.5 * STRENGTH / YOUNG;
    packing
        .elements
        .x
        .iter_mut()
        .for_each(|x| *x *= 1.0 + stretch);
    let mut run = method(&packing, &pipeline, Backend::Cpu, dt).unwrap();
    run.advance(1).unwrap();
    let breaks = run.snapshot(1).unwrap().breaks;
    assert!(breaks.i.len() > 100);
    for (&i, &j) in breaks.i.iter().zip(&breaks.j) {
        let along = (points[j as usize] - points[i as usize]).normalize().x;
        assert!(along.abs() > 65.0_f64.to_radians().cos(), "{along}");
    }
}

/// A block that is pulled apart and twisted: its packing, pipeline and step.
pub fn torn_block() -> (Packing, Pipeline, f64) {
    let mut material = material();
    material.damping = 0.05;
    let points = scenes::block(9, 5, 5, R);
    let mut packing = scenes::packing(&points, R, &material, (STRENGTH, 2.0 * STRENGTH));
    // So that not all break at once.
    for (k, strength) in packing.bonds.sigma_c.iter_mut().enumerate() {
        *strength *= 1.0 + (k * 37 % 11) as f64 / 11.0;
    }
    let middle = points.iter().map(|p| p.x).sum::<f64>() / points.len() as f64;
    let v: Vec<_> = points
        .iter()
        .map(|p| DVec3::X * 10.0 * (p.x - middle))
        .collect();
    let spin = vec![DVec3::Z * 0.5; points.len()];
    scenes::set_motion(&mut packing.elements, &v, &spin);
    let dt = 0.2 * unit_step(&material);
    (packing, scenes::pipeline(material), dt)
}

/// All that 12 steps a frame write, and the number of broken bonds.
pub fn bytes(engine: &mut dyn Method, frames: std::ops::Range<u32>) -> (String, usize) {
    let mut all = scenes::frames(engine, 12, frames);
    all.iter_mut().for_each(|one| one.history.seconds.clear());
    let broken = all.iter().map(|one| one.breaks.i.len()).sum();
    (format!("{all:?}"), broken)
}

#[test]
fn lanes_chunks_and_a_state_change_no_bit() {
    let (packing, pipeline, dt) = torn_block();
    let mut whole = method(&packing, &pipeline, Backend::Cpu, dt).unwrap();
    let (first, broken) = bytes(whole.as_mut(), 1..3);
    let state = whole.state(2).unwrap();
    let (on, more) = bytes(whole.as_mut(), 3..5);
    println!("{broken}, then {more} broken bonds");
    assert!(broken > 5 && more > 5);
    let mut again = method(&packing, &pipeline, Backend::Cpu, dt).unwrap();
    again.restore(&state).unwrap();
    assert!(bytes(again.as_mut(), 3..5).0 == on, "after a state");
    for width in LaneWidth::ALL {
        let shot = (&packing, &pipeline, dt);
        let Some(mut engine) = scenes::on_width(width, shot, Some(32)) else {
            continue;
        };
        assert!(bytes(engine.as_mut(), 1..3).0 == first, "{width:?}");
    }
}

/// The force of a Cosserat rod along its director is not the force along the bond.
#[test]
fn a_bond_that_is_sheared_far_breaks_at_its_strength() {
    let sigma = |strength: f64| {
        let material = material();
        let points = [DVec3::ZERO, DVec3::X * 2.0 * R];
        let mut packing = scenes::packing(&points, R, &material, (strength, f64::INFINITY));
        packing.bonds.law.fill(Law::Cosserat);
        packing.elements.y[1] = 2.0 * R;
        let dt = 1e-3 * unit_step(&material);
        let mut pipeline = scenes::pipeline(material);
        pipeline.simulate.law = Some(Law::Cosserat);
        let mut run = method(&packing, &pipeline, Backend::Cpu, dt).unwrap();
        run.advance(1).unwrap();
        run.snapshot(1).unwrap().breaks.sigma.first().copied()
    };
    let found = f64::from(sigma(1e-3 * YOUNG).expect("it breaks"));
    let broken = [0.98, 1.02].map(|part| sigma(part * found).is_some());
    assert_eq!(broken, [true, false], "{found}");
}

fn strong() -> Material {
    Material {
        tensile_strength: Some(STRENGTH),
        ..material()
    }
}

#[test]
fn settings_that_cannot_be_combined_with_it_are_refused() {
    let points = [DVec3::ZERO, DVec3::X * 2.0 * R];
    type Change = fn(&mut Pipeline);
    let changes: [(&str, Change); 4] = [
        ("grain", |p| {
            p.materials[0].grain = Some(Grain {
                direction: [1.0, 0.0, 0.0],
                stiffness: 3.0,
                strength: None,
            });
        }),
        ("toughness", |p| p.materials[0].toughness = Some(1e4)),
        ("hydrostatic_strength", |p| {
            p.materials[0].hydrostatic_strength = Some(1e5);
        }),
        ("sleep", |p| p.simulate.sleep = true),
    ];
    for (key, change) in changes {
        let packing = scenes::packing(&points, R, &material(), (STRENGTH, STRENGTH));
        let mut pipeline = scenes::pipeline(strong());
        change(&mut pipeline);
        let refused = method(&packing, &pipeline, Backend::Cpu, 1e-6).err();
        let message = refused.expect("refused").to_string();
        let says = |word: &str| message.contains(word);
        assert!(says("rankine") && says(key) && says("tension"), "{message}");
    }
}
