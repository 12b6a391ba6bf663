//! Solves Somigliana's identity for the displacement of a body's nodes under loads.

use std::sync::Arc;

use super::basis::{Basis, Order};
use super::cavity::Cavity;
use super::completed::Completed;
use super::dense::Dense;
use super::elastic::Elastic;
use super::layers::Layers;
use super::loads::{LoadError, Loads};
use super::recover::Neighbours;
use super::rigid::RigidMotions;
use super::solution::{Solution, particular_traction};
use super::split::Split;
use super::surface::Surface;
use super::traction::Traction;
use crate::solve::gmres::gmres;
use crate::solve::recycle::Recycled;

/// Residual over right-hand side at which iterations end: far below what the mesh leaves.
const TOLERANCE: f64 = 1e-7;
/// Residual over the accuracy of products at which iterations end, if that is more.
const BELOW_ACCURACY: f64 = 0.01;
/// Nodes up to which the matrix is stored. Measured with one load: here both take the same time, at 5000
/// triangles the fast multipole method an eighth of it; a product alone takes the same at about 2500.
pub const DENSE: usize = 500;
/// Triangles up to which the displacement is quadratic by default.
pub const QUADRATIC: usize = 30_000;
/// Iterations at most; well-shaped bodies take 5 to 40, slender ones with quadratic displacements some hundred.
const ITERATIONS: u32 = 800;

/// Degree of the displacement that [`Solver::automatic`] takes for so many triangles.
pub fn order(triangles: usize) -> Order {
    match triangles <= QUADRATIC {
        true => Order::Quadratic,
        false => Order::Linear,
    }
}

/// Why a body's response was not found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SolveError {
    /// Loads that are refused.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The iteration stalled, or met NaN.
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

/// Everything of a body that its loads do not change.
pub struct Solver<'a> {
    basis: Arc<Basis<'a>>,
    elastic: Elastic,
    layers: Box<dyn Layers + 'a>,
    motions: RigidMotions,
    cavities: Vec<Cavity>,
    /// Of linear displacements.
    neighbours: Option<Neighbours>,
    /// Accuracy of products, if they are not exact.
    accuracy: Option<f64>,
}

impl<'a> Solver<'a> {
    /// With the layers stored as a matrix of 72 bytes for each pair of nodes.
    pub fn dense(surface: &'a Surface, elastic: Elastic, order: Order) -> Self {
        let basis = Arc::new(Basis::new(surface, order));
        let layers = Box::new(Dense::new(&basis, elastic));
        Solver::new(&basis, elastic, layers, None)
    }

    /// With the layers summed by the fast multipole method, in time and memory proportional to the number of triangles.
    ///
    /// `accuracy` is the relative L2 error of products asked for, from 1e-3 to 1e-8; iterations end at a
    /// hundredth of it. 1e-4 is more than most meshes deserve.
    pub fn multipole(surface: &'a Surface, elastic: Elastic, order: Order, accuracy: f64) -> Self {
        let basis = Arc::new(Basis::new(surface, order));
        let layers = Box::new(Split::new(&basis, elastic, accuracy));
        Solver::new(&basis, elastic, layers, Some(accuracy))
    }

    /// Quadratic displacements up to [`QUADRATIC`] triangles, linear ones above; [`dense`](Self::dense) for
    /// few nodes, [`multipole`](Self::multipole) for many.
    pub fn automatic(surface: &'a Surface, elastic: Elastic, accuracy: f64) -> Self {
        let order = order(surface.len());
        let basis = Basis::new(surface, order);
        if basis.len() <= DENSE {
            Solver::dense(surface, elastic, order)
        } else {
            Solver::multipole(surface, elastic, order, accuracy)
        }
    }

    /// With layers at these nodes and with these moduli, and the accuracy of their products if they are not exact.
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
            neighbours: is_linear.then(|| Neighbours::new(basis.surface)),
            accuracy,
        }
    }

    /// Response to loads. Earlier solutions in `recycled`, of this solver, are the first guess, and this one
    /// joins them.
    pub fn solve(
        &self,
        loads: &Loads,
        recycled: &mut Recycled<3>,
    ) -> Result<Solution<'_>, SolveError> {
        self.solve_varying(loads, &loads.uniform(), recycled)
    }

    /// The same with these tractions instead of those of the loads, one for each panel. Quadratic
    /// displacements deserve them where loads vary smoothly.
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
        let matrix = Completed::new(&*self.layers, &self.motions, &self.cavities);
        matrix.precondition(&mut right);
        let mut u = recycled.guess(&right);
        let tolerance = TOLERANCE.max(self.accuracy.map_or(0.0, |a| a * BELOW_ACCURACY));
        let found = gmres(&matrix, &right, &mut u, (tolerance, ITERATIONS));
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
