//! Convex polyhedra, each in its own frame, and the overlap of two of them.

mod clip;

use glam::{DMat3, DVec3};

pub use self::clip::{Overlap, OverlapScratch};

use self::clip::OverlapSums;
use super::convex::Convex;
use super::dual::{CutResult, DualCell};
use super::mesh::TriMesh;
use super::section::Section;

/// A bounded convex polyhedron.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Polyhedron {
    /// Outward unit normal of each face.
    normals: Vec<DVec3>,
    /// Distance of each face's plane from the origin, m.
    offsets: Vec<f64>,
    /// Area of each face, m².
    areas: Vec<f64>,
    corners: Vec<DVec3>,
    /// Corner indices of all faces, one face after another, each counterclockwise seen from outside.
    rims: Vec<u16>,
    /// First entry of each face in `rims`; length is the number of faces plus one.
    starts: Vec<u32>,
    reach: f64,
}

/// Pose of one polyhedron in the frame of another.
#[derive(Clone, Copy, Debug)]
pub struct RelativePose {
    /// Rotation from the axes of the posed polyhedron to those of the other.
    pub rotation: DMat3,
    /// Origin of the posed polyhedron in the axes of the other, m.
    pub shift: DVec3,
}

/// Corners closer than this fraction of the size are merged.
const SAME_CORNER: f64 = 1e-9;
/// Two surfaces closer than this fraction of the size coincide; the surface then counts only for the first
/// polyhedron.
const COPLANAR: f64 = 1e-12;
/// Overlaps shallower than this fraction of the size are ignored.
const MIN_RELATIVE_DEPTH: f64 = 4.0 * COPLANAR;
/// Overlaps with a volume below this fraction of the cube of the polyhedra's size count as zero; very
/// shallow ones are among them.
const MIN_RELATIVE_VOLUME: f64 = 1e-10;
/// Maximum number of directions tried when looking for a separating axis.
const MAX_TRIAL_AXES: usize = 8;

impl Polyhedron {
    /// Intersection of the half-spaces behind all planes (outward unit normal, distance from the origin) and
    /// of the box that reaches to `bound` along each axis.
    ///
    /// `None` if that intersection is empty.
    pub fn behind(planes: &[(DVec3, f64)], bound: f64) -> Option<Self> {
        let corner = DVec3::splat(bound);
        let tags = [u32::MAX; 6];
        let mut dual = DualCell::default();
        dual.reset(-corner, corner, tags);
        let cuts =
            |(normal, offset): &(DVec3, f64)| dual.cut(*normal, *offset, 0) != CutResult::Invalid;
        let solid = if planes.iter().all(cuts) {
            dual.convex(DVec3::ZERO)
        } else {
            // Slower, but without the ring of corners that rounding can break.
            let mut solid = Convex::cuboid(-corner, corner, tags);
            for (normal, offset) in planes {
                solid.cut(*normal, *offset, 0);
            }
            solid
        };
        Self::of(&solid)
    }

    /// Converts a convex solid; `None` if it is empty or flat.
    pub fn of(solid: &Convex) -> Option<Self> {
        let mut made = Polyhedron::default();
        made.starts.push(0);
        let reach = solid.reach_squared(DVec3::ZERO).sqrt();
        for face in &solid.faces {
            let first = made.rims.len();
            for &corner in &face.corners {
                let number = made.corner_index(corner, SAME_CORNER * reach);
                if made.rims[first..].last() != Some(&number) {
                    made.rims.push(number);
                }
            }
            while made.rims.len() > first + 1 && made.rims[first] == made.rims[made.rims.len() - 1]
            {
                made.rims.pop();
            }
            let rim: Vec<DVec3> = made.rims[first..]
                .iter()
                .map(|&k| made.corners[usize::from(k)])
                .collect();
            let section = if rim.len() < 3 {
                None
            } else {
                Section::of(&rim)
            };
            let Some(section) = section else {
                made.rims.truncate(first);
                continue;
            };
            made.normals.push(section.normal);
            made.offsets.push(section.normal.dot(section.centre));
            made.areas.push(section.area);
            made.starts.push(made.rims.len() as u32);
        }
        made.reach = reach;
        (made.normals.len() >= 4).then_some(made)
    }

    /// Index of a corner; adds the corner if none lies within `same` (m) of it.
    fn corner_index(&mut self, corner: DVec3, same: f64) -> u16 {
        let is_there = |known: &DVec3| known.distance_squared(corner) <= same * same;
        let found = self.corners.iter().position(is_there);
        let number = found.unwrap_or_else(|| {
            self.corners.push(corner);
            self.corners.len() - 1
        });
        number as u16
    }

    /// Distance from the origin to the farthest corner, m.
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Number of faces.
    pub fn faces(&self) -> usize {
        self.normals.len()
    }

    /// Its surface, with a fan of triangles for each face.
    pub fn surface(&self) -> TriMesh {
        let mut mesh = TriMesh::default();
        let mut numbers = vec![u32::MAX; self.corners.len()];
        let mut vertex = |corner: u16| {
            let number = &mut numbers[usize::from(corner)];
            if *number == u32::MAX {
                *number = mesh.positions.len() as u32;
                mesh.positions.push(self.corners[usize::from(corner)]);
            }
            *number
        };
        for face in 0..self.faces() {
            let rim = self.rim(face);
            for pair in rim[1..].windows(2) {
                let corners = [rim[0], pair[0], pair[1]].map(&mut vertex);
                mesh.triangles.push(corners);
            }
        }
        mesh
    }

    /// Largest area of the projections along the face normals, m².
    pub fn largest_projection(&self) -> f64 {
        let along = |direction: DVec3| {
            let faces = self.normals.iter().zip(&self.areas);
            let sum: f64 = faces
                .map(|(normal, area)| area * normal.dot(direction).abs())
                .sum();
            0.5 * sum
        };
        self.normals.iter().map(|n| along(*n)).fold(0.0, f64::max)
    }

    /// Corner indices of a face.
    fn rim(&self, face: usize) -> &[u16] {
        &self.rims[self.starts[face] as usize..self.starts[face + 1] as usize]
    }

    /// Searches for a separating axis: a direction along which all of the other polyhedron lies beyond this
    /// one, starting from the direction `from`. As long as the two overlap along the direction, it is
    /// reflected at the vector between their supporting corners (Chung and Wang, *Quick collision detection
    /// of polytopes in virtual environments*, 1996). It may miss one.
    pub fn separating_axis(&self, other: &Self, at: &RelativePose, from: DVec3) -> Option<DVec3> {
        let shallow = MIN_RELATIVE_DEPTH * (self.reach + other.reach);
        let back = at.rotation.transpose();
        let mut axis = from;
        for _ in 0..MAX_TRIAL_AXES {
            let own = farthest(&self.corners, axis);
            let theirs = at.rotation * farthest(&other.corners, -(back * axis)) + at.shift;
            let line = theirs - own;
            let gap = line.dot(axis);
            if gap >= -shallow {
                return Some(axis);
            }
            axis -= line * (2.0 * gap / line.length_squared());
        }
        None
    }

    /// Overlap with another polyhedron, or a direction along which the other lies beyond this one.
    pub fn overlap(
        &self,
        other: &Self,
        at: &RelativePose,
        scratch: &mut OverlapScratch,
    ) -> Result<Overlap, DVec3> {
        let OverlapScratch {
            corners,
            planes,
            clipper,
        } = scratch;
        corners.clear();
        corners.extend(other.corners.iter().map(|c| at.rotation * *c + at.shift));
        let size = self.reach + other.reach;
        let (on, shallow) = (COPLANAR * size, MIN_RELATIVE_DEPTH * size);
        let [own_planes, other_planes] = planes;
        own_planes.clear();
        for (&normal, &offset) in self.normals.iter().zip(&self.offsets) {
            // The other's surface lies within this plane by `on` or is cut by it.
            if own_planes.add(corners, normal, offset - on) >= on - shallow {
                return Err(normal);
            }
        }
        other_planes.clear();
        for (normal, offset) in other.normals.iter().zip(&other.offsets) {
            let normal = at.rotation * *normal;
            let offset = offset + normal.dot(at.shift);
            if other_planes.add(&self.corners, normal, offset + on) >= -on - shallow {
                return Err(-normal);
            }
        }
        let mut sums = OverlapSums::default();
        for face in 0..self.faces() {
            if let Some(patch) = clipper.clip(self.rim(face), &self.corners, other_planes) {
                sums.add(&patch, self.normals[face]);
                sums.overlap.area += patch.area * self.normals[face];
                sums.overlap.moment += patch.area * patch.centre.cross(self.normals[face]);
            }
        }
        for face in 0..other.faces() {
            if let Some(patch) = clipper.clip(other.rim(face), corners, own_planes) {
                sums.add(&patch, at.rotation * other.normals[face]);
            }
        }
        let least = self.reach.min(other.reach);
        Ok(sums.finish(MIN_RELATIVE_VOLUME * size * least * least))
    }

    /// Overlap with the half-space behind a plane (outward unit normal, distance from the origin).
    pub fn behind_plane(
        &self,
        normal: DVec3,
        offset: f64,
        scratch: &mut OverlapScratch,
    ) -> Overlap {
        let mut sums = OverlapSums::default();
        let OverlapScratch {
            planes: [cutting, _],
            clipper,
            ..
        } = scratch;
        cutting.clear();
        if cutting.add(&self.corners, normal, offset) >= -MIN_RELATIVE_DEPTH * self.reach {
            return sums.overlap;
        }
        // With a point of the plane as the origin, the face in the plane contributes no volume.
        let from = normal * offset;
        for face in 0..self.faces() {
            if let Some(patch) = clipper.clip(self.rim(face), &self.corners, cutting) {
                let own = self.normals[face];
                sums.overlap.volume += patch.area * (patch.centre - from).dot(own) / 3.0;
                sums.overlap.area += patch.area * own;
                sums.overlap.moment += patch.area * patch.centre.cross(own);
                sums.overlap.centre += patch.area * patch.centre;
                sums.total_area += patch.area;
            }
        }
        let overlap = sums.finish(MIN_RELATIVE_VOLUME * self.reach * self.reach * self.reach);
        // The centre of area must include the face in the plane.
        let above = (overlap.centre - from).dot(normal);
        Overlap {
            centre: overlap.centre - normal * (0.5 * above),
            ..overlap
        }
    }

    /// Signed distance of a point from the surface (m, negative inside) and the outward unit normal at the
    /// nearest point.
    pub fn distance(&self, p: DVec3) -> (f64, DVec3) {
        let heights = || {
            self.normals
                .iter()
                .zip(&self.offsets)
                .map(|(n, o)| n.dot(p) - o)
        };
        let mut highest = (f64::NEG_INFINITY, 0);
        for (face, height) in heights().enumerate() {
            if height > highest.0 {
                highest = (height, face);
            }
        }
        if highest.0 <= 0.0 {
            return (highest.0, self.normals[highest.1]);
        }
        let mut nearest = (f64::INFINITY, p);
        for (face, _) in heights().enumerate().filter(|(_, height)| *height > 0.0) {
            let point = self.nearest_on(face, p);
            let square = point.distance_squared(p);
            if square < nearest.0 {
                nearest = (square, point);
            }
        }
        let (away, distance) = (p - nearest.1, nearest.0.sqrt());
        // Too close to the surface for a direction to it.
        if distance <= COPLANAR * self.reach {
            return (distance, self.normals[highest.1]);
        }
        (distance, away / distance)
    }

    /// Point of a face nearest to a point above the face.
    fn nearest_on(&self, face: usize, p: DVec3) -> DVec3 {
        let (normal, rim) = (self.normals[face], self.rim(face));
        let foot = p - normal * (normal.dot(p) - self.offsets[face]);
        let mut nearest = (f64::INFINITY, foot);
        let mut inside = true;
        for (at, &k) in rim.iter().enumerate() {
            let a = self.corners[usize::from(k)];
            let b = self.corners[usize::from(rim[(at + 1) % rim.len()])];
            let along = b - a;
            if normal.cross(along).dot(foot - a) >= 0.0 {
                continue;
            }
            inside = false;
            let part = ((foot - a).dot(along) / along.length_squared()).clamp(0.0, 1.0);
            let point = a + along * part;
            let square = point.distance_squared(foot);
            if square < nearest.0 {
                nearest = (square, point);
            }
        }
        if inside { foot } else { nearest.1 }
    }
}

/// Point that is farthest along a direction.
fn farthest(points: &[DVec3], direction: DVec3) -> DVec3 {
    let (mut most, mut found) = (f64::NEG_INFINITY, DVec3::ZERO);
    for point in points {
        let height = point.dot(direction);
        if height > most {
            (most, found) = (height, *point);
        }
    }
    found
}

#[cfg(test)]
mod tests;
