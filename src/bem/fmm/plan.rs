//! All that stays the same from one sum to the next.

use std::sync::Arc;

use glam::DVec3;

use super::lists::Lists;
use super::operators::Operators;
use super::tree::Tree;

/// The first level that has boxes which do not touch each other. Densities above it act on nothing.
pub const FIRST_LEVEL: usize = 2;

/// Factor on the size of a leaf at most where sources and targets are not equally many.
const STEEPEST: f64 = 4.0;

/// Tree, lists and operators.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Poisson's ratio.
    pub poisson: f64,
    /// The boxes.
    pub tree: Tree,
    /// What acts on which.
    pub lists: Lists,
    /// Translations.
    pub operators: Arc<Operators>,
    /// Sources in the tree's order, m.
    pub sources: Vec<DVec3>,
    /// Targets in the tree's order, m.
    pub targets: Vec<DVec3>,
    /// Leaves with targets, in the order of these.
    pub leaves: Vec<u32>,
}

impl Plan {
    /// With `side` points a side of surfaces; boxes are split that hold more than `leaf` sources or targets,
    /// if there are as many of both.
    pub fn new(
        sources: &[DVec3],
        targets: &[DVec3],
        poisson: f64,
        (side, leaf): (usize, usize),
    ) -> Self {
        let tree = Tree::new(sources, targets, limits(leaf, sources.len(), targets.len()));
        let operators = Operators::of(side);
        let lists = Lists::new(&tree, operators.surface.len());
        let of =
            |points: &[DVec3], order: &[u32]| order.iter().map(|k| points[*k as usize]).collect();
        let leaf = |at: &u32| {
            let node = &tree.nodes[*at as usize];
            node.is_leaf() && !node.targets.is_empty()
        };
        let mut leaves: Vec<u32> = (0..tree.nodes.len() as u32).filter(leaf).collect();
        leaves.sort_unstable_by_key(|at| tree.nodes[*at as usize].targets.start);
        Plan {
            poisson,
            sources: of(sources, &tree.source_order),
            targets: of(targets, &tree.target_order),
            lists,
            operators,
            leaves,
            tree,
        }
    }

    /// Points of a surface.
    pub fn points(&self) -> usize {
        self.operators.surface.len()
    }

    /// Strengths in the tree's order.
    pub fn sorted<S: Copy>(&self, strengths: &[S]) -> Vec<S> {
        assert_eq!(strengths.len(), self.sources.len(), "one strength a source");
        let order = &self.tree.source_order;
        order.iter().map(|k| strengths[*k as usize]).collect()
    }

    /// Sources of a box and the strengths there, which are in the tree's order.
    pub fn acting<'a, S: Copy>(
        &'a self,
        at: u32,
        strengths: &'a [S],
    ) -> impl Iterator<Item = (DVec3, S)> + 'a {
        let range = &self.tree.nodes[at as usize].sources;
        let range = range.start as usize..range.end as usize;
        let places = self.sources[range.clone()].iter();
        places.copied().zip(strengths[range].iter().copied())
    }

    /// Values at targets in the caller's order.
    pub fn unsorted<T: Copy>(&self, values: &[T], none: T) -> Vec<T> {
        let mut out = vec![none; values.len()];
        for (value, k) in values.iter().zip(&self.tree.target_order) {
            out[*k as usize] = *value;
        }
        out
    }
}

/// Largest leaves: more of what there is more of, as the work in a leaf grows with the product of both.
fn limits(leaf: usize, sources: usize, targets: usize) -> [usize; 2] {
    let ratio = sources.max(1) as f64 / targets.max(1) as f64;
    let tilt = ratio.sqrt().clamp(1.0 / STEEPEST, STEEPEST);
    [tilt, 1.0 / tilt].map(|tilt| (leaf as f64 * tilt).ceil() as usize)
}
