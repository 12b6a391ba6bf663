//! Surfaces of random bodies that break in random ways.
//!
//! Each seed is a case: a body of a random shape and packing, a few frames in which its bonds break by
//! patterns or on a floor, and the surfaces of every frame. Every edge must have two consistently wound
//! triangles, the triangles about every vertex must form one fan, no fragment may be inside out, and the
//! volumes of all fragments must add up to that of the body. A fragment may be drawn as chips only if it is
//! too small for the grid.
//!
//! The cases of [`GATE`] and [`FAILED_ONCE`] always run. `CULLET_TORTURE=1000` runs a thousand more, starting
//! at seed 0 or `CULLET_TORTURE_START`.

mod bodies;
mod breaks;
mod check;
mod draw;
mod meshes;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cullet::geometry::TriMesh;
use cullet::geometry::check::require_solid;
use cullet::reconstruct::body::rest::RestBody;
use cullet::reconstruct::{ReconstructError, Surfaces};
use cullet::spec::{PackingSpec, ReconstructMode};
use cullet::store::SurfaceFrame;
use rayon::prelude::*;

use bodies::Body;
use breaks::BrokenState;
use draw::RandomStream;

/// Cases that always run: small bodies, one of each shape.
const GATE: [u64; 20] = [
    380, 361, 2, 603, 204, 225, 346, 327, 448, 189, 390, 191, 412, 273, 334, 335, 256, 217, 838,
    319,
];

/// Of the first thousand seeds, those that once had an edge with four triangles or a fragment inside out. 735
/// had a vertex that joined two fans; those of them that are in [`GATE`] are kept for that. In seeds 1385 and
/// 1491 a neck joined the surfaces of two fragments.
const FAILED_ONCE: &[u64] = &[
    52, 78, 157, 162, 178, 195, 200, 239, 300, 312, 314, 317, 328, 370, 424, 430, 437, 463, 490,
    493, 572, 574, 579, 585, 593, 623, 639, 653, 663, 691, 697, 698, 739, 740, 754, 757, 760, 774,
    813, 818, 863, 877, 890, 912, 938, 958, 974, 1385, 1491,
];

/// How a body breaks: the random stream, the number of frames, and whether by an impact.
fn breakage(seed: u64) -> (RandomStream, u32, bool) {
    let mut draw = RandomStream::new(seed, 2);
    let frames = 2 + draw.below(3) as u32;
    let impact = draw.chance(0.2);
    (draw, frames, impact)
}

/// A body and its states.
struct Case {
    body: Body,
    /// Mesh on which surfaces are drawn, as in a run on a store: `None` where the skin bounds no solid.
    solid: Option<TriMesh>,
    states: Vec<BrokenState>,
}

impl Case {
    fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let body = bodies::body(seed, folder.path());
        let (mut draw, frames, impact) = breakage(seed);
        let states = if impact {
            breaks::impact_states(&mut draw, &body, frames)
        } else {
            breaks::states(&mut draw, &body, frames)
        };
        let mut solid = body.packed.shapes[0].clone();
        let is_solid = require_solid(&mut solid).is_ok();
        Case {
            body,
            solid: is_solid.then_some(solid),
            states,
        }
    }

    /// The surfaces of every frame.
    fn surfaces(&self) -> Vec<Result<SurfaceFrame, ReconstructError>> {
        let packing = &self.body.packed.packing;
        let params = &self.body.pipeline.reconstruct;
        let bodies = RestBody::all(&packing.elements, &packing.bonds, params, |_| {
            Ok(self.solid.clone())
        });
        let mut surfaces = Surfaces::new(&packing.elements, bodies.unwrap());
        let states = (0..).zip(&self.states);
        states
            .map(|(number, shot)| surfaces.at(number, &shot.frame, &shot.broken))
            .collect()
    }

    /// Defects of the surfaces.
    fn findings(&self) -> Vec<String> {
        let packed = &self.body.packed;
        let params = &self.body.pipeline.reconstruct;
        // Balls, and surfaces made in mode `world`, do not fill the skin.
        let is_world = params.mode == ReconstructMode::World || self.solid.is_none();
        let fills = !is_world && !packed.packing.bonds.i.is_empty();
        let skin = &packed.shapes[0];
        // Simplified surfaces may deviate by this much.
        let moves = params.simplify * packed.bodies[0].radius * skin.area() / skin.volume();
        let mut lines = Vec::new();
        for (number, surface) in self.surfaces().into_iter().enumerate() {
            let surface = match surface {
                Ok(surface) => surface,
                Err(error) => {
                    lines.push(format!("frame {number}: {error}"));
                    continue;
                }
            };
            let labels = &self.states[number].frame.fragment;
            let found = check::check(&surface, &packed.packing.elements, labels, fills);
            let of_frame = found.lines.iter();
            lines.extend(of_frame.map(|line| format!("frame {number}: {line}")));
            // In a body of several solids, an element may lie outside the solid that it fills.
            let dust = found.dust;
            if fills && packed.bodies[0].parts == 1 && dust > check::DUST {
                lines.push(format!("frame {number}: chips for {dust} elements"));
            }
            let off = found.volume / skin.volume() - 1.0;
            if fills && (off.is_nan() || off.abs() > check::VOLUME + moves) {
                lines.push(format!("frame {number}: volume off by {off:.2e}"));
            }
        }
        if !lines.is_empty() {
            let count = packed.packing.elements.x.len();
            lines.push(format!("{count} elements, {}", self.body.text));
        }
        lines
    }
}

/// The findings of a seed in one line; a panic counts as a finding.
fn try_seed(seed: u64) -> Option<String> {
    let lines = catch_unwind(AssertUnwindSafe(|| Case::new(seed).findings()));
    let lines = lines.unwrap_or_else(|_| vec!["panicked".into()]);
    match &lines[..] {
        [] => None,
        [first, .., last] if lines.len() > 3 => {
            let more = lines.len() - 2;
            Some(format!("seed {seed}: {first}; and {more} more; {last}"))
        }
        _ => Some(format!("seed {seed}: {}", lines.join("; "))),
    }
}

fn environment_number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

#[test]
fn surfaces_of_random_bodies_are_sound_however_they_break() {
    let start = environment_number("CULLET_TORTURE_START", 0);
    let more = start..start + environment_number("CULLET_TORTURE", 0);
    let kept = GATE.iter().chain(FAILED_ONCE).copied();
    let mut seeds: Vec<u64> = kept.chain(more).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let failed: Vec<String> = seeds
        .par_iter()
        .with_max_len(1)
        .filter_map(|&seed| {
            let failed = try_seed(seed)?;
            eprintln!("{failed}");
            Some(failed)
        })
        .collect();
    assert!(
        failed.is_empty(),
        "{} of {} cases failed:\n{}",
        failed.len(),
        seeds.len(),
        failed.join("\n")
    );
}

#[test]
fn surfaces_are_the_same_on_any_number_of_threads() {
    // A box, a bowl, a star and a ring with separated fans.
    for seed in [380, 204, 273, 256] {
        let case = Case::new(seed);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().unwrap().install(|| {
                let surfaces = case.surfaces().into_iter();
                surfaces.map(|surface| surface.unwrap()).collect::<Vec<_>>()
            })
        };
        let one = on(1);
        assert!(
            [2, 7].into_iter().all(|threads| on(threads) == one),
            "seed {seed}"
        );
    }
}

#[test]
fn the_cases_of_the_gate_have_every_shape_and_packing() {
    let shapes = |seeds: &[u64]| -> BTreeSet<u64> {
        let shapes = bodies::SHAPES.len() as u64;
        seeds.iter().map(|seed| seed % shapes).collect()
    };
    assert_eq!(shapes(&GATE).len(), bodies::SHAPES.len());
    let mut found = BTreeSet::new();
    for seed in GATE {
        let folder = tempfile::tempdir().unwrap();
        let body = bodies::body(seed, folder.path());
        // A new packing must be added to the cases.
        found.insert(match body.pipeline.bodies[0].packing {
            PackingSpec::Hexagonal { .. } => "hexagonal",
            PackingSpec::Random { .. } => "random",
            PackingSpec::Loose { .. } => "loose",
            PackingSpec::Shell { .. } => "shell",
            PackingSpec::Twisted { .. } => "twisted",
            PackingSpec::Woven { .. } => "woven",
            PackingSpec::Voronoi { .. } => "voronoi",
            PackingSpec::Cubic { .. } => "cubic",
            PackingSpec::None {} => "none",
        });
    }
    assert_eq!(found.len(), 6, "{found:?}");
    assert!(GATE.iter().any(|&seed| breakage(seed).2), "no impact");
}

/// Two tetrahedra that share a vertex, an edge, or nothing.
fn two_tetrahedra(shared: usize) -> TriMesh {
    let one = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
    let other = one.map(|t| t.map(|v: u32| if (v as usize) < shared { v } else { v + 4 }));
    TriMesh {
        positions: (0..8)
            .map(|v| glam::DVec3::new((v & 1) as f64, (v >> 1 & 1) as f64, (v >> 2) as f64))
            .collect(),
        triangles: [one, other].concat(),
        ..TriMesh::default()
    }
}

#[test]
fn the_checker_finds_what_is_wrong() {
    let said = |mesh: &TriMesh| check::defects(mesh).join("; ");
    let mesh = two_tetrahedra(0);
    assert_eq!(said(&mesh), "");
    let mut open = mesh.clone();
    open.triangles.pop();
    assert!(said(&open).contains("3 edges with 0 triangles one way and 1"));
    let mut turned = mesh.clone();
    turned.triangles[0].swap(0, 1);
    assert!(said(&turned).contains("3 edges with 0 triangles one way and 2"));
    assert!(said(&two_tetrahedra(1)).contains("1 vertices pinch two fans"));
    assert!(said(&two_tetrahedra(2)).contains("1 edges with 2 triangles one way and 2"));
}
