//! Linear static equilibrium of one free fragment, with inertia relief.
//!
//! The unknowns are displacements u and rotations times a length, h θ, of all elements; rows of loads are
//! `[F, T/h]`. The stiffness K is that of [`LinearBond`]. Its null space is the six rigid modes, so the load
//! first loses the inertia of the rigid acceleration that it causes, then the rounding error along these
//! modes. Conjugate gradients use K itself. Their preconditioner is a multigrid cycle for K plus a very small
//! multiple of the identity, without which the coarsest matrix would have no Cholesky factor; its result, too,
//! loses the rigid modes.

mod rigid_part;
#[cfg(test)]
mod tests;

use crate::parallel::prelude::*;
use glam::DVec3;

use self::rigid_part::{RigidPart, six, vectors};
use crate::laws::bond;
use crate::laws::timestep::LinearBond;
use crate::math::Scalar;
use crate::simulate::bonded::system::System;
use crate::solve::block::{self, Block};
use crate::solve::prolong::ElementPosition;
use crate::solve::vector::{add_scaled, norm};
use crate::solve::{BlockMatrix, Multigrid, Precondition, Six, SolveReport, conjugate_gradients};

/// The multiple of the identity, relative to the mean of the diagonal of K: far above the rounding error of a
/// factor, and below most elastic modes, which the preconditioner would otherwise make too stiff.
const SHIFT: f64 = 1e-10;
/// Most iterations of conjugate gradients in a round.
const MAX_ITERATIONS: u32 = 500;
/// Most rounds: each starts from the residual, which rounding makes larger than the iteration believes.
const MAX_ROUNDS: u32 = 3;
/// Tolerance of a round relative to what is left to gain: leaves room for rounding.
const ROUND_FRACTION: f64 = 0.5;
/// Least number of rows that a thread assembles at a time.
const ROWS_PER_TASK: usize = 64;

/// A fragment as a linear elastic network of bonds.
///
/// The network consists of all intact bonds between its elements, those inside rigid pieces included. Bonds
/// have their present directions and their lengths at rest, and no load before loads are applied.
#[derive(Clone, Debug)]
pub struct Statics {
    /// h, m.
    length: f64,
    /// K, N/m.
    matrix: BlockMatrix,
    /// None if K has no hierarchy.
    multigrid: Option<Multigrid>,
    /// What accelerates the fragment.
    inertia: RigidPart,
    /// The six rigid modes.
    modes: RigidPart,
}

impl Statics {
    /// Builds the network of the elements with the global indices `elements`, in ascending order. `places`
    /// holds the position (m) of each of them, `mass` and `inertia` their own positive mass (kg) and moment
    /// of inertia (kg m²); all have the length of `elements`.
    pub fn new<S: Scalar>(
        system: &System<S>,
        elements: &[u32],
        places: &[DVec3],
        mass: &[f64],
        inertia: &[f64],
    ) -> Self {
        // The radius of gyration of an element: rotations times it have about the stiffness of displacements.
        let length = match elements.len() {
            0 => 1.0,
            _ => (inertia.iter().sum::<f64>() / mass.iter().sum::<f64>()).sqrt(),
        };
        let network = Network {
            system,
            elements,
            places,
            length,
        };
        let rows = (0..elements.len()).into_par_iter();
        let rows = rows.with_min_len(ROWS_PER_TASK).map(|i| network.row(i));
        let matrix = BlockMatrix::from_rows(rows.collect());
        Statics {
            length,
            multigrid: hierarchy(&matrix, places, length),
            matrix,
            inertia: RigidPart::new(places, |i| [mass[i], inertia[i]], length),
            modes: RigidPart::new(places, |_| [1.0, length * length], length),
        }
    }

    /// Displacements (m) and small rotations (rad) that balance forces (N) and torques (N m) on the elements.
    ///
    /// `loads` has one entry per element; the result, too. The loads need no balance of their own: first the
    /// inertia of the rigid acceleration that they cause, linear and angular, is subtracted. Angular
    /// velocities, and so centrifugal forces, are taken as zero. The result has no projection onto the six
    /// rigid modes, in the plain scalar product of displacements and of rotations times a length, √(Σ
    /// inertia/Σ mass). A fragment of one element has zeros.
    ///
    /// None if the unbalanced rest is larger than `accuracy` times the balanced load, as Euclidean norms of
    /// forces and of torques over the same length. That happens if the network is not connected, or if
    /// `accuracy` is below rounding error: a single file of a thousand elements reaches 1e-6.
    ///
    /// # Panics
    ///
    /// If `loads` does not have one entry per element.
    pub fn solve(&self, loads: &[(DVec3, DVec3)], accuracy: f64) -> Option<Vec<(DVec3, DVec3)>> {
        assert_eq!(loads.len(), self.matrix.rows(), "one load per element");
        if loads.len() < 2 {
            return Some(vec![(DVec3::ZERO, DVec3::ZERO); loads.len()]);
        }
        let mut b: Vec<Six> = loads.iter().map(|load| self.row(load)).collect();
        self.inertia.remove(&mut b);
        self.modes.remove(&mut b);
        let (x, report) = self.balance(&b, accuracy)?;
        let motion = |row: &Six| {
            let (shift, turn) = vectors(row);
            (shift, turn / self.length)
        };
        (report.residual <= accuracy).then(|| x.iter().map(motion).collect())
    }

    /// Elastic energy, J, of displacements (m) and rotations (rad) in balance with these loads, as from
    /// [`solve`](Self::solve).
    pub fn energy(&self, loads: &[(DVec3, DVec3)], moved: &[(DVec3, DVec3)]) -> f64 {
        let mut balanced: Vec<Six> = loads.iter().map(|load| self.row(load)).collect();
        self.inertia.remove(&mut balanced);
        let rows = balanced.iter().zip(moved);
        let work = rows.map(|(load, (shift, turn))| {
            let (force, torque) = vectors(load);
            force.dot(*shift) + self.length * torque.dot(*turn)
        });
        0.5 * work.sum::<f64>()
    }

    /// A load as a row.
    fn row(&self, (force, torque): &(DVec3, DVec3)) -> Six {
        six(*force, *torque / self.length)
    }

    /// The solution of `K x = b` without rigid modes, for a balanced b. The residual is that of x itself, not
    /// of the recurrence of conjugate gradients.
    fn balance(&self, b: &[Six], accuracy: f64) -> Option<(Vec<Six>, SolveReport)> {
        let mut precondition = WithoutModes {
            multigrid: self.multigrid.clone()?,
            modes: &self.modes,
            r: b.to_vec(),
        };
        let size = norm(b);
        let mut report = SolveReport {
            iterations: 0,
            residual: if size == 0.0 { 0.0 } else { 1.0 },
            indefinite: false,
        };
        let mut x = vec![[0.0; 6]; b.len()];
        let (mut r, mut step) = (b.to_vec(), x.clone());
        for _ in 0..MAX_ROUNDS {
            if report.residual <= accuracy {
                break;
            }
            let tolerance = ROUND_FRACTION * accuracy / report.residual;
            let limits = (tolerance, MAX_ITERATIONS);
            let round = conjugate_gradients(&self.matrix, &r, &mut step, &mut precondition, limits);
            add_scaled(&mut x, 1.0, &step);
            self.modes.remove(&mut x);
            self.matrix.residual(b, &x, &mut r);
            self.modes.remove(&mut r);
            report.iterations += round.iterations;
            report.indefinite |= round.indefinite;
            report.residual = norm(&r) / size;
        }
        Some((x, report))
    }
}

/// The preconditioner of K plus the shift; none if it is not positive definite.
fn hierarchy(matrix: &BlockMatrix, places: &[DVec3], length: f64) -> Option<Multigrid> {
    let on_diagonal = |row: usize| matrix.find(row, row).expect("every row has its own block");
    let rows = 0..matrix.rows();
    let traces = rows.clone().map(|row| {
        let own = &matrix.value[on_diagonal(row)];
        (0..6).map(|k| own[k][k]).sum::<f64>()
    });
    let mean = traces.sum::<f64>() / (6 * matrix.rows()) as f64;
    let shift = block::diagonal(SHIFT * mean);
    let mut shifted = matrix.clone();
    for row in rows {
        block::add(&mut shifted.value[on_diagonal(row)], &shift);
    }
    let place = |&position: &DVec3| ElementPosition { position, length };
    let places: Vec<ElementPosition> = places.iter().map(place).collect();
    Multigrid::new(&shifted, &places).ok()
}

/// The bonds of a fragment.
struct Network<'a, S> {
    system: &'a System<S>,
    elements: &'a [u32],
    places: &'a [DVec3],
    length: f64,
}

impl<S: Scalar> Network<'_, S> {
    /// Row of K of the fragment's element i.
    fn row(&self, i: usize) -> Vec<(u32, Block)> {
        let bonds = &self.system.bonds;
        let mut own = block::ZERO;
        let mut row = Vec::new();
        let sides = bonds.sides(self.elements[i] as usize);
        for side in sides.filter(|side| bonds.is_intact(side.entry)) {
            let Ok(j) = self.elements.binary_search(&(side.other as u32)) else {
                continue;
            };
            let bond = self.bond(side.entry, self.places[j] - self.places[i]);
            block::add(&mut own, &self.stiffness(&bond, 0));
            row.push((j as u32, self.stiffness(&bond, 1)));
        }
        row.push((i as u32, own));
        row.sort_unstable_by_key(|(column, _)| *column);
        row
    }

    /// A bond along `arm`, m.
    fn bond(&self, entry: usize, arm: DVec3) -> LinearBond {
        let bonds = &self.system.bonds;
        let length = bonds.length.get(entry).to_f64();
        let class = &self.system.classes[bonds.class.get(entry) as usize];
        let [es, gs, gj, ei] = [class.es, class.gs, class.gj, class.ei].map(Scalar::to_f64);
        let k = bond::stiffness(es, gs, gj, ei, length);
        let left = bonds.left(entry).stiffness;
        LinearBond {
            n: arm.normalize(),
            length,
            normal: left * k.normal,
            transverse: left * k.shear / length,
            twist: left * k.twist,
            bend: left * k.bend,
        }
    }

    /// Stiffness of a bond's first end to motions of the first (0) or second end (1).
    fn stiffness(&self, bond: &LinearBond, end: usize) -> Block {
        std::array::from_fn(|k| {
            let mut ends = [[0.0; 6]; 2];
            ends[end][k] = 1.0;
            let [(u_i, turn_i), (u_j, turn_j)] = ends.map(|row| vectors(&row));
            let (theta_i, theta_j) = (turn_i / self.length, turn_j / self.length);
            let (force, torque) = bond.restoring(u_i, theta_i, u_j, theta_j);
            six(-force, -torque / self.length)
        })
    }
}

/// A multigrid cycle between two removals of the rigid modes.
struct WithoutModes<'a> {
    multigrid: Multigrid,
    modes: &'a RigidPart,
    /// Scratch buffer.
    r: Vec<Six>,
}

impl Precondition for WithoutModes<'_> {
    fn apply(&mut self, r: &[Six], z: &mut [Six]) {
        self.r.copy_from_slice(r);
        self.modes.remove(&mut self.r);
        self.multigrid.apply(&self.r, z);
        self.modes.remove(z);
    }
}
