//! Displacement gradient at the centroids of panels from the displacement of the vertices: quadratic where
//! the surface is smooth.
//!
//! The linear field of a panel has the gradient at its centroid to first order only. The vertices of the
//! panels about it say how the displacement bends: u = Σ L_i u_i + Σ e_i L_j L_k, which leaves the corners as
//! they are and changes the gradient at the centroid by −⅓ Σ e_i ∇L_i. The height of such a vertex over the
//! panel's plane is reached by ∂u/∂n, which the traction gives, so linear fields stay exact. Across sharp
//! edges nothing is taken.

use glam::{DMat3, DVec3};

use super::elastic::Elastic;
use super::surface::{Surface, plain};
use super::triangle::M;
use crate::laws::hooke;
use crate::math::Mat3;

/// Cosine of the angle between the normals of neighbours, at least, for the surface to be smooth between them: 30°.
const SMOOTH: f64 = 0.866;
/// Of the squares of the equations, so that badly placed neighbours bend little.
const DAMPING: f64 = 1e-4;

/// For each panel: the vertices of the panels that it shares a corner with, where the surface is smooth between both.
#[derive(Clone, Debug)]
pub struct Neighbours {
    around: Vec<Vec<u32>>,
}

impl Neighbours {
    /// Of the panels of a surface.
    pub fn new(surface: &Surface) -> Self {
        let mut touching = vec![Vec::new(); surface.mesh.positions.len()];
        for (t, triangle) in surface.mesh.triangles.iter().enumerate() {
            triangle.iter().for_each(|v| touching[*v as usize].push(t));
        }
        let around = |t: usize| {
            let own = surface.mesh.triangles[t];
            let others = own.iter().flat_map(|v| &touching[*v as usize]);
            let smooth =
                others.filter(|other| surface.normals[t].dot(surface.normals[**other]) >= SMOOTH);
            let corners = smooth.flat_map(|other| surface.mesh.triangles[*other]);
            let mut around: Vec<u32> = corners.filter(|v| !own.contains(v)).collect();
            around.sort_unstable();
            around.dedup();
            around
        };
        Neighbours {
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
    ) -> M {
        let normal = plain(surface.normals[t]);
        let moduli = (elastic.shear, elastic.poisson);
        let shapes = surface.shapes[t];
        let own = surface.mesh.triangles[t].map(|v| DVec3::from(u[v as usize]));
        let mut along = linear(own, shapes);
        let out = hooke::normal_derivative(along, normal, plain(traction), moduli);
        let bends = self.bends(surface, t, DVec3::from(out.to_f64()), u);
        along = along + linear(bends.map(|e| e / -3.0), shapes);
        let out = hooke::normal_derivative(along, normal, plain(traction), moduli);
        along + Mat3::outer(out, normal)
    }

    /// e of each corner.
    fn bends(&self, surface: &Surface, t: usize, out: DVec3, u: &[[f64; 3]]) -> [DVec3; 3] {
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
fn linear(values: [DVec3; 3], shapes: [DVec3; 3]) -> M {
    let pairs = values.into_iter().zip(shapes);
    pairs.fold(Mat3::diagonal(0.0), |sum, (value, slope)| {
        sum + Mat3::outer(plain(value), plain(slope))
    })
}
