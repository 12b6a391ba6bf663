//! Tests of cutting bodies along wavy sheets.

use glam::{DVec3, dvec3};

use super::{CutError, CutPiece, FacetOrigin, cut};
use crate::geometry::check::require_solid;
use crate::geometry::{TriMesh, icosphere, shapes};

/// Square sheet z = f(x, y) with `parts` cells along each side.
fn sheet(side: f64, parts: u32, f: impl Fn(f64, f64) -> f64) -> TriMesh {
    let mut mesh = TriMesh::default();
    for i in 0..=parts {
        for j in 0..=parts {
            // Shifted so that vertices do not lie on edges of the bodies.
            let [x, y] = [(i, 0.0137), (j, 0.0071)]
                .map(|(k, off)| side * (f64::from(k) / f64::from(parts) - 0.5) + off);
            mesh.positions.push(dvec3(x, y, f(x, y)));
        }
    }
    let at = |i: u32, j: u32| i * (parts + 1) + j;
    for i in 0..parts {
        for j in 0..parts {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    mesh
}

fn wave(x: f64, y: f64) -> f64 {
    0.0123 + 0.2 * (2.1 * x + 0.3).sin() * (1.7 * y - 0.2).cos()
}

/// Smallest ratio of height to longest edge of a triangle.
fn thinnest(piece: &CutPiece) -> f64 {
    let mesh = &piece.mesh;
    let height = |t: usize| {
        let [a, b, c] = mesh.corners(t);
        let longest = [a - b, b - c, c - a].map(DVec3::length_squared);
        2.0 * mesh.area_of(t) / longest.into_iter().fold(0.0, f64::max)
    };
    (0..mesh.triangles.len()).map(height).fold(1.0, f64::min)
}

#[test]
fn pieces_are_closed_and_their_volumes_add_up() {
    let mut hollow = icosphere(3);
    let mut cavity = icosphere(1);
    cavity
        .positions
        .iter_mut()
        .for_each(|p| *p = *p * 0.2 + DVec3::Z * 0.6);
    crate::geometry::check::flip(&mut cavity);
    hollow.append(cavity);
    let bodies = [
        shapes::cuboid(dvec3(1.0, 1.3, 0.9)),
        icosphere(2),
        shapes::cylinder(0.5, 2.0),
        hollow,
    ];
    for body in bodies {
        for parts in [3, 8, 31] {
            let pieces = cut(&body, &sheet(2.7, parts, wave)).unwrap();
            assert_eq!(pieces.len(), 2);
            let mut sum = 0.0;
            for piece in &pieces {
                let mut mesh = piece.mesh.clone();
                require_solid(&mut mesh).unwrap();
                assert_eq!(mesh, piece.mesh);
                sum += mesh.volume();
                let of_sheet = |origin: &FacetOrigin| matches!(origin, FacetOrigin::Sheet(_));
                assert!(piece.origins.iter().any(of_sheet));
            }
            assert!((sum - body.volume()).abs() < 1e-12 * sum);
            let thinnest = pieces.iter().map(thinnest).fold(1.0, f64::min);
            println!(
                "{} triangles, {parts} parts: {thinnest}",
                body.triangles.len()
            );
        }
    }
}

#[test]
fn a_bent_sheet_cuts_off_several_pieces() {
    let body = shapes::cuboid(dvec3(1.0, 1.0, 0.2));
    let hills = sheet(2.1, 40, |x, _| 0.013 + 0.4 * (9.0 * x).sin());
    let pieces = cut(&body, &hills).unwrap();
    assert!(pieces.len() > 3, "{}", pieces.len());
    let sum: f64 = pieces.iter().map(|piece| piece.mesh.volume()).sum();
    assert!((sum - 0.2).abs() < 1e-12);
}

#[test]
fn sheets_that_cut_nothing_say_why() {
    let body = shapes::cuboid(DVec3::ONE);
    let error = |sheet| cut(&body, &sheet).unwrap_err();
    assert!(matches!(
        error(sheet(0.8, 8, wave)),
        CutError::NoIntersection | CutError::EndsInside(_)
    ));
    let mut beside = sheet(1.7, 8, wave);
    beside.positions.iter_mut().for_each(|p| p.x += 0.6);
    assert!(matches!(error(beside), CutError::EndsInside(_)));
    assert_eq!(error(sheet(2.0, 8, |_, _| 3.0)), CutError::NoIntersection);
    assert_eq!(error(sheet(2.0, 8, |_, _| 0.5)), CutError::NotGeneral);
}
