//! How elements lie in a solid: a lattice, or cut out of a random packing.

use glam::DVec3;

use super::filled::{Bonding, Makeup};
use super::points::Points;
use super::random::{self, Draw, Tile};
use super::solid::Solid;
use super::{hexagonal, lattice};

/// Ways to fill a solid throughout.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Hexagonal close packing.
    Hexagonal,
    /// Random packing: `spread` of the radii, `fraction` of the volume that elements fill (absent: close);
    /// `neighbourhood`: bond reach as a multiple of r_i + r_j.
    Random {
        spread: f64,
        fraction: Option<f64>,
        neighbourhood: f64,
    },
}

impl Kind {
    /// Volume that an element stands for over the cube of the mean radius: of random packings about.
    pub fn volume_each(self) -> f64 {
        match self {
            Kind::Hexagonal => lattice::CELL,
            Kind::Random {
                spread, fraction, ..
            } => random::volume_each(spread, fraction),
        }
    }

    /// Which elements are bonded.
    pub fn bonding(self) -> Bonding {
        Bonding::Within(match self {
            Kind::Hexagonal => 1.0,
            Kind::Random { neighbourhood, .. } => neighbourhood,
        })
    }
}

/// A pattern of any size: lengths are given when a solid is filled.
pub(super) enum Pattern {
    /// Hexagonal close packing.
    Hexagonal,
    /// Random packing, and how many neighbours an element has where it is close.
    Random { tile: Tile, coordination: f64 },
}

impl Pattern {
    /// The pattern of a body, `size` large over the mean radius.
    pub fn of(kind: Kind, size: DVec3, (seed, body): (u64, u32)) -> Self {
        match kind {
            Kind::Hexagonal => Pattern::Hexagonal,
            Kind::Random {
                spread,
                fraction,
                neighbourhood,
            } => {
                let close = Tile::new(size, Draw { seed, body, spread });
                Pattern::Random {
                    coordination: close.coordination(neighbourhood),
                    tile: match fraction {
                        Some(fraction) => close.loosened(fraction),
                        None => close,
                    },
                }
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
            Pattern::Random { tile, .. } => tile.fill(solid, bounds, radius, depth),
        }
    }

    /// What the elements make up.
    pub fn makeup(&self) -> Makeup {
        match self {
            Pattern::Hexagonal => Makeup::Lattice,
            Pattern::Random { coordination, .. } => Makeup::Random {
                coordination: *coordination,
            },
        }
    }
}
