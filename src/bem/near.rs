//! Panels that are integrated exactly about a point, and the rim of the region that they cover.

use glam::DVec3;

use super::edges::Edges;
use super::surface::Surface;
use crate::geometry::hash_grid::HashGrid;

/// Finds the panels near a point: one grid of centroids for each size, doubling.
pub struct Near<'a> {
    surface: &'a Surface,
    edges: &'a Edges,
    radius: f64,
    grids: Vec<(HashGrid, Vec<u32>)>,
}

/// A near panel and a side of it whose other panel is not near; side k runs from corner k to the next.
pub type Rim = (usize, usize);

impl<'a> Near<'a> {
    /// `radius`: distance of a point from a panel's centroid over the panel's longest edge, below which the
    /// panel is near.
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
        Near {
            surface,
            edges,
            radius,
            grids: filled.map(grid).collect(),
        }
    }

    fn holds(&self, x: DVec3, t: u32) -> bool {
        let t = t as usize;
        x.distance(self.surface.centroids[t]) < self.radius * self.surface.sizes[t]
    }

    /// Panels near a point, in their order.
    pub fn panels(&self, x: DVec3) -> Vec<u32> {
        let mut found = Vec::new();
        for (grid, members) in &self.grids {
            grid.around(x, |k| {
                let t = members[k as usize];
                if self.holds(x, t) {
                    found.push(t);
                }
            });
        }
        found.sort_unstable();
        found
    }

    /// Sides between the panels near a point and others.
    pub fn rim(&self, x: DVec3, panels: &[u32]) -> Vec<Rim> {
        let mut rim = Vec::new();
        for &t in panels {
            for (k, &other) in self.edges.across[t as usize].iter().enumerate() {
                if !self.holds(x, other) {
                    rim.push((t as usize, k));
                }
            }
        }
        rim
    }
}
