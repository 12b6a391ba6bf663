//! Loads on a body and on the pieces into which it breaks.

use glam::DVec3;

use super::error::FractureError;
use crate::bem::loads::{Balance, Loads};
use crate::bem::solver::Solver;
use crate::bem::surface::Surface;

/// Loads on a body and on the pieces into which it breaks. Faces of cracks carry no load; inertia balances
/// the resultant.
pub trait Loading {
    /// Tractions on the panels of a piece, Pa, including the reactions of its clamps.
    fn tractions(&self, piece: &LoadedPiece) -> Result<Vec<DVec3>, FractureError>;

    /// What determines weight and inertia forces.
    fn inertia(&self) -> Inertia;

    /// Loads for the solver: these tractions, weight and inertia.
    fn loads_with<'t>(&self, tractions: &'t [DVec3]) -> Loads<'t> {
        let Inertia {
            density,
            gravity,
            spin,
        } = self.inertia();
        Loads {
            tractions,
            density,
            gravity,
            spin,
            balance: Balance::Inertia,
        }
    }
}

/// A body, or a piece of it, to which loads are applied.
pub struct LoadedPiece<'a> {
    /// Its panels.
    pub surface: &'a Surface,
    /// The equations of its panels.
    pub solver: &'a Solver<'a>,
    /// For each panel, whether it is a face of a crack.
    pub is_face: &'a [bool],
}

impl LoadedPiece<'_> {
    /// A traction for each panel, from a function of its centroid and normal; zero on faces of cracks.
    pub fn sample(&self, traction: impl Fn(DVec3, DVec3) -> DVec3) -> Vec<DVec3> {
        let panels = self.surface.centroids.iter().zip(&self.surface.normals);
        panels
            .zip(self.is_face)
            .map(|((x, n), is_face)| match is_face {
                true => DVec3::ZERO,
                false => traction(*x, *n),
            })
            .collect()
    }
}

/// What determines the weight and the inertia forces of a body.
#[derive(Clone, Copy, Debug)]
pub struct Inertia {
    /// Density, kg/m³.
    pub density: f64,
    /// Gravity, m/s².
    pub gravity: DVec3,
    /// Angular velocity, rad/s.
    pub spin: DVec3,
}

/// Traction, Pa, as a function of the position on the surface, m, and the normal.
pub type TractionField<'a> = dyn Fn(DVec3, DVec3) -> DVec3 + 'a;

/// Tractions that do not change while the body breaks.
#[derive(Clone, Copy)]
pub struct FixedLoads<'a> {
    /// Traction on the original surface of the body.
    pub traction: &'a TractionField<'a>,
    /// What determines weight and inertia forces.
    pub inertia: Inertia,
}

impl Loading for FixedLoads<'_> {
    fn tractions(&self, piece: &LoadedPiece) -> Result<Vec<DVec3>, FractureError> {
        Ok(piece.sample(self.traction))
    }

    fn inertia(&self) -> Inertia {
        self.inertia
    }
}
