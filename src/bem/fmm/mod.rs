//! Sums of Kelvin's solution and of its double layer over many points, in time proportional to their number:
//! a kernel-independent fast multipole method (Ying, Biros and Zorin, *A kernel-independent adaptive fast
//! multipole algorithm in two and three dimensions*, 2004).
//!
//! Kelvin's solution is a sum of four harmonic potentials and their gradients, see [`papkovich`]. Equivalent
//! densities of these four are translated from box to box, so all translations use Laplace's kernel: they do
//! not depend on Poisson's ratio, M2L takes 44 operations per frequency instead of 72 for Kelvin's tensor,
//! and matrices have a ninth of the entries. Only the kernels at targets (P2P, L2P, list W) are elastic. A
//! double layer is a source of the same four potentials, so it needs no more of them than forces do.
//!
//! 1. P2M, M2M: potentials of sources or children on the upward check surface, then densities on the upward
//!    equivalent surface.
//! 2. M2L: a convolution on the grid of the surfaces' points, for the boxes of list V; P2L for list X.
//! 3. L2L: like M2M, from parents to children. The uniform part of the displacement is translated separately
//!    and exactly.
//! 4. L2P, list W, P2P at the targets of each leaf.
//!
//! Every sum has a fixed order that does not depend on threads, and no operation is fused: results have the
//! same bits for any number of threads and for vectors of any width.

mod batch;
mod convolution;
pub mod direct;
mod fourier;
mod kernels;
mod leaves;
mod lists;
mod morton;
mod operators;
mod pairs;
mod passes;
mod plan;
mod product;
mod surface;
mod svd;
#[cfg(test)]
mod tests;
mod tree;
mod uniform;

use glam::DVec3;

use crate::laws::papkovich;
use crate::math::{Mat3, Vec3};
pub use kernels::{Charge, ChargeAndDoubleLayer, DoubleLayerPoint, Strength};
use kernels::{DisplacementAndGradientKernel, DisplacementKernel, StressKernel, TargetKernel};
use pairs::Kernel;
use plan::FmmPlan;
use surface::CubeSurface;

/// Points along a side of the surfaces for each accuracy: an upper bound of the relative L2 error in the
/// stress of forces of random and of smooth direction, on points that fill a cube, lie on a sphere or cluster
/// over five decades (`tests.rs`). Displacements are several times more accurate.
const SIDE_FOR_ACCURACY: [(f64, usize); 9] = [
    (1e-3, 5),
    (3e-4, 6),
    (4e-5, 7),
    (8e-6, 8),
    (1e-6, 9),
    (2e-7, 10),
    (5e-8, 11),
    (1.5e-8, 12),
    (0.0, 13),
];

/// Sums over forces or double layers at fixed sources, evaluated at fixed targets; the tree and its lists are
/// built once. Pairs at distance zero are omitted.
#[derive(Clone, Debug)]
pub struct Fmm {
    plan: FmmPlan,
}

impl Fmm {
    /// For sources and targets at these positions, m, which may be the same points; `poisson` is below ½.
    ///
    /// `accuracy` is the relative L2 error, from 1e-3 to 1e-8; a hundredth of it takes about twice the time.
    /// The first use of an accuracy in a process computes operators, which takes up to a second and 3 to 60
    /// MB.
    pub fn new(sources: &[DVec3], targets: &[DVec3], poisson: f64, accuracy: f64) -> Self {
        let enough = SIDE_FOR_ACCURACY
            .iter()
            .find(|(error, _)| *error <= accuracy);
        let (_, side) = enough.unwrap_or(&SIDE_FOR_ACCURACY[SIDE_FOR_ACCURACY.len() - 1]);
        // Measured: the best size of leaves is about the number of points on the surface of a box if the
        // points lie on a surface, and twice as many if they fill a volume.
        let leaf = CubeSurface::new(*side).len() * 3 / 2;
        Fmm::with_sizes(sources, targets, poisson, (*side, leaf))
    }

    /// With this number of points along a side of the surfaces, and this largest number of points in a leaf.
    fn with_sizes(
        sources: &[DVec3],
        targets: &[DVec3],
        poisson: f64,
        sizes: (usize, usize),
    ) -> Self {
        Fmm {
            plan: FmmPlan::new(sources, targets, poisson, sizes),
        }
    }

    /// Tractions σ n, Pa, at the targets due to `forces`, N, at the sources; σ acts on the side to which the
    /// unit `normals` point.
    pub fn traction(&self, forces: &[DVec3], normals: &[DVec3]) -> Vec<DVec3> {
        let stresses = self.stress(forces);
        assert_eq!(normals.len(), stresses.len(), "one normal for each target");
        let of = |([xx, yy, zz, yz, xz, xy], n): ([f64; 6], &DVec3)| {
            let rows = [
                DVec3::new(xx, xy, xz),
                DVec3::new(xy, yy, yz),
                DVec3::new(xz, yz, zz),
            ];
            DVec3::from_array(rows.map(|row| row.dot(*n)))
        };
        stresses.into_iter().zip(normals).map(of).collect()
    }

    /// Stresses xx yy zz yz xz xy, Pa, tension positive, at the targets due to `forces`, N, at the sources.
    pub fn stress(&self, forces: &[DVec3]) -> Vec<[f64; 6]> {
        let poisson = self.plan.poisson;
        let factor = papkovich::stress_factor(poisson);
        let sums = self.evaluate(StressKernel(poisson), &charges(forces));
        sums.into_iter().map(|s| s.map(|s| s * factor)).collect()
    }

    /// Displacements, m, at the targets due to `forces`, N, at the sources. `shear`: shear modulus, Pa.
    pub fn displacement(&self, forces: &[DVec3], shear: f64) -> Vec<DVec3> {
        self.displacement_of(&charges(forces), shear)
    }

    /// ∫ Tᵀ u dS at the targets, m, due to a double layer at the sources.
    pub fn double_layer(&self, jumps: &[DoubleLayerPoint]) -> Vec<DVec3> {
        self.displacement_of(jumps, 0.5)
    }

    fn displacement_of<S: Strength>(&self, strengths: &[S], shear: f64) -> Vec<DVec3> {
        let poisson = self.plan.poisson;
        let factor = papkovich::displacement_factor(shear, poisson);
        let sums = self.evaluate(DisplacementKernel(poisson), strengths);
        let scaled = |u| DVec3::from_array(u) * factor;
        sums.into_iter().map(scaled).collect()
    }

    /// Displacements, m, and their gradients (row i, column k: ∂u_i/∂x_k) at the targets due to forces, N,
    /// and double layers at the sources, whose jumps are multiplied by 2 G.
    pub fn displacement_and_gradient(
        &self,
        strengths: &[ChargeAndDoubleLayer],
        shear: f64,
    ) -> Vec<(Vec3<f64>, Mat3<f64>)> {
        let poisson = self.plan.poisson;
        let factor = papkovich::displacement_factor(shear, poisson);
        let sums = self.evaluate(DisplacementAndGradientKernel(poisson), strengths);
        let of = |s: [f64; 12]| {
            let [u, a, b, c] = [0, 3, 6, 9].map(|k| Vec3::new(s[k], s[k + 1], s[k + 2]) * factor);
            (u, Mat3::new(a, b, c))
        };
        sums.into_iter().map(of).collect()
    }

    /// Sums of a kernel at the targets.
    fn evaluate<S: Strength, K: TargetKernel<C> + Kernel<S, C>, const C: usize>(
        &self,
        kernel: K,
        strengths: &[S],
    ) -> Vec<[f64; C]> {
        let strengths = self.plan.sorted(strengths);
        let upward = passes::upward(&self.plan, &strengths);
        let downward = passes::downward(&self.plan, &strengths, &upward);
        let values = leaves::evaluate(&self.plan, kernel, &strengths, &upward, &downward);
        self.plan.unsorted(&values, [0.0; C])
    }
}

/// Strengths of forces, N, without dilatation.
fn charges(forces: &[DVec3]) -> Vec<Charge> {
    forces.iter().map(|force| Charge::force(*force)).collect()
}
