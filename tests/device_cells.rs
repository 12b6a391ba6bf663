//! Cells on a graphics processor: against the CPU, under lowered limits, and resumed from a state.

use cullet::gpu::DeviceRequest;
use cullet::simulate::methods::explicit::device::Gpu;
use cullet::simulate::methods::voronoi::build::{CellScene, scene};
use cullet::simulate::methods::voronoi::device;
use cullet::simulate::{Method, Snapshot};
use cullet::spec::{CellContact, Pipeline, Precision};
use cullet::store::Packing;
use glam::DVec3;

use crate::cell_scenes::{CellMaterial, bricks, method, packing, random, shot, stir};
use crate::device::request;
use crate::scenes;

fn material(poisson: f64) -> CellMaterial {
    CellMaterial {
        density: 2000.0,
        young: 1e7,
        poisson,
    }
}

/// A shot that a device can run.
fn single_precision_shot(cell_material: CellMaterial, damping: f64) -> Pipeline {
    let mut pipeline = shot(cell_material, "");
    pipeline.simulate.precision = Precision::F32;
    pipeline.simulate.cell_contact = CellContact::Balls;
    pipeline.materials[0].damping = damping;
    pipeline
}

fn on_device(packing: &Packing, pipeline: &Pipeline, dt: f64, request: &DeviceRequest) -> Gpu {
    let made: CellScene<f32> = scene(packing, pipeline).unwrap();
    let tables = device::tables(&made);
    let opened = Gpu::open(request).unwrap();
    Gpu::with(opened, (made.built, Some(tables)), pipeline, dt).unwrap()
}

/// Largest distance between the same cells of two frames, m, and largest displacement of the first frame from
/// rest.
fn distances(a: &Snapshot, b: &Snapshot, rest: &Packing) -> [f64; 2] {
    let point = |s: &Snapshot, i: usize| {
        let e = &s.frames;
        DVec3::new(f64::from(e.x[i]), f64::from(e.y[i]), f64::from(e.z[i]))
    };
    let e = &rest.elements;
    let (mut off, mut moved) = (0.0f64, 0.0f64);
    for i in 0..e.id.len() {
        off = off.max(point(a, i).distance(point(b, i)));
        moved = moved.max(point(a, i).distance(DVec3::new(e.x[i], e.y[i], e.z[i])));
    }
    [off, moved]
}

/// Kinetic energy including spin, energy of the faces, and the largest σ and τ of any cell.
fn energies_and_stresses(snapshot: &Snapshot) -> [f64; 4] {
    let h = &snapshot.history;
    let largest = |values: &[f32]| values.iter().copied().fold(0.0, f32::max);
    let e = &snapshot.frames;
    [
        h.kinetic[0] + h.rotational[0],
        h.bond[0],
        f64::from(largest(&e.sigma)),
        f64::from(largest(&e.tau)),
    ]
}

#[test]
fn cells_move_alike_on_both_backends() {
    let Some(request) = request() else { return };
    let plate = bricks([8, 6, 1], DVec3::new(0.1, 0.1, 0.03));
    let solid = random(DVec3::ONE, 300, 2);
    for (name, solids, poisson, damping) in [
        ("solid", &solid, 0.4, 0.0),
        ("solid", &solid, -0.5, 0.02),
        ("plate", &plate, 0.3, 0.0),
    ] {
        let cell_material = material(poisson);
        let mut packing = packing(solids, cell_material);
        stir(&mut packing, 1.0, 2.0);
        let pipeline = single_precision_shot(cell_material, damping);
        let (mut cpu, dt) = method(&packing, &pipeline, 0.3);
        let mut gpu = on_device(&packing, &pipeline, dt, &request);
        for _ in 0..2 {
            cpu.advance(60).unwrap();
            gpu.advance(60).unwrap();
            let [a, b] = [cpu.snapshot(1).unwrap(), gpu.snapshot(1).unwrap()];
            let [off, moved] = distances(&a, &b, &packing);
            let [on_cpu, on_gpu] = [energies_and_stresses(&a), energies_and_stresses(&b)];
            println!("{name}, ν = {poisson}: {off:.1e} m of {moved:.1e}; {on_cpu:?} {on_gpu:?}");
            // Frames hold positions of magnitude 1 m in single precision.
            assert!(moved > 1e-3 && off < 2e-7, "{off} {moved}");
            // A cell's stress may come from one face alone, with a gap that is accurate to 1e-4 only, due to
            // rounding.
            for (k, allowed) in [1e-5, 1e-5, 1e-3, 1e-3].into_iter().enumerate() {
                let (a, b) = (on_cpu[k], on_gpu[k]);
                assert!(
                    a > 0.0 && (a - b).abs() < allowed * a,
                    "{on_cpu:?} {on_gpu:?}"
                );
            }
        }
    }
}

/// Two lumps of cells that collide, break and fall onto a floor.
fn collision(strength: f64) -> (Packing, Pipeline, f64) {
    let cell_material = material(0.35);
    let mut both = packing(&random(DVec3::new(2.0, 1.0, 1.0), 900, 3), cell_material);
    stir(&mut both, 0.3, 1.0);
    let e = &mut both.elements;
    for (v, x) in e.vx.iter_mut().zip(&e.x) {
        *v += 6.0 * (1.0 - x).signum();
    }
    both.bonds.sigma_c.fill(strength);
    both.bonds.tau_c.fill(2.0 * strength);
    let mut pipeline = single_precision_shot(cell_material, 0.02);
    pipeline.world.gravity = [0.0, -9.81, 0.0];
    pipeline.colliders.push(scenes::rising_floor(-0.02, 2.0));
    let (_, dt) = method(&both, &pipeline, 0.3);
    (both, pipeline, dt)
}

/// Frame, breaks and state after some steps, as text, and the number of broken faces.
fn outcome(gpu: &mut Gpu, steps: u64) -> (String, u32) {
    gpu.advance(steps).unwrap();
    gpu.capture(1, true).unwrap();
    let capture = gpu.deliver().unwrap();
    let mut snapshot = capture.snapshot;
    snapshot.history.seconds.clear();
    let broken = snapshot.history.broken[0];
    (format!("{snapshot:?} {:?}", capture.state.unwrap()), broken)
}

#[test]
fn lowered_limits_and_a_second_run_of_cells_give_the_same_bytes() {
    let Some(request) = request() else { return };
    let (packing, pipeline, dt) = collision(4e5);
    let limited = DeviceRequest {
        workgroup_limit: Some(3),
        ..request.clone()
    };
    let steps = 300;
    let (whole, broken) = outcome(&mut on_device(&packing, &pipeline, dt, &request), steps);
    println!("{broken} faces broke");
    assert!(broken > 100, "it breaks: {broken}");
    let (again, _) = outcome(&mut on_device(&packing, &pipeline, dt, &request), steps);
    assert!(whole == again, "a second run");
    let (few, _) = outcome(&mut on_device(&packing, &pipeline, dt, &limited), steps);
    assert!(whole == few, "lowered limits");
    // Resume from the middle of the run.
    let mut first = on_device(&packing, &pipeline, dt, &request);
    first.advance(150).unwrap();
    let middle = first.state(0).unwrap();
    first.advance(150).unwrap();
    let mut second = on_device(&packing, &pipeline, dt, &request);
    second.restore(&middle).unwrap();
    second.advance(150).unwrap();
    assert!(
        first.state(1).unwrap() == second.state(1).unwrap(),
        "across a state"
    );
}

#[test]
fn lumps_of_cells_break_alike_on_both_backends() {
    let Some(request) = request() else { return };
    let (packing, pipeline, dt) = collision(4e5);
    let (mut cpu, _) = method(&packing, &pipeline, 0.3);
    let mut gpu = on_device(&packing, &pipeline, dt, &request);
    let mut first = None;
    for frame in 1..=10 {
        cpu.advance(30).unwrap();
        gpu.advance(30).unwrap();
        let [a, b] = [cpu.snapshot(frame).unwrap(), gpu.snapshot(frame).unwrap()];
        let broken = [&a, &b].map(|s| s.history.broken[0]);
        if first.is_none() && broken[0] > 0 {
            let events = [&a, &b].map(|s| (s.breaks.bond[0], s.breaks.step[0]));
            assert_eq!(events[0], events[1], "the first face that breaks");
            first = Some(events[0]);
        }
        let sums = [&a, &b].map(|s| energies_and_stresses(s)[..2].iter().sum::<f64>());
        println!("{broken:?} {sums:?}");
        let off = (f64::from(broken[0]) - f64::from(broken[1])).abs();
        // Cracks fork, and cells that met at an edge of the whole body are in contact on the CPU only.
        assert!(off <= 3.0 + 0.1 * f64::from(broken[0]), "{broken:?}");
        assert!((sums[0] - sums[1]).abs() < 0.05 * sums[0], "{sums:?}");
    }
    assert!(first.is_some(), "it breaks");
}
