//! Colliders that are triangle meshes.

use cullet::geometry::{TriMesh, icosphere, ply, shapes};
use cullet::math::{LaneWidth, Lanes};
use cullet::simulate::methods::explicit::cpu::Cpu;
use cullet::simulate::{Method, build};
use cullet::spec::{Collider, ColliderShape, Fill, Pipeline, ThicknessSide};
use cullet::store::Packing;
use glam::DVec3;

use crate::energy::{noise3, unit_step};
use crate::harness::TestFolder;
use crate::loads::{force, torque};
use crate::scenes;

const R: f64 = 1e-3;

/// Shape of a collider whose mesh is stored in the packing.
fn mesh_shape() -> ColliderShape {
    ColliderShape::Mesh {
        file: "in the packing".into(),
        object: None,
        up: None,
        unit: None,
        scale: None,
        height: None,
        thickness: None,
        thickness_side: ThicknessSide::Both,
        fill: Fill::Auto,
    }
}

fn collider(shape: ColliderShape, position: DVec3, spin: DVec3) -> Collider {
    Collider {
        shape,
        position: position.to_array(),
        spin: spin.to_array(),
        ..scenes::rising_floor(0.0, 0.0)
    }
}

fn on<L: Lanes>(packing: &Packing, pipeline: &Pipeline, dt: f64) -> Cpu<L> {
    Cpu::new(build(packing, pipeline).unwrap(), pipeline, dt)
}

/// A bonded block that falls, rotating, at 5 m/s onto a collider that spins below it.
fn falling(shape: ColliderShape, mesh: Option<TriMesh>) -> (Packing, Pipeline, f64) {
    let mut material = scenes::elastic(1e7, 4e6, 2600.0);
    (material.friction, material.contact_damping) = (0.4, 0.1);
    let points = scenes::block(8, 6, 6, R);
    let mut packing = scenes::packing(&points, R, &material, (f64::INFINITY, f64::INFINITY));
    let velocity: Vec<DVec3> = (0..points.len())
        .map(|i| DVec3::NEG_Y * 5.0 + noise3(i) * 0.1)
        .collect();
    let spins = vec![DVec3::ZERO; points.len()];
    scenes::set_motion(&mut packing.elements, &velocity, &spins);
    let dt = 0.2 * unit_step(&material);
    let mut pipeline = scenes::pipeline(material);
    // The collider reaches under half of the block, so that the block tips over an edge.
    let position = DVec3::new(-3e-3, -6.1e-3, 4e-3);
    pipeline.colliders = vec![collider(shape, position, DVec3::new(0.0, 60.0, 20.0))];
    packing.colliders.extend(mesh.map(|mesh| (0, mesh)));
    (packing, pipeline, dt)
}

#[test]
fn a_box_of_triangles_pushes_and_rubs_like_a_box() {
    let size = DVec3::new(0.02, 0.01, 0.03);
    let exact = ColliderShape::Box {
        size: size.to_array(),
    };
    let (packing, pipeline, dt) = falling(exact, None);
    let expected = scenes::frames(&mut on::<f64>(&packing, &pipeline, dt), 150, 1..9);
    let (packing, pipeline, dt) = falling(mesh_shape(), Some(shapes::cuboid(size)));
    let found = scenes::frames(&mut on::<f64>(&packing, &pipeline, dt), 150, 1..9);
    let mut touched = 0;
    for (a, b) in expected.iter().zip(&found) {
        touched = touched.max(a.loads.contacts[0]);
        assert_eq!(a.loads.contacts, b.loads.contacts);
        for of in [force, torque] {
            let (a, b) = (of(&a.loads, 0), of(&b.loads, 0));
            assert!((a - b).length() <= 1e-6 * a.length(), "{b} for {a}");
        }
        for (a, b) in a.frames.y.iter().zip(&b.frames.y) {
            assert!((a - b).abs() < 1e-7, "{b} for {a}");
        }
    }
    assert!(touched > 10, "{touched} elements touch at most");
}

#[test]
fn a_mesh_gives_the_same_bits_on_any_number_of_threads_and_across_a_resume() {
    let mut ball = icosphere(2);
    for p in &mut ball.positions {
        *p = *p * 5e-3 + DVec3::new(4e-3, 0.0, 0.0);
    }
    let (packing, pipeline, dt) = falling(mesh_shape(), Some(ball));
    let on_threads = |threads: usize, stop: u32| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let mut run = on::<f32>(&packing, &pipeline, dt);
            let mut all = scenes::frames(&mut run, 150, 1..stop + 1);
            let state = run.state(stop).unwrap();
            let mut resumed = on::<f32>(&packing, &pipeline, dt);
            resumed.restore(&state).unwrap();
            assert!(resumed.state(stop).unwrap() == state);
            all.extend(scenes::frames(&mut resumed, 150, stop + 1..7));
            all
        })
    };
    let whole = on_threads(1, 6);
    assert!(whole.iter().any(|frame| frame.loads.contacts[0] > 3));
    for (threads, stop) in [(2, 6), (3, 6), (1, 3), (3, 1)] {
        assert!(
            on_threads(threads, stop) == whole,
            "{threads} threads, stopped at {stop}"
        );
    }
    let sixteen = scenes::on_width(LaneWidth::Sixteen, (&packing, &pipeline, dt), None);
    if let Some(mut run) = sixteen {
        assert!(scenes::frames(run.as_mut(), 150, 1..7) == whole);
    }
}

/// Loose grains without friction and damping.
fn grains(points: &[DVec3], velocity: &[DVec3], mesh: TriMesh) -> (Packing, Pipeline, f64) {
    let material = scenes::elastic(1e7, 4e6, 2600.0);
    let mut packing = scenes::packing(points, R, &material, (f64::INFINITY, f64::INFINITY));
    assert!(packing.bonds.id.is_empty(), "they are apart");
    let spins = vec![DVec3::ZERO; points.len()];
    scenes::set_motion(&mut packing.elements, velocity, &spins);
    let dt = 0.1 * unit_step(&material);
    let mut pipeline = scenes::pipeline(material);
    pipeline.colliders = vec![collider(mesh_shape(), DVec3::ZERO, DVec3::ZERO)];
    packing.colliders.insert(0, mesh);
    (packing, pipeline, dt)
}

/// A frictionless collider without damping exerts a force with a potential, a function of the distance, also
/// where a grain rolls over an edge.
#[test]
fn grains_bounce_off_the_edges_of_a_coarse_ball_without_losing_energy() {
    let mut ball = icosphere(1);
    for p in &mut ball.positions {
        *p *= 12.0 * R;
    }
    let from: Vec<DVec3> = (0..60).map(|i| noise3(i).normalize() * 13.5 * R).collect();
    let apart = |i: usize| from[..i].iter().all(|p| p.distance(from[i]) > 2.4 * R);
    let points: Vec<DVec3> = (0..60).filter(|&i| apart(i)).map(|i| from[i]).collect();
    assert!(points.len() > 20);
    // They move obliquely, so that they slide over faces, edges and corners while in contact.
    let velocity: Vec<DVec3> = points
        .iter()
        .map(|p| -p.normalize() * 2.0 + p.normalize().any_orthonormal_vector() * 2.0)
        .collect();
    let (packing, pipeline, dt) = grains(&points, &velocity, ball);
    let mut run = on::<f64>(&packing, &pipeline, dt);
    let before = run.snapshot(0).unwrap().history.kinetic[0];
    run.advance((3.0 * R / (2.0 * dt)) as u64).unwrap();
    let last = run.snapshot(1).unwrap();
    assert_eq!(last.loads.contacts[0], 0, "all have left it");
    let off = last.history.kinetic[0] / before - 1.0;
    assert!(off.abs() < 1e-4, "{off:.1e}");
    let turned = points.iter().enumerate().all(|(i, p)| {
        let f = &last.frames;
        DVec3::new(f.vx[i].into(), f.vy[i].into(), f.vz[i].into()).dot(*p) > 0.0
    });
    assert!(turned, "all go outward");
}

#[test]
fn nothing_goes_through_a_blade_as_thick_as_a_grain_at_5_metres_a_second() {
    // Along z it is as wide as the cloud of grains, its edges among them.
    let blade = shapes::cuboid(DVec3::new(2.0 * R, 40.0 * R, 24.0 * R));
    let points: Vec<DVec3> = (0..15 * 13)
        .map(|i| {
            DVec3::new(
                3.0,
                (i / 13) as f64 * 2.3 - 16.0,
                (i % 13) as f64 * 2.3 - 13.8,
            ) * R
        })
        .collect();
    let velocity: Vec<DVec3> = (0..points.len())
        .map(|i| DVec3::NEG_X * 5.0 + noise3(i) * 0.2)
        .collect();
    let (packing, pipeline, dt) = grains(&points, &velocity, blade);
    let mut run = on::<f32>(&packing, &pipeline, dt);
    let mut touched = 0;
    for frame in 0..60 {
        run.advance((R / (5.0 * dt) / 10.0) as u64).unwrap();
        let snapshot = run.snapshot(frame).unwrap();
        touched = touched.max(snapshot.loads.contacts[0]);
        let f = &snapshot.frames;
        for i in 0..points.len() {
            let beside = f64::from(f.z[i]).abs() > 12.0 * R;
            assert!(beside || f64::from(f.x[i]) > R, "{i} is in the blade");
        }
    }
    assert!(touched > 150, "{touched} touch it at most");
}

const DROP: &str = "[time]\nend = \"2 ms\"\nframes_per_second = 2000\n[world]\ngravity = [0, -9.81, 0]\n\
    [[material]]\nname = \"m\"\ndensity = 1000\nyoung = \"1 MPa\"\n\
    [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = { type = \"box\", size = [0.02, 0.01, 0.02] }\n\
    position = [0, 0.013, 0]\nvelocity = [0, -2, 0]\npacking = { type = \"hexagonal\", radius = \"1 mm\" }\n\
    [[collider]]\nname = \"wedge\"\nshape = { type = \"mesh\", file = \"wedge.ply\", height = \"10 mm\" }\n";

fn write_wedge(folder: &TestFolder, size: DVec3) {
    let mut file = std::fs::File::create(folder.path("wedge.ply")).unwrap();
    ply::write_ply(&shapes::cuboid(size), &mut file).unwrap();
}

#[test]
fn a_store_holds_the_mesh_and_a_changed_one_is_packed_again() {
    let folder = TestFolder::new();
    write_wedge(&folder, DVec3::new(0.5, 1.0, 3.0));
    folder.write("shot.toml", DROP);
    let run = ["run", "shot.toml", "--out", "store"];
    folder.succeed(&run);
    let kept = folder.path("store/packing/colliders/000000.ply");
    assert!(kept.is_file());
    let message = String::from_utf8(folder.output(&run).stderr).unwrap();
    assert!(message.contains("nothing to do"), "{message}");
    // The packing does not depend on the collider's position.
    let moved = ["--set", "collider.wedge.position=[0, -0.0001, 0]"];
    let moved = [&run[..], &moved[..], &["--to", "simulate"][..]].concat();
    let message = String::from_utf8(folder.output(&moved).stderr).unwrap();
    assert!(message.contains("pack         up to date"), "{message}");
    assert!(
        message.contains("simulate     again: collider.wedge"),
        "{message}"
    );
    // A store that was moved away from the mesh file contains all that it needs.
    std::fs::rename(folder.path("store"), folder.path("moved")).unwrap();
    std::fs::rename(folder.path("wedge.ply"), folder.path("gone.ply")).unwrap();
    folder.succeed(&["simulate", "moved"]);
    folder.succeed(&["reconstruct", "moved"]);
    folder.succeed(&["preview", "moved", "--frames", "3..4"]);
    let message = folder.succeed(&["inspect", "moved", "--validate"]);
    assert!(message.starts_with("valid: "), "{message}");
    // The mesh is damaged, then missing.
    let kept = folder.path("moved/packing/colliders/000000.ply");
    let mut bytes = std::fs::read(&kept).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&kept, &bytes).unwrap();
    let message = folder.fail(&["simulate", "moved"], 1);
    assert!(message.contains("000000.ply"), "{message}");
    std::fs::remove_file(&kept).unwrap();
    let message = folder.refuse(&["preview", "moved"]);
    assert!(message.contains("000000.ply"), "{message}");
    // Another mesh under the same name.
    std::fs::rename(folder.path("moved"), folder.path("store")).unwrap();
    write_wedge(&folder, DVec3::new(0.6, 1.0, 3.0));
    let message = String::from_utf8(folder.output(&run).stderr).unwrap();
    assert!(
        message.contains("pack         again: mesh wedge.ply changed"),
        "{message}"
    );
}

#[test]
fn meshes_of_colliders_that_cannot_be() {
    let folder = TestFolder::new();
    write_wedge(&folder, DVec3::new(0.5, 1.0, 3.0));
    let refused = |text: &str, more: &[&str], parts: &[&str]| {
        folder.write("shot.toml", text);
        let check = [&["check", "shot.toml"], more].concat();
        let message = folder.refuse(&check);
        for part in parts {
            assert!(message.contains(part), "{part:?} is not in {message}");
        }
    };
    let gone = DROP.replace("wedge.ply", "no.ply");
    let parts = ["shot.toml:19:", "collider.wedge.shape.file", "no.ply"];
    refused(&gone, &[], &parts);
    let both = DROP.replace("height =", "scale = 2, height =");
    let parts = ["collider.wedge.shape.scale", "give one of them"];
    refused(&both, &[], &parts);
    let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\n";
    folder.write("open.obj", tetrahedron);
    let open = DROP.replace("wedge.ply\"", "open.obj\", fill = \"closed\"");
    let parts = ["collider \"wedge\"", "3 boundary edges", "fill = \"auto\""];
    refused(&open, &[], &parts);
    let on_device = ["--set", "simulate.backend=gpu"];
    let parts = ["collider.shape.type", "\"mesh\"", "--backend cpu"];
    refused(DROP, &on_device, &parts);
    let sunk = ["--set", "collider.wedge.position=[0, 0.009, 0]"];
    refused(DROP, &sunk, &["\"b\"", "\"wedge\"", "starts inside"]);
}
