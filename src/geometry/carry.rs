//! Texture coordinates, colours and materials for a new surface from the mesh that it replaces.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::bvh::Bvh;
use super::mesh::TriMesh;
use super::paint::CornerColours;
use super::unite::interpolate;

/// Gives every triangle of `to` the texture coordinates of the triangle of `from` nearest to its centre, continued
/// linearly to its corners, so that no triangle crosses a seam. Does nothing if `from` has no texture.
pub fn carry_uv(from: &TriMesh, to: &mut TriMesh) {
    if from.uv.is_empty() {
        return;
    }
    let bvh = Bvh::new(from);
    let uv: Vec<_> = (0..to.triangles.len())
        .into_par_iter()
        .map(|t| {
            let corners = to.corners(t);
            let centre = corners.iter().sum::<DVec3>() / 3.0;
            let nearest = bvh.nearest(from, centre).1 as usize;
            let (chart, uv) = (from.corners(nearest), from.uv[nearest]);
            corners.map(|p| interpolate(chart, uv, p))
        })
        .collect();
    to.uv = uv;
}

/// Gives every triangle of `to` the material of the triangle of `from` nearest to its centre, and the colours of that
/// triangle at the points nearest to its corners. Does nothing if `from` has neither.
pub fn carry_paint(from: &TriMesh, to: &mut TriMesh) {
    if from.paint.is_empty() {
        return;
    }
    let bvh = Bvh::new(from);
    let nearest: Vec<usize> = (0..to.triangles.len())
        .into_par_iter()
        .map(|t| {
            let centre = to.corners(t).iter().sum::<DVec3>() / 3.0;
            bvh.nearest(from, centre).1 as usize
        })
        .collect();
    to.paint = from.paint.of(&nearest);
    for (t, colours) in to.paint.colours.iter_mut().enumerate() {
        let (whole, own) = (from.corners(nearest[t]), *colours);
        let corners = [0, 1, 2].map(|m| to.positions[to.triangles[t][m] as usize]);
        *colours = corners.map(|p| blend(own, weights(p, whole)));
    }
}

/// Mean colour of a triangle's corners with these weights.
pub fn blend(colours: CornerColours, weights: [f64; 3]) -> [f32; 3] {
    [0, 1, 2].map(|k| {
        let parts = (0..3).map(|m| weights[m] * f64::from(colours[m][k]));
        parts.sum::<f64>() as f32
    })
}

/// Barycentric coordinates of a point in a triangle; in spite of rounding all of them lie between 0 and 1.
pub fn weights(x: DVec3, corners: [DVec3; 3]) -> [f64; 3] {
    let [a, b, c] = corners;
    let normal = (b - a).cross(c - a);
    let parts = [0, 1, 2].map(|m| {
        let [p, q] = [1, 2].map(|step| corners[(m + step) % 3] - x);
        p.cross(q).dot(normal).max(0.0)
    });
    let sum: f64 = parts.iter().sum();
    if sum > 0.0 {
        return parts.map(|part| part / sum);
    }
    // A triangle without area is treated as its longest edge.
    let length = |m: usize| corners[m].distance_squared(corners[(m + 1) % 3]);
    let m = (0..3)
        .max_by(|&m, &n| length(m).total_cmp(&length(n)))
        .unwrap_or(0);
    let (from, to) = (corners[m], corners[(m + 1) % 3]);
    let part = (x - from).dot(to - from) / length(m).max(f64::MIN_POSITIVE);
    let mut weights = [0.0; 3];
    weights[(m + 1) % 3] = part.clamp(0.0, 1.0);
    weights[m] = 1.0 - weights[(m + 1) % 3];
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::icosphere;

    #[test]
    fn a_linear_texture_is_carried_exactly_to_a_finer_surface() {
        let linear = |p: DVec3| [(p.x + 0.5 * p.y) as f32, (p.z - p.x) as f32];
        let mut coarse = icosphere(2);
        coarse.uv = (0..coarse.triangles.len())
            .map(|t| coarse.corners(t).map(linear))
            .collect();
        let mut fine = icosphere(3);
        carry_uv(&coarse, &mut fine);
        for (t, uv) in fine.uv.iter().enumerate() {
            for (uv, p) in uv.iter().zip(fine.corners(t)) {
                let expected = linear(p);
                // Off the plane of the coarse triangle by its sagitta.
                assert!((uv[0] - expected[0]).abs() < 0.06 && (uv[1] - expected[1]).abs() < 0.06);
            }
        }
    }

    #[test]
    fn paint_comes_from_the_nearest_triangle() {
        let mut coarse = icosphere(2);
        let count = coarse.triangles.len();
        coarse.paint.colours = (0..count)
            .map(|t| coarse.corners(t).map(|p| (p + 1.0).as_vec3().to_array()))
            .collect();
        let side = |p: DVec3| u32::from(p.z > 0.0);
        let centre = |mesh: &TriMesh, t: usize| mesh.corners(t).iter().sum::<DVec3>() / 3.0;
        coarse.paint.materials = (0..count).map(|t| side(centre(&coarse, t))).collect();
        coarse.paint.names = vec!["south".into(), "north".into()];
        let mut fine = icosphere(3);
        carry_paint(&coarse, &mut fine);
        assert_eq!(fine.paint.names, coarse.paint.names);
        for t in 0..fine.triangles.len() {
            for (colour, p) in fine.paint.colours[t].iter().zip(fine.corners(t)) {
                // Off the plane of the coarse triangle by its sagitta.
                assert!((glam::Vec3::from(*colour).as_dvec3() - p - 1.0).length() < 0.06);
            }
            let centre = centre(&fine, t);
            if centre.z.abs() > 0.3 {
                assert_eq!(fine.paint.materials[t], side(centre));
            }
        }
    }
}
