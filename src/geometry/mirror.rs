//! Images of points behind the skin of a mesh: Voronoi cells of points and images together have faces on the skin.
//!
//! An image lies behind the plane of the nearest triangle. [`Mirror::settle`] moves it so that the cells hold as much as the mesh does: the plane of a
//! face stands out of a round body by as much in its middle as it cuts off at its rim.

use glam::DVec3;

use super::bvh::Bvh;
use super::convex::Face;
use super::inside::Crossings;
use super::mesh::TriMesh;
use super::nearest::nearest_on_triangle;
use super::section::Section;
use crate::parallel::prelude::*;

/// Cosine of the angle beyond which two triangles near a point are two sides of it: edges sharper than that stay sharp.
const OTHER_SIDE: f64 = 0.8;
/// Part of its depth that a plane keeps above a point at least.
const LEAST: f64 = 0.2;

/// A closed mesh that mirrors points.
pub struct Mirror<'a> {
    mesh: &'a TriMesh,
    bvh: Bvh,
    inside: Crossings<'a>,
}

/// A point behind the skin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Image {
    /// Number of the point that it is the image of.
    pub of: u32,
    /// Unit normal of the plane between both, outwards.
    pub normal: DVec3,
    /// Distance of the point from the plane, m.
    pub depth: f64,
}

impl Image {
    /// Where it lies.
    pub fn at(&self, points: &[DVec3]) -> DVec3 {
        points[self.of as usize] + self.normal * (2.0 * self.depth)
    }
}

impl<'a> Mirror<'a> {
    /// Of a closed mesh with outward normals.
    pub fn new(mesh: &'a TriMesh) -> Self {
        Mirror {
            mesh,
            bvh: Bvh::new(mesh),
            inside: Crossings::new(mesh),
        }
    }

    /// Corners of the box about the mesh.
    pub fn bounds(&self) -> (DVec3, DVec3) {
        self.mesh.bounds().unwrap_or_default()
    }

    /// Whether a point is inside.
    pub fn contains(&self, point: DVec3) -> bool {
        self.inside.contains(point)
    }

    /// Images of points inside that are nearer to the skin than their `reach` (m), in their order: of each one behind the nearest triangle, and one
    /// behind the nearest triangle of every other side. Where all of those lie inside, at an edge that turns inwards, one behind the edge.
    pub fn images(&self, points: &[DVec3], reach: &[f64]) -> Vec<Image> {
        let of_point = |(of, near): (usize, &mut Vec<_>)| {
            let (point, reach) = (points[of], reach[of]);
            self.images_of(of as u32, point, reach, near)
        };
        let all: Vec<Vec<Image>> = (0..points.len())
            .into_par_iter()
            .map_init(Vec::new, |near, of| of_point((of, near)))
            .collect();
        all.concat()
    }

    fn images_of(
        &self,
        of: u32,
        point: DVec3,
        reach: f64,
        near: &mut Vec<(f64, u32)>,
    ) -> Vec<Image> {
        near.clear();
        self.bvh.each_within(self.mesh, point, reach, |t| {
            let nearest = nearest_on_triangle(point, self.mesh.corners(t as usize));
            near.push((nearest.distance_squared(point), t));
        });
        near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut normals: Vec<DVec3> = Vec::new();
        let mut images = Vec::new();
        for &(_, t) in near.iter() {
            let [a, b, c] = self.mesh.corners(t as usize);
            let Some(normal) = (b - a).cross(c - a).try_normalize() else {
                continue;
            };
            let depth = normal.dot(a - point);
            if depth <= 0.0 || normals.iter().any(|other| other.dot(normal) > OTHER_SIDE) {
                continue;
            }
            normals.push(normal);
            if !self.inside.contains(point + normal * (2.0 * depth)) {
                images.push(Image { of, normal, depth });
            }
        }
        if images.is_empty()
            && let Some(&(_, t)) = near.first()
        {
            let edge = nearest_on_triangle(point, self.mesh.corners(t as usize));
            let normal = (edge - point).normalize_or_zero();
            let depth = normal.dot(edge - point);
            if depth > 0.0 && !self.inside.contains(edge + normal * depth) {
                images.push(Image { of, normal, depth });
            }
        }
        images
    }

    /// Volume between a face of a cell and the skin, m³, above 0 where the skin lies beyond the face; and the face's area.
    pub fn beyond(&self, face: &Face) -> [f64; 2] {
        let Some(section) = Section::of(&face.corners) else {
            return [0.0; 2];
        };
        let centre = section.centre;
        let depth = |p: DVec3| {
            let depth = self.bvh.nearest(self.mesh, p).0.sqrt();
            if self.inside.contains(p) {
                depth
            } else {
                -depth
            }
        };
        // Middles of the sides of the triangles about the centre: exact for what is quadratic.
        let corners = face.corners.iter();
        let spokes: Vec<f64> = corners.map(|c| depth(0.5 * (*c + centre))).collect();
        let mut volume = 0.0;
        for (k, &corner) in face.corners.iter().enumerate() {
            let after = (k + 1) % face.corners.len();
            let next = face.corners[after];
            let area = 0.5 * (corner - centre).cross(next - centre).dot(section.normal);
            volume += area / 3.0 * (spokes[k] + spokes[after] + depth(0.5 * (corner + next)));
        }
        [volume, section.area]
    }

    /// Moves images so that the faces towards them, `[image, volume beyond, area]`, hold as much as the skin does.
    pub fn settle(images: &mut [Image], faces: &[(u32, [f64; 2])]) {
        let mut sums = vec![[0.0; 2]; images.len()];
        for (image, [volume, area]) in faces {
            let [volumes, areas] = &mut sums[*image as usize];
            *volumes += volume;
            *areas += area;
        }
        for (image, [volume, area]) in images.iter_mut().zip(sums) {
            if area > 0.0 {
                let limit = (1.0 - LEAST) * image.depth.max(area.sqrt() / 2.0);
                let moved = image.depth + (volume / area).clamp(-limit, limit);
                image.depth = moved.max(LEAST * image.depth);
            }
        }
    }
}
