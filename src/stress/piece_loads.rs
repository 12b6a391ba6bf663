//! Loads and clamps of a body, transferred to its pieces when it cracks.

use glam::DVec3;

use super::case::{Clamp, LoadCase};
use super::patch::Variation;
use super::solid::Solid;
use super::supported::{ReactionError, SupportedBody};
use crate::bem::Traction;
use crate::bem::crack::{FractureError, Inertia, LoadedPiece, Loading};
use crate::geometry::bvh::Bvh;

/// Loads on each piece of a body: those of the body that act on the piece's own part of the surface, and the
/// reactions of the clamps that still hold it. If the body spins, a clamped piece continues in its circle
/// about the centre of the body; a piece that no clamp holds accelerates.
pub struct PieceLoads<'a> {
    solid: &'a Solid,
    tree: Bvh,
    /// Sum of all loads, without reactions.
    loads: LoadCase,
    clamps: Vec<Clamp>,
}

impl<'a> PieceLoads<'a> {
    /// Loads and clamps of the whole body.
    pub fn new(solid: &'a Solid, cases: &[LoadCase], clamps: &[Clamp]) -> Self {
        let surface = &solid.surface;
        let mut loads = LoadCase::new("loads", surface.len());
        cases.iter().for_each(|case| loads.add(case));
        PieceLoads {
            solid,
            tree: Bvh::new(&surface.mesh),
            loads,
            clamps: clamps.to_vec(),
        }
    }
}

impl Loading for PieceLoads<'_> {
    fn tractions(&self, piece: &LoadedPiece) -> Result<Vec<DVec3>, FractureError> {
        let mesh = &self.solid.surface.mesh;
        let traction_at =
            |x: DVec3, _| self.loads.tractions[self.tree.nearest(mesh, x).1 as usize].mean();
        let tractions = piece.sample(traction_at);
        let clamps: Vec<Clamp> = (self.clamps.iter())
            .filter_map(|clamp| clamp.on_piece(piece.surface, piece.is_face))
            .collect();
        if clamps.is_empty() {
            return Ok(tractions);
        }
        let spin = self.loads.spin;
        let arm = piece.surface.mass.centre - self.solid.surface.mass.centre;
        let own = LoadCase {
            tractions: tractions.into_iter().map(Traction::uniform).collect(),
            gravity: self.loads.gravity - spin.cross(spin.cross(arm)),
            ..self.loads.clone()
        };
        let (density, variation) = (self.solid.density, Variation::Stepwise);
        let mut supported = SupportedBody::new(piece.surface, piece.solver, density, variation);
        let causes = supported.causes(vec![own], &clamps);
        let causes = causes.map_err(|error| match error {
            ReactionError::Solve(error) => FractureError::Solve(error),
            ReactionError::OverlappingClamps | ReactionError::SmallPatch(_) => {
                FractureError::Supports
            }
        })?;
        let mut total = LoadCase::new("total", piece.surface.len());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bem::{Elastic, Solver, Surface};
    use crate::geometry::TriMesh;
    use crate::geometry::remesh::remesh_or_finer;
    use crate::geometry::shapes;
    use crate::spec::Region;
    use crate::stress::patch::Patch;

    /// A bar of this length along y, centred at y = `middle`.
    fn bar(length: f64, middle: f64) -> TriMesh {
        let mut mesh = remesh_or_finer(&shapes::cuboid(DVec3::new(1.0, length, 1.0)), 0.5).unwrap();
        mesh.positions.iter_mut().for_each(|x| x.y += middle);
        mesh
    }

    #[test]
    fn a_clamped_piece_of_a_spinning_body_is_held_in_its_circle() {
        let elastic = Elastic::new(1e9, 0.2).unwrap();
        let solid = Solid {
            number: 0,
            name: "bar".into(),
            surface: Surface::new(&bar(4.0, 0.0)).unwrap(),
            elastic,
            density: 2000.0,
            strength: None,
            ids: Vec::new(),
            points: Vec::new(),
            radius: 0.0,
            accuracy: 1e-4,
            notes: Vec::new(),
        };
        let region = Region {
            min: [-1.0, 1.99, -1.0],
            max: [1.0, 2.01, 1.0],
        };
        let clamp = Clamp {
            name: "top".into(),
            region,
            patch: Patch::new(&solid.surface, &region).unwrap(),
            displacement: DVec3::ZERO,
            rotation: DVec3::ZERO,
        };
        let spin = LoadCase {
            spin: DVec3::Z * 10.0,
            ..LoadCase::new("spin", solid.surface.len())
        };
        let piece_loads = PieceLoads::new(&solid, &[spin], &[clamp]);
        // The upper half.
        let surface = Surface::new(&bar(2.0, 1.0)).unwrap();
        let solver = Solver::automatic(&surface, elastic, 1e-4);
        let tractions = piece_loads.tractions(&LoadedPiece {
            surface: &surface,
            solver: &solver,
            is_face: &vec![false; surface.len()],
        });
        let pairs = tractions.unwrap().into_iter().zip(&surface.areas);
        let held: DVec3 = pairs.map(|(traction, area)| traction * *area).sum();
        // −m ω² r.
        let wanted = DVec3::Y * (-2000.0 * 2.0 * 100.0 * 1.0);
        assert!(held.distance(wanted) < 1e-6 * wanted.length(), "{held}");
    }
}
