//! The simulation on a graphics processor: against the CPU, under lowered limits, and when something goes wrong.

use cullet::gpu::{DeviceRequest, adapters};
use cullet::simulate::methods::explicit::device::Gpu;
use cullet::simulate::{Method, SimulateError, build};
use cullet::spec::Pipeline;
use cullet::store::{Packing, Store};
use glam::DVec3;

use crate::energy::{noise3, unit_step};
use crate::harness::{TestFolder, files, shot};
use crate::scenes;

/// The first adapter, a software one if there is no other; `None` where the machine has no driver and the
/// environment does not require one.
pub fn request() -> Option<DeviceRequest> {
    let named = adapters().into_iter().next().map(|adapter| adapter.name);
    if named.is_none() {
        let insisted = std::env::var_os("CULLET_GPU_REQUIRED").is_some();
        assert!(
            !insisted,
            "no graphics adapter, and CULLET_GPU_REQUIRED is set"
        );
        println!("skipped: no graphics adapter");
    }
    named.map(|name| DeviceRequest {
        adapter: Some(name),
        ..DeviceRequest::default()
    })
}

pub fn engine(packing: &Packing, pipeline: &Pipeline, dt: f64, request: &DeviceRequest) -> Gpu {
    let built = build(packing, pipeline).unwrap();
    Gpu::new(built, pipeline, dt, request).unwrap()
}

/// Settings of a run on the adapter under test.
fn on_device(request: &DeviceRequest) -> [String; 4] {
    let name = request.adapter.clone().unwrap();
    // The first word of the name is enough, and needs no quotes.
    let name = name.split_whitespace().next().unwrap().to_owned();
    [
        "--set".into(),
        "simulate.backend=gpu".into(),
        "--set".into(),
        format!("simulate.gpu.adapter={name}"),
    ]
}

fn run(place: &TestFolder, name: &str, out: &str, more: &[&str]) -> Store {
    let shot = shot(name);
    let mut arguments = vec!["run", &shot, "--out", out, "--to", "simulate"];
    arguments.extend(["--set", "scale=smoke"]);
    arguments.extend(more);
    place.succeed(&arguments);
    Store::open(place.path(out)).unwrap()
}

/// A shot on both backends: equal until a bond breaks, and similar fragments at the end.
fn compare_backends(
    name: &str,
    (frames_per_second, fraction): (&str, f64),
    moved: &dyn Fn(u32) -> String,
) {
    let Some(request) = request() else { return };
    let place = TestFolder::new();
    let rate = format!("time.frames_per_second={frames_per_second}");
    let device = on_device(&request);
    let step = format!("time.fraction={fraction}");
    let mut more = vec!["--set", rate.as_str(), "--set", step.as_str()];
    let cpu = run(
        &place,
        name,
        "cpu",
        &[&more[..], &["--set", "simulate.backend=cpu"]].concat(),
    );
    more.extend(device.iter().map(String::as_str));
    let gpu = run(&place, name, "gpu", &more);
    let frames = cpu.frames(&(0..u32::MAX)).unwrap();
    assert_eq!(frames, gpu.frames(&(0..u32::MAX)).unwrap());

    let packing = cpu.read_packing().unwrap();
    let extent = |values: &[f64]| {
        let (low, high) = values
            .iter()
            .fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
        high - low
    };
    let e = &packing.elements;
    let size = extent(&e.x).max(extent(&e.y)).max(extent(&e.z));
    let (mut unbroken, mut farthest) = (0, 0.0f64);
    for &frame in &frames {
        let broken = [&cpu, &gpu].map(|store| store.read_history(frame).unwrap().broken[0]);
        if broken != [0, 0] {
            break;
        }
        let (a, b) = (
            cpu.read_frame(frame).unwrap(),
            gpu.read_frame(frame).unwrap(),
        );
        for (a, b) in [(&a.x, &b.x), (&a.y, &b.y), (&a.z, &b.z)] {
            for (a, b) in a.iter().zip(b) {
                farthest = farthest.max(f64::from((a - b).abs()) / size);
            }
        }
        unbroken += 1;
    }
    assert!(unbroken > 3, "frames before the first break: {unbroken}");
    assert!(farthest < 1e-6, "{farthest:.1e}");

    // Cracks fork: a shift of a few nm changes the number of broken bonds by some per cent on either
    // backend. So the test compares the means of a few such runs, the first of them the one above.
    let last = *frames.last().unwrap();
    let mut ends = [vec![end(&cpu, last)], vec![end(&gpu, last)]];
    for draw in 1..8 {
        let shift = moved(draw);
        let mut more = vec!["--set", rate.as_str(), "--set", step.as_str()];
        more.extend(["--set", shift.as_str()]);
        more.extend(["--set", "simulate.backend=cpu"]);
        let cpu = run(&place, name, &format!("cpu {draw}"), &more);
        more.extend(device.iter().map(String::as_str));
        let gpu = run(&place, name, &format!("gpu {draw}"), &more);
        for (ends, store) in ends.iter_mut().zip([cpu, gpu]) {
            ends.push(end(&store, last));
        }
    }
    println!(
        "{name}: {unbroken} frames before a break agree to {farthest:.1e} of the body; broken bonds and largest mass: \
         {ends:?} on the CPU and on the device"
    );
    let mean = |side: usize, k: usize| {
        let ends = &ends[side];
        ends.iter().map(|end| end[k]).sum::<f64>() / ends.len() as f64
    };
    assert!(mean(0, 0) > 50.0, "it breaks");
    for (k, part) in [0.05, 0.15].into_iter().enumerate() {
        let off = (mean(1, k) / mean(0, k) - 1.0).abs();
        assert!(off < part, "{off} {ends:?}");
    }
}

/// Number of broken bonds and the mass of the largest fragment.
fn end(store: &Store, frame: u32) -> [f64; 2] {
    let masses = store.read_fragments(frame).unwrap().mass;
    let broken = store.read_history(frame).unwrap().broken[0];
    [f64::from(broken), masses.into_iter().fold(0.0, f64::max)]
}

#[test]
fn a_bunny_breaks_alike_on_both_backends() {
    compare_backends("bunny_drop", ("20 kHz", 0.6), &|k| {
        format!("body.bunny.position=[{k}e-10, 2e-3, 0]")
    });
}

#[test]
fn a_plate_breaks_alike_on_both_backends() {
    // At longer steps a handful of bonds decides whether this coarse plate ends in one piece or in two: then
    // means cannot be compared.
    compare_backends("plate_impact", ("50 kHz", 0.43), &|k| {
        format!("collider.ball.position=[{k}e-9, 0.034, 0]")
    });
}

/// Two blocks that collide, break, rub and fall onto a rising floor.
fn collision(points: &[DVec3], strength: f64) -> (Packing, Pipeline, f64) {
    let r = 1e-3;
    let mut material = scenes::elastic(1e7, 4e6, 2600.0);
    (
        material.friction,
        material.damping,
        material.contact_damping,
    ) = (0.4, 0.05, 0.2);
    let mut packing = scenes::packing(points, r, &material, (strength, strength));
    let n = points.len();
    let middle = points.iter().map(|p| p.x).sum::<f64>() / n as f64;
    let v: Vec<DVec3> = points
        .iter()
        .enumerate()
        .map(|(k, p)| DVec3::X * (middle - p.x).signum() * 5.0 + noise3(k) * 0.3)
        .collect();
    scenes::set_motion(&mut packing.elements, &v, &vec![DVec3::Z * 20.0; n]);
    let mut pipeline = scenes::pipeline(material.clone());
    pipeline.world.gravity = [0.0, -9.81, 0.0];
    pipeline
        .colliders
        .push(scenes::rising_floor(-0.5 * r - r, 2.0));
    (packing, pipeline, 0.2 * unit_step(&material))
}

/// Frame, breaks and state after some steps, as text, and the number of broken bonds.
fn outcome(gpu: &mut Gpu, steps: u64) -> (String, u32) {
    gpu.advance(steps).unwrap();
    gpu.capture(1, true).unwrap();
    let capture = gpu.deliver().unwrap();
    let broken = capture.snapshot.history.broken[0];
    let state = capture.state.unwrap();
    let mut snapshot = capture.snapshot;
    snapshot.history.seconds.clear();
    let text = format!("{snapshot:?} {state:?}");
    (text, broken)
}

#[test]
fn lowered_limits_and_a_second_run_give_the_same_bytes() {
    let Some(request) = request() else { return };
    let mut points = scenes::block(14, 8, 6, 1e-3);
    let shift = DVec3::new(0.0293, 0.0012, 0.0004);
    points.extend(scenes::block(14, 8, 6, 1e-3).iter().map(|p| *p + shift));
    let (packing, pipeline, dt) = collision(&points, 4e5);
    let limited = DeviceRequest {
        binding_limit: Some(64 << 10),
        workgroup_limit: Some(3),
        ..request.clone()
    };
    let steps = 1500;
    let (whole, broken) = outcome(&mut engine(&packing, &pipeline, dt, &request), steps);
    assert!(broken > 100, "it breaks: {broken}");
    let (again, _) = outcome(&mut engine(&packing, &pipeline, dt, &request), steps);
    assert!(whole == again, "a second run");
    let (split, _) = outcome(&mut engine(&packing, &pipeline, dt, &limited), steps);
    assert!(whole == split, "lowered limits");
}

/// 16 MiB and 256 workgroups are limiting at this size: motion, bonds and strengths are split over buffers,
/// kernels stride.
#[test]
fn a_large_body_under_lowered_limits_gives_the_same_bytes() {
    let Some(request) = request() else { return };
    let points = scenes::block(2800, 10, 10, 1e-3);
    let (packing, pipeline, dt) = collision(&points, 1e5);
    let limited = DeviceRequest {
        binding_limit: Some(16 << 20),
        workgroup_limit: Some(256),
        ..request.clone()
    };
    let (whole, broken) = outcome(&mut engine(&packing, &pipeline, dt, &request), 12);
    let (split, _) = outcome(&mut engine(&packing, &pipeline, dt, &limited), 12);
    assert!(broken > 100, "it breaks: {broken}");
    assert!(whole == split);
}

#[test]
fn buffers_that_are_too_short_grow_and_lose_nothing() {
    let Some(request) = request() else { return };
    // Every bond breaks at once, more than the buffer of breaks holds, and the debris has far more contacts
    // than the whole body had.
    let points = scenes::block(30, 20, 12, 1e-3);
    let (packing, pipeline, dt) = collision(&points, 1.0);
    let mut gpu = engine(&packing, &pipeline, dt, &request);
    let before = gpu.device_bytes();
    gpu.advance(40).unwrap();
    gpu.capture(1, true).unwrap();
    gpu.advance(400).unwrap();
    gpu.capture(2, true).unwrap();
    let first = gpu.deliver().unwrap().snapshot;
    let second = gpu.deliver().unwrap();
    assert!(gpu.device_bytes() > before, "something was too short");
    let bonds = packing.bonds.id.len();
    assert!(first.breaks.bond.len() > bonds * 3 / 4);
    let mut broken: Vec<u32> = [first.breaks.bond, second.snapshot.breaks.bond].concat();
    let reported = broken.len();
    broken.sort_unstable();
    broken.dedup();
    assert_eq!(broken.len(), reported, "each bond is reported once");
    assert_eq!(reported as u32, second.snapshot.history.broken[0]);
    // The same run, with frames taken one by one.
    let mut one = engine(&packing, &pipeline, dt, &request);
    one.advance(40).unwrap();
    one.snapshot(1).unwrap();
    one.advance(400).unwrap();
    one.capture(2, true).unwrap();
    assert!(
        one.deliver().unwrap().state == second.state,
        "states differ"
    );
    // A state with more contacts than the whole body had can be resumed.
    let mut resumed = engine(&packing, &pipeline, dt, &request);
    resumed.restore(second.state.as_ref().unwrap()).unwrap();
    assert!(resumed.state(2).unwrap() == second.state.unwrap());
}

#[test]
fn a_run_continues_from_its_state_with_the_same_bytes() {
    let Some(request) = request() else { return };
    let place = TestFolder::new();
    let device = on_device(&request);
    let mut more: Vec<&str> = device.iter().map(String::as_str).collect();
    more.extend(["--set", "time.end=3 ms"]);
    run(&place, "bunny_drop", "whole", &more);
    more.pop();
    more.push("time.end=2 ms");
    run(&place, "bunny_drop", "parts", &more);
    more.pop();
    more.extend(["time.end=3 ms", "--resume"]);
    run(&place, "bunny_drop", "parts", &more);
    let folders = ["frames", "breaks", "fragments", "loads", "state"];
    let [whole, parts] = ["whole", "parts"].map(|name| files(&place.path(name), &folders));
    assert!(whole.len() > 8);
    assert!(whole == parts, "the same bytes");
}

#[test]
fn a_nan_stops_the_run_within_a_frame() {
    let Some(request) = request() else { return };
    let (packing, pipeline, dt) = collision(&scenes::block(8, 6, 5, 1e-3), 1e9);
    let mut gpu = engine(&packing, &pipeline, dt, &request);
    gpu.advance(50).unwrap();
    gpu.capture(1, true).unwrap();
    let state = gpu.deliver().unwrap().state.unwrap();
    gpu.system_mut().motion[77].0[9] = f32::NAN;
    gpu.refresh().unwrap();
    gpu.advance(50).unwrap();
    gpu.capture(2, false).unwrap();
    match gpu.deliver() {
        Err(SimulateError::NotFinite { step, element, .. }) => {
            // Bond damping carries the NaN to the neighbours in the same pass.
            assert_eq!(step, 50);
            assert!(element <= 77, "{element}");
        }
        other => panic!("{:?}", other.map(|c| c.snapshot.history)),
    }
    // The previous state is valid.
    let mut again = engine(&packing, &pipeline, dt, &request);
    again.restore(&state).unwrap();
    assert!(again.state(1).unwrap() == state);
    again.advance(50).unwrap();
    again.snapshot(2).unwrap();
}

#[test]
fn a_run_that_blows_up_keeps_its_last_good_frame() {
    let Some(request) = request() else { return };
    let place = TestFolder::new();
    let device = on_device(&request);
    // A time step far beyond the critical one.
    let mut arguments: Vec<String> = [
        "run",
        &shot("bunny_drop"),
        "--out",
        "store",
        "--to",
        "simulate",
    ]
    .map(String::from)
    .to_vec();
    arguments.extend(device);
    for set in [
        "scale=smoke",
        "time.step=2e-5",
        "material.gypsum.tensile_strength=1e30",
        "material.gypsum.shear_strength=1e30",
    ] {
        arguments.extend(["--set", set].map(String::from));
    }
    let output = place.command().args(&arguments).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(
        error.contains("no longer finite") && error.contains("element"),
        "{error}"
    );
    let store = Store::open(place.path("store")).unwrap();
    let frames = store.frames(&(0..u32::MAX)).unwrap();
    let last = *frames.last().unwrap();
    let x = store.read_frame(last).unwrap().x;
    assert!(x.iter().all(|x| x.is_finite()), "frame {last}");
    assert_eq!(store.numbers("state", "rkyv").unwrap().last(), Some(&last));
}

#[test]
fn a_lost_device_is_reported_and_an_unknown_one_refused() {
    let Some(request) = request() else { return };
    let (packing, pipeline, dt) = collision(&scenes::block(5, 4, 3, 1e-3), 1e9);
    let mut gpu = engine(&packing, &pipeline, dt, &request);
    gpu.advance(5).unwrap();
    gpu.device().destroy();
    let error = gpu
        .advance(5)
        .and_then(|()| gpu.snapshot(1).map(|_| ()))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("lost") && error.contains("--resume"),
        "{error}"
    );

    let place = TestFolder::new();
    let bunny = shot("bunny_drop");
    let output = place.output(&[
        "check",
        &bunny,
        "--set",
        "scale=smoke",
        "--set",
        "simulate.backend=gpu",
        "--set",
        "simulate.gpu.adapter=no such card",
    ]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(
        error.contains("no graphics adapter named \"no such card\""),
        "{error}"
    );
}

#[test]
fn messages_of_loaders_and_drivers_are_suppressed() {
    if request().is_none() {
        return;
    }
    let place = TestFolder::new();
    let messages = |folder: Option<&str>, loader: Option<&str>| {
        let mut command = place.command();
        for name in ["NODEVICE_SELECT", "VK_LOADER_DEBUG", "XDG_RUNTIME_DIR"] {
            command.env_remove(name);
        }
        command.envs(folder.map(|folder| ("XDG_RUNTIME_DIR", folder)));
        command.envs(loader.map(|loader| ("VK_LOADER_DEBUG", loader)));
        let output = command.arg("adapters").output().unwrap();
        assert!(output.status.success());
        assert!(!output.stdout.is_empty());
        String::from_utf8(output.stderr).unwrap()
    };
    for folder in [None, Some(""), Some("relative")] {
        assert_eq!(messages(folder, None), "");
    }
    // The loader's messages appear if the user enables them.
    if cfg!(target_os = "linux") {
        assert_ne!(messages(None, Some("all")), "");
    }
}

#[test]
fn a_message_after_a_device_was_opened_is_printed() {
    let Some(request) = request() else {
        return;
    };
    let place = TestFolder::new();
    let file = shot("single_bond");
    place.succeed(&["pack", &file, "--out", "store", "--set", "scale=smoke"]);
    let name = request.adapter.unwrap();
    // The final message of `simulate` comes after the device was opened.
    for backend in [&["--backend", "gpu"][..], &["--backend", "auto"], &[]] {
        let arguments = [&["simulate", "store", "--adapter", &name], backend].concat();
        let output = place.output(&arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{message}");
        assert!(message.contains(&name), "{message}");
        assert!(!message.contains("XDG_RUNTIME_DIR"), "{message}");
    }
    let manifest = cullet::store::Manifest::read(&Store::at(place.path("store"))).unwrap();
    let settings = &manifest.stages["simulate"].settings["simulate"];
    assert_eq!(settings["backend"], "gpu");
    assert_eq!(settings["gpu"]["adapter"], name.as_str());
    let arguments = ["simulate", "store", "--adapter", &name, "--backend", "cpu"];
    let message = place.refuse(&arguments);
    assert!(message.contains("leave out one of them"), "{message}");
}
