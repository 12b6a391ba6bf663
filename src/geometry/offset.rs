//! The surface at a depth under a closed mesh: where the distance to it takes one value, drawn by marching tetrahedra.
//!
//! Each cell of a grid is cut into six tetrahedra about one diagonal (Freudenthal), so that neighbours agree
//! on all their faces and the surface is closed, without edges of more than two triangles, whatever the mesh.

use crate::parallel::prelude::*;
use glam::{DVec3, IVec3};

use super::bvh::Bvh;
use super::inside::Crossings;
use super::mesh::TriMesh;
use crate::math::hash::QuickMap;

/// Cells between the mesh's bounds and the border of the grid.
const MARGIN: f64 = 1.5;
/// The grid is moved by this out of the mesh's bounds, cells: faces of boxes would lie on its nodes.
const SHIFT: DVec3 = DVec3::new(0.137, 0.211, 0.319);
/// How near to the end of an edge the surface may cut it, over its length: no triangle loses its area.
const NEAREST: f64 = 0.02;
/// Corners of the tetrahedra of a cell from its first to its last, bits of a number: x, y, z. Odd orders are
/// mirrored ones.
const TETRAHEDRA: [[usize; 4]; 6] = [
    [0, 1, 3, 7],
    [0, 3, 2, 7],
    [0, 2, 6, 7],
    [0, 6, 4, 7],
    [0, 4, 5, 7],
    [0, 5, 1, 7],
];

/// Nodes of the grid and how deep each lies under the mesh, negative outside, at most a little more than asked for.
struct Field {
    low: DVec3,
    spacing: f64,
    nodes: [usize; 3],
    depths: Vec<f32>,
}

impl Field {
    fn new(mesh: &TriMesh, deepest: f64, spacing: f64) -> Self {
        let (low, high) = mesh.bounds().unwrap_or_default();
        let low = low - (MARGIN + SHIFT) * spacing;
        let nodes = ((high - low) / spacing + MARGIN).ceil().to_array();
        let nodes = nodes.map(|n| n as usize + 1);
        let (bvh, crossings) = (Bvh::new(mesh), Crossings::new(mesh));
        let reach = deepest + 2.0 * spacing;
        let xs: Vec<f64> = (0..nodes[0]).map(|i| low.x + spacing * i as f64).collect();
        let row = |at: usize| {
            let (y, z) = ((at % nodes[1]) as f64, (at / nodes[1]) as f64);
            let (y, z) = (low.y + spacing * y, low.z + spacing * z);
            let mut inside = Vec::new();
            crossings.row(&xs, y, z, &mut inside);
            let depths = xs.iter().zip(inside).map(|(&x, inside)| {
                let p = DVec3::new(x, y, z);
                let nearest = bvh.nearest_within(mesh, p, reach);
                let distance = nearest.map_or(reach, |(q, _)| p.distance(q));
                (if inside { distance } else { -distance }) as f32
            });
            depths.collect::<Vec<_>>()
        };
        let rows: Vec<Vec<f32>> = (0..nodes[1] * nodes[2]).into_par_iter().map(row).collect();
        Field {
            low,
            spacing,
            nodes,
            depths: rows.concat(),
        }
    }

    fn place(&self, node: usize) -> DVec3 {
        let [nx, ny, _] = self.nodes;
        let at = IVec3::new(
            (node % nx) as i32,
            (node / nx % ny) as i32,
            (node / nx / ny) as i32,
        );
        self.low + self.spacing * at.as_dvec3()
    }
}

/// Surface at `depth` (m) inside a closed mesh, on a grid of cells `spacing` (m); wound outward about what
/// lies deeper. Empty where nothing does.
pub fn inner(mesh: &TriMesh, depth: f64, spacing: f64) -> TriMesh {
    let field = Field::new(mesh, depth, spacing);
    let [nx, ny, nz] = field.nodes;
    let offset = |corner: usize| (corner & 1) + nx * ((corner >> 1 & 1) + ny * (corner >> 2));
    let over = |node: usize| f64::from(field.depths[node]) - depth;
    let mut out = TriMesh::default();
    let mut known: QuickMap<(u32, u32), u32> = QuickMap::default();
    let mut cut = |a: usize, b: usize, out: &mut TriMesh| {
        let (a, b) = (a.min(b), a.max(b));
        *known.entry((a as u32, b as u32)).or_insert_with(|| {
            let part = over(a) / (over(a) - over(b));
            let part = part.clamp(NEAREST, 1.0 - NEAREST);
            out.positions
                .push(field.place(a).lerp(field.place(b), part));
            out.positions.len() as u32 - 1
        })
    };
    for k in 0..nz - 1 {
        for j in 0..ny - 1 {
            for i in 0..nx - 1 {
                let first = i + nx * (j + ny * k);
                let corners: [usize; 8] = std::array::from_fn(|c| first + offset(c));
                let deeper = corners.map(|node| over(node) >= 0.0);
                if deeper == [deeper[0]; 8] {
                    continue;
                }
                for tetrahedron in TETRAHEDRA {
                    let (within, without): (Vec<usize>, Vec<usize>) =
                        tetrahedron.into_iter().partition(|c| deeper[*c]);
                    let mut at = |a: usize, b: usize| cut(corners[a], corners[b], &mut out);
                    let triangles = match (&within[..], &without[..]) {
                        (&[a], &[b, c, d]) => vec![[at(a, b), at(a, c), at(a, d)]],
                        (&[b, c, d], &[a]) => vec![[at(a, b), at(a, c), at(a, d)]],
                        (&[a, b], &[c, d]) => {
                            let quad = [at(a, c), at(a, d), at(b, d), at(b, c)];
                            let [p, q, r, s] = quad;
                            vec![[p, q, r], [p, r, s]]
                        }
                        _ => continue,
                    };
                    let away = field.place(corners[without[0]]) - field.place(corners[within[0]]);
                    for mut triangle in triangles {
                        let [p, q, r] = triangle.map(|v| out.positions[v as usize]);
                        if (q - p).cross(r - p).dot(away) < 0.0 {
                            triangle.swap(1, 2);
                        }
                        out.triangles.push(triangle);
                    }
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{check, shapes};
    use std::f64::consts::PI;

    #[test]
    fn the_inner_surface_is_closed_and_as_deep_as_asked() {
        let ball = shapes::sphere(1.0);
        let mut found = inner(&ball, 0.3, 0.05);
        let deepest = |p: &DVec3| (p.length() - 0.7).abs();
        let error = found.positions.iter().map(deepest).fold(0.0, f64::max);
        assert!(error < 2e-3, "{error}");
        assert!((found.volume() / (4.0 / 3.0 * PI * 0.343) - 1.0).abs() < 5e-3);
        let before = found.clone();
        check::require_solid(&mut found).unwrap();
        assert_eq!(found, before, "already wound outward");
        let cuboid = shapes::cuboid(DVec3::new(2.0, 1.0, 0.5));
        let mut found = inner(&cuboid, 0.2, 0.07);
        check::require_solid(&mut found).unwrap();
        assert!((found.volume() / (1.6 * 0.6 * 0.1) - 1.0).abs() < 0.1);
        assert_eq!(inner(&cuboid, 0.3, 0.07), TriMesh::default());
    }
}
