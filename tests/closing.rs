//! Meshes as artists have them become closed skins: faulty ones of many kinds, and random kit-bashes.

use cullet::geometry::closing::{CloseError, Closing, Region, close};
use cullet::geometry::winding::Winding;
use cullet::geometry::{TriMesh, check, icosphere, shapes};
use glam::{DMat3, DVec3, dvec3};
use std::collections::HashSet;

use crate::hostile_meshes::damage::*;

/// Expected outcome for a mesh.
enum Expected {
    /// A skin of this volume, m³; the report contains this text.
    Skin(f64, &'static str),
    /// A message that contains this text.
    Refused(&'static str),
}

use Expected::{Refused, Skin};

/// Closes a mesh and checks the skin: a solid, wound outward.
fn closed(mesh: &TriMesh, cell: f64, region: Region) -> Result<Closing, CloseError> {
    let closing = close(mesh, cell, region)?;
    let mut skin = closing.skin.clone();
    let mut keys: Vec<[u32; 3]> = skin.triangles.clone();
    keys.iter_mut().for_each(|corners| corners.sort_unstable());
    keys.sort_unstable();
    let count = keys.len();
    keys.dedup();
    assert_eq!(keys.len(), count, "no two triangles have the same corners");
    check::require_solid(&mut skin).expect("the skin is a solid");
    assert_eq!(skin, closing.skin, "wound outward");
    assert!(skin.volume() > 0.0);
    Ok(closing)
}

fn check_all(cases: Vec<(&str, TriMesh, Expected)>) {
    let mut wrong = Vec::new();
    for (name, mesh, expected) in cases {
        let found = closed(&mesh, 0.04, Region::Nested);
        let line = match &found {
            Ok(closing) => format!("{name}: {} ({})", closing.skin.volume(), closing.report),
            Err(error) => format!("{name}: {error}"),
        };
        println!("{line}");
        let as_expected = match (found, expected) {
            (Ok(closing), Skin(volume, part)) => {
                (closing.skin.volume() / volume - 1.0).abs() < 0.01
                    && closing.report.to_string().contains(part)
            }
            (Err(error), Refused(part)) => {
                let message = error.to_string();
                message.contains(part) && !message.contains('\n')
            }
            _ => false,
        };
        if !as_expected {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A mesh without the triangles whose centres are above a height.
fn cut_off(mesh: TriMesh, height: f64) -> TriMesh {
    let corners = mesh.clone();
    without(mesh, |t| {
        corners.corners(t).iter().sum::<DVec3>().z / 3.0 > height
    })
}

#[test]
fn solids_stay_as_they_are_and_small_faults_are_repaired() {
    let (cube, ball, ring, rabbit) = (1.05, sphere().volume(), torus().volume(), bunny().volume());
    check_all(vec![
        ("box", cuboid(), Skin(cube, "nothing to repair")),
        ("inward box", inward(cuboid()), Skin(cube, "nothing")),
        (
            "box with cavity",
            merged([cuboid(), scaled(cuboid(), 0.5)]),
            Skin(0.875 * cube, "nothing"),
        ),
        ("soup", soup(sphere(), 0.0), Skin(ball, "merged 798")),
        ("soup with noise", soup(torus(), 1e-7), Skin(ring, "merged")),
        ("mixed winding", mixed(bunny()), Skin(rabbit, "reversed")),
        ("twice", merged([cuboid(), cuboid()]), Skin(cube, "removed")),
        (
            "two-sided",
            merged([sphere(), inward(sphere())]),
            Skin(ball, "removed"),
        ),
        ("some doubled", doubled(sphere()), Skin(ball, "removed 64")),
        ("unused", with_unused(bunny()), Skin(rabbit, "")),
        ("degenerate", with_degenerate(torus()), Skin(ring, "")),
        ("fin", with_fin(cuboid()), Skin(cube, "2 fin triangles")),
        (
            "T-junctions",
            with_split_edges(cuboid(), 6, 0.5, false),
            Skin(cube, "joined"),
        ),
        (
            "vertex on a straight side",
            with_folded_side(),
            Skin(cube, ""),
        ),
        (
            "needles",
            with_split_edges(sphere(), 12, 1e-4, true),
            Skin(ball, "nothing"),
        ),
        (
            "many faults",
            with_unused(doubled(mixed(soup(
                with_split_edges(bunny(), 10, 0.4, false),
                1e-8,
            )))),
            Skin(rabbit, "joined"),
        ),
    ]);
}

/// A box in which a polygon with a vertex on its own straight side was cut into a fan: one triangle has no area.
fn with_folded_side() -> TriMesh {
    let mut mesh = cuboid();
    let [a, b, _] = mesh.triangles[0];
    let middle = (mesh.positions[a as usize] + mesh.positions[b as usize]) / 2.0;
    let added = mesh.positions.len() as u32;
    mesh.positions.push(middle);
    mesh.triangles.push([a, added, b]);
    mesh
}

#[test]
fn holes_are_filled_or_wrapped() {
    let ball = icosphere(3);
    let cap = cut_off(ball.clone(), -0.3);
    let tube = shapes::cylinder(0.5, 1.0);
    let lidless = cut_off(shapes::cuboid(DVec3::ONE), 0.49);
    let panels = merged([0, 1, 2].map(|axis| {
        // Opposite faces, with gaps at the edges.
        let mut pair = shapes::cuboid(DVec3::ONE);
        let all = pair.clone();
        pair = without(pair, |t| {
            let [a, b, c] = all.corners(t);
            (b - a).cross(c - a)[axis] == 0.0
        });
        moved(pair, |p| {
            let mut q = p * 0.99;
            q[axis] = p[axis];
            q
        })
    }));
    check_all(vec![
        ("box without a lid", lidless, Skin(1.0, "filled 1 hole")),
        (
            "ball with a hole",
            cut_off(ball.clone(), 0.95),
            Skin(ball.volume(), "filled 1 hole"),
        ),
        (
            "tube with one end",
            without(tube.clone(), |t| tube.triangles[t].contains(&1)),
            Skin(tube.volume(), "filled 1 hole"),
        ),
        (
            "bunny with many holes",
            without(bunny(), |t| t % 40 == 0),
            Skin(bunny().volume(), "filled"),
        ),
        ("box of six panels", panels, Skin(1.0, "wrap")),
        (
            "a lid that does not quite meet its box",
            with_lifted_lid(1e-3),
            Skin(1.0, "merged 4 vertices across gaps"),
        ),
        (
            "a lid that floats above its box",
            with_lifted_lid(0.02),
            Skin(1.0, ""),
        ),
        (
            "a fine hole, whose edges are shorter than gaps",
            cut_off(icosphere(5), 0.999),
            Skin(icosphere(5).volume(), "filled 1 hole"),
        ),
        (
            "loose triangles above a box",
            merged([
                cuboid(),
                loose_triangle(dvec3(0.1, 0.2, 0.36)),
                loose_triangle(dvec3(0.0, 0.0, -0.4)),
            ]),
            Skin(1.05, "removed 2 loose triangles"),
        ),
        (
            "a shallow cap, inward",
            inward(cap.clone()),
            Skin(wound_volume(&cap), "wrap"),
        ),
        ("a sheet", shapes_sheet(), Refused("encloses nothing")),
        ("Klein bottle", one_sided(), Refused("one side")),
    ]);
}

/// A cube of edge 1 whose lid has vertices of its own, this far above.
fn with_lifted_lid(gap: f64) -> TriMesh {
    let cube = shapes::cuboid(DVec3::ONE);
    let is_lid = |t: usize| cube.corners(t).iter().all(|p| p.z > 0.4);
    let lid = without(cube.clone(), |t| !is_lid(t));
    merged([without(cube.clone(), is_lid), shifted(lid, gap * DVec3::Z)])
}

/// A triangle smaller than a millimetre.
fn loose_triangle(at: DVec3) -> TriMesh {
    TriMesh {
        positions: vec![at, at + 1e-3 * DVec3::X, at + 1e-3 * DVec3::Y],
        triangles: vec![[0, 1, 2]],
        ..TriMesh::default()
    }
}

/// A flat square of eight triangles.
fn shapes_sheet() -> TriMesh {
    let all = cuboid();
    without(cuboid(), |t| !all.corners(t).iter().all(|p| p.z > 0.34))
}

#[test]
fn crossings_are_cut_and_inner_walls_dropped() {
    let overlap = 2.0 * 1.05 - 0.7 * 1.1 * 0.5;
    let walled = {
        let mut mesh = cell(DVec3::ZERO);
        mesh.triangles.extend([[0, 1, 7], [0, 7, 6]]);
        mesh
    };
    let thrust = moved(
        sphere(),
        |p| if p.z > 0.99 { p - DVec3::Z * 2.5 } else { p },
    );
    let lens = {
        let mut apart = merged([sphere(), shifted(sphere(), DVec3::X * 1.1)]);
        apart = mixed(apart);
        apart
    };
    check_all(vec![
        (
            "boxes that overlap",
            merged([cuboid(), shifted(cuboid(), dvec3(0.3, 0.4, 0.2))]),
            Skin(overlap, "cut"),
        ),
        (
            "one of them inward",
            merged([cuboid(), inward(shifted(cuboid(), dvec3(0.3, 0.4, 0.2)))]),
            Skin(overlap, "cut"),
        ),
        (
            "spheres that overlap, mixed",
            lens.clone(),
            Skin(union_volume(&lens, &[ball_at(0.0), ball_at(1.1)]), "cut"),
        ),
        (
            "sphere thrust through",
            thrust.clone(),
            Skin(wound_volume(&thrust), ""),
        ),
        (
            "bricks that share part of a face",
            merged([cell(DVec3::ZERO), cell(dvec3(0.5, 0.5, 1.0))]),
            Skin(2.0, ""),
        ),
        (
            "bricks with walls",
            cells([[0, 0, 0], [1, 0, 0], [1, 1, 0]]),
            Skin(3.0, "duplicate"),
        ),
        ("bricks at a corner", cells([[0; 3], [1; 3]]), Skin(2.0, "")),
        (
            "bricks at an edge",
            cells([[0; 3], [1, 1, 0]]),
            Skin(2.0, ""),
        ),
        (
            "bricks apart",
            cells([[0; 3], [3, 0, 0]]),
            Skin(2.0, "nothing"),
        ),
        (
            "inner wall",
            walled,
            Skin(1.0, "removed 2 triangles of walls inside"),
        ),
    ]);
    let nested = merged([cuboid(), scaled(cuboid(), 0.5)]);
    let dropped = closed(&nested, 0.04, Region::Wound).unwrap();
    assert!((dropped.skin.volume() - 1.05).abs() < 1e-12);
}

#[test]
fn damaged_meshes_are_refused_by_name() {
    let with = |mut mesh: TriMesh, edit: fn(&mut TriMesh)| {
        edit(&mut mesh);
        mesh
    };
    check_all(vec![
        ("nothing", TriMesh::default(), Refused("no triangles")),
        (
            "missing vertex",
            with(sphere(), |m| m.triangles[3][1] = 99_999),
            Refused("uses vertex 99999"),
        ),
        (
            "NaN",
            with(sphere(), |m| m.positions[5].y = f64::NAN),
            Refused("not finite"),
        ),
        ("a point", scaled(sphere(), 0.0), Refused("flat")),
        ("too large", scaled(sphere(), 1e300), Refused("m across")),
        (
            "too far",
            shifted(inward(doubled(sphere())), DVec3::X * 1e11),
            Refused("too much precision"),
        ),
        (
            "flat",
            moved(sphere(), |p| p * dvec3(1.0, 1.0, 0.0)),
            Refused(""),
        ),
    ]);
}

#[test]
fn triangles_away_from_faults_keep_every_bit() {
    let ball = icosphere(4);
    let box_at = shifted(scaled(cuboid(), 0.4), dvec3(0.9, 0.1, 0.2));
    let mesh = merged([without(ball, |t| t == 7), box_at]);
    let closing = closed(&mesh, 0.04, Region::Nested).unwrap();
    let key = |mesh: &TriMesh, t: usize| {
        let mut corners = mesh.corners(t).map(|p| p.to_array().map(f64::to_bits));
        corners.sort_unstable();
        corners
    };
    let new: HashSet<_> = (0..closing.skin.triangles.len())
        .map(|t| key(&closing.skin, t))
        .collect();
    let lost = (0..mesh.triangles.len()).filter(|t| !new.contains(&key(&mesh, *t)));
    assert_eq!(lost.count(), closing.report.cut + closing.report.dropped);
    assert!(closing.report.cut > 20);
}

/// A convex part by the planes of its faces: point and outward normal.
type Planes = Vec<(DVec3, DVec3)>;

fn planes(mesh: &TriMesh) -> Planes {
    let of = |t: usize| {
        let [a, b, c] = mesh.corners(t);
        (a, (b - a).cross(c - a))
    };
    (0..mesh.triangles.len()).map(of).collect()
}

fn ball_at(x: f64) -> Planes {
    planes(&shifted(sphere(), DVec3::X * x))
}

/// Fraction of sampled points for which `is_inside`, times the volume of the box. The points are those of Kronecker's
/// sequence: they lie in no plane of the lattice on which parts are stacked.
fn sampled(low: DVec3, high: DVec3, is_inside: impl Fn(DVec3) -> bool) -> f64 {
    const POINTS: u32 = 300_000;
    let steps = [
        0.819_172_513_396_164_4,
        0.671_043_606_703_789_3,
        0.549_700_477_901_970_2,
    ];
    let points = (0..POINTS).map(|k| DVec3::from(steps.map(|step| (f64::from(k) * step).fract())));
    let inside = points
        .filter(|part| is_inside(low + (high - low) * *part))
        .count();
    (high - low).element_product() * inside as f64 / f64::from(POINTS)
}

/// Volume of the union of the convex parts of a mesh.
fn union_volume(mesh: &TriMesh, parts: &[Planes]) -> f64 {
    let (low, high) = mesh.bounds().unwrap();
    sampled(low, high, |p| {
        parts.iter().any(|planes| {
            planes
                .iter()
                .all(|(at, normal)| (p - *at).dot(*normal) <= 0.0)
        })
    })
}

fn wound_volume(mesh: &TriMesh) -> f64 {
    let (low, high) = mesh.bounds().unwrap();
    let winding = Winding::new(mesh);
    sampled(low, high, |p| winding.number(p) > 0.5)
}

/// Numbers from 0 to 1 by a linear congruence.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, count: u32) -> u32 {
        (self.next() * f64::from(count)) as u32
    }
}

/// A kit-bash: boxes, cylinders and balls, turned at random or stacked on a lattice, where faces lie in one plane;
/// some are wound inward, some lack a triangle.
fn kit_bash(seed: u64) -> (TriMesh, Vec<Planes>) {
    let mut draw = Draws(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut mesh = TriMesh::default();
    let mut parts = Vec::new();
    let is_stacked = draw.below(4) == 0;
    for _ in 0..2 + draw.below(6) {
        let mut part = match draw.below(3) {
            0 => shapes::cuboid(DVec3::ONE),
            1 => shapes::cylinder(0.5, 1.0),
            _ => icosphere(1),
        };
        let axis = DVec3::new(draw.next(), draw.next(), draw.next()) - 0.5;
        let turn = DMat3::from_axis_angle(axis.normalize(), 6.0 * draw.next());
        let size = DVec3::new(draw.next(), draw.next(), draw.next()) + 0.3;
        let shift = DVec3::new(draw.next(), draw.next(), draw.next());
        for p in &mut part.positions {
            *p = match is_stacked {
                true => *p + (shift * 4.0).floor() * 0.5,
                false => turn * (*p * size) + shift * 1.2,
            };
        }
        if draw.below(6) == 0 {
            part.triangles.pop();
        }
        parts.push(part);
    }
    let solids: Vec<Planes> = parts.iter().map(planes).collect();
    for (k, part) in parts.into_iter().enumerate() {
        let is_hidden = |p: &DVec3| {
            let mut others = solids.iter().enumerate().filter(|(other, _)| *other != k);
            others.any(|(_, planes)| holds(planes, *p))
        };
        // Wound inward inside others it would be a cavity.
        let turns = draw.below(6) == 0 && !part.positions.iter().all(is_hidden);
        mesh.append(if turns { inward(part) } else { part });
    }
    (mesh, solids)
}

/// Whether a point lies in a convex part. A missing triangle does not matter: the planes of the others bound the part,
/// or nearly.
fn holds(planes: &Planes, p: DVec3) -> bool {
    planes
        .iter()
        .all(|(at, normal)| (p - *at).dot(*normal) <= 0.0)
}

#[test]
fn random_kit_bashes_become_solids() {
    let more = std::env::var("CULLET_TORTURE").ok();
    let count = more.and_then(|n| n.parse().ok()).unwrap_or(12);
    let mut wrong = Vec::new();
    for seed in 0..count {
        let (mesh, parts) = kit_bash(seed);
        match closed(&mesh, 0.03, Region::Wound) {
            Ok(closing) => {
                let (volume, expected) = (closing.skin.volume(), union_volume(&mesh, &parts));
                if (volume / expected - 1.0).abs() > 0.01 {
                    wrong.push(format!(
                        "{seed}: {volume} for {expected} ({})",
                        closing.report
                    ));
                }
            }
            Err(error) => wrong.push(format!("{seed}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
