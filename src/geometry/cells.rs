//! Convex cells that fill a body, and the faces between them.

use glam::DVec3;

use super::convex::Convex;
use super::mass::Mass;
use super::section::Section;

/// A face shared by two cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedFace {
    /// Indices of both cells, the lower one first; the section's normal points from the first to the second.
    pub cells: [u32; 2],
    /// Section of the face, from the first cell.
    pub section: Section,
    /// Distance between the cells' centres, m.
    pub distance: f64,
}

/// A face of a cell without a cell beyond it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeFace {
    /// Index of the cell.
    pub cell: u32,
    /// Section of the face; its normal points outwards.
    pub section: Section,
}

/// Cells and their faces.
#[derive(Clone, Debug)]
pub struct Cells {
    /// Mass properties of each cell, for density 1.
    pub masses: Vec<Mass>,
    /// Faces between cells, ordered by first cell and then by its faces.
    pub between: Vec<SharedFace>,
    /// The free faces, ordered by cell.
    pub free: Vec<FreeFace>,
}

impl Cells {
    /// Builds the cells from solids. The tag of a face is the index of the cell beyond it, or a larger number
    /// if there is none.
    ///
    /// # Errors
    /// The index of a cell that is flat or empty.
    pub fn of(solids: &[Convex]) -> Result<Self, u32> {
        let mass = |(own, solid): (usize, &Convex)| solid.mass().ok_or(own as u32);
        let masses: Vec<Mass> = solids
            .iter()
            .enumerate()
            .map(mass)
            .collect::<Result<_, _>>()?;
        let (mut between, mut free) = (Vec::new(), Vec::new());
        for (cell, solid) in (0u32..).zip(solids) {
            for face in &solid.faces {
                // A sliver without area transmits no force.
                let Some(section) = Section::of(&face.corners) else {
                    continue;
                };
                if face.tag as usize >= solids.len() {
                    free.push(FreeFace { cell, section });
                } else if cell < face.tag {
                    let centres = [cell, face.tag].map(|cell| masses[cell as usize].centre);
                    between.push(SharedFace {
                        cells: [cell, face.tag],
                        section,
                        distance: centres[0].distance(centres[1]),
                    });
                }
            }
        }
        Ok(Cells {
            masses,
            between,
            free,
        })
    }

    /// Removes faces smaller than this fraction of their cell's surface; between two cells, of the smaller
    /// surface.
    pub fn remove_slivers(&mut self, part: f64) {
        let mut surfaces = vec![0.0; self.masses.len()];
        for one in &self.between {
            for cell in one.cells {
                surfaces[cell as usize] += one.section.area;
            }
        }
        for one in &self.free {
            surfaces[one.cell as usize] += one.section.area;
        }
        let least = |cell: u32| part * surfaces[cell as usize];
        self.between.retain(|one| {
            let [a, b] = one.cells.map(least);
            one.section.area >= a.min(b)
        });
        self.free.retain(|one| one.section.area >= least(one.cell));
    }

    /// For each cell, the volume of the pyramids from its centre over its free faces, m³.
    pub fn free_volumes(&self) -> Vec<f64> {
        let mut volumes = vec![0.0; self.masses.len()];
        for FreeFace { cell, section } in &self.free {
            let arm: DVec3 = section.centre - self.masses[*cell as usize].centre;
            volumes[*cell as usize] += section.area * section.normal.dot(arm) / 3.0;
        }
        volumes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::voronoi;

    #[test]
    fn a_grid_of_bricks_has_their_textbook_values() {
        let size = DVec3::new(0.2, 0.5, 1.0);
        let generators: Vec<DVec3> = (0..27)
            .map(|k| DVec3::new((k % 3) as f64, (k / 3 % 3) as f64, (k / 9) as f64) * size)
            .collect();
        let bounds = [-0.5 * size, 2.5 * size];
        let solids = voronoi::cells(&generators, 27, bounds, [u32::MAX; 6]).expect("cells");
        let cells = Cells::of(&solids).expect("solid");
        assert_eq!((cells.between.len(), cells.free.len()), (54, 54));
        let volume = size.element_product();
        for (mass, generator) in cells.masses.iter().zip(&generators) {
            assert!((mass.volume / volume - 1.0).abs() < 1e-12);
            assert!(mass.centre.distance(*generator) < 1e-13);
            let [x, y, z] = (size * size).to_array();
            let expected = DVec3::new(y + z, x + z, x + y) * (volume / 12.0);
            for axis in 0..3 {
                assert!((mass.inertia.col(axis)[axis] / expected[axis] - 1.0).abs() < 1e-10);
            }
        }
        // The middle cell has no free face, a corner cell three: half of its volume.
        let free = cells.free_volumes();
        assert_eq!(free[13], 0.0);
        assert!((free[0] / volume - 0.5).abs() < 1e-12);
        for one in &cells.between {
            let [a, b] = one.cells.map(|cell| cells.masses[cell as usize].centre);
            assert!((one.section.normal - (b - a) / one.distance).length() < 1e-12);
        }
    }

    /// Σ_J ½ S D n ⊗ n = V 1 over the faces of a cell on average (002, eq. 11).
    #[test]
    fn faces_of_random_cells_add_up_to_their_volume_on_average() {
        let mut state = 5u64;
        let mut number = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as f64 / f64::from(1u32 << 31)
        };
        let generators: Vec<DVec3> = (0..3000)
            .map(|_| DVec3::new(number(), number(), number()))
            .collect();
        let bounds = [DVec3::ZERO, DVec3::ONE];
        let solids = voronoi::cells(&generators, 3000, bounds, [u32::MAX; 6]).expect("cells");
        let cells = Cells::of(&solids).expect("solid");
        let all: f64 = cells.masses.iter().map(|mass| mass.volume).sum();
        assert!((all - 1.0).abs() < 1e-12);
        let trace: f64 = cells
            .between
            .iter()
            .map(|one| {
                let [a, b] = one.cells.map(|cell| generators[cell as usize]);
                one.section.area * a.distance(b)
            })
            .sum();
        let outer: f64 = cells
            .free
            .iter()
            .map(|one| {
                let arm = one.section.centre - generators[one.cell as usize];
                one.section.area * one.section.normal.dot(arm)
            })
            .sum();
        // Pyramids over all faces, each of volume S h/3 with h half the distance.
        assert!((trace + outer - 3.0).abs() < 1e-10, "{trace} {outer}");
    }
}
