//! Tests of fragments that are too small to be resolved.

use super::*;

/// Asserts that a mesh is one convex solid with at most 60 triangles.
fn assert_chip(mesh: &TriMesh) {
    assert!(mesh.triangles.len() <= 60, "{}", mesh.triangles.len());
    for t in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.corners(t);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let above = mesh.positions.iter().map(|p| normal.dot(*p - a));
        assert!(above.fold(f64::MIN, f64::max) < 1e-3);
    }
}

/// Labels with which the last element breaks off alone and the first two as a pair.
fn crumbs(elements: &Elements) -> Vec<u32> {
    let mut labels = vec![0; elements.x.len()];
    let last = labels.len() - 1;
    labels[last] = 1;
    labels[0] = 2;
    labels[1] = 2;
    labels
}

#[test]
fn crumbs_of_a_bonded_body_are_chips_in_world_mode() {
    let (elements, bonds, _) = box_body(DVec3::new(14.0, 13.0, 12.0));
    let params = spec::Reconstruct {
        mode: ReconstructMode::World,
        ..spec::Reconstruct::default()
    };
    let bodies = RestBody::all(&elements, &bonds, &params, |_| Ok(None)).unwrap();
    let mut surfaces = Surfaces::new(&elements, bodies);
    let labels = crumbs(&elements);
    let rest = surfaces
        .at(0, &at_rest(&elements, &labels), &whole(&bonds))
        .unwrap();
    assert_eq!(rest.pieces.len(), 3);
    total_volume(&rest);
    for piece in &rest.pieces[1..] {
        assert_chip(&piece_mesh(&rest, piece));
        let inside = &rest.inside[rest.triangle_range(piece)];
        assert!(inside.iter().all(|&inside| inside == 1));
    }
    // The chips keep their shapes while they fly.
    let mut later = at_rest(&elements, &labels);
    later.y.iter_mut().for_each(|y| *y += 25.0);
    let later = surfaces.at(1, &later, &whole(&bonds)).unwrap();
    for (piece, before) in later.pieces.iter().zip(&rest.pieces).skip(1) {
        assert_eq!(
            later.rest_positions[later.vertex_range(piece)],
            rest.rest_positions[rest.vertex_range(before)]
        );
    }
}

#[test]
fn elements_without_a_node_of_the_grid_are_chips_with_texture() {
    let (elements, bonds, mut skin) = box_body(DVec3::new(14.0, 13.0, 12.0));
    let flat = |p: DVec3| [p.x as f32, (p.y + p.z) as f32];
    skin.uv = (0..skin.triangles.len())
        .map(|t| skin.corners(t).map(flat))
        .collect();
    let labels: Vec<u32> = (0..elements.x.len() as u32).collect();
    // A grid too coarse for single elements.
    let surface = surfaces(&elements, &bonds, &skin, 3.0)
        .at(0, &at_rest(&elements, &labels), &whole(&bonds))
        .unwrap();
    assert_eq!(surface.pieces.len(), elements.x.len());
    let mut chips = 0;
    for piece in &surface.pieces {
        let mesh = piece_mesh(&surface, piece);
        assert_closed(&mesh, "piece");
        let ball = 4.0 / 3.0 * std::f64::consts::PI * 0.8_f64.powi(3);
        if (mesh.volume() / ball - 1.0).abs() < 1e-4 {
            chips += 1;
            assert_chip(&mesh);
            let triangles = surface.triangle_range(piece);
            assert!(
                surface.inside[triangles.clone()]
                    .iter()
                    .all(|&inside| inside == 1)
            );
            let uv = &surface.uv[triangles];
            assert!(uv.iter().any(|uv| uv[0] != uv[1] && uv[1] != uv[2]));
        }
    }
    assert!(chips > 20, "{chips} of {}", surface.pieces.len());
}
