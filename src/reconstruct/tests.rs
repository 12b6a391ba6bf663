//! Tests on small bodies with known results.

use std::collections::BTreeMap;

use glam::{DQuat, DVec3};

use super::body::bins::ElementBins;
use super::*;
use crate::columns::{Bonds, Shape};
use crate::geometry::TriMesh;
use crate::geometry::icosphere;

mod cracks;
mod debris;
mod texture;
mod thin;
mod world;

/// Asserts that every edge has one triangle on either side, and that these run through it in opposite
/// directions.
fn assert_closed(mesh: &TriMesh, what: &str) {
    assert!(!mesh.triangles.is_empty(), "{what}: no triangles");
    let mut edges = BTreeMap::new();
    for t in &mesh.triangles {
        for m in 0..3 {
            *edges.entry((t[m], t[(m + 1) % 3])).or_insert(0) += 1;
        }
    }
    for (&(a, b), &count) in &edges {
        assert_eq!(count, 1, "{what}: edge {a}-{b} used {count} times one way");
        assert!(edges.contains_key(&(b, a)), "{what}: edge {a}-{b} is open");
    }
}

fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

fn box_mesh(lo: DVec3, hi: DVec3) -> TriMesh {
    let corner = |c: usize| DVec3::new((c & 1) as f64, (c >> 1 & 1) as f64, (c >> 2) as f64);
    TriMesh {
        positions: (0..8).map(|c| lo + (hi - lo) * corner(c)).collect(),
        triangles: vec![
            [0, 2, 1],
            [1, 2, 3],
            [4, 5, 6],
            [5, 7, 6],
            [0, 1, 4],
            [1, 5, 4],
            [2, 6, 3],
            [3, 6, 7],
            [0, 4, 2],
            [2, 4, 6],
            [1, 3, 5],
            [3, 7, 5],
        ],
        ..TriMesh::default()
    }
}

/// Hexagonal close packing of balls of radius `r` in the box, restricted to centres for which `keep` is true,
/// with bonds between touching elements.
fn packed(lo: DVec3, hi: DVec3, r: f64, keep: impl Fn(DVec3) -> bool) -> (Elements, Bonds) {
    let mut points = Vec::new();
    let (row, layer) = (3.0_f64.sqrt() * r, (8.0_f64 / 3.0).sqrt() * r);
    for k in 0..((hi.z - lo.z) / layer) as usize + 1 {
        for j in 0..((hi.y - lo.y) / row) as usize + 1 {
            for i in 0..((hi.x - lo.x) / (2.0 * r)) as usize + 1 {
                let p = lo
                    + DVec3::new(
                        r * (2 * i + (j + k) % 2) as f64,
                        row * (j as f64 + (k % 2) as f64 / 3.0),
                        layer * k as f64,
                    );
                if p.cmple(hi).all() && keep(p) {
                    points.push(p);
                }
            }
        }
    }
    let mut elements = Elements::default();
    for (id, p) in points.iter().enumerate() {
        elements.id.push(id as u32);
        elements.body.push(0);
        elements.kind.push(Shape::Sphere);
        elements.x.push(p.x);
        elements.y.push(p.y);
        elements.z.push(p.z);
        elements.r.push(r);
    }
    let bins = ElementBins::new(&points, 3.0 * r);
    let mut bonds = Bonds::default();
    for (i, &p) in points.iter().enumerate() {
        let mut near = Vec::new();
        bins.each_bin(p, 2.1 * r, |bin| near.extend_from_slice(bins.points(bin)));
        near.sort_unstable();
        for j in near.into_iter().filter(|&j| j as usize > i) {
            let d = points[j as usize] - p;
            if d.length() < 2.1 * r {
                bonds.i.push(i as u32);
                bonds.j.push(j);
                bonds.l0.push(d.length());
                let d = d.normalize();
                bonds.dx.push(d.x);
                bonds.dy.push(d.y);
                bonds.dz.push(d.z);
            }
        }
    }
    (elements, bonds)
}

fn at_rest(elements: &Elements, labels: &[u32]) -> Frames {
    let n = elements.x.len();
    let single = |v: &[f64]| v.iter().map(|&x| x as f32).collect::<Vec<_>>();
    let zeros = || vec![0.0_f32; n];
    Frames {
        frame: vec![0; n],
        time: vec![0.0; n],
        id: elements.id.clone(),
        x: single(&elements.x),
        y: single(&elements.y),
        z: single(&elements.z),
        qx: zeros(),
        qy: zeros(),
        qz: zeros(),
        qw: vec![1.0; n],
        vx: zeros(),
        vy: zeros(),
        vz: zeros(),
        wx: zeros(),
        wy: zeros(),
        wz: zeros(),
        fragment: labels.to_vec(),
        sigma: zeros(),
        tau: zeros(),
        broken: vec![0; n],
    }
}

fn whole(bonds: &Bonds) -> Vec<bool> {
    vec![false; bonds.i.len()]
}

fn surfaces(elements: &Elements, bonds: &Bonds, skin: &TriMesh, voxel: f64) -> Surfaces {
    let params = spec::Reconstruct {
        voxel,
        ..spec::Reconstruct::default()
    };
    let bodies = RestBody::all(elements, bonds, &params, |_| Ok(Some(skin.clone()))).unwrap();
    Surfaces::new(elements, bodies)
}

fn piece_mesh(surface: &SurfaceFrame, piece: &FragmentRange) -> TriMesh {
    let vertices = surface.rest_positions[surface.vertex_range(piece)].iter();
    TriMesh {
        positions: vertices.map(|p| DVec3::from(p.map(f64::from))).collect(),
        triangles: surface.local_triangles(piece).collect(),
        ..TriMesh::default()
    }
}

/// Checks that every piece is closed and has a positive volume; returns the sum of the volumes.
fn total_volume(surface: &SurfaceFrame) -> f64 {
    let volumes = surface.pieces.iter().map(|piece| {
        let mesh = piece_mesh(surface, piece);
        assert_closed(&mesh, &format!("fragment {}", piece.fragment));
        let volume = mesh.volume();
        assert!(volume > 0.0, "fragment {}: volume {volume}", piece.fragment);
        volume
    });
    volumes.sum()
}

const R: f64 = 1.0;

/// A box with elements whose balls lie inside it.
fn box_body(size: DVec3) -> (Elements, Bonds, TriMesh) {
    let margin = DVec3::splat(R);
    let (elements, bonds) = packed(-size / 2.0 + margin, size / 2.0 - margin, R, |_| true);
    (elements, bonds, box_mesh(-size / 2.0, size / 2.0))
}

fn voronoi(elements: &Elements, seeds: usize, lo: DVec3, hi: DVec3) -> Vec<u32> {
    let mut state = 7;
    let seeds: Vec<DVec3> = (0..seeds)
        .map(|_| {
            let u = DVec3::new(random(&mut state), random(&mut state), random(&mut state));
            lo + (hi - lo) * u
        })
        .collect();
    (0..elements.x.len())
        .map(|e| DVec3::new(elements.x[e], elements.y[e], elements.z[e]))
        .map(|p| {
            let nearest = (0..seeds.len())
                .min_by(|&a, &b| p.distance(seeds[a]).total_cmp(&p.distance(seeds[b])));
            nearest.unwrap() as u32
        })
        .collect()
}

#[test]
fn sphere_keeps_its_volume_and_lies_on_its_skin() {
    let mut skin = icosphere(4);
    skin.positions.iter_mut().for_each(|p| *p *= 12.0);
    let (lo, hi) = skin.bounds().unwrap();
    let (elements, bonds) = packed(lo, hi, R, |p| p.length() < 11.0);
    let labels = vec![0; elements.x.len()];
    let surface = surfaces(&elements, &bonds, &skin, 0.8)
        .at(0, &at_rest(&elements, &labels), &whole(&bonds))
        .unwrap();
    assert!((total_volume(&surface) / skin.volume() - 1.0).abs() < 0.01);
    for p in &surface.rest_positions {
        let off = DVec3::from(p.map(f64::from)).length() - 12.0;
        assert!(off.abs() < 0.02, "{p:?} lies {off} off");
    }
    assert!(surface.inside.iter().all(|&inside| inside == 0));
}

#[test]
fn plane_through_a_box_gives_two_flat_halves() {
    let size = DVec3::new(24.0, 17.0, 16.0);
    let (elements, bonds, skin) = box_body(size);
    // Halfway between two layers of the packing.
    let layer = (8.0_f64 / 3.0).sqrt() * R;
    let plane = -size.z / 2.0 + R + 3.5 * layer;
    let labels: Vec<u32> = elements.z.iter().map(|&z| u32::from(z > plane)).collect();
    let surface = surfaces(&elements, &bonds, &skin, 0.8)
        .at(0, &at_rest(&elements, &labels), &whole(&bonds))
        .unwrap();
    assert_eq!(surface.pieces.len(), 2);
    let volume = total_volume(&surface);
    assert!(
        (volume / skin.volume() - 1.0).abs() < 0.01,
        "{volume} of {}",
        skin.volume()
    );
    let (lo, hi) = skin.bounds().unwrap();
    let mut cracks = 0;
    for (t, triangle) in surface.triangles.iter().enumerate() {
        let p = triangle.map(|v| DVec3::from(surface.rest_positions[v as usize].map(f64::from)));
        let centre = (p[0] + p[1] + p[2]) / 3.0;
        let to_skin = (centre - lo).min(hi - centre).min_element();
        if surface.inside[t] == 1 {
            cracks += 1;
            for p in p {
                // Beyond the outermost elements only few bonds define the crack.
                let edge = (p - lo).min(hi - p).truncate().min_element() < 1.5 * R;
                let bound = if edge { 0.6 } else { 0.3 } * 0.8 * R;
                assert!((p.z - plane).abs() < bound, "{p} is off {plane}");
            }
        } else {
            assert!(to_skin < 0.02, "skin triangle {to_skin} inside, {p:?}");
        }
    }
    assert!(cracks > 500);
}

#[test]
fn fragments_of_a_shattered_box_add_up() {
    let size = DVec3::new(30.0, 26.0, 24.0);
    let (elements, bonds, skin) = box_body(size);
    let labels = voronoi(&elements, 30, -size / 2.0, size / 2.0);
    let surface = surfaces(&elements, &bonds, &skin, 0.8)
        .at(0, &at_rest(&elements, &labels), &whole(&bonds))
        .unwrap();
    assert_eq!(surface.pieces.len(), 30);
    let volume = total_volume(&surface);
    assert!(
        (volume / skin.volume() - 1.0).abs() < 0.01,
        "{volume} of {}",
        skin.volume()
    );
}

#[test]
fn single_elements_are_closed_pieces() {
    let size = DVec3::new(14.0, 13.0, 12.0);
    let (elements, bonds, skin) = box_body(size);
    let labels: Vec<u32> = (0..elements.x.len() as u32).collect();
    let surface = surfaces(&elements, &bonds, &skin, 0.8)
        .at(0, &at_rest(&elements, &labels), &whole(&bonds))
        .unwrap();
    assert_eq!(surface.pieces.len(), elements.x.len());
    let volume = total_volume(&surface);
    assert!(
        (volume / skin.volume() - 1.0).abs() < 0.02,
        "{volume} of {}",
        skin.volume()
    );
}

#[test]
fn rigid_motion_of_elements_moves_surfaces_rigidly() {
    let size = DVec3::new(14.0, 13.0, 12.0);
    let (elements, bonds, skin) = box_body(size);
    let labels = voronoi(&elements, 4, -size / 2.0, size / 2.0);
    let mut surfaces = surfaces(&elements, &bonds, &skin, 0.8);
    let rest = surfaces
        .at(0, &at_rest(&elements, &labels), &whole(&bonds))
        .unwrap();
    let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 0.7);
    let shift = DVec3::new(0.3, -2.0, 1.0);
    let mut frame = at_rest(&elements, &labels);
    for e in 0..elements.x.len() {
        let p = turn * DVec3::new(elements.x[e], elements.y[e], elements.z[e]) + shift;
        (frame.x[e], frame.y[e], frame.z[e]) = (p.x as f32, p.y as f32, p.z as f32);
        let q = turn.as_quat();
        (frame.qx[e], frame.qy[e], frame.qz[e], frame.qw[e]) = (q.x, q.y, q.z, q.w);
        (frame.wx[e], frame.vx[e]) = (2.0, 1.0);
    }
    let moved = surfaces.at(1, &frame, &whole(&bonds)).unwrap();
    assert_eq!(surfaces.rebuilds, 0);
    assert_eq!(moved.triangles, rest.triangles);
    for (before, after) in rest.rest_positions.iter().zip(&moved.positions) {
        let expected = turn * DVec3::from(before.map(f64::from)) + shift;
        // The body has size 20: single precision in the frame allows errors of 1e-6 of it.
        assert!(expected.distance(DVec3::from(after.map(f64::from))) < 2e-5);
    }
}

#[test]
fn any_range_and_any_thread_count_give_the_same_files() {
    let size = DVec3::new(14.0, 13.0, 12.0);
    let (elements, bonds, skin) = box_body(size);
    let frame = |number: u32| {
        let seeds = if number < 2 { 1 } else { 3 * number as usize };
        let mut frame = at_rest(
            &elements,
            &voronoi(&elements, seeds, -size / 2.0, size / 2.0),
        );
        frame.frame.fill(number);
        frame
    };
    let surfaces = |threads: usize, frames: Range<u32>| {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        let mut packing = crate::store::Packing {
            elements: elements.clone(),
            bonds: bonds.clone(),
            ..Default::default()
        };
        complete(&mut packing);
        store.write_packing(&packing).unwrap();
        for number in 0..4 {
            store
                .write_numbered("frames", number, &frame(number))
                .unwrap();
        }
        crate::store::atomic::write(&store.shape_path(0), |to| {
            crate::geometry::ply::write_ply(&skin, to)
        })
        .unwrap();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let mut heard = Vec::new();
        let params = spec::Reconstruct::default();
        let summary = pool
            .install(|| {
                run(&store, &params, frames.clone(), &mut |d, n| {
                    heard.push((d, n))
                })
            })
            .unwrap();
        let count = frames.len();
        assert_eq!(heard, (1..=count).map(|d| (d, count)).collect::<Vec<_>>());
        let last = frames.end - 1;
        let bytes = std::fs::read(store.numbered("meshes", last, "rkyv")).unwrap();
        (summary, bytes, SurfaceFrame::read(&store, last).unwrap())
    };
    let (whole, bytes, surface) = surfaces(2, 0..4);
    assert_eq!((whole.frames, whole.rebuilds, whole.fragments), (4, 2, 9));
    assert_eq!(surface.pieces.len(), 9);
    let (part, part_bytes, _) = surfaces(1, 3..4);
    assert_eq!(part.frames, 1);
    assert!(
        bytes == part_bytes,
        "frame 3 differs when made alone by one thread"
    );
}

/// Fills the columns that reconstruction does not use.
fn complete(packing: &mut crate::store::Packing) {
    let (e, b) = (&mut packing.elements, &mut packing.bonds);
    let n = e.id.len();
    e.material = vec![0; n];
    for column in [
        &mut e.mass,
        &mut e.inertia,
        &mut e.volume,
        &mut e.vx,
        &mut e.vy,
        &mut e.vz,
        &mut e.wx,
        &mut e.wy,
        &mut e.wz,
    ] {
        *column = vec![0.0; n];
    }
    let n = b.i.len();
    b.id = (0..n as u32).collect();
    b.law = vec![crate::columns::BondLaw::Bdem; n];
    for column in [
        &mut b.radius,
        &mut b.young,
        &mut b.shear,
        &mut b.sigma_c,
        &mut b.tau_c,
    ] {
        *column = vec![1.0; n];
    }
}

#[test]
fn what_is_kept_from_the_state_before_changes_nothing() {
    let size = DVec3::new(44.0, 17.0, 15.0);
    let (elements, bonds, skin) = box_body(size);
    let mut labels = voronoi(&elements, 5, -size / 2.0, size / 2.0);
    let mut kept = surfaces(&elements, &bonds, &skin, 0.8);
    kept.at(0, &at_rest(&elements, &labels), &whole(&bonds))
        .unwrap();
    // A piece with a label between the existing ones breaks off at one end, then dust at the other.
    labels.iter_mut().for_each(|label| *label *= 10);
    kept.at(1, &at_rest(&elements, &labels), &whole(&bonds))
        .unwrap();
    for (step, reach) in [(2, 4.0), (3, 6.0)] {
        for (label, &x) in labels.iter_mut().zip(&elements.x) {
            let end = if step == 2 { x } else { -x };
            if end > size.x / 2.0 - reach {
                *label += step;
            }
        }
        let frame = at_rest(&elements, &labels);
        let fresh = surfaces(&elements, &bonds, &skin, 0.8)
            .at(step, &frame, &whole(&bonds))
            .unwrap();
        assert!(
            kept.at(step, &frame, &whole(&bonds)).unwrap() == fresh,
            "step {step}"
        );
    }
}

#[test]
fn loose_elements_are_balls() {
    let (elements, _, _) = box_body(DVec3::splat(6.0));
    let labels: Vec<u32> = (0..elements.x.len() as u32).collect();
    let none =
        |_| -> Result<Option<TriMesh>, ReconstructError> { unreachable!("balls need no skin") };
    let bodies = RestBody::all(
        &elements,
        &Bonds::default(),
        &spec::Reconstruct::default(),
        none,
    )
    .unwrap();
    let surface = Surfaces::new(&elements, bodies)
        .at(0, &at_rest(&elements, &labels), &[])
        .unwrap();
    assert_eq!(surface.pieces.len(), elements.x.len());
    let ball = total_volume(&surface) / elements.x.len() as f64;
    assert!((3.5..4.19).contains(&ball), "{ball}");
}
