//! Walls of one layer of cells: where faces twist as a plate does, not as a solid.

use glam::DVec3;

use crate::columns::Faces;
use crate::laws::cell::plate_torsion;

/// Cosine of the angle up to which two free faces of a cell lie on opposite sides of it, or an axis of a face points through a wall.
const OPPOSITE: f64 = 0.9;

/// The free faces of each cell.
pub struct Thin {
    /// Outward normals.
    normals: Vec<Vec<DVec3>>,
}

impl Thin {
    /// Of the faces of so many cells.
    pub fn of(table: &Faces, cells: usize) -> Self {
        let mut normals = vec![Vec::new(); cells];
        for row in table.free() {
            normals[table.i[row] as usize].push(table.normal(row));
        }
        Thin { normals }
    }

    /// Free sides of a cell towards an axis, 0 to 2.
    fn free(&self, cell: usize, axis: DVec3) -> u32 {
        let along = |sign: f64| {
            let mut normals = self.normals[cell].iter();
            u32::from(normals.any(|normal| sign * normal.dot(axis) > OPPOSITE))
        };
        along(1.0) + along(-1.0)
    }

    /// Torsion constant of the face between two cells, m⁴; nothing where they are part of a solid.
    pub fn torsion(&self, ends: [usize; 2], (table, row): (&Faces, usize)) -> Option<f64> {
        let s = table.axis(row);
        let t = table.normal(row).cross(s);
        let area = table.area[row];
        // Edges of the rectangle of these area and moments.
        let edge = |second: f64| (12.0 * second / area).sqrt();
        let (along_s, along_t) = (edge(table.second_s[row]), edge(table.second_t[row]));
        let is_through = |axis: DVec3| ends.iter().all(|&cell| self.free(cell, axis) == 2);
        let sides = |axis: DVec3| {
            let [a, b] = ends.map(|cell| f64::from(self.free(cell, axis)));
            0.5 * (a + b)
        };
        match (is_through(s), is_through(t)) {
            (false, false) => None,
            (true, false) => Some(plate_torsion(along_t, along_s, sides(t))),
            (false, true) => Some(plate_torsion(along_s, along_t, sides(s))),
            // A bar: the shorter edge is its thickness.
            (true, true) => Some(plate_torsion(
                along_s.max(along_t),
                along_s.min(along_t),
                2.0,
            )),
        }
    }
}
