//! Which boxes act on which, and how: the lists U, V, W and X of Ying, Biros and Zorin, *A kernel-independent
//! adaptive fast multipole algorithm in two and three dimensions*, 2004, §3.1.

use std::ops::Index;

use super::tree::{Node, Tree};
use crate::parallel::prelude::*;

/// Steps between two boxes of a V list along an axis are at most this many.
pub const REACH: i32 = 3;
/// Numbers of steps between two boxes of a V list, those that do not occur among them.
pub const DIRECTIONS: usize = 343;

/// Number of steps from a source box to a target box.
pub fn direction(steps: [i32; 3]) -> usize {
    let wide = 2 * REACH + 1;
    let [x, y, z] = steps.map(|s| s + REACH);
    ((x * wide + y) * wide + z) as usize
}

/// Steps of that number.
pub fn steps(direction: usize) -> [i32; 3] {
    let (k, wide) = (direction as i32, 2 * REACH + 1);
    [k / (wide * wide), k / wide % wide, k % wide].map(|s| s - REACH)
}

/// A source box of a V list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Far {
    /// The box.
    pub node: u32,
    /// [`direction`] of the steps from it.
    pub direction: u32,
}

/// Rows of any length.
#[derive(Clone, Debug)]
pub struct Rows<T> {
    start: Vec<u32>,
    items: Vec<T>,
}

impl<T> Rows<T> {
    /// From rows.
    pub fn new(rows: impl ExactSizeIterator<Item = Vec<T>>) -> Self {
        let mut start = Vec::with_capacity(rows.len() + 1);
        start.push(0);
        let mut items = Vec::new();
        for row in rows {
            items.extend(row);
            start.push(items.len() as u32);
        }
        Rows { start, items }
    }
}

impl<T> Index<usize> for Rows<T> {
    type Output = [T];
    fn index(&self, row: usize) -> &[T] {
        &self.items[self.start[row] as usize..self.start[row + 1] as usize]
    }
}

/// For each target box the source boxes of its lists. Boxes without sources stand in none; boxes without
/// targets have none.
#[derive(Clone, Debug)]
pub struct Lists {
    /// U, of leaves: boxes whose sources act on the targets directly.
    pub direct: Rows<u32>,
    /// V: boxes of the same level whose equivalent densities act on the check surface.
    pub far: Rows<Far>,
    /// W, of leaves: smaller boxes whose equivalent densities act on the targets.
    pub smaller: Rows<u32>,
    /// X: larger leaves whose sources act on the check surface.
    pub larger: Rows<u32>,
}

/// Lists of one box.
#[derive(Clone, Default)]
struct Row {
    /// Boxes that touch it: those of its level and larger leaves.
    touching: Vec<u32>,
    direct: Vec<u32>,
    far: Vec<Far>,
    smaller: Vec<u32>,
    larger: Vec<u32>,
}

impl Lists {
    /// Of a tree. Where a box of W has at most `few` sources, or a leaf with a list X at most `few` targets,
    /// it is summed directly, which costs less.
    pub fn new(tree: &Tree, few: usize) -> Self {
        let mut rows = Vec::with_capacity(tree.nodes.len());
        for level in &tree.levels {
            let here: Vec<Row> = level
                .clone()
                .into_par_iter()
                .map(|at| row_of(tree, &rows, at, few))
                .collect();
            rows.extend(here);
        }
        Lists {
            direct: Rows::new(rows.iter_mut().map(|row| std::mem::take(&mut row.direct))),
            far: Rows::new(rows.iter_mut().map(|row| std::mem::take(&mut row.far))),
            smaller: Rows::new(rows.iter_mut().map(|row| std::mem::take(&mut row.smaller))),
            larger: Rows::new(rows.iter_mut().map(|row| std::mem::take(&mut row.larger))),
        }
    }
}

/// Lists of a box, from those of its parent.
fn row_of(tree: &Tree, rows: &[Row], at: usize, few: usize) -> Row {
    let node = &tree.nodes[at];
    let mut row = Row::default();
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
                    row.far.push(Far { node, direction });
                }
            }
        }
    }
    if node.is_leaf() {
        let touching = std::mem::take(&mut row.touching);
        for other in touching {
            descend(tree, node, other, few, &mut row);
        }
    }
    row
}

/// Children of a box that have sources.
fn with_sources(tree: &Tree, node: &Node) -> impl Iterator<Item = u32> {
    let held = |child: &u32| !tree.nodes[*child as usize].sources.is_empty();
    node.children.clone().filter(held)
}

/// Puts a box that touches a leaf into the leaf's lists U and W.
fn descend(tree: &Tree, leaf: &Node, other: u32, few: usize, row: &mut Row) {
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
            descend(tree, leaf, child, few, row);
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;

    /// Each leaf is acted on by each source exactly once, by a list of its own or of a box above it.
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
