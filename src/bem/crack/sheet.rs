//! The surface of one crack while it grows: triangles, which may extend beyond the body, and their rim.

use std::collections::BTreeSet;

use glam::DVec3;

use crate::geometry::TriMesh;

/// Lengths of a rim edge over the length of a step: a longer edge gets a new vertex, and the ends of a
/// shorter one are merged.
const SPLIT_ABOVE: f64 = 1.5;
const MERGE_BELOW: f64 = 0.4;
/// Smallest cosine of the angle by which a rim edge may turn in a step; its ends are merged if it turns more.
const MIN_TURN_COSINE: f64 = 0.3;
/// Numbers of vertices of the two rings of the first disc.
const RINGS: [u32; 2] = [6, 12];

/// How a crack ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrackEnd {
    /// It still grew when its steps were used up.
    Growing,
    /// It came to rest inside the body.
    AtRest,
    /// It went through the body.
    Through,
}

/// The surface of a crack.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// Its triangles, in order of growth. They may extend beyond the body.
    pub mesh: TriMesh,
    /// Point where it began, m.
    pub start: DVec3,
    /// Unit normal of its first disc.
    pub normal: DVec3,
    /// How it ended.
    pub end: CrackEnd,
    /// Vertices of the rim in order; the sheet is on the left, seen from its upper side.
    pub(super) rim: Vec<u32>,
}

/// Position and axes of the sheet at a vertex of its rim.
#[derive(Clone, Copy, Debug)]
pub struct RimFrame {
    /// Position, m.
    pub place: DVec3,
    /// Direction along the rim.
    pub along: DVec3,
    /// Direction in the plane of the sheet, outward.
    pub out: DVec3,
    /// Normal of the sheet.
    pub normal: DVec3,
}

impl Sheet {
    /// A disc of this radius, m, about `middle`, for a crack that begins at `start`.
    pub fn disc(start: DVec3, middle: DVec3, normal: DVec3, radius: f64) -> Self {
        let s = normal.any_orthonormal_vector();
        let t = normal.cross(s);
        let mut mesh = TriMesh::default();
        mesh.positions.push(middle);
        for (ring, count) in (1..).zip(RINGS) {
            let reach = radius * f64::from(ring) / RINGS.len() as f64;
            for k in 0..count {
                let angle = std::f64::consts::TAU * f64::from(k) / f64::from(count);
                let (sin, cos) = angle.sin_cos();
                mesh.positions.push(middle + (s * cos + t * sin) * reach);
            }
        }
        for k in 0..6 {
            let (a, b) = (1 + k, 1 + (k + 1) % 6);
            let [c, d, e] = [0, 1, 2].map(|j| 7 + (2 * k + j) % 12);
            mesh.triangles
                .extend([[0, a, b], [a, c, d], [a, d, b], [b, d, e]]);
        }
        Sheet {
            mesh,
            start,
            normal,
            end: CrackEnd::Growing,
            rim: (7..19).collect(),
        }
    }

    /// Unit normal of triangle `t`.
    pub fn normal_of(&self, t: usize) -> DVec3 {
        let [a, b, c] = self.mesh.corners(t);
        (b - a).cross(c - a).normalize_or(self.normal)
    }

    /// Axes at the vertices of the rim, in order.
    pub(super) fn frames(&self) -> Vec<RimFrame> {
        let mut normals = vec![DVec3::ZERO; self.mesh.positions.len()];
        for (t, triangle) in self.mesh.triangles.iter().enumerate() {
            let [a, b, c] = self.mesh.corners(t);
            let area = (b - a).cross(c - a);
            triangle.iter().for_each(|v| normals[*v as usize] += area);
        }
        let count = self.rim.len();
        let at = |k: usize| self.mesh.positions[self.rim[k % count] as usize];
        let frame = |k: usize| {
            let along = (at(k + 1) - at(k + count - 1)).normalize_or(DVec3::X);
            let normal = normals[self.rim[k] as usize];
            let normal = (normal - along * normal.dot(along)).normalize_or(self.normal);
            RimFrame {
                place: at(k),
                along,
                out: along.cross(normal),
                normal,
            }
        };
        (0..count).map(frame).collect()
    }

    /// Moves the rim by these vectors, m, and adds triangles between its old and its new position.
    pub(super) fn grow(&mut self, advances: &[DVec3], length: f64) {
        let count = self.rim.len();
        let old = std::mem::take(&mut self.rim);
        let place = |sheet: &Sheet, v: u32| sheet.mesh.positions[v as usize];
        let moves = |k: usize| advances[k % count].length() > 0.05 * length;
        let targets: Vec<DVec3> = (0..count)
            .map(|k| {
                let at = place(self, old[k]);
                if moves(k) { at + advances[k] } else { at }
            })
            .collect();
        // New vertex for each old one. If an edge would be short or turn back, its second end becomes its
        // first.
        let mut new: Vec<u32> = Vec::with_capacity(count);
        for k in 0..count {
            let joins = k > 0 && k + 1 < count && moves(k) && moves(k - 1) && {
                let edge = targets[k] - place(self, new[k - 1]);
                let before = (place(self, old[k]) - place(self, old[k - 1])).normalize_or_zero();
                edge.length() < MERGE_BELOW * length
                    || edge.dot(before) < MIN_TURN_COSINE * edge.length()
            };
            new.push(if joins {
                new[k - 1]
            } else if moves(k) {
                self.mesh.positions.push(targets[k]);
                self.mesh.positions.len() as u32 - 1
            } else {
                old[k]
            });
        }
        for k in 0..count {
            let next = (k + 1) % count;
            let ([a, b], [c, d]) = ([old[k], old[next]], [new[k], new[next]]);
            self.rim.push(c);
            let gap = place(self, c).distance(place(self, d));
            if (c, d) != (a, b) && gap > SPLIT_ABOVE * length {
                self.mesh
                    .positions
                    .push((place(self, c) + place(self, d)) / 2.0);
                let middle = self.mesh.positions.len() as u32 - 1;
                self.rim.push(middle);
                self.add([a, middle, b]);
                self.add([a, c, middle]);
                self.add([b, middle, d]);
            } else if place(self, a).distance(place(self, d))
                < place(self, b).distance(place(self, c))
            {
                self.add([a, d, b]);
                self.add([a, c, d]);
            } else {
                self.add([a, c, b]);
                self.add([b, c, d]);
            }
        }
        self.rim.dedup();
    }

    fn add(&mut self, [a, b, c]: [u32; 3]) {
        if a != b && b != c && c != a {
            self.mesh.triangles.push([a, b, c]);
        }
    }

    /// Moves all vertices by this vector, m.
    pub(super) fn shift(&mut self, way: DVec3) {
        self.mesh.positions.iter_mut().for_each(|p| *p += way);
    }

    /// Moves each vertex by up to `most`, m, in pseudorandom directions that depend only on `attempt`.
    pub(super) fn jitter(&mut self, most: f64, attempt: u32) {
        for (k, p) in (0_u32..).zip(&mut self.mesh.positions) {
            let phase = f64::from(k) + 0.618 * f64::from(attempt);
            let way = DVec3::new(
                (12.9898 * phase).sin(),
                (78.233 * phase + 1.0).sin(),
                (37.719 * phase + 2.0).sin(),
            );
            *p += way * most;
        }
    }

    /// Neighbours of each vertex, in ascending order.
    pub(super) fn neighbours(&self) -> Vec<Vec<u32>> {
        let mut all = vec![BTreeSet::new(); self.mesh.positions.len()];
        for &[a, b, c] in &self.mesh.triangles {
            for (u, v) in [(a, b), (b, c), (c, a)] {
                all[u as usize].insert(v);
                all[v as usize].insert(u);
            }
        }
        all.into_iter().map(|n| n.into_iter().collect()).collect()
    }
}
