//! Points of a compact cloud in the cells of a dense grid: the fastest way to neighbours where the bounding
//! box is mostly full.

use crate::parallel::prelude::*;
use glam::DVec3;

/// Cells for each point at most: beyond it cells grow, and hold more points.
const CELLS_PER_POINT: usize = 4;

/// Points by cell; a cell's points keep their order, so queries are deterministic.
#[derive(Clone, Debug)]
pub struct CellGrid {
    low: DVec3,
    per_metre: f64,
    cells: [usize; 3],
    /// Points of cell `c` are `points[starts[c]..starts[c + 1]]`.
    starts: Vec<u32>,
    points: Vec<u32>,
}

impl CellGrid {
    /// Sorts finite points into cells in which those within `reach` (m) of each other are neighbours.
    pub fn new(positions: &[DVec3], reach: f64) -> Self {
        let empty = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (low, high) = positions
            .iter()
            .fold(empty, |(low, high), p| (low.min(*p), high.max(*p)));
        // A little wider than the reach, so that no rounding puts neighbours two cells apart.
        let mut edge = (reach * 1.001).max(f64::MIN_POSITIVE);
        let cells = loop {
            let cells = ((high - low).max(DVec3::ZERO) / edge).floor() + 1.0;
            if cells.element_product() <= (CELLS_PER_POINT * positions.len() + 64) as f64 {
                break cells.to_array().map(|n| n as usize);
            }
            // Too far apart to be told by numbers.
            if edge.is_infinite() {
                break [1; 3];
            }
            edge *= 1.26;
        };
        let mut grid = CellGrid {
            low,
            per_metre: 1.0 / edge,
            cells,
            starts: vec![0; cells.iter().product::<usize>() + 1],
            points: vec![0; positions.len()],
        };
        let cell_of: Vec<u32> = positions
            .par_iter()
            .map(|p| grid.number(grid.cell(*p)) as u32)
            .collect();
        for &cell in &cell_of {
            grid.starts[cell as usize + 1] += 1;
        }
        for cell in 1..grid.starts.len() {
            grid.starts[cell] += grid.starts[cell - 1];
        }
        let mut next = grid.starts.clone();
        for (point, &cell) in (0..).zip(&cell_of) {
            let at = &mut next[cell as usize];
            grid.points[*at as usize] = point;
            *at += 1;
        }
        grid
    }

    fn cell(&self, p: DVec3) -> [usize; 3] {
        let at = ((p - self.low) * self.per_metre).to_array();
        // Saturating casts put points outside into the border cells.
        [0, 1, 2].map(|axis| (at[axis] as usize).min(self.cells[axis] - 1))
    }

    fn number(&self, [x, y, z]: [usize; 3]) -> usize {
        (z * self.cells[1] + y) * self.cells[0] + x
    }

    /// Calls `visit` with every point in the cell of `p` and in those about it; outside the grid, in the
    /// border cell nearest to it and those about that.
    pub fn around(&self, p: DVec3, mut visit: impl FnMut(u32)) {
        let centre = self.cell(p);
        let first = centre.map(|c| c.saturating_sub(1));
        let last = [0, 1, 2].map(|axis| (centre[axis] + 1).min(self.cells[axis] - 1));
        for z in first[2]..=last[2] {
            for y in first[1]..=last[1] {
                // Cells along x lie side by side.
                let row = self.number([first[0], y, z])..=self.number([last[0], y, z]);
                let points = self.starts[*row.start()]..self.starts[row.end() + 1];
                for &point in &self.points[points.start as usize..points.end as usize] {
                    visit(point);
                }
            }
        }
    }
}

impl CellGrid {
    /// Edge of a cell, m.
    pub fn edge(&self) -> f64 {
        1.0 / self.per_metre
    }

    /// Calls `visit` with every point in the cells that are `ring` cells from that of `p` along some axis and
    /// no more along any; false where there are no such cells.
    pub fn ring(&self, p: DVec3, ring: usize, mut visit: impl FnMut(u32)) -> bool {
        let centre = self.cell(p);
        let mut any = false;
        let range = |axis: usize| {
            let first = centre[axis].saturating_sub(ring);
            first..=(centre[axis] + ring).min(self.cells[axis] - 1)
        };
        let far = |axis: usize, at: usize| at.abs_diff(centre[axis]) == ring;
        let row = |y: usize, z: usize| self.number([0, y, z]);
        let mut visit_all = |first: usize, last: usize| {
            let points = self.starts[first] as usize..self.starts[last + 1] as usize;
            self.points[points].iter().for_each(|&point| visit(point));
        };
        for z in range(2) {
            for y in range(1) {
                let (row, x) = (row(y, z), range(0));
                if far(2, z) || far(1, y) {
                    any = true;
                    // Cells along x lie side by side.
                    visit_all(row + x.start(), row + x.end());
                    continue;
                }
                let ends = [*x.start(), *x.end()];
                for (x, first) in ends.into_iter().zip([true, false]) {
                    if far(0, x) && (first || ends[0] != ends[1]) {
                        any = true;
                        visit_all(row + x, row + x);
                    }
                }
            }
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with all pairs.
    fn compare(points: &[DVec3], reach: f64) {
        let grid = CellGrid::new(points, reach);
        for (i, p) in points.iter().enumerate() {
            let near = |j: u32| points[j as usize].distance(*p) <= reach;
            let mut found = Vec::new();
            grid.around(*p, |j| found.push(j));
            found.retain(|j| near(*j));
            found.sort_unstable();
            let all: Vec<u32> = (0..points.len() as u32).filter(|j| near(*j)).collect();
            assert_eq!(found, all, "point {i}");
        }
    }

    #[test]
    fn finds_what_is_within_reach() {
        let cloud = |n: u32, extent: DVec3| -> Vec<DVec3> {
            let part = |k: u32| f64::from(k.wrapping_mul(0x9E37_79B9) >> 8) / f64::from(1 << 24);
            let point = |k| DVec3::new(part(3 * k), part(3 * k + 1), part(3 * k + 2)) * extent;
            (0..n).map(point).collect()
        };
        compare(&cloud(700, DVec3::ONE), 0.13);
        compare(&cloud(300, DVec3::new(1.0, 0.0, 0.3)), 0.05);
        compare(&[DVec3::ONE], 0.1);
        // Two far apart: cells grow instead of filling the memory.
        let mut far = cloud(50, DVec3::splat(0.1));
        far.push(DVec3::splat(1e6));
        compare(&far, 0.02);
        // A lattice whose neighbours are exactly the reach apart.
        let lattice: Vec<DVec3> = (0..512)
            .map(|k| DVec3::new(f64::from(k % 8), f64::from(k / 8 % 8), f64::from(k / 64)) * 0.1)
            .collect();
        compare(&lattice, 0.1);
    }

    #[test]
    fn no_points_no_reach_and_no_bounds_are_cells_too() {
        compare(&[], 0.0);
        compare(&[], 0.1);
        compare(&[DVec3::ZERO, DVec3::ONE, DVec3::ONE], 0.0);
        CellGrid::new(&[DVec3::MIN, DVec3::MAX], 1.0).around(DVec3::MAX, |_| ());
    }
}
