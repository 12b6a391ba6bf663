//! Where the edges of two meshes pierce each other's triangles, and the segments in which triangles meet.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use glam::DVec3;

use super::error::CutError;
use crate::geometry::bvh::Bvh;
use crate::geometry::exact::side;
use crate::geometry::mesh::TriMesh;

/// A crossing: whether the edge is the sheet's, its ends ascending, the triangle.
type Key = (bool, u32, u32, u32);

/// A segment in which a triangle of the body meets one of the sheet. It runs along n × m, n being the normal
/// of the sheet's and m that of the body's: on its left lie the upper side of the sheet, on the body, and the
/// inside of the body, on the sheet.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// Number of the point where it begins and of that where it ends.
    pub ends: [u32; 2],
    /// Triangle of the body.
    pub body: u32,
    /// Triangle of the sheet.
    pub sheet: u32,
}

/// All intersections of a body and a sheet.
#[derive(Clone, Debug, Default)]
pub struct Crossings {
    /// Places of the points, m.
    pub points: Vec<DVec3>,
    /// Edge that each point lies on, by its two vertices: of the body or, if the flag is set, of the sheet.
    pub edges: Vec<(bool, [u32; 2])>,
    /// Segments between them.
    pub segments: Vec<Segment>,
    numbers: BTreeMap<Key, u32>,
}

impl Crossings {
    /// Of a body and a sheet in general position.
    pub fn new(body: &TriMesh, sheet: &TriMesh) -> Result<Self, CutError> {
        let mut all = Crossings::default();
        let bvh = Bvh::new(body);
        for t in 0..sheet.triangles.len() {
            let [a, b, c] = sheet.corners(t);
            let (low, high) = (a.min(b).min(c), a.max(b).max(c));
            let mut near = Vec::new();
            let _all = bvh.visit(
                |node| (node.low.cmple(high) & low.cmple(node.high)).all(),
                |other| {
                    near.push(other);
                    ControlFlow::Continue(())
                },
            );
            near.sort_unstable();
            for other in near {
                all.meet(body, other, sheet, t as u32)?;
            }
        }
        all.require_no_ends()?;
        Ok(all)
    }

    /// Where the sheet's rim pierces the body, the line of intersection ends.
    fn require_no_ends(&self) -> Result<(), CutError> {
        let mut ends = vec![[0_u32; 2]; self.points.len()];
        for segment in &self.segments {
            for (k, p) in segment.ends.into_iter().enumerate() {
                ends[p as usize][k] += 1;
            }
        }
        match ends.iter().filter(|count| **count != [1, 1]).count() {
            0 => Ok(()),
            open => Err(CutError::EndsInside(open)),
        }
    }

    fn meet(&mut self, body: &TriMesh, b: u32, sheet: &TriMesh, s: u32) -> Result<(), CutError> {
        let (mut start, mut end) = (None, None);
        for (mesh, t, other, plane, of_sheet) in
            [(body, b, sheet, s, false), (sheet, s, body, b, true)]
        {
            let triangle = mesh.triangles[t as usize];
            let [p, q, r] = other.corners(plane as usize);
            let sides = mesh.corners(t as usize).map(|x| side(p, q, r, x));
            if sides.iter().all(|s| *s > 0.0) || sides.iter().all(|s| *s < 0.0) {
                return Ok(());
            }
            for k in 0..3 {
                let next = (k + 1) % 3;
                let (u, v) = (triangle[k], triangle[next]);
                if sides[k] == 0.0 {
                    return Err(CutError::NotGeneral);
                }
                if (sides[k] > 0.0) == (sides[next] > 0.0) {
                    continue;
                }
                let (low, high) = (u.min(v), u.max(v));
                let ends = [low, high].map(|v| mesh.positions[v as usize]);
                if !pierces(ends, [p, q, r])? {
                    continue;
                }
                let point = self.point((of_sheet, low, high, plane), ends, [p, q, r]);
                // Into the side of the normal along the body's edge: the segment comes out there; along the
                // sheet's: it goes in.
                let slot = if (sides[k] > 0.0) == of_sheet {
                    &mut start
                } else {
                    &mut end
                };
                if slot.replace(point).is_some() {
                    return Err(CutError::NotGeneral);
                }
            }
        }
        match (start, end) {
            (Some(start), Some(end)) => self.segments.push(Segment {
                ends: [start, end],
                body: b,
                sheet: s,
            }),
            (None, None) => {}
            _ => return Err(CutError::NotGeneral),
        }
        Ok(())
    }

    /// Number of the point of an edge in a triangle, which it is known to pierce.
    fn point(&mut self, key: Key, [a, b]: [DVec3; 2], [p, q, r]: [DVec3; 3]) -> u32 {
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let normal = (q - p).cross(r - p);
        let [from, to] = [a, b].map(|x| normal.dot(x - p));
        let part = (from / (from - to)).clamp(0.0, 1.0);
        let number = self.points.len() as u32;
        self.points.push(a + (b - a) * part);
        self.edges.push((key.0, [key.1, key.2]));
        self.numbers.insert(key, number);
        number
    }
}

/// Whether a line goes through a triangle.
fn pierces([a, b]: [DVec3; 2], [p, q, r]: [DVec3; 3]) -> Result<bool, CutError> {
    let turns = [side(a, b, p, q), side(a, b, q, r), side(a, b, r, p)];
    if turns.iter().all(|t| *t > 0.0) || turns.iter().all(|t| *t < 0.0) {
        return Ok(true);
    }
    if turns.iter().all(|t| *t >= 0.0) || turns.iter().all(|t| *t <= 0.0) {
        return Err(CutError::NotGeneral);
    }
    Ok(false)
}
