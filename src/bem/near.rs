//! Panels near a point, which are integrated exactly, and the rim of the region that they cover.

use glam::DVec3;

use super::edges::Edges;
use super::surface::Surface;
use crate::geometry::hash_grid::HashGrid;

/// Finds the panels near a point. Panels are grouped by size, in powers of two, with one grid of centroids
/// for each group.
pub struct NearPanels<'a> {
    surface: &'a Surface,
    edges: &'a Edges,
    radius: f64,
    grids: Vec<(HashGrid, Vec<u32>)>,
}

/// A near panel and a side of it across which the other panel is not near; side k runs from corner k to the
/// next.
pub type RimSide = (usize, usize);

impl<'a> NearPanels<'a> {
    /// `radius`: a panel is near if the distance of the point from its centroid, over its longest edge, is
    /// smaller.
    pub fn new(surface: &'a Surface, edges: &'a Edges, radius: f64) -> Self {
        let smallest = surface.sizes.iter().copied().fold(f64::INFINITY, f64::min);
        let class = |t: usize| (surface.sizes[t] / smallest).log2().floor() as usize;
        let mut classes: Vec<Vec<u32>> = Vec::new();
        for t in 0..surface.len() {
            let class = class(t);
            classes.resize(classes.len().max(class + 1), Vec::new());
            classes[class].push(t as u32);
        }
        let filled = classes.into_iter().enumerate();
        let filled = filled.filter(|(_, members)| !members.is_empty());
        let grid = |(class, members): (usize, Vec<u32>)| {
            let cell = radius * smallest * 2.0f64.powi(class as i32 + 1);
            let place = |k: usize| surface.centroids[members[k] as usize];
            (HashGrid::new(members.len(), cell, place), members)
        };
        NearPanels {
            surface,
            edges,
            radius,
            grids: filled.map(grid).collect(),
        }
    }

    fn is_near(&self, x: DVec3, t: u32) -> bool {
        let t = t as usize;
        x.distance(self.surface.centroids[t]) < self.radius * self.surface.sizes[t]
    }

    /// Indices of the panels near a point, ascending.
    pub fn panels(&self, x: DVec3) -> Vec<u32> {
        let mut found = Vec::new();
        for (grid, members) in &self.grids {
            grid.around(x, |k| {
                let t = members[k as usize];
                if self.is_near(x, t) {
                    found.push(t);
                }
            });
        }
        found.sort_unstable();
        found
    }

    /// Sides between the panels near a point and others.
    pub fn rim(&self, x: DVec3, panels: &[u32]) -> Vec<RimSide> {
        let mut rim = Vec::new();
        for &t in panels {
            for (k, &other) in self.edges.across[t as usize].iter().enumerate() {
                if !self.is_near(x, other) {
                    rim.push((t as usize, k));
                }
            }
        }
        rim
    }
}
