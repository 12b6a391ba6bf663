//! Random points in a shape at a minimum distance from each other: the initial generators of Voronoi cells.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::super::solid::FillRegion;
use crate::laws::weibull::uniform;

/// Spacing of the requested points over that of the candidates along each axis. Candidates are the points of a grid,
/// each displaced at random.
const CANDIDATES_PER_AXIS: f64 = 2.5;
/// Initial minimum distance over the spacing, about the largest that random points reach.
const INITIAL_DISTANCE: f64 = 0.82;
/// Factor by which the minimum distance shrinks while too few points are found.
const DISTANCE_FACTOR: f64 = 0.93;

/// Accepted points, in linked lists by the cubes of a grid.
struct PointGrid {
    low: DVec3,
    edge: f64,
    counts: [usize; 3],
    /// Number of the last point of each cube, and for each point the one before it in its cube.
    last: Vec<u32>,
    before: Vec<u32>,
    points: Vec<DVec3>,
}

const NONE: u32 = u32::MAX;

impl PointGrid {
    fn new((low, high): (DVec3, DVec3), edge: f64) -> Self {
        let counts = ((high - low) / edge).floor() + 1.0;
        let counts = counts.to_array().map(|n| n as usize);
        PointGrid {
            low,
            edge,
            counts,
            last: vec![NONE; counts.iter().product()],
            before: Vec::new(),
            points: Vec::new(),
        }
    }

    fn cube(&self, p: DVec3) -> [usize; 3] {
        let at = ((p - self.low) / self.edge).to_array();
        [0, 1, 2].map(|axis| (at[axis] as usize).min(self.counts[axis] - 1))
    }

    fn number(&self, [x, y, z]: [usize; 3]) -> usize {
        (z * self.counts[1] + y) * self.counts[0] + x
    }

    /// Whether no accepted point is nearer than `apart` (m), which must not exceed the edge of a cube.
    fn is_free(&self, p: DVec3, apart: f64) -> bool {
        let home = self.cube(p);
        let range = |axis: usize| {
            home[axis].saturating_sub(1)..=(home[axis] + 1).min(self.counts[axis] - 1)
        };
        for z in range(2) {
            for y in range(1) {
                for x in range(0) {
                    let mut at = self.last[self.number([x, y, z])];
                    while at != NONE {
                        if self.points[at as usize].distance_squared(p) < apart * apart {
                            return false;
                        }
                        at = self.before[at as usize];
                    }
                }
            }
        }
        true
    }

    fn insert(&mut self, p: DVec3) {
        let cube = self.number(self.cube(p));
        self.before.push(self.last[cube]);
        self.last[cube] = self.points.len() as u32;
        self.points.push(p);
    }
}

/// Number of candidates in a box for points `spacing` (m) apart.
pub fn candidate_count((low, high): (DVec3, DVec3), spacing: f64) -> f64 {
    ((high - low) * (CANDIDATES_PER_AXIS / spacing))
        .ceil()
        .element_product()
}

/// `count` random points in a solid within bounds, or fewer if there are not enough candidates; `spacing` (m)
/// is the cube root of the volume per point.
pub fn draw_points(
    region: &FillRegion,
    bounds: (DVec3, DVec3),
    (count, spacing): (usize, f64),
    seed: u64,
) -> Vec<DVec3> {
    let mut candidates = candidates(region, bounds, spacing / CANDIDATES_PER_AXIS, seed);
    let mut grid = PointGrid::new(bounds, INITIAL_DISTANCE * spacing);
    let mut apart = INITIAL_DISTANCE * spacing;
    while grid.points.len() < count && !candidates.is_empty() {
        candidates.retain(|p| {
            if grid.points.len() == count || !grid.is_free(*p, apart) {
                return true;
            }
            grid.insert(*p);
            false
        });
        apart *= DISTANCE_FACTOR;
    }
    grid.points
}

/// Candidates in a solid, in random order: points of a grid of this step (m), each displaced at random within
/// its cube.
fn candidates(
    region: &FillRegion,
    (low, high): (DVec3, DVec3),
    step: f64,
    seed: u64,
) -> Vec<DVec3> {
    let counts = ((high - low) / step).ceil().max(DVec3::ONE);
    let [nx, ny, nz] = counts.to_array().map(|n| n as u32);
    let each = (high - low) / counts;
    let row = |(xs, inside): &mut (Vec<f64>, Vec<bool>), row: u32| {
        // Each row has its own random stream.
        let own = seed ^ u64::from(row + 1) << 32;
        let at = [0.0, f64::from(row % ny), f64::from(row / ny)];
        let [y, z] =
            [1, 2].map(|axis| low[axis] + each[axis] * (at[axis] + uniform(own, axis as u32)));
        xs.clear();
        xs.extend((0..nx).map(|i| low.x + each.x * (f64::from(i) + uniform(own, 3 + i))));
        region.row(xs, y, z, 0.0, inside);
        let kept = xs.iter().zip(inside.iter()).zip(0u32..);
        kept.filter(|((_, inside), _)| **inside)
            .map(|((x, _), i)| (uniform(!own, i), DVec3::new(*x, y, z)))
            .collect::<Vec<_>>()
    };
    let rows: Vec<Vec<(f64, DVec3)>> = (0..ny * nz)
        .into_par_iter()
        .map_init(Default::default, row)
        .collect();
    let mut keyed = rows.concat();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    keyed.into_iter().map(|(_, p)| p).collect()
}
