//! Algebraic multigrid by smoothed aggregation (Vaněk, Mandel, Brezina 1996), one W-cycle as a preconditioner.

use super::aggregate::aggregates;
use super::block::Six;
use super::gradients::Precondition;
use super::matrix::BlockMatrix;
use super::prolong::{Place, galerkin, places, prolongator};
use super::smooth::Smoother;

/// A matrix may be so large (in blocks) that it is solved outright.
const DIRECT: usize = 60;
/// Damping of the prolongator's smoothing over the largest eigenvalue.
const OMEGA: f64 = 4.0 / 3.0;

/// A level but the coarsest.
#[derive(Clone, Debug)]
struct Level {
    smoother: Smoother,
    prolong: BlockMatrix<f32>,
    restrict: BlockMatrix<f32>,
    r: Vec<Six>,
    coarse_b: Vec<Six>,
    coarse_r: Vec<Six>,
    coarse_x: Vec<Six>,
}

/// What the coarsest level is solved with.
#[derive(Clone, Debug)]
enum Coarsest {
    /// Its Cholesky factor, row after row.
    Direct { factor: Vec<f64>, unknowns: usize },
    /// Smoothing, where rows do not come together any more.
    Smoothed(Smoother),
}

/// A hierarchy of coarser and coarser matrices.
#[derive(Clone, Debug)]
pub struct Multigrid {
    levels: Vec<Level>,
    coarsest: Coarsest,
    /// Blocks of all coarser levels.
    blocks: usize,
}

impl Multigrid {
    /// Of a matrix whose rows stand at these places; the first row whose diagonal block is not positive definite where there is one.
    pub fn new(matrix: &BlockMatrix, places_of_rows: &[Place]) -> Result<Self, usize> {
        let mut levels: Vec<Level> = Vec::new();
        let mut here = places_of_rows.to_vec();
        let mut coarser: Option<BlockMatrix> = None;
        let mut blocks = 0;
        loop {
            let fine = coarser.as_ref().unwrap_or(matrix);
            if fine.rows() <= DIRECT {
                break;
            }
            let (of, count) = aggregates(fine);
            // Where hardly anything comes together smoothing is all there is to do.
            if count == 0 || count * 10 > fine.rows() * 9 {
                break;
            }
            let smoother = Smoother::new(fine)?;
            let next = places(&here, &of, count);
            let omega = OMEGA / smoother.largest;
            let prolong = prolongator(fine, &smoother.diagonal, omega, (&here, &of), &next);
            let restrict = prolong.transposed(count);
            let product = galerkin(fine, &prolong, &restrict);
            blocks += product.column.len();
            levels.push(Level {
                r: vec![[0.0; 6]; fine.rows()],
                coarse_b: vec![[0.0; 6]; count],
                coarse_r: vec![[0.0; 6]; count],
                coarse_x: vec![[0.0; 6]; count],
                smoother,
                prolong: prolong.single(),
                restrict: restrict.single(),
            });
            coarser = Some(product);
            here = next;
        }
        Ok(Multigrid {
            coarsest: coarsest(coarser.as_ref().unwrap_or(matrix))?,
            levels,
            blocks,
        })
    }

    /// Goes on with a changed matrix of as many rows: the finest level follows it, coarser ones stay as they are.
    pub fn renew(&mut self, matrix: &BlockMatrix) -> Result<(), usize> {
        match self.levels.first_mut() {
            Some(level) => level.smoother.renew(matrix),
            None => {
                self.coarsest = coarsest(matrix)?;
                Ok(())
            }
        }
    }

    /// Blocks of all levels over those of the finest.
    pub fn complexity(&self, matrix: &BlockMatrix) -> f64 {
        1.0 + self.blocks as f64 / matrix.column.len() as f64
    }
}

fn coarsest(matrix: &BlockMatrix) -> Result<Coarsest, usize> {
    if matrix.rows() <= DIRECT
        && let Some(factor) = cholesky(matrix)
    {
        let unknowns = 6 * matrix.rows();
        return Ok(Coarsest::Direct { factor, unknowns });
    }
    Ok(Coarsest::Smoothed(Smoother::new(matrix)?))
}

/// Lower factor of a matrix, row after row; none where it is not positive definite.
fn cholesky(matrix: &BlockMatrix) -> Option<Vec<f64>> {
    let n = 6 * matrix.rows();
    let mut a = vec![0.0; n * n];
    for row in 0..matrix.rows() {
        for at in matrix.range(row) {
            let column = matrix.column[at] as usize;
            for (c, values) in matrix.value[at].iter().enumerate() {
                for (r, value) in values.iter().enumerate() {
                    a[(6 * row + r) * n + 6 * column + c] = *value;
                }
            }
        }
    }
    for i in 0..n {
        for j in 0..=i {
            let (head, tail) = a.split_at(i * n);
            let (own, other) = (
                &tail[..j],
                if j < i {
                    &head[j * n..j * n + j]
                } else {
                    &tail[..j]
                },
            );
            let sum: f64 = own.iter().zip(other).map(|(a, b)| a * b).sum();
            let value = a[i * n + j] - sum;
            a[i * n + j] = if i == j {
                if value.is_nan() || value <= 0.0 {
                    return None;
                }
                value.sqrt()
            } else {
                value / a[j * n + j]
            };
        }
    }
    Some(a)
}

/// Solves with a Cholesky factor.
fn back(factor: &[f64], n: usize, b: &[Six], x: &mut [Six]) {
    let x = x.as_flattened_mut();
    x.copy_from_slice(b.as_flattened());
    for i in 0..n {
        let row = &factor[i * n..i * n + i];
        let sum: f64 = row.iter().zip(&x[..i]).map(|(a, x)| a * x).sum();
        x[i] = (x[i] - sum) / factor[i * n + i];
    }
    for i in (0..n).rev() {
        x[i] /= factor[i * n + i];
        let found = x[i];
        for (x, a) in x[..i].iter_mut().zip(&factor[i * n..i * n + i]) {
            *x -= a * found;
        }
    }
}

/// One cycle from x = 0.
fn cycle(levels: &mut [Level], coarsest: &mut Coarsest, b: &[Six], x: &mut [Six]) {
    let Some((level, coarser)) = levels.split_first_mut() else {
        match coarsest {
            Coarsest::Direct { factor, unknowns } => back(factor, *unknowns, b, x),
            Coarsest::Smoothed(smoother) => smoother.smooth(b, x, true),
        }
        return;
    };
    level.smoother.smooth(b, x, true);
    level.smoother.matrix.residual(b, x, &mut level.r);
    level.restrict.times(&level.r, &mut level.coarse_b);
    cycle(coarser, coarsest, &level.coarse_b, &mut level.coarse_x);
    level.prolong.add(x, 1.0, &level.coarse_x);
    // Coarser levels cost little: twice is worth it (a W-cycle).
    if let Some(next) = coarser.first() {
        next.smoother
            .matrix
            .residual(&level.coarse_b, &level.coarse_x, &mut level.coarse_r);
        cycle(coarser, coarsest, &level.coarse_r, &mut level.coarse_x);
        level.prolong.add(x, 1.0, &level.coarse_x);
    }
    level.smoother.smooth(b, x, false);
}

impl Precondition for Multigrid {
    fn apply(&mut self, r: &[Six], z: &mut [Six]) {
        cycle(&mut self.levels, &mut self.coarsest, r, z);
    }
}

#[cfg(test)]
pub(super) mod tests;
