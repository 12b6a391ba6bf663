//! Patterns that fill a solid: a lattice, or a section of a random packing.

use glam::DVec3;

use super::filled::{Bonding, Makeup};
use super::points::Points;
use super::random::{self, Draw, Tile};
use super::solid::Solid;
use super::{hexagonal, lattice};

/// Kinds of patterns that fill a whole solid.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Hexagonal close packing.
    Hexagonal,
    /// Random packing: `spread` of the radii, `fraction` of the volume that elements fill (`None`: close
    /// packing), `neighbourhood`: bond reach as a multiple of r_i + r_j.
    Random {
        spread: f64,
        fraction: Option<f64>,
        neighbourhood: f64,
    },
}

impl Kind {
    /// Volume per element over the cube of the mean radius; approximate for random packings.
    pub fn volume_each(self) -> f64 {
        match self {
            Kind::Hexagonal => lattice::CELL,
            Kind::Random {
                spread, fraction, ..
            } => random::volume_each(spread, fraction),
        }
    }

    /// The rule for which elements are bonded.
    pub fn bonding(self) -> Bonding {
        Bonding::Within(match self {
            Kind::Hexagonal => 1.0,
            Kind::Random { neighbourhood, .. } => neighbourhood,
        })
    }
}

/// A pattern without a length scale: the element radius is given when a solid is filled.
pub(super) enum Pattern {
    /// Hexagonal close packing.
    Hexagonal,
    /// Random packing, and the mean number of neighbours of an element in its close packing.
    Random { tile: Tile, coordination: f64 },
}

impl Pattern {
    /// The pattern of a body whose extent over the mean radius is `size`.
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

    /// The structure that the elements form.
    pub fn makeup(&self) -> Makeup {
        match self {
            Pattern::Hexagonal => Makeup::Lattice,
            Pattern::Random { coordination, .. } => Makeup::Random {
                coordination: *coordination,
            },
        }
    }
}
