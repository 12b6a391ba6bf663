//! Everything that does not change from one sum to the next.

use std::sync::Arc;

use glam::DVec3;

use super::lists::Lists;
use super::operators::Operators;
use super::tree::Tree;

/// The first level with boxes that do not touch each other. Densities of the levels above it are not needed.
pub const FIRST_LEVEL: usize = 2;

/// Largest factor on the size of a leaf if the numbers of sources and targets differ.
const MAX_LEAF_FACTOR: f64 = 4.0;

/// Tree, lists and operators.
#[derive(Clone, Debug)]
pub struct FmmPlan {
    /// Poisson's ratio.
    pub poisson: f64,
    /// The boxes.
    pub tree: Tree,
    /// Which boxes act on which boxes.
    pub lists: Lists,
    /// Operators that translate densities and potentials.
    pub operators: Arc<Operators>,
    /// Sources in the tree's order, m.
    pub sources: Vec<DVec3>,
    /// Targets in the tree's order, m.
    pub targets: Vec<DVec3>,
    /// Leaves with targets, in the order of their targets.
    pub leaves: Vec<u32>,
}

impl FmmPlan {
    /// With `side` points along a side of the surfaces. Boxes with more than `leaf` sources or targets are
    /// split if there are equally many sources and targets.
    pub fn new(
        sources: &[DVec3],
        targets: &[DVec3],
        poisson: f64,
        (side, leaf): (usize, usize),
    ) -> Self {
        let tree = Tree::new(sources, targets, limits(leaf, sources.len(), targets.len()));
        let operators = Operators::cached(side);
        let lists = Lists::new(&tree, operators.surface.len());
        let of =
            |points: &[DVec3], order: &[u32]| order.iter().map(|k| points[*k as usize]).collect();
        let leaf = |at: &u32| {
            let node = &tree.nodes[*at as usize];
            node.is_leaf() && !node.targets.is_empty()
        };
        let mut leaves: Vec<u32> = (0..tree.nodes.len() as u32).filter(leaf).collect();
        leaves.sort_unstable_by_key(|at| tree.nodes[*at as usize].targets.start);
        FmmPlan {
            poisson,
            sources: of(sources, &tree.source_order),
            targets: of(targets, &tree.target_order),
            lists,
            operators,
            leaves,
            tree,
        }
    }

    /// Number of points of a surface.
    pub fn points(&self) -> usize {
        self.operators.surface.len()
    }

    /// Converts strengths to the tree's order.
    pub fn sorted<S: Copy>(&self, strengths: &[S]) -> Vec<S> {
        assert_eq!(
            strengths.len(),
            self.sources.len(),
            "one strength for each source"
        );
        let order = &self.tree.source_order;
        order.iter().map(|k| strengths[*k as usize]).collect()
    }

    /// Positions and strengths of the sources in a box; `strengths` are in the tree's order.
    pub fn sources_in<'a, S: Copy>(
        &'a self,
        at: u32,
        strengths: &'a [S],
    ) -> impl Iterator<Item = (DVec3, S)> + 'a {
        let range = &self.tree.nodes[at as usize].sources;
        let range = range.start as usize..range.end as usize;
        let places = self.sources[range.clone()].iter();
        places.copied().zip(strengths[range].iter().copied())
    }

    /// Converts values at targets to the caller's order.
    pub fn unsorted<T: Copy>(&self, values: &[T], none: T) -> Vec<T> {
        let mut out = vec![none; values.len()];
        for (value, k) in values.iter().zip(&self.tree.target_order) {
            out[*k as usize] = *value;
        }
        out
    }
}

/// Largest numbers of sources and targets in a leaf: the kind of which there are more gets a larger limit, as
/// the work in a leaf grows with the product of both.
fn limits(leaf: usize, sources: usize, targets: usize) -> [usize; 2] {
    let ratio = sources.max(1) as f64 / targets.max(1) as f64;
    let tilt = ratio.sqrt().clamp(1.0 / MAX_LEAF_FACTOR, MAX_LEAF_FACTOR);
    [tilt, 1.0 / tilt].map(|tilt| (leaf as f64 * tilt).ceil() as usize)
}
