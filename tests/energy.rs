//! Conservation, energy drift and small motions in the simulator.

use cullet::math::{LaneWidth, Lanes, Scalar};
use cullet::simulate::bonded::system::System;
use cullet::simulate::methods::explicit::cpu::Cpu;
use cullet::simulate::run_state::{sections, state::State};
use cullet::simulate::{Method, Snapshot, build};
use cullet::spec::{Backend, Material, Pipeline};
use cullet::store::Packing;
use glam::{DQuat, DVec3};

use crate::{device, scenes};

/// Pseudo-random number between −1 and 1, the same on all machines.
fn noise(k: usize) -> f64 {
    let mut z = (k as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

pub fn noise3(k: usize) -> DVec3 {
    DVec3::new(noise(3 * k), noise(3 * k + 1), noise(3 * k + 2))
}

/// An element and its twelve neighbours, at rest.
fn cluster_of_thirteen(r: f64) -> Vec<DVec3> {
    let all = scenes::block(5, 5, 3, r);
    let centre = all[25 + 12];
    all.into_iter()
        .filter(|p| p.distance(centre) < 2.01 * r)
        .collect()
}

const R: f64 = 1e-3;

/// 2/√(16 k/m) with k = (π/2) E r: the unit of time steps in the papers.
pub fn unit_step(material: &Material) -> f64 {
    let mass = 4.0 / 3.0 * std::f64::consts::PI * R.powi(3) * material.density;
    2.0 / (16.0 * std::f64::consts::FRAC_PI_2 * material.young * R / mass).sqrt()
}

fn engine<L: Lanes>(packing: &Packing, pipeline: &Pipeline, dt: f64) -> Cpu<L> {
    let built = build(packing, pipeline).unwrap();
    Cpu::new(built, pipeline, dt)
}

/// Makes an engine for a scene; `None` where there is no device.
type MakeMethod<'a> = &'a dyn Fn(&Packing, &Pipeline, f64) -> Option<Box<dyn Method>>;

fn on_cpu<L: Lanes>(packing: &Packing, pipeline: &Pipeline, dt: f64) -> Option<Box<dyn Method>> {
    Some(Box::new(engine::<L>(packing, pipeline, dt)))
}

/// Single precision in the widest lanes; the result has the same bits as with one lane.
fn on_lanes(packing: &Packing, pipeline: &Pipeline, dt: f64) -> Option<Box<dyn Method>> {
    Some(cullet::simulate::method(packing, pipeline, Backend::Cpu, dt).unwrap())
}

fn on_device(packing: &Packing, pipeline: &Pipeline, dt: f64) -> Option<Box<dyn Method>> {
    let request = device::request()?;
    Some(Box::new(device::engine(packing, pipeline, dt, &request)))
}

/// Checks that momentum and angular momentum change by less than `part` while two blocks collide and break.
fn check_momentum(make: MakeMethod, part: f64) {
    let mut material = scenes::elastic(1e7, 4e6, 2600.0);
    material.friction = 0.4;
    material.damping = 0.05;
    material.contact_damping = 0.2;
    // Two blocks collide off centre, break and rub.
    let mut points = scenes::block(4, 4, 3, R);
    let shift = DVec3::new(0.0113, 0.0012, 0.0004);
    points.extend(scenes::block(4, 4, 3, R).iter().map(|p| *p + shift));
    let n = points.len();
    let mut packing = scenes::packing(&points, R, &material, (4e5, 4e5));
    let v: Vec<DVec3> = (0..n)
        .map(|i| DVec3::X * if i < n / 2 { 6.0 } else { -5.0 } + DVec3::Y * 0.5)
        .collect();
    scenes::set_motion(&mut packing.elements, &v, &vec![DVec3::Z * 20.0; n]);
    let pipeline = scenes::pipeline(material.clone());
    let Some(mut engine) = make(&packing, &pipeline, 0.2 * unit_step(&material)) else {
        return;
    };
    let before = engine.snapshot(0).unwrap().history;
    engine.advance(3000).unwrap();
    let after = engine.snapshot(1).unwrap().history;
    assert!(after.broken[0] > 20, "it breaks: {}", after.broken[0]);
    assert!(after.kinetic[0] < 0.9 * before.kinetic[0], "it collides");
    let mass: f64 = packing.elements.mass.iter().sum();
    // Relative to the sum of the magnitudes of the elements' momenta, not to the total momentum.
    let scale = mass * 6.0;
    let pairs = [
        (&before.px, &after.px, scale),
        (&before.py, &after.py, scale),
        (&before.pz, &after.pz, scale),
        (&before.lx, &after.lx, scale * 0.01),
        (&before.ly, &after.ly, scale * 0.01),
        (&before.lz, &after.lz, scale * 0.01),
    ];
    for (k, (a, b, scale)) in pairs.into_iter().enumerate() {
        let change = (a[0] - b[0]).abs() / scale;
        assert!(change < part, "component {k} changed by {change:.1e}");
    }
}

#[test]
fn momentum_of_a_breaking_colliding_cluster_is_conserved() {
    check_momentum(&on_cpu::<f64>, 1e-10);
}

#[test]
fn momentum_is_conserved_on_a_device() {
    // Each element's velocity is rounded 6000 times.
    check_momentum(&on_device, 1e-5);
}

/// Number of clusters whose energies are summed where the energy of each one wanders.
const CLUSTERS: u32 = 24;

/// Largest deviation of the total energy, and the slope of a line fitted to it over the run, both relative.
fn energy_drift(make: MakeMethod, clusters: u32, fraction: f64, steps: u64) -> Option<(f64, f64)> {
    let material = scenes::elastic(1e7, 4e6, 2600.0);
    // The clusters are far apart. In single precision, rounding makes the energy of each wander by some
    // tenths of a per cent, either way.
    let points: Vec<DVec3> = (0..clusters)
        .flat_map(|k| {
            let place = DVec3::X * (20.0 * R * f64::from(k));
            cluster_of_thirteen(R).into_iter().map(move |p| p + place)
        })
        .collect();
    let mut packing = scenes::packing(&points, R, &material, (f64::INFINITY, f64::INFINITY));
    let n = packing.elements.id.len();
    // Strains are below 1e-3: speeds are well under a thousandth of the wave speed.
    let v: Vec<DVec3> = (0..n).map(|k| noise3(k) * 0.02).collect();
    let w: Vec<DVec3> = (0..n).map(|k| noise3(k + 100) * 10.0).collect();
    scenes::set_motion(&mut packing.elements, &v, &w);
    let pipeline = scenes::pipeline(material.clone());
    let mut engine = make(&packing, &pipeline, fraction * unit_step(&material))?;
    let samples = 400;
    let energies: Vec<f64> = (0..samples)
        .map(|frame| {
            engine.advance(steps / samples).unwrap();
            let h = engine.snapshot(frame as u32).unwrap().history;
            h.kinetic[0] + h.rotational[0] + h.bond[0]
        })
        .collect();
    let mean = energies.iter().sum::<f64>() / samples as f64;
    let departure = energies
        .iter()
        .map(|e| (e / mean - 1.0).abs())
        .fold(0.0, f64::max);
    let half = samples as f64 / 2.0;
    let (mut top, mut bottom) = (0.0, 0.0);
    for (k, e) in energies.iter().enumerate() {
        let t = (k as f64 - half) / half;
        top += t * (e / mean - 1.0);
        bottom += t * t;
    }
    Some((departure, 2.0 * top / bottom))
}

fn check_energy(make: MakeMethod, clusters: u32) {
    let Some((departure, trend)) = energy_drift(make, clusters, 0.2, 100_000) else {
        return;
    };
    println!("0.2: departure {departure:.2e}, trend {trend:.2e}");
    assert!(departure < 0.01, "departure {departure:.2e}");
    assert!(trend.abs() < 0.002, "trend {trend:.2e}");
    let (departure, trend) =
        energy_drift(make, clusters, 0.05, 100_000).expect("there was one before");
    println!("0.05: departure {departure:.2e}, trend {trend:.2e}");
    assert!(departure < 0.001, "departure {departure:.2e}");
    assert!(trend.abs() < 0.0005, "trend {trend:.2e}");
}

#[test]
fn energy_stays_over_a_hundred_thousand_steps_in_double_precision() {
    check_energy(&on_cpu::<f64>, 1);
}

#[test]
fn energy_stays_over_a_hundred_thousand_steps_in_single_precision() {
    check_energy(&on_lanes, CLUSTERS);
}

#[test]
fn energy_stays_over_a_hundred_thousand_steps_on_a_device() {
    check_energy(&on_device, CLUSTERS);
}

/// Moves a body by 1 m and rotates it as a whole.
fn move_rigidly<S: Scalar>(system: &mut System<S>, points: &[DVec3]) {
    let turn = DQuat::from_scaled_axis(DVec3::new(0.7, -1.1, 0.4));
    let away = DVec3::new(0.6, -0.7, 0.4).normalize();
    for (i, p) in points.iter().enumerate() {
        system.set_position(i, turn * *p + away);
        for (k, value) in turn.to_array().into_iter().enumerate() {
            system.motion[i].0[4 + k] = Scalar::from_f64(value);
        }
    }
}

/// Largest strain in a frame.
fn largest_strain(engine: &mut dyn Method, material: &Material) -> f64 {
    let frames = engine.snapshot(0).unwrap().frames;
    let stresses = frames.sigma.iter().chain(&frames.tau);
    f64::from(stresses.fold(0.0f32, |a, b| a.max(*b))) / material.young
}

#[test]
fn a_carried_and_turned_body_shows_no_strain() {
    let material = scenes::elastic(1e7, 4e6, 2600.0);
    let points = scenes::block(6, 5, 4, R);
    let packing = scenes::packing(&points, R, &material, (f64::INFINITY, f64::INFINITY));
    let pipeline = scenes::pipeline(material.clone());
    fn on<L: Lanes>(packing: &Packing, pipeline: &Pipeline, points: &[DVec3]) -> Cpu<L> {
        let mut engine = engine::<L>(packing, pipeline, 1e-6);
        move_rigidly(engine.system_mut(), points);
        engine.refresh();
        engine
    }
    let single = largest_strain(&mut on::<f32>(&packing, &pipeline, &points), &material);
    assert!(single < 1e-6, "{single:.1e}");
    assert!(largest_strain(&mut on::<f64>(&packing, &pipeline, &points), &material) < 1e-12);
    let Some(request) = device::request() else {
        return;
    };
    let mut engine = device::engine(&packing, &pipeline, 1e-6, &request);
    move_rigidly(engine.system_mut(), &points);
    engine.refresh().unwrap();
    let there = largest_strain(&mut engine, &material);
    println!("carried: {single:.1e} on the CPU, {there:.1e} on a device");
    assert!(there < 1e-6, "{there:.1e}");
}

/// The same motion by time steps: an undamped flight of 1 m.
fn check_flown(make: MakeMethod) {
    let material = scenes::elastic(1e7, 4e6, 2600.0);
    let points = scenes::block(5, 4, 3, R);
    let mut packing = scenes::packing(&points, R, &material, (f64::INFINITY, f64::INFINITY));
    let n = points.len();
    // 1 m in 50,000 steps.
    scenes::set_motion(
        &mut packing.elements,
        &vec![DVec3::new(12.0, -12.0, 10.0); n],
        &vec![DVec3::ZERO; n],
    );
    let pipeline = scenes::pipeline(material.clone());
    let Some(mut engine) = make(&packing, &pipeline, 1e-6) else {
        return;
    };
    engine.advance(50_000).unwrap();
    let frames = engine.snapshot(0).unwrap().frames;
    assert!((frames.x[0] - points[0].x as f32 - 0.6).abs() < 1e-4);
    let strain = largest_strain(engine.as_mut(), &material);
    println!("flown: {strain:.1e}");
    // Velocities of 20 m/s are rounded to 1e-6 m/s a kick; over 1e5 kicks that heats the undamped body by
    // 1e-4 m/s, a strain of 2e-6 at its wave speed of 62 m/s. Displacements stored in one word would show
    // 1e-4.
    assert!(strain < 1e-5, "{strain:.1e}");
}

#[test]
fn a_flown_body_shows_no_strain() {
    check_flown(&on_cpu::<f32>);
}

#[test]
fn a_body_flown_on_a_device_shows_no_strain() {
    check_flown(&on_device);
}

const SPIN: DVec3 = DVec3::new(0.006, 0.0, 0.008);

/// A small block that spins slowly about its centre: packing, pipeline, initial positions of its elements.
fn slow_spin() -> (Packing, Pipeline, Vec<DVec3>) {
    let material = scenes::elastic(1e7, 4e6, 2600.0);
    let points = scenes::block(3, 3, 2, R);
    let mut packing = scenes::packing(&points, R, &material, (f64::INFINITY, f64::INFINITY));
    let centre = points.iter().sum::<DVec3>() / points.len() as f64;
    let v: Vec<DVec3> = points.iter().map(|p| SPIN.cross(*p - centre)).collect();
    scenes::set_motion(&mut packing.elements, &v, &vec![SPIN; points.len()]);
    (packing, scenes::pipeline(material), points)
}

/// Checks the state after 0.1 s.
fn check_slow_spin<S: Scalar>(system: &System<S>, points: &[DVec3]) {
    let expected = SPIN * 0.1;
    let count = points.len();
    let centre = points.iter().sum::<DVec3>() / count as f64;
    let turned = (0..count)
        .map(|i| system.rotation(i).to_scaled_axis())
        .sum::<DVec3>()
        / count as f64;
    assert!(
        (turned - expected).length() < 1e-3 * expected.length(),
        "elements turned by {turned}, expected {expected}"
    );
    // Rigid motion of the body: the displacements of its elements, as one rotation.
    let (mut moment, mut size) = (DVec3::ZERO, 0.0);
    for (i, p) in points.iter().enumerate() {
        let arm = *p - centre;
        moment += arm.cross(system.position(i) - *p);
        size += arm.length_squared() - arm.dot(expected.normalize()).powi(2);
    }
    let turned = moment.dot(expected.normalize()) / size;
    let part = turned / expected.length();
    assert!(
        (part - 1.0).abs() < 1e-3,
        "the body turned {part} of the angle"
    );
}

#[test]
fn a_slow_spin_is_not_lost_to_rounding() {
    let (packing, pipeline, points) = slow_spin();
    let mut engine = engine::<f32>(&packing, &pipeline, 1e-6);
    engine.advance(100_000).unwrap();
    check_slow_spin(engine.system(), &points);
}

#[test]
fn a_slow_spin_is_not_lost_to_rounding_on_a_device() {
    let Some(request) = device::request() else {
        return;
    };
    let (packing, pipeline, points) = slow_spin();
    let mut engine = device::engine(&packing, &pipeline, 1e-6, &request);
    engine.advance(100_000).unwrap();
    engine.snapshot(0).unwrap();
    check_slow_spin(engine.system(), &points);
}

/// Frame and state after `steps` steps, which must not depend on the number of lanes.
fn run(
    width: LaneWidth,
    shot: (&Packing, &Pipeline, f64),
    steps: u64,
) -> Option<(Snapshot, State)> {
    // The size of chunks differs with the number of lanes: that must not change a bit either.
    let chunk = match width {
        LaneWidth::One => 80,
        LaneWidth::Four => 320,
        LaneWidth::Eight => 640,
        LaneWidth::Sixteen => 1280,
    };
    let mut engine = scenes::on_width(width, shot, Some(chunk))?;
    engine.advance(steps).unwrap();
    Some((engine.snapshot(1).unwrap(), engine.state(1).unwrap()))
}

/// Whether runs with several lanes equal the run with one lane.
pub fn check_lanes(
    packing: &Packing,
    pipeline: &Pipeline,
    dt: f64,
    steps: u64,
) -> (Snapshot, State) {
    let run = |width| run(width, (packing, pipeline, dt), steps);
    let one = run(LaneWidth::One).unwrap();
    for width in LaneWidth::ALL {
        if let Some(other) = run(width) {
            assert!(one == other, "{width:?} lanes differ");
        }
    }
    one
}

#[test]
fn any_number_of_lanes_gives_the_same_bits() {
    let mut material = scenes::elastic(1e7, 4e6, 2600.0);
    (material.friction, material.damping) = (0.4, 0.05);
    let points = scenes::block(7, 5, 4, R);
    let mut packing = scenes::packing(&points, R, &material, (1e5, 1e5));
    let n = points.len();
    let v: Vec<DVec3> = (0..n).map(|k| noise3(k) * 1.5).collect();
    let w: Vec<DVec3> = (0..n).map(|k| noise3(k + 500) * 200.0).collect();
    scenes::set_motion(&mut packing.elements, &v, &w);
    let pipeline = scenes::pipeline(material.clone());
    let one = check_lanes(&packing, &pipeline, 0.2 * unit_step(&material), 1500);
    assert!(one.0.history.broken[0] > 10, "{:?}", one.0.history.broken);
}

/// Loose balls of two sizes and two materials, pressed together and moving at random in a box with a rising
/// floor: more than one chunk of them.
pub fn stirred() -> (Packing, Pipeline, f64) {
    let mut material = scenes::elastic(1e7, 4e6, 2600.0);
    (material.friction, material.contact_damping) = (0.4, 0.1);
    let mut other = material.clone();
    (other.name, other.young, other.friction) = ("other".into(), 4e6, 0.2);
    let points: Vec<DVec3> = scenes::block(13, 11, 10, R)
        .iter()
        .map(|p| *p * 0.96)
        .collect();
    let n = points.len();
    let mut packing = scenes::packing(&points, R, &material, (1e5, 1e5));
    packing.bonds = Default::default();
    for k in 0..n {
        packing.elements.material[k] = u32::from(noise(k + 9000) > 0.5);
        if noise(k + 8000) > 0.3 {
            packing.elements.r[k] *= 0.97;
        }
    }
    let v: Vec<DVec3> = (0..n).map(|k| noise3(k) * 1.5).collect();
    let w: Vec<DVec3> = (0..n).map(|k| noise3(k + 5000) * 200.0).collect();
    scenes::set_motion(&mut packing.elements, &v, &w);
    let dt = 0.2 * unit_step(&material);
    let mut pipeline = scenes::pipeline(material);
    pipeline.materials.push(other);
    pipeline.colliders = vec![scenes::rising_floor(-R, 0.5)];
    // The other walls touch the outermost balls; there is a gap below the lid.
    for (axis, sign) in [(0, 1.0), (0, -1.0), (1, -1.0), (2, 1.0), (2, -1.0)] {
        let outermost = points
            .iter()
            .map(|p| -sign * p[axis])
            .fold(f64::NEG_INFINITY, f64::max);
        let room = if axis == 1 { 5.0 * R } else { R };
        let mut wall = scenes::rising_floor(0.0, 0.0);
        let mut normal = [0.0; 3];
        (normal[axis], wall.position[axis]) = (sign, -sign * (outermost + room));
        wall.shape = cullet::spec::ColliderShape::HalfSpace { normal };
        pipeline.colliders.push(wall);
    }
    (packing, pipeline, dt)
}

#[test]
fn any_number_of_lanes_gives_contacts_the_same_bits() {
    let (packing, pipeline, dt) = stirred();
    let n = packing.elements.id.len() as u32;
    let (soon, _) = check_lanes(&packing, &pipeline, dt, 20);
    let pressed = soon.history.contacts[0];
    assert!(pressed > 3 * n, "{pressed} pairs of {n}");
    let (late, state) = check_lanes(&packing, &pipeline, dt, 900);
    let loosened = late.history.contacts[0];
    assert!(
        loosened > n && loosened < pressed,
        "{loosened} pairs of {n}"
    );
    // Most contacts remember friction.
    let springs = sections::springs::<f32>(&state).unwrap().len() as u32;
    assert!(springs > loosened, "{springs} springs");
}

/// A resumed run rebuilds its neighbour lists at the start, the original one when elements have moved far
/// enough: that changes no result. The number of threads does not either, each of which takes chunks in no
/// fixed order.
#[test]
fn neighbour_lists_and_threads_change_no_bit() {
    check_lists(stirred());
}

/// Whether a run of 700 steps has the same bits on any number of threads and wherever it is resumed.
pub fn check_lists((packing, pipeline, dt): (Packing, Pipeline, f64)) {
    let threads = |count| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(count)
            .build()
            .unwrap()
    };
    let run = |steps| run(LaneWidth::One, (&packing, &pipeline, dt), steps).unwrap();
    let whole = threads(3).install(|| run(700));
    for stop in [1, 60, 433] {
        let state = threads(2).install(|| run(stop).1);
        let resumed = threads(1).install(|| {
            let mut engine = engine::<f32>(&packing, &pipeline, dt);
            engine.restore(&state).unwrap();
            engine.advance(700 - stop).unwrap();
            let mut snapshot = engine.snapshot(1).unwrap();
            // Loads are means since the previous frame, which was at another step; the comparison of loads
            // ends at frames.
            snapshot.loads.clone_from(&whole.0.loads);
            (snapshot, engine.state(1).unwrap())
        });
        assert!(whole == resumed, "stopped after {stop} steps");
    }
}
