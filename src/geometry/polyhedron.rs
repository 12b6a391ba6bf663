//! Convex polyhedra about their own origin, and how two of them overlap.

mod clip;

use glam::{DMat3, DVec3};

pub use self::clip::{Overlap, Scratch};

use self::clip::Sums;
use super::convex::Convex;
use super::dual::{Cut, DualCell};
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
    /// Numbers of the corners of all faces, those of each counterclockwise from outside.
    rims: Vec<u16>,
    /// Where the corners of each face begin in `rims`; one more than there are faces.
    starts: Vec<u32>,
    reach: f64,
}

/// Where one polyhedron is, seen from another.
#[derive(Clone, Copy, Debug)]
pub struct RelativePose {
    /// From the axes of the one that is seen to those of the other.
    pub rotation: DMat3,
    /// Its origin in the axes of the other, m.
    pub shift: DVec3,
}

/// Corners nearer than this part of the size are one.
const SAME: f64 = 1e-9;
/// A surface that lies on the other's within this part of the size counts as the first's alone.
const ON: f64 = 1e-12;
/// An overlap that is shallower than this part of the size counts as none.
const SHALLOW: f64 = 4.0 * ON;
/// A shared volume below this part of the cube of the size counts as none: more than what a shallow overlap has.
const NOTHING: f64 = 1e-10;
/// Directions that are tried to tell two polyhedra apart.
const ROUNDS: usize = 8;

impl Polyhedron {
    /// What lies behind all planes (outward unit normal, distance from the origin), and within `bound` of the
    /// origin along each axis.
    ///
    /// Nothing where the planes leave nothing.
    pub fn behind(planes: &[(DVec3, f64)], bound: f64) -> Option<Self> {
        let corner = DVec3::splat(bound);
        let tags = [u32::MAX; 6];
        let mut dual = DualCell::default();
        dual.begin(-corner, corner, tags);
        let cuts = |(normal, offset): &(DVec3, f64)| dual.cut(*normal, *offset, 0) != Cut::Broken;
        let solid = if planes.iter().all(cuts) {
            dual.convex(DVec3::ZERO)
        } else {
            // Slower, and it has no ring of corners that rounding could break.
            let mut solid = Convex::cuboid(-corner, corner, tags);
            for (normal, offset) in planes {
                solid.cut(*normal, *offset, 0);
            }
            solid
        };
        Self::of(&solid)
    }

    /// Of a convex solid; nothing where it is empty or flat.
    pub fn of(solid: &Convex) -> Option<Self> {
        let mut made = Polyhedron::default();
        made.starts.push(0);
        let reach = solid.reach_squared(DVec3::ZERO).sqrt();
        for face in &solid.faces {
            let first = made.rims.len();
            for &corner in &face.corners {
                let number = made.number(corner, SAME * reach);
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

    /// The number of a corner, a new one if none is there.
    fn number(&mut self, corner: DVec3, same: f64) -> u16 {
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

    /// Faces.
    pub fn faces(&self) -> usize {
        self.normals.len()
    }

    /// Largest area of its projection along the normal of a face, m².
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

    /// Corners of a face.
    fn rim(&self, face: usize) -> &[u16] {
        &self.rims[self.starts[face] as usize..self.starts[face + 1] as usize]
    }

    /// A direction along which all of another polyhedron lies beyond all of this one, looked for from another
    /// direction on: each time both reach past each other it is mirrored by how they do (Chung and Wang,
    /// *Quick collision detection of polytopes in virtual environments*, 1996). It may miss one.
    pub fn is_apart(&self, other: &Self, at: &RelativePose, from: DVec3) -> Option<DVec3> {
        let shallow = SHALLOW * (self.reach + other.reach);
        let back = at.rotation.transpose();
        let mut axis = from;
        for _ in 0..ROUNDS {
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

    /// What it shares with another polyhedron, or a direction along which the other lies beyond this one.
    pub fn overlap(
        &self,
        other: &Self,
        at: &RelativePose,
        scratch: &mut Scratch,
    ) -> Result<Overlap, DVec3> {
        let Scratch {
            corners,
            planes,
            polygons,
        } = scratch;
        corners.clear();
        corners.extend(other.corners.iter().map(|c| at.rotation * *c + at.shift));
        let size = self.reach + other.reach;
        let (on, shallow) = (ON * size, SHALLOW * size);
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
        let mut sums = Sums::default();
        for face in 0..self.faces() {
            if let Some(patch) = polygons.clip(self.rim(face), &self.corners, other_planes) {
                sums.add(&patch, self.normals[face]);
                sums.overlap.area += patch.area * self.normals[face];
                sums.overlap.moment += patch.area * patch.centre.cross(self.normals[face]);
            }
        }
        for face in 0..other.faces() {
            if let Some(patch) = polygons.clip(other.rim(face), corners, own_planes) {
                sums.add(&patch, at.rotation * other.normals[face]);
            }
        }
        let least = self.reach.min(other.reach);
        Ok(sums.end(NOTHING * size * least * least))
    }

    /// What it shares with everything behind a plane (outward unit normal, distance from the origin).
    pub fn behind_plane(&self, normal: DVec3, offset: f64, scratch: &mut Scratch) -> Overlap {
        let mut sums = Sums::default();
        let Scratch {
            planes: [cutting, _],
            polygons,
            ..
        } = scratch;
        cutting.clear();
        if cutting.add(&self.corners, normal, offset) >= -SHALLOW * self.reach {
            return sums.overlap;
        }
        // Seen from a point of the plane, the part of the plane itself bounds no volume.
        let from = normal * offset;
        for face in 0..self.faces() {
            if let Some(patch) = polygons.clip(self.rim(face), &self.corners, cutting) {
                let own = self.normals[face];
                sums.overlap.volume += patch.area * (patch.centre - from).dot(own) / 3.0;
                sums.overlap.area += patch.area * own;
                sums.overlap.moment += patch.area * patch.centre.cross(own);
                sums.overlap.centre += patch.area * patch.centre;
                sums.all += patch.area;
            }
        }
        let overlap = sums.end(NOTHING * self.reach * self.reach * self.reach);
        // The centre, too, takes in the part of the plane.
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
        // So near the surface that the way to it has no direction.
        if distance <= ON * self.reach {
            return (distance, self.normals[highest.1]);
        }
        (distance, away / distance)
    }

    /// The point of a face nearest to a point above it.
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

/// The point farthest along a direction.
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
