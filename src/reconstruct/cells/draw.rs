//! Surfaces of fragments that consist of cells: all faces that are free or broken.
//!
//! At a corner of the complex, cells that share intact faces there form a group. A fragment has one vertex
//! for each group at a corner, and that vertex moves with the mean of the cells in the group. So every
//! surface is closed, and a fragment of one cell is that cell.

use std::collections::HashMap;

use super::complex::CellComplex;
use crate::columns::NONE;
use crate::math::UnionFind;
use crate::reconstruct::surface::rest_surface::RestSurface;
use crate::reconstruct::surface::rigged::{Influence, MAX_INFLUENCES, RiggedSurface};

/// Surface of each fragment, in the order of the labels. `rows` are the cells' rows in the packing;
/// `is_whole` says whether the bond in a row of the packing is intact.
pub fn surfaces(
    complex: &CellComplex,
    rows: &[u32],
    labels: &[u32],
    is_whole: impl Fn(u32) -> bool,
) -> Vec<RiggedSurface> {
    let groups = CornerGroups::new(complex, &is_whole);
    let mut distinct_labels: Vec<u32> = labels.to_vec();
    distinct_labels.sort_unstable();
    distinct_labels.dedup();
    let mut builders: Vec<SurfaceBuilder> = distinct_labels
        .iter()
        .map(|_| SurfaceBuilder::default())
        .collect();
    for polygon in &complex.polygons {
        let is_free = polygon.other == NONE;
        if !is_free && is_whole(polygon.bond) {
            continue;
        }
        let label = labels[polygon.cell as usize];
        let builder = &mut builders[distinct_labels.partition_point(|name| *name < label)];
        let vertices: Vec<u32> = polygon
            .corners
            .iter()
            .map(|&corner| builder.vertex(complex, &groups, (corner, polygon.cell), rows))
            .collect();
        for pair in vertices[1..].windows(2) {
            let triangles = &mut builder.rest_surface.mesh.triangles;
            triangles.push([vertices[0], pair[0], pair[1]]);
            builder.rest_surface.inside.push(u8::from(!is_free));
        }
    }
    distinct_labels
        .into_iter()
        .zip(builders)
        .map(|(fragment, builder)| RiggedSurface {
            fragment,
            rest_surface: builder.rest_surface,
            influences: builder.influences,
        })
        .collect()
}

/// Groups of cells at each corner that are joined by intact faces there.
struct CornerGroups {
    /// Index of the first cell of each corner in `group`.
    start: Vec<u32>,
    /// For each cell at each corner, the smallest index in `group` of the cells in the same group.
    group: Vec<u32>,
}

impl CornerGroups {
    fn new(complex: &CellComplex, is_whole: &impl Fn(u32) -> bool) -> Self {
        let mut start = vec![0u32];
        for cells in &complex.around {
            start.push(start[start.len() - 1] + cells.len() as u32);
        }
        let mut sets = UnionFind::new(start[start.len() - 1] as usize);
        let mut groups = CornerGroups {
            start,
            group: Vec::new(),
        };
        for polygon in complex.polygons.iter().filter(|one| one.other != NONE) {
            if !is_whole(polygon.bond) {
                continue;
            }
            for &corner in &polygon.corners {
                let ends =
                    [polygon.cell, polygon.other].map(|cell| groups.index(complex, corner, cell));
                if let [Some(a), Some(b)] = ends {
                    sets.join(a, b);
                }
            }
        }
        groups.group = sets.roots();
        groups
    }

    /// Index in `group` of a cell at a corner.
    fn index(&self, complex: &CellComplex, corner: u32, cell: u32) -> Option<u32> {
        let around = &complex.around[corner as usize];
        let builders = around.binary_search(&cell).ok()?;
        Some(self.start[corner as usize] + builders as u32)
    }
}

/// A surface under construction.
#[derive(Default)]
struct SurfaceBuilder {
    rest_surface: RestSurface,
    influences: Vec<[Influence; MAX_INFLUENCES]>,
    /// Vertex index of each group.
    vertex_of_group: HashMap<u32, u32>,
}

impl SurfaceBuilder {
    /// Index of the vertex of a cell at a corner, added if it is new.
    fn vertex(
        &mut self,
        complex: &CellComplex,
        groups: &CornerGroups,
        (corner, cell): (u32, u32),
        rows: &[u32],
    ) -> u32 {
        let index = groups.index(complex, corner, cell);
        let index = index.expect("the corner is one of the cell's");
        let group = groups.group[index as usize];
        if let Some(&known) = self.vertex_of_group.get(&group) {
            return known;
        }
        let mesh = &mut self.rest_surface.mesh;
        let number = mesh.positions.len() as u32;
        mesh.positions.push(complex.corners[corner as usize]);
        let first = groups.start[corner as usize];
        let cells = (first..).zip(&complex.around[corner as usize]);
        let members = cells.filter(|(at, _)| groups.group[*at as usize] == group);
        let mut influences = [Influence::default(); MAX_INFLUENCES];
        for (influence, (_, &cell)) in influences.iter_mut().zip(members) {
            *influence = Influence {
                row: rows[cell as usize],
                weight: 1.0,
            };
        }
        self.influences.push(influences);
        self.vertex_of_group.insert(group, number);
        number
    }
}
