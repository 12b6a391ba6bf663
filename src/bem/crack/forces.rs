//! Loads that follow a body through fracture.

use glam::DVec3;

use super::error::FractureError;
use crate::bem::loads::{Balance, Loads};
use crate::bem::solver::Solver;
use crate::bem::surface::Surface;

/// What loads a body and the pieces that it breaks into. Faces of cracks are free; what does not balance is
/// met by inertia.
pub trait Loading {
    /// Tractions on the panels of a piece, Pa, reactions of what holds it included.
    fn tractions(&self, piece: &Piece) -> Result<Vec<DVec3>, FractureError>;

    /// Weight and inertia.
    fn inertia(&self) -> Inertia;

    /// The loads with these tractions.
    fn with<'t>(&self, tractions: &'t [DVec3]) -> Loads<'t> {
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

/// A body or a piece of it.
pub struct Piece<'a> {
    /// Its panels.
    pub surface: &'a Surface,
    /// Their equations.
    pub solver: &'a Solver<'a>,
    /// Which panels are faces of cracks.
    pub is_face: &'a [bool],
}

impl Piece<'_> {
    /// A traction for each panel, by its centroid and its normal; faces of cracks have none.
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

/// Weight and inertia of a body.
#[derive(Clone, Copy, Debug)]
pub struct Inertia {
    /// Density, kg/m³.
    pub density: f64,
    /// Gravity, m/s².
    pub gravity: DVec3,
    /// Angular velocity, rad/s.
    pub spin: DVec3,
}

/// Traction, Pa, at a place, m, of the surface with this normal.
pub type Traction<'a> = dyn Fn(DVec3, DVec3) -> DVec3 + 'a;

/// Given tractions, which stay as they are while the body breaks.
#[derive(Clone, Copy)]
pub struct Forces<'a> {
    /// On the surface that the body had in the beginning.
    pub traction: &'a Traction<'a>,
    /// Weight and inertia.
    pub inertia: Inertia,
}

impl Loading for Forces<'_> {
    fn tractions(&self, piece: &Piece) -> Result<Vec<DVec3>, FractureError> {
        Ok(piece.sample(self.traction))
    }

    fn inertia(&self) -> Inertia {
        self.inertia
    }
}
