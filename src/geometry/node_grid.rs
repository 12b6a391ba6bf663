//! Regular grid of nodes with cubic cells.

use glam::DVec3;

/// Nodes `origin + spacing · (i, j, k)`; `i` runs fastest in flat arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeGrid {
    /// Position of node (0, 0, 0), m.
    pub origin: DVec3,
    /// Edge of a cell, m.
    pub spacing: f64,
    /// Nodes along x, y and z.
    pub nodes: [usize; 3],
}

impl NodeGrid {
    /// Grid around the box `lo..hi`, centred on it, with at least `margin` spare cells on each side.
    pub fn around(lo: DVec3, hi: DVec3, spacing: f64, margin: usize) -> Self {
        let cells = ((hi - lo) / spacing)
            .ceil()
            .to_array()
            .map(|n| n.max(1.0)) // a flat box still gets a cell
            .map(|n| n as usize + 2 * margin);
        let extent = DVec3::new(cells[0] as f64, cells[1] as f64, cells[2] as f64) * spacing;
        NodeGrid {
            origin: (lo + hi - extent) / 2.0,
            spacing,
            nodes: cells.map(|n| n + 1),
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.iter().product()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Strides in a flat array from a node to the next one along x, y and z.
    pub fn strides(&self) -> [usize; 3] {
        [1, self.nodes[0], self.nodes[0] * self.nodes[1]]
    }

    /// Flat index of a node.
    pub fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        (k * self.nodes[1] + j) * self.nodes[0] + i
    }

    /// Node coordinates (i, j, k) of a flat index.
    pub fn coords(&self, index: usize) -> [usize; 3] {
        let row = index / self.nodes[0];
        [
            index % self.nodes[0],
            row % self.nodes[1],
            row / self.nodes[1],
        ]
    }

    /// Position of a node, m.
    pub fn position(&self, [i, j, k]: [usize; 3]) -> DVec3 {
        self.origin + DVec3::new(i as f64, j as f64, k as f64) * self.spacing
    }

    /// Range of node indices along `axis` whose coordinate lies in `lo..=hi`, m.
    pub fn span(&self, axis: usize, lo: f64, hi: f64) -> std::ops::Range<usize> {
        let scaled = |x: f64| (x - self.origin[axis]) / self.spacing;
        let first = scaled(lo).ceil().max(0.0) as usize;
        let end = (scaled(hi).floor() + 1.0).clamp(0.0, self.nodes[axis] as f64) as usize;
        first.min(end)..end
    }
}
