//! Clamps that rotate and that follow key frames.

use cullet::columns::Loads;
use cullet::math::{LaneWidth, Lanes, Scalar};
use cullet::simulate::bonded::system::{System, motion};
use cullet::simulate::methods::explicit::cpu::Cpu;
use cullet::simulate::methods::explicit::device::Gpu;
use cullet::simulate::{Method, Snapshot, build, schedule};
use cullet::spec::{Action, Attachment, Key, Pipeline, Region, Rotation, parse};
use cullet::store::Packing;
use glam::{DQuat, DVec3};
use std::f64::consts::{FRAC_PI_2, TAU};

use crate::loads::{force, place, torque};
use crate::{device, scenes};

const R: f64 = 1e-3;
const E: f64 = 1e7;
/// Elements of the bar along x, y and z.
const ROWS: [usize; 3] = [20, 4, 4];

fn spinning(spin: DVec3, velocity: DVec3, pivot: Option<DVec3>) -> Action {
    Action::Clamp {
        velocity: velocity.to_array(),
        spin: spin.to_array(),
        pivot: pivot.map(|p| p.to_array()),
        keys: vec![],
    }
}

fn key(time: f64, position: DVec3, axis: DVec3, angle: f64) -> Key {
    Key {
        time,
        position: position.to_array(),
        rotation: Rotation {
            axis: axis.to_array(),
            angle,
        },
    }
}

fn keyed(keys: Vec<Key>) -> Action {
    Action::Clamp {
        velocity: [0.0; 3],
        spin: [0.0; 3],
        pivot: None,
        keys,
    }
}

/// A bar along x with an attachment at each end, and the time step.
struct Bar {
    points: Vec<DVec3>,
    packing: Packing,
    pipeline: Pipeline,
    dt: f64,
}

impl Bar {
    fn new(strength: f64, damping: f64, first: Action, last: Action) -> Self {
        let mut material = scenes::elastic(E, 0.4 * E, 2600.0);
        (material.damping, material.friction) = (damping, 0.4);
        let points = scenes::block(ROWS[0], ROWS[1], ROWS[2], R);
        let packing = scenes::packing(&points, R, &material, (strength, strength));
        let mut pipeline = scenes::pipeline(material);
        pipeline.bodies = vec![crate::statics::body()];
        let length = points.iter().map(|p| p.x).fold(0.0, f64::max);
        let ends = [(-1.0, 2.1 * R, first), (length - 2.1 * R, 1.0, last)];
        pipeline.attachments = ends.map(|(from, to, action)| end(from, to, action)).into();
        let dt = 0.4 * schedule(&packing, &pipeline).unwrap().critical;
        Bar {
            points,
            packing,
            pipeline,
            dt,
        }
    }

    fn on<L: Lanes>(&self) -> Cpu<L> {
        let built = build(&self.packing, &self.pipeline).unwrap();
        Cpu::new(built, &self.pipeline, self.dt)
    }

    /// Indices of the elements of an attachment.
    fn clamped(&self, attachment: usize) -> Vec<usize> {
        let region = &self.pipeline.attachments[attachment].region;
        let within = |i: &usize| (region.min[0]..=region.max[0]).contains(&self.points[*i].x);
        (0..self.points.len()).filter(within).collect()
    }

    /// Mean rest position of the elements of an attachment.
    fn middle(&self, attachment: usize) -> DVec3 {
        let clamped = self.clamped(attachment);
        clamped.iter().map(|&i| self.points[i]).sum::<DVec3>() / clamped.len() as f64
    }
}

fn end(from: f64, to: f64, action: Action) -> Attachment {
    Attachment {
        name: format!("from {from}"),
        body: "beam".into(),
        region: Region {
            min: [from, -1.0, -1.0],
            max: [to, 1.0, 1.0],
        },
        action,
    }
}

/// A bar of which all elements are in one clamp.
fn whole(action: Action) -> Bar {
    let mut bar = Bar::new(
        f64::INFINITY,
        0.0,
        scenes::clamp([0.0; 3]),
        scenes::clamp([0.0; 3]),
    );
    bar.pipeline.attachments = vec![end(-1.0, 1.0, action)];
    bar
}

/// Rotation of an element, including the part that its quaternion does not yet contain.
fn rotation<S: Scalar>(system: &System<S>, i: usize) -> DQuat {
    let left = [0, 1, 2].map(|k| system.tail[i].0[k].to_f64());
    DQuat::from_scaled_axis(left.into()) * system.rotation(i)
}

/// Largest distance of the elements from their positions after a rotation about a pivot and a shift, and
/// largest angle from that rotation.
fn deviation<S: Scalar>(
    system: &System<S>,
    bar: &Bar,
    clamped: &[usize],
    (pivot, turn, shift): (DVec3, DQuat, DVec3),
) -> (f64, f64) {
    let each = clamped.iter().map(|&i| {
        let expected = pivot + shift + turn * (bar.points[i] - pivot);
        let left = rotation(system, i) * turn.inverse();
        (
            system.position(i).distance(expected),
            2.0 * left.xyz().length(),
        )
    });
    each.fold((0.0, 0.0), |a, b| (a.0.max(b.0), a.1.max(b.1)))
}

const STEPS: u64 = 12_000;

/// The bar twisted by a quarter turn within [`STEPS`] steps, by spin or by keys: its end is where it must be,
/// and the loads on both clamps are equal and opposite.
fn twisted<L: Lanes>(by_keys: bool, tolerance: f64) -> Vec<Loads> {
    let still = scenes::clamp([0.0; 3]);
    let mut bar = Bar::new(f64::INFINITY, 0.1, still.clone(), still);
    let end = STEPS as f64 * bar.dt;
    bar.pipeline.attachments[1].action = match by_keys {
        true => keyed(vec![
            key(0.0, DVec3::ZERO, DVec3::X, 0.0),
            key(end, DVec3::ZERO, DVec3::X, FRAC_PI_2),
        ]),
        false => spinning(DVec3::X * FRAC_PI_2 / end, DVec3::ZERO, None),
    };
    let mut run = bar.on::<L>();
    let mut all = Vec::new();
    for frame in 1..=10 {
        run.advance(STEPS / 10).unwrap();
        all.push(run.snapshot(frame).unwrap().loads);
    }
    let turn = DQuat::from_rotation_x(FRAC_PI_2);
    let pose = (bar.middle(1), turn, DVec3::ZERO);
    let found = deviation(run.system(), &bar, &bar.clamped(1), pose);
    println!("a quarter turn, keys {by_keys}: off by {found:?}");
    assert!(found.0 < tolerance && found.1 < 1e-6, "{found:?}");
    let last = &all[9];
    assert!((last.angle[1] - FRAC_PI_2).abs() < 1e-9 && last.angle[0] == 0.0);
    let [a, b] = [0, 1].map(|row| torque(last, row));
    println!(
        "torques {a} and {b}, forces {} and {}",
        force(last, 0),
        force(last, 1)
    );
    assert!(a.x > 1e-3, "the fixed end is twisted along: {a}");
    assert!((a.x + b.x).abs() < 0.02 * a.x, "{a} {b}");
    let balance = a + b + (place(last, 1) - place(last, 0)).cross(force(last, 1));
    assert!(balance.length() < 0.02 * a.length(), "{balance}");
    all
}

#[test]
fn a_bar_twisted_by_spin_and_by_keys_bears_the_same_at_both_ends() {
    let by_spin = twisted::<f64>(false, 1e-9);
    let by_keys = twisted::<f64>(true, 1e-9);
    for (a, b) in by_spin.iter().zip(&by_keys) {
        let off = (torque(a, 1) - torque(b, 1)).length();
        assert!(off < 1e-3 * torque(a, 1).length(), "{off:.1e}");
    }
    twisted::<f32>(false, 1e-8);
    twisted::<f32>(true, 1e-8);
}

#[test]
fn the_work_of_a_turning_clamp_is_in_the_energy_of_its_bar() {
    let still = scenes::clamp([0.0; 3]);
    let mut bar = Bar::new(f64::INFINITY, 0.0, still.clone(), still);
    // By a few degrees: the energy stored in a bond equals its work for small rotations only.
    let spin = DVec3::X * 0.05 / (4000.0 * bar.dt);
    bar.pipeline.attachments[1].action = spinning(spin, DVec3::ZERO, None);
    let mut run = bar.on::<f64>();
    let energy = |h: &cullet::columns::History| h.kinetic[0] + h.rotational[0] + h.bond[0];
    let mut before = run.snapshot(0).unwrap().history;
    let start = energy(&before);
    let mut work = 0.0;
    for frame in 1..=20 {
        run.advance(200).unwrap();
        let Snapshot { history, loads, .. } = run.snapshot(frame).unwrap();
        // The load on the clamp is what the elements exert on it.
        work -= torque(&loads, 1).dot(spin) * (history.time[0] - before.time[0]);
        before = history;
    }
    let gained = energy(&before) - start;
    println!("work {work:.6e} J, energy {gained:.6e} J");
    assert!(work > 0.0 && (gained / work - 1.0).abs() < 0.02);
}

/// Bits of the positions and rotations of elements.
fn bits<S: Scalar>(system: &System<S>, clamped: &[usize]) -> Vec<[u64; 10]> {
    let columns = [0, 1, 2].map(|k| motion::P + k).into_iter();
    let columns = columns.chain(motion::LOW).chain(motion::Q..motion::Q + 4);
    let columns: Vec<usize> = columns.collect();
    clamped
        .iter()
        .map(|&i| std::array::from_fn(|k| system.motion[i].0[columns[k]].to_f64().to_bits()))
        .collect()
}

/// Moves and rotates the clamp and returns it within a hundred steps.
fn there_and_back(dt: f64) -> Action {
    keyed(vec![
        key(10.5 * dt, DVec3::ZERO, DVec3::X, 0.0),
        key(
            40.2 * dt,
            DVec3::new(1e-4, -3e-4, 2e-4),
            DVec3::new(1.0, 2.0, -0.5),
            0.02,
        ),
        key(80.0 * dt, DVec3::ZERO, DVec3::Z, 0.0),
    ])
}

/// A method whose system the test can read.
trait InspectableMethod: Method {
    type Scalar: Scalar;
    /// System as of the last snapshot.
    fn current_system(&self) -> &System<Self::Scalar>;
}

impl<L: Lanes> InspectableMethod for Cpu<L> {
    type Scalar = L::Scalar;
    fn current_system(&self) -> &System<L::Scalar> {
        self.system()
    }
}

impl InspectableMethod for Gpu {
    type Scalar = f32;
    fn current_system(&self) -> &System<f32> {
        self.system()
    }
}

fn goes_there_and_back<T: InspectableMethod>(make: impl Fn(&Bar) -> T) {
    let still = scenes::clamp([0.0; 3]);
    let mut bar = Bar::new(f64::INFINITY, 0.0, still.clone(), still);
    bar.pipeline.attachments[1].action = there_and_back(bar.dt);
    let mut run = make(&bar);
    let clamped = bar.clamped(1);
    run.snapshot(0).unwrap();
    let before = bits(run.current_system(), &clamped);
    run.advance(40).unwrap();
    run.snapshot(1).unwrap();
    assert!(bits(run.current_system(), &clamped) != before);
    run.advance(60).unwrap();
    run.snapshot(2).unwrap();
    assert!(bits(run.current_system(), &clamped) == before);
    for &i in &clamped {
        assert_eq!(run.current_system().velocity(i), DVec3::ZERO);
        assert_eq!(run.current_system().spin(i), DVec3::ZERO);
    }
}

#[test]
fn a_clamp_that_goes_there_and_back_ends_where_it_began() {
    goes_there_and_back(Bar::on::<f64>);
    goes_there_and_back(Bar::on::<f32>);
}

/// Several turns about a distant pivot that moves as well.
fn turns_as_a_whole<T: InspectableMethod>(make: impl Fn(&Bar) -> T, steps: u64, tolerance: f64) {
    let mut bar = whole(scenes::clamp([0.0; 3]));
    let pivot = DVec3::new(0.01, -0.3, 0.2);
    let time = steps as f64 * bar.dt;
    let spin = DVec3::new(1.0, -0.5, 2.0).normalize() * (3.2 * TAU / time);
    let velocity = DVec3::new(0.4, 0.2, -0.1) / time;
    bar.pipeline.attachments[0].action = spinning(spin, velocity, Some(pivot));
    let all: Vec<usize> = (0..bar.points.len()).collect();
    let mut run = make(&bar);
    for part in 1..=4 {
        run.advance(steps / 4).unwrap();
        let frames = run.snapshot(part).unwrap().frames;
        let now = time * f64::from(part) / 4.0;
        let turn = DQuat::from_scaled_axis(spin * now);
        let found = deviation(
            run.current_system(),
            &bar,
            &all,
            (pivot, turn, velocity * now),
        );
        let strain = frames.sigma.iter().copied().fold(0.0, f32::max) / E as f32;
        let turns = 0.8 * f64::from(part);
        println!("{turns:.1} turns: off by {found:?}, strain {strain:.1e}");
        assert!(found.0 < tolerance && found.1 < 1e-9, "{found:?}");
        assert!(strain < 1e-6, "{strain:.1e}");
        for &i in &all {
            let arm = run.current_system().position(i) - pivot - velocity * now;
            let off = run.current_system().velocity(i) - velocity - spin.cross(arm);
            assert!(off.length() < 1e-6 * spin.length(), "{off}");
        }
    }
}

#[test]
fn a_bar_held_as_a_whole_turns_several_times_without_strain() {
    turns_as_a_whole(Bar::on::<f64>, 20_000, 1e-12);
    turns_as_a_whole(Bar::on::<f32>, 20_000, 1e-12);
}

#[test]
fn a_device_has_turning_clamps_where_they_are() {
    let Some(request) = device::request() else {
        return;
    };
    let make = |bar: &Bar| device::engine(&bar.packing, &bar.pipeline, bar.dt, &request);
    goes_there_and_back(make);
    turns_as_a_whole(make, 2000, 1e-12);
    // Close to the CPU until a bond breaks, and bit-identical after a resume.
    let mut bar = torn();
    for strength in [&mut bar.packing.bonds.sigma_c, &mut bar.packing.bonds.tau_c] {
        strength.fill(f64::INFINITY);
    }
    let (mut cpu, mut gpu) = (bar.on::<f32>(), make(&bar));
    let (on_cpu, on_gpu) = (frames(&mut cpu, 1..4), frames(&mut gpu, 1..4));
    let (mut apart, mut size) = ([0.0f64; 2], [0.0f64; 2]);
    for (a, b) in on_cpu.iter().zip(&on_gpu) {
        for row in 0..2 {
            for (k, of) in [force, torque].into_iter().enumerate() {
                let (a, b) = (of(&a.loads, row), of(&b.loads, row));
                apart[k] = apart[k].max((a - b).length());
                size[k] = size[k].max(a.length());
            }
            assert_eq!(a.loads.angle, b.loads.angle);
        }
    }
    println!("loads {apart:?} apart of {size:?}");
    assert!(apart[0] < 1e-4 * size[0] && apart[1] < 1e-4 * size[1]);
    let farthest = (0..bar.points.len())
        .map(|i| cpu.system().position(i).distance(gpu.system().position(i)))
        .fold(0.0, f64::max);
    println!("elements {farthest:.1e} m apart");
    assert!(farthest < 1e-8, "{farthest:.1e}");
    let state = gpu.state(3).unwrap();
    let mut again = make(&bar);
    again.restore(&state).unwrap();
    assert!(frames(&mut again, 4..6) == frames(&mut gpu, 4..6));
}

#[test]
fn a_turning_clamp_bears_what_its_elements_weigh_about_where_they_are() {
    let mut bar = whole(scenes::clamp([0.0; 3]));
    let steps = 40;
    let spin = DVec3::new(0.3, -1.0, 0.4) * (1.5 / (steps as f64 * bar.dt));
    bar.pipeline.attachments[0].action = spinning(spin, DVec3::Y, None);
    let push = DVec3::new(0.2, 0.1, -0.3);
    let action = Action::force(push.to_array());
    bar.pipeline.attachments.push(end(-1.0, 9.0 * R, action));
    bar.pipeline.world.gravity = [1.0, -9.81, 0.0];
    for (k, mass) in bar.packing.elements.mass.iter_mut().enumerate() {
        *mass *= 1.0 + k as f64 / 100.0;
    }
    let mass = &bar.packing.elements.mass;
    let pushed = bar.clamped(1);
    let gravity = DVec3::from_array(bar.pipeline.world.gravity);
    let on = |i: usize| match pushed.contains(&i) {
        true => gravity * mass[i] + push / pushed.len() as f64,
        false => gravity * mass[i],
    };
    let mut run = bar.on::<f64>();
    run.snapshot(0).unwrap();
    let mut expected = DVec3::ZERO;
    let all = bar.clamped(0);
    for step in 0..=steps {
        let system = run.system();
        let middle = all.iter().map(|&i| system.position(i)).sum::<DVec3>() / all.len() as f64;
        let about = |&i: &usize| (system.position(i) - middle).cross(on(i));
        let weight = if step % steps == 0 { 0.5 } else { 1.0 };
        expected += all.iter().map(about).sum::<DVec3>() * (weight / steps as f64);
        if step < steps {
            run.advance(1).unwrap();
        }
    }
    let loads = run.snapshot(1).unwrap().loads;
    let sum: DVec3 = all.iter().map(|&i| on(i)).sum();
    assert!((force(&loads, 0) - sum).length() < 1e-9 * sum.length());
    let off = (torque(&loads, 0) - expected).length() / expected.length();
    println!("torque {expected}, off by {off:.1e}");
    assert!(off < 1e-6, "{off:.1e}");
}

/// A bar that is twisted and pulled until it breaks, with friction at the cracks.
fn torn() -> Bar {
    let still = scenes::clamp([0.0; 3]);
    let mut bar = Bar::new(2e5, 0.05, still.clone(), still);
    let time = 600.0 * bar.dt;
    bar.pipeline.attachments[0].action =
        spinning(DVec3::X * -0.4 / time, DVec3::NEG_X * 1e-3 / time, None);
    bar.pipeline.attachments[1].action = keyed(vec![
        key(0.1 * time, DVec3::ZERO, DVec3::X, 0.0),
        key(
            0.6 * time,
            DVec3::new(5e-4, 1e-4, 0.0),
            DVec3::new(1.0, 0.1, 0.0),
            0.3,
        ),
        key(
            time,
            DVec3::new(-5e-4, 0.0, 1e-4),
            DVec3::new(1.0, 0.0, 0.2),
            0.8,
        ),
    ]);
    bar.pipeline.world.gravity = [0.0, -9.81, 0.0];
    bar
}

fn frames(run: &mut dyn Method, range: std::ops::Range<u32>) -> Vec<Snapshot> {
    range
        .map(|frame| {
            run.advance(100).unwrap();
            run.snapshot(frame).unwrap()
        })
        .collect()
}

#[test]
fn a_torn_bar_has_the_same_bits_on_any_number_of_threads_and_across_a_resume() {
    let bar = torn();
    let on_threads = |threads: usize, stop: u32| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let mut run = bar.on::<f32>();
            let mut all = frames(&mut run, 1..stop + 1);
            let state = run.state(stop).unwrap();
            let mut resumed = bar.on::<f32>();
            resumed.restore(&state).unwrap();
            assert!(resumed.state(stop).unwrap() == state);
            all.extend(frames(&mut resumed, stop + 1..7));
            all
        })
    };
    let uninterrupted = on_threads(1, 6);
    let broken = uninterrupted[5].history.broken[0];
    assert!(broken > 20, "it breaks: {broken}");
    for (threads, stop) in [(2, 6), (3, 3), (1, 2)] {
        assert!(
            on_threads(threads, stop) == uninterrupted,
            "{threads} threads, stopped at {stop}"
        );
    }
    let sixteen = scenes::on_width(
        LaneWidth::Sixteen,
        (&bar.packing, &bar.pipeline, bar.dt),
        None,
    );
    if let Some(mut run) = sixteen {
        assert!(frames(run.as_mut(), 1..7) == uninterrupted);
    }
}

/// A pipeline whose only attachment has this action.
fn shot(action: &str) -> String {
    format!(
        "[time]\nend = 1\nframes_per_second = 1\n[[material]]\nname = \"m\"\ndensity = 1000\nyoung = 1e6\n\
         [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = {{ type = \"block\", rows = [3, 3, 3] }}\n\
         packing = {{ type = \"hexagonal\", radius = 1e-3 }}\n\
         [[attach]]\nname = \"grip\"\nbody = \"b\"\nregion = {{ min = [-1, -1, -1], max = [1, 1, 1] }}\n\
         action = {{ type = \"clamp\", {action} }}\n"
    )
}

#[test]
fn clamp_motions_are_read_with_units_and_refused_if_given_twice() {
    let read = |action: &str| parse(&shot(action), "shot.toml", &[]).map_err(|e| e.to_string());
    let turned = "keys = [{ time = \"1 ms\", position = [0, 0, 0] }, \
                  { time = \"3 ms\", position = [0, \"1 mm\", 0], rotation = { axis = [1, 0, 0], angle = \"90 deg\" } }]";
    let pipeline = read(turned).unwrap();
    let pose = pipeline.attachments[0].action.drive().unwrap().pose(2e-3);
    assert!(pose.position.distance(DVec3::Y * 5e-4) < 1e-15);
    assert!(pose.spin.distance(DVec3::X * FRAC_PI_2 / 2e-3) < 1e-9);
    for (more, key) in [
        ("velocity = [0, 0, \"1 mm/s\"]", "velocity"),
        ("spin = [\"10 rpm\", 0, 0]", "spin"),
    ] {
        let message = read(&format!("{more}, {turned}")).unwrap_err();
        let wanted = format!("attach.grip.action.{key}: `keys` replace `{key}`; give one of them");
        assert!(message.contains(&wanted), "{message}");
    }
    let message = read(&turned.replace("3 ms", "1 ms")).unwrap_err();
    let wanted = "attach.grip.action.keys.1.time: 0.001 s is not later than the key before, at 0.001 s; times must ascend";
    assert!(message.contains(wanted), "{message}");
    let override_ = ["attach.grip.action.spin=[0, 0, \"1 rad/s\"]".to_owned()];
    let set = parse(&shot("pivot = [0, \"1 cm\", 0]"), "shot.toml", &override_).unwrap();
    assert_eq!(
        set.attachments[0].action,
        spinning(DVec3::Z, DVec3::ZERO, Some(DVec3::Y * 1e-2))
    );
}
