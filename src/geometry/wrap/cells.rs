//! The cells of a grid that the surface crosses, and which of their corners lie inside.

use crate::parallel::prelude::*;
use glam::DVec3;

use crate::geometry::mesh::TriMesh;
use crate::geometry::winding::Winding;
use crate::math::hash::QuickMap;

/// Shift of the grid relative to the mesh's bounding box, in cells; without it faces of boxes would lie on nodes.
const SHIFT: DVec3 = DVec3::new(0.137, 0.211, 0.319);
/// Spare cells on each side of the mesh's bounding box. A mesh that winds many times around its inside would have its
/// surface farther out; it ends at the border of the grid.
const MARGIN: f64 = 4.0;
/// Bits of a coordinate in a key.
const BITS: u32 = 21;

/// Coordinates of a node, or of a cell by its lowest node.
pub type Place = [u32; 3];

/// Packs coordinates so that keys sort by z, y, x.
fn key([x, y, z]: Place) -> u64 {
    u64::from(z) << (2 * BITS) | u64::from(y) << BITS | u64::from(x)
}

fn place(key: u64) -> Place {
    let mask = (1 << BITS) - 1;
    [0, 1, 2].map(|axis| (key >> (axis * BITS) & mask) as u32)
}

/// Whether a node lies on the lower border of the grid, which counts as outside.
pub fn is_on_border(node: Place) -> bool {
    node.contains(&0)
}

/// Corner of a cell; its bits are the three coordinates, x the lowest.
pub fn corner(cell: Place, corner: u8) -> Place {
    [0, 1, 2].map(|axis| cell[axis] + u32::from(corner >> axis & 1))
}

/// A sparse grid around the surface.
pub struct SurfaceCells {
    origin: DVec3,
    /// Edge of a cell, m.
    pub edge: f64,
    /// Keys of the cells that the surface crosses, ascending.
    crossed: Vec<u64>,
    /// Whether each known node lies inside.
    inside: QuickMap<u64, bool>,
}

impl SurfaceCells {
    /// Finds the cells: those that triangles reach, and from them along the surface across holes.
    pub fn new(mesh: &TriMesh, winding: &Winding, edge: f64) -> Self {
        let (low, _) = mesh.bounds().unwrap_or_default();
        let mut grid = SurfaceCells {
            origin: low - (SHIFT + MARGIN) * edge,
            edge,
            crossed: Vec::new(),
            inside: QuickMap::default(),
        };
        let mut reached = grid.reached(mesh);
        reached.sort_unstable();
        reached.dedup();
        grid.spread(reached, winding);
        grid
    }

    /// Position of a node, m.
    pub fn position(&self, [x, y, z]: Place) -> DVec3 {
        self.origin + DVec3::new(f64::from(x), f64::from(y), f64::from(z)) * self.edge
    }

    /// The cells that the surface crosses, in a fixed order.
    pub fn crossed(&self) -> Vec<Place> {
        self.crossed.iter().map(|key| place(*key)).collect()
    }

    /// Whether a corner of a crossed cell lies inside.
    pub fn is_inside(&self, node: Place) -> bool {
        self.inside.get(&key(node)).copied().unwrap_or(false)
    }

    /// The corners of a cell that lie inside, as bits.
    pub fn case(&self, cell: Place) -> usize {
        (0..8)
            .filter(|&c| self.is_inside(corner(cell, c)))
            .map(|c| 1 << c)
            .sum()
    }

    /// Moves nodes inside.
    pub fn fill(&mut self, nodes: &[Place], winding: &Winding) {
        let mut around = Vec::new();
        for &node in nodes {
            self.inside.insert(key(node), true);
            around.extend((0..8).map(|c| key(lower(node, c))));
        }
        around.extend(&self.crossed);
        around.sort_unstable();
        around.dedup();
        self.crossed.clear();
        self.spread(around, winding);
    }

    /// Keys of cells whose boxes overlap small boxes that cover the triangles.
    fn reached(&self, mesh: &TriMesh) -> Vec<u64> {
        let cells = (0..mesh.triangles.len()).into_par_iter().map(|t| {
            let mut found = Vec::new();
            let mut stack = vec![mesh.corners(t).map(|p| (p - self.origin) / self.edge)];
            while let Some([a, b, c]) = stack.pop() {
                let (low, high) = (a.min(b).min(c), a.max(b).max(c));
                if (high - low).max_element() > 1.0 {
                    let [ab, bc, ca] = [(a + b) / 2.0, (b + c) / 2.0, (c + a) / 2.0];
                    stack.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
                    continue;
                }
                let [low, high] = [low, high].map(|p| p.floor().to_array().map(|x| x as u32));
                for z in low[2]..=high[2] {
                    for y in low[1]..=high[1] {
                        found.extend((low[0]..=high[0]).map(|x| key([x, y, z])));
                    }
                }
            }
            found.sort_unstable();
            found.dedup();
            found
        });
        cells.collect::<Vec<_>>().concat()
    }

    /// Adds those of these cells that the surface crosses, and all that it crosses beyond.
    fn spread(&mut self, mut front: Vec<u64>, winding: &Winding) {
        let mut known: QuickMap<u64, bool> = QuickMap::default();
        while !front.is_empty() {
            self.find_inside(&front, winding);
            let mut beyond = Vec::new();
            for &cell in &front {
                let at = place(cell);
                let case = self.case(at);
                let is_crossed = case != 0 && case != 255;
                known.insert(cell, is_crossed);
                if is_crossed {
                    self.crossed.push(cell);
                    beyond.extend(across_mixed_faces(at, case).map(key));
                }
            }
            beyond.sort_unstable();
            beyond.dedup();
            beyond.retain(|cell| !known.contains_key(cell));
            front = beyond;
        }
        self.crossed.sort_unstable();
        self.crossed.dedup();
    }

    /// Finds which corners of cells lie inside.
    fn find_inside(&mut self, cells: &[u64], winding: &Winding) {
        let corners = cells
            .iter()
            .flat_map(|cell| (0..8).map(|c| key(corner(place(*cell), c))));
        let mut unknown: Vec<u64> = corners.filter(|n| !self.inside.contains_key(n)).collect();
        unknown.sort_unstable();
        unknown.dedup();
        let inside: Vec<bool> = unknown
            .par_iter()
            .map(|node| {
                let node = place(*node);
                !is_on_border(node) && winding.contains(self.position(node))
            })
            .collect();
        self.inside.extend(unknown.into_iter().zip(inside));
    }
}

/// The cell of which a node is this corner.
fn lower(node: Place, corner: u8) -> Place {
    [0, 1, 2].map(|axis| node[axis].saturating_sub(u32::from(corner >> axis & 1)))
}

/// Neighbours across the faces of a cell that have corners inside and outside.
fn across_mixed_faces(cell: Place, case: usize) -> impl Iterator<Item = Place> {
    (0..6_u32).filter_map(move |face| {
        let (axis, upper) = ((face / 2) as usize, face % 2);
        let on_face = (0..8_u32).filter(|corner| corner >> axis & 1 == upper);
        let bits: usize = on_face.map(|corner| 1 << corner).sum();
        if case & bits == 0 || case & bits == bits {
            return None;
        }
        let mut next = cell;
        next[axis] = match upper {
            0 => cell[axis].checked_sub(1)?,
            _ => cell[axis] + 1,
        };
        Some(next)
    })
}
