//! Displacement gradient at the centroids of panels from the displacement of the vertices: quadratic where the surface is smooth.
//!
//! The linear field of a panel has the gradient at its centroid to first order only. The far vertices of its three neighbours say how the displacement
//! bends: u = Σ L_i u_i + Σ e_i L_j L_k, which leaves the corners as they are and changes the gradient at the centroid by −⅓ Σ e_i ∇L_i. What a neighbour's
//! vertex stands above the panel's plane is reached by ∂u/∂n, which the traction gives, so linear fields stay exact. Across sharp edges nothing is taken.

use std::collections::BTreeMap;

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

/// For each panel and corner: the vertex beyond the opposite edge, where the surface is smooth there.
#[derive(Clone, Debug)]
pub struct Neighbours {
    beyond: Vec<[Option<u32>; 3]>,
}

impl Neighbours {
    /// Of the panels of a surface.
    pub fn new(surface: &Surface) -> Self {
        // Panel and corner opposite to each directed edge.
        let mut edges = BTreeMap::new();
        for (t, triangle) in surface.mesh.triangles.iter().enumerate() {
            for c in 0..3 {
                edges.insert((triangle[(c + 1) % 3], triangle[(c + 2) % 3]), (t, c));
            }
        }
        let beyond = |(t, triangle): (usize, &[u32; 3])| {
            [0, 1, 2].map(|c| {
                let back = (triangle[(c + 2) % 3], triangle[(c + 1) % 3]);
                let &(other, corner) = edges.get(&back)?;
                let smooth = surface.normals[t].dot(surface.normals[other]) >= SMOOTH;
                smooth.then(|| surface.mesh.triangles[other][corner])
            })
        };
        Neighbours {
            beyond: surface
                .mesh
                .triangles
                .iter()
                .enumerate()
                .map(beyond)
                .collect(),
        }
    }

    /// ∂u_i/∂x_k (row i, column k) at the centroid of panel `t`, from the traction on it, Pa, and the displacement of all vertices, m.
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
        for vertex in self.beyond[t].into_iter().flatten() {
            let offset = surface.mesh.positions[vertex as usize] - first;
            let mut at = surface.shapes[t].map(|slope| slope.dot(offset));
            at[0] += 1.0;
            let plane: DVec3 = (0..3)
                .map(|c| at[c] * DVec3::from(u[own[c] as usize]))
                .sum();
            let height = surface.normals[t].dot(offset);
            let rest = DVec3::from(u[vertex as usize]) - plane - out * height;
            let products = DVec3::new(at[1] * at[2], at[2] * at[0], at[0] * at[1]);
            for c in 0..3 {
                *squares.col_mut(c) += products * products[c];
                right[c] += rest * products[c];
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

/// Gradient of the linear field with these values at the corners.
fn linear(values: [DVec3; 3], shapes: [DVec3; 3]) -> M {
    let pairs = values.into_iter().zip(shapes);
    pairs.fold(Mat3::diagonal(0.0), |sum, (value, slope)| {
        sum + Mat3::outer(plain(value), plain(slope))
    })
}
