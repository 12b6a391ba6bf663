//! Meshes with defects as found in files: each is repaired, remeshed if necessary and solved, or refused with
//! a message.

pub mod damage;
mod refused;

use cullet::bem::{Elastic, Order, Solver, Surface};
use cullet::geometry::remesh::{Quality, remesh_or_finer};
use cullet::geometry::repair::repair;
use cullet::geometry::{TriMesh, shapes};
use cullet::solve::Recycled;
use glam::{DMat3, DVec3, dvec3};

use crate::bem::bodies;
use crate::bem::solved::{loads, norm, outer, tractions};
use damage::*;

/// Stress of the applied loads, Pa.
const STRESS: f64 = 2e6;

/// Expected outcome for a mesh.
enum Expected {
    /// The mesh is solved; the report of repairs contains this text.
    Solved(&'static str),
    /// The mesh is refused with a message that contains this text.
    Refused(&'static str),
}

use Expected::{Refused, Solved};

/// Largest relative error of stress on the surface under pressure and under tension, and the report of
/// repairs; or the reason for refusal.
fn solve(mesh: &TriMesh) -> Result<([f64; 2], String), Box<dyn std::error::Error>> {
    let (mesh, done) = repair(mesh)?;
    let quality = Quality::of(&mesh);
    let mesh = match quality.needs_remesh() {
        true => remesh_or_finer(&mesh, quality.edge)?,
        false => mesh,
    };
    let surface = Surface::new(&mesh)?;
    let solver = Solver::dense(&surface, Elastic::new(70e9, 0.2)?, Order::Quadratic);
    let mut recycled = Recycled::default();
    let mut errors = [0.0_f64; 2];
    let stresses = [-DMat3::IDENTITY, outer(DVec3::Z, DVec3::Z)].map(|s| s * STRESS);
    for (error, stress) in errors.iter_mut().zip(stresses) {
        let tractions = tractions(&surface, |_, n| stress * n);
        let solution = solver.solve(&loads(&tractions), &mut recycled)?;
        assert!(solution.vertices().iter().all(|u| u.is_finite()));
        for field in solution.surface() {
            let off = norm(field.stress - stress) / norm(stress);
            assert!(off.is_finite());
            *error = error.max(off);
        }
    }
    Ok((errors, done.to_string()))
}

/// Solves or refuses each mesh as expected.
fn check(cases: Vec<(&str, TriMesh, Expected)>) {
    let mut wrong = Vec::new();
    for (name, mesh, expected) in cases {
        let found = solve(&mesh);
        let as_expected = match (&found, expected) {
            (Ok((errors, done)), Solved(part)) => {
                done.contains(part) && errors.iter().all(|error| *error < 0.01)
            }
            (Err(error), Refused(part)) => {
                let message = error.to_string();
                message.contains(part) && !message.contains('\n')
            }
            _ => false,
        };
        let line = format!("{name}: {found:?}");
        println!("{line}");
        if !as_expected {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn sound_bodies_and_badly_numbered_ones_are_solved() {
    check(vec![
        ("box", cuboid(), Solved("nothing to repair")),
        ("sphere", sphere(), Solved("nothing to repair")),
        ("torus", torus(), Solved("nothing to repair")),
        ("bunny", bunny(), Solved("nothing to repair")),
        (
            "sphere as soup",
            soup(sphere(), 0.0),
            Solved("merged 798 duplicate"),
        ),
        (
            "torus as soup with noise",
            soup(torus(), 1e-7),
            Solved("merged 640 duplicate"),
        ),
        (
            "box twice",
            merged([cuboid(), cuboid()]),
            Solved("removed 48 duplicate"),
        ),
        (
            "two-sided box",
            merged([cuboid(), inward(cuboid())]),
            Solved("removed 48 duplicate"),
        ),
        (
            "sphere with doubles",
            doubled(sphere()),
            Solved("removed 64 duplicate"),
        ),
        (
            "bunny with unused vertices",
            with_unused(bunny()),
            Solved("removed 2 unused"),
        ),
        (
            "torus with degenerate",
            with_degenerate(torus()),
            Solved("removed 2 degenerate"),
        ),
        (
            "box with a fin",
            with_fin(cuboid()),
            Solved("removed 2 fin triangles"),
        ),
        (
            "sphere with a fin",
            with_fin(sphere()),
            Solved("removed 2 fin triangles"),
        ),
    ]);
}

#[test]
fn winding_is_repaired() {
    let cavity = || scaled(cuboid(), 0.4);
    let slab = bodies::grid_box(dvec3(1.0, 0.7, 0.7), [6, 4, 4]);
    let two = [-0.2, 0.2].map(|x| shifted(scaled(sphere(), 0.15), DVec3::X * x));
    check(vec![
        (
            "inward box",
            inward(cuboid()),
            Solved("reversed 48 triangles"),
        ),
        ("inward bunny", inward(bunny()), Solved("reversed")),
        (
            "mixed sphere",
            mixed(sphere()),
            Solved("reversed 107 triangles"),
        ),
        (
            "mixed torus as soup",
            mixed(soup(torus(), 1e-8)),
            Solved("reversed 86 triangles"),
        ),
        (
            "cavity wound outward",
            merged([cuboid(), cavity()]),
            Solved("reversed 48 triangles"),
        ),
        (
            "cavity wound inward",
            merged([cuboid(), inward(cavity())]),
            Solved("nothing to repair"),
        ),
        (
            "inward box, cavity too",
            merged([inward(cuboid()), cavity()]),
            Solved("reversed 96"),
        ),
        (
            "two cavities",
            merged([slab, mixed(merged(two))]),
            Solved("reversed"),
        ),
    ]);
}

#[test]
fn needles_and_slits_are_repaired() {
    check(vec![
        (
            "box with T-junctions",
            with_split_edges(cuboid(), 6, 0.5, false),
            Solved("joined"),
        ),
        (
            "torus with T-junctions",
            with_split_edges(torus(), 20, 0.3, false),
            Solved("joined"),
        ),
        (
            "needles on a sphere",
            with_split_edges(sphere(), 12, 1e-4, true),
            Solved("needles"),
        ),
        (
            "needles on a box",
            with_split_edges(cuboid(), 6, 1e-4, true),
            Solved("needles"),
        ),
        (
            "needles on a torus",
            with_split_edges(torus(), 20, 1e-4, true),
            Solved("needles"),
        ),
        (
            "needles on a bunny",
            with_split_edges(bunny(), 20, 1e-4, true),
            Solved("needles"),
        ),
        (
            "flat triangles on a sphere",
            with_needles(sphere(), 12, 1e-4),
            Solved("flat triangles"),
        ),
        (
            "flat triangles on a bunny",
            with_needles(bunny(), 20, 1e-4),
            Solved("flipped"),
        ),
        (
            "flatter ones on a torus",
            with_needles(torus(), 16, 1e-12),
            Solved(""),
        ),
    ]);
}

#[test]
fn bricks_in_one_file_become_one_body() {
    let pinched = cells([
        [0, 0, 0],
        [1, 0, 0],
        [1, 0, 1],
        [1, 1, 1],
        [0, 1, 1],
        [0, 1, 0],
    ]);
    let chain = cells([
        [0, 0, 0],
        [1, 0, 0],
        [2, 0, 0],
        [2, 1, 0],
        [2, 2, 0],
        [1, 2, 0],
        [1, 2, 1],
        [1, 1, 1],
    ]);
    check(vec![
        (
            "bricks with a wall",
            cells([[0, 0, 0], [1, 0, 0], [1, 1, 0]]),
            Solved("8 duplicate"),
        ),
        (
            "box that touches itself at a corner",
            pinched,
            Solved("split 1 vertex"),
        ),
        (
            "box that touches itself at an edge",
            chain,
            Solved("split 2 vertices"),
        ),
    ]);
}

#[test]
fn extreme_sizes_and_positions_are_repaired() {
    let far = dvec3(1e6, -1e6, 1e6);
    check(vec![
        (
            "far sphere",
            shifted(sphere(), far),
            Solved("nothing to repair"),
        ),
        (
            "far mixed bunny",
            mixed(shifted(bunny(), far)),
            Solved("reversed"),
        ),
        (
            "far torus as soup",
            soup(shifted(torus(), far), 1e-8),
            Solved("merged 640"),
        ),
        (
            "tiny box",
            scaled(cuboid(), 1e-9),
            Solved("nothing to repair"),
        ),
        (
            "tiny inward torus",
            scaled(inward(torus()), 1e-9),
            Solved("reversed 256"),
        ),
        (
            "huge bunny",
            scaled(bunny(), 1e8),
            Solved("nothing to repair"),
        ),
        ("thin plate", plate(0.01), Solved("nothing to repair")),
        (
            "rod",
            shapes::cuboid(dvec3(0.1, 0.1, 4.0)),
            Solved("nothing to repair"),
        ),
        (
            "pancake",
            moved(sphere(), |p| p * dvec3(1.0, 1.0, 0.1)),
            Solved("nothing to repair"),
        ),
        (
            "cylinder",
            shapes::cylinder(0.5, 1.0),
            Solved("nothing to repair"),
        ),
        (
            "everything at once",
            with_unused(doubled(mixed(soup(
                shifted(with_split_edges(bunny(), 10, 0.4, false), far),
                1e-8,
            )))),
            Solved("joined"),
        ),
        (
            "needles, inward, doubled, tiny",
            scaled(
                doubled(inward(with_split_edges(torus(), 20, 1e-4, true))),
                1e-9,
            ),
            Solved("needles"),
        ),
    ]);
}
