use glam::{DMat3, DVec3};

use super::*;
use crate::geometry::check::require_solid;
use crate::geometry::{icosphere, read, shapes};

/// The wrap, which must be a solid.
fn solid(mesh: &TriMesh, cell: f64) -> TriMesh {
    let mut surface = wrap(mesh, cell).unwrap().surface;
    let before = surface.clone();
    require_solid(&mut surface).unwrap();
    assert_eq!(surface, before, "wound outward");
    surface
}

/// Largest distance of the vertices of one mesh from another, m.
fn farthest(of: &TriMesh, from: &TriMesh) -> f64 {
    let bvh = Bvh::new(from);
    let distances = of.positions.iter().map(|p| bvh.nearest(from, *p).0.sqrt());
    distances.fold(0.0, f64::max)
}

#[test]
fn a_ball_and_a_turned_cube_keep_volume_and_edges() {
    let ball = icosphere(4);
    let surface = solid(&ball, 0.1);
    // The chords of a grid of a tenth of the radius.
    assert!((surface.volume() / ball.volume() - 1.0).abs() < 5e-3);
    assert!(farthest(&surface, &ball) < 0.01);
    let mut cube = shapes::cuboid(DVec3::ONE);
    let turn = DMat3::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 0.7);
    cube.positions.iter_mut().for_each(|p| *p = turn * *p);
    let surface = solid(&cube, 0.07);
    assert!(
        (surface.volume() - 1.0).abs() < 2e-3,
        "{}",
        surface.volume()
    );
    // Corners and edges stay sharp.
    assert!(
        farthest(&surface, &cube) < 0.01,
        "{}",
        farthest(&surface, &cube)
    );
    assert!(
        farthest(&cube, &surface) < 0.02,
        "{}",
        farthest(&cube, &surface)
    );
}

#[test]
fn a_missing_face_is_spanned_and_a_sheet_encloses_nothing() {
    let mut open = shapes::cuboid(DVec3::ONE);
    open.triangles.truncate(10);
    let surface = solid(&open, 0.06);
    assert!(surface.volume() > 0.7 && surface.volume() < 1.1);
    let mut sheet = shapes::cuboid(DVec3::ONE);
    sheet.triangles.truncate(2);
    assert_eq!(wrap(&sheet, 0.1), Err(WrapError::EnclosesNothing));
    assert!(matches!(
        wrap(&open, 1e-6),
        Err(WrapError::TooFine { least, .. }) if least > 1e-4 && least < 1e-2
    ));
}

#[test]
fn parts_that_overlap_are_one_surface() {
    let mut parts = TriMesh::default();
    for k in 0..6 {
        let angle = f64::from(k);
        let turn = DMat3::from_axis_angle(DVec3::new(1.0, angle, 0.3).normalize(), angle);
        let mut part = shapes::cuboid(DVec3::new(1.0, 0.5, 0.7));
        for p in &mut part.positions {
            *p = turn * *p + DVec3::new(0.3 * angle, 0.2 * (angle * 2.0).sin(), 0.0);
        }
        parts.append(part);
    }
    let surface = solid(&parts, 0.05);
    let winding = Winding::new(&parts);
    // Sampled on a lattice.
    let (low, high) = parts.bounds().unwrap();
    let (mut inside, count) = (0, 40_i32);
    for k in 0..count * count * count {
        let part = [k % count, k / count % count, k / count / count];
        let part = part.map(|n| (f64::from(n) + 0.5) / f64::from(count));
        inside += i32::from(winding.contains(low + (high - low) * DVec3::from_array(part)));
    }
    let volume = (high - low).element_product() * f64::from(inside) / f64::from(count.pow(3));
    assert!((surface.volume() / volume - 1.0).abs() < 0.01);
}

#[test]
fn a_bunny_with_holes_is_closed_on_its_own_surface() {
    let bunny = read::read("pipelines/meshes/bunny.obj".as_ref()).unwrap();
    let mut open = bunny.clone();
    open.triangles.retain(|t| t[0] % 50 != 0);
    let surface = solid(&open, 0.12);
    assert!((surface.volume() / bunny.volume() - 1.0).abs() < 0.01);
    let far = surface.positions.iter();
    let bvh = Bvh::new(&bunny);
    let far = far.filter(|p| bvh.nearest(&bunny, **p).0.sqrt() > 0.012);
    assert!(far.count() * 50 < surface.positions.len());
}

#[test]
fn what_is_thinner_than_the_finest_cells_is_reported() {
    let mut mesh = shapes::cuboid(DVec3::ONE);
    mesh.triangles.truncate(10);
    let box_area = mesh.area();
    let mut blade = shapes::cuboid(DVec3::new(1.0, 1.0, 1e-3));
    blade.positions.iter_mut().for_each(|p| p.x += 1.2);
    let expected = 2.0 / (box_area + blade.area());
    mesh.append(blade);
    let made = wrap(&mesh, 0.1).unwrap();
    assert_eq!(made.cell, 0.025);
    assert!(
        (made.missing / expected - 1.0).abs() < 0.1,
        "{} of {expected}",
        made.missing
    );
}

#[test]
fn a_surface_that_would_leave_the_grid_ends_at_its_border() {
    // Six parallel sheets wind six times as far out as one.
    let mut mesh = shapes::cuboid(DVec3::ONE);
    for k in 1..6 {
        let mut sheet = shapes::cuboid(DVec3::ONE);
        sheet.triangles.truncate(2);
        sheet
            .positions
            .iter_mut()
            .for_each(|p| p.x += 0.1 * f64::from(k));
        mesh.append(sheet);
    }
    let surface = solid(&mesh, 0.05);
    assert!(surface.volume() > 0.9);
}
