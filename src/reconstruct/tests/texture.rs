//! Tests of texture coordinates, from the skin of the input to the surfaces of fragments.

use super::*;
use crate::geometry::nearest::nearest_on_triangle;

/// Affine texture map of triangle `t` of a textured box. Each side has its own chart, the last side one for
/// each of its two triangles.
fn map(t: usize, p: DVec3) -> [f64; 2] {
    let chart = if t < 10 { t / 2 } else { t } as f64;
    let [u, v] = [
        DVec3::new(0.031, 0.017, -0.023),
        DVec3::new(-0.011, 0.029, 0.019),
    ];
    [
        p.dot(u) * (1.0 + 0.1 * chart) + chart,
        p.dot(v) * (1.3 - 0.1 * chart) - 2.0 * chart,
    ]
}

fn textured(mut skin: TriMesh) -> TriMesh {
    let corners = (0..skin.triangles.len()).map(|t| skin.corners(t));
    let uv = corners
        .enumerate()
        .map(|(t, corners)| corners.map(|p| map(t, p).map(|x| x as f32)));
    skin.uv = uv.collect();
    skin
}

fn rest_corners(surface: &SurfaceFrame, t: usize) -> [DVec3; 3] {
    surface.triangles[t].map(|v| DVec3::from(surface.rest_positions[v as usize].map(f64::from)))
}

/// Asserts that every triangle of the skin has the texture coordinates of the input's triangle that it lies
/// on. Returns the number of these triangles.
fn assert_mapped(surface: &SurfaceFrame, skin: &TriMesh) -> usize {
    assert_eq!(surface.uv.len(), surface.triangles.len());
    let mut checked = 0;
    for t in (0..surface.triangles.len()).filter(|&t| surface.inside[t] == 0) {
        let corners = rest_corners(surface, t);
        let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
        let off = |of: usize| middle.distance(nearest_on_triangle(middle, skin.corners(of)));
        let of = (0..skin.triangles.len())
            .min_by(|&a, &b| off(a).total_cmp(&off(b)))
            .unwrap();
        for (corner, uv) in corners.into_iter().zip(surface.uv[t]) {
            let expected = map(of, corner);
            for axis in 0..2 {
                let off = f64::from(uv[axis]) - expected[axis];
                assert!(
                    off.abs() < 1e-5,
                    "{corner}, side {of}: {uv:?}, not {expected:?}"
                );
            }
        }
        checked += 1;
    }
    checked
}

const SIZE: DVec3 = DVec3::new(24.0, 17.0, 16.0);

/// A box with this skin, cut in two between two of its layers.
fn halves(skin: &TriMesh, simplify: f64) -> SurfaceFrame {
    let (elements, bonds, _) = box_body(SIZE);
    let plane = -7.0 * R + 3.5 * (8.0_f64 / 3.0).sqrt() * R;
    let labels: Vec<u32> = elements.z.iter().map(|&z| u32::from(z > plane)).collect();
    let params = spec::Reconstruct {
        simplify,
        ..spec::Reconstruct::default()
    };
    let bodies = RestBody::all(&elements, &bonds, &params, |_| Ok(Some(skin.clone()))).unwrap();
    Surfaces::new(&elements, bodies)
        .at(0, &at_rest(&elements, &labels), &whole(&bonds))
        .unwrap()
}

fn box_skin() -> TriMesh {
    box_mesh(-SIZE / 2.0, SIZE / 2.0)
}

#[test]
fn a_crack_moves_no_texture_and_a_texture_no_crack() {
    let skin = textured(box_skin());
    let mut surface = halves(&skin, 0.0);
    let checked = assert_mapped(&surface, &skin);
    let cracks = surface.triangles.len() - checked;
    assert!(checked > 1000 && cracks > 500, "{checked}, {cracks}");
    surface.uv = Vec::new();
    assert!(surface == halves(&box_skin(), 0.0));
    assert!(total_volume(&surface) > 0.0);
}

#[test]
fn crack_faces_have_a_texture_as_fine_as_that_of_the_skin() {
    let skin = textured(box_skin());
    let surface = halves(&skin, 0.0);
    let area = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a).length();
    let of_skin: f64 = (0..12).map(|t| area(skin.corners(t))).sum();
    let flat = |uv: CornerUv| uv.map(|[u, v]| DVec3::new(u.into(), v.into(), 0.0));
    let of_uv: f64 = skin.uv.iter().map(|&uv| area(flat(uv))).sum();
    let expected = (of_uv / of_skin).sqrt();
    let (mut in_space, mut in_uv) = (0.0, 0.0);
    for t in (0..surface.triangles.len()).filter(|&t| surface.inside[t] == 1) {
        let corners = rest_corners(&surface, t);
        // The crack is normal to z: in the x-y plane the ratio of lengths to texture coordinates is the same
        // everywhere.
        let [a, b, c] = corners;
        if (b - a).cross(c - a).normalize_or_zero().z.abs() > 0.9 {
            for m in 0..3 {
                let way = (corners[(m + 1) % 3] - corners[m]).truncate().length();
                let uv = flat(surface.uv[t]);
                let off = uv[m].distance(uv[(m + 1) % 3]) - expected * way;
                assert!(off.abs() < 1e-5, "{corners:?}: {uv:?}");
            }
        }
        in_space += area(corners);
        in_uv += area(flat(surface.uv[t]));
    }
    let density = (in_uv / in_space).sqrt();
    assert!(
        (0.95..1.001).contains(&(density / expected)),
        "{density}, {expected}"
    );
}

#[test]
fn seams_stay_where_triangles_are_taken_away() {
    let skin = textured(box_skin());
    let (whole, surface) = (halves(&skin, 0.0), halves(&skin, 0.2));
    let (before, after) = (assert_mapped(&whole, &skin), assert_mapped(&surface, &skin));
    assert!(4 * after < 3 * before, "{after} of {before}");
    assert!(total_volume(&surface) > 0.0);
}

#[test]
fn a_texture_slides_no_farther_than_the_surface_may_move() {
    // On the flat side at the lower end of z, a texture scale that varies along the diagonal, without a seam.
    let density = 0.05;
    let map = |p: DVec3| {
        let across = (p.x / SIZE.x + p.y / SIZE.y) * SIZE.x * SIZE.y / SIZE.truncate().length();
        [density * p.x + 0.5 * density * across.abs(), density * p.y]
    };
    let mut skin = box_skin();
    let corners = (0..12).map(|t| skin.corners(t));
    skin.uv = corners
        .map(|corners| corners.map(|p| map(p).map(|x| x as f32)))
        .collect();
    let error = 0.2;
    let surface = halves(&skin, error * R);
    assert!(total_volume(&surface) > 0.0);
    let (mut worst, mut checked) = (0.0_f64, 0);
    for t in (0..surface.triangles.len()).filter(|&t| surface.inside[t] == 0) {
        let corners = rest_corners(&surface, t);
        let on_side = |p: &DVec3| (p.z + SIZE.z / 2.0).abs() < 1e-4;
        if !corners.iter().all(on_side) {
            continue;
        }
        let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
        let mean = |axis: usize| {
            surface.uv[t]
                .iter()
                .map(|uv| f64::from(uv[axis]))
                .sum::<f64>()
                / 3.0
        };
        let expected = map(middle);
        worst = worst.max((mean(0) - expected[0]).hypot(mean(1) - expected[1]) / density);
        checked += 1;
    }
    assert!((2..400).contains(&checked), "{checked}");
    assert!(worst < error * R, "{worst} over {checked} triangles");
}

#[test]
fn bodies_without_a_texture_have_zeros_and_dust_has_that_of_cracks() {
    let (mut elements, mut bonds, skin) = box_body(DVec3::new(9.0, 8.0, 7.0));
    let (others, other_bonds, _) = box_body(DVec3::new(9.0, 8.0, 7.0));
    let (count, shift) = (elements.id.len() as u32, DVec3::X * 20.0);
    elements.id.extend(others.id.iter().map(|id| id + count));
    elements.body.extend(others.body.iter().map(|_| 1));
    elements.kind.extend(&others.kind);
    elements.x.extend(others.x.iter().map(|x| x + shift.x));
    elements.y.extend(&others.y);
    elements.z.extend(&others.z);
    elements.r.extend(&others.r);
    bonds.i.extend(other_bonds.i.iter().map(|i| i + count));
    bonds.j.extend(other_bonds.j.iter().map(|j| j + count));
    bonds.l0.extend(&other_bonds.l0);
    bonds.dx.extend(&other_bonds.dx);
    bonds.dy.extend(&other_bonds.dy);
    bonds.dz.extend(&other_bonds.dz);
    // The cells are so large that hardly any element of the second body owns a grid node.
    let params = spec::Reconstruct {
        voxel: 3.0,
        ..spec::Reconstruct::default()
    };
    let of_body = |body: u32| {
        let mut skin = skin.clone();
        if body == 1 {
            skin.positions.iter_mut().for_each(|p| *p += shift);
            skin = textured(skin);
        }
        Ok(Some(skin))
    };
    let bodies = RestBody::all(&elements, &bonds, &params, of_body).unwrap();
    let labels: Vec<u32> = (0..2 * count)
        .map(|e| if e < count { 0 } else { e })
        .collect();
    let broken: Vec<bool> = bonds.i.iter().map(|&i| i >= count).collect();
    let surface = Surfaces::new(&elements, bodies)
        .at(0, &at_rest(&elements, &labels), &broken)
        .unwrap();
    assert_eq!(surface.uv.len(), surface.triangles.len());
    let mut dust = 0;
    for piece in &surface.pieces {
        let uv = surface.uv_of(piece).as_flattened();
        if piece.body == 0 {
            assert!(uv.iter().all(|uv| *uv == [0.0; 2]));
            continue;
        }
        let inside = &surface.inside[surface.triangle_range(piece)];
        if inside.iter().all(|&flag| flag == 1) {
            assert!(uv.iter().any(|other| *other != uv[0]));
            dust += 1;
        }
    }
    assert!(dust > 0);
}

/// A box whose sides have materials, but for the last, and colours that are an affine function of the position.
fn painted(mut skin: TriMesh) -> TriMesh {
    let count = skin.triangles.len();
    let colour = |p: DVec3| (p / SIZE + 0.5).as_vec3().to_array();
    skin.paint.colours = (0..count).map(|t| skin.corners(t).map(colour)).collect();
    let materials = (0..count as u32).map(|t| if t < 10 { t / 2 } else { u32::MAX });
    skin.paint.materials = materials.collect();
    skin.paint.names = (0..5).map(|side| format!("side {side}")).collect();
    skin
}

/// Asserts that the skin has the colours and materials of the input, and that crack faces have none.
fn assert_painted(surface: &SurfaceFrame, skin: &TriMesh, tolerance: f64) {
    assert_eq!(surface.material_names, skin.paint.names);
    for t in 0..surface.triangles.len() {
        let (corners, colours) = (rest_corners(surface, t), surface.colours[t]);
        if surface.inside[t] == 1 {
            assert_eq!((colours, surface.material_of(t)), ([[1.0; 3]; 3], None));
            continue;
        }
        for (p, colour) in corners.iter().zip(colours) {
            let off = (glam::Vec3::from(colour).as_dvec3() - *p / SIZE - 0.5).length();
            assert!(off < tolerance, "{p}: {colour:?}");
        }
        let middle = corners.iter().sum::<DVec3>() / 3.0;
        let off = |of: usize| middle.distance(nearest_on_triangle(middle, skin.corners(of)));
        let of = (0..skin.triangles.len()).min_by(|&a, &b| off(a).total_cmp(&off(b)));
        assert_eq!(surface.materials[t], skin.paint.materials[of.unwrap()]);
    }
}

#[test]
fn colours_and_materials_stay_on_their_sides() {
    let skin = painted(box_skin());
    let whole = halves(&skin, 0.0);
    assert_painted(&whole, &skin, 1e-5);
    // Without texture coordinates too; and with both, which do not disturb each other.
    let fewer = halves(&skin, 0.2);
    assert!(fewer.triangles.len() < whole.triangles.len());
    assert_painted(&fewer, &skin, 0.03);
    let both = halves(&textured(skin.clone()), 0.0);
    assert_painted(&both, &skin, 1e-5);
    assert_mapped(&both, &skin);
    let mut plain = whole;
    (plain.colours, plain.materials) = (Vec::new(), Vec::new());
    plain.material_names = Vec::new();
    assert!(plain == halves(&box_skin(), 0.0));
}
