//! The surfaces of fragments of cells: faces that are free or broken.
//!
//! A corner of the complex is one vertex of a fragment for each group of cells around it that whole faces
//! join there, and moves with the mean of these cells. So every surface is closed, and a fragment of one cell
//! is that cell.

use std::collections::HashMap;

use super::complex::Complex;
use crate::columns::NONE;
use crate::math::UnionFind;
use crate::reconstruct::surface::carried::{CARRIERS, Carried, Carrier};
use crate::reconstruct::surface::shell::Shell;

/// The surface of each fragment by label; `rows` are the cells' rows in the packing, `is_whole` tells of a
/// bond by its row.
pub fn surfaces(
    complex: &Complex,
    rows: &[u32],
    labels: &[u32],
    is_whole: impl Fn(u32) -> bool,
) -> Vec<Carried> {
    let groups = Groups::new(complex, &is_whole);
    let mut names: Vec<u32> = labels.to_vec();
    names.sort_unstable();
    names.dedup();
    let mut found: Vec<Drawing> = names.iter().map(|_| Drawing::default()).collect();
    for polygon in &complex.polygons {
        let is_free = polygon.other == NONE;
        if !is_free && is_whole(polygon.bond) {
            continue;
        }
        let label = labels[polygon.cell as usize];
        let drawing = &mut found[names.partition_point(|name| *name < label)];
        let vertices: Vec<u32> = polygon
            .corners
            .iter()
            .map(|&corner| drawing.vertex(complex, &groups, (corner, polygon.cell), rows))
            .collect();
        for pair in vertices[1..].windows(2) {
            let triangles = &mut drawing.shell.mesh.triangles;
            triangles.push([vertices[0], pair[0], pair[1]]);
            drawing.shell.inside.push(u8::from(!is_free));
        }
    }
    names
        .into_iter()
        .zip(found)
        .map(|(fragment, drawing)| Carried {
            fragment,
            shell: drawing.shell,
            carriers: drawing.carriers,
        })
        .collect()
}

/// Which cells around each corner belong together there.
struct Groups {
    /// Where the cells around each corner begin.
    start: Vec<u32>,
    /// Of each cell around each corner the smallest place of its group.
    group: Vec<u32>,
}

impl Groups {
    fn new(complex: &Complex, is_whole: &impl Fn(u32) -> bool) -> Self {
        let mut start = vec![0u32];
        for cells in &complex.around {
            start.push(start[start.len() - 1] + cells.len() as u32);
        }
        let mut sets = UnionFind::new(start[start.len() - 1] as usize);
        let mut groups = Groups {
            start,
            group: Vec::new(),
        };
        for polygon in complex.polygons.iter().filter(|one| one.other != NONE) {
            if !is_whole(polygon.bond) {
                continue;
            }
            for &corner in &polygon.corners {
                let ends =
                    [polygon.cell, polygon.other].map(|cell| groups.place(complex, corner, cell));
                if let [Some(a), Some(b)] = ends {
                    sets.join(a, b);
                }
            }
        }
        groups.group = sets.roots();
        groups
    }

    /// Place of a cell among those around a corner.
    fn place(&self, complex: &Complex, corner: u32, cell: u32) -> Option<u32> {
        let around = &complex.around[corner as usize];
        let found = around.binary_search(&cell).ok()?;
        Some(self.start[corner as usize] + found as u32)
    }
}

/// A surface as it is drawn.
#[derive(Default)]
struct Drawing {
    shell: Shell,
    carriers: Vec<[Carrier; CARRIERS]>,
    /// Number of each vertex by its group.
    numbers: HashMap<u32, u32>,
}

impl Drawing {
    /// Number of the vertex of a cell at a corner.
    fn vertex(
        &mut self,
        complex: &Complex,
        groups: &Groups,
        (corner, cell): (u32, u32),
        rows: &[u32],
    ) -> u32 {
        let place = groups.place(complex, corner, cell);
        let place = place.expect("the corner is one of the cell's");
        let group = groups.group[place as usize];
        if let Some(&known) = self.numbers.get(&group) {
            return known;
        }
        let mesh = &mut self.shell.mesh;
        let number = mesh.positions.len() as u32;
        mesh.positions.push(complex.corners[corner as usize]);
        let first = groups.start[corner as usize];
        let cells = (first..).zip(&complex.around[corner as usize]);
        let members = cells.filter(|(at, _)| groups.group[*at as usize] == group);
        let mut carriers = [Carrier::default(); CARRIERS];
        for (carrier, (_, &cell)) in carriers.iter_mut().zip(members) {
            *carrier = Carrier {
                row: rows[cell as usize],
                weight: 1.0,
            };
        }
        self.carriers.push(carriers);
        self.numbers.insert(group, number);
        number
    }
}
