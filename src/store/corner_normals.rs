//! Normals of triangle corners: smooth across smooth parts of a surface, separate on both sides of a sharp edge.
//!
//! Surfaces are closed: skin and crack faces share vertices, and so do the faces of a box. One normal per vertex
//! would shade their edges as if they were round. The triangles around a vertex are grouped into fans: triangles of one
//! kind, skin or crack, connected by edges that are not creases. The corners of a fan have one normal, the mean of its
//! triangles' normals weighted by their angles (Thürmer and Wüthrich 1998). Fans are found at rest, so that no crease
//! appears or disappears while a fragment bends.

use glam::DVec3;

use super::surface::{FragmentRange, SurfaceFrame};
use crate::geometry::mesh::corner_angle;
use crate::math::union_find::UnionFind;

/// Cosine of 40 degrees: neighbours whose normals differ by more meet at a crease. The angle between neighbouring
/// triangles of a marching cubes skin is smaller, at edges of boxes and ends of cylinders it is larger.
const CREASE: f64 = 0.766_044_443;

/// The fans of a surface, in order of their vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fans {
    /// Fan of each corner of each triangle.
    pub corners: Vec<[u32; 3]>,
    /// Vertex of each fan.
    pub vertices: Vec<u32>,
}

impl Fans {
    /// The fans of a surface with vertices at `rest`; `inside` is one flag per triangle, 1 on a crack face.
    pub fn new(
        rest: &[[f32; 3]],
        triangles: impl Iterator<Item = [u32; 3]>,
        inside: &[u8],
    ) -> Self {
        let triangles: Vec<[u32; 3]> = triangles.collect();
        let normals: Vec<DVec3> = triangles
            .iter()
            .map(|triangle| triangle_normal(triangle.map(|v| point(rest, v))))
            .collect();
        let smooth =
            |a: usize, b: usize| inside[a] == inside[b] && normals[a].dot(normals[b]) > CREASE;
        let (around, first) = corners_around(rest.len(), &triangles);
        let mut sets = UnionFind::new(3 * triangles.len());
        let mut spokes = Vec::new();
        for vertex in 0..rest.len() {
            // Each corner is listed once for each of its two edges, with the vertex at the edge's other end.
            spokes.clear();
            for &corner in &around[first[vertex]..first[vertex + 1]] {
                let (triangle, m) = (triangles[corner as usize / 3], corner as usize % 3);
                spokes.extend([1, 2].map(|step| (triangle[(m + step) % 3], corner)));
            }
            spokes.sort_unstable();
            for edge in spokes.chunk_by(|a, b| a.0 == b.0) {
                for (k, &(_, a)) in edge.iter().enumerate() {
                    for &(_, b) in &edge[k + 1..] {
                        if smooth(a as usize / 3, b as usize / 3) {
                            sets.join(a, b);
                        }
                    }
                }
            }
        }
        let mut fans = Fans {
            corners: vec![[0; 3]; triangles.len()],
            vertices: Vec::new(),
        };
        let roots = sets.roots();
        let numbers = fans.corners.as_flattened_mut();
        for vertex in 0..rest.len() {
            for &corner in &around[first[vertex]..first[vertex + 1]] {
                // The first corner of a fan is its root, so it has been visited before the others.
                let root = roots[corner as usize];
                if root == corner {
                    numbers[corner as usize] = fans.vertices.len() as u32;
                    fans.vertices.push(vertex as u32);
                } else {
                    numbers[corner as usize] = numbers[root as usize];
                }
            }
        }
        fans
    }

    /// The fans of a fragment, with vertex indices that count from the fragment's first vertex.
    pub fn of(surface: &SurfaceFrame, piece: &FragmentRange) -> Self {
        if let Some(groups) = surface.smooth.get(surface.triangle_range(piece)) {
            return Fans::of_groups(surface.local_triangles(piece), groups);
        }
        Fans::new(
            &surface.rest_positions[surface.vertex_range(piece)],
            surface.local_triangles(piece),
            &surface.inside[surface.triangle_range(piece)],
        )
    }

    /// The fans of a surface whose corners are in given groups: one for each vertex and group.
    fn of_groups(triangles: impl Iterator<Item = [u32; 3]>, groups: &[[u32; 3]]) -> Self {
        let keys =
            |(triangle, group): ([u32; 3], &[u32; 3])| [0, 1, 2].map(|m| (triangle[m], group[m]));
        let corners: Vec<[(u32, u32); 3]> = triangles.zip(groups).map(keys).collect();
        let mut distinct = corners.as_flattened().to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let number = |key| distinct.partition_point(|known| *known < key) as u32;
        Fans {
            corners: corners.iter().map(|corners| corners.map(number)).collect(),
            vertices: distinct.iter().map(|&(vertex, _)| vertex).collect(),
        }
    }

    /// Unit normals of the fans with vertices at `positions`; an arbitrary direction for fans of triangles
    /// without area.
    pub fn normals(&self, positions: &[[f32; 3]]) -> Vec<[f32; 3]> {
        let mut sums = vec![DVec3::ZERO; self.vertices.len()];
        for corners in &self.corners {
            let p = corners.map(|fan| point(positions, self.vertices[fan as usize]));
            let normal = triangle_normal(p);
            for m in 0..3 {
                sums[corners[m] as usize] += corner_angle(p, m) * normal;
            }
        }
        sums.into_iter()
            .map(|sum| sum.normalize_or(DVec3::Y).as_vec3().to_array())
            .collect()
    }
}

fn point(positions: &[[f32; 3]], vertex: u32) -> DVec3 {
    DVec3::from(positions[vertex as usize].map(f64::from))
}

/// Unit normal of a triangle; zero if it has no area.
fn triangle_normal([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a).normalize_or_zero()
}

/// The corners of triangles (corner m of triangle t is 3 t + m) sorted by vertex; and the offset of each vertex's first
/// corner in this list, followed by its length.
fn corners_around(vertices: usize, triangles: &[[u32; 3]]) -> (Vec<u32>, Vec<usize>) {
    let mut first = vec![0; vertices + 1];
    for &vertex in triangles.as_flattened() {
        first[vertex as usize + 1] += 1;
    }
    for vertex in 0..vertices {
        first[vertex + 1] += first[vertex];
    }
    let mut around = vec![0; 3 * triangles.len()];
    let mut next = first.clone();
    for (corner, &vertex) in triangles.as_flattened().iter().enumerate() {
        let slot = &mut next[vertex as usize];
        around[*slot] = corner as u32;
        *slot += 1;
    }
    (around, first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{TriMesh, icosphere, shapes};

    fn fans(mesh: &TriMesh, inside: &[u8]) -> (Fans, Vec<[f32; 3]>) {
        let rest: Vec<[f32; 3]> = mesh
            .positions
            .iter()
            .map(|p| p.as_vec3().to_array())
            .collect();
        let fans = Fans::new(&rest, mesh.triangles.iter().copied(), inside);
        for (corners, triangle) in fans.corners.iter().zip(&mesh.triangles) {
            assert_eq!(corners.map(|fan| fans.vertices[fan as usize]), *triangle);
        }
        let normals = fans.normals(&rest);
        for normal in &normals {
            assert!((glam::Vec3::from(*normal).length() - 1.0).abs() < 1e-6);
        }
        (fans, normals)
    }

    #[test]
    fn sides_of_a_box_have_their_own_normals() {
        let mesh = shapes::cuboid(DVec3::new(1.0, 2.0, 3.0));
        let (fans, normals) = fans(&mesh, &[0; 12]);
        assert_eq!(fans.vertices.len(), 24);
        for (triangle, corners) in mesh.triangles.iter().zip(&fans.corners) {
            let side = triangle_normal(triangle.map(|vertex| mesh.positions[vertex as usize]));
            for &fan in corners {
                let normal = DVec3::from(normals[fan as usize].map(f64::from));
                assert!(normal.distance(side) < 1e-6);
            }
        }
    }

    #[test]
    fn a_ball_is_smooth_and_a_crack_across_it_an_edge() {
        let ball = icosphere(3);
        let mut inside = vec![0; ball.triangles.len()];
        let (whole, normals) = fans(&ball, &inside);
        assert_eq!(whole.vertices.len(), ball.positions.len());
        for (normal, position) in normals.iter().zip(&ball.positions) {
            let off = DVec3::from(normal.map(f64::from)).angle_between(*position);
            assert!(off < 0.02, "{off}");
        }
        // Half of it is a crack face: the vertices between have a normal on either side.
        for (flag, triangle) in inside.iter_mut().zip(&ball.triangles) {
            let middle: f64 = triangle.iter().map(|v| ball.positions[*v as usize].y).sum();
            *flag = u8::from(middle > 0.0);
        }
        let between = |vertex: usize| {
            let of = ball.triangles.iter().zip(&inside);
            let flags: Vec<u8> = of
                .filter(|(triangle, _)| triangle.contains(&(vertex as u32)))
                .map(|(_, flag)| *flag)
                .collect();
            flags.contains(&0) && flags.contains(&1)
        };
        let rim = (0..ball.positions.len()).filter(|v| between(*v)).count();
        let (halves, _) = fans(&ball, &inside);
        let groups = Fans::of_groups(ball.triangles.iter().copied(), &halves.corners);
        assert_eq!(groups, halves);
        assert!(rim > 10);
        assert_eq!(halves.vertices.len(), ball.positions.len() + rim);
    }

    #[test]
    fn two_leaves_that_touch_at_a_vertex_are_two_fans() {
        // Tetrahedra, tip to tip: smooth or not, no edge leads from one to the other.
        let leaf = |up: f64| [[1.0, up, 0.0], [-1.0, up, 1.0], [-1.0, up, -1.0]].map(DVec3::from);
        let mesh = TriMesh {
            positions: [vec![DVec3::ZERO], leaf(0.1).to_vec(), leaf(-0.1).to_vec()].concat(),
            triangles: vec![
                [0, 2, 1],
                [0, 3, 2],
                [0, 1, 3],
                [0, 4, 5],
                [0, 5, 6],
                [0, 6, 4],
            ],
            ..TriMesh::default()
        };
        let (found, normals) = fans(&mesh, &[0; 6]);
        let tips: Vec<usize> = (0..found.vertices.len())
            .filter(|fan| found.vertices[*fan] == 0)
            .collect();
        assert_eq!(tips.len(), 2);
        assert!(normals[tips[0]][1] * normals[tips[1]][1] < -0.9);
    }
}
