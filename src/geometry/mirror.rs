//! Images of points behind the skin of a mesh: Voronoi cells of points and images together have faces on the skin.
//!
//! An image lies behind the plane of the nearest triangle. [`Mirror::settle`] moves it so that the cells hold
//! as much as the mesh does: the plane of a face stands out of a round body by as much in its middle as it
//! cuts off at its rim.

use std::ops::ControlFlow;

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
/// Cosine of the angle between the normals of two walls that face each other, at most.
const FACING: f64 = -0.5;

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

    /// Images of points inside that are nearer to the skin than their `reach` (m), in their order: of each
    /// one behind the nearest triangle, and one behind the nearest triangle of every other side. Where all of
    /// those lie inside, at an edge that turns inwards, one behind the edge.
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

    /// Whether the way between two points leaves the mesh by one wall and comes back by one that faces it:
    /// there is a gap between them. The way about an edge that turns inwards leaves by a wall and comes back
    /// by one beside it.
    pub fn parts(&self, from: DVec3, to: DVec3) -> bool {
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
            out.dot(to - from) > 0.0 && out.dot(back) < FACING
        })
    }

    /// Volume between a face of a cell and the skin, m³, above 0 where the skin lies beyond the face; and the
    /// face's area.
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

/// Where the way from a point along a vector crosses a triangle, as part of the vector, and the triangle's normal.
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

    /// Two cubes of edge 1 side by side along x, this far apart.
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
        assert!(mirror.parts(left, right) && mirror.parts(right, left));
        assert!(!mirror.parts(left, DVec3::new(-0.4, 0.3, 0.1)));
        // Out of the top is out, not across a gap.
        assert!(!mirror.parts(left, DVec3::new(0.4, 0.7, 0.2)));
    }

    #[test]
    fn a_plane_settles_where_the_skin_is_on_average() {
        let mesh = shapes::cuboid(DVec3::ONE);
        let mirror = Mirror::new(&mesh);
        // A square under the top, half as deep at one side as at the other.
        let corners = [(-0.1, -0.1), (-0.1, 0.1), (0.1, 0.1), (0.1, -0.1)];
        let face = Face {
            tag: 0,
            corners: corners
                .map(|(x, z)| DVec3::new(x, 0.47 + 0.1 * x, z))
                .to_vec(),
        };
        let [volume, area] = mirror.beyond(&face);
        assert!((volume / area - 0.03).abs() < 1e-12, "{volume} {area}");
        let mut images = [Image {
            of: 0,
            normal: DVec3::Y,
            depth: 0.1,
        }];
        Mirror::settle(&mut images, &[(0, [volume, area])]);
        assert!((images[0].depth - 0.13).abs() < 1e-12);
    }
}
