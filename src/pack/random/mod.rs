//! Random close packing of equal or graded spheres in any shape, cut out of a periodic cell that is packed
//! once and repeats where the shape is larger.

mod cell;
mod relax;

use std::f64::consts::PI;

use crate::parallel::prelude::*;
use glam::DVec3;

use self::cell::{NeighbourList, PeriodicCell};
pub(super) use self::relax::MAX_OVERLAP;
use self::relax::SoftSpheres;
use super::filled::RandomStatistics;
use super::hilbert;
use super::points::ElementSpheres;
use super::sections::BondedElements;
use super::solid::FillRegion;
use crate::laws::weibull::uniform;

/// Initial filling fraction of the cell, more than spheres can fill without overlap.
const INITIAL_FILLING: f64 = 0.72;
/// Approximate final filling fraction of equal spheres, from which their number is chosen.
const CLOSE_FILLING: f64 = 0.64;
/// Largest number of spheres in a cell; larger bodies repeat it.
const MAX_SPHERES: f64 = 125_000.0;
/// Shortest edge of a cell over the mean radius.
const MIN_EDGE: f64 = 16.0;

/// Source of the random numbers for the spheres of a body, and their spread.
#[derive(Clone, Copy, Debug)]
pub(super) struct SphereDraw {
    /// Seed of the shot.
    pub seed: u64,
    /// Number of the body; makes the packings of bodies different.
    pub body: u32,
    /// Radii are uniformly distributed between 1 − `spread` and 1 + `spread` times their mean.
    pub spread: f64,
}

impl SphereDraw {
    fn number(self, kind: u64, sphere: u32) -> f64 {
        uniform(self.seed ^ stream(self.body, kind, 0), sphere)
    }
}

/// Value to combine with the seed by exclusive or, for a separate random stream of each body, kind (below 4)
/// and part. It is never 0, since the scatter of strengths uses the seed itself.
pub(super) fn stream(body: u32, kind: u64, part: u32) -> u64 {
    (4 * u64::from(body) + kind + 1).rotate_right(16) ^ (u64::from(part) << 36)
}

/// Approximate volume per sphere over the cube of the mean radius, where spheres fill this fraction of the
/// volume (`None`: close packing). Uniformly distributed radii have the mean cube 1 + spread².
pub(super) fn volume_per_element(spread: f64, fraction: Option<f64>) -> f64 {
    4.0 / 3.0 * PI * (1.0 + spread * spread) / fraction.unwrap_or(CLOSE_FILLING)
}

/// A packed periodic cell; lengths are in mean radii.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    cell: PeriodicCell,
    positions: Vec<DVec3>,
    radii: Vec<f64>,
}

impl Tile {
    /// Packs a cell for a body of this size over the mean radius; the cell is smaller than the body where the
    /// body would need more spheres than a cell may hold.
    pub fn new(size: DVec3, draw: SphereDraw) -> Self {
        let each = volume_per_element(draw.spread, None);
        let mut edges = size.max(DVec3::splat(MIN_EDGE));
        while edges.element_product() / each > MAX_SPHERES {
            let longest = edges.max_position();
            edges[longest] = (edges[longest] / 2.0).max(MIN_EDGE);
        }
        let count = (edges.element_product() / each).round() as u32;
        let position = |k| {
            let [x, y, z] = [0, 1, 2].map(|axis| draw.number(axis, k));
            DVec3::new(x, y, z) * edges
        };
        let drawn: Vec<DVec3> = (0..count).map(position).collect();
        let order = hilbert::order(&drawn);
        let mut spheres = SoftSpheres {
            cell: PeriodicCell { edges },
            positions: order.iter().map(|&k| drawn[k as usize]).collect(),
            radii: (0..count)
                .map(|k| 1.0 + draw.spread * (2.0 * draw.number(3, k) - 1.0))
                .collect(),
        };
        let filling_fraction = filling_fraction(&spheres.cell, &spheres.radii);
        let grow = (INITIAL_FILLING / filling_fraction).cbrt();
        spheres.radii.iter_mut().for_each(|radius| *radius *= grow);
        spheres.relax();
        let scale = f64::from(count) / spheres.radii.iter().sum::<f64>();
        let mut tile = Tile {
            cell: PeriodicCell {
                edges: spheres.cell.edges * scale,
            },
            positions: spheres.positions,
            radii: spheres.radii,
        };
        tile.positions.iter_mut().for_each(|p| *p *= scale);
        tile.radii.iter_mut().for_each(|radius| *radius *= scale);
        tile
    }

    /// Stretches the cell at constant radii until spheres fill this fraction of the volume, which loosens the
    /// packing uniformly. It is never compressed.
    pub fn loosened(mut self, fraction: f64) -> Self {
        let apart = (filling_fraction(&self.cell, &self.radii) / fraction)
            .cbrt()
            .max(1.0);
        self.cell.edges *= apart;
        self.positions.iter_mut().for_each(|p| *p *= apart);
        self
    }

    /// Statistics of the packing, whose radii are drawn with this `spread`. Neighbours are spheres whose centres are
    /// nearer than `factor` times the sum of radii.
    pub fn statistics(&self, factor: f64, spread: f64) -> RandomStatistics {
        let list = NeighbourList::new(self.cell, &self.positions, &self.radii, factor, 0.0);
        let all = 0..self.positions.len() as u32;
        let pairs = all.flat_map(|i| {
            let later = list.of(i as usize).iter().filter(move |j| **j > i);
            later.map(move |&j| [i, j])
        });
        let pairs: Vec<[u32; 2]> = pairs.collect();
        let elements = BondedElements {
            pairs: &pairs,
            length: |pair: [u32; 2]| {
                let [p, q] = pair.map(|k| self.positions[k as usize]);
                self.cell.between(p, q).length()
            },
            radii: &self.radii,
        };
        RandomStatistics {
            coordination: list.mean_count(),
            share: elements.mean_share(),
            spread,
        }
    }

    /// Spheres of mean radius `radius` (m) whose centres lie at least `depth` times their own radius inside a
    /// solid with these bounds.
    pub fn fill(
        &self,
        region: &FillRegion,
        (low, high): (DVec3, DVec3),
        radius: f64,
        depth: f64,
    ) -> ElementSpheres {
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
        let spheres = self.positions.len();
        let inside = (0..corners.len() * spheres).into_par_iter();
        let inside = inside.map_init(Vec::new, |flags, k| {
            let (p, r) = (
                self.positions[k % spheres],
                self.radii[k % spheres] * radius,
            );
            let p = corners[k / spheres] + p * radius;
            let near = (p.cmpge(low) & p.cmple(high)).all();
            if near {
                region.row(&[p.x], p.y, p.z, depth * r, flags);
            }
            (near && flags[0]).then_some((p, r))
        });
        let (centres, radii) = inside.filter_map(|sphere| sphere).unzip();
        ElementSpheres { centres, radii }
    }
}

/// Fraction of the cell's volume inside the spheres.
fn filling_fraction(cell: &PeriodicCell, radii: &[f64]) -> f64 {
    let cubes: f64 = radii.iter().map(|r| r.powi(3)).sum();
    4.0 / 3.0 * PI * cubes / cell.edges.element_product()
}

#[cfg(test)]
mod tests;
