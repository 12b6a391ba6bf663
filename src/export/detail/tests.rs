use glam::DVec3;

use super::corners;
use super::fidelity::VOLUME_TOLERANCE;
use super::full::{FullSurface, HeldMesh};
use super::reduce::{Reduced, reduce};
use super::{DetailLimits, DetailView, Reduction, plan, topology};
use crate::export::error::ExportError;
use crate::export::space::FileCoordinates;
use crate::geometry::icosphere;
use crate::geometry::nearest::nearest_on_triangle;
use crate::store::corner_normals::Fans;
use crate::store::{FragmentRange, SurfaceFrame};

/// Adds a bumpy ball whose upper half is a crack face; its texture has a seam along the rim and another along x = 0.
fn add_ball(surface: &mut SurfaceFrame, fragment: u32, size: f64, shift: DVec3) {
    let ball = icosphere(4);
    let base = surface.positions.len() as u32;
    surface.pieces.push(FragmentRange {
        body: 0,
        fragment,
        first_vertex: base,
        vertices: ball.positions.len() as u32,
        first_triangle: surface.triangles.len() as u32,
        triangles: ball.triangles.len() as u32,
    });
    for p in &ball.positions {
        let bump = 1.0 + 0.04 * (5.0 * p.x).sin() * (4.0 * p.z).cos();
        let rest = *p * bump * size;
        surface.rest_positions.push(rest.as_vec3().to_array());
        let now = (rest + shift).as_vec3().to_array();
        surface.positions.push(now);
        surface.normals.push(p.as_vec3().to_array());
        surface.velocities.push([0.0; 3]);
        surface.stress.push(p.x as f32);
    }
    for triangle in &ball.triangles {
        let corners = triangle.map(|v| ball.positions[v as usize]);
        let middle = corners.iter().sum::<DVec3>();
        surface.uv.push(texture(
            middle,
            triangle.map(|v| rest_of(surface, base + v)),
        ));
        surface.inside.push((middle.y > 0.0).into());
        surface.triangles.push(triangle.map(|v| v + base));
    }
}

fn rest_of(surface: &SurfaceFrame, vertex: u32) -> DVec3 {
    DVec3::from(surface.rest_positions[vertex as usize].map(f64::from))
}

/// Texture of a triangle: two charts on the skin, on crack faces a projection along x, y or z.
fn texture(middle: DVec3, corners: [DVec3; 3]) -> [[f32; 2]; 3] {
    let chart = f64::from(u8::from(middle.x > 0.0));
    let [a, b, c] = corners;
    let normal = (b - a).cross(c - a);
    corners.map(|p| match middle.y > 0.0 {
        false => [p.z as f32 + 4.0 * chart as f32, p.x as f32],
        true => projected(p, normal.abs().max_position()),
    })
}

fn projected(p: DVec3, axis: usize) -> [f32; 2] {
    let [u, v] = [1, 2].map(|step| p[(axis + step) % 3] as f32);
    [u, v]
}

fn ball() -> SurfaceFrame {
    let mut surface = SurfaceFrame::default();
    add_ball(&mut surface, 3, 1.0, DVec3::ZERO);
    surface
}

fn corners_of(full: &FullSurface, reduced: &Reduced) -> Vec<[DVec3; 3]> {
    let vertex = |v: u32| full.mesh.positions[reduced.sources[v as usize] as usize];
    let triangles = reduced.triangles.iter();
    triangles.map(|triangle| triangle.map(vertex)).collect()
}

/// Largest distance of `points` from triangles.
fn farthest(points: &[DVec3], triangles: &[[DVec3; 3]]) -> f64 {
    let distance = |p: &DVec3| {
        let to = triangles.iter();
        to.map(|corners| nearest_on_triangle(*p, *corners).distance(*p))
            .fold(f64::INFINITY, f64::min)
    };
    points.iter().map(distance).fold(0.0, f64::max)
}

#[test]
fn reduced_surfaces_are_closed_and_within_the_error() {
    let surface = ball();
    let full = FullSurface::new(&surface, &surface.pieces[0]);
    assert_eq!(full.defects, [0_u32; 0]);
    let whole: Vec<[DVec3; 3]> = (0..full.mesh.triangles.len())
        .map(|t| full.mesh.corners(t))
        .collect();
    let mut before = full.mesh.triangles.len();
    for error in [0.006, 0.02, 0.1] {
        let reduced = reduce(&full, error).expect("a ball needs fewer triangles");
        let count = reduced.triangles.len();
        assert!(count * 4 < before * 3, "{error}: {count} of {before}");
        before = count;
        assert_eq!(topology::defects(&reduced.triangles), [0_u32; 0]);
        let triangles = corners_of(&full, &reduced);
        for [a, b, c] in &triangles {
            let normal = (*b - *a).cross(*c - *a);
            assert!(normal.length() > 1e-9 && normal.dot(*a + *b + *c) > 0.0);
        }
        let volume: f64 = triangles
            .iter()
            .map(|[a, b, c]| a.dot(b.cross(*c)) / 6.0)
            .sum();
        let change = (volume - full.volume).abs();
        assert!(change < VOLUME_TOLERANCE * full.volume, "{volume}");
        let off = farthest(&full.mesh.positions, &triangles);
        assert!(off <= error, "{error}: {off}");
        let middles: Vec<DVec3> = triangles
            .iter()
            .map(|[a, b, c]| (*a + *b + *c) / 3.0)
            .collect();
        let off = farthest(&middles, &whole);
        assert!(off <= error, "{error}: {off}");
    }
    assert!(before * 10 < full.mesh.triangles.len(), "{before}");
}

#[test]
fn seams_rims_and_normals_stay_where_they_are() {
    let surface = ball();
    let full = FullSurface::new(&surface, &surface.pieces[0]);
    let reduced = reduce(&full, 0.02).expect("fewer triangles");
    for (triangle, rows) in reduced.triangles.iter().zip(&reduced.rows) {
        let sources = triangle.map(|v| reduced.sources[v as usize]);
        if corners::is_inside(&rows[0]) {
            let fits = |axis: usize| {
                sources.iter().zip(rows).all(|(vertex, row)| {
                    let [u, v] = projected(full.mesh.positions[*vertex as usize], axis);
                    (u - row[0]).abs().max((v - row[1]).abs()) < 1e-4
                })
            };
            assert!((0..3).any(fits), "{rows:?}");
            continue;
        }
        for (vertex, row) in sources.iter().zip(rows) {
            assert!(full.corners.distinct.contains(&(*vertex, *row)));
            let chart = |row: &corners::CornerRow| row[0] > 2.0;
            assert_eq!(chart(row), chart(&rows[0]), "no triangle crosses the seam");
        }
    }
    let reduction = plan_of(
        std::slice::from_ref(&surface),
        limits(None, Some(0.02), None),
    )
    .expect("a plan");
    let exported = reduction.apply(&surface);
    let piece = &exported.pieces[0];
    assert_eq!(piece.triangles as usize, reduced.triangles.len());
    for (position, normal) in exported.positions.iter().zip(&exported.normals) {
        let vertex = surface.positions.iter().position(|p| p == position);
        assert_eq!(
            *normal,
            surface.normals[vertex.expect("a vertex of the ball")]
        );
    }
    // Only the rim is an edge, however coarse the triangles are.
    let vertices: Vec<u32> = exported.triangles.as_flattened().to_vec();
    let kinds = |v: u32| {
        let corners = vertices.iter().enumerate().filter(|(_, w)| **w == v);
        let mut kinds: Vec<u8> = corners.map(|(k, _)| exported.inside[k / 3]).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.len()
    };
    let expected: usize = (0..piece.vertices).map(kinds).sum();
    assert_eq!(Fans::of(&exported, piece).vertices.len(), expected);
}

#[test]
fn what_bends_is_within_the_error_where_it_is_bent() {
    let mut surface = ball();
    for p in &mut surface.rest_positions {
        p[1] *= 0.02;
    }
    let piece = surface.pieces[0];
    let folded = |p: &[f32; 3]| [p[0], p[1] + 0.2 * (6.0 * p[0]).sin(), p[2]];
    surface.positions = surface.rest_positions.iter().map(folded).collect();
    let mut held = HeldMesh::new(&surface, &piece);
    let flat = held.prepared();
    held.add_bent(&surface, &piece);
    let bent = held.prepared();
    let off = |full: &FullSurface| {
        let reduced = reduce(full, 0.02).expect("fewer triangles");
        let vertex = |v: u32| bent.bent[0][reduced.sources[v as usize] as usize];
        let triangles = reduced.triangles.iter().map(|t| t.map(vertex));
        farthest(&bent.bent[0], &triangles.collect::<Vec<_>>())
    };
    assert!(off(&bent) <= 0.02, "{}", off(&bent));
    assert!(off(&flat) > 0.04, "{}", off(&flat));
}

fn limits(triangles: Option<u32>, error: Option<f64>, view: Option<DetailView>) -> DetailLimits {
    DetailLimits {
        triangles,
        error,
        view,
    }
}

fn plan_of(frames: &[SurfaceFrame], limits: DetailLimits) -> Result<Reduction, ExportError> {
    let numbers: Vec<u32> = (0..frames.len() as u32).collect();
    let read = |frame: u32| Ok(frames[frame as usize].clone());
    plan(&numbers, &limits, FileCoordinates::of_shot(None), &read)
}

/// A clip of two frames: a large and a small ball, and one that comes closer.
fn clip() -> Vec<SurfaceFrame> {
    let frame = |number: u32| {
        let mut surface = SurfaceFrame {
            frame: number,
            ..SurfaceFrame::default()
        };
        add_ball(&mut surface, 0, 1.0, DVec3::ZERO);
        add_ball(&mut surface, 1, 0.1, DVec3::X * 3.0);
        let far = 50.0 - 40.0 * f64::from(number);
        add_ball(&mut surface, 2, 1.0, DVec3::X * far);
        surface
    };
    (0..2).map(frame).collect()
}

#[test]
fn a_budget_is_kept_and_shared_by_equal_errors() {
    let clip = clip();
    let full = clip[0].triangles.len() as u64;
    let reduction = plan_of(&clip, limits(Some(2000), None, None)).expect("a plan");
    let summary = reduction.summary;
    assert_eq!(summary.full, full);
    assert!((1800..=2000).contains(&summary.exported), "{summary:?}");
    assert!(!summary.in_pixels);
    for frame in &clip {
        let exported = reduction.apply(frame);
        assert_eq!(exported.triangles.len() as u64, summary.exported);
        let counts: Vec<u32> = exported
            .pieces
            .iter()
            .map(|piece| piece.triangles)
            .collect();
        // The error depends on neither place nor label, so balls of one size are alike, and small ones coarser.
        assert_eq!(counts[0], counts[2]);
        assert!(counts[1] * 4 < counts[0], "{counts:?}");
    }
    let all = plan_of(&clip, limits(Some(full as u32), None, None)).expect("a plan");
    assert_eq!((all.summary.exported, all.summary.error), (full, 0.0));
    let exported = all.apply(&clip[1]);
    assert_eq!(exported.triangles, clip[1].triangles);
    let refused = plan_of(&clip, limits(Some(20), None, None)).err();
    let Some(ExportError::Triangles {
        asked: 20, least, ..
    }) = refused
    else {
        panic!("{refused:?}");
    };
    plan_of(&clip, limits(Some(least as u32), None, None)).expect("as many as are needed");
}

#[test]
fn a_budget_does_not_exceed_the_largest_error() {
    let clip = clip();
    let alone = plan_of(&clip, limits(None, Some(0.02), None)).expect("a plan");
    let needed = alone.summary.exported;
    assert!(needed < alone.summary.full);
    let kept = plan_of(&clip, limits(Some(needed as u32), Some(0.02), None)).expect("a plan");
    assert_eq!(kept.summary, alone.summary);
    let refused = plan_of(&clip, limits(Some(needed as u32 - 1), Some(0.02), None)).err();
    let refused = refused.expect("one triangle is missing").to_string();
    for part in [format!("need {needed}"), "within 0.02 m".to_owned()] {
        assert!(refused.contains(&part), "{refused}");
    }
}

#[test]
fn small_budgets_are_found_among_sizes_far_apart() {
    let mut surface = SurfaceFrame::default();
    for (label, size) in [(0, 100.0), (1, 1.0), (2, 1e-3)] {
        add_ball(&mut surface, label, size, DVec3::ZERO);
    }
    let full = surface.triangles.len() as u64;
    // From a budget that only the smallest ball has to give way for, to one near the least.
    for budget in [full - 100, full / 2, full / 10] {
        let clip = std::slice::from_ref(&surface);
        let summary = plan_of(clip, limits(Some(budget as u32), None, None))
            .expect("a plan")
            .summary;
        assert!(
            (budget * 8 / 10..=budget).contains(&summary.exported),
            "{budget}: {summary:?}"
        );
    }
}

#[test]
fn a_void_that_vanishes_is_a_defect() {
    // A tetrahedron, and a void of two opposite triangles.
    let tetrahedron = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
    assert_eq!(topology::defects(&tetrahedron), [0_u32; 0]);
    let flat = [[4, 5, 6], [4, 6, 5]];
    let both = [&tetrahedron[..], &flat].concat();
    assert_eq!(topology::defects(&both), [4, 5, 6]);
    // Coarser than the void is wide, it stays a solid.
    let mut surface = SurfaceFrame::default();
    add_ball(&mut surface, 0, 1.0, DVec3::ZERO);
    add_ball(&mut surface, 0, 0.05, DVec3::ZERO);
    let void = surface.pieces.pop().expect("the void");
    let range = surface.triangle_range(&void);
    surface.triangles[range.clone()]
        .iter_mut()
        .for_each(|t| t.swap(1, 2));
    surface.uv[range].iter_mut().for_each(|uv| uv.swap(1, 2));
    let body = &mut surface.pieces[0];
    body.vertices += void.vertices;
    body.triangles += void.triangles;
    let full = FullSurface::new(&surface, &surface.pieces[0]);
    let reduced = reduce(&full, 0.2).expect("fewer triangles");
    assert_eq!(topology::defects(&reduced.triangles), [0_u32; 0]);
    let is_of_void = |t: &&[u32; 3]| reduced.sources[t[0] as usize] >= void.first_vertex;
    let of_void = reduced.triangles.iter().filter(is_of_void).count();
    assert!(of_void == 0 || of_void >= 4, "{of_void}");
}

#[test]
fn the_nearest_frame_says_how_coarse_a_fragment_may_be() {
    let clip = clip();
    let view = |x: f64| DetailView {
        eye: [x, 0.0, 0.0],
        pixel: 1e-3,
    };
    let of = |x: f64| {
        let reduction = plan_of(&clip, limits(None, Some(0.5), Some(view(x)))).expect("a plan");
        let frames: Vec<SurfaceFrame> = clip.iter().map(|frame| reduction.apply(frame)).collect();
        assert!(reduction.summary.in_pixels);
        let [first, last] = [0, 1].map(|frame: usize| &frames[frame]);
        assert_eq!(
            first.rest_positions, last.rest_positions,
            "nothing flickers"
        );
        assert_eq!(first.triangles, last.triangles);
        let counts = first.pieces.iter().map(|piece| piece.triangles);
        counts.collect::<Vec<u32>>()
    };
    // The third ball is 9 m from the eye at the nearest, as the first one is.
    let counts = of(-10.0);
    assert!(counts[2] * 5 < counts[0] * 4, "{counts:?}");
    let from_afar = of(-100.0);
    assert!(from_afar[0] * 4 < counts[0], "{from_afar:?}");
    let near_the_third = of(0.0);
    assert!(near_the_third[2] > counts[2], "{near_the_third:?}");
}

#[test]
fn plans_do_not_depend_on_the_number_of_threads() {
    let clip = clip();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let plan = || plan_of(&clip, limits(Some(3000), None, None)).expect("a plan");
        let reduction = pool.expect("a pool").install(plan);
        (reduction.apply(&clip[1]), reduction.summary)
    };
    assert_eq!(with(1), with(3));
}
