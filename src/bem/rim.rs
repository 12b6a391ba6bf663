//! Line integrals along the rim of a region of panels, which exact panel integrals over a part of the surface
//! lack.
//!
//! [`panel`](super::panel) integrates by parts: over a closed surface the integrals along the panels' edges
//! cancel; over a part of it those along its rim remain. With W = 2 G U − 1/(4πr), l along the rim,
//! counter-clockwise, and ∇ with respect to x (Stokes' theorem):
//!
//! ```text
//! ∫ Tᵀ u dS        = the panels' double layers − ∮ W (dl × u)
//! ∂_k(−∫ Tᵀ u dS)_i = the panels' gradients    + ∮ [∂_kW_ij (dl × u)_j − u_i (dl × ∇(1/4πr))_k]
//! ```

use std::f64::consts::PI;

use glam::DVec3;

use super::basis::{Basis, MAX_NODES};
use super::near::RimSide;
use super::points;
use super::surface::to_vec3;
use super::triangle::{Mat3d, Vec3d};
use crate::laws::{galerkin, kelvin};
use crate::math::{Mat3, Vec3};

/// Points and weights of Gauss' rule on (0, 1); sides of the rim are farther away from the point than they
/// are long.
const GAUSS: [(f64, f64); 4] = [
    (0.069_431_844_202_973_71, 0.173_927_422_568_726_93),
    (0.330_009_478_207_571_87, 0.326_072_577_431_273_07),
    (0.669_990_521_792_428_1, 0.326_072_577_431_273_07),
    (0.930_568_155_797_026_3, 0.173_927_422_568_726_93),
];

/// Matrix for each node of a panel that maps its displacement to ∫ W (dl × u) along side k at x.
pub fn displacement(basis: &Basis, x: DVec3, (t, k): RimSide, poisson: f64) -> [Mat3d; MAX_NODES] {
    let mut blocks = [Mat3::diagonal(0.0); MAX_NODES];
    for (s, weight) in GAUSS {
        let (values, r) = place(basis, x, (t, k), s);
        let inverse = r.length_recip();
        let n = to_vec3(r * inverse);
        // For a point source, Φ = 1/r and H = (1 − n nᵀ)/r.
        let second = (Mat3::diagonal(1.0) - Mat3::outer(n, n)) * inverse;
        let w = galerkin::tangential_kernel((inverse, second), poisson);
        for node in basis.of_side(k) {
            blocks[node] = blocks[node] + w * (weight * values[node]);
        }
    }
    let along = Mat3::cross(along(basis, (t, k)));
    blocks.map(|block| block.product(along))
}

/// Contribution of side k of a panel to the line integrals above at x, for displacements of the nodes: the
/// displacement, and its gradient.
pub fn displacement_and_gradient(
    basis: &Basis,
    x: DVec3,
    (t, k): RimSide,
    u: &[[f64; 3]],
    poisson: f64,
) -> (Vec3d, Mat3d) {
    let along = along(basis, (t, k));
    let mut displacement = Vec3::zero();
    let mut gradient = Mat3::diagonal(0.0);
    for (s, weight) in GAUSS {
        let (values, r) = place(basis, x, (t, k), s);
        let u = basis.field(t, &values, u);
        let slope = to_vec3(r * (-r.length_recip().powi(3) / (4.0 * PI)));
        let (r, force) = (to_vec3(r), along.cross(u));
        let inverse = 1.0 / r.norm();
        let of_w = kelvin::displacement(r, force, 0.5, poisson) - force * (inverse / (4.0 * PI));
        displacement = displacement + of_w * weight;
        let of_w = kelvin::gradient(r, force, 0.5, poisson) - Mat3::outer(force, slope);
        gradient = gradient + (of_w - Mat3::outer(u, along.cross(slope))) * weight;
    }
    (displacement, gradient)
}

/// Shape functions at the fraction s of a side, and the vector from there to x, m.
fn place(basis: &Basis, x: DVec3, (t, k): RimSide, s: f64) -> ([f64; MAX_NODES], DVec3) {
    let mut at = [0.0; 3];
    (at[k], at[(k + 1) % 3]) = (1.0 - s, s);
    (basis.values(at), x - points::place(basis.surface, t, &at))
}

fn along(basis: &Basis, (t, k): RimSide) -> Vec3d {
    let corners = basis.surface.mesh.corners(t);
    to_vec3(corners[(k + 1) % 3] - corners[k])
}
