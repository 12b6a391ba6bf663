use std::path::Path;

use glam::DVec3;

use super::*;
use crate::geometry::{icosphere, read, shapes};

/// Checks that the mesh is closed, wound outward, manifold and even.
fn check_even(mesh: &TriMesh, edge: f64, aspect: f64) {
    HalfEdges::new(mesh).unwrap();
    let mut outward = mesh.clone();
    require_solid(&mut outward).unwrap();
    assert_eq!(outward, *mesh);
    let quality = Quality::of(mesh);
    println!(
        "{} triangles, edge {edge}: {quality:?}",
        mesh.triangles.len()
    );
    assert!(quality.aspect < aspect, "{quality:?}");
    assert!(!quality.needs_remesh());
    assert!(quality.edge > 0.7 * edge && quality.edge < 1.2 * edge);
}

#[test]
fn a_box_keeps_its_volume_edges_and_corners() {
    let size = DVec3::new(1.0, 0.7, 2.0);
    let given = shapes::cuboid(size);
    for edge in [0.9, 0.23, 0.08] {
        let mesh = remesh(&given, edge, SHARP_ANGLE).unwrap();
        assert!((mesh.volume() / 1.4 - 1.0).abs() < 1e-9);
        assert!((mesh.area() / given.area() - 1.0).abs() < 1e-9);
        for corner in &given.positions {
            assert!(mesh.positions.contains(corner));
        }
        if edge < 0.5 {
            check_even(&mesh, edge, 5.0);
        }
    }
}

#[test]
fn a_bunny_keeps_its_volume() {
    let given = read::read(Path::new("pipelines/meshes/bunny.obj")).unwrap();
    let edge = Quality::of(&given).edge;
    for part in [1.0, 0.5] {
        let mesh = remesh(&given, part * edge, SHARP_ANGLE).unwrap();
        let off = mesh.volume() / given.volume() - 1.0;
        println!("bunny at {part}: volume {off:.2e} off");
        assert!(off.abs() < 5e-3, "{off}");
        check_even(&mesh, part * edge, 10.0);
    }
}

#[test]
fn needles_of_a_cylinder_become_even() {
    let given = shapes::cylinder(0.5, 2.0);
    assert!(Quality::of(&given).needs_remesh());
    let mesh = remesh(&given, 0.15, SHARP_ANGLE).unwrap();
    check_even(&mesh, 0.15, 8.0);
    let off = mesh.volume() / given.volume() - 1.0;
    assert!(off.abs() < 0.02, "{off}");
}

#[test]
fn results_are_the_same_for_any_number_of_threads() {
    let given = icosphere(3);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build()
            .unwrap()
            .install(|| remesh(&given, 0.2, SHARP_ANGLE))
    };
    let one = with(1).unwrap();
    assert_eq!(one, with(3).unwrap());
    check_even(&one, 0.2, 4.0);
}

#[test]
fn lengths_and_meshes_that_cannot_be_are_refused() {
    let given = shapes::cuboid(DVec3::ONE);
    for edge in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = remesh(&given, edge, SHARP_ANGLE).unwrap_err();
        assert!(matches!(error, RemeshError::InvalidLength(_)), "{error}");
    }
    let error = remesh(&given, 1e-5, SHARP_ANGLE).unwrap_err();
    assert!(matches!(error, RemeshError::TooFine { .. }), "{error}");
    let mut open = given;
    open.triangles.pop();
    let error = remesh(&open, 0.1, SHARP_ANGLE).unwrap_err();
    assert!(matches!(error, RemeshError::NotManifold { .. }), "{error}");
}
