//! Contacts that hold with a larger coefficient of friction than they slide with.

use cullet::simulate::contact::surfaces::Surfaces;
use cullet::simulate::methods::explicit::cpu::Cpu;
use cullet::simulate::run_state::sections;
use cullet::simulate::{Method, Snapshot, build, schedule};
use cullet::spec::{Backend, Material, Pipeline};
use cullet::store::Packing;
use glam::DVec3;

use crate::energy;
use crate::harness::{TestFolder, files};
use crate::scenes;

const R: f64 = 1e-3;
/// Gravitational acceleration, m/s².
const GRAVITY: f64 = 9.81;
const STATIC: f64 = 0.8;
const KINETIC: f64 = 0.1;
/// Tangent of the slope of blocks. A load that is put on at once needs twice as much, which is still held.
const SLOPE: f64 = 0.2;

fn material() -> Material {
    let mut material = scenes::elastic(1e7, 4e6, 2600.0);
    (material.friction, material.static_friction) = (KINETIC, Some(STATIC));
    (material.damping, material.contact_damping) = (0.1, 0.3);
    material
}

/// A block on a floor, at velocity `v` along x, m/s.
fn on_floor(material: Material, v: f64, sleep: bool) -> (Packing, Pipeline, f64) {
    let points = scenes::block(7, 3, 7, R);
    let mut packing = scenes::packing(&points, R, &material, (1e6, 1e6));
    let n = points.len();
    scenes::set_motion(
        &mut packing.elements,
        &vec![DVec3::X * v; n],
        &vec![DVec3::ZERO; n],
    );
    // The lowest elements carry the weight: k_r = E S/(2 R), S = π R².
    let lowest = points.iter().filter(|p| p.y < 0.1 * R).count();
    let stiffness = material.young * std::f64::consts::FRAC_PI_2 * R;
    let weight = n as f64 * packing.elements.mass[0] * GRAVITY;
    let overlap = weight / (lowest as f64 * stiffness);
    let mut pipeline = scenes::pipeline(material);
    pipeline.world.gravity = [0.0, -GRAVITY, 0.0];
    let mut floor = scenes::rising_floor(-R + overlap, 0.0);
    floor.friction = STATIC;
    pipeline.colliders = vec![floor];
    pipeline.bodies = vec![crate::statics::body()];
    pipeline.simulate.sleep = sleep;
    let dt = 0.3 * schedule(&packing, &pipeline).unwrap().critical;
    (packing, pipeline, dt)
}

/// A run that goes on after 10 ms on a floor that is tilted then, down along x.
fn tilted((packing, pipeline, dt): &(Packing, Pipeline, f64)) -> Box<dyn Method> {
    let mut flat = engine(packing, pipeline, *dt);
    flat.advance((0.01 / dt) as u64).unwrap();
    let (mut pipeline, slope) = (pipeline.clone(), SLOPE.atan());
    pipeline.world.gravity = [GRAVITY * slope.sin(), -GRAVITY * slope.cos(), 0.0];
    let mut run = engine(packing, &pipeline, *dt);
    run.restore(&flat.state(0).unwrap()).unwrap();
    run
}

/// Mean velocity of the elements down the slope, m/s.
fn speed(snapshot: &Snapshot) -> f64 {
    let v = &snapshot.frames.vx;
    v.iter().map(|&v| f64::from(v)).sum::<f64>() / v.len() as f64
}

fn engine(packing: &Packing, pipeline: &Pipeline, dt: f64) -> Box<dyn Method> {
    cullet::simulate::method(packing, pipeline, Backend::Cpu, dt).unwrap()
}

#[test]
fn a_block_stays_on_a_slope_on_which_it_slides_on_once_it_is_pushed() {
    let mut plain = material();
    plain.static_friction = None;
    let accelerated = GRAVITY * SLOPE.atan().cos() * (SLOPE - KINETIC);
    for sleep in [false, true] {
        for (material, v, expected) in [
            (material(), 0.0, 0.0),
            (material(), 0.2, accelerated),
            (plain.clone(), 0.0, accelerated),
        ] {
            let scene = on_floor(material, v, sleep);
            let mut run = tilted(&scene);
            let steps = (0.02 / scene.2) as u64;
            let frames = scenes::frames(run.as_mut(), steps, 1..4);
            let time = 2.0 * steps as f64 * scene.2;
            let found = (speed(&frames[2]) - speed(&frames[0])) / time;
            println!("sleep {sleep}, from {v} m/s: {found:.4} m/s², expected {expected:.4}");
            assert!(
                (found - expected).abs() < 0.02 * accelerated,
                "{found} {expected}"
            );
        }
    }
}

#[test]
fn an_element_that_is_pushed_across_another_has_one_peak_of_friction() {
    let mut material = material();
    (material.density, material.contact_damping) = (1e6, 0.0);
    let overlap = 1e-2 * R;
    let points = [DVec3::ZERO, DVec3::Y * (2.0 * R - overlap)];
    let mut packing = scenes::packing(&points, R, &material, (1e5, 1e5));
    packing.bonds = Default::default();
    let v = 0.5;
    scenes::set_motion(
        &mut packing.elements,
        &[DVec3::ZERO, DVec3::X * v],
        &[DVec3::ZERO; 2],
    );
    let pipeline = scenes::pipeline(material);
    // Friction over the normal force rises by k_t v Δt/(k_r δ) = 0.01 per step.
    let dt = 0.01 * overlap / (0.5 * v);
    let mut run = Cpu::<f64>::new(build(&packing, &pipeline).unwrap(), &pipeline, dt);
    let mut before = run.system().velocity(1);
    let ratios: Vec<f64> = (0..200)
        .map(|_| {
            run.advance(1).unwrap();
            let now = run.system().velocity(1);
            let n = (run.system().position(1) - run.system().position(0)).normalize();
            let kick = now - std::mem::replace(&mut before, now);
            let push = kick.dot(n);
            (kick - n * push).length() / push
        })
        .collect();
    let peak = ratios
        .iter()
        .position(|&ratio| ratio > STATIC - 0.02)
        .unwrap();
    assert!((77..=80).contains(&peak), "{peak}");
    assert!(ratios.iter().all(|&ratio| ratio < STATIC + 1e-3));
    for (step, ratio) in ratios.iter().enumerate().skip(peak + 4) {
        assert!((ratio - KINETIC).abs() < 2e-3, "{step}: {ratio}");
    }
}

#[test]
fn two_materials_have_the_smaller_coefficients_or_those_of_their_pair() {
    let coefficients = |pair: &str| {
        let material = |name: &str, keys: &str| {
            format!("[[material]]\nname = \"{name}\"\ndensity = 1\nyoung = 1\n{keys}\n")
        };
        let text = format!(
            "[time]\nend = 1\nframes_per_second = 10\n{}{}{}{pair}\n\
             [[body]]\nname = \"b\"\nmaterial = \"a\"\nshape = {{ type = \"sphere\", radius = 1 }}\n\
             packing = {{ type = \"hexagonal\", radius = 0.1 }}\n",
            material("a", "friction = 0.5\nstatic_friction = 0.9"),
            material("b", "friction = 0.3"),
            material("c", "friction = 0.4\nstatic_friction = 0.6"),
        );
        let surfaces = Surfaces::of(&cullet::spec::parse(&text, "shot", &[]).unwrap());
        let of = |other: usize| {
            let shared = surfaces.pair(0, other);
            [shared.contact.friction, shared.static_friction]
        };
        [of(0), of(1), of(2)]
    };
    let pair =
        |keys: &str| coefficients(&format!("[[pair]]\nmaterials = [\"c\", \"a\"]\n{keys}"))[2];
    assert_eq!(coefficients(""), [[0.5, 0.9], [0.3, 0.3], [0.4, 0.6]]);
    assert_eq!(pair("friction = 0.7"), [0.7, 0.7]);
    assert_eq!(pair("static_friction = 0.8"), [0.4, 0.8]);
    assert_eq!(pair("friction = 0.2\nstatic_friction = 1"), [0.2, 1.0]);
}

/// The stirred balls, of which one kind holds better than it slides.
fn stirred() -> (Packing, Pipeline, f64) {
    let (packing, mut pipeline, dt) = energy::stirred();
    pipeline.materials[0].static_friction = Some(0.8);
    pipeline.materials[1].static_friction = Some(0.4);
    (packing, pipeline, dt)
}

#[test]
fn lanes_threads_and_lists_change_no_bit() {
    let (packing, pipeline, dt) = stirred();
    let (with, state) = energy::check_lanes(&packing, &pipeline, dt, 300);
    let springs = sections::springs::<f32>(&state).unwrap();
    let sliding = springs.iter().filter(|one| one.memory.slides).count();
    assert!(
        sliding > 100 && sliding < springs.len() / 2,
        "{sliding} of {}",
        springs.len()
    );
    let (packing, pipeline, dt) = energy::stirred();
    let (without, state) = energy::check_lanes(&packing, &pipeline, dt, 300);
    assert!(with != without);
    let springs = sections::springs::<f32>(&state).unwrap();
    assert!(springs.iter().all(|one| !one.memory.slides));
    energy::check_lists(stirred());
}

#[test]
fn a_sleeping_block_that_slides_is_resumed_to_the_same_bits() {
    let scene = on_floor(material(), 0.2, true);
    let (steps, mut whole) = ((5e-3 / scene.2) as u64, tilted(&scene));
    let all = scenes::frames(whole.as_mut(), steps, 1..9);
    for stop in [2, 5] {
        let mut run = tilted(&scene);
        scenes::frames(run.as_mut(), steps, 1..stop + 1);
        let state = run.state(stop).unwrap();
        let springs = sections::springs::<f32>(&state).unwrap();
        let sliding = springs.iter().filter(|one| one.memory.slides).count();
        assert!(sliding > 0, "{sliding} of {}", springs.len());
        let mut resumed = tilted(&scene);
        resumed.restore(&state).unwrap();
        let rest = scenes::frames(resumed.as_mut(), steps, stop + 1..9);
        assert!(rest == all[stop as usize..], "stopped at {stop}");
    }
}

/// A pipeline whose body slides along a floor and stops; `keys` are further ones of its material.
fn shot(keys: &str, more: &str) -> String {
    format!(
        "[time]\nend = \"30 ms\"\nframes_per_second = 200\n\n[[material]]\nname = \"stone\"\ndensity = 2600\n\
         young = \"10 MPa\"\nfriction = 0.5\ncontact_damping = 0.3\n{keys}\n\
         [[body]]\nname = \"brick\"\nmaterial = \"stone\"\nshape = {{ type = \"box\", size = [0.02, 0.006, 0.012] }}\n\
         packing = {{ type = \"hexagonal\", radius = \"1 mm\" }}\nvelocity = [0.15, 0, 0]\n\n\
         [[collider]]\nname = \"floor\"\nfriction = 2\nshape = {{ type = \"half_space\", normal = [0, 1, 0] }}\n\
         position = [0, -0.0031, 0]\n{more}"
    )
}

#[test]
fn a_run_that_is_cut_while_contacts_slide_has_the_same_bytes() {
    const FOLDERS: [&str; 4] = ["frames", "fragments", "loads", "state"];
    let folder = TestFolder::new();
    let cpu = ["--set", "simulate.backend=cpu", "--quiet"];
    let run = |keys: &str, out: &str, threads: &str| {
        let name = format!("{out}.toml");
        folder.write(&name, &shot(keys, ""));
        let words = [
            "run",
            &name,
            "--to",
            "simulate",
            "--out",
            out,
            "--threads",
            threads,
        ];
        folder.succeed(&[&words[..], &cpu].concat());
        files(&folder.path(out), &FOLDERS)
    };
    let whole = run("static_friction = 0.9", "whole", "2");
    assert!(whole.len() > 6, "{:?}", whole.keys());
    assert!(run("static_friction = 0.9", "one", "1") == whole);
    folder.succeed(&[&["pack", "whole.toml", "--out", "cut"][..], &cpu].concat());
    for more in [&["--until", "10 ms"][..], &["--resume"]] {
        let words = ["simulate", "cut", "--quiet"];
        folder.succeed(&[&words, more].concat());
    }
    assert!(files(&folder.path("cut"), &FOLDERS) == whole);

    // A coefficient that is no larger changes nothing but the inputs that a state names.
    let plain = run("", "plain", "1");
    let equal = run("static_friction = 0.5", "equal", "1");
    let frames = |all: &std::collections::BTreeMap<String, Vec<u8>>| {
        let kept = all.iter().filter(|(name, _)| name.contains("frames"));
        kept.map(|(_, bytes)| bytes.clone()).collect::<Vec<_>>()
    };
    assert!(frames(&plain) == frames(&equal) && frames(&plain) != frames(&whole));
}

#[test]
fn a_coefficient_that_is_too_small_or_not_supported_is_refused() {
    let folder = TestFolder::new();
    let pair = "[[pair]]\nmaterials = [\"stone\", \"stone\"]\n";
    for (keys, more, parts) in [
        (
            "static_friction = 0.4",
            String::new(),
            &[
                "shot.toml:11:",
                "material.stone.static_friction",
                "0.4 is below",
                "0.5",
            ][..],
        ),
        (
            "static_friction = -1",
            String::new(),
            &["shot.toml:11:", "static_friction", "≥ 0"],
        ),
        (
            "",
            format!("{pair}static_friction = 0.3\n"),
            &["shot.toml:26:", "static_friction", "0.3 is below", "0.5"],
        ),
        (
            "",
            format!("{pair}friction = 0.7\nstatic_friction = 0.6\n"),
            &["shot.toml:27:", "static_friction", "0.6 is below", "0.7"],
        ),
    ] {
        folder.write("shot.toml", &shot(keys, &more));
        let message = folder.refuse(&["check", "shot.toml"]);
        for part in parts {
            assert!(message.contains(part), "{part:?} is not in {message}");
        }
    }
    folder.write("shot.toml", &shot("static_friction = 0.9", ""));
    for (settings, part) in [
        (
            &["simulate.backend=gpu"][..],
            "static_friction on backend gpu",
        ),
        (
            &["simulate.integrator=midpoint", "simulate.law=manifold"],
            "static_friction in implicit steps",
        ),
    ] {
        let mut words = vec!["run", "shot.toml", "--to", "simulate", "--out", "store"];
        words.extend(settings.iter().flat_map(|one| ["--set", *one]));
        let message = folder.refuse(&words);
        assert!(message.contains(part), "{part:?} is not in {message}");
    }
}
