//! Toughness: bonds that soften, and the energy that cracks take.

use cullet::gpu::DeviceRequest;
use cullet::laws::softening::{brittle_energy, fracture_energy};
use cullet::math::LaneWidth;
use cullet::simulate::run_state::state::{SectionKind, State};
use cullet::simulate::{Method, Snapshot, method};
use cullet::spec::{Backend, Criterion, Integrator, Material, Pipeline};
use cullet::store::Packing;
use glam::DVec3;

use crate::bars::Bar;
use crate::device;
use crate::energy::unit_step;
use crate::harness::TestFolder;
use crate::scenes;

const R: f64 = 1e-3;
/// Young's modulus and tensile strength of the bond, Pa.
const YOUNG: f64 = 1e7;
const STRENGTH: f64 = 1e5;

fn material() -> Material {
    Material {
        criterion: Criterion::Tension,
        ..scenes::elastic(YOUNG, 4e6, 2600.0)
    }
}

/// Two bonded elements that fly apart with `apart` times the energy of the bond at its strength; the bond
/// breaks at `end` times its strength.
struct Pair {
    packing: Packing,
    pipeline: Pipeline,
    dt: f64,
    /// Energy of the bond at its strength, J.
    brittle: f64,
}

fn pair(end: f64, apart: f64) -> Pair {
    let mut material = material();
    let section = std::f64::consts::PI * R * R;
    let brittle = brittle_energy(STRENGTH, section, YOUNG * section / (2.0 * R));
    let points = [DVec3::ZERO, DVec3::X * 2.0 * R];
    let mut packing = scenes::packing(&points, R, &material, (STRENGTH, f64::INFINITY));
    // Area of crack of the only bond.
    let area = 2.0 * packing.elements.volume.iter().sum::<f64>() / (2.0 * R);
    let of_one = fracture_energy(1.0, YOUNG, material.poisson_ratio());
    material.toughness = Some((end * brittle / area / of_one).sqrt());
    let v = (apart * brittle / packing.elements.mass[0]).sqrt();
    scenes::set_motion(
        &mut packing.elements,
        &[DVec3::X * -v, DVec3::X * v],
        &[DVec3::ZERO; 2],
    );
    let dt = 0.004 * unit_step(&material);
    let mut pipeline = scenes::pipeline(material);
    pipeline.output.work = true;
    Pair {
        packing,
        pipeline,
        dt,
        brittle,
    }
}

impl Pair {
    /// After many periods of the bond.
    fn outcome(&self) -> Snapshot {
        let shot = (&self.packing, &self.pipeline);
        let mut engine = method(shot.0, shot.1, Backend::Cpu, self.dt).unwrap();
        engine.advance(50_000).unwrap();
        engine.snapshot(1).unwrap()
    }

    /// The same on a device, with longer steps.
    fn outcome_on(&self, request: &DeviceRequest) -> Snapshot {
        let pipeline = without_work(&self.pipeline);
        let mut engine = device::engine(&self.packing, &pipeline, 4.0 * self.dt, request);
        engine.advance(12_500).unwrap();
        engine.snapshot(1).unwrap()
    }
}

/// Devices do not book energies.
fn without_work(pipeline: &Pipeline) -> Pipeline {
    let mut pipeline = pipeline.clone();
    pipeline.output.work = false;
    pipeline
}

#[test]
fn a_bond_takes_the_energy_of_its_toughness_to_break() {
    for end in [1.5, 5.0, 40.0] {
        let pair = pair(end, 2.0 * end);
        let Snapshot {
            history: after,
            breaks,
            ..
        } = pair.outcome();
        assert_eq!(after.broken[0], 1, "end {end}");
        let row = f64::from(breaks.energy[0]) / pair.brittle;
        assert!((row / end - 1.0).abs() < 1e-3, "{row} of {end}");
        let taken = after.breaking[0] / pair.brittle;
        // It passes its strength within a step.
        assert!((taken / end - 1.0).abs() < 2e-2, "{taken} of {end}");
        let left = after.kinetic[0] / pair.brittle;
        assert!((left / end - 1.0).abs() < 2e-2, "{left} left of {end}");
    }
}

#[test]
fn a_bond_that_is_damaged_and_holds_swings_on_with_what_is_left() {
    let pair = pair(5.0, 2.5);
    let after = pair.outcome().history;
    assert_eq!(after.broken[0], 0);
    let taken = after.breaking[0] / pair.brittle;
    let elastic = elastic_energy_left();
    let expected = 2.5 - elastic;
    assert!((taken - expected).abs() < 0.02, "{taken}, not {expected}");
    let moving = (after.kinetic[0] + after.bond[0]) / pair.brittle;
    assert!((moving - elastic).abs() < 0.02, "{moving}, not {elastic}");
}

/// Energy of a bond that breaks at 5 times its strain, after 2.5 times its energy at its strength has flown into
/// it; in units of the latter.
fn elastic_energy_left() -> f64 {
    // The stress falls in a straight line from the strength to 0 between 1 and 5 times its strain: at u its
    // energy and the damage are 2.5 times the energy of the bond at its strength.
    let spent = |u: f64| 1.0 + 2.0 * (u - 1.0) - (u - 1.0) * (u - 1.0) / 4.0;
    let (mut low, mut high) = (1.0, 5.0);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        (low, high) = if spent(middle) < 2.5 {
            (middle, high)
        } else {
            (low, middle)
        };
    }
    low * (5.0 - low) / 4.0
}

#[test]
fn bonds_soften_on_a_device() {
    let Some(request) = device::request() else {
        return;
    };
    for end in [1.5, 5.0] {
        let pair = pair(end, 2.0 * end);
        let Snapshot {
            history: after,
            breaks,
            ..
        } = pair.outcome_on(&request);
        assert_eq!(after.broken[0], 1, "end {end}");
        let row = f64::from(breaks.energy[0]) / pair.brittle;
        assert!((row / end - 1.0).abs() < 1e-3, "{row} of {end}");
        let left = after.kinetic[0] / pair.brittle;
        assert!((left / end - 1.0).abs() < 4e-2, "{left} left of {end}");
    }
    let pair = pair(5.0, 2.5);
    let after = pair.outcome_on(&request).history;
    assert_eq!(after.broken[0], 0);
    let moving = (after.kinetic[0] + after.bond[0]) / pair.brittle;
    let elastic = elastic_energy_left();
    assert!((moving - elastic).abs() < 0.04, "{moving}, not {elastic}");
}

#[test]
fn elements_too_large_for_the_toughness_get_less_strength() {
    // A quarter of the energy is half of the strength.
    for (apart, broken) in [(0.24, 0), (0.26, 1)] {
        let pair = pair(0.25, apart);
        let after = pair.outcome().history;
        assert_eq!(after.broken[0], broken, "{apart}");
    }
}

#[test]
fn bonds_soften_in_implicit_steps() {
    let outcome = |pair: &Pair| {
        let mut pipeline = without_work(&pair.pipeline);
        pipeline.simulate.integrator = Integrator::Midpoint;
        let dt = 25.0 * pair.dt;
        let mut engine = method(&pair.packing, &pipeline, Backend::Cpu, dt).unwrap();
        engine.advance(2_000).unwrap();
        engine.snapshot(1).unwrap().history
    };
    for end in [1.5, 5.0, 40.0] {
        let pair = pair(end, 2.0 * end);
        let after = outcome(&pair);
        assert_eq!(after.broken[0], 1, "end {end}");
        let left = after.kinetic[0] / pair.brittle;
        assert!((left / end - 1.0).abs() < 5e-2, "{left} left of {end}");
    }
    let pair = pair(5.0, 2.5);
    let after = outcome(&pair);
    assert_eq!(after.broken[0], 0);
    let moving = (after.kinetic[0] + after.bond[0]) / pair.brittle;
    let elastic = elastic_energy_left();
    assert!((moving - elastic).abs() < 0.05, "{moving}, not {elastic}");
}

#[test]
fn cracks_run_at_the_toughness_of_the_solid() {
    let tear = |packing: &str, axis: usize, zone: f64| {
        let strip = Bar {
            packing: packing.into(),
            across: 16.0,
            axis,
            seed: 1 + axis as u64,
            poisson: 0.2,
            material: String::new(),
        };
        let found = strip.tear(zone);
        println!("{packing}, axis {axis}: {found:?}");
        found.toughness.unwrap()
    };
    let lattice = [0, 1, 2].map(|axis| tear("type = \"hexagonal\"", axis, 1.0));
    let mean = lattice.iter().sum::<f64>() / 3.0;
    assert!((mean - 1.0).abs() < 0.1, "{lattice:?}");
    assert!(
        lattice.iter().all(|one| (one - 1.0).abs() < 0.2),
        "{lattice:?}"
    );
    // Elements twice as large as the softening zone, and half as large.
    for zone in [0.5, 2.0] {
        let found = tear("type = \"random\"", 0, zone);
        assert!((found - 1.0).abs() < 0.15, "{found}");
    }
}

/// A block that is pulled apart and twisted: its packing, pipeline and step.
fn torn_block() -> (Packing, Pipeline, f64) {
    let mut material = material();
    material.toughness = Some(4e3);
    material.damping = 0.05;
    let points = scenes::block(9, 5, 5, R);
    let mut packing = scenes::packing(&points, R, &material, (STRENGTH, STRENGTH));
    let middle = points.iter().map(|p| p.x).sum::<f64>() / points.len() as f64;
    let v: Vec<_> = points
        .iter()
        .map(|p| DVec3::X * 1.5 * (p.x - middle).signum())
        .collect();
    let spin = vec![DVec3::Z * 5.0; points.len()];
    scenes::set_motion(&mut packing.elements, &v, &spin);
    let dt = 0.2 * unit_step(&material);
    (packing, scenes::pipeline(material), dt)
}

fn bytes(engine: &mut dyn Method, frames: std::ops::Range<u32>) -> String {
    let mut all = scenes::frames(engine, 60, frames);
    all.iter_mut().for_each(|one| one.history.seconds.clear());
    format!("{all:?}")
}

/// Entries of damaged bonds, and their damage.
fn damage_in(state: &State) -> Vec<(u32, [f32; 3])> {
    let entries = state.get::<u32, 1>(SectionKind::first("damaged bonds"));
    let damage = state.get::<f32, 3>(SectionKind::first("damage"));
    let (entries, damage) = (entries.unwrap().unwrap(), damage.unwrap().unwrap());
    entries.map(|[entry]| entry).zip(damage).collect()
}

#[test]
fn damage_is_the_same_on_all_lanes_and_after_a_state() {
    let (packing, pipeline, dt) = torn_block();
    let mut whole = method(&packing, &pipeline, Backend::Cpu, dt).unwrap();
    let first = bytes(whole.as_mut(), 1..3);
    let state = whole.state(2).unwrap();
    assert!(damage_in(&state).len() > 10, "bonds soften");
    let on = bytes(whole.as_mut(), 3..5);
    let mut again = method(&packing, &pipeline, Backend::Cpu, dt).unwrap();
    again.restore(&state).unwrap();
    assert!(bytes(again.as_mut(), 3..5) == on, "after a state");
    for width in LaneWidth::ALL {
        let shot = (&packing, &pipeline, dt);
        let Some(mut engine) = scenes::on_width(width, shot, Some(32)) else {
            continue;
        };
        assert!(bytes(engine.as_mut(), 1..3) == first, "{width:?}");
    }
}

#[test]
fn breaks_have_the_energy_that_breaking_takes() {
    let (packing, mut pipeline, dt) = torn_block();
    pipeline.materials[0].toughness = None;
    pipeline.output.work = true;
    let sums = |engine: &mut dyn Method| {
        engine.advance(60).unwrap();
        let after = engine.snapshot(1).unwrap();
        assert!(after.breaks.energy.len() > 10, "bonds break");
        let sum: f64 = after.breaks.energy.iter().copied().map(f64::from).sum();
        (sum, after.history.breaking.first().copied())
    };
    let mut cpu = method(&packing, &pipeline, Backend::Cpu, dt).unwrap();
    let (sum, taken) = sums(cpu.as_mut());
    assert!((sum / taken.unwrap() - 1.0).abs() < 1e-6, "{sum} {taken:?}");
    if let Some(request) = device::request() {
        let mut gpu = device::engine(&packing, &without_work(&pipeline), dt, &request);
        let (found, _) = sums(&mut gpu);
        assert!((found / sum - 1.0).abs() < 1e-3, "{found} {sum}");
    }
}

#[test]
fn damage_in_implicit_steps_is_the_same_after_a_state() {
    let (packing, pipeline, dt) = torn_block();
    let mut pipeline = without_work(&pipeline);
    pipeline.simulate.integrator = Integrator::Midpoint;
    pipeline.materials[0].toughness = Some(1e4);
    let engine = || method(&packing, &pipeline, Backend::Cpu, 4.0 * dt).unwrap();
    let frames = |engine: &mut dyn Method, frames: std::ops::Range<u32>| {
        let mut all = scenes::frames(engine, 16, frames);
        all.iter_mut().for_each(|one| one.history.seconds.clear());
        format!("{all:?}")
    };
    let mut whole = engine();
    frames(whole.as_mut(), 1..3);
    let state = whole.state(2).unwrap();
    let damaged = state.get::<u32, 1>(SectionKind::first("damaged bonds"));
    assert!(damaged.unwrap().unwrap().len() > 4, "bonds soften");
    let on = frames(whole.as_mut(), 3..5);
    let mut again = engine();
    again.restore(&state).unwrap();
    assert!(frames(again.as_mut(), 3..5) == on);
}

#[test]
fn damage_on_a_device_is_that_on_the_cpu() {
    let Some(request) = device::request() else {
        return;
    };
    let (packing, pipeline, dt) = torn_block();
    let pipeline = without_work(&pipeline);
    let on_device = || device::engine(&packing, &pipeline, dt, &request);
    let (mut cpu, mut gpu) = (
        method(&packing, &pipeline, Backend::Cpu, dt).unwrap(),
        on_device(),
    );
    bytes(cpu.as_mut(), 1..3);
    bytes(&mut gpu, 1..3);
    let states = [cpu.state(2).unwrap(), gpu.state(2).unwrap()];
    let [a, b] = [0, 1].map(|k| damage_in(&states[k]));
    let entries = |of: &[(u32, [f32; 3])]| of.iter().map(|row| row.0).collect::<Vec<_>>();
    assert_eq!(entries(&a), entries(&b));
    for ((entry, a), (_, b)) in a.iter().zip(&b) {
        for (a, b) in a.iter().zip(b) {
            // Drivers fuse multiplications and additions.
            assert!((a / b - 1.0).abs() < 1e-3, "entry {entry}: {a} and {b}");
        }
    }
    let on = bytes(&mut gpu, 3..5);
    let mut again = on_device();
    again.restore(&states[1]).unwrap();
    assert!(bytes(&mut again, 3..5) == on, "after a state");
}

#[test]
fn toughness_is_refused_by_name_where_it_is_not_supported() {
    let place = TestFolder::new();
    let bunny = crate::harness::shot("bunny_drop");
    let mut words = vec!["run", &bunny, "--to", "simulate", "--out", "out"];
    for set in ["scale=smoke", "material.gypsum.toughness=1 MPa √m"] {
        words.extend(["--set", set]);
    }
    for (set, expected) in [
        (
            "material.gypsum.criterion=lu2021",
            "material.toughness with material.criterion",
        ),
        ("material.gypsum.weibull_size=1 mm", "needs weibull_length"),
    ] {
        let message = place.refuse(&[&words[..], &["--set", set]].concat());
        assert!(message.contains(expected), "{message}");
    }
}
