//! Meshes that bound no solid, or several solids.

use cullet::geometry::TriMesh;
use glam::{DVec3, dvec3};

use super::Expected::Refused;
use super::check;
use super::damage::*;

#[test]
fn meshes_that_bound_no_solid_are_refused() {
    let replaced = |v: usize, place: DVec3| {
        let mut mesh = sphere();
        mesh.positions[v] = place;
        mesh
    };
    let mut missing = cuboid();
    missing.triangles[9][2] = 1000;
    let flat = |mesh: TriMesh| moved(mesh, |p| p * dvec3(1.0, 1.0, 0.0));
    let gap = shifted(without(sphere(), |t| t > 0), DVec3::splat(1e-3));
    check(vec![
        ("nothing", TriMesh::default(), Refused("no triangles")),
        (
            "sphere without a triangle",
            without(sphere(), |t| t == 9),
            Refused("3 boundary edges"),
        ),
        (
            "half a torus",
            without(torus(), |t| t > 128),
            Refused("mesh is open"),
        ),
        (
            "one triangle",
            without(bunny(), |t| t > 0),
            Refused("is flat"),
        ),
        (
            "sphere with a gap",
            merged([without(sphere(), |t| t == 0), gap]),
            Refused("6 boundary edges"),
        ),
        (
            "NaN",
            replaced(7, dvec3(0.0, f64::NAN, 1.0)),
            Refused("vertex 7, a corner of"),
        ),
        (
            "infinity",
            replaced(3, DVec3::X * f64::INFINITY),
            Refused("not finite: inf"),
        ),
        (
            "no such vertex",
            missing,
            Refused("triangle 9 uses vertex 1000"),
        ),
        ("flat box", flat(cuboid()), Refused("is flat")),
        ("flat bunny", flat(bunny()), Refused("is flat")),
        ("a point", scaled(sphere(), 0.0), Refused("is flat")),
        (
            "far too small",
            scaled(sphere(), 1e-40),
            Refused("m across"),
        ),
        (
            "far too large",
            scaled(sphere(), 1e300),
            Refused("m across"),
        ),
        (
            "far too far",
            shifted(sphere(), DVec3::X * 1e11),
            Refused("too much precision"),
        ),
        ("one-sided", one_sided(), Refused("one side")),
    ]);
}

#[test]
fn self_intersecting_and_multiple_meshes_are_refused() {
    let thrust = moved(
        sphere(),
        |p| {
            if p.z > 0.99 { p - DVec3::Z * 2.5 } else { p }
        },
    );
    let walled = {
        let mut mesh = cell(DVec3::ZERO);
        mesh.triangles.extend([[0, 1, 7], [0, 7, 6]]);
        mesh
    };
    let three = merged([1.0, 0.6, 0.3].map(|size| scaled(cuboid(), size)));
    let touching = |x: [i32; 3]| cells([[0; 3], x]);
    check(vec![
        (
            "boxes that overlap",
            merged([cuboid(), shifted(cuboid(), dvec3(0.3, 0.4, 0.2))]),
            Refused("cuts or touches itself"),
        ),
        (
            "spheres that overlap, mixed",
            mixed(merged([sphere(), shifted(sphere(), DVec3::X)])),
            Refused("cuts or touches itself"),
        ),
        (
            "sphere thrust through",
            thrust,
            Refused("cuts or touches itself"),
        ),
        (
            "bricks that share part of a face",
            merged([cell(DVec3::ZERO), cell(dvec3(0.5, 0.5, 1.0))]),
            Refused("cuts or touches itself"),
        ),
        (
            "bricks at a corner",
            touching([1, 1, 1]),
            Refused("bounds 2 solids: 12 triangles"),
        ),
        (
            "bricks at an edge",
            touching([1, 1, 0]),
            Refused("bounds 2 solids: 12 triangles"),
        ),
        (
            "bricks apart",
            touching([3, 0, 0]),
            Refused("near (3.5000, 0.5000, 0.5000)"),
        ),
        ("three nested", three, Refused("bounds 2 solids")),
        (
            "inner wall",
            walled,
            Refused("3 triangles meet at the edge"),
        ),
    ]);
}
