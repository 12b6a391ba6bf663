//! Generalised winding number: how often a surface, even an open or self-intersecting one, winds around a
//! point.
//!
//! It is the sum of the triangles' solid angles over 4π; distant groups of triangles are approximated by one
//! dipole (Barill et al. 2018, first order).

use std::f64::consts::PI;

use glam::DVec3;

use super::bvh::Bvh;
use super::mesh::TriMesh;

/// A group is distant if its centre is at least this many of its radii away; the error of w stays below 0.03.
const FAR: f64 = 2.5;

/// A mesh prepared for winding numbers.
pub struct Winding<'a> {
    mesh: &'a TriMesh,
    bvh: Bvh,
    dipoles: Vec<Dipole>,
}

/// Area vector (m²) of a group of triangles, placed at its centre.
#[derive(Clone, Copy)]
struct Dipole {
    area: DVec3,
    centre: DVec3,
    far_squared: f64,
}

impl<'a> Winding<'a> {
    /// Builds the tree and the dipoles of its nodes.
    pub fn new(mesh: &'a TriMesh) -> Self {
        let bvh = Bvh::new(mesh);
        let dipoles = bvh
            .nodes
            .iter()
            .map(|node| {
                let (mut area, mut centre, mut total) = (DVec3::ZERO, DVec3::ZERO, 0.0);
                for &t in &bvh.order[node.start as usize..node.end as usize] {
                    let [a, b, c] = mesh.corners(t as usize);
                    let vector = (b - a).cross(c - a) / 2.0;
                    area += vector;
                    total += vector.length();
                    centre += (a + b + c) / 3.0 * vector.length();
                }
                let centre = if total > 0.0 {
                    centre / total
                } else {
                    (node.low + node.high) / 2.0
                };
                let reach = (node.high - centre).abs().max((centre - node.low).abs());
                Dipole {
                    area,
                    centre,
                    far_squared: FAR * FAR * reach.length_squared(),
                }
            })
            .collect();
        Winding { mesh, bvh, dipoles }
    }

    /// Winding number at `p`: 1 inside a surface wound outward, 0 outside, in between near openings.
    pub fn number(&self, p: DVec3) -> f64 {
        let mut sum = 0.0;
        let mut stack = [0_u32; 64];
        let mut depth = 1;
        while depth > 0 {
            depth -= 1;
            let at = stack[depth];
            let dipole = &self.dipoles[at as usize];
            let to = dipole.centre - p;
            let squared = to.length_squared();
            let node = &self.bvh.nodes[at as usize];
            if squared > dipole.far_squared {
                sum += dipole.area.dot(to) / (squared * squared.sqrt());
            } else if node.second == 0 {
                for &t in &self.bvh.order[node.start as usize..node.end as usize] {
                    sum += solid_angle(self.mesh.corners(t as usize).map(|c| c - p));
                }
            } else {
                stack[depth] = node.second;
                stack[depth + 1] = at + 1;
                depth += 2;
            }
        }
        sum / (4.0 * PI)
    }

    /// Whether the winding number w at `p` has |w| > ½.
    pub fn contains(&self, p: DVec3) -> bool {
        self.number(p).abs() > 0.5
    }

    /// The tree of boxes over the mesh.
    pub fn bvh(&self) -> &Bvh {
        &self.bvh
    }
}

/// Solid angle of a triangle seen from the origin, positive from inside (van Oosterom and Strackee 1983).
fn solid_angle([a, b, c]: [DVec3; 3]) -> f64 {
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let denominator = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    2.0 * a.dot(b.cross(c)).atan2(denominator)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{inside::InsideTest, read};
    use std::path::Path;

    #[test]
    fn winding_of_a_closed_mesh_is_one_inside_and_of_an_open_one_nearly() {
        let bunny = read::read(Path::new("pipelines/meshes/bunny.obj")).unwrap();
        let mut open = bunny.clone();
        open.triangles.swap_remove(1000);
        let (low, high) = bunny.bounds().unwrap();
        let crossings = InsideTest::new(&bunny);
        let closed = Winding::new(&bunny);
        let holed = Winding::new(&open);
        for k in 0..4000 {
            let f = DVec3::new(
                f64::from(k % 17) / 16.0,
                f64::from(k % 19) / 18.0,
                f64::from(k % 23) / 22.0,
            );
            let p = low + f * (high - low);
            let inside = crossings.contains(p);
            let exact = if inside { 1.0 } else { 0.0 };
            let error = (closed.number(p) - exact).abs();
            assert!(error < 0.03, "{error} at {p}");
            assert_eq!(closed.contains(p), inside);
            if !closed.bvh().any_within(&bunny, p, 0.2) {
                assert_eq!(holed.contains(p), inside);
            }
        }
    }
}
