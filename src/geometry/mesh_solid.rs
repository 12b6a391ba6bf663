//! The inside of a closed mesh as a solid: exact signed distances, and what keeps asking for them cheap.
//!
//! A point lies outside where it is in front of the angle-weighted normal of the face, edge or corner nearest
//! to it (Bærentzen and Aanæs, Signed distance computation using the angle weighted pseudonormal, 2005). Away
//! from the surface the normal is the direction from the nearest point, which is smooth over faces and edges
//! alike however coarse the triangles.
//!
//! Finding the nearest triangle among all takes a microsecond or two. What touches moves little from step to
//! step, so it remembers the few triangles among which the nearest one stays until it has moved by some slack
//! ([`Near`]): of a point at distance d they are those within d + 2 slack. The distance is that of the whole
//! mesh to the bit either way.

use std::collections::HashMap;

use glam::DVec3;

use super::bvh::{Bvh, nearer};
use super::mesh::TriMesh;
use super::mesh::corner_angle;
use super::nearest::{Feature, nearest_feature};

/// Part of the extent below which a distance has no direction of its own.
const NO_DIRECTION: f64 = 1e-10;

/// A closed mesh, wound outward.
#[derive(Clone, Debug)]
pub struct MeshSolid {
    mesh: TriMesh,
    tree: Bvh,
    low: DVec3,
    high: DVec3,
    extent: f64,
    /// Unit normal of each triangle.
    faces: Vec<DVec3>,
    /// Sum of the normals on both sides of each triangle's edges.
    edges: Vec<[DVec3; 3]>,
    /// Angle-weighted sum of the normals around each vertex.
    corners: Vec<DVec3>,
}

/// Triangles that may be nearest to points about one.
#[derive(Clone, Debug, Default)]
pub struct Near {
    about: DVec3,
    slack: f64,
    /// None before the first look.
    triangles: Vec<u32>,
}

impl Near {
    fn holds(&self, p: DVec3) -> bool {
        !self.triangles.is_empty() && p.distance_squared(self.about) <= self.slack * self.slack
    }
}

impl MeshSolid {
    /// Of a closed mesh that is wound outward.
    pub fn new(mesh: TriMesh) -> Self {
        let count = mesh.triangles.len();
        let faces: Vec<DVec3> = (0..count)
            .map(|t| {
                let [a, b, c] = mesh.corners(t);
                (b - a).cross(c - a).normalize_or_zero()
            })
            .collect();
        let mut corners = vec![DVec3::ZERO; mesh.positions.len()];
        let mut both: HashMap<[u32; 2], DVec3> = HashMap::with_capacity(3 * count / 2);
        let edge = |t: usize, m: usize| {
            let triangle = mesh.triangles[t];
            let (a, b) = (triangle[m], triangle[(m + 1) % 3]);
            [a.min(b), a.max(b)]
        };
        for (t, normal) in faces.iter().enumerate() {
            for m in 0..3 {
                let vertex = mesh.triangles[t][m] as usize;
                corners[vertex] += *normal * corner_angle(mesh.corners(t), m);
                *both.entry(edge(t, m)).or_default() += *normal;
            }
        }
        let edges = (0..count).map(|t| [0, 1, 2].map(|m| both[&edge(t, m)]));
        let (low, high) = mesh.bounds().unwrap_or_default();
        let lengths = mesh.positions.iter().map(|p| p.length());
        MeshSolid {
            tree: Bvh::new(&mesh),
            low,
            high,
            extent: lengths.fold(0.0, f64::max),
            edges: edges.collect(),
            faces,
            corners,
            mesh,
        }
    }

    /// The mesh.
    pub fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// Farthest that a point of the surface lies from the origin, m.
    pub fn extent(&self) -> f64 {
        self.extent
    }

    /// Bound on how far a point of the surface lies from an axis of this direction (unit) through the origin,
    /// m: that of the bounding box.
    pub fn reach_about(&self, axis: DVec3) -> f64 {
        let corner = |at: u32| {
            let upper = |bit: u32| at >> bit & 1 == 1;
            DVec3::select(
                glam::BVec3::new(upper(0), upper(1), upper(2)),
                self.high,
                self.low,
            )
        };
        let off = (0..8).map(|at| axis.cross(corner(at)).length());
        off.fold(0.0, f64::max).min(self.extent)
    }

    /// Signed distance of `p` (negative inside), m, and the outward unit normal there.
    pub fn distance(&self, p: DVec3) -> (f64, DVec3) {
        self.from(p, self.tree.nearest(&self.mesh, p).1)
    }

    /// The same to the bit, sooner where `near` has been looked up about `p`.
    pub fn distance_near(&self, p: DVec3, near: &Near) -> (f64, DVec3) {
        if !near.holds(p) {
            return self.distance(p);
        }
        let nearest = near.triangles.iter().fold((f64::INFINITY, 0), |best, &t| {
            let (q, _) = nearest_feature(p, self.mesh.corners(t as usize));
            nearer(best, (p.distance_squared(q), t))
        });
        self.from(p, nearest.1)
    }

    /// Looks up the triangles near `p`, to hold for points up to `slack` (m) from it, unless `near` holds
    /// there already.
    pub fn look(&self, p: DVec3, slack: f64, near: &mut Near) {
        if near.holds(p) {
            return;
        }
        near.triangles.clear();
        let distance = self.tree.nearest(&self.mesh, p).0.sqrt();
        // A little more, for rounding.
        let reach = (distance + 2.0 * slack) * (1.0 + 1e-9);
        let found = |t| near.triangles.push(t);
        self.tree.each_within(&self.mesh, p, reach, found);
        (near.about, near.slack) = (p, slack);
    }

    /// Whether `p` lies inside or less than `reach` (m) outside.
    pub fn reaches(&self, p: DVec3, reach: f64) -> bool {
        let beside = p.distance_squared(p.clamp(self.low, self.high));
        beside < reach * reach && self.distance(p).0 < reach
    }

    /// Signed distance and normal as seen from `p`, whose nearest triangle is this one.
    fn from(&self, p: DVec3, triangle: u32) -> (f64, DVec3) {
        let t = triangle as usize;
        let (q, feature) = nearest_feature(p, self.mesh.corners(t));
        let outward = match feature {
            Feature::Face => self.faces[t],
            Feature::Edge(m) => self.edges[t][m],
            Feature::Corner(m) => self.corners[self.mesh.triangles[t][m] as usize],
        };
        let away = p - q;
        let distance = away.length();
        let sign = if away.dot(outward) < 0.0 { -1.0 } else { 1.0 };
        let normal = match distance > NO_DIRECTION * self.extent {
            true => away * (sign / distance),
            false => outward.normalize_or(DVec3::Y),
        };
        (sign * distance, normal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::check::require_solid;
    use crate::geometry::shapes;
    use crate::geometry::solid::Solid;

    /// Points scattered in a cube of half edge `reach`.
    fn points(count: u32, reach: f64) -> impl Iterator<Item = DVec3> {
        let part = |k: u32, ratio: f64| (f64::from(k) * ratio).fract() * 2.0 - 1.0;
        (1..=count).map(move |k| {
            let [x, y, z] = [0.819_172_5, 0.671_043_6, 0.549_700_4].map(|ratio| part(k, ratio));
            DVec3::new(x, y, z) * reach
        })
    }

    #[test]
    fn a_box_of_triangles_is_as_far_as_a_box() {
        let half = DVec3::new(1.0, 0.5, 2.0);
        let mesh = MeshSolid::new(shapes::cuboid(2.0 * half));
        let exact = Solid::Box { half };
        let (mut inside, mut outside) = (0, 0);
        for p in points(4000, 2.5) {
            let ((d, normal), (expected, direction)) = (mesh.distance(p), exact.distance(p));
            assert!((d - expected).abs() < 1e-12, "{p}: {d} for {expected}");
            // Inside, where two faces are as near, either may be taken.
            if expected > 0.0 {
                assert!((normal - direction).length() < 1e-9, "{p}: {normal}");
                outside += 1;
            } else {
                assert!((normal.length() - 1.0).abs() < 1e-12);
                inside += 1;
            }
            assert_eq!(mesh.reaches(p, 0.3), expected < 0.3);
        }
        assert!(inside > 200 && outside > 200);
        assert_eq!(mesh.extent(), half.length());
        assert!((mesh.reach_about(DVec3::Z) - half.truncate().length()).abs() < 1e-12);
    }

    #[test]
    fn points_on_faces_edges_and_corners_have_the_normal_there() {
        let mesh = MeshSolid::new(shapes::cuboid(DVec3::splat(2.0)));
        for (p, normal) in [
            (DVec3::new(0.3, 1.0, -0.2), DVec3::Y),
            (DVec3::new(1.0, 1.0, 0.4), DVec3::new(1.0, 1.0, 0.0)),
            (DVec3::ONE, DVec3::ONE),
        ] {
            let (d, n) = mesh.distance(p);
            assert!(d.abs() < 1e-15 && (n - normal.normalize()).length() < 1e-12);
        }
    }

    /// A plate with a slit as wide as it is thick: points in the slit are outside, those in the thin cheeks
    /// beside it inside.
    #[test]
    fn thin_cheeks_and_the_slit_between_them_are_told_apart() {
        let mut mesh = shapes::cuboid(DVec3::new(0.002, 0.05, 0.05));
        let mut other = mesh.clone();
        for (p, q) in mesh.positions.iter_mut().zip(&mut other.positions) {
            p.x -= 0.002;
            q.x += 0.002;
        }
        let first = mesh.positions.len() as u32;
        mesh.positions.extend(other.positions);
        let shifted = other.triangles.iter().map(|t| t.map(|v| v + first));
        mesh.triangles.extend(shifted);
        require_solid(&mut mesh).unwrap();
        let mesh = MeshSolid::new(mesh);
        for k in -40..=40 {
            let x = f64::from(k) * 1e-4 + 3e-5;
            let expected = (x.abs() - 0.002).abs() - 0.001;
            let (d, normal) = mesh.distance(DVec3::new(x, 0.001, -0.003));
            assert!((d - expected).abs() < 1e-15, "{x}: {d} for {expected}");
            let side = if x.abs() < 0.002 {
                -x.signum()
            } else {
                x.signum()
            };
            assert!((normal - DVec3::X * side).length() < 1e-9, "{x}: {normal}");
        }
    }

    #[test]
    fn what_was_looked_up_gives_the_same_bits_within_its_slack() {
        let mesh = MeshSolid::new(shapes::sphere(1.0));
        let slack = 0.05;
        let mut fewest = usize::MAX;
        for p in points(200, 1.1) {
            let mut near = Near::default();
            mesh.look(p, slack, &mut near);
            fewest = fewest.min(near.triangles.len());
            for step in points(20, slack / 3f64.sqrt()) {
                let q = p + step;
                assert!(near.holds(q));
                let bits = |(d, n): (f64, DVec3)| [d, n.x, n.y, n.z].map(f64::to_bits);
                let found = mesh.distance_near(q, &near);
                assert_eq!(bits(found), bits(mesh.distance(q)), "{q}");
            }
            let far = p + DVec3::X * 2.0 * slack;
            assert!(!near.holds(far));
            let before = near.triangles.clone();
            mesh.look(p + DVec3::X * 0.5 * slack, slack, &mut near);
            assert_eq!(near.triangles, before, "it held there");
        }
        assert!(fewest < 40, "{fewest} of 5120 triangles");
    }
}
