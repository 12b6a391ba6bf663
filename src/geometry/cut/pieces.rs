//! The pieces of a body that a sheet cuts.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;

use super::crossing::{Crossings, Segment};
use super::divide::{Polygon, chains, divide, triangulate};
use super::error::CutError;
use crate::geometry::inside;
use crate::geometry::mesh::TriMesh;
use crate::math::UnionFind;

/// Difference of the volumes of body and pieces over the body's, at most.
const VOLUME: f64 = 1e-9;

/// What a triangle of a piece was part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A triangle of the body.
    Body(u32),
    /// A triangle of the sheet.
    Sheet(u32),
}

/// A closed piece.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Its mesh, wound outward.
    pub mesh: TriMesh,
    /// Where each of its triangles comes from.
    pub origins: Vec<Origin>,
}

/// A part of a triangle and where it comes from.
struct Part {
    corners: Polygon,
    origin: Origin,
}

/// Cuts a body along a sheet. The pieces come in the order of their first triangles.
pub fn cut(body: &TriMesh, sheet: &TriMesh) -> Result<Vec<Piece>, CutError> {
    let crossings = Crossings::new(body, sheet)?;
    if crossings.segments.is_empty() {
        return Err(CutError::Apart);
    }
    let shift = body.positions.len() as u32;
    let base = shift + sheet.positions.len() as u32;
    let places: Vec<DVec3> = [&body.positions, &sheet.positions, &crossings.points]
        .into_iter()
        .flatten()
        .copied()
        .collect();
    let line: BTreeSet<[u32; 2]> = crossings
        .segments
        .iter()
        .map(|segment| segment.ends.map(|p| p + base))
        .collect();
    let numbers = Numbers {
        crossings: &crossings,
        base,
    };
    let skin = numbers.parts(body, (false, 0), &places)?;
    let faces = numbers.parts(sheet, (true, shift), &places)?;
    let faces = inner(faces, &line)?;
    let mut triangles = Vec::new();
    let normal = |mesh: &TriMesh, t: u32| {
        let [a, b, c] = mesh.corners(t as usize);
        (b - a).cross(c - a)
    };
    for part in &skin {
        let Origin::Body(t) = part.origin else {
            continue;
        };
        let ears = triangulate(
            &part.corners,
            &places,
            normal(body, t).normalize_or(DVec3::Z),
        );
        triangles.extend(ears.into_iter().map(|ear| (ear, part.origin, false)));
    }
    for part in &faces {
        let Origin::Sheet(t) = part.origin else {
            continue;
        };
        let ears = triangulate(
            &part.corners,
            &places,
            normal(sheet, t).normalize_or(DVec3::Z),
        );
        for [a, b, c] in ears {
            // The piece above the sheet has its normals against the sheet's.
            triangles.push(([a, c, b], part.origin, true));
            triangles.push(([a, b, c], part.origin, false));
        }
    }
    let pieces = gather(&triangles, &places, &line)?;
    let whole = body.volume();
    let sum: f64 = pieces.iter().map(|piece| piece.mesh.volume()).sum();
    if (sum - whole).abs() > VOLUME * whole.abs() {
        return Err(CutError::Volume);
    }
    match pieces.len() {
        0 | 1 => Err(CutError::NotSeparated),
        _ => Ok(pieces),
    }
}

/// Crossings, and where their numbers begin among all vertices.
struct Numbers<'a> {
    crossings: &'a Crossings,
    base: u32,
}

impl Numbers<'_> {
    /// Parts of the triangles of a mesh, whose vertices are numbered from `shift`.
    fn parts(
        &self,
        mesh: &TriMesh,
        (of_sheet, shift): (bool, u32),
        places: &[DVec3],
    ) -> Result<Vec<Part>, CutError> {
        let mut on_edge: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
        for (p, (owner, edge)) in (self.base..).zip(&self.crossings.edges) {
            if *owner == of_sheet {
                on_edge.entry(*edge).or_default().push(p);
            }
        }
        let mut within: BTreeMap<u32, Vec<[u32; 2]>> = BTreeMap::new();
        for Segment { ends, body, sheet } in &self.crossings.segments {
            let t = if of_sheet { *sheet } else { *body };
            let ends = ends.map(|p| p + self.base);
            within.entry(t).or_default().push(ends);
        }
        let mut parts = Vec::new();
        for (t, triangle) in (0..).zip(&mesh.triangles) {
            let mut outline = Vec::new();
            for k in 0..3 {
                let [u, v] = [triangle[k], triangle[(k + 1) % 3]];
                outline.push(u + shift);
                let mut points = on_edge
                    .get(&[u.min(v), u.max(v)])
                    .cloned()
                    .unwrap_or_default();
                let from = mesh.positions[u as usize];
                let along = |p: &u32| places[*p as usize].distance_squared(from);
                points.sort_by(|a, b| along(a).total_cmp(&along(b)));
                outline.extend(points);
            }
            let chains = chains(within.get(&t).map_or(&[], Vec::as_slice))?;
            let origin = if of_sheet {
                Origin::Sheet(t)
            } else {
                Origin::Body(t)
            };
            let polygons = divide(outline, &chains)?.into_iter();
            parts.extend(polygons.map(|corners| Part { corners, origin }));
        }
        Ok(parts)
    }
}

fn edges(corners: &[u32]) -> impl Iterator<Item = [u32; 2]> + '_ {
    (0..corners.len()).map(|k| [corners[k], corners[(k + 1) % corners.len()]])
}

/// Parts of the sheet that lie inside the body: on the left of the line of intersection.
fn inner(faces: Vec<Part>, line: &BTreeSet<[u32; 2]>) -> Result<Vec<Part>, CutError> {
    let is_line = |[a, b]: [u32; 2]| line.contains(&[a, b]) || line.contains(&[b, a]);
    let mut owner: BTreeMap<[u32; 2], u32> = BTreeMap::new();
    for (k, part) in (0..).zip(&faces) {
        for edge in edges(&part.corners).filter(|edge| !is_line(*edge)) {
            owner.insert(edge, k);
        }
    }
    let mut joined = UnionFind::new(faces.len());
    for ([a, b], k) in &owner {
        if let Some(other) = owner.get(&[*b, *a]) {
            joined.join(*k, *other);
        }
    }
    let root = joined.roots();
    let mut is_inside = vec![None; faces.len()];
    for (k, part) in faces.iter().enumerate() {
        for [a, b] in edges(&part.corners).filter(|edge| is_line(*edge)) {
            let here = line.contains(&[a, b]);
            let known: &mut Option<bool> = &mut is_inside[root[k] as usize];
            if known.is_some_and(|known| known != here) {
                return Err(CutError::NotSeparated);
            }
            *known = Some(here);
        }
    }
    let kept = |k: &usize| is_inside[root[*k] as usize] == Some(true);
    let open = owner
        .iter()
        .filter(|([a, b], k)| kept(&(**k as usize)) && !owner.contains_key(&[*b, *a]))
        .count();
    if open > 0 {
        return Err(CutError::EndsInside(open));
    }
    let faces = faces.into_iter().enumerate();
    Ok(faces
        .filter(|(k, _)| kept(k))
        .map(|(_, part)| part)
        .collect())
}

/// A triangle, where it comes from, and for one of the sheet whether it bounds the upper piece.
type Face = ([u32; 3], Origin, bool);

/// Joins triangles to closed meshes along their edges.
fn gather(
    triangles: &[Face],
    places: &[DVec3],
    line: &BTreeSet<[u32; 2]>,
) -> Result<Vec<Piece>, CutError> {
    let mut owner: BTreeMap<([u32; 2], u8), u32> = BTreeMap::new();
    for (k, (corners, origin, upper)) in (0..).zip(triangles) {
        for [a, b] in edges(corners) {
            // On the line, the body's triangle on the left belongs to the upper piece.
            let side = match origin {
                Origin::Sheet(_) => 1 + u8::from(*upper),
                Origin::Body(_) if line.contains(&[a, b]) => 2,
                Origin::Body(_) if line.contains(&[b, a]) => 1,
                Origin::Body(_) => 0,
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
    let mut pieces: Vec<(Piece, BTreeMap<u32, u32>)> = Vec::new();
    for (k, (corners, origin, _)) in triangles.iter().enumerate() {
        let next = pieces.len();
        let number = *numbers.entry(root[k]).or_insert(next);
        if number == next {
            let piece = Piece {
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

/// Puts the surfaces of cavities to the pieces that they lie in.
fn with_cavities(surfaces: impl Iterator<Item = Piece>) -> Vec<Piece> {
    let (mut pieces, cavities): (Vec<_>, Vec<_>) =
        surfaces.partition(|piece| piece.mesh.volume() > 0.0);
    for cavity in cavities {
        let at = cavity.mesh.positions[0];
        let holds = |piece: &Piece| inside::Crossings::new(&piece.mesh).contains(at);
        if let Some(k) = pieces.iter().position(holds) {
            pieces[k].mesh.append(cavity.mesh);
            pieces[k].origins.extend(cavity.origins);
        }
    }
    pieces
}
