//! What the ways of filling a shape hand on: elements, which of them may be bonded, and what their bonds'
//! moduli follow from.

use glam::DVec3;

use super::neighbours;
use super::points::Points;
use crate::geometry::TriMesh;
use crate::geometry::convex::Convex;

/// A filled shape in its own frame.
pub(super) struct Filled {
    pub points: Points,
    /// Mean radius, m.
    pub radius: f64,
    pub bonding: Bonding,
    pub makeup: Makeup,
    /// m³
    pub volume: f64,
    pub skin: TriMesh,
}

/// Which elements are bonded.
pub(super) enum Bonding {
    /// Those whose distance is at most so many times the sum of their radii.
    Within(f64),
    /// These, by their numbers among the points.
    Given(Vec<[u32; 2]>),
}

/// What elements make up.
pub(super) enum Makeup {
    /// Part of a lattice.
    Lattice,
    /// Part of a random packing, in which an element has so many neighbours in the mean.
    Random { coordination: f64 },
    /// Layers of a shell; the way inwards from the skin at each element.
    Shell { inward: Vec<DVec3> },
    /// Chains of elements.
    Yarn,
    /// Cells, whose points are their centres; a face has the number of the cell beyond it as its tag, or a larger one.
    Cells { solids: Vec<Convex> },
}

/// What the moduli of a body's bonds follow from, where those of its material are asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Calibration {
    /// Close packing, in which an element far from any border has 12 bonds.
    Lattice,
    /// Random packing.
    Random {
        /// Neighbours of an element far from any border, in the mean.
        coordination: f64,
    },
    /// Layers of a shell.
    Shell {
        /// Means over the bonds, by section and length, of s⁴, s²c² and c⁴: c and s are cosine and sine of
        /// the angle between the bond and the shell's normal.
        moments: [f64; 3],
    },
    /// Chains of elements: a filament is as stiff as its bonds.
    Yarn,
    /// Cells: their faces have the material's own moduli.
    Cells,
}

impl Bonding {
    /// Pairs of points `[i, j]`, `i < j`, in order. `order` gives the number that each point had when it was filled.
    pub fn pairs(self, centres: &[DVec3], radii: &[f64], order: &[u32]) -> Vec<[u32; 2]> {
        let mut pairs = match self {
            Bonding::Within(neighbourhood) => {
                return neighbours::pairs(centres, radii, neighbourhood);
            }
            Bonding::Given(pairs) => pairs,
        };
        let mut now = vec![0; order.len()];
        for (place, &before) in (0..).zip(order) {
            now[before as usize] = place;
        }
        for pair in &mut pairs {
            *pair = pair.map(|end| now[end as usize]);
            pair.sort_unstable();
        }
        pairs.sort_unstable();
        pairs
    }
}

impl Makeup {
    /// The calibration of bonds in these pairs.
    pub fn calibration(self, centres: &[DVec3], order: &[u32], pairs: &[[u32; 2]]) -> Calibration {
        match self {
            Makeup::Lattice => Calibration::Lattice,
            Makeup::Random { coordination } => Calibration::Random { coordination },
            Makeup::Shell { inward } => {
                let inward: Vec<DVec3> = order.iter().map(|&at| inward[at as usize]).collect();
                let moments = moments(centres, &inward, pairs);
                Calibration::Shell { moments }
            }
            Makeup::Yarn => Calibration::Yarn,
            Makeup::Cells { .. } => Calibration::Cells,
        }
    }
}

/// Means of s⁴, s²c² and c⁴ over bonds of one section, weighted by their length: c and s are cosine and sine
/// of the angle between the bond and the shell's normal.
fn moments(centres: &[DVec3], inward: &[DVec3], pairs: &[[u32; 2]]) -> [f64; 3] {
    let (mut sums, mut weights) = ([0.0; 3], 0.0);
    for ends in pairs {
        let [i, j] = ends.map(|end| end as usize);
        let bond = centres[j] - centres[i];
        let normal = (inward[i] + inward[j]).normalize_or_zero();
        let (length, along) = (bond.length(), bond.normalize_or_zero().dot(normal).powi(2));
        let across = 1.0 - along;
        let parts = [across * across, across * along, along * along];
        for (sum, part) in sums.iter_mut().zip(parts) {
            *sum += length * part;
        }
        weights += length;
    }
    sums.map(|sum| sum / weights.max(f64::MIN_POSITIVE))
}
