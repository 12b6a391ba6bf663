//! Contacts of cells as polyhedra: with each other, with balls and with colliders.

use cullet::columns::Shape;
use cullet::simulate::Snapshot;
use cullet::spec::{CellContact, Pipeline};
use cullet::store::Packing;
use glam::DVec3;

use crate::cell_scenes::{CellMaterial, bricks, loose, method, packing, random, shot};

const MATERIAL: CellMaterial = CellMaterial {
    density: 1000.0,
    young: 1e7,
    poisson: 0.2,
};

/// A shot without damping, with this coefficient of friction.
fn elastic(friction: f64, more: &str) -> Pipeline {
    let mut pipeline = shot(MATERIAL, more);
    pipeline.materials[0].contact_damping = 0.0;
    pipeline.materials[0].friction = friction;
    pipeline
}

fn set_row(columns: [&mut Vec<f64>; 3], at: usize, v: DVec3) {
    for (column, value) in columns.into_iter().zip(v.to_array()) {
        column[at] = value;
    }
}

/// Moves a loose cell together with its faces.
fn shift(packing: &mut Packing, cell: usize, by: DVec3) {
    let e = &mut packing.elements;
    let place = DVec3::new(e.x[cell], e.y[cell], e.z[cell]) + by;
    set_row([&mut e.x, &mut e.y, &mut e.z], cell, place);
    let faces = &mut packing.cells.faces;
    for row in 0..faces.id.len() {
        if faces.i[row] as usize == cell {
            let centre = faces.centre(row) + by;
            set_row([&mut faces.x, &mut faces.y, &mut faces.z], row, centre);
        }
    }
}

fn throw(packing: &mut Packing, cell: usize, v: DVec3) {
    let e = &mut packing.elements;
    set_row([&mut e.vx, &mut e.vy, &mut e.vz], cell, v);
}

fn kinetic_energy(snapshot: &Snapshot) -> f64 {
    snapshot.history.kinetic[0] + snapshot.history.rotational[0]
}

#[test]
fn a_brick_thrown_flat_on_another_hands_its_speed_on() {
    let mut packing = loose(&bricks([1, 2, 1], DVec3::splat(0.1)), MATERIAL);
    shift(&mut packing, 1, DVec3::Y * 0.001);
    throw(&mut packing, 1, DVec3::Y * -1.0);
    let (mut run, dt) = method(&packing, &elastic(0.5, ""), 0.1);
    let steps = (5e-3 / dt) as u64;
    run.advance(steps).unwrap();
    let now = run.snapshot(1).unwrap();
    let e = &now.frames;
    assert!((e.vy[0] + 1.0).abs() < 1e-3, "{:?}", e.vy);
    assert!(e.vy[1].abs() < 1e-3, "{:?}", e.vy);
    let sideways = [&e.vx, &e.vz, &e.wx, &e.wy, &e.wz];
    assert!(sideways.iter().all(|v| v.iter().all(|v| v.abs() < 1e-9)));
}

/// Loose cells that fly at each other: contact forces are the gradient of an energy, and opposite on both
/// cells.
#[test]
fn cells_that_hit_each_other_keep_energy_and_momenta() {
    let mut packing = loose(&random(DVec3::ONE, 60, 5), MATERIAL);
    let middle = DVec3::splat(0.5);
    for cell in 0..60 {
        let e = &packing.elements;
        let out = DVec3::new(e.x[cell], e.y[cell], e.z[cell]) - middle;
        shift(&mut packing, cell, 0.3 * out);
        let aside = DVec3::new(out.y, -out.z, out.x);
        throw(&mut packing, cell, -6.0 * out + 3.0 * aside);
    }
    let momenta = |snapshot: &Snapshot| {
        let h = &snapshot.history;
        [
            DVec3::new(h.px[0], h.py[0], h.pz[0]),
            DVec3::new(h.lx[0], h.ly[0], h.lz[0]),
        ]
    };
    for friction in [0.0, 0.5] {
        let mut pipeline = elastic(friction, "");
        pipeline.output.work = true;
        let (mut run, dt) = method(&packing, &pipeline, 0.1);
        let start = run.snapshot(0).unwrap();
        let (mut least, mut most, mut touched) = (f64::INFINITY, 0.0f64, 0.0f64);
        for frame in 1..=40 {
            run.advance((5e-3 / dt) as u64).unwrap();
            let now = run.snapshot(frame).unwrap();
            let h = &now.history;
            let all = kinetic_energy(&now) + h.contact[0] + h.damping[0] + h.friction[0];
            (least, most) = (least.min(all), most.max(all));
            touched = touched.max(h.contact[0]);
            for (now, before) in momenta(&now).into_iter().zip(momenta(&start)) {
                assert!(
                    now.distance(before) < 1e-9 * kinetic_energy(&start),
                    "{now} {before}"
                );
            }
        }
        let first = kinetic_energy(&start);
        println!(
            "friction {friction}: energy {:+.4} to {:+.4} %, {:.1} % of it in contacts",
            100.0 * (least / first - 1.0),
            100.0 * (most / first - 1.0),
            100.0 * touched / first
        );
        assert!(touched > 0.05 * first);
        let off = (least / first - 1.0).abs().max((most / first - 1.0).abs());
        assert!(off < if friction == 0.0 { 2e-3 } else { 2e-2 }, "{off}");
    }
}

const FLOOR: &str = "[[collider]]\nname = \"floor\"\nfriction = 0.3\n\
    shape = { type = \"half_space\", normal = [0, 1, 0] }\n";

#[test]
fn a_brick_rests_on_the_floor_and_sinks_by_what_its_weight_presses() {
    let size = DVec3::new(0.2, 0.1, 0.15);
    let packing = loose(&bricks([1, 1, 1], size), MATERIAL);
    let mut pipeline = shot(MATERIAL, FLOOR);
    pipeline.world.gravity = [0.0, -9.81, 0.0];
    pipeline.simulate.drag = 200.0;
    let (mut run, dt) = method(&packing, &pipeline, 0.5);
    run.advance((0.2 / dt) as u64).unwrap();
    run.snapshot(1).unwrap();
    run.advance(10).unwrap();
    let now = run.snapshot(2).unwrap();
    let mass = packing.elements.mass[0];
    let floor_force = now.loads.fy[0];
    assert!(
        (floor_force / (mass * 9.81) + 1.0).abs() < 1e-3,
        "{floor_force}"
    );
    // The stiffness is E A/(2 r), where A is the largest projection.
    let area = size.x * size.z;
    let stiffness = MATERIAL.young * area / (2.0 * packing.elements.r[0]);
    let sunk = 0.05 - f64::from(now.frames.y[0]);
    assert!(
        (sunk * stiffness / (mass * 9.81) - 1.0).abs() < 1e-3,
        "{sunk}"
    );
    assert!(now.frames.qx[0].abs() + now.frames.qz[0].abs() < 1e-9);
}

#[test]
fn a_brick_on_a_slope_slides_where_friction_is_too_small_or_once_it_is_pushed() {
    // Slope, static friction, speed at which the brick is pushed, whether it slides.
    for (slope, static_friction, push, slides) in [
        (0.25f64, None, 0.0, false),
        (0.4, None, 0.0, true),
        (0.4, Some(0.9), 0.0, false),
        (0.4, Some(0.9), 0.2, true),
    ] {
        let mut packing = loose(&bricks([1, 1, 1], DVec3::new(0.2, 0.05, 0.2)), MATERIAL);
        throw(&mut packing, 0, DVec3::X * push);
        let mut pipeline = shot(MATERIAL, FLOOR);
        if static_friction.is_some() {
            let material = &mut pipeline.materials[0];
            (material.friction, material.static_friction) = (0.3, static_friction);
            pipeline.colliders[0].friction = 0.9;
        }
        let (sine, cosine) = slope.atan().sin_cos();
        pipeline.world.gravity = [9.81 * sine, -9.81 * cosine, 0.0];
        let (mut run, dt) = method(&packing, &pipeline, 0.5);
        let steps = (0.2 / dt) as u64;
        run.advance(steps).unwrap();
        let now = run.snapshot(1).unwrap();
        let v = f64::from(now.frames.vx[0]);
        let expected = push + 9.81 * (sine - 0.3 * cosine) * steps as f64 * dt;
        match slides {
            true => assert!((v / expected - 1.0).abs() < 0.02, "{v} {expected}"),
            false => assert!(v.abs() < 1e-3, "{v}"),
        }
    }
}

#[test]
fn a_tower_of_bricks_that_lie_flush_stays() {
    let mut packing = loose(&bricks([1, 4, 1], DVec3::new(0.1, 0.05, 0.1)), MATERIAL);
    shift(&mut packing, 2, DVec3::X * 0.03);
    let before = packing.elements.clone();
    let mut pipeline = shot(MATERIAL, FLOOR);
    pipeline.world.gravity = [0.0, -9.81, 0.0];
    let (mut run, dt) = method(&packing, &pipeline, 0.5);
    run.advance((0.3 / dt) as u64).unwrap();
    let e = &run.snapshot(1).unwrap().frames;
    for k in 0..4 {
        let place = [e.x[k], e.y[k], e.z[k]].map(f64::from);
        let rest = [before.x[k], before.y[k], before.z[k]];
        let moved = [0, 1, 2].map(|axis| place[axis] - rest[axis]);
        assert!(moved.iter().all(|m| m.abs() < 2e-4), "{k}: {moved:?}");
        let v = [e.vx[k], e.vy[k], e.vz[k]];
        assert!(v.iter().all(|v| v.abs() < 1e-3), "{k}: {v:?}");
    }
}

/// A ball dropped on a brick, off its middle, bounces back and turns the brick.
#[test]
fn a_ball_bounces_off_a_cell() {
    let mut packing = loose(&bricks([1, 1, 1], DVec3::new(0.4, 0.1, 0.4)), MATERIAL);
    let radius = 0.02;
    let e = &mut packing.elements;
    e.id.push(1);
    e.body.push(0);
    e.material.push(0);
    e.kind.push(Shape::Sphere);
    for (column, value) in [(&mut e.x, 0.25), (&mut e.y, 0.13), (&mut e.z, 0.2)] {
        column.push(value);
    }
    let volume = 4.0 / 3.0 * std::f64::consts::PI * radius * radius * radius;
    e.r.push(radius);
    e.mass.push(1000.0 * volume);
    e.inertia.push(0.4 * 1000.0 * volume * radius * radius);
    e.volume.push(volume);
    for (column, value) in [
        (&mut e.vx, 0.0),
        (&mut e.vy, -1.0),
        (&mut e.vz, 0.0),
        (&mut e.wx, 0.0),
        (&mut e.wy, 0.0),
        (&mut e.wz, 0.0),
    ] {
        column.push(value);
    }
    let momentum = -1000.0 * volume;
    let (mut run, dt) = method(&packing, &elastic(0.0, ""), 0.1);
    run.advance((0.02 / dt) as u64).unwrap();
    let now = run.snapshot(1).unwrap();
    assert!(
        (now.frames.vy[1] - 1.0).abs() < 0.02,
        "{}",
        now.frames.vy[1]
    );
    assert!((now.history.py[0] / momentum - 1.0).abs() < 1e-9);
    assert!((kinetic_energy(&now) / (0.5 * 1000.0 * volume) - 1.0).abs() < 2e-3);
    // The hit was off the middle: the brick turns.
    assert!(now.frames.wz[0] < -1e-4, "{:?}", now.frames.wz);
}

/// A broken face bears pressure, even if its cells have neighbours in common.
#[test]
fn a_broken_face_bears_pressure() {
    let mut packing = packing(&random(DVec3::ONE, 40, 5), MATERIAL);
    let bonds = &mut packing.bonds;
    let bond = (0..bonds.id.len())
        .find(|&k| bonds.radius[k] > 0.1)
        .unwrap();
    bonds.sigma_c[bond] = 1.0;
    bonds.tau_c[bond] = 1.0;
    let (i, j) = (bonds.i[bond] as usize, bonds.j[bond] as usize);
    let normal = DVec3::new(bonds.dx[bond], bonds.dy[bond], bonds.dz[bond]);
    // Pulled apart until it breaks, then pushed together.
    throw(&mut packing, i, -0.01 * normal);
    let (mut run, dt) = method(&packing, &shot(MATERIAL, ""), 0.1);
    run.advance(5).unwrap();
    let state = run.state(1).unwrap();
    let broken = run.snapshot(1).unwrap().history.broken[0];
    assert_eq!(broken, 1);
    let mut pressed = 0.0f64;
    for frame in 2..200 {
        run.advance(5).unwrap();
        pressed = pressed.max(run.snapshot(frame).unwrap().history.contact[0]);
    }
    let thrown = 0.5 * packing.elements.mass[i] * 1e-4;
    assert!(
        pressed > 1e-3 * thrown,
        "{pressed} of {thrown}; {i} and {j}"
    );
    // A run resumed from a state gives the same result.
    let (mut again, _) = method(&packing, &shot(MATERIAL, ""), 0.1);
    again.restore(&state).unwrap();
    again.advance(5 * 198).unwrap();
    let [one, two] = [run, again].map(|mut run| run.snapshot(200).unwrap().frames);
    assert_eq!((one.x, one.vy, one.wz, dt), (two.x, two.vy, two.wz, dt));
}

/// In an intact body, cells act on each other only through their faces.
#[test]
fn cells_of_a_whole_body_do_not_touch() {
    let mut packing = packing(&random(DVec3::ONE, 200, 5), MATERIAL);
    packing.elements.vx = packing
        .elements
        .y
        .iter()
        .map(|y| 20.0 * (y - 0.5))
        .collect();
    let run = |kind: CellContact| {
        let mut pipeline = shot(MATERIAL, "");
        pipeline.simulate.cell_contact = kind;
        let (_, dt) = method(&packing, &shot(MATERIAL, ""), 0.3);
        let prepared = cullet::simulate::resolve::PreparedScene::new(&packing, &pipeline).unwrap();
        let backend = cullet::spec::Backend::Cpu;
        let mut run = prepared.start(&pipeline, backend, dt).unwrap();
        run.advance(300).unwrap();
        run.snapshot(1).unwrap().frames
    };
    let [one, two] = [CellContact::Polyhedra, CellContact::Balls].map(run);
    assert_eq!((one.x, one.vy, one.wz), (two.x, two.vy, two.wz));
}
