//! Bodies of cells, from their keys in a pipeline file to the tables in the store.

use std::f64::consts::{PI, TAU};
use std::path::Path;

use cullet::columns::Shape;
use cullet::pack::{Packed, pack};
use cullet::store::Packing;
use glam::{DQuat, DVec3};

use crate::harness::TestFolder;

const NONE: u32 = u32::MAX;

/// A pipeline of these bodies, with a material that bonds cannot represent.
fn pipeline_text(bodies: &[&str]) -> String {
    let bodies = bodies.iter().zip(0..);
    let bodies: String = bodies
        .map(|(body, k)| format!("[[body]]\nname = \"b{k}\"\nmaterial = \"m\"\n{body}\n"))
        .collect();
    format!(
        "[time]\nend = \"1 ms\"\nframes_per_second = 1000\n[[material]]\nname = \"m\"\ndensity = 1000\nyoung = \"1 MPa\"\npoisson = 0.4\n\
         tensile_strength = \"1 kPa\"\nweibull_modulus = 5\n{bodies}"
    )
}

fn packed(bodies: &[&str]) -> Packed {
    let pipeline = cullet::spec::parse(&pipeline_text(bodies), "shot.toml", &[]);
    let found = pack(&pipeline.expect("a pipeline"), Path::new("."));
    let found = found.expect("a packing");
    check_consistency(&found.packing);
    found
}

fn refusal(body: &str) -> String {
    match cullet::spec::parse(&pipeline_text(&[body]), "shot.toml", &[]) {
        Err(errors) => errors.to_string(),
        Ok(pipeline) => match pack(&pipeline, Path::new(".")) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{body} is packed"),
        },
    }
}

/// Checks that the tables are consistent: the faces of each cell form a closed surface, each bond matches its
/// face.
fn check_consistency(packing: &Packing) {
    let (e, b) = (&packing.elements, &packing.bonds);
    let (c, f) = (&packing.cells.cells, &packing.cells.faces);
    let place = |i: u32| DVec3::new(e.x[i as usize], e.y[i as usize], e.z[i as usize]);
    let mut sums = vec![(DVec3::ZERO, 0.0, 0.0); e.id.len()];
    for k in 0..f.id.len() {
        assert_eq!(f.id[k], k as u32);
        let centre = DVec3::new(f.x[k], f.y[k], f.z[k]);
        let normal = DVec3::new(f.nx[k], f.ny[k], f.nz[k]);
        let along = DVec3::new(f.sx[k], f.sy[k], f.sz[k]);
        assert!((normal.length() - 1.0).abs() < 1e-12 && normal.dot(along).abs() < 1e-12);
        assert!(f.second_s[k] >= f.second_t[k] && f.second_t[k] > 0.0);
        for (cell, sign) in [(f.i[k], 1.0), (f.j[k], -1.0)] {
            if cell != NONE {
                let (areas, surface, volume) = &mut sums[cell as usize];
                *areas += sign * f.area[k] * normal;
                *surface += f.area[k];
                *volume += sign * f.area[k] * normal.dot(centre - place(cell)) / 3.0;
            }
        }
        let bond = f.bond[k] as usize;
        if f.j[k] == NONE {
            assert_eq!(f.bond[k], NONE);
            continue;
        }
        assert_eq!([b.i[bond], b.j[bond]], [f.i[k], f.j[k]]);
        assert!((PI * b.radius[bond].powi(2) / f.area[k] - 1.0).abs() < 1e-12);
        let way = place(f.j[k]) - place(f.i[k]);
        assert!((b.l0[bond] / way.length() - 1.0).abs() < 1e-12);
        let direction = DVec3::new(b.dx[bond], b.dy[bond], b.dz[bond]);
        assert!(direction.distance(way / way.length()) < 1e-12 && normal.dot(direction) > 0.3);
        assert_eq!((b.young[bond], b.shear[bond]), (1e6, 1e6 / 2.8));
    }
    assert!(c.id.iter().all(|id| e.kind[*id as usize] == Shape::Cell));
    let cells = e.kind.iter().filter(|kind| **kind == Shape::Cell);
    assert_eq!(cells.count(), c.id.len());
    for (k, &id) in c.id.iter().enumerate() {
        let i = id as usize;
        let (areas, surface, volume) = sums[i];
        assert!(areas.length() < 1e-5 * surface, "{areas}");
        assert!((volume / e.volume[i] - 1.0).abs() < 1e-5);
        assert!((e.mass[i] / (1000.0 * e.volume[i]) - 1.0).abs() < 1e-12);
        assert!((4.0 / 3.0 * PI * e.r[i].powi(3) / e.volume[i] - 1.0).abs() < 1e-12);
        let trace = c.i1[k] + c.i2[k] + c.i3[k];
        assert!((e.inertia[i] * 3.0 / trace - 1.0).abs() < 1e-12);
        assert!(c.free[k] >= 0.0 && c.free[k] <= e.volume[i] * (1.0 + 1e-9));
    }
}

fn total_volume(packing: &Packing) -> f64 {
    packing.elements.volume.iter().sum()
}

const BOX: &str = "shape = { type = \"box\", size = [0.4, 0.2, 0.1] }";

#[test]
fn voronoi_cells_fill_a_box() {
    let by_number = format!("{BOX}\npacking = {{ type = \"voronoi\", cells = 200 }}");
    let by_size =
        format!("{BOX}\npacking = {{ type = \"voronoi\", size = \"34.2 mm\", relax = 2 }}");
    for body in [by_number, by_size] {
        let found = packed(&[&body]);
        assert_eq!(found.packing.elements.id.len(), 200);
        assert!((total_volume(&found.packing) / 0.008 - 1.0).abs() < 1e-9);
        assert_eq!(found.bodies[0].parts, 1);
        let strengths = &found.packing.bonds.sigma_c;
        assert!(strengths[0] != strengths[1] && strengths[0].is_finite());
    }
    // The seed determines the cells; the seed of the packing overrides that of the shot.
    let seeded = |seed: u32| {
        let body = format!("{BOX}\npacking = {{ type = \"voronoi\", cells = 20, seed = {seed} }}");
        packed(&[&body]).packing.elements.x
    };
    assert_eq!(seeded(7), seeded(7));
    assert_ne!(seeded(7), seeded(8));
}

#[test]
fn voronoi_cells_fill_every_shape() {
    for shape in [
        "{ type = \"sphere\", radius = 0.1 }",
        "{ type = \"cylinder\", radius = 0.1, height = 0.3 }",
        "{ type = \"revolved\", profile = [[0.2, -0.3], [0.08, 0], [0.2, 0.3]] }",
        "{ type = \"tube\", points = [[0, 0, 0], [0.3, 0.1, 0], [0.6, 0, 0]], radius = 0.05 }",
        "{ type = \"mesh\", file = \"pipelines/meshes/letter_b.obj\", height = 0.1 }",
    ] {
        let body = format!("shape = {shape}\npacking = {{ type = \"voronoi\", cells = 500 }}");
        let found = packed(&[&body]);
        let skin = &found.shapes[0];
        let off = total_volume(&found.packing) / skin.volume() - 1.0;
        assert!(off.abs() < 0.01, "{shape}: {off}");
        assert_eq!((found.bodies[0].parts, found.bodies[0].isolated), (1, 0));
    }
}

#[test]
fn bricks_fill_a_box_with_their_axes_along_it() {
    let turned = "rotation = { axis = [0, 0, 1], angle = \"90 deg\" }\nposition = [5, 6, 7]";
    let rows = format!("{BOX}\npacking = {{ type = \"cubic\", rows = [8, 2, 1] }}\n{turned}");
    // The nearest sizes that fill the box: 0.05 x 0.1 x 0.1.
    let size = format!("{BOX}\npacking = {{ type = \"cubic\", size = [0.052, 0.09, \"8 cm\"] }}");
    for (body, angle, position) in [(rows, 0.5 * PI, [5.0, 6.0, 7.0]), (size, 0.0, [0.0; 3])] {
        let Packed { packing, .. } = packed(&[&body]);
        let (e, c) = (&packing.elements, &packing.cells.cells);
        assert_eq!((e.id.len(), packing.bonds.id.len()), (16, 7 * 2 + 8));
        assert!((total_volume(&packing) / 0.008 - 1.0).abs() < 1e-12);
        let turn = DQuat::from_rotation_z(angle);
        let from_shape = |i: usize| {
            let at = DVec3::new(e.x[i], e.y[i], e.z[i]) - DVec3::from_array(position);
            turn.inverse() * at
        };
        for i in 0..16 {
            let row = (from_shape(i) + DVec3::new(0.2, 0.1, 0.05)) / DVec3::new(0.05, 0.1, 0.1);
            assert!((row.fract() - 0.5).abs().max_element() < 1e-9, "{row}");
            let axes = DQuat::from_xyzw(c.qx[i], c.qy[i], c.qz[i], c.qw[i]);
            assert!(axes.angle_between(turn) < 1e-6, "{axes}");
            let mass = 1000.0 * 5e-4;
            let expected = [0.02, 0.0125, 0.0125].map(|squares| mass * squares / 12.0);
            for (found, expected) in [c.i1[i], c.i2[i], c.i3[i]].iter().zip(expected) {
                assert!((found / expected - 1.0).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn other_shapes_have_the_bricks_whose_centre_is_inside() {
    let body = "shape = { type = \"sphere\", radius = 0.1 }\npacking = { type = \"cubic\", size = [0.01, 0.01, 0.01] }";
    let found = packed(&[body]);
    let off = total_volume(&found.packing) / (4.0 / 3.0 * PI * 1e-3) - 1.0;
    assert!(off.abs() < 0.02, "{off}");
    assert_eq!(found.bodies[0].parts, 1);
}

/// The shell benchmarks: a cylinder of 50 x 20 bricks and half a sphere of 64 x 16 with a hole of 18°.
#[test]
fn walls_are_made_of_rows_round_along_and_through() {
    let cylinder =
        "shape = { type = \"cylinder_shell\", radius = 1, height = 2, thickness = \"1 cm\" }";
    for (packing, rows) in [
        ("rows = [50, 20, 1]", [50, 20, 1]),
        ("size = [0.126, 0.1, 0.01]", [50, 20, 1]),
        ("rows = [12, 2, 3]", [12, 2, 3]),
    ] {
        let body = format!("{cylinder}\npacking = {{ type = \"cubic\", {packing} }}");
        let found = packed(&[&body]);
        let [a, b, c] = rows;
        assert_eq!(found.packing.elements.id.len(), a * b * c);
        let faces = a * b * c + a * (b - 1) * c + a * b * (c - 1);
        assert_eq!(found.packing.bonds.id.len(), faces);
        // The cross-section is a polygon of chords.
        let area = 0.5 * a as f64 * (TAU / a as f64).sin() * (1.005f64.powi(2) - 0.995f64.powi(2));
        assert!((total_volume(&found.packing) / (2.0 * area) - 1.0).abs() < 1e-9);
        assert!((found.shapes[0].volume() / (2.0 * area) - 1.0).abs() < 1e-9);
    }
    let part = "shape = { type = \"cylinder_shell\", radius = 1, height = 2, thickness = 0.01, angle = \"90 deg\" }\n\
                packing = { type = \"cubic\", rows = [10, 4, 1] }";
    assert_eq!(packed(&[part]).packing.bonds.id.len(), 9 * 4 + 10 * 3);
    let half = "shape = { type = \"sphere_shell\", radius = 10, thickness = 0.04, from = \"18 deg\", to = \"90 deg\" }\n\
                packing = { type = \"cubic\", rows = [64, 16, 1] }";
    let found = packed(&[half]);
    let e = &found.packing.elements;
    assert_eq!(
        (e.id.len(), found.packing.bonds.id.len()),
        (1024, 1024 + 64 * 15)
    );
    let whole = TAU * (18f64.to_radians().cos()) * 0.04 * 100.0;
    let off = total_volume(&found.packing) / whole - 1.0;
    assert!(off < 0.0 && off > -4e-3, "{off}");
    assert!(
        e.y.iter()
            .all(|y| *y > 0.0 && *y < 10.0 * 18f64.to_radians().cos())
    );
    let ball = "shape = { type = \"sphere_shell\", radius = 1, thickness = 0.1 }\npacking = { type = \"cubic\", rows = [24, 12, 1] }";
    let found = packed(&[ball]);
    assert_eq!(found.packing.bonds.id.len(), 24 * 12 + 24 * 11);
}

#[test]
fn loose_cells_have_free_faces_alone() {
    let body = format!("{BOX}\nbonded = false\npacking = {{ type = \"voronoi\", cells = 40 }}");
    let found = packed(&[&body]);
    assert!(found.packing.bonds.id.is_empty());
    let faces = &found.packing.cells.faces;
    assert!(faces.j.iter().all(|j| *j == NONE) && faces.i.is_sorted());
    let free = &found.packing.cells.cells.free;
    let volumes = &found.packing.elements.volume;
    let mut both = free.iter().zip(volumes);
    assert!(both.all(|(free, volume)| (free / volume - 1.0).abs() < 1e-6));
    assert_eq!(found.bodies[0].parts, 40);
}

#[test]
fn cells_and_balls_share_one_store() {
    let place = TestFolder::new();
    let cells = |y: f64| {
        format!("{BOX}\npacking = {{ type = \"voronoi\", cells = 30 }}\nposition = [0, {y}, 0]")
    };
    let balls = format!(
        "{BOX}\npacking = {{ type = \"hexagonal\", elements = 50 }}\nposition = [0, 0.25, 0]"
    );
    let text = pipeline_text(&[&cells(0.0), &balls, &cells(-0.2)])
        .replace("poisson = 0.4", "poisson = 0.2");
    // Bonds of balls have no faces.
    let text = format!("{text}\n[simulate]\nmethod = \"bonds\"\n");
    place.write("shot.toml", &text);
    let said = place.output(&["pack", "shot.toml", "--out", "store"]);
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.contains(" elements, "), "{said}");
    place.succeed(&["check", "shot.toml"]);
    place.succeed(&["inspect", "store", "--validate"]);
    place.succeed(&["plot", "store"]);
    let store = cullet::store::Store::open(place.path("store")).unwrap();
    let packing = store.read_packing().unwrap();
    let (e, f) = (&packing.elements, &packing.cells.faces);
    let of_cells = e.body.iter().filter(|body| **body != 1).count();
    assert_eq!(packing.cells.cells.id.len(), of_cells);
    assert_eq!(of_cells, 60);
    // Faces of the third body are numbered after bonds of the second.
    let bonds = &packing.bonds;
    for (k, &bond) in f.bond.iter().enumerate().filter(|(_, bond)| **bond != NONE) {
        assert_eq!(
            [f.i[k], f.j[k]],
            [bonds.i[bond as usize], bonds.j[bond as usize]]
        );
    }
    let last = f.bond.iter().filter(|bond| **bond != NONE).max();
    assert_eq!(last, bonds.id.last());
    // Missing or altered data is reported.
    std::fs::remove_file(place.path("store/packing/faces.parquet")).unwrap();
    let said = place.output(&["inspect", "store", "--validate", "--json"]);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("packing/faces.parquet"), "{said}");
    assert!(said.contains("missing"), "{said}");
}

#[test]
fn a_shot_of_cells_alone_counts_its_faces_when_packed() {
    let place = TestFolder::new();
    let body = format!("{BOX}\npacking = {{ type = \"cubic\", rows = [4, 1, 1] }}");
    place.write(
        "shot.toml",
        &pipeline_text(&[&body]).replace("poisson = 0.4", "poisson = 0.2"),
    );
    let said = place.output(&["pack", "shot.toml", "--out", "store"]);
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(
        said.contains("4 cells, 3 faces between them, 18 free faces"),
        "{said}"
    );
}

#[test]
fn what_cells_cannot_fill_is_refused() {
    let voronoi = |shape: &str, keys: &str| {
        refusal(&format!(
            "shape = {{ {shape} }}\npacking = {{ type = \"voronoi\", {keys} }}"
        ))
    };
    let cubic = |shape: &str, keys: &str| {
        refusal(&format!(
            "shape = {{ {shape} }}\npacking = {{ type = \"cubic\", {keys} }}"
        ))
    };
    let cube = "type = \"box\", size = [1, 1, 1]";
    let ball = "type = \"sphere\", radius = 1";
    for (said, parts) in [
        (
            voronoi(cube, "relax = 2"),
            &["give either `size` or `cells`"][..],
        ),
        (
            voronoi(cube, "size = 1, cells = 2"),
            &["`size` and `cells` are both given"],
        ),
        (
            cubic(cube, "size = [1, 1, 1], rows = [1, 1, 1]"),
            &["`size` and `rows`"],
        ),
        (
            voronoi("type = \"plate\", size = [1, 1], layers = 2", "cells = 9"),
            &["rows and layers"],
        ),
        (
            cubic("type = \"block\", rows = [2, 2, 2]", "rows = [2, 2, 2]"),
            &["rows and layers"],
        ),
        (
            voronoi(
                "type = \"cylinder_shell\", radius = 1, height = 1, thickness = 0.1",
                "cells = 9",
            ),
            &["\"cubic\""],
        ),
        (
            cubic(
                "type = \"cylinder_shell\", radius = 1, height = 1, thickness = 0.1",
                "rows = [2, 1, 1]",
            ),
            &["b0", "2 bricks together span 360.0° around the axis"],
        ),
        (
            cubic(
                "type = \"sphere_shell\", radius = 1, thickness = 0.1, from = 1, to = 0.5",
                "rows = [9, 1, 1]",
            ),
            &["shape.to", "is not greater than `from`"],
        ),
        (
            cubic(
                "type = \"sphere_shell\", radius = 1, thickness = 2",
                "rows = [9, 9, 1]",
            ),
            &["shape.thickness", "thinner"],
        ),
        // Divided into thirty cells, the spring is thinner than a cell.
        (
            voronoi(
                "type = \"mesh\", file = \"pipelines/meshes/spring.obj\"",
                "cells = 30",
            ),
            &["b0", "30 cells", "do not follow its skin", "more cells"],
        ),
        (
            cubic(ball, "rows = [2000000, 2000000, 1]"),
            &["at most 700000000"],
        ),
        (voronoi(ball, "size = 1e-6"), &["at most 700000000"]),
    ] {
        for part in parts {
            assert!(said.contains(part), "{part:?} is not in {said}");
        }
    }
    let on = |y: f64| {
        format!(
            "{BOX}\npacking = {{ type = \"cubic\", rows = [4, 2, 1] }}\nposition = [0.05, {y}, 0]"
        )
    };
    let pipeline = cullet::spec::parse(&pipeline_text(&[&on(0.0), &on(0.15)]), "shot.toml", &[]);
    let error = pack(&pipeline.unwrap(), Path::new("."))
        .unwrap_err()
        .to_string();
    assert!(error.contains("\"b0\" and \"b1\" overlap"), "{error}");
    packed(&[&on(0.0), &on(0.2)]);
}
