//! Random close packing of equal or graded spheres in any shape: cut out of a periodic cell that is packed
//! once and repeats where the shape is larger.

mod cell;
mod relax;

use std::f64::consts::PI;

use crate::parallel::prelude::*;
use glam::DVec3;

use self::cell::{Cell, NearList};
pub(super) use self::relax::OVERLAP;
use self::relax::Spheres;
use super::hilbert;
use super::points::Points;
use super::solid::Solid;
use crate::laws::weibull::uniform;

/// Part of the cell that spheres fill at the start, more than they can without overlap.
const CROWDED: f64 = 0.72;
/// About what equal spheres fill in the end, to choose how many there are.
const FILLED: f64 = 0.64;
/// Most spheres in a cell; larger bodies repeat it.
const LARGEST: f64 = 125_000.0;
/// Shortest edge of a cell over the mean radius.
const SHORTEST: f64 = 16.0;

/// What the spheres of a body are drawn from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draw {
    /// Of the shot.
    pub seed: u64,
    /// Number of the body, so that bodies differ.
    pub body: u32,
    /// Radii lie evenly between 1 − `spread` and 1 + `spread` of their mean.
    pub spread: f64,
}

impl Draw {
    fn number(self, kind: u64, sphere: u32) -> f64 {
        uniform(self.seed ^ stream(self.body, kind, 0), sphere)
    }
}

/// What the seed is mixed with to draw numbers of a kind under 4 for a part of a body. None is 0: the scatter
/// of strengths draws from the plain seed.
pub(super) fn stream(body: u32, kind: u64, part: u32) -> u64 {
    (4 * u64::from(body) + kind + 1).rotate_right(16) ^ (u64::from(part) << 36)
}

/// Volume that a sphere stands for over the cube of the mean radius, about, where spheres fill this part of
/// the volume (absent: close packed): radii spread evenly have the mean cube 1 + spread².
pub(super) fn volume_each(spread: f64, fraction: Option<f64>) -> f64 {
    4.0 / 3.0 * PI * (1.0 + spread * spread) / fraction.unwrap_or(FILLED)
}

/// A packed periodic cell; lengths are in mean radii.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    cell: Cell,
    places: Vec<DVec3>,
    radii: Vec<f64>,
}

impl Tile {
    /// Packs a cell for a body of this size over the mean radius, or for part of it where that takes more
    /// spheres than a cell may hold.
    pub fn new(size: DVec3, draw: Draw) -> Self {
        let each = volume_each(draw.spread, None);
        let mut edges = size.max(DVec3::splat(SHORTEST));
        while edges.element_product() / each > LARGEST {
            let longest = edges.max_position();
            edges[longest] = (edges[longest] / 2.0).max(SHORTEST);
        }
        let count = (edges.element_product() / each).round() as u32;
        let place = |k| {
            let [x, y, z] = [0, 1, 2].map(|axis| draw.number(axis, k));
            DVec3::new(x, y, z) * edges
        };
        let drawn: Vec<DVec3> = (0..count).map(place).collect();
        let order = hilbert::order(&drawn);
        let mut spheres = Spheres {
            cell: Cell { edges },
            places: order.iter().map(|&k| drawn[k as usize]).collect(),
            radii: (0..count)
                .map(|k| 1.0 + draw.spread * (2.0 * draw.number(3, k) - 1.0))
                .collect(),
        };
        let filled = filled(&spheres.cell, &spheres.radii);
        let grow = (CROWDED / filled).cbrt();
        spheres.radii.iter_mut().for_each(|radius| *radius *= grow);
        spheres.pack();
        let scale = f64::from(count) / spheres.radii.iter().sum::<f64>();
        let mut tile = Tile {
            cell: Cell {
                edges: spheres.cell.edges * scale,
            },
            places: spheres.places,
            radii: spheres.radii,
        };
        tile.places.iter_mut().for_each(|p| *p *= scale);
        tile.radii.iter_mut().for_each(|radius| *radius *= scale);
        tile
    }

    /// The same drawn apart, radii kept, until spheres fill this part of the volume: as evenly loose
    /// everywhere as it was close. What is fuller stays.
    pub fn loosened(mut self, fraction: f64) -> Self {
        let apart = (filled(&self.cell, &self.radii) / fraction).cbrt().max(1.0);
        self.cell.edges *= apart;
        self.places.iter_mut().for_each(|p| *p *= apart);
        self
    }

    /// How many spheres have their centre within `factor` of the sum of radii from a sphere's centre, in the mean.
    pub fn coordination(&self, factor: f64) -> f64 {
        NearList::new(self.cell, &self.places, &self.radii, factor, 0.0).mean()
    }

    /// Spheres of mean radius `radius` (m) whose centres lie at least `depth` of their own radii inside a
    /// solid with these bounds.
    pub fn fill(
        &self,
        solid: &Solid,
        (low, high): (DVec3, DVec3),
        radius: f64,
        depth: f64,
    ) -> Points {
        let edges = self.cell.edges * radius;
        let copies = ((high - low) / edges).ceil().max(DVec3::ONE);
        let start = (low + high) / 2.0 - copies * edges / 2.0;
        let [nx, ny, nz] = copies.to_array().map(|n| n as u32);
        let corners: Vec<DVec3> = (0..nz)
            .flat_map(|z| {
                (0..ny).flat_map(move |y| {
                    (0..nx).map(move |x| DVec3::new(x.into(), y.into(), z.into()))
                })
            })
            .map(|copy| start + copy * edges)
            .collect();
        let spheres = self.places.len();
        let inside = (0..corners.len() * spheres).into_par_iter();
        let inside = inside.map_init(Vec::new, |flags, k| {
            let (p, r) = (self.places[k % spheres], self.radii[k % spheres] * radius);
            let p = corners[k / spheres] + p * radius;
            let near = (p.cmpge(low) & p.cmple(high)).all();
            if near {
                solid.row(&[p.x], p.y, p.z, depth * r, flags);
            }
            (near && flags[0]).then_some((p, r))
        });
        let inside: Vec<(DVec3, f64)> = inside.filter_map(|sphere| sphere).collect();
        let (centres, radii) = inside.into_iter().unzip();
        Points { centres, radii }
    }
}

/// Part of the cell's volume in the spheres.
fn filled(cell: &Cell, radii: &[f64]) -> f64 {
    let cubes: f64 = radii.iter().map(|r| r.powi(3)).sum();
    4.0 / 3.0 * PI * cubes / cell.edges.element_product()
}

#[cfg(test)]
mod tests;
