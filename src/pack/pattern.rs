//! Patterns that fill a solid: a lattice, or a section of a random packing.

use glam::DVec3;

use super::filled::{Bonding, PackingStructure, RandomStatistics};
use super::points::ElementSpheres;
use super::random::{self, SphereDraw, Tile};
use super::solid::FillRegion;
use super::{hexagonal, lattice};

/// Kinds of patterns that fill a whole solid.
#[derive(Clone, Copy)]
pub(super) enum PatternKind {
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

impl PatternKind {
    /// Volume per element over the cube of the mean radius; approximate for random packings.
    pub fn volume_per_element(self) -> f64 {
        match self {
            PatternKind::Hexagonal => lattice::VOLUME_PER_ELEMENT,
            PatternKind::Random {
                spread, fraction, ..
            } => random::volume_per_element(spread, fraction),
        }
    }

    /// The rule for which elements are bonded.
    pub fn bonding(self) -> Bonding {
        Bonding::Within(match self {
            PatternKind::Hexagonal => 1.0,
            PatternKind::Random { neighbourhood, .. } => neighbourhood,
        })
    }
}

/// A pattern without a length scale: the element radius is given when a solid is filled.
pub(super) enum Pattern {
    /// Hexagonal close packing.
    Hexagonal,
    /// Random packing, and statistics of its close packing.
    Random {
        tile: Tile,
        statistics: RandomStatistics,
    },
}

impl Pattern {
    /// The pattern of a body whose extent over the mean radius is `size`.
    pub fn of(kind: PatternKind, size: DVec3, (seed, body): (u64, u32)) -> Self {
        match kind {
            PatternKind::Hexagonal => Pattern::Hexagonal,
            PatternKind::Random {
                spread,
                fraction,
                neighbourhood,
            } => {
                let close = Tile::new(size, SphereDraw { seed, body, spread });
                Pattern::Random {
                    statistics: close.statistics(neighbourhood, spread),
                    tile: match fraction {
                        Some(fraction) => close.loosened(fraction),
                        None => close,
                    },
                }
            }
        }
    }

    /// Fills a solid with elements of mean radius `radius`, centres at least `depth` of their radii inside.
    pub fn fill(
        &self,
        region: &FillRegion,
        bounds: (DVec3, DVec3),
        radius: f64,
        depth: f64,
    ) -> ElementSpheres {
        match self {
            Pattern::Hexagonal => ElementSpheres::equal(
                hexagonal::fill(region, bounds, radius, depth * radius),
                radius,
            ),
            Pattern::Random { tile, .. } => tile.fill(region, bounds, radius, depth),
        }
    }

    /// The structure that the elements form.
    pub fn structure(&self) -> PackingStructure {
        match self {
            Pattern::Hexagonal => PackingStructure::Lattice,
            Pattern::Random { statistics, .. } => PackingStructure::Random(*statistics),
        }
    }
}
