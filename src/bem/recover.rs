//! Displacement gradient at the centroids of panels from the displacement of the vertices, with quadratic
//! terms where the surface is smooth.
//!
//! The linear field of a panel has the gradient at its centroid only to first order. The vertices of
//! neighbouring panels show how the displacement curves: u = Σ L_i u_i + Σ e_i L_j L_k, which leaves the
//! values at the corners unchanged and changes the gradient at the centroid by −⅓ Σ e_i ∇L_i. The height of
//! such a vertex above the panel's plane is taken into account with ∂u/∂n, which the traction determines, so
//! linear fields remain exact. Vertices across sharp edges are not used.

use glam::{DMat3, DVec3};

use super::elastic::Elastic;
use super::surface::{Surface, to_vec3};
use super::triangle::Mat3d;
use crate::laws::hooke;
use crate::math::Mat3;

/// Smallest cosine of the angle between the normals of two panels for which the surface counts as smooth
/// between them: 30°.
const MIN_SMOOTH_COSINE: f64 = 0.866;
/// Damping of the least-squares equations, relative to their trace: badly placed vertices then have little
/// influence.
const DAMPING: f64 = 1e-4;

/// For each panel, the other vertices of panels that share a corner with it, if the surface is smooth between
/// the two.
#[derive(Clone, Debug)]
pub struct SmoothNeighbours {
    around: Vec<Vec<u32>>,
}

impl SmoothNeighbours {
    /// Collects the neighbours of all panels of a surface.
    pub fn new(surface: &Surface) -> Self {
        let mut touching = vec![Vec::new(); surface.mesh.positions.len()];
        for (t, triangle) in surface.mesh.triangles.iter().enumerate() {
            triangle.iter().for_each(|v| touching[*v as usize].push(t));
        }
        let around = |t: usize| {
            let own = surface.mesh.triangles[t];
            let others = own.iter().flat_map(|v| &touching[*v as usize]);
            let smooth = others.filter(|other| {
                surface.normals[t].dot(surface.normals[**other]) >= MIN_SMOOTH_COSINE
            });
            let corners = smooth.flat_map(|other| surface.mesh.triangles[*other]);
            let mut around: Vec<u32> = corners.filter(|v| !own.contains(v)).collect();
            around.sort_unstable();
            around.dedup();
            around
        };
        SmoothNeighbours {
            around: (0..surface.len()).map(around).collect(),
        }
    }

    /// ∂u_i/∂x_k (row i, column k) at the centroid of panel `t`, from the traction on it, Pa, and the
    /// displacement of all vertices, m.
    pub fn gradient(
        &self,
        surface: &Surface,
        elastic: Elastic,
        t: usize,
        traction: DVec3,
        u: &[[f64; 3]],
    ) -> Mat3d {
        let normal = to_vec3(surface.normals[t]);
        let moduli = (elastic.shear, elastic.poisson);
        let shapes = surface.shapes[t];
        let own = surface.mesh.triangles[t].map(|v| DVec3::from(u[v as usize]));
        let mut along = linear(own, shapes);
        let out = hooke::normal_derivative(along, normal, to_vec3(traction), moduli);
        let coefficients = self.coefficients(surface, t, DVec3::from(out.to_f64()), u);
        along = along + linear(coefficients.map(|e| e / -3.0), shapes);
        let out = hooke::normal_derivative(along, normal, to_vec3(traction), moduli);
        along + Mat3::outer(out, normal)
    }

    /// The quadratic coefficient e of each corner.
    fn coefficients(&self, surface: &Surface, t: usize, out: DVec3, u: &[[f64; 3]]) -> [DVec3; 3] {
        let own = surface.mesh.triangles[t];
        let first = surface.mesh.positions[own[0] as usize];
        let (mut squares, mut right) = (DMat3::ZERO, [DVec3::ZERO; 3]);
        for &vertex in &self.around[t] {
            let offset = surface.mesh.positions[vertex as usize] - first;
            let mut at = surface.shapes[t].map(|slope| slope.dot(offset));
            at[0] += 1.0;
            let plane: DVec3 = (0..3)
                .map(|c| at[c] * DVec3::from(u[own[c] as usize]))
                .sum();
            let height = surface.normals[t].dot(offset);
            let rest = DVec3::from(u[vertex as usize]) - plane - out * height;
            let products = DVec3::new(at[1] * at[2], at[2] * at[0], at[0] * at[1]);
            let weight = offset_from_middle(surface, t, vertex).powi(-4);
            for c in 0..3 {
                *squares.col_mut(c) += products * (products[c] * weight);
                right[c] += rest * (products[c] * weight);
            }
        }
        let trace = squares.col(0).x + squares.col(1).y + squares.col(2).z;
        if trace == 0.0 {
            return right;
        }
        let inverse = (squares + DMat3::from_diagonal(DVec3::splat(DAMPING * trace))).inverse();
        [0, 1, 2].map(|c| (0..3).map(|d| right[d] * inverse.col(d)[c]).sum())
    }
}

fn offset_from_middle(surface: &Surface, t: usize, vertex: u32) -> f64 {
    surface.mesh.positions[vertex as usize].distance(surface.centroids[t]) / surface.sizes[t]
}

/// Gradient of the linear field with these values at the corners.
fn linear(values: [DVec3; 3], shapes: [DVec3; 3]) -> Mat3d {
    let pairs = values.into_iter().zip(shapes);
    pairs.fold(Mat3::diagonal(0.0), |sum, (value, slope)| {
        sum + Mat3::outer(to_vec3(value), to_vec3(slope))
    })
}
