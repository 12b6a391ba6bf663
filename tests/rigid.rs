//! Rigid bodies of elements.

use std::f64::consts::PI;

use cullet::columns::History;
use cullet::math::{LaneWidth, Lanes};
use cullet::simulate::methods::explicit::cpu::Cpu;
use cullet::simulate::{Method, Snapshot, build, schedule};
use cullet::spec::{Action, Attachment, Body, Key, Pipeline, Region, Rotation};
use cullet::store::Packing;
use glam::{DQuat, DVec3};

use crate::energy::unit_step;
use crate::harness::TestFolder;
use crate::scenes;

const R: f64 = 1e-3;
const NEVER: (f64, f64) = (f64::INFINITY, f64::INFINITY);

fn body(name: &str, rigid: bool) -> Body {
    Body {
        name: name.into(),
        rigid,
        ..crate::statics::body()
    }
}

/// A pipeline with these bodies of an elastic material, without friction and damping.
fn pipeline(bodies: Vec<Body>) -> Pipeline {
    let mut pipeline = scenes::pipeline(scenes::elastic(1e7, 4e6, 2600.0));
    pipeline.bodies = bodies;
    pipeline
}

fn on<L: Lanes>(packing: &Packing, pipeline: &Pipeline, dt: f64) -> Cpu<L> {
    Cpu::new(build(packing, pipeline).unwrap(), pipeline, dt)
}

fn vector(x: &[f64], y: &[f64], z: &[f64]) -> DVec3 {
    DVec3::new(x[0], y[0], z[0])
}

fn momentum(h: &History) -> DVec3 {
    vector(&h.px, &h.py, &h.pz)
}

fn angular_momentum(h: &History) -> DVec3 {
    vector(&h.lx, &h.ly, &h.lz)
}

/// Sets a rigid motion of the elements from index `first` on.
fn set_rigid_motion(packing: &mut Packing, first: usize, velocity: DVec3, spin: DVec3) {
    let e = &packing.elements;
    let at = |i: usize| DVec3::new(e.x[i], e.y[i], e.z[i]);
    let count = e.id.len();
    let middle = (first..count).map(at).sum::<DVec3>() / (count - first) as f64;
    let (mut v, mut w) = (vec![DVec3::ZERO; count], vec![DVec3::ZERO; count]);
    for i in first..count {
        v[i] = velocity + spin.cross(at(i) - middle);
        w[i] = spin;
    }
    scenes::set_motion(&mut packing.elements, &v, &w);
}

/// Two bodies of these elements in one packing, without bonds between them.
fn two_bodies(first: &[DVec3], second: &[DVec3], strength: (f64, f64)) -> Packing {
    let points = [first, second].concat();
    let material = scenes::elastic(1e7, 4e6, 2600.0);
    let mut packing = scenes::packing(&points, R, &material, strength);
    packing.elements.body[first.len()..].fill(1);
    packing
}

#[test]
fn a_box_thrown_about_its_middle_axis_tumbles_and_keeps_energy_and_angular_momentum() {
    let points = scenes::block(10, 6, 3, R);
    let material = scenes::elastic(1e7, 4e6, 2600.0);
    let mut packing = scenes::packing(&points, R, &material, NEVER);
    // Longest along x, thinnest along z: the axis of its intermediate moment of inertia is y.
    set_rigid_motion(
        &mut packing,
        0,
        DVec3::new(1.0, 2.0, 0.5),
        DVec3::new(0.5, 100.0, 0.0),
    );
    let mut run = on::<f64>(&packing, &pipeline(vec![body("beam", true)]), 2e-5);
    let first = run.snapshot(0).unwrap();
    let energy = |h: &History| h.kinetic[0] + h.rotational[0];
    let (e, p, l) = (
        energy(&first.history),
        momentum(&first.history),
        angular_momentum(&first.history),
    );
    assert_eq!(first.history.bond[0], 0.0);
    let mut turned = 0;
    for frame in 1..=100 {
        run.advance(100).unwrap();
        let Snapshot {
            history, frames, ..
        } = run.snapshot(frame).unwrap();
        assert!((energy(&history) / e - 1.0).abs() < 1e-6);
        assert!((momentum(&history) - p).length() < 1e-12 * p.length());
        assert!((angular_momentum(&history) - l).length() < 1e-9 * l.length());
        assert_eq!((history.fragments[0], history.contacts[0]), (1, 0));
        let q = DQuat::from_xyzw(
            frames.qx[0].into(),
            frames.qy[0].into(),
            frames.qz[0].into(),
            frames.qw[0].into(),
        );
        turned += u32::from((q * DVec3::Y).y < -0.9);
    }
    assert!(turned > 5, "end over end in {turned} of 100 frames");
}

/// Drops a body onto a floor at 1 m/s until it has bounced off; returns the velocity of its centre of mass.
fn rebound(packing: &Packing, pipeline: &Pipeline, dt: f64) -> DVec3 {
    let mut run = on::<f64>(packing, pipeline, dt);
    let mass: f64 = packing.elements.mass.iter().sum();
    let mut touched = false;
    for frame in 0..4000 {
        run.advance(10).unwrap();
        let snapshot = run.snapshot(frame).unwrap();
        let touches = snapshot.loads.contacts[0] > 0;
        if touched && !touches {
            return momentum(&snapshot.history) / mass;
        }
        touched |= touches;
    }
    panic!("it stays on the floor");
}

#[test]
fn a_rigid_ball_of_elements_bounces_like_one_element_of_its_mass() {
    // A ball cut out of a packing: a single element is the lowest, directly below the centre of mass.
    let mut ball: Vec<DVec3> = Vec::new();
    let packed = scenes::block(9, 9, 9, R);
    let middle = packed[9 * 9 * 4 + 9 * 4 + 4];
    for p in &packed {
        let p = *p - middle;
        // Symmetric under a half turn about y, so that no torque makes it spin.
        for p in [p, DVec3::new(-p.x, p.y, -p.z)] {
            let apart = ball.iter().all(|q| q.distance(p) > 1.999 * R);
            if p.length() < 6.0 * R && p.y > -4.0 * R && apart {
                ball.push(p);
            }
        }
    }
    let low = ball.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
    ball.push(DVec3::Y * (low - 2.0 * R));
    let mut material = scenes::elastic(1e7, 4e6, 2600.0);
    material.contact_damping = 0.2;
    let mut packing = scenes::packing(&ball, R, &material, NEVER);
    set_rigid_motion(&mut packing, 0, DVec3::NEG_Y, DVec3::ZERO);
    let mass: f64 = packing.elements.mass.iter().sum();
    let mut shot = scenes::pipeline(material.clone());
    shot.bodies = vec![body("beam", true)];
    shot.colliders = vec![scenes::rising_floor(low - 3.0 * R - 1e-6, 0.0)];
    let dt = 0.1 * unit_step(&material);
    let found = rebound(&packing, &shot, dt);
    // One element of the same radius and the same mass.
    material.density = mass / (4.0 / 3.0 * PI * R.powi(3));
    let mut single = scenes::packing(&[DVec3::ZERO], R, &material, NEVER);
    set_rigid_motion(&mut single, 0, DVec3::NEG_Y, DVec3::ZERO);
    let mut shot = scenes::pipeline(material);
    shot.colliders = vec![scenes::rising_floor(-R - 1e-6, 0.0)];
    let expected = rebound(&single, &shot, dt);
    assert!((0.3..0.9).contains(&expected.y), "{expected}");
    let off = (found.y / expected.y - 1.0).abs();
    assert!(off < 0.02, "{found} for {expected}");
}

/// A rigid block that runs into a bonded one, whose bonds break at this strength.
fn push(strength: f64) -> (Packing, Pipeline, f64) {
    let block = scenes::block(8, 6, 6, R);
    let ram: Vec<DVec3> = scenes::block(5, 4, 4, R)
        .iter()
        .map(|p| *p + DVec3::new(-0.0125, 2.3e-3, 2.2e-3))
        .collect();
    let mut packing = two_bodies(&block, &ram, (strength, strength));
    set_rigid_motion(&mut packing, block.len(), DVec3::X * 3.0, DVec3::Y * 30.0);
    let mut shot = pipeline(vec![body("beam", false), body("ram", true)]);
    let material = &mut shot.materials[0];
    (
        material.friction,
        material.contact_damping,
        material.damping,
    ) = (0.3, 0.1, 0.05);
    let dt = 0.3 * schedule(&packing, &shot).unwrap().critical;
    (packing, shot, dt)
}

fn check_push<L: Lanes>(limit: f64) {
    let (packing, shot, dt) = push(f64::INFINITY);
    let mut run = on::<L>(&packing, &shot, dt);
    let before = run.snapshot(0).unwrap().history;
    assert_eq!(before.fragments[0], 2);
    run.advance(1500).unwrap();
    let last = run.snapshot(1).unwrap();
    let share = (0..packing.elements.id.len()).filter(|&i| packing.elements.body[i] == 0);
    let taken: f64 = share
        .map(|i| packing.elements.mass[i] * f64::from(last.frames.vx[i]))
        .sum();
    let p = momentum(&before);
    assert!(taken > 0.2 * p.x, "the block takes {taken} of {p}");
    let off = (momentum(&last.history) - p).length() / p.length();
    assert!(off < limit, "momentum off by {off:.1e}");
    let l = angular_momentum(&before);
    let off = (angular_momentum(&last.history) - l).length() / l.length();
    assert!(off < 10.0 * limit, "angular momentum off by {off:.1e}");
}

#[test]
fn a_rigid_body_gives_a_bonded_block_the_momentum_that_it_loses() {
    check_push::<f64>(1e-12);
    check_push::<f32>(1e-6);
}

#[test]
fn rigid_bodies_have_the_same_bits_on_any_number_of_threads_and_across_a_resume() {
    let (packing, pipeline, dt) = push(1.5e5);
    let on_threads = |threads: usize, stop: u32| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let mut run = on::<f32>(&packing, &pipeline, dt);
            let mut all = scenes::frames(&mut run, 200, 1..stop + 1);
            let state = run.state(stop).unwrap();
            let mut resumed = on::<f32>(&packing, &pipeline, dt);
            resumed.restore(&state).unwrap();
            assert!(resumed.state(stop).unwrap() == state);
            all.extend(scenes::frames(&mut resumed, 200, stop + 1..7));
            all
        })
    };
    let whole = on_threads(1, 6);
    let broken: usize = whole.iter().map(|frame| frame.breaks.bond.len()).sum();
    assert!(broken > 10, "{broken}");
    for (threads, stop) in [(2, 6), (3, 6), (1, 3), (3, 1)] {
        assert!(
            on_threads(threads, stop) == whole,
            "{threads} threads, stopped at {stop}"
        );
    }
    let sixteen = scenes::on_width(LaneWidth::Sixteen, (&packing, &pipeline, dt), None);
    if let Some(mut run) = sixteen {
        assert!(scenes::frames(run.as_mut(), 200, 1..7) == whole);
    }
}

#[test]
fn forces_and_springs_move_rigid_bodies_with_and_without_sleep() {
    let last = |sleep: bool| {
        let body = |name: &str, x: f64| {
            format!(
                "[[body]]\nname = \"{name}\"\nmaterial = \"m\"\nrigid = true\nposition = [{x}, 0, 0]\n\
                 shape = {{ type = \"block\", rows = [6, 4, 4] }}\npacking = {{ type = \"hexagonal\", radius = 1e-3 }}\n"
            )
        };
        let attach = |body: &str, action: &str| {
            format!(
                "[[attach]]\nname = \"{body}\"\nbody = \"{body}\"\naction = {{ {action} }}\n\
                 region = {{ min = [-1, -1, -1], max = [1, 0, 1] }}\n"
            )
        };
        let (pipeline, packed) = scenes::read(&format!(
            "time = {{ end = 5e-3, frames_per_second = 1e3 }}\nworld = {{ gravity = [0, 0, 0] }}\n\
             simulate = {{ sleep = {sleep} }}\n\
             [[material]]\nname = \"m\"\ndensity = 2000\nyoung = 1e7\ntensile_strength = 1e5\n{}{}{}{}{}",
            body("pushed", 0.0),
            body("drawn", 0.05),
            body("free", 0.1),
            attach("pushed", "type = \"force\", force = [0, 0, 0.5]"),
            attach(
                "drawn",
                "type = \"spring\", stiffness = 100, velocity = [0, 0, 1]"
            ),
        ));
        let frames = scenes::play(&pipeline, &packed.packing);
        let History { pz, ly, .. } = &frames[frames.len() - 1].history;
        (pz[0], ly[0])
    };
    let (awake, asleep) = (last(false), last(true));
    assert!(awake.0 > 2.5e-3, "{awake:?}");
    let part = |one: f64, other: f64| (one / other - 1.0).abs();
    assert!(
        part(asleep.0, awake.0) < 1e-9 && part(asleep.1, awake.1) < 1e-9,
        "{asleep:?} {awake:?}"
    );
}

/// Clamps all elements of a body between two heights.
fn clamp(pipeline: &mut Pipeline, name: &str, (from, to): (f64, f64), keys: Vec<Key>) {
    pipeline.attachments.push(Attachment {
        name: "grip".into(),
        body: name.into(),
        region: Region {
            min: [-1.0, from, -1.0],
            max: [1.0, to, 1.0],
        },
        action: Action::Clamp {
            velocity: [0.0; 3],
            spin: [0.0; 3],
            pivot: None,
            keys,
        },
    });
}

/// A body with prescribed motion: a blade of elements, all of them in one clamp.
#[test]
fn a_blade_held_as_a_whole_follows_its_keys_through_a_block() {
    let block = scenes::block(10, 8, 5, R);
    let top = block.iter().map(|p| p.y).fold(0.0, f64::max);
    let blade: Vec<DVec3> = scenes::block(1, 8, 7, R)
        .iter()
        .map(|p| *p + DVec3::new(9e-3, top + 2.2 * R, -1.5e-3))
        .collect();
    let packing = two_bodies(&block, &blade, (3e5, 3e5));
    let mut shot = pipeline(vec![body("beam", false), body("blade", true)]);
    let key = |time: f64, down: f64, angle: f64| Key {
        time,
        position: [0.0, -down, 0.0],
        rotation: Rotation {
            axis: [0.0, 0.0, 1.0],
            angle,
        },
    };
    clamp(
        &mut shot,
        "blade",
        (-1.0, 1.0),
        vec![key(0.0, 0.0, 0.0), key(1e-3, 6e-3, 0.1)],
    );
    let dt = 0.3 * schedule(&packing, &shot).unwrap().critical;
    let mut run = on::<f64>(&packing, &shot, dt);
    let steps = (0.8e-3 / dt) as u64;
    run.advance(steps).unwrap();
    let last = run.snapshot(1).unwrap();
    let part = steps as f64 * dt / 1e-3;
    let middle = blade.iter().sum::<DVec3>() / blade.len() as f64;
    let turn = DQuat::from_axis_angle(DVec3::Z, 0.1 * part);
    for (k, rest) in blade.iter().enumerate() {
        let i = block.len() + k;
        let f = &last.frames;
        let p = DVec3::new(f.x[i].into(), f.y[i].into(), f.z[i].into());
        let exact = middle + turn * (*rest - middle) - DVec3::Y * 6e-3 * part;
        assert!((p - exact).length() < 1e-8, "{p} for {exact}");
    }
    assert!(
        last.history.broken[0] > 10,
        "{} broken",
        last.history.broken[0]
    );
    let down = crate::loads::force(&last.loads, 0).y;
    assert!(down > 0.0, "the blade is pushed up: {down}");
    let of_blade: Vec<u32> = last.frames.fragment[block.len()..].to_vec();
    assert!(of_blade.iter().all(|label| *label == of_blade[0]));
}

#[test]
fn rigid_bodies_that_cannot_be() {
    let shot = |keys: &str, more: &str| {
        format!(
            "[time]\nend = \"1 ms\"\nframes_per_second = 1000\n\
             [[material]]\nname = \"m\"\ndensity = 1000\nyoung = \"1 MPa\"\n\
             [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = {{ type = \"box\", size = [0.01, 0.01, 0.01] }}\n\
             packing = {{ type = \"hexagonal\", radius = \"1 mm\" }}\n{keys}{more}"
        )
    };
    let place = TestFolder::new();
    let refused = |text: &str, more: &[&str], parts: &[&str]| {
        place.write("shot.toml", text);
        let message = place.refuse(&[&["check", "shot.toml"], more].concat());
        for part in parts {
            assert!(message.contains(part), "{part:?} is not in {message}");
        }
    };
    let loose = shot("bonded = false\nrigid = true\n", "");
    refused(
        &loose,
        &[],
        &[
            "shot.toml:14:",
            "body.b.rigid",
            "cannot consist of loose elements",
        ],
    );
    let half = "[[attach]]\nname = \"grip\"\nbody = \"b\"\nregion = { min = [-1, 0, -1], max = [1, 1, 1] }\n\
                action = { type = \"clamp\" }\n";
    let parts = ["\"grip\"", "\"b\"", "rigid", "all of them"];
    refused(&shot("rigid = true\n", half), &[], &parts);
    let on_device = ["--set", "simulate.backend=gpu"];
    let parts = ["body.rigid", "--backend cpu"];
    refused(&shot("rigid = true\n", ""), &on_device, &parts);
    // The surface of a rigid body that falls is its skin.
    let falls = shot(
        "rigid = true\nspin = [0, 0, 200]\n",
        "[world]\ngravity = [0, -9.81, 0]\n",
    );
    place.write("shot.toml", &falls);
    place.succeed(&["run", "shot.toml", "--out", "store"]);
    let message = place.succeed(&["inspect", "store", "--validate"]);
    assert!(message.starts_with("valid: "), "{message}");
}
