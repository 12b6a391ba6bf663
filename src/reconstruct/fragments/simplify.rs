//! Fewer triangles on the surface of a fragment.
//!
//! Where the skin has texture coordinates, a vertex on a seam has a corner for each side of it, and a seam
//! stays one: edges are taken out of both its sides alike or of none. How far a texture slides over the
//! surface counts as the surface's own movement does.

use glam::DVec3;

use crate::geometry::CornerUv;
use crate::geometry::corners::Corners;
use crate::math::hash::QuickMap;
use crate::reconstruct::faces::fans::are_single;

/// Triangles of skin and cracks, and the texture coordinates of the skin's if it has any.
pub type Parts = ([Vec<u32>; 2], Vec<CornerUv>);

/// The triangles of skin and cracks with as many taken away as leave the surface within `error` (m). Vertices
/// that both share stay. `density` is that of the texture coordinates, 1/m.
pub fn simplified(
    indices: [Vec<u32>; 2],
    uv: Vec<CornerUv>,
    positions: &[DVec3],
    error: f64,
    density: f64,
) -> Parts {
    let mut part_of = vec![0_u8; positions.len()];
    for (part, indices) in [1, 2].into_iter().zip(&indices) {
        indices.iter().for_each(|&v| part_of[v as usize] |= part);
    }
    let locked: Vec<bool> = part_of.iter().map(|&parts| parts == 3).collect();
    // In units of the error about the first vertex: single precision is enough then. Both faces of a crack
    // lie on each other at rest, and would be taken for one; a thousandth of the error tells them apart.
    let scaled: Vec<[f32; 3]> = positions
        .iter()
        .zip(0_u32..)
        .map(|(&x, v)| {
            let apart = f64::from(v.wrapping_mul(0x9e37_79b9) >> 16) / 65536e3;
            ((x - positions[0]) / error + apart).as_vec3().to_array()
        })
        .collect();
    let fewer = |indices: &[u32]| {
        meshopt::simplify_with_locks_decoder(
            indices,
            &scaled,
            &locked,
            0,
            1.0,
            meshopt::SimplifyOptions::LockBorder | meshopt::SimplifyOptions::ErrorAbsolute,
            None,
        )
    };
    let (skin, uv_of_skin) = if uv.is_empty() {
        (fewer(&indices[0]), Vec::new())
    } else {
        fewer_textured(&indices[0], &uv, &scaled, &locked, density * error)
    };
    let crack = fewer(&indices[1]);
    let is_sound = |parts: &[&Vec<u32>; 2]| is_closed(parts) && volume(parts, positions) > 0.0;
    // Skin and cracks may come to share an edge between two points of a rim, or pass through each other where
    // they are close; then one of them keeps what it has, or both.
    if is_sound(&[&skin, &crack]) {
        ([skin, crack], uv_of_skin)
    } else if is_sound(&[&skin, &indices[1]]) {
        let [_, whole] = indices;
        ([skin, whole], uv_of_skin)
    } else if is_sound(&[&indices[0], &crack]) {
        let [whole, _] = indices;
        ([whole, crack], uv)
    } else {
        (indices, uv)
    }
}

/// As many triangles taken away as `scaled` and the texture coordinates allow, which change by `density` over
/// a unit of length.
fn fewer_textured(
    indices: &[u32],
    uv: &[CornerUv],
    scaled: &[[f32; 3]],
    locked: &[bool],
    density: f64,
) -> (Vec<u32>, Vec<CornerUv>) {
    let (triangles, _) = indices.as_chunks::<3>();
    let corners = Corners::of_vertices(triangles.iter().copied(), uv);
    let uv = corners.uv();
    let vertices = || corners.distinct.iter().map(|&(v, _)| v as usize);
    let places: Vec<[f32; 3]> = vertices().map(|v| scaled[v]).collect();
    let locked: Vec<bool> = vertices().map(|v| locked[v]).collect();
    // The library compares them with lengths over the extent of the mesh.
    let extent = (0..3).map(|axis| {
        let at = || places.iter().map(|place| place[axis]);
        at().fold(f32::NEG_INFINITY, f32::max) - at().fold(f32::INFINITY, f32::min)
    });
    let extent = f64::from(extent.fold(0.0, f32::max));
    let weight = if density * extent > 0.0 {
        (1.0 / (density * extent)) as f32
    } else {
        0.0
    };
    let fewer = meshopt::simplify_with_attributes_and_locks_decoder(
        corners.numbers.as_flattened(),
        &places,
        uv.as_flattened(),
        &[weight; 2],
        size_of::<[f32; 2]>(),
        &locked,
        0,
        1.0,
        meshopt::SimplifyOptions::LockBorder | meshopt::SimplifyOptions::ErrorAbsolute,
        None,
    );
    let (mut triangles, mut uv) = (Vec::new(), Vec::new());
    for triangle in fewer.as_chunks::<3>().0 {
        let own = triangle.map(|corner| corners.distinct[corner as usize]);
        let [a, b, c] = own.map(|(v, _)| v);
        if a != b && b != c && c != a {
            triangles.extend([a, b, c]);
            uv.push(own.map(|(_, uv)| uv));
        }
    }
    (triangles, uv)
}

/// Signed volume, m³.
fn volume(indices: &[&Vec<u32>; 2], positions: &[DVec3]) -> f64 {
    let triangles = indices
        .iter()
        .flat_map(|indices| indices.as_chunks::<3>().0);
    triangles
        .map(|triangle| {
            let [a, b, c] = triangle.map(|v| positions[v as usize] - positions[0]);
            a.dot(b.cross(c)) / 6.0
        })
        .sum()
}

/// Whether every edge has one triangle on either side, and the triangles about every vertex are one fan.
fn is_closed(indices: &[&Vec<u32>; 2]) -> bool {
    let mut edges: QuickMap<(u32, u32), u32> = QuickMap::default();
    let triangles = || {
        indices
            .iter()
            .flat_map(|indices| indices.as_chunks::<3>().0)
    };
    for t in triangles() {
        for m in 0..3 {
            *edges.entry((t[m], t[(m + 1) % 3])).or_insert(0) += 1;
        }
    }
    let mut all = triangles().flat_map(|t| (0..3).map(move |m| (t[m], t[(m + 1) % 3])));
    all.all(|(a, b)| edges.get(&(a, b)) == Some(&1) && edges.get(&(b, a)) == Some(&1))
        && triangles().next().is_some()
        && are_single(triangles())
}
