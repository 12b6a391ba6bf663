//! The skin of a body: the packed mesh, with long edges subdivided so that it can bend with the elements.

use glam::DVec3;

use crate::geometry::TriMesh;
use crate::math::hash::QuickMap;
use crate::reconstruct::surface::attributes::SkinAttributes;

/// A mesh with its edges.
#[derive(Clone, Debug)]
pub struct Skin {
    /// Vertices and triangles. The vertices of the input come first.
    pub mesh: TriMesh,
    /// Both ends of each edge, the smaller index first.
    pub edges: Vec<[u32; 2]>,
    /// Edges of each triangle, from each corner to the next one.
    pub edges_of: Vec<[u32; 3]>,
    /// Attributes of the input, if it has any. `mesh` itself has none.
    pub attributes: Option<SkinAttributes>,
}

impl Skin {
    /// Bisects the edges of `mesh` that are longer than `longest` (m) until none is left. The surface keeps
    /// its shape.
    pub fn new(mut mesh: TriMesh, longest: f64) -> Self {
        let mut attributes = SkinAttributes::take(&mut mesh);
        let (mut edges, mut edges_of) = edges(&mesh.triangles);
        loop {
            let mut middle = vec![u32::MAX; edges.len()];
            let mut any = false;
            for (middle, ends) in middle.iter_mut().zip(&edges) {
                let [a, b] = ends.map(|v| mesh.positions[v as usize]);
                if a.distance_squared(b) > longest * longest {
                    *middle = mesh.positions.len() as u32;
                    mesh.positions.push((a + b) / 2.0);
                    any = true;
                }
            }
            if !any {
                break;
            }
            let mut triangles = Vec::with_capacity(2 * mesh.triangles.len());
            let mut sources = Vec::new();
            for (t, (triangle, of)) in mesh.triangles.iter().zip(&edges_of).enumerate() {
                let middles = of.map(|edge| middle[edge as usize]);
                divide(*triangle, middles, &mesh.positions, &mut triangles);
                if let Some(attributes) = &attributes {
                    sources.resize(triangles.len(), attributes.source[t]);
                }
            }
            if let Some(attributes) = &mut attributes {
                attributes.source = sources;
            }
            mesh.triangles = triangles;
            (edges, edges_of) = self::edges(&mesh.triangles);
        }
        Skin {
            mesh,
            edges,
            edges_of,
            attributes,
        }
    }
}

/// All edges in the order of their first use by a triangle, and the edges of each triangle.
fn edges(triangles: &[[u32; 3]]) -> (Vec<[u32; 2]>, Vec<[u32; 3]>) {
    let mut edges = Vec::new();
    let mut number = QuickMap::with_capacity_and_hasher(2 * triangles.len(), Default::default());
    let of = triangles.iter().map(|t| {
        std::array::from_fn(|m| {
            let (a, b) = (t[m], t[(m + 1) % 3]);
            let ends = [a.min(b), a.max(b)];
            *number.entry(ends).or_insert_with(|| {
                edges.push(ends);
                edges.len() as u32 - 1
            })
        })
    });
    let of = of.collect();
    (edges, of)
}

/// Divides a triangle at the midpoints of its edges; a midpoint is `u32::MAX` where an edge stays undivided.
fn divide(t: [u32; 3], middles: [u32; 3], positions: &[DVec3], to: &mut Vec<[u32; 3]>) {
    let whole = |m: usize| middles[m] == u32::MAX;
    match (0..3).filter(|&m| !whole(m)).count() {
        0 => to.push(t),
        1 => {
            let m = (0..3).find(|&m| !whole(m)).unwrap_or(0);
            let [a, b, c] = [t[m], t[(m + 1) % 3], t[(m + 2) % 3]];
            to.extend([[a, middles[m], c], [middles[m], b, c]]);
        }
        2 => {
            // Edge a-b stays undivided; the quad next to it is split along the shorter diagonal.
            let m = (0..3).find(|&m| whole(m)).unwrap_or(0);
            let [a, b, c] = [t[m], t[(m + 1) % 3], t[(m + 2) % 3]];
            let (on_bc, on_ca) = (middles[(m + 1) % 3], middles[(m + 2) % 3]);
            to.push([on_bc, c, on_ca]);
            let length = |p: u32, q: u32| positions[p as usize].distance(positions[q as usize]);
            to.extend(if length(a, on_bc) <= length(b, on_ca) {
                [[a, b, on_bc], [a, on_bc, on_ca]]
            } else {
                [[a, b, on_ca], [b, on_bc, on_ca]]
            });
        }
        _ => {
            let [ab, bc, ca] = middles;
            to.extend([[t[0], ab, ca], [ab, t[1], bc], [ca, bc, t[2]], [ab, bc, ca]]);
        }
    }
}
