//! Young's modulus and strength of hexagonal close packing whose bonds depend on their direction, by periodic
//! homogenisation.
//!
//! The cell has an element of a layer A and one of a layer B. Under a strain ε all elements of a kind move alike: those
//! of B by w relative to A, and both kinds turn, by θ_A and θ_B. A bond along the unit vector n of length l0 has
//!
//! ```text
//! δ = l0 ε n + w (w between A and B only),    γ = δ_⊥/l0 − ½ (θ_i + θ_j) × n,    Θ = θ_j − θ_i
//! 2 W = f (E_b S/l0 (n·δ)² + G_b S l0 |γ|² + G_b J/l0 (n·Θ)² + E_b I/l0 |Θ_⊥|²)
//! ```
//!
//! with f by the angle to the grain ([`grain_factor`]), the moduli E_b and G_b (Pa) of bonds
//! across it and the section's S, J and I (m², m⁴); w (m), θ_A and θ_B minimise the sum of W over the bonds of the
//! cell. The lattice breaks when the first of its bonds does: its stress E_b f (n·δ/l0 + r |Θ_⊥|/l0) reaches the
//! strength, which has a factor of its own. Bars break at 0.8 to 0.97 times that stress, as borders disturb it.

use std::f64::consts::{FRAC_PI_4, SQRT_2};

use glam::DVec3;

use super::elasticity::grain_factor;
use crate::math::pseudo_inverse;

/// Components of ε: 11, 22, 33, 2 × 12, 2 × 13, 2 × 23.
const STRAINS: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)];
/// Unknowns of a cell besides ε: w, θ_A, θ_B.
const INNER: usize = 9;
/// All of them.
const ALL: usize = STRAINS.len() + INNER;
/// Volume of a cell over l0³.
const CELL_VOLUME: f64 = SQRT_2;
/// Section over l0², and I over l0⁴; J is twice I. Bonds are as thick as elements.
const SECTION: f64 = FRAC_PI_4;
const INERTIA: f64 = FRAC_PI_4 / 16.0;

/// Unit vectors from an element of a layer A to the twelve that touch it: rows lie along x, layers across z.
pub const NEIGHBOURS: [DVec3; 12] = {
    let (a, b, c) = (0.5, 0.866_025_403_784_438_6, 0.288_675_134_594_812_9);
    let (d, h) = (2.0 * c, 0.816_496_580_927_726);
    [
        DVec3::new(1.0, 0.0, 0.0),
        DVec3::new(-1.0, 0.0, 0.0),
        DVec3::new(a, b, 0.0),
        DVec3::new(-a, b, 0.0),
        DVec3::new(a, -b, 0.0),
        DVec3::new(-a, -b, 0.0),
        DVec3::new(a, c, h),
        DVec3::new(-a, c, h),
        DVec3::new(0.0, -d, h),
        DVec3::new(a, c, -h),
        DVec3::new(-a, c, -h),
        DVec3::new(0.0, -d, -h),
    ]
};

/// A row of coefficients of the unknowns of a cell.
type Row = [f64; ALL];

/// A lattice with a grain.
pub struct Lattice {
    /// Strain over stress, in units of 1/E_b.
    compliance: [[f64; 6]; 6],
    bonds: Vec<LoadedBond>,
}

/// Load of a bond over the strain of the lattice.
struct LoadedBond {
    /// Cosine of its angle to the grain.
    cosine: f64,
    /// Axial stress over E_b.
    axial: [f64; 6],
    /// Components of the bending stress over E_b.
    bending: [[f64; 6]; 3],
}

/// Strains of a bond over the unknowns of the cell.
struct BondRows {
    stretch: Row,
    shear: [Row; 3],
    twist: Row,
    bend: [Row; 3],
}

impl Lattice {
    /// A lattice whose bonds have G_b/E_b = `ratio` and the factor 1 + `lambda` cos⁴, by their angle to the unit vector
    /// `grain`.
    pub fn new(ratio: f64, lambda: f64, grain: DVec3) -> Self {
        let mut energy = [[0.0; ALL]; ALL];
        let mut rows = Vec::new();
        for n in NEIGHBOURS {
            // Bonds within a layer are met from both ends, in layers A and B.
            let kinds: &[_] = match n.z == 0.0 {
                true => &[([0, 0], 0.5), ([1, 1], 0.5)],
                false => &[([0, 1], 1.0)],
            };
            for &(ends, weight) in kinds {
                let bond = BondRows::new(n, ends);
                let cosine = n.dot(grain);
                let stiff = weight * grain_factor(lambda, cosine);
                add_square(&mut energy, stiff * SECTION, &bond.stretch);
                add_square(&mut energy, stiff * ratio * 2.0 * INERTIA, &bond.twist);
                for (shear, bend) in bond.shear.iter().zip(&bond.bend) {
                    add_square(&mut energy, stiff * ratio * SECTION, shear);
                    add_square(&mut energy, stiff * INERTIA, bend);
                }
                rows.push((cosine, bond));
            }
        }
        let inner = inner_unknowns(&energy);
        let mut stiffness = [[0.0; 6]; 6];
        for (i, row) in stiffness.iter_mut().enumerate() {
            *row = onto_strains(&energy[i], &inner).map(|sum| sum / CELL_VOLUME);
        }
        let loaded = |(cosine, bond): &(f64, BondRows)| {
            let stiff = grain_factor(lambda, *cosine);
            let stress = |row: &Row, part: f64| onto_strains(row, &inner).map(|x| part * stiff * x);
            LoadedBond {
                cosine: *cosine,
                axial: stress(&bond.stretch, 1.0),
                // The radius is half the length.
                bending: [0, 1, 2].map(|k| stress(&bond.bend[k], 0.5)),
            }
        };
        Lattice {
            compliance: pseudo_inverse(stiffness),
            bonds: rows.iter().map(loaded).collect(),
        }
    }

    /// Young's modulus along the unit vector `along` over E_b.
    pub fn young(&self, along: DVec3) -> f64 {
        dot(&stress(along), &self.strain(along)).recip()
    }

    /// Stress along the unit vector `along` at which the first bond breaks, over the strength of bonds across the
    /// grain; `lambda` is that of strengths.
    pub fn strength(&self, along: DVec3, lambda: f64) -> f64 {
        let strain = self.strain(along);
        let used = |bond: &LoadedBond| {
            let bending = bond.bending.map(|row| dot(&row, &strain));
            let sum = dot(&bond.axial, &strain) + DVec3::from_array(bending).length();
            sum / grain_factor(lambda, bond.cosine)
        };
        self.bonds.iter().map(used).fold(0.0, f64::max).recip()
    }

    /// Strain under a unit stress along `along`, over 1/E_b.
    fn strain(&self, along: DVec3) -> [f64; 6] {
        self.compliance.map(|row| dot(&row, &stress(along)))
    }
}

impl BondRows {
    /// The bond along `n` between elements of these kinds, 0 for A and 1 for B; l0 = 1.
    fn new(n: DVec3, ends: [usize; 2]) -> Self {
        let mut moved = [[0.0; ALL]; 3];
        for (k, &(i, j)) in STRAINS.iter().enumerate() {
            moved[i][k] += 0.5 * n[j];
            moved[j][k] += 0.5 * n[i];
        }
        let (mut turned, mut mean) = ([[0.0; ALL]; 3], [[0.0; ALL]; 3]);
        for k in 0..3 {
            if ends[0] != ends[1] {
                moved[k][STRAINS.len() + k] += 1.0;
            }
            for (end, sign) in ends.into_iter().zip([-1.0, 1.0]) {
                let column = STRAINS.len() + 3 * (1 + end) + k;
                turned[k][column] += sign;
                mean[k][column] += 0.5;
            }
        }
        let swung = across(&mean, n);
        let mut shear = perpendicular(&moved, n);
        for (row, swung) in shear.iter_mut().zip(swung) {
            for (entry, swung) in row.iter_mut().zip(swung) {
                *entry -= swung;
            }
        }
        BondRows {
            stretch: component(&moved, n),
            shear,
            twist: component(&turned, n),
            bend: perpendicular(&turned, n),
        }
    }
}

/// The component along n of a vector of rows.
fn component(vector: &[Row; 3], n: DVec3) -> Row {
    std::array::from_fn(|k| n.dot(DVec3::new(vector[0][k], vector[1][k], vector[2][k])))
}

/// A vector of rows without its component along n.
fn perpendicular(vector: &[Row; 3], n: DVec3) -> [Row; 3] {
    let along = component(vector, n);
    [0, 1, 2].map(|axis| std::array::from_fn(|k| vector[axis][k] - n[axis] * along[k]))
}

/// The vector product of a vector of rows and n.
fn across(vector: &[Row; 3], n: DVec3) -> [Row; 3] {
    [0, 1, 2].map(|axis| {
        let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
        std::array::from_fn(|k| vector[next][k] * n[last] - vector[last][k] * n[next])
    })
}

/// Adds `weight` × row rowᵀ.
fn add_square(matrix: &mut [Row; ALL], weight: f64, row: &Row) {
    for (line, x) in matrix.iter_mut().zip(row) {
        for (entry, y) in line.iter_mut().zip(row) {
            *entry += weight * x * y;
        }
    }
}

/// w, θ_A and θ_B over the strain, which minimise the energy.
fn inner_unknowns(energy: &[Row; ALL]) -> [[f64; 6]; INNER] {
    let first = STRAINS.len();
    let inner = std::array::from_fn(|i| std::array::from_fn(|j| energy[first + i][first + j]));
    let inverse: [[f64; INNER]; INNER] = pseudo_inverse(inner);
    inverse.map(|row| {
        let sum = |k: usize| -> f64 {
            let products = row.iter().enumerate();
            products.map(|(j, x)| x * energy[first + j][k]).sum()
        };
        std::array::from_fn(|k| -sum(k))
    })
}

/// A row over all unknowns as one over the strain.
fn onto_strains(row: &Row, inner: &[[f64; 6]; INNER]) -> [f64; 6] {
    let (strains, rest) = row.split_at(STRAINS.len());
    std::array::from_fn(|k| {
        let sum: f64 = rest
            .iter()
            .zip(inner)
            .map(|(x, unknown)| x * unknown[k])
            .sum();
        strains[k] + sum
    })
}

/// Unit stress along a unit vector.
fn stress(along: DVec3) -> [f64; 6] {
    STRAINS.map(|(i, j)| along[i] * along[j])
}

fn dot(a: &[f64; 6], b: &[f64; 6]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lattice_without_a_grain_has_its_known_moduli() {
        // G/E, E_x/E_b and E_z/E_b by another program.
        for (ratio, ex, ez) in [
            (0.0, 1.111, 1.333),
            (1.0 / 6.0, 1.369, 1.505),
            (0.3, 1.536, 1.635),
            (0.4, 1.650, 1.728),
        ] {
            let lattice = Lattice::new(ratio, 0.0, DVec3::X);
            for (axis, expected) in DVec3::AXES.into_iter().zip([ex, ex, ez]) {
                let found = lattice.young(axis);
                assert!(
                    (found - expected).abs() < 1e-3,
                    "{ratio}: {found} {expected}"
                );
            }
        }
    }

    #[test]
    fn a_grain_makes_a_lattice_stiffer_and_stronger_along_it() {
        // Rows along the grain bear nearly all of a load along it.
        let [bare, grained] = [0.0, 8.0].map(|lambda| Lattice::new(1.0 / 6.0, lambda, DVec3::X));
        let gain = grained.young(DVec3::X) / bare.young(DVec3::X);
        assert!(gain > 5.0 && gain < 9.0, "{gain}");
        // Bonds along the pull break first, so that only their factor counts.
        let strong = grained.strength(DVec3::X, 8.0) / grained.strength(DVec3::X, 0.0);
        assert!((strong - 9.0).abs() < 1e-9, "{strong}");
        // The grain across the pull strengthens, too, but less.
        let across = grained.strength(DVec3::Z, 8.0) / bare.strength(DVec3::Z, 0.0);
        assert!(across > 1.0 && across < 2.0, "{across}");
    }
}
