//! Which boxes act on which boxes, and how: the lists U, V, W and X of Ying, Biros and Zorin, *A
//! kernel-independent adaptive fast multipole algorithm in two and three dimensions*, 2004, §3.1.

use std::ops::Index;

use super::tree::{Node, Tree};
use crate::parallel::prelude::*;

/// Largest number of steps along an axis between two boxes of a V list.
pub const REACH: i32 = 3;
/// Number of possible combinations of steps between two boxes, including those that do not occur in V lists.
pub const DIRECTIONS: usize = 343;

/// Index of the steps from a source box to a target box.
pub fn direction(steps: [i32; 3]) -> usize {
    let wide = 2 * REACH + 1;
    let [x, y, z] = steps.map(|s| s + REACH);
    ((x * wide + y) * wide + z) as usize
}

/// Steps with this index.
pub fn steps(direction: usize) -> [i32; 3] {
    let (k, wide) = (direction as i32, 2 * REACH + 1);
    [k / (wide * wide), k / wide % wide, k % wide].map(|s| s - REACH)
}

/// A source box of a V list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FarBox {
    /// Index of the box.
    pub node: u32,
    /// [`direction`] of the steps from it to the target box.
    pub direction: u32,
}

/// Rows of different lengths, stored one after the other.
#[derive(Clone, Debug)]
pub struct JaggedRows<T> {
    start: Vec<u32>,
    items: Vec<T>,
}

impl<T> JaggedRows<T> {
    /// Joins rows.
    pub fn new(rows: impl ExactSizeIterator<Item = Vec<T>>) -> Self {
        let mut start = Vec::with_capacity(rows.len() + 1);
        start.push(0);
        let mut items = Vec::new();
        for row in rows {
            items.extend(row);
            start.push(items.len() as u32);
        }
        JaggedRows { start, items }
    }
}

impl<T> Index<usize> for JaggedRows<T> {
    type Output = [T];
    fn index(&self, row: usize) -> &[T] {
        &self.items[self.start[row] as usize..self.start[row + 1] as usize]
    }
}

/// For each target box, the source boxes in its lists. Boxes without sources are in no list; the lists of
/// boxes without targets are empty.
#[derive(Clone, Debug)]
pub struct Lists {
    /// U, of leaves: boxes whose sources act directly on the targets.
    pub direct: JaggedRows<u32>,
    /// V: boxes of the same level whose equivalent densities act on the check surface.
    pub far: JaggedRows<FarBox>,
    /// W, of leaves: smaller boxes whose equivalent densities act on the targets.
    pub smaller: JaggedRows<u32>,
    /// X: larger leaves whose sources act on the check surface.
    pub larger: JaggedRows<u32>,
}

/// Lists of one box.
#[derive(Clone, Default)]
struct BoxLists {
    /// Boxes that touch this box: those of its level, and larger leaves.
    touching: Vec<u32>,
    direct: Vec<u32>,
    far: Vec<FarBox>,
    smaller: Vec<u32>,
    larger: Vec<u32>,
}

impl Lists {
    /// Builds the lists of a tree. A box of list W with at most `few` sources, and list X of a leaf with at
    /// most `few` targets, are summed directly, which takes less time.
    pub fn new(tree: &Tree, few: usize) -> Self {
        let mut rows = Vec::with_capacity(tree.nodes.len());
        for level in &tree.levels {
            let here: Vec<BoxLists> = level
                .clone()
                .into_par_iter()
                .map(|at| lists_of(tree, &rows, at, few))
                .collect();
            rows.extend(here);
        }
        Lists {
            direct: JaggedRows::new(rows.iter_mut().map(|row| std::mem::take(&mut row.direct))),
            far: JaggedRows::new(rows.iter_mut().map(|row| std::mem::take(&mut row.far))),
            smaller: JaggedRows::new(rows.iter_mut().map(|row| std::mem::take(&mut row.smaller))),
            larger: JaggedRows::new(rows.iter_mut().map(|row| std::mem::take(&mut row.larger))),
        }
    }
}

/// Lists of a box, from those of its parent.
fn lists_of(tree: &Tree, rows: &[BoxLists], at: usize, few: usize) -> BoxLists {
    let node = &tree.nodes[at];
    let mut row = BoxLists::default();
    if node.targets.is_empty() {
        return row;
    }
    if at == 0 {
        row.touching.push(0);
    } else {
        for &other in &rows[node.parent as usize].touching {
            let larger = &tree.nodes[other as usize];
            if larger.is_leaf() {
                if node.touches(larger) {
                    row.touching.push(other);
                } else if node.is_leaf() && node.targets.len() <= few {
                    row.direct.push(other);
                } else {
                    row.larger.push(other);
                }
                continue;
            }
            for child in with_sources(tree, larger) {
                let source = &tree.nodes[child as usize];
                if node.touches(source) {
                    row.touching.push(child);
                } else {
                    let direction = direction(node.steps_from(source)) as u32;
                    let node = child;
                    row.far.push(FarBox { node, direction });
                }
            }
        }
    }
    if node.is_leaf() {
        let touching = std::mem::take(&mut row.touching);
        for other in touching {
            add_touching_box(tree, node, other, few, &mut row);
        }
    }
    row
}

/// Children of a box that have sources.
fn with_sources(tree: &Tree, node: &Node) -> impl Iterator<Item = u32> {
    let has_sources = |child: &u32| !tree.nodes[*child as usize].sources.is_empty();
    node.children.clone().filter(has_sources)
}

/// Adds a box that touches a leaf, or its descendants, to the leaf's lists U and W.
fn add_touching_box(tree: &Tree, leaf: &Node, other: u32, few: usize, row: &mut BoxLists) {
    let source = &tree.nodes[other as usize];
    if !leaf.touches(source) {
        if source.sources.len() <= few {
            row.direct.push(other);
        } else {
            row.smaller.push(other);
        }
    } else if source.is_leaf() {
        if !source.sources.is_empty() {
            row.direct.push(other);
        }
    } else {
        for child in with_sources(tree, source) {
            add_touching_box(tree, leaf, child, few, row);
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;

    /// Each source acts on each leaf exactly once, through a list of the leaf or of a box above it.
    #[test]
    fn every_source_acts_once_on_every_leaf() {
        let even = (0..600).map(|k| DVec3::new((k % 7) as f64, (k % 11) as f64, (k % 13) as f64));
        let heap =
            (0..600).map(|k| DVec3::new((k % 7) as f64, (k % 11) as f64, (k % 13) as f64) * 1e-3);
        let sources: Vec<DVec3> = even.chain(heap).collect();
        let targets: Vec<DVec3> = sources.iter().map(|p| *p * 0.6 + 1.0).collect();
        for few in [0, 8] {
            for (sources, targets) in [(&sources, &sources), (&sources, &targets)] {
                let tree = Tree::new(sources, targets, [10; 2]);
                let lists = Lists::new(&tree, few);
                for (at, leaf) in tree.nodes.iter().enumerate() {
                    if leaf.is_leaf() && !leaf.targets.is_empty() {
                        check(&tree, &lists, at, sources.len());
                    }
                }
            }
        }
    }

    fn check(tree: &Tree, lists: &Lists, leaf: usize, sources: usize) {
        let mut seen = vec![0; sources];
        let mut add = |node: u32| {
            for k in tree.nodes[node as usize].sources.clone() {
                seen[k as usize] += 1;
            }
        };
        lists.direct[leaf].iter().for_each(|node| add(*node));
        lists.smaller[leaf].iter().for_each(|node| add(*node));
        let mut at = leaf;
        loop {
            for far in &lists.far[at] {
                let moved = tree.nodes[at].steps_from(&tree.nodes[far.node as usize]);
                assert_eq!(steps(far.direction as usize), moved);
                assert!(moved.iter().any(|step| step.abs() > 1));
                add(far.node);
            }
            lists.larger[at].iter().for_each(|node| add(*node));
            if at == 0 {
                break;
            }
            at = tree.nodes[at].parent as usize;
        }
        assert!(seen.iter().all(|count| *count == 1));
    }
}
