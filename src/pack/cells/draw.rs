//! Places drawn in a shape, apart from each other: where the generators of Voronoi cells begin.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::super::solid::Solid;
use crate::laws::weibull::uniform;

/// Places of a lattice along each axis that are tried for each one wanted, each moved at random.
const TRIED: f64 = 2.5;
/// Distance over the spacing within which no two are kept at first: farther apart random places hardly lie.
const APART: f64 = 0.82;
/// By how much it shrinks as long as too few are found.
const SHRINK: f64 = 0.93;

/// Places kept so far, in the cubes of a grid.
struct Board {
    low: DVec3,
    edge: f64,
    counts: [usize; 3],
    /// Number of the last place of each cube, and of the one before it.
    last: Vec<u32>,
    before: Vec<u32>,
    places: Vec<DVec3>,
}

const NONE: u32 = u32::MAX;

impl Board {
    fn new((low, high): (DVec3, DVec3), edge: f64) -> Self {
        let counts = ((high - low) / edge).floor() + 1.0;
        let counts = counts.to_array().map(|n| n as usize);
        Board {
            low,
            edge,
            counts,
            last: vec![NONE; counts.iter().product()],
            before: Vec::new(),
            places: Vec::new(),
        }
    }

    fn cube(&self, p: DVec3) -> [usize; 3] {
        let at = ((p - self.low) / self.edge).to_array();
        [0, 1, 2].map(|axis| (at[axis] as usize).min(self.counts[axis] - 1))
    }

    fn number(&self, [x, y, z]: [usize; 3]) -> usize {
        (z * self.counts[1] + y) * self.counts[0] + x
    }

    /// Whether no place lies nearer than `apart` (m), at most the edge of a cube.
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
                        if self.places[at as usize].distance_squared(p) < apart * apart {
                            return false;
                        }
                        at = self.before[at as usize];
                    }
                }
            }
        }
        true
    }

    fn keep(&mut self, p: DVec3) {
        let cube = self.number(self.cube(p));
        self.before.push(self.last[cube]);
        self.last[cube] = self.places.len() as u32;
        self.places.push(p);
    }
}

/// How many places are tried for `count` of them, `spacing` (m) apart, in a box.
pub fn tries((low, high): (DVec3, DVec3), spacing: f64) -> f64 {
    ((high - low) * (TRIED / spacing)).ceil().element_product()
}

/// `count` places in a solid within bounds, or as many as there are, drawn by `seed`; `spacing` (m) is the
/// edge of the cube that each one has.
pub fn draw(
    solid: &Solid,
    bounds: (DVec3, DVec3),
    (count, spacing): (usize, f64),
    seed: u64,
) -> Vec<DVec3> {
    let mut tried = candidates(solid, bounds, spacing / TRIED, seed);
    let mut board = Board::new(bounds, APART * spacing);
    let mut apart = APART * spacing;
    while board.places.len() < count && !tried.is_empty() {
        tried.retain(|p| {
            if board.places.len() == count || !board.is_free(*p, apart) {
                return true;
            }
            board.keep(*p);
            false
        });
        apart *= SHRINK;
    }
    board.places
}

/// Places of a lattice with this step (m) in a solid, each moved at random within its cube, in random order.
fn candidates(solid: &Solid, (low, high): (DVec3, DVec3), step: f64, seed: u64) -> Vec<DVec3> {
    let counts = ((high - low) / step).ceil().max(DVec3::ONE);
    let [nx, ny, nz] = counts.to_array().map(|n| n as u32);
    let each = (high - low) / counts;
    let row = |(xs, inside): &mut (Vec<f64>, Vec<bool>), row: u32| {
        // Whichever number a row has, its own stream.
        let own = seed ^ u64::from(row + 1) << 32;
        let at = [0.0, f64::from(row % ny), f64::from(row / ny)];
        let [y, z] =
            [1, 2].map(|axis| low[axis] + each[axis] * (at[axis] + uniform(own, axis as u32)));
        xs.clear();
        xs.extend((0..nx).map(|i| low.x + each.x * (f64::from(i) + uniform(own, 3 + i))));
        solid.row(xs, y, z, 0.0, inside);
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
