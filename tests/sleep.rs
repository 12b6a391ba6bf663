//! Fragments that sleep: stepped as rigid bodies until a load could break them.

use cullet::columns::{History, SleepEvent, SleepReason};
use cullet::math::{LaneWidth, Lanes};
use cullet::simulate::methods::explicit::cpu::Cpu;
use cullet::simulate::{Method, Snapshot, build, schedule};
use cullet::spec::{Body, Collider, ColliderShape, Pipeline, Region};
use cullet::store::Packing;
use glam::DVec3;

use crate::harness::{TestFolder, shot};
use crate::scenes;

/// Radius of all elements, m.
pub const R: f64 = 1e-3;

/// A run of a scene.
pub fn on<L: Lanes>(packing: &Packing, pipeline: &Pipeline, dt: f64) -> Cpu<L> {
    Cpu::new(build(packing, pipeline).unwrap(), pipeline, dt)
}

/// Bodies at these places, whose bonds break at `strength`, Pa; each moves at its velocity (m/s) and spins
/// (rad/s) about its middle.
pub fn scene(bodies: &[(Vec<DVec3>, DVec3, DVec3)], strength: f64) -> (Packing, Pipeline, f64) {
    let points: Vec<DVec3> = bodies.iter().flat_map(|body| body.0.clone()).collect();
    let mut material = scenes::elastic(1e7, 4e6, 2600.0);
    (
        material.friction,
        material.contact_damping,
        material.damping,
    ) = (0.5, 0.3, 0.1);
    let mut packing = scenes::packing(&points, R, &material, (strength, strength));
    let (mut v, mut w) = (Vec::new(), Vec::new());
    for (number, (points, velocity, spin)) in (0..).zip(bodies) {
        let middle = points.iter().sum::<DVec3>() / points.len() as f64;
        packing.elements.body[v.len()..v.len() + points.len()].fill(number);
        v.extend(points.iter().map(|p| *velocity + spin.cross(*p - middle)));
        w.extend(points.iter().map(|_| *spin));
    }
    scenes::set_motion(&mut packing.elements, &v, &w);
    let mut pipeline = scenes::pipeline(material);
    let body = |number: usize| Body {
        name: format!("body{number}"),
        ..crate::statics::body()
    };
    pipeline.bodies = (0..bodies.len()).map(body).collect();
    pipeline.simulate.sleep = true;
    let dt = 0.3 * schedule(&packing, &pipeline).unwrap().critical;
    (packing, pipeline, dt)
}

/// A block of rows of elements whose first one is at a place, m.
pub fn block(size: (usize, usize, usize), at: DVec3) -> Vec<DVec3> {
    let points = scenes::block(size.0, size.1, size.2, R);
    points.into_iter().map(|p| p + at).collect()
}

/// A block that runs into another one at `speed`, m/s, off its middle and spinning.
fn collision(speed: f64, strength: f64) -> (Packing, Pipeline, f64) {
    let ram = block((5, 4, 4), DVec3::new(-0.0125, 2.3e-3, 2.2e-3));
    let target = block((8, 6, 6), DVec3::ZERO);
    let still = DVec3::ZERO;
    scene(
        &[
            (target, still, still),
            (ram, DVec3::X * speed, DVec3::Y * 10.0 * speed),
        ],
        strength,
    )
}

fn momenta(h: &History) -> (DVec3, DVec3) {
    (
        DVec3::new(h.px[0], h.py[0], h.pz[0]),
        DVec3::new(h.lx[0], h.ly[0], h.lz[0]),
    )
}

/// What fell asleep, woke, was judged or came to rest: number of elements, what, and why.
pub fn sized_events(all: &[Snapshot]) -> Vec<(u32, SleepEvent, SleepReason)> {
    let rows = all.iter().flat_map(|frame| {
        let table = &frame.sleep;
        (0..table.what.len()).map(|at| (table.elements[at], table.what[at], table.reason[at]))
    });
    rows.collect()
}

/// The same without numbers of elements.
pub fn events(all: &[Snapshot]) -> Vec<(SleepEvent, SleepReason)> {
    let rows = sized_events(all).into_iter();
    rows.map(|(_, what, why)| (what, why)).collect()
}

#[test]
fn momentum_is_kept_when_blocks_fall_asleep_and_wake() {
    let (packing, pipeline, dt) = collision(3.0, 1.4e6);
    let mut run = on::<f64>(&packing, &pipeline, dt);
    let first = run.snapshot(0).unwrap();
    let (p, l) = momenta(&first.history);
    assert_eq!(first.history.awake, [0]);
    let mut all = vec![first];
    for frame in 1..=30 {
        run.advance(200).unwrap();
        let snapshot = run.snapshot(frame).unwrap();
        let (now, spin) = momenta(&snapshot.history);
        assert!(
            (now - p).length() < 1e-10 * p.length(),
            "{frame}: {now} {p}"
        );
        assert!(
            (spin - l).length() < 1e-10 * l.length(),
            "{frame}: {spin} {l}"
        );
        all.push(snapshot);
    }
    let found = events(&all);
    for event in [
        (SleepEvent::Asleep, SleepReason::Start),
        (SleepEvent::Awake, SleepReason::Stress),
        (SleepEvent::Asleep, SleepReason::Calm),
    ] {
        assert!(found.contains(&event), "{event:?} in {found:?}");
    }
    let last = all.last().unwrap();
    assert_eq!((last.history.awake[0], last.history.broken[0]), (0, 0));
    let lost = last.history.rigidified[0];
    let start = all[0].history.kinetic[0];
    assert!(lost > 0.0 && lost < 0.02 * start, "{lost} of {start}");
}

#[test]
fn a_vibration_that_may_not_be_lost_comes_back_when_a_block_wakes() {
    let (packing, mut pipeline, dt) = collision(3.0, 1.4e6);
    pipeline.simulate.sleep_limits.loss = 1e-12;
    pipeline.output.work = true;
    // The block that was hit flies on against a wall.
    let normal = [-1.0, 0.0, 0.0];
    pipeline.colliders = vec![Collider {
        shape: ColliderShape::HalfSpace { normal },
        position: [0.03, 0.0, 0.0],
        ..scenes::rising_floor(0.0, 0.0)
    }];
    let run = || on::<f64>(&packing, &pipeline, dt);
    let (mut whole, mut all) = (run(), Vec::new());
    for frame in 1..=60 {
        whole.advance(100).unwrap();
        all.push(whole.snapshot(frame).unwrap());
    }
    let last = &all[59].history;
    assert_eq!((last.awake[0], last.broken[0]), (0, 0));
    assert!(last.rigidified[0] < 1e-9 * last.kinetic[0]);
    // The step in which a block woke that held a vibration.
    let woken = all.iter().flat_map(|frame| {
        let table = &frame.sleep;
        (0..table.what.len())
            .filter(|&k| table.what[k] == SleepEvent::Awake && table.energy[k] < 0.0)
            .map(|k| (table.step[k], -table.energy[k]))
    });
    let (step, held) = woken.last().expect("the wall wakes a block");
    let mut again = run();
    again.advance(step - 1).unwrap();
    let mut next = || {
        again.advance(1).unwrap();
        again.snapshot(1).unwrap()
    };
    let (mut before, mut after) = (next(), next());
    for _ in 0..200 {
        if after.history.held < before.history.held {
            break;
        }
        before = std::mem::replace(&mut after, next());
    }
    let given: f64 = after.sleep.energy.iter().sum();
    let (before, after) = (before.history, after.history);
    let stored = |h: &History| {
        h.kinetic[0] + h.rotational[0] + h.bond[0] + h.contact[0] + h.damping[0] + h.friction[0]
    };
    assert!(
        held > 0.01 * before.kinetic[0],
        "{held} {}",
        before.kinetic[0]
    );
    let off = (stored(&after) - stored(&before)) / held;
    assert!((off - 1.0).abs() < 0.1, "{off}");
    let less = (before.held[0] - after.held[0]) / -given;
    assert!((less - 1.0).abs() < 1e-12, "{less}");
}

#[test]
fn blocks_that_meet_gently_bounce_asleep() {
    let (packing, pipeline, dt) = collision(0.05, 1.4e6);
    let mut run = on::<f64>(&packing, &pipeline, dt);
    let mut all = vec![run.snapshot(0).unwrap()];
    all.extend(scenes::frames(&mut run, 2000, 1..30));
    let (p, l) = momenta(&all[0].history);
    let (now, spin) = momenta(&all.last().unwrap().history);
    assert!((now - p).length() < 1e-10 * p.length(), "{now} {p}");
    assert!((spin - l).length() < 1e-10 * l.length(), "{spin} {l}");
    let energy = |at: usize| all[at].history.kinetic[0] + all[at].history.rotational[0];
    assert!(
        energy(29) < 0.99 * energy(0),
        "{} {}",
        energy(29),
        energy(0)
    );
    assert!(all.iter().all(|frame| frame.history.awake == [0]));
    let judged = (SleepEvent::Judged, SleepReason::Stress);
    assert!(events(&all).contains(&judged), "{:?}", events(&all));
}

#[test]
fn a_hard_impact_breaks_what_it_breaks_without_sleep() {
    let broken = |sleep: bool| {
        let (packing, mut pipeline, dt) = collision(3.0, 1.5e5);
        pipeline.simulate.sleep = sleep;
        let mut run = on::<f64>(&packing, &pipeline, dt);
        scenes::frames(&mut run, 2000, 0..3)
            .last()
            .unwrap()
            .history
            .broken[0]
    };
    let (awake, asleep) = (broken(false), broken(true));
    assert!(awake > 50, "{awake}");
    let off = f64::from(asleep.abs_diff(awake)) / f64::from(awake);
    assert!(off <= 0.15, "{asleep} {awake}");
}

#[test]
fn a_sleeping_block_gets_the_blow_of_an_elastic_one() {
    let energy = |sleep: bool| {
        let (packing, mut pipeline, dt) = collision(3.0, 4e5);
        pipeline.simulate.sleep = sleep;
        // Blocks that are dragged are stepped together, not apart.
        pipeline.simulate.drag = 1e-9;
        let mut run = on::<f64>(&packing, &pipeline, dt);
        let all = scenes::frames(&mut run, 50, 0..9);
        assert_eq!(
            sleep,
            events(&all).contains(&(SleepEvent::Awake, SleepReason::Impact))
        );
        all.last().unwrap().history.kinetic[0]
    };
    let (awake, asleep) = (energy(false), energy(true));
    // With the damping of contacts of whole rigid blocks half a step would take 0.7 % of it.
    assert!((asleep / awake - 1.0).abs() < 2e-3, "{asleep} {awake}");
}

/// Twelve frames of a scene, `steps` apart; asserts that they have the same bits on any number of threads and across a
/// resume.
pub fn frames_of_same_bits(
    (packing, pipeline, dt): &(Packing, Pipeline, f64),
    steps: u64,
) -> Vec<Snapshot> {
    let on_threads = |threads: usize, stop: u32| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let mut run = on::<f32>(packing, pipeline, *dt);
            let mut all = scenes::frames(&mut run, steps, 1..stop + 1);
            let state = run.state(stop).unwrap();
            let mut resumed = on::<f32>(packing, pipeline, *dt);
            resumed.restore(&state).unwrap();
            assert!(resumed.state(stop).unwrap() == state, "stopped at {stop}");
            all.extend(scenes::frames(&mut resumed, steps, stop + 1..13));
            all
        })
    };
    let whole = on_threads(1, 12);
    for (threads, stop) in [(2, 12), (3, 12), (1, 2), (3, 6), (1, 9)] {
        let same = on_threads(threads, stop) == whole;
        assert!(same, "{threads} threads, stopped at {stop}");
    }
    let sixteen = scenes::on_width(LaneWidth::Sixteen, (packing, pipeline, *dt), None);
    if let Some(mut run) = sixteen {
        assert!(scenes::frames(run.as_mut(), steps, 1..13) == whole);
    }
    whole
}

#[test]
fn sleep_has_the_same_bits_on_any_number_of_threads_and_across_a_resume() {
    let (packing, mut pipeline, dt) = collision(3.0, 1.5e5);
    pipeline.world.gravity = [0.0, -9.8, 0.0];
    pipeline.colliders = vec![scenes::rising_floor(-1.5 * R, 0.0)];
    // Vibration is lost, or held.
    for loss in [0.02, 1e-12] {
        pipeline.simulate.sleep_limits.loss = loss;
        let all = frames_of_same_bits(&(packing.clone(), pipeline.clone(), dt), 500);
        let found = events(&all);
        let slept = found.iter().filter(|event| event.0 == SleepEvent::Asleep);
        assert!(slept.count() > 5, "{found:?}");
        let held = all.iter().any(|frame| frame.history.held[0] > 0.0);
        assert_eq!(held, loss < 0.02);
    }
}

#[test]
fn fragments_that_leave_the_bounds_are_removed() {
    let (packing, mut pipeline, dt) = collision(8.0, 1.5e5);
    let (min, max) = ([-0.02, -0.001, -0.001], [0.018, 0.011, 0.011]);
    // Nothing that is bonded calms down after the impact.
    pipeline.simulate.sleep_limits.vibration = 1e-9;
    (pipeline.world.bounds, pipeline.world.remove) = (Some(Region { min, max }), true);
    let scene = (packing, pipeline, dt);
    let all = frames_of_same_bits(&scene, 500);
    let packing = &scene.0;
    let found = events(&all);
    let removed = (SleepEvent::Removed, SleepReason::Outside);
    let count = found.iter().filter(|event| **event == removed).count();
    assert!(count > 5, "{found:?}");
    let of_awake = (SleepEvent::Asleep, SleepReason::Outside);
    assert!(found.contains(&of_awake), "{found:?}");
    // What is removed stays where it stopped.
    let place =
        |frame: &Snapshot, i: usize| [frame.frames.x[i], frame.frames.y[i], frame.frames.z[i]];
    let mut stopped = vec![false; packing.elements.id.len()];
    for (before, now) in all.iter().zip(&all[1..]) {
        for (i, stopped) in stopped.iter_mut().enumerate() {
            let stays = place(before, i) == place(now, i);
            assert!(stays || !*stopped, "element {i} moves on");
            *stopped |= stays;
        }
    }
    let count = stopped.iter().filter(|stopped| **stopped).count();
    assert!(count > 20 && count < stopped.len(), "{count}");
    let moving = |event: &&(SleepEvent, SleepReason)| event.0 == SleepEvent::Moving;
    assert_eq!(found.iter().find(moving), None);
    let energies = all.iter().flat_map(|frame| {
        let all = frame.sleep.what.iter().zip(&frame.sleep.energy);
        all.filter(|(what, _)| **what != SleepEvent::Judged)
    });
    let lost: f64 = energies.map(|(_, energy)| energy).sum();
    let booked = all[11].history.rigidified[0];
    assert!((lost / booked - 1.0).abs() < 1e-9, "{lost} {booked}");
}

/// Two blocks slide on a floor, a third falls on one of them; a fourth, whose bonds cannot break, falls beside
/// them and stays awake.
fn sliding_blocks(with_awake: bool) -> (Packing, Pipeline, f64) {
    let v = DVec3::new(0.3, 0.0, 0.1);
    let mut blocks = vec![
        (block((5, 3, 5), DVec3::ZERO), v, DVec3::ZERO),
        (block((4, 4, 4), DVec3::new(0.03, 0.0, 0.0)), -v, DVec3::Y),
        (
            block((3, 4, 3), DVec3::new(1.3e-3, 9e-3, 0.0)),
            DVec3::ZERO,
            v,
        ),
    ];
    let asleep: usize = blocks.iter().map(|block| block.0.len()).sum();
    if with_awake {
        let apart = block((4, 3, 4), DVec3::new(0.0, 0.5e-3, 0.04));
        blocks.push((apart, DVec3::ZERO, DVec3::ZERO));
    }
    let (mut packing, mut pipeline, dt) = scene(&blocks, 1e7);
    let bonds = &mut packing.bonds;
    for at in 0..bonds.i.len() {
        if bonds.i[at] as usize >= asleep {
            (bonds.sigma_c[at], bonds.tau_c[at]) = (f64::INFINITY, f64::INFINITY);
        }
    }
    pipeline.world.gravity = [0.0, -9.8, 0.0];
    pipeline.colliders = vec![scenes::rising_floor(-1.001 * R, 0.0)];
    pipeline.output.work = true;
    (packing, pipeline, dt)
}

#[test]
fn loads_change_the_momentum_and_lost_energy_is_booked_while_blocks_sleep() {
    for with_awake in [false, true] {
        let (packing, pipeline, dt) = sliding_blocks(with_awake);
        let mass: f64 = packing.elements.mass.iter().sum();
        let mut run = on::<f64>(&packing, &pipeline, dt);
        let mut before = run.snapshot(0).unwrap();
        let total = |h: &History| {
            let moving = h.kinetic[0] + h.rotational[0] + h.gravity[0] + h.bond[0] + h.contact[0];
            moving + h.damping[0] + h.friction[0] + h.rigidified[0]
        };
        let (first, start) = (total(&before.history), before.history.kinetic[0]);
        for frame in 1..=40 {
            run.advance(500).unwrap();
            let now = run.snapshot(frame).unwrap();
            let asleep = packing.elements.mass.len() as u32 - now.history.awake[0];
            assert_eq!(
                (asleep, now.history.awake[0] > 0),
                (75 + 64 + 36, with_awake)
            );
            let time = 500.0 * dt;
            let loads = DVec3::new(now.loads.fx[0], now.loads.fy[0], now.loads.fz[0]);
            let gained = (mass * DVec3::NEG_Y * 9.8 - loads) * time;
            let change = momenta(&now.history).0 - momenta(&before.history).0;
            let off = (change - gained).length() / (mass * 9.8 * time);
            assert!(off < 1e-9, "{frame}: {change} {gained}");
            before = now;
        }
        let (friction, off) = (before.history.friction[0], total(&before.history) - first);
        assert!(friction > 0.3 * start, "{friction} of {start}");
        // Steps of a fifth of the critical one leave this error.
        assert!(off.abs() < 1e-2 * start, "{off} of {start}");
    }
}

#[test]
fn a_body_in_flight_follows_the_parabola() {
    let spin = DVec3::new(30.0, 200.0, -10.0);
    let v = DVec3::new(2.0, 5.0, -1.0);
    let (packing, mut pipeline, dt) = scene(&[(block((8, 5, 3), DVec3::ZERO), v, spin)], 1e9);
    pipeline.world.gravity = [0.0, -9.8, 0.0];
    let mut run = on::<f64>(&packing, &pipeline, dt);
    let first = run.snapshot(0).unwrap();
    let steps = (0.5 / dt) as u64;
    run.advance(steps).unwrap();
    let last = run.snapshot(1).unwrap();
    let time = steps as f64 * dt;
    let centre = |snapshot: &Snapshot| {
        let f = &snapshot.fragments;
        DVec3::new(f.x[0], f.y[0], f.z[0])
    };
    let fall = v * time + 0.5 * DVec3::NEG_Y * 9.8 * time * time;
    let off = centre(&last) - centre(&first) - fall;
    assert!(off.length() < 1e-9 * fall.length(), "{off}");
    let energy = |snapshot: &Snapshot| {
        let h = &snapshot.history;
        h.kinetic[0] + h.rotational[0] + h.gravity[0]
    };
    let off = energy(&last) / energy(&first) - 1.0;
    assert!(off.abs() < 1e-3, "{off}");
}

#[test]
fn energy_of_what_is_removed_at_the_start_is_kept_across_a_resume() {
    let (packing, mut pipeline, dt) = collision(3.0, 1.5e5);
    let (min, max) = ([0.005, -1.0, -1.0], [1.0, 1.0, 1.0]);
    (pipeline.world.bounds, pipeline.world.remove) = (Some(Region { min, max }), true);
    let mut run = on::<f32>(&packing, &pipeline, dt);
    let state = run.state(0).unwrap();
    let whole = scenes::frames(&mut run, 500, 1..3);
    let mut resumed = on::<f32>(&packing, &pipeline, dt);
    resumed.restore(&state).unwrap();
    assert!(scenes::frames(&mut resumed, 500, 1..3) == whole);
    let removed = (SleepEvent::Removed, SleepReason::Outside);
    assert!(events(&whole).contains(&removed));
    let last = &whole[1].history;
    assert!(last.rigidified[0] > 0.0 && last.broken[0] == 0);
}

#[test]
fn removal_is_refused_without_bounds_or_sleep() {
    let folder = TestFolder::new();
    for (name, needs) in [
        ("tension", "world.bounds"),
        ("bunny_drop", "simulate.sleep"),
    ] {
        let set = "world.remove=true";
        let message = folder.refuse(&["check", &shot(name), "--set", set]);
        assert!(
            message.contains("world.remove") && message.contains(needs),
            "{message}"
        );
    }
}

#[test]
fn sleep_is_refused_where_nothing_can_sleep() {
    let folder = TestFolder::new();
    for (name, set) in [
        ("bunny_drop", "simulate.integrator=midpoint"),
        ("voronoi_bunny", "scale=smoke"),
    ] {
        let message = folder.refuse(&[
            "check",
            &shot(name),
            "--set",
            "simulate.sleep=true",
            "--set",
            set,
        ]);
        assert!(message.contains("simulate.sleep"), "{message}");
    }
}
