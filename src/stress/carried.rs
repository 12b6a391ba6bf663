//! Loads and clamps of a body as its pieces carry them once it cracks.

use glam::DVec3;

use super::case::{Case, Grip};
use super::patch::Variation;
use super::solid::Solid;
use super::supported::{ReactionError, Supported};
use crate::bem::Traction;
use crate::bem::crack::{FractureError, Inertia, Loading, Piece};
use crate::geometry::bvh::Bvh;

/// Each piece carries the loads on its own part of the surface. What clamps hold of a piece reacts to these, and the piece goes
/// on in its circle about the centre of the body if that spins; a piece that no clamp holds accelerates.
pub struct Carried<'a> {
    solid: &'a Solid,
    tree: Bvh,
    /// All loads, without reactions.
    loads: Case,
    grips: Vec<Grip>,
}

impl<'a> Carried<'a> {
    /// Of a whole body.
    pub fn new(solid: &'a Solid, cases: &[Case], grips: &[Grip]) -> Self {
        let surface = &solid.surface;
        let mut loads = Case::new("loads", surface.len());
        cases.iter().for_each(|case| loads.add(case));
        Carried {
            solid,
            tree: Bvh::new(&surface.mesh),
            loads,
            grips: grips.to_vec(),
        }
    }
}

impl Loading for Carried<'_> {
    fn tractions(&self, piece: &Piece) -> Result<Vec<DVec3>, FractureError> {
        let mesh = &self.solid.surface.mesh;
        let given =
            |x: DVec3, _| self.loads.tractions[self.tree.nearest(mesh, x).1 as usize].mean();
        let tractions = piece.sample(given);
        let grips: Vec<Grip> = (self.grips.iter())
            .filter_map(|grip| grip.on_piece(piece.surface, piece.is_face))
            .collect();
        if grips.is_empty() {
            return Ok(tractions);
        }
        let spin = self.loads.spin;
        let arm = piece.surface.mass.centre - self.solid.surface.mass.centre;
        let own = Case {
            tractions: tractions.into_iter().map(Traction::uniform).collect(),
            gravity: self.loads.gravity - spin.cross(spin.cross(arm)),
            ..self.loads.clone()
        };
        let (density, variation) = (self.solid.density, Variation::Stepwise);
        let mut supported = Supported::new(piece.surface, piece.solver, density, variation);
        let causes = supported.causes(vec![own], &grips);
        let causes = causes.map_err(|error| match error {
            ReactionError::Solve(error) => FractureError::Solve(error),
            ReactionError::Clamps | ReactionError::Small(_) => FractureError::Supports,
        })?;
        let mut total = Case::new("total", piece.surface.len());
        causes.iter().for_each(|cause| total.add(&cause.case));
        Ok(total.tractions.iter().map(Traction::mean).collect())
    }

    fn inertia(&self) -> Inertia {
        Inertia {
            density: self.solid.density,
            gravity: self.loads.gravity,
            spin: self.loads.spin,
        }
    }
}
