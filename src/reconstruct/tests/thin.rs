//! Tests of skins that are thinner than an element in places, and of parts close to each other across a gap.

use super::*;
use crate::geometry::check::require_solid;

/// A polygon in the xy plane, counter-clockwise, extruded along z from -`depth` to `depth`; `caps` triangulate
/// it.
fn extruded(outline: &[[f64; 2]], caps: &[[u32; 3]], depth: f64) -> TriMesh {
    let mut mesh = TriMesh::default();
    for z in [-depth, depth] {
        let points = outline.iter().map(|[x, y]| DVec3::new(*x, *y, z));
        mesh.positions.extend(points);
    }
    let count = outline.len() as u32;
    for &[a, b, c] in caps {
        let cap = [[a, c, b], [a, b, c].map(|v| v + count)];
        mesh.triangles.extend(cap);
    }
    for k in 0..count {
        let next = (k + 1) % count;
        let side = [[k, next, next + count], [k, next + count, k + count]];
        mesh.triangles.extend(side);
    }
    require_solid(&mut mesh.clone()).unwrap();
    mesh
}

/// A block up to y = 10 with a fin on it, 0.6 thick and 10 high, in the plane x = 0.
fn block_with_fin() -> (Elements, Bonds, TriMesh) {
    let outline = [
        [-10.0, 0.0],
        [10.0, 0.0],
        [10.0, 10.0],
        [0.3, 10.0],
        [0.3, 20.0],
        [-0.3, 20.0],
        [-0.3, 10.0],
        [-10.0, 10.0],
    ];
    let caps = [
        [0, 1, 2],
        [0, 2, 3],
        [0, 3, 6],
        [0, 6, 7],
        [3, 4, 5],
        [3, 5, 6],
    ];
    let (lo, hi) = (DVec3::new(-9.5, 0.5, -9.5), DVec3::new(9.5, 9.5, 9.5));
    let (elements, bonds) = packed(lo, hi, R, |_| true);
    (elements, bonds, extruded(&outline, &caps, 10.0))
}

/// A block up to y = 6 with a tower on it, and beside the tower, across a gap of 0.6, a blade 0.6 thick.
fn tower_with_blade() -> (Elements, Bonds, TriMesh) {
    let outline = [
        [-10.0, 0.0],
        [10.0, 0.0],
        [10.0, 20.0],
        [2.0, 20.0],
        [2.0, 6.0],
        [1.4, 6.0],
        [1.4, 18.0],
        [0.8, 18.0],
        [0.8, 6.0],
        [-10.0, 6.0],
    ];
    let caps = [
        [0, 1, 4],
        [1, 2, 3],
        [1, 3, 4],
        [0, 4, 5],
        [0, 5, 8],
        [0, 8, 9],
        [5, 6, 7],
        [5, 7, 8],
    ];
    let (lo, hi) = (DVec3::new(-9.5, 0.5, -7.5), DVec3::new(9.5, 19.5, 7.5));
    let (elements, bonds) = packed(lo, hi, R, |p| p.y < 5.5 || p.x > 2.5);
    (elements, bonds, extruded(&outline, &caps, 8.0))
}

/// A fork with two prongs above y = 6 and a gap of 0.8 between them.
fn fork() -> (Elements, Bonds, TriMesh) {
    let outline = [
        [-10.0, 0.0],
        [10.0, 0.0],
        [10.0, 20.0],
        [0.4, 20.0],
        [0.4, 6.0],
        [-0.4, 6.0],
        [-0.4, 20.0],
        [-10.0, 20.0],
    ];
    let caps = [
        [0, 1, 4],
        [1, 2, 3],
        [1, 3, 4],
        [0, 4, 5],
        [0, 5, 7],
        [5, 6, 7],
    ];
    let (lo, hi) = (DVec3::new(-9.5, 0.5, -7.5), DVec3::new(9.5, 19.5, 7.5));
    let (elements, mut bonds) = packed(lo, hi, R, |p| p.y < 5.5 || p.x.abs() > 0.9);
    // Elements in the two prongs are not bonded.
    let kept: Vec<bool> = bonds
        .i
        .iter()
        .zip(&bonds.j)
        .map(|(&i, &j)| {
            let [a, b] = [i, j].map(|e| e as usize);
            elements.y[a].max(elements.y[b]) < 5.5 || elements.x[a] * elements.x[b] > 0.0
        })
        .collect();
    for column in [&mut bonds.i, &mut bonds.j] {
        let mut kept = kept.iter();
        column.retain(|_| kept.next() == Some(&true));
    }
    for column in [&mut bonds.l0, &mut bonds.dx, &mut bonds.dy, &mut bonds.dz] {
        let mut kept = kept.iter();
        column.retain(|_| kept.next() == Some(&true));
    }
    (elements, bonds, extruded(&outline, &caps, 8.0))
}

/// The elements moved by a displacement that depends on position at rest and label.
fn moved(elements: &Elements, labels: &[u32], by: impl Fn(DVec3, u32) -> DVec3) -> Frames {
    let mut frame = at_rest(elements, labels);
    for (e, &label) in labels.iter().enumerate() {
        let rest = DVec3::new(elements.x[e], elements.y[e], elements.z[e]);
        let p = (rest + by(rest, label)).as_vec3();
        (frame.x[e], frame.y[e], frame.z[e]) = (p.x, p.y, p.z);
    }
    frame
}

/// Largest ratio of the lengths of an edge in the frame and at rest.
fn stretch(surface: &SurfaceFrame) -> f64 {
    let length = |positions: &[[f32; 3]], [a, b]: [u32; 2]| {
        let [a, b] = [a, b].map(|v| DVec3::from(positions[v as usize].map(f64::from)));
        a.distance(b)
    };
    let edges = surface
        .triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let ratios = edges.map(|edge| {
        // Single precision is too coarse for shorter edges.
        let rest = length(&surface.rest_positions, edge).max(1e-3);
        length(&surface.positions, edge) / rest
    });
    ratios.fold(0.0, f64::max)
}

/// Surfaces after the fragments have flown apart; checks that they are closed, fill the skin and stretch no
/// edge.
fn flown_apart(
    (elements, bonds, skin): &(Elements, Bonds, TriMesh),
    labels: &[u32],
    voxel: f64,
) -> SurfaceFrame {
    let apart = |_: DVec3, label: u32| DVec3::new(40.0, 25.0, -35.0) * f64::from(label % 7);
    let surface = surfaces(elements, bonds, skin, voxel)
        .at(0, &moved(elements, labels, apart), &whole(bonds))
        .unwrap();
    let off = total_volume(&surface) / skin.volume() - 1.0;
    assert!(off.abs() < 2e-3, "voxel {voxel}: volume off by {off}");
    let stretch = stretch(&surface);
    assert!(
        stretch < 1.1,
        "voxel {voxel}: an edge is {stretch} times as long"
    );
    surface
}

fn rest_points(surface: &SurfaceFrame, fragment: u32) -> impl Iterator<Item = DVec3> + '_ {
    let pieces = surface.pieces.iter();
    let own = pieces.filter(move |piece| piece.fragment == fragment);
    own.flat_map(|piece| &surface.rest_positions[surface.vertex_range(piece)])
        .map(|p| DVec3::from(p.map(f64::from)))
}

#[test]
fn a_fin_without_elements_breaks_with_the_block_under_it() {
    let body = block_with_fin();
    let elements = &body.0;
    for voxel in [0.5, 0.8, 1.3] {
        // Across the fin.
        let across: Vec<u32> = elements.z.iter().map(|&z| u32::from(z > 0.2)).collect();
        let surface = flown_apart(&body, &across, voxel);
        assert_eq!(surface.pieces.len(), 2);
        for (fragment, side) in [(0, -1.0), (1, 1.0)] {
            let fin = rest_points(&surface, fragment).filter(|p| p.y > 10.5);
            let (mut count, mut beyond) = (0, f64::MIN);
            for p in fin {
                count += 1;
                beyond = beyond.max(-side * (p.z - 0.2));
            }
            assert!(
                count > 20,
                "fragment {fragment} has {count} vertices of the fin"
            );
            assert!(
                beyond < 3.0,
                "fragment {fragment} reaches {beyond} beyond the crack"
            );
        }
        // Along the fin, under it, and into many pieces.
        let along: Vec<u32> = elements.x.iter().map(|&x| u32::from(x > 0.3)).collect();
        flown_apart(&body, &along, voxel);
        let (lo, hi) = body.2.bounds().unwrap();
        flown_apart(&body, &voronoi(elements, 12, lo, hi), voxel);
    }
}

#[test]
fn crumbs_under_a_fin_do_not_carry_it() {
    let body = block_with_fin();
    let elements = &body.0;
    let crumbles = |e: usize| elements.y[e] > 7.0 && elements.z[e].abs() < 4.0;
    let all = 0..elements.x.len();
    let labels = all.map(|e| if crumbles(e) { 1 + e as u32 } else { 0 });
    let surface = flown_apart(&body, &labels.collect::<Vec<u32>>(), 0.8);
    let pieces = surface.pieces.iter();
    let highest = pieces.filter(|piece| piece.fragment != 0).map(|piece| {
        let own = &surface.rest_positions[surface.vertex_range(piece)];
        own.iter().map(|p| p[1]).fold(f32::MIN, f32::max)
    });
    let highest = highest.fold(f32::MIN, f32::max);
    assert!((10.5..16.0).contains(&highest), "{highest}");
    assert!(rest_points(&surface, 0).any(|p| p.y > 19.9 && p.z.abs() < 1.0));
}

#[test]
fn a_blade_beside_a_tower_stays_with_the_block_that_it_stands_on() {
    let body = tower_with_blade();
    let elements = &body.0;
    let above = |height: f64| -> Vec<u32> {
        let heights = elements.y.iter();
        heights.map(|&y| u32::from(y > height)).collect()
    };
    for voxel in [0.5, 0.8, 1.3] {
        // A crack right at the foot of the blade.
        flown_apart(&body, &above(5.5), voxel);
        let surface = flown_apart(&body, &above(9.2), voxel);
        assert_eq!(surface.pieces.len(), 2);
        let left = rest_points(&surface, 1)
            .map(|p| p.x)
            .fold(f64::MAX, f64::min);
        assert!(
            left > 1.95,
            "voxel {voxel}: the tower takes the skin at x = {left}"
        );
        let high = rest_points(&surface, 0)
            .map(|p| p.y)
            .fold(f64::MIN, f64::max);
        assert!(high > 17.9, "voxel {voxel}: the blade ends at y = {high}");
    }
    // The tower leans away in one piece: the blade stays upright.
    let (elements, bonds, skin) = &body;
    let labels = vec![0; elements.x.len()];
    let lean = |p: DVec3, _: u32| DVec3::X * 0.5 * (p.y - 6.0).max(0.0);
    let surface = surfaces(elements, bonds, skin, 0.8)
        .at(0, &moved(elements, &labels, lean), &whole(bonds))
        .unwrap();
    for (p, rest) in surface.positions.iter().zip(&surface.rest_positions) {
        if rest[0] < 1.5 {
            let off = DVec3::from(p.map(f64::from)) - DVec3::from(rest.map(f64::from));
            assert!(off.length() < 0.1, "{rest:?} moved by {off}");
        }
    }
}

#[test]
fn prongs_across_a_gap_do_not_pull_at_each_other() {
    let (elements, bonds, skin) = fork();
    let labels = vec![0; elements.x.len()];
    let open = |x: f64, y: f64| 0.4 * x.signum() * (y - 6.0).max(0.0);
    let bend = |p: DVec3, _: u32| DVec3::X * open(p.x, p.y);
    let surface = surfaces(&elements, &bonds, &skin, 0.8)
        .at(0, &moved(&elements, &labels, bend), &whole(&bonds))
        .unwrap();
    let mut checked = 0;
    for (p, rest) in surface.positions.iter().zip(&surface.rest_positions) {
        let [x, y, _] = rest.map(f64::from);
        // The topmost vertices follow lower elements, which move less.
        if x.abs() < 0.5 && y > 9.0 && y < 18.0 {
            checked += 1;
            let off = f64::from(p[0]) - x - open(x, y);
            assert!(off.abs() < 0.5, "{rest:?} is {off} off");
        }
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn only_bodies_with_gaps_have_a_reach() {
    let body = |elements: &Elements, bonds: &Bonds, skin: &TriMesh| {
        let params = spec::Reconstruct::default();
        let bodies = RestBody::all(elements, bonds, &params, |_| Ok(Some(skin.clone())));
        bodies.unwrap().remove(0)
    };
    let mut ball = icosphere(3);
    ball.positions.iter_mut().for_each(|p| *p *= 9.0);
    let (lo, hi) = ball.bounds().unwrap();
    let (elements, bonds) = packed(lo, hi, R, |p| p.length() < 8.4);
    for (elements, bonds, skin) in [
        box_body(DVec3::new(14.0, 13.0, 12.0)),
        (elements, bonds, ball),
    ] {
        let body = body(&elements, &bonds, &skin);
        assert!(body.reach.is_none());
        // The elements nearest to each vertex are those of a plain search.
        for (x, found) in skin.positions.iter().zip(&body.nearest_elements) {
            let nearest = body.nearest(*x, |_| true, 8);
            assert!(nearest.iter().zip(found).all(|(a, b)| a.1 == *b));
        }
    }
    let (elements, bonds, skin) = fork();
    assert!(body(&elements, &bonds, &skin).reach.is_some());
}
