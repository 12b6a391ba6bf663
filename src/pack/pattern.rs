//! How elements lie in a solid: a lattice, or cut out of a random packing.

use glam::DVec3;

use super::hexagonal;
use super::random::{self, Draw, Tile};
use super::solid::Solid;
use crate::spec::{Body, PackingSpec};

/// Centres and radii, m.
#[derive(Clone, Debug, Default)]
pub(super) struct Points {
    pub centres: Vec<DVec3>,
    pub radii: Vec<f64>,
}

impl Points {
    /// All of one radius.
    pub fn equal(centres: Vec<DVec3>, radius: f64) -> Self {
        let radii = vec![radius; centres.len()];
        Points { centres, radii }
    }
}

/// Volume that an element stands for over the cube of the mean radius: of random packings about.
pub(super) fn volume_each(packing: &PackingSpec) -> f64 {
    match packing {
        PackingSpec::Hexagonal { .. } => hexagonal::CELL,
        PackingSpec::Random { spread, .. } => random::volume_each(*spread),
    }
}

/// A pattern of any size: lengths are given when a solid is filled.
pub(super) enum Pattern {
    /// Hexagonal close packing.
    Hexagonal,
    /// Random close packing.
    Random(Tile),
}

impl Pattern {
    /// The pattern that a body asks for, `size` large over the mean radius.
    pub fn of(body: &Body, size: DVec3, (seed, number): (u64, u32)) -> Self {
        match body.packing {
            PackingSpec::Hexagonal { .. } => Pattern::Hexagonal,
            PackingSpec::Random { spread, .. } => {
                let draw = Draw {
                    seed,
                    body: number,
                    spread,
                };
                Pattern::Random(Tile::new(size, draw))
            }
        }
    }

    /// Fills a solid with elements of mean radius `radius`, centres at least `depth` of their radii inside.
    pub fn fill(&self, solid: &Solid, bounds: (DVec3, DVec3), radius: f64, depth: f64) -> Points {
        match self {
            Pattern::Hexagonal => Points::equal(
                hexagonal::fill(solid, bounds, radius, depth * radius),
                radius,
            ),
            Pattern::Random(tile) => tile.fill(solid, bounds, radius, depth),
        }
    }

    /// Elements within `neighbourhood` times the sum of radii of one far from any border, in the mean of a random packing.
    pub fn coordination(&self, neighbourhood: f64) -> Option<f64> {
        match self {
            Pattern::Hexagonal => None,
            Pattern::Random(tile) => Some(tile.coordination(neighbourhood)),
        }
    }
}
