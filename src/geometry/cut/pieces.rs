//! The pieces into which a sheet cuts a body.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;

use super::error::CutError;
use super::facet::{Facet, FacetOrigin, edges};
use super::parts::DividedSurfaces;
use super::slivers::remove_slivers;
use crate::geometry::inside;
use crate::geometry::mesh::TriMesh;
use crate::math::UnionFind;

/// Maximum relative difference between the volume of the body and the sum over its pieces.
const MAX_VOLUME_ERROR: f64 = 1e-9;

/// A piece of a body with a closed surface.
#[derive(Clone, Debug)]
pub struct CutPiece {
    /// Its mesh, wound outward.
    pub mesh: TriMesh,
    /// For each of its triangles, the triangle of body or sheet that it is part of.
    pub origins: Vec<FacetOrigin>,
}

/// Cuts a body along a sheet. The pieces are ordered by their first triangles.
pub fn cut(body: &TriMesh, sheet: &TriMesh) -> Result<Vec<CutPiece>, CutError> {
    let DividedSurfaces { facets, places } = DividedSurfaces::new(body, sheet)?;
    let whole = body.volume();
    let better = remove_slivers(facets.clone(), &places);
    pieces(&better, &places, whole).or_else(|_| pieces(&facets, &places, whole))
}

/// Assembles the pieces of a body of volume `whole`, m³.
fn pieces(facets: &[Facet], places: &[DVec3], whole: f64) -> Result<Vec<CutPiece>, CutError> {
    let of_sheet = |facet: &&Facet| matches!(facet.origin, FacetOrigin::Sheet(_));
    let sheet: BTreeSet<[u32; 2]> = facets
        .iter()
        .filter(of_sheet)
        .flat_map(|facet| edges(&facet.corners).collect::<Vec<_>>())
        .collect();
    let line = sheet.iter().filter(|[a, b]| !sheet.contains(&[*b, *a]));
    let line = line.copied().collect();
    let mut triangles: Vec<PieceTriangle> = Vec::new();
    for Facet { corners, origin } in facets {
        let [a, b, c] = *corners;
        triangles.push((*corners, *origin, false));
        if let FacetOrigin::Sheet(_) = origin {
            // For the piece above the sheet, normals are opposite to the sheet's.
            triangles.push(([a, c, b], *origin, true));
        }
    }
    let pieces = assemble(&triangles, places, &line)?;
    let sum: f64 = pieces.iter().map(|piece| piece.mesh.volume()).sum();
    if (sum - whole).abs() > MAX_VOLUME_ERROR * whole.abs() {
        return Err(CutError::VolumeMismatch);
    }
    match pieces.len() {
        0 | 1 => Err(CutError::NotSeparated),
        _ => Ok(pieces),
    }
}

/// Corners of a triangle, the triangle that it is part of, and, for a triangle of the sheet, whether it
/// bounds the upper piece.
type PieceTriangle = ([u32; 3], FacetOrigin, bool);

/// Joins triangles along their edges into closed meshes.
fn assemble(
    triangles: &[PieceTriangle],
    places: &[DVec3],
    line: &BTreeSet<[u32; 2]>,
) -> Result<Vec<CutPiece>, CutError> {
    let mut owner: BTreeMap<([u32; 2], u8), u32> = BTreeMap::new();
    for (k, (corners, origin, upper)) in (0..).zip(triangles) {
        for [a, b] in edges(corners) {
            // At the line of intersection, the body's triangle on the left belongs to the upper piece.
            let side = match origin {
                FacetOrigin::Sheet(_) => 1 + u8::from(*upper),
                FacetOrigin::Body(_) if line.contains(&[a, b]) => 2,
                FacetOrigin::Body(_) if line.contains(&[b, a]) => 1,
                FacetOrigin::Body(_) => 0,
            };
            if owner.insert(([a, b], side), k).is_some() {
                return Err(CutError::NotSeparated);
            }
        }
    }
    let mut joined = UnionFind::new(triangles.len());
    for (([a, b], side), k) in &owner {
        let other = owner
            .get(&([*b, *a], *side))
            .ok_or(CutError::NotSeparated)?;
        joined.join(*k, *other);
    }
    let root = joined.roots();
    let mut numbers: BTreeMap<u32, usize> = BTreeMap::new();
    let mut pieces: Vec<(CutPiece, BTreeMap<u32, u32>)> = Vec::new();
    for (k, (corners, origin, _)) in triangles.iter().enumerate() {
        let next = pieces.len();
        let number = *numbers.entry(root[k]).or_insert(next);
        if number == next {
            let piece = CutPiece {
                mesh: TriMesh::default(),
                origins: Vec::new(),
            };
            pieces.push((piece, BTreeMap::new()));
        }
        let (piece, known) = &mut pieces[number];
        let positions = &mut piece.mesh.positions;
        let own = corners.map(|v| {
            *known.entry(v).or_insert_with(|| {
                positions.push(places[v as usize]);
                positions.len() as u32 - 1
            })
        });
        piece.mesh.triangles.push(own);
        piece.origins.push(*origin);
    }
    Ok(with_cavities(pieces.into_iter().map(|(piece, _)| piece)))
}

/// Appends the surfaces of cavities to the pieces that they lie in.
fn with_cavities(surfaces: impl Iterator<Item = CutPiece>) -> Vec<CutPiece> {
    let (mut pieces, cavities): (Vec<_>, Vec<_>) =
        surfaces.partition(|piece| piece.mesh.volume() > 0.0);
    for cavity in cavities {
        let at = cavity.mesh.positions[0];
        let holds = |piece: &CutPiece| inside::InsideTest::new(&piece.mesh).contains(at);
        if let Some(k) = pieces.iter().position(holds) {
            pieces[k].mesh.append(cavity.mesh);
            pieces[k].origins.extend(cavity.origins);
        }
    }
    pieces
}
