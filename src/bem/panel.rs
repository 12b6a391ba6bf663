//! What one panel adds to Somigliana's identity: displacement and its gradient at a point from the traction on the panel and the displacement of its corners.
//!
//! ```text
//! u(x) = ∫ U t dS − ∫ (traction of U)ᵀ u dS = ∫ [U (t − 2G m) + m/(4πr)] dS − ∫ u ∂(1/4πr)/∂n dS        m_i = n_j ∂_iu_j − n_i ∂_ju_j
//! ∂_ku_i(x) = ∫ [∂_kU (t − 2G m) + m ∂_k(1/4πr)] dS + ∫ ∂_l(1/4πr) (n_l ∂_ku_i − n_k ∂_lu_i) dS
//! ```
//!
//! Kupradze's form (Han 1994) of the double layer, and Maue's of its gradient: integrals by parts over the closed surface leave nothing more singular than 1/r on
//! the surface. u is linear on a panel and continuous, so m is constant on it, as is t: every integral is exact. A panel's share alone means nothing.

use std::f64::consts::PI;

use glam::DVec3;

use super::elastic::Elastic;
use super::surface::{Surface, plain};
use super::triangle::{M, Third, V};
use crate::laws::galerkin;
use crate::math::{Mat3, Vec3};

/// Shares of a panel's three corners in the double layer at a point, and in the harmonic one, which the point's own displacement enters with.
pub struct Double {
    /// 3×3 block of each corner.
    pub corners: [M; 3],
    /// ∫ ∂(1/4πr)/∂n dS.
    pub harmonic: f64,
}

/// m of a panel as it follows from the displacement of each corner.
pub fn swept_rows(surface: &Surface, t: usize) -> [M; 3] {
    let n = plain(surface.normals[t]);
    surface.shapes[t].map(|slope| {
        let g = plain(slope);
        Mat3::outer(g, n) - Mat3::outer(n, g)
    })
}

/// Double layer of panel `t` at vertex `vertex`.
pub fn double_layer(surface: &Surface, poisson: f64, vertex: usize, t: usize) -> Double {
    let touches = surface.mesh.triangles[t].contains(&(vertex as u32));
    let position = surface.mesh.positions[vertex];
    let at = surface.triangles[t].second(plain(position), touches);
    let swept = galerkin::swept((at.phi, at.second), poisson);
    let rows = swept_rows(surface, t);
    let first = surface.mesh.corners(t)[0];
    let corners = [0, 1, 2].map(|c| {
        let slope = surface.shapes[t][c];
        let start = if c == 0 { 1.0 } else { 0.0 };
        // The shape function at the foot of the point.
        let foot = start + slope.dot(position - first);
        let g = plain(slope);
        let harmonic = (foot * at.solid_angle + g.dot(at.moment)) / (4.0 * PI);
        swept.product(rows[c]) + Mat3::diagonal(harmonic)
    });
    Double {
        corners,
        harmonic: at.solid_angle / (4.0 * PI),
    }
}

/// Displacement, m, at a vertex of a traction on panel `t`.
pub fn single_layer(
    surface: &Surface,
    elastic: Elastic,
    vertex: usize,
    t: usize,
    traction: DVec3,
) -> V {
    let touches = surface.mesh.triangles[t].contains(&(vertex as u32));
    let at = surface.triangles[t].second(plain(surface.mesh.positions[vertex]), touches);
    galerkin::displacement(
        (at.phi, at.second),
        plain(traction),
        elastic.shear,
        elastic.poisson,
    )
}

/// Densities on a panel, constant but for the displacement.
#[derive(Clone, Copy, Debug)]
pub struct Density {
    /// t − 2G m, Pa.
    pub force: V,
    /// m.
    pub swept: V,
    /// ∂u_i/∂x_k in the plane, row i, column k.
    pub gradient: M,
    /// u at the centroid, m.
    pub displacement: V,
}

impl Density {
    /// From the traction on panel `t`, Pa, and the displacement of all vertices, m.
    pub fn new(surface: &Surface, shear: f64, t: usize, traction: DVec3, u: &[[f64; 3]]) -> Self {
        let n = plain(surface.normals[t]);
        let mut gradient = Mat3::diagonal(0.0);
        let mut displacement = Vec3::zero();
        for (vertex, slope) in surface.mesh.triangles[t].iter().zip(surface.shapes[t]) {
            let u = Vec3::from_f64(u[*vertex as usize]);
            gradient = gradient + Mat3::outer(u, plain(slope));
            displacement = displacement + u * (1.0 / 3.0);
        }
        let sheet = Density::of_gradient(gradient, n, shear);
        Density {
            force: plain(traction) + sheet.force,
            displacement,
            ..sheet
        }
    }

    /// From the gradient in the plane with normal n alone: no traction, and no displacement of the centroid, which gradients elsewhere do not ask for.
    pub fn of_gradient(gradient: M, n: V, shear: f64) -> Self {
        let [a, b, c] = gradient.rows;
        let swept = gradient.transposed().times(n) - n * (a.x + b.y + c.z);
        Density {
            force: swept * (-2.0 * shear),
            swept,
            gradient,
            displacement: Vec3::zero(),
        }
    }
}

/// Displacement, m, and its gradient (row i, column k: ∂u_i/∂x_k) at a point inside the solid, from panel `t`.
pub fn inside(
    surface: &Surface,
    elastic: Elastic,
    x: DVec3,
    t: usize,
    density: &Density,
) -> (V, M) {
    let Elastic { shear, poisson } = elastic;
    let n = plain(surface.normals[t]);
    let four_pi = 1.0 / (4.0 * PI);
    let at = surface.triangles[t].second(plain(x), false);
    let foot = plain(x - surface.centroids[t]);
    let carried = density.displacement + density.gradient.times(foot);
    let harmonic = carried * at.solid_angle + density.gradient.times(at.moment);
    let displacement = galerkin::displacement((at.phi, at.second), density.force, shear, poisson)
        + (density.swept * at.phi - harmonic) * four_pi;
    (
        displacement,
        gradient(&surface.triangles[t].third(plain(x)), n, density, elastic),
    )
}

/// The gradient alone, from the panel's integrals at the point and its normal.
pub fn gradient(third: &Third, n: V, density: &Density, elastic: Elastic) -> M {
    let slope = third.slope();
    let along = third.along(density.force);
    let turned = density.gradient * slope.dot(n) - Mat3::outer(density.gradient.times(slope), n);
    let spread = Mat3::outer(density.swept, slope) + turned;
    galerkin::gradient(
        (slope, along),
        density.force,
        elastic.shear,
        elastic.poisson,
    ) + spread * (1.0 / (4.0 * PI))
}
