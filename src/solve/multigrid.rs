//! Algebraic multigrid by smoothed aggregation (Vaněk, Mandel, Brezina 1996); one cycle is a preconditioner.

use super::aggregate::aggregates;
use super::block::Six;
use super::dense::Cholesky;
use super::gradients::Precondition;
use super::matrix::BlockMatrix;
use super::prolong::{ElementPosition, aggregate_positions, galerkin, prolongator};
use super::smooth::Smoother;
use super::vector::add_scaled;

/// Largest number of rows of a matrix that is solved directly.
const MAX_DIRECT_ROWS: usize = 128;
/// Number of visits to the next coarser level in a cycle: coarse levels cost little, and only they represent
/// the bending of slender bodies. An odd number keeps the cycle positive definite even if it overshoots.
const COARSE_VISITS: usize = 3;
/// Damping of the prolongator's smoothing over the largest eigenvalue.
const OMEGA: f64 = 4.0 / 3.0;

/// A level other than the coarsest.
#[derive(Clone, Debug)]
struct Level {
    smoother: Smoother,
    prolong: BlockMatrix<f32>,
    restrict: BlockMatrix<f32>,
    r: Vec<Six>,
    coarse_b: Vec<Six>,
    coarse_r: Vec<Six>,
    coarse_x: Vec<Six>,
    coarse_more: Vec<Six>,
}

/// Solver of the coarsest level.
#[derive(Clone, Debug)]
enum Coarsest {
    /// Direct solution by its Cholesky factor.
    Direct(Cholesky),
    /// Smoothing, if rows cannot be aggregated further.
    Smoothed(Smoother),
}

/// A hierarchy of increasingly coarse matrices.
#[derive(Clone, Debug)]
pub struct Multigrid {
    levels: Vec<Level>,
    coarsest: Coarsest,
    /// Number of blocks of all coarser levels.
    blocks: usize,
}

impl Multigrid {
    /// Builds the hierarchy of a matrix with these positions of its rows; an error is the first row whose
    /// diagonal block is not positive definite.
    pub fn new(matrix: &BlockMatrix, positions_of_rows: &[ElementPosition]) -> Result<Self, usize> {
        let mut levels: Vec<Level> = Vec::new();
        let mut here = positions_of_rows.to_vec();
        let mut coarser: Option<BlockMatrix> = None;
        let mut blocks = 0;
        loop {
            let fine = coarser.as_ref().unwrap_or(matrix);
            if fine.rows() <= MAX_DIRECT_ROWS {
                break;
            }
            let (of, count) = aggregates(fine);
            // If hardly any rows can be aggregated, only smoothing is left.
            if count == 0 || count * 10 > fine.rows() * 9 {
                break;
            }
            let diagonal = fine.inverse_diagonal()?;
            let smoother = Smoother::new(fine, &diagonal);
            let next = aggregate_positions(&here, &of, count);
            let omega = OMEGA / smoother.largest;
            let prolong = prolongator(fine, &diagonal, omega, (&here, &of), &next);
            let restrict = prolong.transposed(count);
            let product = galerkin(fine, &prolong, &restrict);
            blocks += product.column.len();
            levels.push(Level {
                r: vec![[0.0; 6]; fine.rows()],
                coarse_b: vec![[0.0; 6]; count],
                coarse_r: vec![[0.0; 6]; count],
                coarse_x: vec![[0.0; 6]; count],
                coarse_more: vec![[0.0; 6]; count],
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

    /// Replaces the matrix by a changed one with the same number of rows: only the finest level is updated.
    pub fn renew(&mut self, matrix: &BlockMatrix) -> Result<(), usize> {
        match self.levels.first_mut() {
            Some(level) => level.smoother.renew(matrix),
            None => {
                self.coarsest = coarsest(matrix)?;
                Ok(())
            }
        }
    }

    /// Number of blocks of all levels over that of the finest.
    pub fn complexity(&self, matrix: &BlockMatrix) -> f64 {
        1.0 + self.blocks as f64 / matrix.column.len() as f64
    }
}

fn coarsest(matrix: &BlockMatrix) -> Result<Coarsest, usize> {
    if matrix.rows() <= MAX_DIRECT_ROWS
        && let Some(factor) = Cholesky::new(matrix)
    {
        return Ok(Coarsest::Direct(factor));
    }
    let diagonal = matrix.inverse_diagonal()?;
    Ok(Coarsest::Smoothed(Smoother::new(matrix, &diagonal)))
}

/// One cycle from x = 0.
fn cycle(levels: &mut [Level], coarsest: &mut Coarsest, b: &[Six], x: &mut [Six]) {
    let Some((level, coarser)) = levels.split_first_mut() else {
        match coarsest {
            Coarsest::Direct(factor) => factor.solve(b, x),
            Coarsest::Smoothed(smoother) => smoother.smooth(b, x, true),
        }
        return;
    };
    level.smoother.smooth(b, x, true);
    level.smoother.matrix.residual(b, x, &mut level.r);
    let (b_next, r_next) = (&mut level.coarse_b, &mut level.coarse_r);
    let (x_next, more) = (&mut level.coarse_x, &mut level.coarse_more);
    level.restrict.times(&level.r, b_next);
    cycle(coarser, coarsest, b_next, x_next);
    // A direct solution needs one visit only.
    let visits = if coarser.is_empty() { 1 } else { COARSE_VISITS };
    for _ in 1..visits {
        coarser[0].smoother.matrix.residual(b_next, x_next, r_next);
        cycle(coarser, coarsest, r_next, more);
        add_scaled(x_next, 1.0, more);
    }
    level.prolong.add(x, x_next);
    level.smoother.smooth(b, x, false);
}

impl Precondition for Multigrid {
    fn apply(&mut self, r: &[Six], z: &mut [Six]) {
        cycle(&mut self.levels, &mut self.coarsest, r, z);
    }
}

#[cfg(test)]
pub(super) mod tests;
