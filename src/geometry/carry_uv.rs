//! Texture coordinates for a new surface from the mesh that it replaces.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::bvh::Bvh;
use super::mesh::TriMesh;
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
}
