use glam::DVec3;

use super::*;
use crate::geometry::{check, icosphere, shapes};

fn at(mut mesh: TriMesh, shift: DVec3) -> TriMesh {
    mesh.positions.iter_mut().for_each(|p| *p += shift);
    mesh
}

fn both(mut a: TriMesh, b: TriMesh) -> TriMesh {
    a.append(b);
    a
}

/// Copy of a mesh in which no two triangles share vertices, as in STL.
fn soup(mesh: &TriMesh) -> TriMesh {
    let corners = (0..mesh.triangles.len()).flat_map(|t| mesh.corners(t));
    let positions: Vec<DVec3> = corners.collect();
    let triangles = (0..mesh.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
    TriMesh {
        triangles: triangles.collect(),
        positions,
        uv: mesh.uv.clone(),
        ..TriMesh::default()
    }
}

#[test]
fn sound_meshes_come_back_to_the_bit() {
    for shift in [DVec3::ZERO, DVec3::new(1e6, -3e5, 0.1)] {
        for mesh in [shapes::cuboid(DVec3::new(0.3, 1.0, 2.0)), icosphere(2)] {
            let mesh = at(mesh, shift);
            let (repaired, done) = repair(&mesh).unwrap();
            assert_eq!(repaired, mesh);
            assert!(done == Repairs::default(), "{done}");
        }
    }
}

#[test]
fn doubles_unused_and_turned_are_counted() {
    let mut mesh = soup(&icosphere(1));
    let near = mesh.positions[4] + DVec3::splat(1e-8);
    mesh.positions[4] = near;
    mesh.positions.push(DVec3::NAN);
    for t in [3, 40, 41] {
        mesh.flip(t);
    }
    mesh.triangles.push(mesh.triangles[7]);
    mesh.triangles.push([0, 0, 5]);
    let (repaired, done) = repair(&mesh).unwrap();
    let expected = Repairs {
        unused_vertices: 1,
        merged_vertices: 240 - 42,
        degenerate_triangles: 1,
        duplicate_triangles: 1,
        turned_triangles: 3,
        ..Repairs::default()
    };
    assert_eq!(done, expected);
    assert_eq!(
        (repaired.positions.len(), repaired.triangles.len()),
        (42, 80)
    );
    assert!((repaired.volume() - icosphere(1).volume()).abs() < 1e-6);
}

#[test]
fn bricks_with_a_common_face_become_one() {
    let brick = shapes::cuboid(DVec3::ONE);
    let mut upper = at(brick.clone(), DVec3::Z);
    // The lower face of the upper brick gets the diagonals of the upper face of the lower brick.
    let [a, b] = [0, 1].map(|t| upper.triangles[t]);
    upper.triangles[0] = [a[0], a[1], b[2]];
    upper.triangles[1] = [a[1], a[2], b[2]];
    let mut found = Vec::new();
    for mesh in [
        both(brick.clone(), upper),
        both(brick.clone(), at(brick, DVec3::Z)),
    ] {
        found.push(repair(&mesh));
    }
    let solid: Vec<_> = found.iter().flatten().collect();
    // This brick has the same diagonals in the common face.
    assert_eq!(solid.len(), 1, "{found:?}");
    let (repaired, done) = solid[0];
    assert_eq!(done.duplicate_triangles, 4);
    assert!((repaired.volume() - 2.0).abs() < 1e-12);
    let refused = found.iter().find_map(|f| f.as_ref().err());
    assert!(
        matches!(refused, Some(RepairError::SelfCrossing { .. })),
        "{refused:?}"
    );
}

#[test]
fn vertices_on_edges_and_flat_triangles_are_joined_to_the_rest() {
    let mut mesh = shapes::cuboid(DVec3::ONE);
    let cut = mesh.triangles[0];
    let middle = |mesh: &TriMesh, a: u32, b: u32| {
        (mesh.positions[a as usize] + mesh.positions[b as usize]) / 2.0
    };
    let place = middle(&mesh, cut[0], cut[1]);
    mesh.positions.push(place);
    mesh.triangles[0] = [cut[0], 8, cut[2]];
    mesh.triangles.push([8, cut[1], cut[2]]);
    let (open, done) = repair(&mesh).unwrap();
    assert_eq!(done.joined_vertices, 1);
    assert_eq!(open.triangles.len(), 14);
    assert!((open.volume() - 1.0).abs() < 1e-15);
    // The same slit, closed by a triangle without area.
    mesh.triangles.push([cut[0], cut[1], 8]);
    let (closed, done) = repair(&mesh).unwrap();
    assert_eq!(done.flipped_edges, 1, "{done}");
    assert_eq!(closed.triangles.len(), 14);
    assert!((closed.volume() - 1.0).abs() < 1e-15);
}

#[test]
fn needles_go_and_thin_walls_stay() {
    let mut mesh = icosphere(2);
    let [a, b] = [mesh.triangles[0][0], mesh.triangles[0][1]];
    let mut edges = super::super::half_edges::HalfEdges::new(&mesh).unwrap();
    let h = edges.ring(a).find(|h| edges.ends(*h)[1] == b).unwrap();
    let [p, q] = [a, b].map(|v| mesh.positions[v as usize]);
    edges.split(h, p + (q - p) * 1e-4);
    mesh = edges.into_mesh().0;
    let (repaired, done) = repair(&mesh).unwrap();
    assert!(done.collapsed_edges == 1, "{done}");
    assert_eq!(repaired.triangles.len(), 320);
    let plate = shapes::cuboid(DVec3::new(1.0, 1.0, 1e-4));
    assert_eq!(repair(&plate).unwrap(), (plate, Repairs::default()));
}

#[test]
fn fins_go_and_inner_walls_are_refused() {
    let mut mesh = shapes::cuboid(DVec3::ONE);
    mesh.positions.push(DVec3::new(2.0, 2.0, 0.0));
    mesh.triangles.push([1, 3, 8]);
    let (repaired, done) = repair(&mesh).unwrap();
    assert_eq!(done.fin_triangles, 1);
    assert_eq!(repaired, shapes::cuboid(DVec3::ONE));
    let mut wall = shapes::cuboid(DVec3::ONE);
    wall.triangles.extend([[0, 3, 4], [3, 7, 4]]);
    let error = repair(&wall).unwrap_err();
    assert!(
        matches!(error, RepairError::NonManifold { count: 3, .. }),
        "{error}"
    );
}

#[test]
fn shells_without_thickness_go() {
    let mut mesh = shapes::cuboid(DVec3::ONE);
    let flake = shapes::cuboid(DVec3::new(0.2, 0.2, 1e-7));
    mesh.append(at(flake.clone(), DVec3::splat(2.0)));
    // The remaining sheet is two coincident triangles.
    let (repaired, done) = repair(&mesh).unwrap();
    assert_eq!(repaired, shapes::cuboid(DVec3::ONE));
    assert_eq!(done.merged_vertices, 4);
    assert_eq!(done.duplicate_triangles + done.degenerate_triangles, 12);
    let mut mesh = shapes::cuboid(DVec3::ONE);
    let mut tetrahedron = TriMesh {
        positions: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(0.3, 0.3, 1e-8)],
        triangles: vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
        ..TriMesh::default()
    };
    tetrahedron = at(tetrahedron, DVec3::splat(3.0));
    mesh.append(tetrahedron);
    let (repaired, done) = repair(&mesh).unwrap();
    assert_eq!(repaired, shapes::cuboid(DVec3::ONE));
    assert_eq!(done.flat_triangles, 4);
}

#[test]
fn solids_that_touch_are_several_and_are_parted() {
    let brick = || shapes::cuboid(DVec3::ONE);
    for shift in [
        DVec3::new(1.0, 1.0, 1.0),
        DVec3::new(1.0, 1.0, 0.0),
        DVec3::splat(3.0),
    ] {
        let mut mesh = both(brick(), at(brick(), shift));
        check::flip(&mut mesh);
        let error = repair(&mesh).unwrap_err();
        let RepairError::Several(parts) = &error else {
            panic!("{error}");
        };
        assert_eq!(
            parts.iter().map(|p| p.triangles).collect::<Vec<_>>(),
            [12, 12]
        );
        assert!(parts[1].middle.distance(shift) < 1e-12, "{error}");
        let (found, done) = solids(&mesh).unwrap();
        assert_eq!(done.turned_triangles, 24);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|s| (s.volume() - 1.0).abs() < 1e-12));
    }
}

#[test]
fn cavities_go_with_the_solid_around_them() {
    let hollow = |shift: DVec3| {
        let outer = shapes::cuboid(DVec3::ONE);
        at(both(outer, shapes::cuboid(DVec3::splat(0.5))), shift)
    };
    let one = repair(&hollow(DVec3::ZERO)).unwrap();
    assert!((one.0.volume() - 0.875).abs() < 1e-12);
    assert_eq!(one.1.turned_triangles, 12);
    let mesh = both(hollow(DVec3::ZERO), hollow(DVec3::X * 4.0));
    let (found, _) = solids(&mesh).unwrap();
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|s| (s.volume() - 0.875).abs() < 1e-12));
}

/// Cells about a common corner or edge; opposite cells are solid.
#[test]
fn a_solid_that_touches_itself_is_parted_there() {
    let joined = |cells: &[DVec3]| {
        let mut mesh = TriMesh::default();
        for cell in cells {
            mesh.append(at(grid_cell(), *cell));
        }
        mesh
    };
    // Two opposite cells of eight are missing.
    let hollowed = [
        DVec3::ZERO,
        DVec3::X,
        DVec3::new(1.0, 0.0, 1.0),
        DVec3::ONE,
        DVec3::new(0.0, 1.0, 1.0),
        DVec3::Y,
    ];
    let (touching, done) = repair(&joined(&hollowed)).unwrap();
    assert_eq!(done.split_vertices, 1);
    assert!((touching.volume() - 6.0).abs() < 0.01);
    check_apart(&touching);
    // A chain whose ends lie opposite each other at an edge.
    let ring = [
        DVec3::ZERO,
        DVec3::X,
        DVec3::new(2.0, 0.0, 0.0),
        DVec3::new(2.0, 1.0, 0.0),
        DVec3::new(2.0, 2.0, 0.0),
        DVec3::new(1.0, 2.0, 0.0),
        DVec3::new(1.0, 1.0, 1.0),
        DVec3::new(1.0, 2.0, 1.0),
    ];
    let (touching, done) = repair(&joined(&ring)).unwrap();
    assert_eq!(done.split_vertices, 2, "{done}");
    assert!((touching.volume() - 8.0).abs() < 0.01);
    check_apart(&touching);
}

fn check_apart(mesh: &TriMesh) {
    let mut outward = mesh.clone();
    check::require_solid(&mut outward).unwrap();
    assert_eq!(outward, *mesh);
    super::super::half_edges::HalfEdges::new(mesh).unwrap();
}

/// A cube whose opposite faces have the same diagonals.
fn grid_cell() -> TriMesh {
    let mut mesh = shapes::cuboid(DVec3::ONE);
    for (lower, upper) in [(0, 1), (2, 3), (4, 5)] {
        let axis = [DVec3::Z, DVec3::Y, DVec3::X][lower / 2];
        for k in 0..2 {
            let below = mesh.corners(2 * lower + k).map(|p| p + axis);
            let numbers = below.map(|p| {
                let found = mesh.positions.iter().position(|q| q.distance(p) < 1e-9);
                found.unwrap() as u32
            });
            mesh.triangles[2 * upper + k] = [numbers[0], numbers[2], numbers[1]];
        }
    }
    mesh
}

#[test]
fn texture_coordinates_stay_with_their_corners() {
    let mut mesh = shapes::cuboid(DVec3::ONE);
    mesh.uv = (0..12)
        .map(|t| [0, 1, 2].map(|m| [t as f32, m as f32]))
        .collect();
    let mut inverted = soup(&mesh);
    check::flip(&mut inverted);
    let (repaired, _) = repair(&inverted).unwrap();
    for t in 0..12 {
        let corners = repaired.corners(t);
        for (k, corner) in corners.iter().enumerate() {
            let given = mesh.corners(t).iter().position(|p| p == corner);
            assert_eq!(repaired.uv[t][k], mesh.uv[t][given.unwrap()]);
        }
    }
}

#[test]
fn what_cannot_be_repaired_is_named() {
    let cube = || shapes::cuboid(DVec3::ONE);
    let mut open = icosphere(1);
    open.triangles.remove(11);
    let mut nan = cube();
    nan.positions[3].y = f64::NAN;
    let mut missing = cube();
    missing.triangles[5][1] = 77;
    let crossing = both(cube(), at(cube(), DVec3::new(0.3, 0.4, 0.5)));
    // Exact predicates find no intersection here.
    let hair = both(cube(), at(cube(), DVec3::new(0.3, 0.3, 1.0 + 1e-9)));
    let mut flat = cube();
    flat.positions.iter_mut().for_each(|p| p.z = 1.0);
    let scaled = |factor: f64| {
        let mut mesh = cube();
        mesh.positions.iter_mut().for_each(|p| *p *= factor);
        mesh
    };
    let cases = [
        (TriMesh::default(), "mesh has no triangles"),
        (open, "3 boundary edges"),
        (
            nan,
            "vertex 3, a corner of triangle 0, is not finite: 0.5, NaN,",
        ),
        (missing, "triangle 5 uses vertex 77 of 8"),
        (crossing, "cuts or touches itself"),
        (hair, "cuts or touches itself"),
        (flat, "is flat near"),
        (scaled(1e200), "1.7e200 m across"),
        (scaled(1e-30), "1.7e-30 m across"),
        (at(cube(), DVec3::X * 1e12), "too much precision"),
    ];
    for (mesh, expected) in cases {
        let error = repair(&mesh).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(solids(&mesh).is_err());
    }
}
