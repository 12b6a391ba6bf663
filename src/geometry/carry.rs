//! Texture coordinates, colours and materials for a new surface from the mesh that it replaces.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::bvh::Bvh;
use super::corners::{blend, weights};
use super::mesh::TriMesh;
use super::unite::interpolate;

/// Gives every triangle of `to` the texture coordinates of the triangle of `from` nearest to its centre, continued
/// linearly to its corners, so that no triangle crosses a seam. Does nothing if `from` has no texture.
pub fn carry_uv(from: &TriMesh, to: &mut TriMesh) {
    if from.uv.is_empty() {
        return;
    }
    let uv = nearest_triangles(from, to).into_iter().enumerate();
    to.uv = uv
        .map(|(t, nearest)| {
            let (chart, uv) = (from.corners(nearest), from.uv[nearest]);
            to.corners(t).map(|p| interpolate(chart, uv, p))
        })
        .collect();
}

/// Gives every triangle of `to` the material of the triangle of `from` nearest to its centre, and the colours of that
/// triangle at the points nearest to its corners. Does nothing if `to` has colours or materials, or `from` has neither.
pub fn carry_paint(from: &TriMesh, to: &mut TriMesh) {
    if from.paint.is_empty() || !to.paint.is_empty() {
        return;
    }
    let nearest = nearest_triangles(from, to);
    to.paint = from.paint.of(&nearest);
    let colours = (0..to.paint.colours.len())
        .zip(&nearest)
        .map(|(t, nearest)| {
            let (whole, own) = (from.corners(*nearest), from.paint.colours[*nearest]);
            to.corners(t).map(|p| blend(own, weights(p, whole)))
        });
    to.paint.colours = colours.collect();
}

/// For each triangle of `to`, the triangle of `from` nearest to its centre.
fn nearest_triangles(from: &TriMesh, to: &TriMesh) -> Vec<usize> {
    let bvh = Bvh::new(from);
    let centre = |t: usize| to.corners(t).iter().sum::<DVec3>() / 3.0;
    (0..to.triangles.len())
        .into_par_iter()
        .map(|t| bvh.nearest(from, centre(t)).1 as usize)
        .collect()
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
