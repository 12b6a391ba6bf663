//! A filled shape: its elements, which of them may be bonded, and how the moduli of their bonds are
//! calibrated.

use glam::DVec3;

use super::neighbours;
use super::points::ElementSpheres;
use crate::geometry::TriMesh;
use crate::geometry::convex::Convex;

/// A filled shape, in its own frame.
pub(super) struct FilledShape {
    pub spheres: ElementSpheres,
    /// Mean radius, m.
    pub radius: f64,
    pub bonding: Bonding,
    pub structure: PackingStructure,
    /// Volume, m³.
    pub volume: f64,
    pub skin: TriMesh,
}

/// The rule for which elements are bonded.
pub(super) enum Bonding {
    /// Pairs whose distance is at most this multiple of the sum of their radii.
    Within(f64),
    /// The given pairs, by element number.
    Given(Vec<[u32; 2]>),
}

/// The structure that elements form.
pub(super) enum PackingStructure {
    /// Part of a lattice.
    Lattice,
    /// Part of a random packing.
    Random(RandomStatistics),
    /// Layers of a shell; `inward`: unit vector inwards from the skin, one per element.
    Shell { inward: Vec<DVec3> },
    /// Chains of elements.
    Yarn,
    /// Cells; the element centres are their centres. The tag of a face is the number of the cell on its other
    /// side, or at least the number of cells if it is free.
    Cells { solids: Vec<Convex> },
}

/// Statistics of the elements of a random packing far from any border.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomStatistics {
    /// Mean number of neighbours of an element.
    pub coordination: f64,
    /// Mean of ½ Σ S l0 over the bonds of an element, over the volume of its ball.
    pub share: f64,
    /// Radii are between 1 − spread and 1 + spread times their mean.
    pub spread: f64,
}

/// How moduli and strengths of a body's bonds are calibrated so that the packing has those of its material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Calibration {
    /// Close packing, in which an element far from any border has 12 bonds.
    Lattice,
    /// Random packing.
    Random(RandomStatistics),
    /// Layers of a shell.
    Shell {
        /// Means over the bonds, by section and length, of s⁴, s²c² and c⁴: c and s are cosine and sine of
        /// the angle between the bond and the shell's normal.
        moments: [f64; 3],
    },
    /// Chains of elements: bonds have the moduli of the filament.
    Yarn,
    /// Cells: their faces have the material's own moduli.
    Cells,
}

impl Bonding {
    /// Bonded pairs `[i, j]`, `i < j`, in order. `order` gives the number that each element had when the
    /// shape was filled.
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

impl PackingStructure {
    /// The calibration of the bonds of these pairs.
    pub fn calibration(self, centres: &[DVec3], order: &[u32], pairs: &[[u32; 2]]) -> Calibration {
        match self {
            PackingStructure::Lattice => Calibration::Lattice,
            PackingStructure::Random(statistics) => Calibration::Random(statistics),
            PackingStructure::Shell { inward } => {
                let inward: Vec<DVec3> = order.iter().map(|&at| inward[at as usize]).collect();
                let moments = moments(centres, &inward, pairs);
                Calibration::Shell { moments }
            }
            PackingStructure::Yarn => Calibration::Yarn,
            PackingStructure::Cells { .. } => Calibration::Cells,
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
