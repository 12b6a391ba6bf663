//! Cracks through and into bodies, with known results.

use std::collections::{BTreeMap, BTreeSet};

use glam::{DMat3, DQuat, DVec3};

use super::*;
use crate::geometry::inside::InsideTest;
use crate::geometry::nearest::TriangleBins;
use crate::geometry::read;

/// For each bond, whether its ends lie on different sides according to `parted`.
fn cut(elements: &Elements, bonds: &Bonds, parted: impl Fn(DVec3, DVec3) -> bool) -> Vec<bool> {
    let at = |e: u32| {
        let e = e as usize;
        DVec3::new(elements.x[e], elements.y[e], elements.z[e])
    };
    let ends = bonds.i.iter().zip(&bonds.j);
    ends.map(|(&i, &j)| parted(at(i), at(j))).collect()
}

/// Moves the elements of a frame.
fn moved(frame: &mut Frames, shift: impl Fn(DVec3) -> DVec3) {
    for e in 0..frame.x.len() {
        let rest = DVec3::new(frame.x[e].into(), frame.y[e].into(), frame.z[e].into());
        let x = (rest + shift(rest)).as_vec3();
        (frame.x[e], frame.y[e], frame.z[e]) = (x.x, x.y, x.z);
    }
}

fn mesh_of(surface: &SurfaceFrame, piece: &FragmentRange) -> TriMesh {
    let vertices = surface.positions[surface.vertex_range(piece)].iter();
    TriMesh {
        positions: vertices.map(|p| DVec3::from(p.map(f64::from))).collect(),
        triangles: surface.local_triangles(piece).collect(),
        ..TriMesh::default()
    }
}

/// Euler characteristic: vertices minus edges plus triangles.
fn euler(mesh: &TriMesh) -> i64 {
    let mut edges = BTreeSet::new();
    let mut vertices = BTreeSet::new();
    for t in &mesh.triangles {
        for m in 0..3 {
            let (a, b) = (t[m], t[(m + 1) % 3]);
            edges.insert((a.min(b), a.max(b)));
            vertices.insert(a);
        }
    }
    vertices.len() as i64 - edges.len() as i64 + mesh.triangles.len() as i64
}

#[test]
fn two_halves_of_a_cube_stay_two_at_any_gap() {
    let voxel = 0.8;
    let layer = (8.0_f64 / 3.0).sqrt() * R;
    // Thirteen layers of the packing and a radius on either side: the middle lies between the seventh and the
    // eighth layer.
    let size = DVec3::new(22.0, 22.0, 13.0 * layer + 2.0 * R);
    let (elements, bonds, skin) = box_body(size);
    let plane = elements.z.iter().copied().fold(f64::INFINITY, f64::min) + 6.5 * layer;
    let labels: Vec<u32> = elements.z.iter().map(|&z| u32::from(z > plane)).collect();
    let broken = cut(&elements, &bonds, |a, b| (a.z > plane) != (b.z > plane));
    let mut surfaces = surfaces(&elements, &bonds, &skin, voxel);
    for gap in [0.0, 0.01, 0.1, 2.0] {
        let mut frame = at_rest(&elements, &labels);
        moved(&mut frame, |x| {
            DVec3::Z * if x.z > plane { gap * R } else { 0.0 }
        });
        let surface = surfaces.at(0, &frame, &broken).unwrap();
        assert_eq!(surface.pieces.len(), 2);
        let mut meshes = Vec::new();
        for piece in &surface.pieces {
            let mesh = mesh_of(&surface, piece);
            assert_closed(&mesh, "half");
            let upper = piece.fragment == 1;
            let height = if upper {
                size.z / 2.0 - plane
            } else {
                plane + size.z / 2.0
            };
            let exact = size.x * size.y * height;
            let error = mesh.volume() / exact - 1.0;
            assert!(error.abs() < 0.01, "gap {gap}: volume off by {error}");
            let place = plane + if upper { gap * R } else { 0.0 };
            for (t, &inside) in surface
                .triangle_range(piece)
                .zip(&surface.inside[surface.triangle_range(piece)])
            {
                for v in surface.triangles[t] {
                    let off = f64::from(surface.positions[v as usize][2]) - place;
                    assert!(
                        inside == 0 || off.abs() < 0.15 * voxel * R,
                        "gap {gap}: crack {off} off at {:?}",
                        surface.positions[v as usize]
                    );
                }
            }
            meshes.push(mesh);
        }
        let inside: Vec<InsideTest> = meshes.iter().map(InsideTest::new).collect();
        let mut state = 3;
        for _ in 0..20_000 {
            let u = DVec3::new(random(&mut state), random(&mut state), random(&mut state)) - 0.5;
            let mut x = u * size;
            // Half of the points are near the crack.
            if random(&mut state) < 0.5 {
                x.z = plane + 0.5 * R * (u.z + gap);
            }
            let count = inside.iter().filter(|mesh| mesh.contains(x)).count();
            assert!(count <= 1, "gap {gap}: {x} lies in both");
        }
    }
}

#[test]
fn a_slit_opens_to_its_tip_in_one_surface_without_handles() {
    let size = DVec3::new(32.0, 17.0, 16.0);
    let (elements, bonds, skin) = box_body(size);
    let layer = (8.0_f64 / 3.0).sqrt() * R;
    let plane = -size.z / 2.0 + R + 3.5 * layer;
    let broken = cut(&elements, &bonds, |a, b| {
        (a.z > plane) != (b.z > plane) && (a.x + b.x) / 2.0 < 0.0
    });
    let tip = (0..broken.len())
        .filter(|&b| broken[b])
        .map(|b| (elements.x[bonds.i[b] as usize] + elements.x[bonds.j[b] as usize]) / 2.0)
        .fold(f64::NEG_INFINITY, f64::max);
    let labels = vec![0; elements.x.len()];
    let mut surfaces = surfaces(&elements, &bonds, &skin, 0.8);
    // Both lips move apart, more so farther from the tip.
    let mut frame = at_rest(&elements, &labels);
    moved(&mut frame, |x| {
        let lift = 0.1 * (tip - x.x).max(0.0);
        DVec3::Z * if x.z > plane { lift } else { -lift }
    });
    let surface = surfaces.at(0, &frame, &broken).unwrap();
    assert_eq!(surface.pieces.len(), 1);
    let mesh = mesh_of(&surface, &surface.pieces[0]);
    assert_closed(&mesh, "slit");
    assert_eq!(euler(&mesh), 2);
    assert!((piece_mesh(&surface, &surface.pieces[0]).volume() / skin.volume() - 1.0).abs() < 1e-3);
    // From the end face to within one element of the tip, over the whole width, the middle of the slit is
    // outside the body.
    let crossings = InsideTest::new(&mesh);
    for step in 0..200 {
        let x =
            -size.x / 2.0 + 0.05 + (tip - 2.0 * R + size.x / 2.0 - 0.05) * f64::from(step) / 199.0;
        for y in -20..=20 {
            let p = DVec3::new(x, f64::from(y) / 20.0 * (size.y / 2.0 - 0.05), plane);
            assert!(!crossings.contains(p), "closed at {p}, tip at {tip}");
        }
    }
    // Beyond the tip the body is intact, and each lip stays on its side.
    for step in 0..100 {
        let x = tip + R + (size.x / 2.0 - tip - 1.1 * R) * f64::from(step) / 99.0;
        assert!(crossings.contains(DVec3::new(x, 0.1, plane)));
    }
    for (p, rest) in surface.positions.iter().zip(&surface.rest_positions) {
        let lift = (0.1 * (tip - f64::from(rest[0]))).max(0.0);
        let off = f64::from(p[2] - rest[2]);
        assert!(
            off.abs() < lift + 0.25 * R,
            "{rest:?} moved by {off}, {lift} at most"
        );
    }
}

#[test]
fn a_lone_broken_bond_opens_nothing() {
    let size = DVec3::splat(14.0);
    let (elements, bonds, skin) = box_body(size);
    let mut state = 5;
    let broken: Vec<bool> = bonds.i.iter().map(|_| random(&mut state) < 0.03).collect();
    let labels = vec![0; elements.x.len()];
    let surface = surfaces(&elements, &bonds, &skin, 0.8)
        .at(0, &at_rest(&elements, &labels), &broken)
        .unwrap();
    assert!(surface.inside.iter().all(|&inside| inside == 0));
    assert_eq!(euler(&piece_mesh(&surface, &surface.pieces[0])), 2);
}

#[test]
fn a_crack_within_a_body_has_two_faces_and_no_skin() {
    let size = DVec3::splat(22.0);
    let (elements, bonds, skin) = box_body(size);
    let layer = (8.0_f64 / 3.0).sqrt() * R;
    let plane = -size.z / 2.0 + R + 5.5 * layer;
    let broken = cut(&elements, &bonds, |a, b| {
        (a.z > plane) != (b.z > plane) && ((a + b) / 2.0).truncate().length() < 6.0
    });
    let labels = vec![0; elements.x.len()];
    let surface = surfaces(&elements, &bonds, &skin, 0.8)
        .at(0, &at_rest(&elements, &labels), &broken)
        .unwrap();
    let mesh = piece_mesh(&surface, &surface.pieces[0]);
    assert_closed(&mesh, "penny");
    // The box and the crack, two closed surfaces.
    assert_eq!(euler(&mesh), 4);
    let area: f64 = (0..mesh.triangles.len())
        .filter(|&t| surface.inside[t] == 1)
        .map(|t| {
            let [a, b, c] = mesh.corners(t);
            (b - a).cross(c - a).length() / 2.0
        })
        .sum();
    let disc = std::f64::consts::PI * 36.0;
    assert!((0.5..1.1).contains(&(area / 2.0 / disc)), "area {area}");
}

#[test]
fn balls_of_separate_bodies_in_contact_stay_two() {
    let mut ball = icosphere(4);
    ball.positions.iter_mut().for_each(|p| *p *= 8.0);
    let (lo, hi) = ball.bounds().unwrap();
    let (one, of_one) = packed(lo, hi, R, |p| p.length() < 7.0);
    let n = one.x.len();
    let mut elements = one.clone();
    let mut bonds = of_one.clone();
    let away = 15.8;
    for e in 0..n {
        elements.id.push((n + e) as u32);
        elements.body.push(1);
        elements.x.push(one.x[e] + away);
        elements.y.push(one.y[e]);
        elements.z.push(one.z[e]);
        elements.r.push(one.r[e]);
    }
    for b in 0..of_one.i.len() {
        bonds.i.push(of_one.i[b] + n as u32);
        bonds.j.push(of_one.j[b] + n as u32);
        bonds.l0.push(of_one.l0[b]);
        bonds.dx.push(of_one.dx[b]);
        bonds.dy.push(of_one.dy[b]);
        bonds.dz.push(of_one.dz[b]);
    }
    let skin = |body: u32| {
        let mut skin = ball.clone();
        let shift = DVec3::X * away * f64::from(body);
        skin.positions.iter_mut().for_each(|p| *p += shift);
        Ok(Some(skin))
    };
    let bodies = RestBody::all(&elements, &bonds, &spec::Reconstruct::default(), skin).unwrap();
    let labels: Vec<u32> = elements.body.clone();
    let frame = at_rest(&elements, &labels);
    let surface = Surfaces::new(&elements, bodies)
        .at(0, &frame, &whole(&bonds))
        .unwrap();
    assert_eq!(surface.pieces.len(), 2);
    for piece in &surface.pieces {
        let mesh = piece_mesh(&surface, piece);
        assert_closed(&mesh, "ball");
        assert_eq!(euler(&mesh), 2);
        assert!((mesh.volume() / ball.volume() - 1.0).abs() < 1e-6);
    }
}

#[test]
fn a_shattered_bunny_adds_up_and_keeps_its_skin() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/pipelines/meshes/bunny.obj");
    let mut skin = read::read(std::path::Path::new(path)).unwrap();
    let (lo, hi) = skin.bounds().unwrap();
    // The elements have radius 1; there are about 20,000.
    let scale = 62.0 / (hi.y - lo.y);
    skin.positions
        .iter_mut()
        .for_each(|p| *p = (*p - lo) * scale);
    let (lo, hi) = skin.bounds().unwrap();
    let crossings = InsideTest::new(&skin);
    let (elements, bonds) = packed(lo, hi, R, |p| crossings.contains(p));
    let cells = 200;
    let voxel = 0.8;
    let labels = voronoi_of_elements(&elements, cells);
    let surface = surfaces(&elements, &bonds, &skin, voxel)
        .at(0, &at_rest(&elements, &labels), &whole(&bonds))
        .unwrap();
    assert_eq!(surface.pieces.len(), cells);
    let volume = total_volume(&surface);
    assert!(
        (volume / skin.volume() - 1.0).abs() < 0.01,
        "{volume} of {}",
        skin.volume()
    );

    let meshes: Vec<TriMesh> = surface
        .pieces
        .iter()
        .map(|p| piece_mesh(&surface, p))
        .collect();
    let inside: Vec<(InsideTest, (DVec3, DVec3))> = meshes
        .iter()
        .map(|m| (InsideTest::new(m), m.bounds().unwrap()))
        .collect();
    let mut state = 11;
    let mut found = 0;
    for _ in 0..40_000 {
        let x =
            lo + (hi - lo) * DVec3::new(random(&mut state), random(&mut state), random(&mut state));
        let bindings = inside.iter().filter(|(mesh, (lo, hi))| {
            x.cmpge(*lo).all() && x.cmple(*hi).all() && mesh.contains(x)
        });
        let count = bindings.count();
        assert!(count <= 1, "{x} lies in {count} fragments");
        found += count;
    }
    assert!(found > 5_000);

    let bins = TriangleBins::new(&skin, 2.0);
    let (mut area, mut wrong, mut off) = (0.0, 0.0, 0.0_f64);
    for mesh_and_piece in meshes.iter().zip(&surface.pieces) {
        let (mesh, piece) = mesh_and_piece;
        let flags = &surface.inside[surface.triangle_range(piece)];
        let mut rim: Vec<DVec3> = Vec::new();
        let mut on_crack = BTreeSet::new();
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            if flags[t] == 1 {
                on_crack.extend(triangle.iter().copied());
            }
        }
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            if flags[t] == 0 {
                rim.extend(
                    triangle
                        .iter()
                        .filter(|v| on_crack.contains(v))
                        .map(|&v| mesh.positions[v as usize]),
                );
            }
        }
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            if flags[t] == 1 {
                continue;
            }
            let [a, b, c] = triangle.map(|v| mesh.positions[v as usize]);
            let centre = (a + b + c) / 3.0;
            for p in [a, b, c, centre] {
                let (q, _) = bins.nearest(&skin, p, 2.0).unwrap();
                off = off.max(p.distance(q));
            }
            if rim.iter().any(|p| p.distance(centre) < 2.5 * R) {
                continue;
            }
            let normal = (b - a).cross(c - a);
            let (_, of) = bins.nearest(&skin, centre, 2.0).unwrap();
            let [a, b, c] = skin.corners(of);
            let angle = normal.angle_between((b - a).cross(c - a)).to_degrees();
            area += normal.length();
            wrong += if angle > 5.0 { normal.length() } else { 0.0 };
        }
    }
    eprintln!(
        "bunny: skin off by {} voxels, {} of the area away from cracks by more than 5 degrees",
        off / voxel,
        wrong / area
    );
    assert!(off < 0.1 * voxel * R, "skin {off} off");
    assert!(area > 0.0 && wrong < 0.01 * area, "{wrong} of {area}");
}

fn voronoi_of_elements(elements: &Elements, cells: usize) -> Vec<u32> {
    // Seeds are elements, so that no cell is empty.
    let at = |e: usize| DVec3::new(elements.x[e], elements.y[e], elements.z[e]);
    let mut state = 9;
    let n = elements.x.len();
    let mut seeds = BTreeMap::new();
    while seeds.len() < cells {
        let e = (random(&mut state) * n as f64) as usize;
        seeds.insert(e, at(e));
    }
    let seeds: Vec<DVec3> = seeds.into_values().collect();
    (0..n)
        .map(|e| {
            let nearest = (0..cells).min_by(|&a, &b| {
                at(e)
                    .distance_squared(seeds[a])
                    .total_cmp(&at(e).distance_squared(seeds[b]))
            });
            nearest.unwrap() as u32
        })
        .collect()
}

#[test]
fn frames_without_a_break_have_the_same_faces_and_move_rigidly() {
    let size = DVec3::new(24.0, 17.0, 16.0);
    let (elements, bonds, skin) = box_body(size);
    let labels = voronoi(&elements, 5, -size / 2.0, size / 2.0);
    let mut surfaces = surfaces(&elements, &bonds, &skin, 0.8);
    let rest = surfaces
        .at(0, &at_rest(&elements, &labels), &whole(&bonds))
        .unwrap();
    for number in 1..=20 {
        let t = f64::from(number) / 20.0;
        // Each fragment moves differently.
        let motion = |label: u32| {
            let axis = DVec3::new(1.0, f64::from(label), -0.5).normalize();
            (
                DQuat::from_axis_angle(axis, t * (0.3 + f64::from(label))),
                DVec3::new(t, 0.3 * f64::from(label) * t, -t),
            )
        };
        let mut frame = at_rest(&elements, &labels);
        for (e, &label) in labels.iter().enumerate() {
            let (turn, shift) = motion(label);
            let p =
                (turn * DVec3::new(elements.x[e], elements.y[e], elements.z[e]) + shift).as_vec3();
            (frame.x[e], frame.y[e], frame.z[e]) = (p.x, p.y, p.z);
            let q = turn.as_quat();
            (frame.qx[e], frame.qy[e], frame.qz[e], frame.qw[e]) = (q.x, q.y, q.z, q.w);
        }
        let surface = surfaces.at(number, &frame, &whole(&bonds)).unwrap();
        assert_eq!(surface.triangles, rest.triangles);
        assert_eq!(surface.rest_positions, rest.rest_positions);
        for piece in &surface.pieces {
            let (turn, shift) = motion(piece.fragment);
            for v in surface.vertex_range(piece) {
                let expected = DMat3::from_quat(turn)
                    * DVec3::from(rest.rest_positions[v].map(f64::from))
                    + shift;
                let off = expected.distance(DVec3::from(surface.positions[v].map(f64::from)));
                assert!(off < 1e-6 * size.length(), "frame {number}: {off}");
            }
        }
    }
    assert_eq!(surfaces.rebuilds, 0);
}

/// A torus around z.
fn ring(big: f64, small: f64, parts: u32) -> TriMesh {
    let mut mesh = TriMesh::default();
    let sides = parts / 3;
    for i in 0..parts {
        for j in 0..sides {
            let (u, v) = (
                f64::from(i) / f64::from(parts) * std::f64::consts::TAU,
                f64::from(j) / f64::from(sides) * std::f64::consts::TAU,
            );
            let out = big + small * v.cos();
            mesh.positions
                .push(DVec3::new(out * u.cos(), out * u.sin(), small * v.sin()));
            let at = |i: u32, j: u32| (i % parts) * sides + j % sides;
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    mesh
}

#[test]
fn whatever_breaks_the_surfaces_are_closed() {
    let mut state = 21;
    let (mut all, mut fewer) = (0, 0);
    for round in 0..24_u32 {
        let turn = DQuat::from_axis_angle(
            DVec3::new(
                random(&mut state),
                random(&mut state),
                random(&mut state) - 0.5,
            )
            .normalize(),
            f64::from(round),
        );
        let size = 8.0 + 8.0 * random(&mut state);
        let mut skin = match round % 4 {
            0 => box_mesh(DVec3::splat(-size / 2.0), DVec3::splat(size / 2.0)),
            // The body is two elements thick.
            1 => box_mesh(DVec3::new(-size, -size, -2.0), DVec3::new(size, size, 2.0)),
            2 => ring(size, 2.5, 30),
            _ => {
                let mut ball = icosphere(2);
                ball.positions
                    .iter_mut()
                    .for_each(|p| *p *= size / 2.0 + 2.0);
                ball
            }
        };
        skin.positions.iter_mut().for_each(|p| *p = turn * *p);
        let (lo, hi) = skin.bounds().unwrap();
        let crossings = InsideTest::new(&skin);
        let (elements, bonds) = packed(lo, hi, R, |p| crossings.contains(p));
        let seeds = 2 + round as usize;
        let cells = voronoi(&elements, seeds, lo, hi);
        // Cells separate, or crack along some of their faces, or both, and some bonds break at random.
        let keep = |cell: u32| (cell * 7 + round) % 3;
        let labels: Vec<u32> = cells
            .iter()
            .map(|&cell| {
                if round % 2 == 0 && keep(cell) == 0 {
                    cell + 1
                } else {
                    0
                }
            })
            .collect();
        let chance = [0.0, 0.05, 0.3][round as usize % 3];
        let broken: Vec<bool> = bonds
            .i
            .iter()
            .zip(&bonds.j)
            .map(|(&i, &j)| {
                let (a, b) = (cells[i as usize], cells[j as usize]);
                (a != b && keep(a.min(b)) != 1) || random(&mut state) < chance
            })
            .collect();
        for (voxel, simplify) in [(0.8, 0.0), (1.3, 0.0), (0.8, 0.1)] {
            let params = spec::Reconstruct {
                voxel,
                simplify,
                ..spec::Reconstruct::default()
            };
            let bodies =
                RestBody::all(&elements, &bonds, &params, |_| Ok(Some(skin.clone()))).unwrap();
            let surface = Surfaces::new(&elements, bodies)
                .at(0, &at_rest(&elements, &labels), &broken)
                .unwrap();
            if simplify > 0.0 {
                fewer += surface.triangles.len();
            } else if voxel == 0.8 {
                all += surface.triangles.len();
            }
            let mut volume = 0.0;
            for piece in &surface.pieces {
                let mesh = piece_mesh(&surface, piece);
                assert_closed(
                    &mesh,
                    &format!("round {round}, fragment {}", piece.fragment),
                );
                volume += mesh.volume();
            }
            let error = volume / skin.volume() - 1.0;
            assert!(error.abs() < 0.02, "round {round}: volume off by {error}");
        }
    }
    assert!(4 * fewer < 3 * all, "{fewer} of {all} triangles");
}

#[test]
fn rough_faces_fit_and_keep_the_rim_on_the_skin() {
    let size = DVec3::new(24.0, 17.0, 16.0);
    let (elements, bonds, skin) = box_body(size);
    let labels: Vec<u32> = elements.x.iter().map(|&x| u32::from(x > 0.5)).collect();
    let drawn = |roughness: f64| {
        let params = spec::Reconstruct {
            roughness,
            ..spec::Reconstruct::default()
        };
        let bodies = RestBody::all(&elements, &bonds, &params, |_| Ok(Some(skin.clone()))).unwrap();
        let frame = at_rest(&elements, &labels);
        Surfaces::new(&elements, bodies)
            .at(0, &frame, &whole(&bonds))
            .unwrap()
    };
    let (smooth, rough) = (drawn(0.0), drawn(0.3));
    assert!((total_volume(&rough) / skin.volume() - 1.0).abs() < 1e-5);
    let spread = |surface: &SurfaceFrame| {
        let on_crack = surface.triangles.iter().zip(&surface.inside);
        let heights: Vec<f64> = on_crack
            .filter(|(_, inside)| **inside == 1)
            .flat_map(|(t, _)| t.map(|v| f64::from(surface.rest_positions[v as usize][0])))
            .collect();
        let mean = heights.iter().sum::<f64>() / heights.len() as f64;
        (heights.iter().map(|h| (h - mean).powi(2)).sum::<f64>() / heights.len() as f64).sqrt()
    };
    let (before, after) = (spread(&smooth), spread(&rough));
    assert!(after > before + 0.02, "{before} before, {after} after");
}
