//! Solves Somigliana's identity for the displacement of a body's nodes under loads.

use std::sync::Arc;

use super::basis::{Basis, Order};
use super::cavity::Cavity;
use super::completed::CompletedEquations;
use super::dense::DenseLayers;
use super::elastic::Elastic;
use super::layers::Layers;
use super::loads::{LoadError, Loads};
use super::recover::SmoothNeighbours;
use super::rigid::RigidMotions;
use super::solution::{Solution, particular_traction};
use super::split::MultipoleLayers;
use super::surface::Surface;
use super::traction::Traction;
use crate::solve::gmres::gmres;
use crate::solve::recycle::Recycled;

/// Largest residual over the right-hand side at which iterations end: far below the discretization error.
const TOLERANCE: f64 = 1e-7;
/// The tolerance is at least this fraction of the accuracy of matrix products.
const TOLERANCE_OVER_ACCURACY: f64 = 0.01;
/// Largest number of nodes for which the matrix is stored. Measured with one load: with this number both
/// methods take the same time; with 5000 triangles the fast multipole method takes an eighth of it; a single
/// product takes the same time with about 2500 nodes.
pub const MAX_DENSE_NODES: usize = 500;
/// Largest number of triangles for which the displacement is quadratic by default.
pub const MAX_QUADRATIC_TRIANGLES: usize = 30_000;
/// Largest number of iterations; well-shaped bodies take 5 to 40, slender ones with quadratic displacements
/// some hundred.
const MAX_ITERATIONS: u32 = 800;

/// Degree of the displacement that [`Solver::automatic`] uses for this number of triangles.
pub fn order(triangles: usize) -> Order {
    match triangles <= MAX_QUADRATIC_TRIANGLES {
        true => Order::Quadratic,
        false => Order::Linear,
    }
}

/// Why a body's response could not be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SolveError {
    /// Loads that are refused.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The iteration stalled, or the residual is NaN.
    #[error(
        "boundary elements did not converge: residual {residual:.1e} of the loads after {iterations} iterations; \
         the mesh may have slivers or parts that nearly touch"
    )]
    NotConverged {
        /// Residual over right-hand side.
        residual: f64,
        /// Iterations done.
        iterations: u32,
    },
}

/// The equations of a body, which do not depend on its loads.
pub struct Solver<'a> {
    basis: Arc<Basis<'a>>,
    elastic: Elastic,
    layers: Box<dyn Layers + 'a>,
    motions: RigidMotions,
    cavities: Vec<Cavity>,
    /// Stencils for the gradient of linear displacements.
    neighbours: Option<SmoothNeighbours>,
    /// Accuracy of matrix products; none if they are exact.
    accuracy: Option<f64>,
}

impl<'a> Solver<'a> {
    /// Stores the layers as a matrix of 72 bytes for each pair of nodes.
    pub fn dense(surface: &'a Surface, elastic: Elastic, order: Order) -> Self {
        let basis = Arc::new(Basis::new(surface, order));
        let layers = Box::new(DenseLayers::new(&basis, elastic));
        Solver::new(&basis, elastic, layers, None)
    }

    /// Sums the layers by the fast multipole method, in time and memory proportional to the number of
    /// triangles.
    ///
    /// `accuracy` is the relative L2 error of matrix products, from 1e-3 to 1e-8; iterations end at a
    /// hundredth of it. 1e-4 is more accurate than most meshes.
    pub fn multipole(surface: &'a Surface, elastic: Elastic, order: Order, accuracy: f64) -> Self {
        let basis = Arc::new(Basis::new(surface, order));
        let layers = Box::new(MultipoleLayers::new(&basis, elastic, accuracy));
        Solver::new(&basis, elastic, layers, Some(accuracy))
    }

    /// Quadratic displacements up to [`MAX_QUADRATIC_TRIANGLES`] triangles, linear ones above;
    /// [`dense`](Self::dense) for few nodes, [`multipole`](Self::multipole) for many.
    pub fn automatic(surface: &'a Surface, elastic: Elastic, accuracy: f64) -> Self {
        let order = order(surface.len());
        let basis = Basis::new(surface, order);
        if basis.len() <= MAX_DENSE_NODES {
            Solver::dense(surface, elastic, order)
        } else {
            Solver::multipole(surface, elastic, order, accuracy)
        }
    }

    /// With given layers at these nodes and these moduli. `accuracy`: of the layers' products; none if they
    /// are exact.
    pub fn new(
        basis: &Arc<Basis<'a>>,
        elastic: Elastic,
        layers: Box<dyn Layers + 'a>,
        accuracy: Option<f64>,
    ) -> Self {
        let is_linear = basis.order == Order::Linear;
        Solver {
            basis: basis.clone(),
            elastic,
            layers,
            motions: RigidMotions::new(basis),
            cavities: Cavity::all(basis, elastic.shear),
            neighbours: is_linear.then(|| SmoothNeighbours::new(basis.surface)),
            accuracy,
        }
    }

    /// Response to loads. The first guess is a combination of earlier solutions of this solver in `recycled`,
    /// to which this one is added.
    pub fn solve(
        &self,
        loads: &Loads,
        recycled: &mut Recycled<3>,
    ) -> Result<Solution<'_>, SolveError> {
        self.solve_varying(loads, &loads.uniform(), recycled)
    }

    /// As [`solve`](Self::solve), with the given tractions instead of those of the loads, one for each panel.
    /// Use this with quadratic displacements if loads vary smoothly.
    pub fn solve_varying(
        &self,
        loads: &Loads,
        tractions: &[Traction],
        recycled: &mut Recycled<3>,
    ) -> Result<Solution<'_>, SolveError> {
        let basis = &*self.basis;
        let body_force = loads.body_force(basis.surface, tractions)?;
        let left = |(t, traction): (usize, &Traction)| {
            let (own, middle) = particular_traction(basis, self.elastic, &body_force, t);
            let corners = [0, 1, 2].map(|c| traction.corners[c] - own.corners[c]);
            (Traction { corners }, traction.mean() - middle)
        };
        let all = tractions.iter().enumerate();
        let (tractions, middles): (Vec<_>, Vec<_>) = all.map(left).unzip();
        let mut right = self.layers.single(&tractions);
        for cavity in &self.cavities {
            cavity.add_right(basis, &tractions, &mut right);
        }
        let matrix = CompletedEquations::new(&*self.layers, &self.motions, &self.cavities);
        matrix.precondition(&mut right);
        let mut u = recycled.guess(&right);
        let tolerance = TOLERANCE.max(self.accuracy.map_or(0.0, |a| a * TOLERANCE_OVER_ACCURACY));
        let found = gmres(&matrix, &right, &mut u, (tolerance, MAX_ITERATIONS));
        if found.residual.is_nan() || found.residual > tolerance {
            return Err(SolveError::NotConverged {
                residual: found.residual,
                iterations: found.iterations,
            });
        }
        recycled.push(&matrix, &u);
        Ok(Solution::new(
            (basis, self.neighbours.as_ref()),
            self.elastic,
            body_force,
            (tractions, middles),
            (u, found),
            self.accuracy,
        ))
    }
}
