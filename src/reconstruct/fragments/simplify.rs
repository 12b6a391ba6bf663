//! Simplifies the surface of a fragment.
//!
//! Where the skin has attributes, a vertex on a seam of the texture, or between two colours or materials, has a corner
//! for each side of the seam, and the seam stays closed: edges collapse on both its sides or on neither. The distance
//! by which a texture slides over the surface counts as movement of the surface does, and so does a change of colour.

use glam::DVec3;

use crate::geometry::corners::DistinctCorners;
use crate::math::hash::QuickMap;
use crate::reconstruct::faces::fans::have_single_fans;
use crate::reconstruct::surface::attributes::{CornerNumbers, TriangleAttributes};

/// Triangles of skin and cracks, and the attributes of the skin's triangles if there are any.
pub type SimplifiedTriangles = ([Vec<u32>; 2], Vec<TriangleAttributes>);

/// Change of a colour that counts as much as the largest movement.
const COLOUR_STEP: f64 = 0.02;

/// Removes as many triangles of skin and cracks as possible while the surface stays within `error` (m).
/// Vertices that skin and cracks share stay. `density` is that of the texture coordinates, 1/m.
pub fn simplified(
    indices: [Vec<u32>; 2],
    attributes: Vec<TriangleAttributes>,
    positions: &[DVec3],
    error: f64,
    density: f64,
) -> SimplifiedTriangles {
    let mut part_of = vec![0_u8; positions.len()];
    for (part, indices) in [1, 2].into_iter().zip(&indices) {
        indices.iter().for_each(|&v| part_of[v as usize] |= part);
    }
    let locked: Vec<bool> = part_of.iter().map(|&parts| parts == 3).collect();
    // In units of the error, relative to the first vertex, single precision is enough. Both faces of a crack
    // coincide at rest, and would be merged; a thousandth of the error keeps them apart.
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
    let (skin, of_skin) = if attributes.is_empty() {
        (fewer(&indices[0]), Vec::new())
    } else {
        fewer_with_attributes(&indices[0], &attributes, &scaled, &locked, density * error)
    };
    let crack = fewer(&indices[1]);
    let is_sound = |parts: &[&Vec<u32>; 2]| is_closed(parts) && volume(parts, positions) > 0.0;
    // Skin and cracks may share an edge between two points of a rim afterwards, or pass through each other
    // where they are close; then one of them, or both, keep the original triangles.
    if is_sound(&[&skin, &crack]) {
        ([skin, crack], of_skin)
    } else if is_sound(&[&skin, &indices[1]]) {
        let [_, whole] = indices;
        ([skin, whole], of_skin)
    } else if is_sound(&[&indices[0], &crack]) {
        let [whole, _] = indices;
        ([whole, crack], attributes)
    } else {
        (indices, attributes)
    }
}

/// Removes as many triangles as the positions `scaled` and the attributes allow; texture coordinates change by
/// `density` per unit of length.
fn fewer_with_attributes(
    indices: &[u32],
    attributes: &[TriangleAttributes],
    scaled: &[[f32; 3]],
    locked: &[bool],
    density: f64,
) -> (Vec<u32>, Vec<TriangleAttributes>) {
    let (triangles, _) = indices.as_chunks::<3>();
    let numbers: Vec<_> = attributes.iter().map(TriangleAttributes::numbers).collect();
    let corners = DistinctCorners::of_vertices(triangles.iter().copied(), &numbers);
    let values = corners.values();
    let vertices = || corners.distinct.iter().map(|&(v, _)| v as usize);
    let places: Vec<[f32; 3]> = vertices().map(|v| scaled[v]).collect();
    let locked: Vec<bool> = vertices().map(|v| locked[v]).collect();
    // The library compares them with lengths divided by the extent of the mesh.
    let extent = (0..3).map(|axis| {
        let at = || places.iter().map(|place| place[axis]);
        at().fold(f32::NEG_INFINITY, f32::max) - at().fold(f32::INFINITY, f32::min)
    });
    let extent = f64::from(extent.fold(0.0, f32::max));
    let weight = |step: f64| match step * extent > 0.0 {
        true => (1.0 / (step * extent)) as f32,
        false => 0.0,
    };
    let (of_uv, of_colour) = (weight(density), weight(COLOUR_STEP));
    // Different materials are different corners, which is all that they need.
    let weights = [of_uv, of_uv, of_colour, of_colour, of_colour, 0.0];
    let fewer = meshopt::simplify_with_attributes_and_locks_decoder(
        corners.numbers.as_flattened(),
        &places,
        values.as_flattened(),
        &weights,
        size_of::<CornerNumbers>(),
        &locked,
        0,
        1.0,
        meshopt::SimplifyOptions::LockBorder | meshopt::SimplifyOptions::ErrorAbsolute,
        None,
    );
    let (mut triangles, mut kept) = (Vec::new(), Vec::new());
    for triangle in fewer.as_chunks::<3>().0 {
        let own = triangle.map(|corner| corners.distinct[corner as usize]);
        let [a, b, c] = own.map(|(v, _)| v);
        if a != b && b != c && c != a {
            triangles.extend([a, b, c]);
            kept.push(TriangleAttributes::of_numbers(own.map(|(_, value)| value)));
        }
    }
    (triangles, kept)
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

/// Whether every edge has one triangle on either side, and the triangles around every vertex form one fan.
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
        && have_single_fans(triangles())
}
