//! Images of points behind the skin of a mesh: Voronoi cells of points and images together have faces on the skin.

use glam::DVec3;

use super::bvh::Bvh;
use super::inside::Crossings;
use super::mesh::TriMesh;
use super::nearest::nearest_on_triangle;
use crate::parallel::prelude::*;

/// Cosine of the angle beyond which two triangles near a point are two sides of it: edges sharper than that stay sharp.
const OTHER_SIDE: f64 = 0.8;

/// A closed mesh that mirrors points.
pub struct Mirror<'a> {
    mesh: &'a TriMesh,
    bvh: Bvh,
    inside: Crossings<'a>,
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

    /// Whether a point is inside.
    pub fn contains(&self, point: DVec3) -> bool {
        self.inside.contains(point)
    }

    /// Images of points inside that are nearer to the skin than `reach` (m), in their order: of each one behind the nearest triangle, and one behind the
    /// nearest triangle of every other side. Images that lie inside, behind edges that turn inwards, are left out.
    pub fn images(&self, points: &[DVec3], reach: f64) -> Vec<DVec3> {
        let of_point = |point: &DVec3| self.images_of(*point, reach);
        let all: Vec<Vec<DVec3>> = points.par_iter().map(of_point).collect();
        all.concat()
    }

    fn images_of(&self, point: DVec3, reach: f64) -> Vec<DVec3> {
        let mut near: Vec<(f64, u32)> = Vec::new();
        self.bvh.each_within(self.mesh, point, reach, |t| {
            let nearest = nearest_on_triangle(point, self.mesh.corners(t as usize));
            near.push((nearest.distance_squared(point), t));
        });
        near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut normals: Vec<DVec3> = Vec::new();
        let mut images = Vec::new();
        for (_, t) in near {
            let [a, b, c] = self.mesh.corners(t as usize);
            let Some(normal) = (b - a).cross(c - a).try_normalize() else {
                continue;
            };
            let depth = normal.dot(a - point);
            if depth <= 0.0 || normals.iter().any(|other| other.dot(normal) > OTHER_SIDE) {
                continue;
            }
            normals.push(normal);
            let image = point + normal * (2.0 * depth);
            if !self.inside.contains(image) {
                images.push(image);
            }
        }
        images
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::cells::Cells;
    use crate::geometry::{shapes, voronoi};

    fn points(count: usize, mirror: &Mirror, [low, high]: [DVec3; 2]) -> Vec<DVec3> {
        let mut state = 11u64;
        let mut number = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as f64 / f64::from(1u32 << 31)
        };
        let mut found = Vec::new();
        while found.len() < count {
            let point = low + (high - low) * DVec3::new(number(), number(), number());
            if mirror.contains(point) {
                found.push(point);
            }
        }
        found
    }

    /// Cells of random points in a mesh, moved to their cells' centres some times.
    fn volume(mesh: &TriMesh, count: usize, relax: usize) -> (f64, Cells) {
        let mirror = Mirror::new(mesh);
        let (low, high) = mesh.bounds().expect("points");
        let mut generators = points(count, &mirror, [low, high]);
        let spacing = (mesh.volume() / count as f64).cbrt();
        let bounds = [low - 5.0 * spacing, high + 5.0 * spacing];
        for round in 0.. {
            let mut all = generators.clone();
            all.extend(mirror.images(&generators, 2.5 * spacing));
            let solids = voronoi::cells(&all, count, bounds, [u32::MAX; 6]).expect("cells");
            let cells = Cells::of(&solids).expect("solid");
            let total = cells.masses.iter().map(|mass| mass.volume).sum();
            if round == relax {
                return (total, cells);
            }
            generators = cells.masses.iter().map(|mass| mass.centre).collect();
        }
        unreachable!("it returns after some rounds")
    }

    #[test]
    fn cells_fill_a_box_exactly() {
        for (count, relax) in [(200, 0), (200, 5)] {
            let (total, _) = volume(&shapes::cuboid(DVec3::new(1.0, 2.0, 0.5)), count, relax);
            assert!((total - 1.0).abs() < 1e-9, "{count} {relax}: {total}");
        }
    }

    #[test]
    fn cells_fill_what_is_round() {
        let ball = shapes::sphere(1.0);
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/pipelines/meshes/bunny.obj");
        let bunny = crate::geometry::read::read(std::path::Path::new(path)).expect("a mesh");
        // What is off shrinks with the cells: planes stand out from a ball, and cells are convex where a bunny is not.
        for (mesh, count, most) in [
            (&ball, 3000, 0.005),
            (&bunny, 5000, 0.016),
            (&bunny, 20000, 0.006),
        ] {
            let (total, _) = volume(mesh, count, 3);
            let off = total / mesh.volume() - 1.0;
            println!("{count} cells: volume off by {off:.4}");
            assert!(off.abs() < most, "{count}: {off}");
        }
    }
}
