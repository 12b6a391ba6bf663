//! Mirror images of points behind the skin of a mesh: Voronoi cells of points and images together have faces
//! on the skin.
//!
//! An image is the point mirrored at the plane of the nearest triangle. [`Mirror::balance_volumes`] moves it so that
//! the cells have the same volume as the mesh: on a round body the plane of a face then protrudes at its
//! centre by as much as it cuts off at its rim.

use std::ops::ControlFlow;

use glam::DVec3;

use super::bvh::Bvh;
use super::convex::Face;
use super::inside::InsideTest;
use super::mesh::TriMesh;
use super::nearest::nearest_on_triangle;
use super::section::Section;
use crate::parallel::prelude::*;

/// Two triangles near a point belong to different sides if the cosine between their normals is below this;
/// edges sharper than that stay sharp.
const SAME_SIDE_COSINE: f64 = 0.8;
/// Minimum distance of a plane from its point, as a fraction of the former distance.
const MIN_DEPTH_RATIO: f64 = 0.2;
/// Two walls face each other if the cosine between their normals is below this.
const FACING_COSINE: f64 = -0.5;

/// A closed mesh that mirrors points.
pub struct Mirror<'a> {
    mesh: &'a TriMesh,
    bvh: Bvh,
    inside: InsideTest<'a>,
}

/// Mirror image of a point behind the skin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MirrorImage {
    /// Index of the point.
    pub of: u32,
    /// Outward unit normal of the plane halfway between point and image.
    pub normal: DVec3,
    /// Distance of the point from the plane, m.
    pub depth: f64,
}

impl MirrorImage {
    /// Position of the image, m.
    pub fn at(&self, points: &[DVec3]) -> DVec3 {
        points[self.of as usize] + self.normal * (2.0 * self.depth)
    }
}

impl<'a> Mirror<'a> {
    /// Prepares a closed mesh with outward normals.
    pub fn new(mesh: &'a TriMesh) -> Self {
        Mirror {
            mesh,
            bvh: Bvh::new(mesh),
            inside: InsideTest::new(mesh),
        }
    }

    /// Corners of the bounding box of the mesh, m.
    pub fn bounds(&self) -> (DVec3, DVec3) {
        self.mesh.bounds().unwrap_or_default()
    }

    /// Whether a point is inside the mesh.
    pub fn contains(&self, point: DVec3) -> bool {
        self.inside.contains(point)
    }

    /// Images of inner points closer to the skin than their `reach` (m), in order of the points. Each point
    /// has an image behind the nearest triangle, and one behind the nearest triangle of every other side. If
    /// all of those lie inside, as at a concave edge, it has one image behind the edge.
    pub fn images(&self, points: &[DVec3], reach: &[f64]) -> Vec<MirrorImage> {
        let of_point = |(of, near): (usize, &mut Vec<_>)| {
            let (point, reach) = (points[of], reach[of]);
            self.images_of(of as u32, point, reach, near)
        };
        let all: Vec<Vec<MirrorImage>> = (0..points.len())
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
    ) -> Vec<MirrorImage> {
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
            if depth <= 0.0
                || normals
                    .iter()
                    .any(|other| other.dot(normal) > SAME_SIDE_COSINE)
            {
                continue;
            }
            normals.push(normal);
            if !self.inside.contains(point + normal * (2.0 * depth)) {
                images.push(MirrorImage { of, normal, depth });
            }
        }
        if images.is_empty()
            && let Some(&(_, t)) = near.first()
        {
            let edge = nearest_on_triangle(point, self.mesh.corners(t as usize));
            let normal = (edge - point).normalize_or_zero();
            let depth = normal.dot(edge - point);
            if depth > 0.0 && !self.inside.contains(edge + normal * depth) {
                images.push(MirrorImage { of, normal, depth });
            }
        }
        images
    }

    /// Whether there is a gap between two points: the segment between them leaves the mesh through one wall
    /// and re-enters through a wall that faces it. About a concave edge it re-enters through an adjacent wall
    /// instead.
    pub fn has_gap_between(&self, from: DVec3, to: DVec3) -> bool {
        let (low, high) = (from.min(to), from.max(to));
        let mut crossed: Vec<(f64, DVec3)> = Vec::new();
        let _ = self.bvh.visit(
            |node| (node.low.cmple(high) & node.high.cmpge(low)).all(),
            |t| {
                let corners = self.mesh.corners(t as usize);
                crossed.extend(crossing(from, to - from, corners));
                ControlFlow::Continue(())
            },
        );
        crossed.sort_by(|a, b| a.0.total_cmp(&b.0));
        crossed.windows(2).any(|pair| {
            let [out, back] = [pair[0].1, pair[1].1];
            out.dot(to - from) > 0.0 && out.dot(back) < FACING_COSINE
        })
    }

    /// Volume between a face of a cell and the skin (m³, positive if the skin lies beyond the face), and the
    /// area of the face (m²).
    pub fn volume_to_skin(&self, face: &Face) -> [f64; 2] {
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
        // Quadrature at the edge midpoints of the triangles about the centre: exact for quadratic functions.
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

    /// Moves images so that the faces towards them enclose as much volume as the skin does. `faces` holds
    /// (image index, [volume beyond, area]).
    pub fn balance_volumes(images: &mut [MirrorImage], faces: &[(u32, [f64; 2])]) {
        let mut sums = vec![[0.0; 2]; images.len()];
        for (image, [volume, area]) in faces {
            let [volumes, areas] = &mut sums[*image as usize];
            *volumes += volume;
            *areas += area;
        }
        for (image, [volume, area]) in images.iter_mut().zip(sums) {
            if area > 0.0 {
                let limit = (1.0 - MIN_DEPTH_RATIO) * image.depth.max(area.sqrt() / 2.0);
                let moved = image.depth + (volume / area).clamp(-limit, limit);
                image.depth = moved.max(MIN_DEPTH_RATIO * image.depth);
            }
        }
    }
}

/// Point where the segment from a point along a vector crosses a triangle, as a fraction of the vector, and
/// the triangle's normal.
fn crossing(from: DVec3, way: DVec3, [a, b, c]: [DVec3; 3]) -> Option<(f64, DVec3)> {
    let normal = (b - a).cross(c - a).try_normalize()?;
    let along = normal.dot(a - from) / normal.dot(way);
    let at = from + way * along;
    let left = |p: DVec3, q: DVec3| (q - p).cross(at - p).dot(normal) >= 0.0;
    let within = (0.0..=1.0).contains(&along) && left(a, b) && left(b, c) && left(c, a);
    within.then_some((along, normal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::shapes;

    /// Two cubes of edge 1 side by side along x, `gap` apart.
    fn cubes(gap: f64) -> TriMesh {
        let (mut mesh, mut other) = (shapes::cuboid(DVec3::ONE), shapes::cuboid(DVec3::ONE));
        for p in &mut other.positions {
            p.x += 1.0 + gap;
        }
        mesh.append(other);
        mesh
    }

    #[test]
    fn points_have_images_behind_each_side() {
        let mesh = shapes::cuboid(DVec3::ONE);
        let mirror = Mirror::new(&mesh);
        let points = [DVec3::ZERO, DVec3::new(0.4, 0.0, 0.45)];
        let images = mirror.images(&points, &[0.2, 0.2]);
        let found: Vec<DVec3> = images.iter().map(|image| image.at(&points)).collect();
        assert_eq!(found.len(), 2);
        assert!(found[0].distance(DVec3::new(0.4, 0.0, 0.55)) < 1e-12);
        assert!(found[1].distance(DVec3::new(0.6, 0.0, 0.45)) < 1e-12);
        assert!(images.iter().all(|image| image.of == 1));
    }

    #[test]
    fn a_gap_parts_points_on_both_sides_of_it() {
        let mesh = cubes(0.01);
        let mirror = Mirror::new(&mesh);
        let [left, right] = [DVec3::new(0.4, 0.1, 0.2), DVec3::new(0.6, 0.05, 0.21)];
        assert!(mirror.has_gap_between(left, right) && mirror.has_gap_between(right, left));
        assert!(!mirror.has_gap_between(left, DVec3::new(-0.4, 0.3, 0.1)));
        // Leaving through the top does not cross a gap.
        assert!(!mirror.has_gap_between(left, DVec3::new(0.4, 0.7, 0.2)));
    }

    #[test]
    fn a_plane_settles_where_the_skin_is_on_average() {
        let mesh = shapes::cuboid(DVec3::ONE);
        let mirror = Mirror::new(&mesh);
        // A square below the top, half as deep at one side as at the other.
        let corners = [(-0.1, -0.1), (-0.1, 0.1), (0.1, 0.1), (0.1, -0.1)];
        let face = Face {
            tag: 0,
            corners: corners
                .map(|(x, z)| DVec3::new(x, 0.47 + 0.1 * x, z))
                .to_vec(),
        };
        let [volume, area] = mirror.volume_to_skin(&face);
        assert!((volume / area - 0.03).abs() < 1e-12, "{volume} {area}");
        let mut images = [MirrorImage {
            of: 0,
            normal: DVec3::Y,
            depth: 0.1,
        }];
        Mirror::balance_volumes(&mut images, &[(0, [volume, area])]);
        assert!((images[0].depth - 0.13).abs() < 1e-12);
    }
}
