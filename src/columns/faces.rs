//! Rows of the table of faces.

use glam::DVec3;

use super::tables::Faces;

/// What stands for a cell or a bond where there is none.
pub const NONE: u32 = u32::MAX;

impl Faces {
    fn vector(row: usize, [x, y, z]: [&[f64]; 3]) -> DVec3 {
        DVec3::new(x[row], y[row], z[row])
    }

    /// Whether there is no cell beyond the face of a row.
    pub fn is_free(&self, row: usize) -> bool {
        self.j[row] == NONE
    }

    /// Rows of the free faces.
    pub fn free(&self) -> impl Iterator<Item = usize> {
        (0..self.id.len()).filter(|&row| self.is_free(row))
    }

    /// Centre of area, m.
    pub fn centre(&self, row: usize) -> DVec3 {
        Self::vector(row, [&self.x, &self.y, &self.z])
    }

    /// Unit normal out of the first cell.
    pub fn normal(&self, row: usize) -> DVec3 {
        Self::vector(row, [&self.nx, &self.ny, &self.nz])
    }

    /// First principal axis; the second is normal × first.
    pub fn axis(&self, row: usize) -> DVec3 {
        Self::vector(row, [&self.sx, &self.sy, &self.sz])
    }
}
