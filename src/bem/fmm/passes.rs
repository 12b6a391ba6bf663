//! The passes over the tree: upward equivalent densities from the sources, check potentials across (M2L), and
//! downward equivalent densities to the targets.

use super::batch::Batch;
use super::convolution::Four;
use super::kernels::Strength;
use super::plan::{FIRST_LEVEL, FmmPlan};
use super::product::BOXES;
use super::surface::{INNER, OUTER};
use super::uniform::UniformPart;
use crate::parallel::prelude::*;

/// Upward equivalent densities of every box, one row of points for each box: P2M and M2M.
pub fn upward<S: Strength>(plan: &FmmPlan, strengths: &[S]) -> Vec<Four> {
    let (n, nodes) = (plan.points(), &plan.tree.nodes);
    let mut densities = vec![[0.0; 4]; nodes.len() * n];
    for level in plan.tree.levels.iter().skip(FIRST_LEVEL).rev() {
        let (head, children) = densities.split_at_mut(level.end * n);
        let here = head[level.start * n..].par_chunks_mut(BOXES * n);
        let work = |batch: &mut Batch<S>, (chunk, densities): (usize, &mut [Four])| {
            let first = level.start + chunk * BOXES;
            let boxes = densities.len() / n;
            batch.clear(plan);
            for (column, at) in (first..first + boxes).enumerate() {
                let node = &nodes[at];
                if node.is_leaf() {
                    batch.add_sources(plan, strengths, (column, node), OUTER, &[at as u32]);
                }
                for child in node.children.clone() {
                    let child = child as usize;
                    if !nodes[child].sources.is_empty() {
                        batch.add_translation(
                            (child - level.end) * n,
                            nodes[child].octant(),
                            column,
                        );
                    }
                }
            }
            batch.translate_up(plan, children);
            batch.invert_upward(plan);
            for (column, densities) in densities.chunks_exact_mut(n).enumerate() {
                batch.copy_out(column, densities);
            }
        };
        here.enumerate().for_each_init(Batch::default, work);
    }
    densities
}

/// Densities and uniform parts of the boxes of a batch.
type BatchSlices<'a> = (&'a mut [Four], &'a mut [UniformPart]);

/// Effect on each box of all sources outside its neighbourhood.
pub struct Downward {
    /// Downward equivalent densities of every box, one row of points for each box.
    pub densities: Vec<Four>,
    /// Uniform part of each box, which the densities do not include.
    pub uniform: Vec<UniformPart>,
}

/// Downward equivalent densities of every box: M2L, P2L of the list X, and L2L.
pub fn downward<S: Strength>(plan: &FmmPlan, strengths: &[S], upward: &[Four]) -> Downward {
    let (n, nodes) = (plan.points(), &plan.tree.nodes);
    // Potentials are converted to densities level by level, in place.
    let mut densities = vec![[0.0; 4]; nodes.len() * n];
    let convolution = &plan.operators.convolution;
    convolution.add(&plan.lists.far, upward, &mut densities);
    let mut uniform = vec![UniformPart::default(); nodes.len()];
    for (number, level) in plan.tree.levels.iter().enumerate().skip(FIRST_LEVEL) {
        let (above, rest) = densities.split_at_mut(level.start * n);
        let here = rest[..level.len() * n].par_chunks_mut(BOXES * n);
        let (uniform_above, uniform) = uniform.split_at_mut(level.start);
        let uniform = uniform[..level.len()].par_chunks_mut(BOXES);
        let work = |batch: &mut Batch<S>, (chunk, (densities, uniform)): (usize, BatchSlices)| {
            let first = level.start + chunk * BOXES;
            batch.clear(plan);
            for (column, densities) in densities.chunks_exact(n).enumerate() {
                let (at, node) = (first + column, &nodes[first + column]);
                if node.targets.is_empty() {
                    continue;
                }
                batch.copy_in(column, densities);
                if number > FIRST_LEVEL {
                    batch.add_translation(node.parent as usize * n, node.octant(), column);
                }
                let larger = &plan.lists.larger[at];
                if !larger.is_empty() {
                    batch.add_sources(plan, strengths, (column, node), INNER, larger);
                }
            }
            batch.translate_down(plan, above);
            batch.invert_downward(plan, uniform);
            for (column, part) in uniform.iter_mut().enumerate() {
                let parent = nodes[first + column].parent as usize;
                *part += uniform_above[parent].in_child();
            }
            for (column, densities) in densities.chunks_exact_mut(n).enumerate() {
                batch.copy_out(column, densities);
            }
        };
        let here = here.zip(uniform).enumerate();
        here.for_each_init(Batch::default, work);
    }
    Downward { densities, uniform }
}
