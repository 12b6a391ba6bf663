//! Contribution of one panel to Somigliana's identity: displacement and its gradient at a point due to the
//! traction on the panel and the displacement of its nodes.
//!
//! ```text
//! u(x) = ∫ U t dS − ∫ (traction of U)ᵀ u dS = ∫ [U (t − 2G m) + m/(4πr)] dS − ∫ u ∂(1/4πr)/∂n dS        m_i = n_j ∂_iu_j − n_i ∂_ju_j
//! ∂_ku_i(x) = ∫ [∂_kU (t − 2G m) + m ∂_k(1/4πr)] dS + ∫ ∂_l(1/4πr) (n_l ∂_ku_i − n_k ∂_lu_i) dS
//! ```
//!
//! This is Kupradze's form (Han 1994) of the double layer, and Maue's of its gradient: after integration by
//! parts over the closed surface, nothing on the surface is more singular than 1/r. u is continuous and
//! linear or quadratic on a panel, so m is constant or linear on it, as is t, and every integral is exact.
//! The contribution of a single panel has no meaning by itself; only the sum over a closed surface does.

use std::f64::consts::PI;

use super::basis::{Basis, MAX_NODES};
use super::density::{LayerDensity, PanelDensity};
use super::elastic::Elastic;
use super::surface::to_vec3;
use super::third::ThirdDerivatives;
use super::traction::Traction;
use super::triangle::{Mat3d, Vec3d, lift};
use crate::laws::galerkin;
use crate::math::{Analytic, Mat3, Vec3};

/// Contributions of a panel's nodes to the double layer at a point, and the harmonic double layer, which
/// multiplies the displacement of the point itself.
pub struct PanelDoubleLayer {
    /// 3×3 block for each node; zero for nodes that the panel does not have.
    pub nodes: [Mat3d; MAX_NODES],
    /// ∫ ∂(1/4πr)/∂n dS.
    pub harmonic: f64,
}

/// Double layer of panel `t` at node `node`.
pub fn double_layer(basis: &Basis, poisson: f64, node: usize, t: usize) -> PanelDoubleLayer {
    let surface = basis.surface;
    let touches = basis.of_panel(t).contains(&(node as u32));
    let position = basis.places[node];
    let view = surface.triangles[t].view(to_vec3(position), touches);
    let whole = view.second();
    let swept = galerkin::tangential_kernel((whole.phi, whole.second), poisson);
    let weighted = (basis.count() > 3).then(|| {
        let parts = view.weighted(&whole);
        parts.map(|part| {
            (
                galerkin::tangential_kernel((part.phi, part.second), poisson),
                part.moment,
            )
        })
    });
    let n = view.normal;
    // m of a shape function with gradient g is g nᵀ − n gᵀ times the displacement.
    let swept_normal = swept.times(n);
    let mut nodes = [Mat3::diagonal(0.0); MAX_NODES];
    for (block, shape) in nodes.iter_mut().zip(basis.shapes(t, position)) {
        let mut harmonic = shape.value * whole.solid_angle + shape.slope.dot(whole.moment);
        let mut out = swept.times(shape.slope);
        let mut back = Mat3::outer(swept_normal, shape.slope);
        if let (Some(parts), Some(second_derivatives)) = (&weighted, shape.second) {
            for ((swept, moment), second_derivatives) in parts.iter().zip(second_derivatives) {
                harmonic += 0.5 * second_derivatives.dot(*moment);
                out = out + swept.times(second_derivatives);
                back = back + Mat3::outer(swept.times(n), second_derivatives);
            }
        }
        *block = Mat3::outer(out, n) - back + Mat3::diagonal(harmonic / (4.0 * PI));
    }
    PanelDoubleLayer {
        nodes,
        harmonic: whole.solid_angle / (4.0 * PI),
    }
}

/// Displacement of a node, m, due to a traction on panel `t`.
pub fn single_layer(
    basis: &Basis,
    elastic: Elastic,
    node: usize,
    t: usize,
    traction: &Traction,
) -> Vec3d {
    let Elastic { shear, poisson } = elastic;
    let surface = basis.surface;
    let touches = basis.of_panel(t).contains(&(node as u32));
    let x = to_vec3(basis.places[node]);
    let view = surface.triangles[t].view(x, touches);
    let whole = view.second();
    let mut at_foot = to_vec3(traction.mean());
    let mut sum = Vec3::zero();
    if let Some(slopes) = traction.slopes(surface, t) {
        let offset = x - to_vec3(surface.centroids[t]);
        let parts = view.weighted(&whole).into_iter().zip(view.axes);
        for ((part, axis), slope) in parts.zip(slopes) {
            at_foot = at_foot + slope * axis.dot(offset);
            sum = sum + galerkin::displacement((part.phi, part.second), slope, shear, poisson);
        }
    }
    sum + galerkin::displacement((whole.phi, whole.second), at_foot, shear, poisson)
}

/// Displacement, m, and its gradient (row i, column k: ∂u_i/∂x_k) at a point inside the solid, due to panel
/// `t`.
pub fn inside<T: Analytic>(
    basis: &Basis,
    elastic: Elastic,
    x: Vec3<T>,
    t: usize,
    density: &PanelDensity,
) -> (Vec3<T>, Mat3<T>) {
    let [shear, poisson] = [elastic.shear, elastic.poisson].map(T::splat);
    let surface = basis.surface;
    let four_pi = T::splat(1.0 / (4.0 * PI));
    let view = surface.triangles[t].view(x, false);
    let whole = view.second();
    let offset = x - lift(to_vec3(surface.centroids[t]));
    let along = view.axes.map(|axis| axis.dot(offset));
    let at_foot = density.moved(along, view.axes);
    let mut gradient = gradient(&view.third(), view.normal, &at_foot, elastic);
    let mut harmonic =
        at_foot.displacement * whole.solid_angle + at_foot.gradient.times(whole.moment);
    let mut displacement =
        galerkin::displacement((whole.phi, whole.second), at_foot.force, shear, poisson)
            + at_foot.swept * (whole.phi * four_pi);
    if let Some(slopes) = &density.slopes {
        let parts = view.weighted(&whole);
        let thirds = view.third_weighted(&whole);
        for ((part, third), slope) in parts.into_iter().zip(thirds).zip(slopes) {
            let slope = slope.lifted();
            harmonic = harmonic + slope.gradient.times(part.moment) * T::splat(0.5);
            displacement = displacement
                + galerkin::displacement((part.phi, part.second), slope.force, shear, poisson)
                + slope.swept * (part.phi * four_pi);
            gradient = gradient + self::gradient(&third, view.normal, &slope, elastic);
        }
    }
    (displacement - harmonic * four_pi, gradient)
}

/// The displacement gradient, from the panel's integrals at the point and its normal.
#[inline(always)]
pub fn gradient<T: Analytic, const EDGES: usize>(
    third: &ThirdDerivatives<T, EDGES>,
    n: Vec3<T>,
    density: &LayerDensity<T>,
    elastic: Elastic,
) -> Mat3<T> {
    let slope = third.slope();
    let along = third.along(density.force);
    let turned = density.gradient * slope.dot(n) - Mat3::outer(density.gradient.times(slope), n);
    let spread = Mat3::outer(density.swept, slope) + turned;
    galerkin::gradient(
        (slope, along),
        density.force,
        T::splat(elastic.shear),
        T::splat(elastic.poisson),
    ) + spread * T::splat(1.0 / (4.0 * PI))
}
