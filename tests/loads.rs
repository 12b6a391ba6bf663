//! Loads on colliders and attachments.

use cullet::columns::{LoadKind, Loads};
use cullet::math::{LaneWidth, Lanes};
use cullet::simulate::methods::explicit::cpu::Cpu;
use cullet::simulate::scene::pressure;
use cullet::simulate::{Method, Snapshot, build, method, schedule};
use cullet::spec::{Action, Attachment, Backend, Body, ColliderShape, Pipeline, Region};
use cullet::store::Packing;
use glam::DVec3;

use crate::energy::{noise3, unit_step};
use crate::{device, scenes};

const R: f64 = 1e-3;

fn vector(columns: [&[f64]; 3], row: usize) -> DVec3 {
    DVec3::from_array(columns.map(|column| column[row]))
}

pub fn force(loads: &Loads, row: usize) -> DVec3 {
    vector([&loads.fx, &loads.fy, &loads.fz], row)
}

pub fn torque(loads: &Loads, row: usize) -> DVec3 {
    vector([&loads.tx, &loads.ty, &loads.tz], row)
}

pub fn place(loads: &Loads, row: usize) -> DVec3 {
    vector([&loads.x, &loads.y, &loads.z], row)
}

/// Adds an attachment to the elements between two planes across x of the body called `body`.
fn attach(pipeline: &mut Pipeline, name: &str, (from, to): (f64, f64), action: Action) {
    if pipeline.bodies.is_empty() {
        pipeline.bodies.push(crate::statics::body());
    }
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

#[test]
fn a_block_at_rest_weighs_on_its_floor_what_it_weighs() {
    let mut material = scenes::elastic(1e7, 4e6, 2600.0);
    material.contact_damping = 0.2;
    let points = scenes::block(8, 6, 5, R);
    let packing = scenes::packing(&points, R, &material, (f64::INFINITY, f64::INFINITY));
    let mut pipeline = scenes::pipeline(material);
    let low = points.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
    pipeline.world.gravity = [0.0, -9.81, 0.0];
    pipeline.colliders = vec![scenes::rising_floor(low - R, 0.0)];
    // Its slowest oscillation is that of its contacts: a few thousand radians a second.
    pipeline.simulate.drag = 2000.0;
    let weight = 9.81 * packing.elements.mass.iter().sum::<f64>();
    let dt = 0.6 * schedule(&packing, &pipeline).unwrap().critical;
    let mut run = method(&packing, &pipeline, Backend::Cpu, dt).unwrap();
    let first = run.snapshot(0).unwrap().loads;
    assert_eq!(force(&first, 0), DVec3::ZERO);
    run.advance((0.02 / dt) as u64).unwrap();
    run.snapshot(1).unwrap();
    run.advance(300).unwrap();
    let loads = run.snapshot(2).unwrap().loads;
    let found = force(&loads, 0);
    assert_eq!(loads.kind, [LoadKind::Collider]);
    assert_eq!(loads.name, ["floor"]);
    let lowest = points.iter().filter(|p| p.y < low + 1e-9).count();
    assert_eq!(loads.contacts, [lowest as u32]);
    let off = (found - DVec3::NEG_Y * weight).length() / weight;
    assert!(off < 1e-3, "{found} for a weight of {weight}: {off:.1e}");
    // Relative to the floor's position, the force acts under the middle of the block.
    let middle = points.iter().sum::<DVec3>() / points.len() as f64;
    let expected = (middle - place(&loads, 0)).cross(DVec3::NEG_Y * weight);
    let off = (torque(&loads, 0) - expected).length() / (weight * 0.01);
    assert!(off < 1e-3, "{off:.1e}");
}

#[test]
fn a_clamp_bears_what_pulls_and_bends_its_beam_and_the_weight() {
    let mut material = scenes::elastic(1e7, 4e6, 2600.0);
    material.damping = 0.0;
    let points = scenes::block(30, 6, 6, R);
    let packing = scenes::packing(&points, R, &material, (f64::INFINITY, f64::INFINITY));
    let mut pipeline = scenes::pipeline(material);
    let length = points.iter().map(|p| p.x).fold(0.0, f64::max);
    let pull = DVec3::new(0.8, 0.0, 0.1);
    let (clamp, action) = (scenes::clamp([0.0; 3]), pull.to_array());
    attach(&mut pipeline, "wall", (-1.0, 2.1 * R), clamp);
    let action = Action::force(action);
    attach(&mut pipeline, "end", (length - 2.1 * R, 1.0), action);
    let gauge = Action::Gauge {};
    attach(&mut pipeline, "tip", (length - 2.1 * R, 1.0), gauge);
    pipeline.world.gravity = [0.0, -1.0, 0.0];
    let height = 6.0 * 2.0 * 6f64.sqrt() / 3.0 * R;
    let omega = 3.0 * (1.5e7_f64 / 12.0 / 2000.0).sqrt() * height / length.powi(2);
    pipeline.simulate.drag = 2.0 * omega;
    let dt = 0.6 * schedule(&packing, &pipeline).unwrap().critical;
    let mut run = method(&packing, &pipeline, Backend::Cpu, dt).unwrap();
    run.advance((12.0 / (omega * dt)) as u64).unwrap();
    run.snapshot(0).unwrap();
    run.advance(200).unwrap();
    let Snapshot { loads, frames, .. } = run.snapshot(1).unwrap();
    assert_eq!(loads.name, ["wall", "end", "tip"]);
    assert_eq!(
        loads.kind,
        [LoadKind::Clamp, LoadKind::Force, LoadKind::Gauge]
    );
    // A gauge reports the displacement of its elements and bears no load.
    assert_eq!(force(&loads, 2), DVec3::ZERO);
    assert_eq!(
        [loads.dx[2], loads.dy[2], loads.dz[2]],
        [loads.dx[1], loads.dy[1], loads.dz[1]]
    );
    let weights: Vec<DVec3> = packing
        .elements
        .mass
        .iter()
        .map(|m| DVec3::NEG_Y * *m)
        .collect();
    let expected = pull + weights.iter().sum::<DVec3>();
    let (found, given) = (force(&loads, 0), force(&loads, 1));
    assert_eq!(given, -pull);
    let off = (found - expected).length() / expected.length();
    assert!(off < 1e-3, "{found} for {expected}: {off:.1e}");
    // The force acts at the current position of the end, some tenths of a millimetre away.
    let about = place(&loads, 0);
    let bent = vector([&loads.dx, &loads.dy, &loads.dz], 1);
    assert!(bent.length() > 2e-4, "{bent}");
    let now = |i: usize| DVec3::new(frames.x[i].into(), frames.y[i].into(), frames.z[i].into());
    let moments = weights
        .iter()
        .enumerate()
        .map(|(i, w)| (now(i) - about).cross(*w));
    let expected = (place(&loads, 1) - about).cross(pull) + moments.sum::<DVec3>();
    let off = (torque(&loads, 0) - expected).length() / expected.length();
    assert!(
        off < 1e-3,
        "{} for {expected}: {off:.1e}",
        torque(&loads, 0)
    );
}

/// Two blocks that collide with each other and with a floor, break and rub, one of them clamped at its far
/// end. The supports are: floor, box, clamp, force.
fn crash(gravity: f64, floor: f64) -> (Packing, Pipeline, f64) {
    let mut material = scenes::elastic(1e7, 4e6, 2600.0);
    (
        material.friction,
        material.damping,
        material.contact_damping,
    ) = (0.4, 0.05, 0.2);
    let mut points = scenes::block(12, 7, 6, R);
    let shift = DVec3::new(0.0253, 0.0012, 0.0004);
    points.extend(scenes::block(12, 7, 6, R).iter().map(|p| *p + shift));
    let n = points.len();
    let mut packing = scenes::packing(&points, R, &material, (6e5, 6e5));
    let v: Vec<DVec3> = (0..n)
        .map(|i| if i < n / 2 { DVec3::X * 4.0 } else { DVec3::X * -3.0 } + noise3(i) * 0.2)
        .collect();
    scenes::set_motion(&mut packing.elements, &v, &vec![DVec3::Z * 20.0; n]);
    let dt = 0.2 * unit_step(&material);
    let mut pipeline = scenes::pipeline(material);
    pipeline.world.gravity = [0.3 * gravity, -gravity, 0.0];
    let low = points.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
    let mut lid = scenes::rising_floor(0.0, 0.0);
    (lid.name, lid.shape) = (
        "lid".into(),
        ColliderShape::Box {
            size: [0.02, 0.004, 0.02],
        },
    );
    lid.position = [0.01, low + 0.0159, 0.005];
    lid.velocity = [0.0, -floor, 0.0];
    pipeline.colliders = vec![scenes::rising_floor(low - R, floor), lid];
    let last = points.iter().map(|p| p.x).fold(0.0, f64::max);
    let still = scenes::clamp([0.0; 3]);
    attach(&mut pipeline, "wall", (last - 2.5 * R, 1.0), still);
    let push = Action::force([0.2, 0.0, 0.1]);
    attach(&mut pipeline, "push", (-1.0, 3.0 * R), push);
    (packing, pipeline, dt)
}

fn on<L: Lanes>(packing: &Packing, pipeline: &Pipeline, dt: f64) -> Box<dyn Method> {
    Box::new(Cpu::<L>::new(
        build(packing, pipeline).unwrap(),
        pipeline,
        dt,
    ))
}

/// Largest difference between the momentum and angular momentum that loads and gravity give in each frame and
/// the change in the history, relative to the sum of what is given; it must be below `part`.
fn check_newton(mut run: Box<dyn Method>, gravity: f64, packing: &Packing, part: f64) {
    let mut before = run.snapshot(0).unwrap().history;
    let (mut given, mut worst) = ([0.0; 2], [0.0; 2]);
    for frame in 1..=20 {
        run.advance(60).unwrap();
        let Snapshot {
            history: h, loads, ..
        } = run.snapshot(frame).unwrap();
        let held = loads.contacts[2] as f64;
        let count = packing.elements.id.len() as f64;
        let mass = packing.elements.mass[0];
        let time = h.time[0] - before.time[0];
        let field = DVec3::new(0.3 * gravity, -gravity, 0.0);
        let rows = || 0..loads.name.len();
        // Clamped elements have no momentum of their own, but their weight loads their clamp.
        let sum: DVec3 = rows().map(|row| force(&loads, row)).sum();
        let force_on_all = field * (mass * (count - held)) - (sum - field * (mass * held));
        let p = |h: &cullet::columns::History| DVec3::new(h.px[0], h.py[0], h.pz[0]);
        let l = |h: &cullet::columns::History| DVec3::new(h.lx[0], h.ly[0], h.lz[0]);
        let off = p(&h) - p(&before) - force_on_all * time;
        let sizes = rows().map(|row| force(&loads, row).length()).sum::<f64>();
        given[0] += sizes * time;
        worst[0] = off.length().max(worst[0]);
        if gravity == 0.0 {
            // The moment of a fixed support refers to its fixed position; the push follows its elements,
            // whose rotation it leaves alone.
            let about =
                |row: usize| torque(&loads, row) + place(&loads, row).cross(force(&loads, row));
            let off = l(&h) - l(&before) + (0..3).map(about).sum::<DVec3>() * time;
            given[1] += (0..3).map(|row| about(row).length()).sum::<f64>() * time;
            worst[1] = off.length().max(worst[1]);
        }
        before = h;
    }
    assert!(before.broken[0] > 50, "it breaks: {}", before.broken[0]);
    println!("momentum {worst:?} of {given:?} is not accounted for");
    assert!(worst[0] < part * given[0], "{:.1e}", worst[0] / given[0]);
    if gravity == 0.0 {
        assert!(worst[1] < part * given[1], "{:.1e}", worst[1] / given[1]);
    }
}

#[test]
fn loads_are_what_changes_the_momentum() {
    let (packing, pipeline, dt) = crash(900.0, 2.0);
    check_newton(on::<f64>(&packing, &pipeline, dt), 900.0, &packing, 1e-9);
    check_newton(on::<f32>(&packing, &pipeline, dt), 900.0, &packing, 1e-5);
    // With no gravity, no moving floor and no push, the angular momentum is checked too.
    let (packing, mut pipeline, dt) = crash(0.0, 0.0);
    pipeline.attachments.pop();
    check_newton(on::<f64>(&packing, &pipeline, dt), 0.0, &packing, 1e-9);
}

#[test]
fn loads_on_a_device_are_what_changes_the_momentum() {
    let Some(request) = device::request() else {
        return;
    };
    let (packing, pipeline, dt) = crash(900.0, 2.0);
    let gpu = device::engine(&packing, &pipeline, dt, &request);
    check_newton(Box::new(gpu), 900.0, &packing, 1e-5);
}

#[test]
fn loads_have_the_same_bits_on_any_number_of_threads_and_across_a_resume() {
    let (packing, pipeline, dt) = crash(900.0, 2.0);
    let on_threads = |threads: usize, stop: u32| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let mut run = on::<f32>(&packing, &pipeline, dt);
            let mut all = scenes::frames(run.as_mut(), 60, 1..stop + 1);
            let state = run.state(stop).unwrap();
            let mut resumed = on::<f32>(&packing, &pipeline, dt);
            resumed.restore(&state).unwrap();
            assert!(resumed.state(stop).unwrap() == state);
            all.extend(scenes::frames(resumed.as_mut(), 60, stop + 1..7));
            all
        })
    };
    let whole = on_threads(1, 6);
    let bearing = |loads: &Loads| (0..4).all(|row| force(loads, row).length() > 1e-3);
    assert!(bearing(&whole[5].loads), "{:?}", whole[5].loads);
    for (threads, stop) in [(2, 6), (3, 6), (1, 3), (3, 1)] {
        assert!(
            on_threads(threads, stop) == whole,
            "{threads} threads, stopped at {stop}"
        );
    }
    let sixteen = scenes::on_width(LaneWidth::Sixteen, (&packing, &pipeline, dt), None);
    if let Some(mut run) = sixteen {
        assert!(scenes::frames(run.as_mut(), 60, 1..7) == whole);
    }
}

/// Largest difference of forces and torques, relative to the largest one, before cracks make small
/// differences large.
fn largest_relative_difference(a: &[Snapshot], b: &[Snapshot]) -> f64 {
    let (mut off, mut size) = ([0.0f64; 2], [0.0f64; 2]);
    for (a, b) in a.iter().zip(b) {
        assert_eq!(a.loads.contacts[2..], b.loads.contacts[2..]);
        for row in 0..a.loads.name.len() {
            for (k, of) in [force, torque].into_iter().enumerate() {
                let (a, b) = (of(&a.loads, row), of(&b.loads, row));
                off[k] = off[k].max((a - b).length());
                size[k] = size[k].max(a.length());
            }
        }
    }
    (off[0] / size[0]).max(off[1] / size[1])
}

#[test]
fn loads_agree_in_single_and_double_precision_and_on_a_device() {
    let (mut packing, pipeline, dt) = crash(900.0, 2.0);
    for strength in [&mut packing.bonds.sigma_c, &mut packing.bonds.tau_c] {
        strength.fill(f64::INFINITY);
    }
    let reference = scenes::frames(on::<f64>(&packing, &pipeline, dt).as_mut(), 60, 1..6);
    let single = scenes::frames(on::<f32>(&packing, &pipeline, dt).as_mut(), 60, 1..6);
    let off = largest_relative_difference(&reference, &single);
    println!("single precision: {off:.1e}");
    assert!(off < 1e-4, "{off:.1e}");
    let Some(request) = device::request() else {
        return;
    };
    let mut gpu = device::engine(&packing, &pipeline, dt, &request);
    let there = scenes::frames(&mut gpu, 60, 1..6);
    let off = largest_relative_difference(&reference, &there);
    println!("device: {off:.1e}");
    assert!(off < 1e-4, "{off:.1e}");
    for (a, b) in single.iter().zip(&there) {
        assert_eq!(a.loads.contacts, b.loads.contacts);
    }
    // A frame in two advances has the same means, except for their rounding.
    let mut halves = device::engine(&packing, &pipeline, dt, &request);
    halves.advance(25).unwrap();
    halves.advance(35).unwrap();
    let half = [halves.snapshot(1).unwrap()];
    assert!(half[0].frames == there[0].frames);
    let off = largest_relative_difference(&there[..1], &half);
    assert!(off < 1e-12, "{off:.1e}");
    let mut halves = on::<f32>(&packing, &pipeline, dt);
    halves.advance(25).unwrap();
    halves.advance(35).unwrap();
    let off = largest_relative_difference(&single[..1], &[halves.snapshot(1).unwrap()]);
    assert!(off < 1e-12, "{off:.1e}");
    // A state saved by one backend can be resumed on the other.
    let state = gpu.state(5).unwrap();
    let mut on_cpu = on::<f32>(&packing, &pipeline, dt);
    on_cpu.restore(&state).unwrap();
    let mut again = device::engine(&packing, &pipeline, dt, &request);
    again.restore(&state).unwrap();
    let on = scenes::frames(&mut gpu, 60, 6..8);
    let off = largest_relative_difference(&scenes::frames(on_cpu.as_mut(), 60, 6..8), &on);
    assert!(off < 1e-4, "{off:.1e}");
    assert!(scenes::frames(&mut again, 60, 6..8) == on);
}

#[test]
fn a_clamp_without_own_elements_bears_no_load() {
    let material = scenes::elastic(1e7, 4e6, 2600.0);
    let points = scenes::block(10, 3, 3, R);
    let packing = scenes::packing(&points, R, &material, (f64::INFINITY, f64::INFINITY));
    let mut pipeline = scenes::pipeline(material);
    pipeline.world.gravity = [0.0, -10.0, 0.0];
    let slow = |speed: f64| scenes::clamp([speed, 0.0, 0.0]);
    // The second clamp takes over half of the first one's elements, the third all of the second one's.
    attach(&mut pipeline, "first", (-1.0, 3.5 * R), slow(0.0));
    attach(&mut pipeline, "second", (1.5 * R, 5.5 * R), slow(0.1));
    attach(&mut pipeline, "third", (1.5 * R, 1.0), slow(0.2));
    let mut run = on::<f64>(&packing, &pipeline, 1e-6);
    run.advance(100).unwrap();
    let loads = run.snapshot(1).unwrap().loads;
    assert_eq!(force(&loads, 1), DVec3::ZERO);
    let [first, third] = [0, 2].map(|row| force(&loads, row));
    assert!(
        first.x > 0.0 && (first.x + third.x).abs() < 1e-9 * first.x,
        "{first} {third}"
    );
    let weight = 10.0 * packing.elements.mass.iter().sum::<f64>();
    assert!((first.y + third.y + weight).abs() < 1e-9 * weight);
    assert!((loads.dx[2] - 0.2 * 1e-4).abs() < 1e-12 && loads.dx[0] == 0.0);
}

#[test]
fn another_rigid_body_changes_no_pressure() {
    let material = scenes::elastic(1e7, 4e6, 2600.0);
    let cube = scenes::block(9, 9, 9, R);
    let second_cube = cube.iter().map(|p| *p + DVec3::new(0.1, 0.0, 0.0));
    let points: Vec<DVec3> = cube.iter().copied().chain(second_cube).collect();
    let mut packing = scenes::packing(&points, R, &material, (f64::INFINITY, f64::INFINITY));
    packing.elements.body[cube.len()..].fill(1);
    let mut pipeline = scenes::pipeline(material);
    let forces = [false, true].map(|rigid| {
        pipeline.bodies = ["cube", "beside"]
            .map(|name| Body {
                name: name.into(),
                rigid: rigid && name == "beside",
                ..crate::statics::body()
            })
            .to_vec();
        let built = build::<f32>(&packing, &pipeline).unwrap();
        pressure::forces(&built.system, &[0, 4, 40], &built.rest.volume, 1e4)
    });
    assert!(!forces[0].is_empty());
    assert_eq!(forces[0], forces[1]);
}

#[test]
fn pressure_presses_a_cube_evenly() {
    let pressure = 1e4;
    let material = scenes::elastic(1e7, 4e6, 2600.0);
    let points = scenes::block(22, 25, 9, R);
    let packing = scenes::packing(&points, R, &material, (f64::INFINITY, f64::INFINITY));
    let mut pipeline = scenes::pipeline(material);
    let bounds = |axis: usize| {
        let along = points.iter().map(|p| p[axis]);
        let (low, high) = (
            along.clone().fold(f64::INFINITY, f64::min),
            along.fold(-1.0, f64::max),
        );
        (low, high)
    };
    let press = Action::Pressure { pressure };
    attach(&mut pipeline, "all", (-1.0, 1.0), press.clone());
    // The layer of the close-packed face, without the share of the sides, whose forces act across.
    attach(&mut pipeline, "face", (-1.0, 1.0), press);
    pipeline.attachments[1].region.min[2] = bounds(2).1 - 0.1 * R;
    let mut run = method(&packing, &pipeline, Backend::Cpu, 1e-7).unwrap();
    let loads = run.snapshot(0).unwrap().loads;
    assert_eq!(loads.kind, [LoadKind::Pressure; 2]);
    // Elements along x and rows of the face, with an area of 2 r by √3 r each; where layers overhang at the
    // sides a little is missing.
    let area = 22.0 * 25.0 * 2.0 * 3f64.sqrt() * R * R;
    let face = force(&loads, 1);
    assert!(
        (face.z / (pressure * area) - 1.0).abs() < 0.05,
        "{face} {}",
        pressure * area
    );
    let net = force(&loads, 0).length();
    assert!(net < 0.01 * pressure * area, "{net}");
    // Both attachments press on the face: the cube flies in the opposite direction.
    run.advance(10).unwrap();
    let frames = run.snapshot(1).unwrap().frames;
    let mean = |column: &[f32]| column.iter().map(|v| f64::from(*v)).sum::<f64>() / 1e-6;
    let mass: f64 = packing.elements.mass.iter().sum();
    let expected = -(face + force(&loads, 0)).z * points.len() as f64 / mass;
    let found = mean(&frames.vz);
    assert!((found / expected - 1.0).abs() < 0.02, "{found} {expected}");
    let refused = method(&packing, &pipeline, Backend::Gpu, 1e-7)
        .err()
        .unwrap();
    assert!(refused.to_string().contains("pressure"), "{refused}");
    let middle = [0, 1, 2].map(|axis| 0.5 * (bounds(axis).0 + bounds(axis).1));
    pipeline.attachments[1].region = Region {
        min: middle.map(|v| v - 2.0 * R),
        max: middle.map(|v| v + 2.0 * R),
    };
    let refused = method(&packing, &pipeline, Backend::Cpu, 1e-7)
        .err()
        .unwrap();
    assert!(refused.to_string().contains("surface"), "{refused}");
}
