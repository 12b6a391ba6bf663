//! Operators at unit scale, one set for each number of surface points: Laplace's kernel is homogeneous, so
//! they serve every level.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::convolution::Convolution;
use super::product::{BatchRow, DenseMatrix};
use super::surface::{CubeSurface, INNER, OUTER};
use super::svd::Svd;

/// Singular values below this fraction of the largest are ignored.
const SINGULAR_CUTOFF: f64 = 1e-13;

/// Operators that translate densities and potentials between surfaces.
#[derive(Debug)]
pub struct Operators {
    /// The points of the surfaces.
    pub surface: CubeSurface,
    /// M2M: potentials on the upward check surface of a box due to the equivalent densities of its child in
    /// octant 0.
    pub up: DenseMatrix,
    /// L2L: potentials on the downward check surface of that child due to the equivalent densities of its
    /// parent.
    pub down: DenseMatrix,
    /// Upward equivalent densities from check potentials.
    pub from_upward: PseudoInverse,
    /// Downward equivalent densities from check potentials.
    pub from_downward: PseudoInverse,
    /// M2L: potentials on downward check surfaces due to upward equivalent densities.
    pub convolution: Convolution,
}

impl Operators {
    /// Operators with `side` points along a side, cached for the rest of the process.
    pub fn cached(side: usize) -> Arc<Self> {
        static CACHE: Mutex<BTreeMap<usize, Arc<Operators>>> = Mutex::new(BTreeMap::new());
        let mut kept = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        kept.entry(side)
            .or_insert_with(|| Arc::new(Operators::new(side)))
            .clone()
    }

    fn new(side: usize) -> Self {
        let surface = CubeSurface::new(side);
        let n = surface.len();
        let up = DenseMatrix::new(n, n, |i, j| {
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

/// Pseudo-inverse of the map from densities on one surface to potentials on another, both with the symmetry
/// of a cube.
///
/// Sums and differences over reflected points reduce it to eight blocks, one for each combination of signs
/// under reflections. Each block is applied as two factors: their product would lose the digits that small
/// singular values need (Malhotra and Biros, *PVFMM*, 2015, §3.1).
#[derive(Clone, Debug)]
pub struct PseudoInverse {
    /// Uᵀ and V S⁻¹ of each block.
    blocks: Vec<(DenseMatrix, DenseMatrix)>,
    /// Indices of points, by reflection, then by point of an octant.
    reflected: Vec<u32>,
}

/// Pseudo-inverses for the upward and the downward surfaces, whose matrices are transposes of each other.
fn inverses(surface: &CubeSurface) -> (PseudoInverse, PseudoInverse) {
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
    let cut = SINGULAR_CUTOFF * values.fold(0.0, |largest: f64, value| largest.max(*value));
    let factors = |block: &Svd, check: &[Vec<f64>], densities: &[Vec<f64>]| {
        let kept = (0..eighth).filter(|k| block.values[*k] > cut);
        let kept: Vec<usize> = kept.collect();
        let onto = DenseMatrix::new(kept.len(), eighth, |k, i| check[kept[k]][i]);
        // The factor 1/8 undoes the sums over reflections.
        let scaled = |j: usize, k: usize| densities[kept[k]][j] / (8.0 * block.values[kept[k]]);
        (onto, DenseMatrix::new(eighth, kept.len(), scaled))
    };
    let up = blocks.iter().map(|b| factors(b, &b.left, &b.right));
    let down = blocks.iter().map(|b| factors(b, &b.right, &b.left));
    let inverse = |blocks: Vec<(DenseMatrix, DenseMatrix)>| PseudoInverse {
        blocks,
        reflected: reflected.clone(),
    };
    (inverse(up.collect()), inverse(down.collect()))
}

/// Sign under reflection `g` of a function that is odd in the axes whose bits are set in `signs`.
fn sign(signs: usize, g: usize) -> f64 {
    if (signs & g).count_ones() % 2 == 1 {
        -1.0
    } else {
        1.0
    }
}

impl PseudoInverse {
    /// Replaces the potentials at the points of a surface by densities. The scratch buffers grow as needed.
    pub fn apply(&self, rows: &mut [BatchRow], scratch: &mut [Vec<BatchRow>; 2]) {
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
        // A point that occurs in several rows gets the sum of their densities.
        rows.fill([0.0; _]);
        for (k, row) in self.reflected.iter().zip(unfolded) {
            let sum = &mut rows[*k as usize];
            sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += *x);
        }
    }
}

/// Sums over the eight reflections with each combination of signs (Walsh transform).
fn reflect(rows: &mut [BatchRow], eighth: usize) {
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

    /// A charge in the box and its equivalent densities have the same potential far away; likewise for a
    /// charge outside.
    #[test]
    fn densities_stand_for_a_charge() {
        let place = [0.3, -0.8, 0.95];
        for (side, within) in [(4, 1e-2), (5, 1e-3), (6, 1e-4), (9, 3e-7)] {
            let surface = CubeSurface::new(side);
            let (up, down) = inverses(&surface);
            let mut scratch = Default::default();
            let outside = place.map(|x: f64| 3.0 * x);
            let cases = [
                (&up, OUTER, INNER, place, [3.1, -2.0, 4.0]),
                (&down, INNER, OUTER, outside, [0.8, -0.3, 0.9]),
            ];
            for (inverse, check, equivalent, charge, away) in cases {
                let potential = |k| inverse_distance(surface.point(k, check), charge);
                let mut rows: Vec<BatchRow> = (0..surface.len())
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
