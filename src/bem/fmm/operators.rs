//! Operators at unit scale, one set for each number of points: Laplace's kernel is homogeneous, so they serve
//! every level.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::convolution::Convolution;
use super::product::{Matrix, Row};
use super::surface::{INNER, OUTER, Surface};
use super::svd::Svd;

/// Singular values below this part of the largest are left out.
const CUT: f64 = 1e-13;

/// All that translates densities and potentials between surfaces.
#[derive(Debug)]
pub struct Operators {
    /// The points.
    pub surface: Surface,
    /// M2M: potentials on the upward check surface of a box of the equivalent densities of its child in octant 0.
    pub up: Matrix,
    /// L2L: potentials on the downward check surface of that child of the equivalent densities of its parent.
    pub down: Matrix,
    /// Upward densities from potentials.
    pub from_upward: Inverse,
    /// Downward densities from potentials.
    pub from_downward: Inverse,
    /// M2L.
    pub convolution: Convolution,
}

impl Operators {
    /// With `side` points a side, kept for the rest of the process.
    pub fn of(side: usize) -> Arc<Self> {
        static KEPT: Mutex<BTreeMap<usize, Arc<Operators>>> = Mutex::new(BTreeMap::new());
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        kept.entry(side)
            .or_insert_with(|| Arc::new(Operators::new(side)))
            .clone()
    }

    fn new(side: usize) -> Self {
        let surface = Surface::new(side);
        let n = surface.len();
        let up = Matrix::new(n, n, |i, j| {
            let child = surface.point(j, 0.5 * INNER).map(|x| x - 0.5);
            inverse_distance(surface.point(i, OUTER), child)
        });
        let down = up.transposed(0.5);
        let (from_upward, from_downward) = inverses(&surface);
        let convolution = Convolution::new(&surface);
        Operators {
            surface,
            up,
            down,
            from_upward,
            from_downward,
            convolution,
        }
    }
}

fn inverse_distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    let [x, y, z] = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    1.0 / (x * x + y * y + z * z).sqrt()
}

/// Pseudo-inverse of the potentials on one surface of densities on another, both with the symmetry of a box.
///
/// Sums and differences of reflected points make it eight blocks, one for each way of changing sign under
/// reflections. Each block is applied as two factors: their product would lose the digits that small singular
/// values take (Malhotra and Biros, *PVFMM*, 2015, §3.1).
#[derive(Clone, Debug)]
pub struct Inverse {
    /// Uᵀ and V S⁻¹ of each block.
    blocks: Vec<(Matrix, Matrix)>,
    /// Points by reflection, then by point of an octant.
    reflected: Vec<u32>,
}

/// Pseudo-inverses for the upward and the downward surfaces, whose matrices are each other's transpose.
fn inverses(surface: &Surface) -> (Inverse, Inverse) {
    let reflected = surface.reflected.concat();
    let eighth = reflected.len() / 8;
    let point = |k: usize, half| surface.point(reflected[k] as usize, half);
    let block = |signs: usize| {
        let column = |j: usize| {
            let entry = |i: usize| {
                let of = |g: usize| {
                    let place = point(g * eighth + j, INNER);
                    sign(signs, g) * inverse_distance(point(i, OUTER), place)
                };
                (0..8).map(of).sum()
            };
            (0..eighth).map(entry).collect()
        };
        Svd::new((0..eighth).map(column).collect())
    };
    let blocks: Vec<Svd> = (0..8).map(block).collect();
    let values = blocks.iter().flat_map(|block| &block.values);
    let cut = CUT * values.fold(0.0, |largest: f64, value| largest.max(*value));
    let factors = |block: &Svd, check: &[Vec<f64>], densities: &[Vec<f64>]| {
        let kept = (0..eighth).filter(|k| block.values[*k] > cut);
        let kept: Vec<usize> = kept.collect();
        let onto = Matrix::new(kept.len(), eighth, |k, i| check[kept[k]][i]);
        // An eighth undoes the sums over reflections.
        let scaled = |j: usize, k: usize| densities[kept[k]][j] / (8.0 * block.values[kept[k]]);
        (onto, Matrix::new(eighth, kept.len(), scaled))
    };
    let up = blocks.iter().map(|b| factors(b, &b.left, &b.right));
    let down = blocks.iter().map(|b| factors(b, &b.right, &b.left));
    let inverse = |blocks: Vec<(Matrix, Matrix)>| Inverse {
        blocks,
        reflected: reflected.clone(),
    };
    (inverse(up.collect()), inverse(down.collect()))
}

/// Sign that reflection g gives what changes sign in the axes whose bits `signs` has.
fn sign(signs: usize, g: usize) -> f64 {
    if (signs & g).count_ones() % 2 == 1 {
        -1.0
    } else {
        1.0
    }
}

impl Inverse {
    /// Replaces the potentials at the points of a surface by densities. The scratch buffers grow as needed.
    pub fn apply(&self, rows: &mut [Row], scratch: &mut [Vec<Row>; 2]) {
        let eighth = self.reflected.len() / self.blocks.len();
        let [unfolded, kept] = scratch;
        unfolded.clear();
        unfolded.extend(self.reflected.iter().map(|k| rows[*k as usize]));
        reflect(unfolded, eighth);
        for ((onto, back), rows) in self.blocks.iter().zip(unfolded.chunks_exact_mut(eighth)) {
            kept.resize(onto.rows(), [0.0; _]);
            onto.multiply(rows, kept);
            back.multiply(kept, rows);
        }
        reflect(unfolded, eighth);
        // A point that stands in several rows has the sum of their densities.
        rows.fill([0.0; _]);
        for (k, row) in self.reflected.iter().zip(unfolded) {
            let sum = &mut rows[*k as usize];
            sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += *x);
        }
    }
}

/// Sums over the eight reflections with each choice of signs (Walsh's transform).
fn reflect(rows: &mut [Row], eighth: usize) {
    for axis in 0..3 {
        let step = eighth << axis;
        for pair in rows.chunks_exact_mut(2 * step) {
            let (a, b) = pair.split_at_mut(step);
            for (a, b) in a.iter_mut().zip(b) {
                for (a, b) in a.iter_mut().zip(b) {
                    (*a, *b) = (*a + *b, *a - *b);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::product::COLUMNS;
    use super::*;

    /// A charge in the box and its equivalent densities have one potential far away; likewise from outside.
    #[test]
    fn densities_stand_for_a_charge() {
        let place = [0.3, -0.8, 0.95];
        for (side, within) in [(4, 1e-2), (5, 1e-3), (6, 1e-4), (9, 3e-7)] {
            let surface = Surface::new(side);
            let (up, down) = inverses(&surface);
            let mut scratch = Default::default();
            let outside = place.map(|x: f64| 3.0 * x);
            let cases = [
                (&up, OUTER, INNER, place, [3.1, -2.0, 4.0]),
                (&down, INNER, OUTER, outside, [0.8, -0.3, 0.9]),
            ];
            for (inverse, check, equivalent, charge, away) in cases {
                let potential = |k| inverse_distance(surface.point(k, check), charge);
                let mut rows: Vec<Row> = (0..surface.len())
                    .map(|k| [potential(k); COLUMNS])
                    .collect();
                inverse.apply(&mut rows, &mut scratch);
                let found: f64 = (0..surface.len())
                    .map(|k| rows[k][3] * inverse_distance(surface.point(k, equivalent), away))
                    .sum();
                let exact = inverse_distance(charge, away);
                assert!(
                    (found / exact - 1.0).abs() < within,
                    "{side}: {found} {exact}"
                );
            }
        }
    }
}
