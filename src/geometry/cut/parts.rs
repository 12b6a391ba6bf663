//! Divides the triangles of a body and of a sheet along their line of intersection, and keeps the part of the
//! sheet inside the body.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;

use super::crossing::{Intersections, Segment};
use super::divide::{Polygon, chains, divide, triangulate};
use super::error::CutError;
use super::facet::{Facet, FacetOrigin, edges};
use crate::geometry::mesh::TriMesh;
use crate::math::UnionFind;

/// A part of a triangle, and the triangle that it is part of.
struct TrianglePart {
    corners: Polygon,
    origin: FacetOrigin,
}

/// Body and sheet, divided along their line of intersection.
pub struct DividedSurfaces {
    /// Triangles of the body's surface and, once each, of the sheet inside the body.
    pub facets: Vec<Facet>,
    /// Positions of all vertices, m: those of the body, of the sheet, and intersection points.
    pub places: Vec<DVec3>,
}

impl DividedSurfaces {
    /// Divides a body and a sheet along their line of intersection.
    pub fn new(body: &TriMesh, sheet: &TriMesh) -> Result<Self, CutError> {
        let crossings = Intersections::new(body, sheet)?;
        if crossings.segments.is_empty() {
            return Err(CutError::NoIntersection);
        }
        let shift = body.positions.len() as u32;
        let base = shift + sheet.positions.len() as u32;
        let places: Vec<DVec3> = [&body.positions, &sheet.positions, &crossings.points]
            .into_iter()
            .flatten()
            .copied()
            .collect();
        let segments = crossings.segments.iter();
        let line = segments.map(|segment| segment.ends.map(|p| p + base));
        let line: BTreeSet<[u32; 2]> = line.collect();
        let numbers = VertexNumbering {
            crossings: &crossings,
            base,
        };
        let skin = numbers.parts(body, (false, 0), &places)?;
        let faces = inner(numbers.parts(sheet, (true, shift), &places)?, &line)?;
        let mut facets = Vec::new();
        for part in skin.into_iter().chain(faces) {
            let [a, b, c] = match part.origin {
                FacetOrigin::Body(t) => body.corners(t as usize),
                FacetOrigin::Sheet(t) => sheet.corners(t as usize),
            };
            let normal = (b - a).cross(c - a).normalize_or(DVec3::Z);
            let ears = triangulate(&part.corners, &places, normal);
            facets.extend(ears.into_iter().map(|corners| Facet {
                corners,
                origin: part.origin,
            }));
        }
        Ok(DividedSurfaces { facets, places })
    }
}

/// The intersection points, and the vertex index of the first.
struct VertexNumbering<'a> {
    crossings: &'a Intersections,
    base: u32,
}

impl VertexNumbering<'_> {
    /// Divides the triangles of a mesh whose first vertex has the index `shift`.
    fn parts(
        &self,
        mesh: &TriMesh,
        (of_sheet, shift): (bool, u32),
        places: &[DVec3],
    ) -> Result<Vec<TrianglePart>, CutError> {
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
                FacetOrigin::Sheet(t)
            } else {
                FacetOrigin::Body(t)
            };
            let polygons = divide(outline, &chains)?.into_iter();
            parts.extend(polygons.map(|corners| TrianglePart { corners, origin }));
        }
        Ok(parts)
    }
}

/// Parts of the sheet inside the body, which are to the left of the line of intersection.
fn inner(
    faces: Vec<TrianglePart>,
    line: &BTreeSet<[u32; 2]>,
) -> Result<Vec<TrianglePart>, CutError> {
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
