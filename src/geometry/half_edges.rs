//! Half-edges of a closed triangle mesh: each triangle's three directed edges, linked with those of its
//! neighbours, so that edges can be split, collapsed and flipped while the mesh stays closed.

use glam::DVec3;

use super::check::{same_edge, sorted_edges};
use super::mesh::TriMesh;

/// Marks a removed triangle.
const NONE: u32 = u32::MAX;

/// Where a mesh is not a closed manifold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotManifold {
    /// An edge without exactly two triangles that run along it in opposite directions: its vertices.
    Edge([u32; 2]),
    /// A vertex where several surfaces meet.
    Vertex(u32),
}

/// Half-edge `3 t + k` runs from corner `k` of triangle `t` to the next corner.
#[derive(Clone, Debug)]
pub struct HalfEdges {
    /// Positions of the vertices, m; removed vertices keep theirs.
    pub positions: Vec<DVec3>,
    /// Start vertex of each half-edge.
    start: Vec<u32>,
    twin: Vec<u32>,
    /// For each vertex, a half-edge that starts there.
    out: Vec<u32>,
    /// For each half-edge, whether its edge is sharp and must stay in place; the same for twins.
    pub sharp: Vec<bool>,
    /// Texture coordinates at the start of each half-edge; empty if the mesh has none.
    uv: Vec<[f32; 2]>,
}

/// The half-edge after `h` in its triangle.
pub fn next(h: u32) -> u32 {
    if h % 3 == 2 { h - 2 } else { h + 1 }
}

/// The half-edge before `h` in its triangle.
pub fn previous(h: u32) -> u32 {
    if h.is_multiple_of(3) { h + 2 } else { h - 1 }
}

impl HalfEdges {
    /// Links the triangles of a closed mesh. Unused vertices are allowed and stay unlinked.
    pub fn new(mesh: &TriMesh) -> Result<Self, NotManifold> {
        let start: Vec<u32> = mesh.triangles.as_flattened().to_vec();
        let mut twin = vec![NONE; start.len()];
        let half = |t: u32, from: u32| {
            let corner = mesh.triangles[t as usize].iter().position(|v| *v == from);
            3 * t + corner.expect("the edge is of this triangle") as u32
        };
        for pair in sorted_edges(mesh).chunk_by(same_edge) {
            let &[(a, b, first, s), (_, _, second, t)] = pair else {
                return Err(NotManifold::Edge([pair[0].0, pair[0].1]));
            };
            if first == second {
                return Err(NotManifold::Edge([a, b]));
            }
            let [s, t] = [(s, first), (t, second)].map(|(t, up)| half(t, if up { a } else { b }));
            twin[s as usize] = t;
            twin[t as usize] = s;
        }
        let mut out = vec![NONE; mesh.positions.len()];
        let mut counts = vec![0_u32; mesh.positions.len()];
        for (h, &v) in (0..).zip(&start) {
            out[v as usize] = h;
            counts[v as usize] += 1;
        }
        let edges = HalfEdges {
            positions: mesh.positions.clone(),
            sharp: vec![false; start.len()],
            uv: mesh.uv.as_flattened().to_vec(),
            start,
            twin,
            out,
        };
        for (v, &count) in (0..).zip(&counts) {
            if count > 0 && edges.ring(v).count() != count as usize {
                return Err(NotManifold::Vertex(v));
            }
        }
        Ok(edges)
    }

    /// Number of half-edges, including those of removed triangles.
    pub fn len(&self) -> u32 {
        self.start.len() as u32
    }

    /// Whether the half-edge's triangle has not been removed.
    pub fn exists(&self, h: u32) -> bool {
        self.start[h as usize] != NONE
    }

    /// Whether the vertex has triangles.
    pub fn has_triangles(&self, v: u32) -> bool {
        self.out[v as usize] != NONE
    }

    /// Start and end vertex of a half-edge.
    pub fn ends(&self, h: u32) -> [u32; 2] {
        [h, next(h)].map(|h| self.start[h as usize])
    }

    /// The half-edge of the same edge in the neighbouring triangle.
    pub fn twin(&self, h: u32) -> u32 {
        self.twin[h as usize]
    }

    /// The vertex of the half-edge's triangle opposite to the half-edge.
    pub fn apex(&self, h: u32) -> u32 {
        self.start[previous(h) as usize]
    }

    /// Vertices of a triangle.
    pub fn vertices(&self, t: u32) -> [u32; 3] {
        [0, 1, 2].map(|k| self.start[(3 * t + k) as usize])
    }

    /// Corner positions of a triangle, m.
    pub fn corners(&self, t: u32) -> [DVec3; 3] {
        self.vertices(t).map(|v| self.positions[v as usize])
    }

    /// Normal of a triangle whose length is twice the area, m².
    pub fn normal(&self, t: u32) -> DVec3 {
        let [a, b, c] = self.corners(t);
        (b - a).cross(c - a)
    }

    /// Length of a half-edge, m.
    pub fn length(&self, h: u32) -> f64 {
        let [a, b] = self.ends(h).map(|v| self.positions[v as usize]);
        a.distance(b)
    }

    /// Half-edges that start at a vertex, one per triangle about it.
    pub fn ring(&self, v: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.out[v as usize];
        let mut at = Some(first);
        std::iter::from_fn(move || {
            let h = at?;
            let following = self.twin[previous(h) as usize];
            at = (following != first).then_some(following);
            Some(h)
        })
    }

    /// Vertices connected to `v` by an edge.
    pub fn neighbours(&self, v: u32) -> impl Iterator<Item = u32> + '_ {
        self.ring(v).map(|h| self.start[next(h) as usize])
    }

    fn link(&mut self, g: u32, h: u32) {
        self.twin[g as usize] = h;
        self.twin[h as usize] = g;
    }

    /// Sets the vertices and texture coordinates of a triangle and which of its edges are sharp.
    fn set_triangle(&mut self, t: u32, corners: [(u32, Option<[f32; 2]>); 3], sharp: [bool; 3]) {
        for (k, (v, uv)) in (0..).zip(corners) {
            let h = 3 * t + k;
            self.start[h as usize] = v;
            self.out[v as usize] = h;
            self.sharp[h as usize] = sharp[k as usize];
            if let Some(uv) = uv {
                self.uv[h as usize] = uv;
            }
        }
    }

    fn corner(&self, h: u32) -> (u32, Option<[f32; 2]>) {
        (self.start[h as usize], self.uv.get(h as usize).copied())
    }

    /// Whether the edge can be flipped: the other diagonal of the two triangles at it is not an edge yet.
    pub fn can_flip(&self, h: u32) -> bool {
        let [c, d] = [h, self.twin(h)].map(|h| self.apex(h));
        c != d && !self.neighbours(c).any(|v| v == d)
    }

    /// Replaces the edge between two triangles by their other diagonal; see [`Self::can_flip`].
    pub fn flip(&mut self, h: u32) {
        let g = self.twin(h);
        let (s, t) = (h / 3, g / 3);
        // a → b is the edge, c its apex, d the apex of the neighbour.
        let (bc, ca, ad, db) = (next(h), previous(h), next(g), previous(g));
        let [a, b, c] = [h, bc, ca].map(|h| self.corner(h));
        let (b_beyond, d) = (self.corner(g), self.corner(db));
        let outer = [ad, ca, bc, db].map(|h| (self.twin(h), self.sharp[h as usize]));
        self.set_triangle(s, [a, d, c], [outer[0].1, false, outer[1].1]);
        self.set_triangle(t, [b_beyond, c, d], [outer[2].1, false, outer[3].1]);
        // At seams, corners keep the texture coordinates of their former triangle.
        debug_assert!(b.0 == b_beyond.0);
        // One of the four outer edges may be the twin of another.
        let places = [(ad, 3 * s), (ca, 3 * s + 2), (bc, 3 * t), (db, 3 * t + 2)];
        let now = |h: u32| places.iter().find(|(old, _)| *old == h).map_or(h, |p| p.1);
        for ((_, place), (twin, _)) in places.into_iter().zip(outer) {
            self.link(place, now(twin));
        }
        self.link(3 * s + 1, 3 * t + 1);
    }

    /// Splits an edge at a new vertex. Returns the index of the vertex.
    pub fn split(&mut self, h: u32, place: DVec3) -> u32 {
        let middle = self.positions.len() as u32;
        self.positions.push(place);
        self.out.push(NONE);
        let sharp = self.sharp[h as usize];
        let sides = [h, self.twin(h)];
        // In each triangle the half at the end of its half-edge becomes a new triangle.
        let halves = sides.map(|h| {
            let (bc, ca) = (next(h), previous(h));
            let [a, b, c] = [h, bc, ca].map(|h| self.corner(h));
            let between =
                a.1.zip(b.1)
                    .map(|(a, b)| [0, 1].map(|k| (a[k] + b[k]) / 2.0));
            let (beyond, kept) = (self.twin(bc), self.sharp[bc as usize]);
            let new = self.start.len() as u32;
            self.start.resize(self.start.len() + 3, NONE);
            self.twin.resize(self.start.len(), NONE);
            self.sharp.resize(self.start.len(), false);
            if !self.uv.is_empty() {
                self.uv.resize(self.start.len(), [0.0; 2]);
            }
            self.set_triangle(new / 3, [(middle, between), b, c], [sharp, kept, false]);
            self.link(new + 1, beyond);
            self.link(new + 2, bc);
            self.start[bc as usize] = middle;
            if let Some(between) = between {
                self.uv[bc as usize] = between;
            }
            self.sharp[bc as usize] = false;
            self.out[a.0 as usize] = h;
            new
        });
        self.link(sides[0], halves[1]);
        self.link(sides[1], halves[0]);
        middle
    }

    /// Whether the edge can be collapsed to its end without folding the surface onto itself: its ends have
    /// exactly two common neighbours, and the surface is not a tetrahedron (the link condition, Dey et al.
    /// 1999).
    pub fn can_collapse(&self, h: u32) -> bool {
        let [u, v] = self.ends(h);
        let common = self
            .neighbours(u)
            .filter(|n| self.neighbours(v).any(|m| m == *n))
            .count();
        common == 2 && !self.is_tetrahedron(h)
    }

    fn is_tetrahedron(&self, h: u32) -> bool {
        self.ends(h).into_iter().all(|v| self.ring(v).count() == 3)
    }

    /// Removes the start vertex of a half-edge, whose triangles move to its end vertex, and the two triangles
    /// at the edge; see [`Self::can_collapse`].
    pub fn collapse(&mut self, h: u32) {
        let [u, v] = self.ends(h);
        let ring: Vec<u32> = self.ring(u).collect();
        for h in ring {
            self.start[h as usize] = v;
        }
        for side in [h, self.twin(h)] {
            let (first, second) = (next(side), previous(side));
            let (f, s) = (self.twin(first), self.twin(second));
            let sharp = self.sharp[first as usize] || self.sharp[second as usize];
            self.link(f, s);
            for h in [f, s] {
                self.sharp[h as usize] = sharp;
                let from = self.start[h as usize];
                self.out[from as usize] = h;
            }
        }
        for side in [h, self.twin(h)] {
            for h in [side, next(side), previous(side)] {
                self.start[h as usize] = NONE;
            }
        }
        self.out[u as usize] = NONE;
    }

    /// The remaining triangles with all vertices, and the former index of each triangle.
    pub fn into_mesh(self) -> (TriMesh, Vec<u32>) {
        let kept: Vec<u32> = (0..self.len() / 3).filter(|t| self.exists(3 * t)).collect();
        let uv = kept.iter().filter(|_| !self.uv.is_empty());
        let uv = uv
            .map(|t| [0, 1, 2].map(|k| self.uv[(3 * t + k) as usize]))
            .collect();
        let triangles = kept.iter().map(|t| self.vertices(*t)).collect();
        let mesh = TriMesh {
            positions: self.positions,
            triangles,
            uv,
            ..TriMesh::default()
        };
        (mesh, kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{check, icosphere, shapes};

    fn triangles(edges: &HalfEdges) -> usize {
        (0..edges.len() / 3).filter(|t| edges.exists(3 * t)).count()
    }

    /// Checks that every link is mutual and connects the same edge, and that every vertex refers to a
    /// half-edge that starts there.
    fn check_links(edges: &HalfEdges) {
        let there: Vec<u32> = (0..edges.len()).filter(|h| edges.exists(*h)).collect();
        assert_eq!(there.len(), 3 * triangles(edges));
        for &h in &there {
            let [a, b] = edges.ends(h);
            assert_eq!(edges.twin(edges.twin(h)), h);
            assert_eq!(edges.ends(edges.twin(h)), [b, a]);
            assert_eq!(edges.sharp[h as usize], edges.sharp[edges.twin(h) as usize]);
            assert!(edges.ring(a).any(|g| g == h));
        }
        HalfEdges::new(&edges.clone().into_mesh().0).unwrap();
    }

    #[test]
    fn operations_keep_a_mesh_closed_and_its_volume() {
        let mut edges = HalfEdges::new(&shapes::cuboid(DVec3::ONE)).unwrap();
        for k in 0..40 {
            let h = k * 7 % edges.len();
            let [a, b] = edges.ends(h).map(|v| edges.positions[v as usize]);
            edges.split(h, (a + b) / 2.0);
            check_links(&edges);
        }
        let (mut mesh, _) = edges.clone().into_mesh();
        assert_eq!(mesh.triangles.len(), 12 + 80);
        assert!((mesh.volume() - 1.0).abs() < 1e-14);
        check::require_solid(&mut mesh).unwrap();
        let flat = |h: u32, edges: &HalfEdges| {
            let [m, n] = [h, edges.twin(h)].map(|h| edges.normal(h / 3).normalize());
            m.dot(n) > 0.999
        };
        let mut flips = 0;
        for h in 0..edges.len() {
            let [a, c, b, d] = [h, previous(h), next(h), previous(edges.twin(h))]
                .map(|h| edges.positions[edges.ends(h)[0] as usize]);
            let normal = edges.normal(h / 3);
            let convex =
                (d - a).cross(c - a).dot(normal) > 1e-9 && (c - b).cross(d - b).dot(normal) > 1e-9;
            if flat(h, &edges) && convex && edges.can_flip(h) {
                edges.flip(h);
                flips += 1;
                check_links(&edges);
            }
        }
        assert!(flips > 10);
        assert!((edges.clone().into_mesh().0.volume() - 1.0).abs() < 1e-14);
        let mut gone = 0;
        for h in 0..edges.len() {
            if edges.exists(h) && edges.can_collapse(h) {
                edges.collapse(h);
                gone += 1;
                check_links(&edges);
            }
        }
        assert!(gone > 30 && triangles(&edges) == 92 - 2 * gone);
    }

    #[test]
    fn meshes_that_are_no_manifold_are_refused() {
        let mut open = icosphere(0);
        open.triangles.remove(0);
        assert!(matches!(HalfEdges::new(&open), Err(NotManifold::Edge(_))));
        // Two tetrahedra that share a corner.
        let one = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
        let other = one.map(|t| t.map(|v| if v == 0 { 0 } else { v + 3 }));
        let two = TriMesh {
            positions: vec![DVec3::ZERO; 7],
            triangles: [one, other].concat(),
            ..TriMesh::default()
        };
        assert_eq!(HalfEdges::new(&two).unwrap_err(), NotManifold::Vertex(0));
    }
}
