//! What panels of Somigliana's identity leave at the rim of the region that they cover.
//!
//! [`panel`](super::panel) integrates by parts: over a closed surface the integrals along the panels' edges cancel, over a part of it those along its rim
//! stay. With W = 2 G U − 1/(4πr), l along the rim, counter-clockwise, and ∇ for x (Stokes' theorem):
//!
//! ```text
//! ∫ Tᵀ u dS        = the panels' double layers − ∮ W (dl × u)
//! ∂_k(−∫ Tᵀ u dS)_i = the panels' gradients    + ∮ [∂_kW_ij (dl × u)_j − u_i (dl × ∇(1/4πr))_k]
//! ```

use std::f64::consts::PI;

use glam::DVec3;

use super::surface::plain;
use super::triangle::{M, V};
use crate::laws::{galerkin, kelvin};
use crate::math::Mat3;

/// Places and weights of Gauss' rule on (0, 1): sides of the rim are farther away than they are long.
const GAUSS: [(f64, f64); 4] = [
    (0.069_431_844_202_973_71, 0.173_927_422_568_726_93),
    (0.330_009_478_207_571_87, 0.326_072_577_431_273_07),
    (0.669_990_521_792_428_1, 0.326_072_577_431_273_07),
    (0.930_568_155_797_026_3, 0.173_927_422_568_726_93),
];

/// What takes the displacement of both ends of a side to ∫ W (dl × u) along it at x.
pub fn displacement(x: DVec3, [start, end]: [DVec3; 2], poisson: f64) -> [M; 2] {
    let mut blocks = [Mat3::diagonal(0.0); 2];
    for (s, weight) in GAUSS {
        let r = x - start.lerp(end, s);
        let inverse = r.length_recip();
        let n = plain(r * inverse);
        // Of a point, Φ = 1/r and H = (1 − n nᵀ)/r.
        let second = (Mat3::diagonal(1.0) - Mat3::outer(n, n)) * inverse;
        let w = galerkin::swept((inverse, second), poisson);
        blocks[0] = blocks[0] + w * (weight * (1.0 - s));
        blocks[1] = blocks[1] + w * (weight * s);
    }
    let along = Mat3::cross(plain(end - start));
    blocks.map(|block| block.product(along))
}

/// ∮ [W (dl × u)] along a side at x and its gradient as above, of the displacements of its ends.
pub fn motion(x: DVec3, [start, end]: [DVec3; 2], u: [V; 2], poisson: f64) -> (V, M) {
    let blocks = displacement(x, [start, end], poisson);
    let displacement = blocks[0].times(u[0]) + blocks[1].times(u[1]);
    let along = plain(end - start);
    let mut gradient = Mat3::diagonal(0.0);
    for (s, weight) in GAUSS {
        let r = x - start.lerp(end, s);
        let slope = plain(r * (-r.length_recip().powi(3) / (4.0 * PI)));
        let u = u[0] * (1.0 - s) + u[1] * s;
        let force = along.cross(u);
        let of_w = kelvin::gradient(plain(r), force, 0.5, poisson) - Mat3::outer(force, slope);
        gradient = gradient + (of_w - Mat3::outer(u, along.cross(slope))) * weight;
    }
    (displacement, gradient)
}
