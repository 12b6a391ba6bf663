//! Adaptive octree over sources and targets.

use std::ops::Range;

use glam::DVec3;

use super::morton::{DEPTH, RootCube};
use crate::parallel::prelude::*;

/// A box of the octree. Its points are a range of the points in the tree's order.
#[derive(Clone, Debug)]
pub struct Node {
    /// Number of subdivisions of the root cube.
    pub level: u32,
    /// Lowest corner, in cells of the finest grid.
    pub corner: [u32; 3],
    /// Index of the parent; the root is its own parent.
    pub parent: u32,
    /// Indices of the children; empty in a leaf.
    pub children: Range<u32>,
    /// Sources in the box.
    pub sources: Range<u32>,
    /// Targets in the box.
    pub targets: Range<u32>,
}

impl Node {
    /// Whether it has no children.
    pub fn is_leaf(&self) -> bool {
        self.children.is_empty()
    }

    /// Length of a side in cells of the finest grid.
    fn cells(&self) -> u32 {
        1 << (DEPTH - self.level)
    }

    /// Octant of its parent in which it lies: bit k is set in the upper half of axis k.
    pub fn octant(&self) -> usize {
        let bit = |k: usize| ((self.corner[k] >> (DEPTH - self.level) & 1) as usize) << k;
        bit(0) | bit(1) | bit(2)
    }

    /// Whether the boxes have a point in common.
    pub fn touches(&self, other: &Node) -> bool {
        (0..3).all(|k| {
            self.corner[k] <= other.corner[k] + other.cells()
                && other.corner[k] <= self.corner[k] + self.cells()
        })
    }

    /// Steps from another box of the same level, by axis, in units of the box's side.
    pub fn steps_from(&self, other: &Node) -> [i32; 3] {
        let shift = DEPTH - self.level;
        let step = |k: usize| (self.corner[k] >> shift) as i32 - (other.corner[k] >> shift) as i32;
        [step(0), step(1), step(2)]
    }
}

/// Boxes level by level, each level in the order of the Z-order curve.
#[derive(Clone, Debug)]
pub struct Tree {
    root: RootCube,
    /// The boxes; the root is the first.
    pub nodes: Vec<Node>,
    /// Range of the boxes of each level.
    pub levels: Vec<Range<usize>>,
    /// For each source in the tree's order, its index in the caller's order.
    pub source_order: Vec<u32>,
    /// For each target in the tree's order, its index in the caller's order.
    pub target_order: Vec<u32>,
}

impl Tree {
    /// Splits boxes that contain more than `most[0]` sources or `most[1]` targets.
    pub fn new(sources: &[DVec3], targets: &[DVec3], most: [usize; 2]) -> Self {
        let root = RootCube::new(sources, targets);
        let sources = along_curve(&root, sources);
        let targets = along_curve(&root, targets);
        let mut nodes = vec![Node {
            level: 0,
            corner: [0; 3],
            parent: 0,
            children: 0..0,
            sources: 0..sources.len() as u32,
            targets: 0..targets.len() as u32,
        }];
        let mut levels: Vec<Range<usize>> = std::iter::once(0..1).collect();
        for level in 0..DEPTH {
            let here = levels[level as usize].clone();
            for at in here.clone() {
                let node = nodes[at].clone();
                let full = |codes: &[(u64, u32)], range: &Range<u32>, most: usize| {
                    let codes = &codes[range.start as usize..range.end as usize];
                    // Points in one cell of the finest grid cannot be separated.
                    codes.len() > most && codes[0].0 != codes[codes.len() - 1].0
                };
                if full(&sources, &node.sources, most[0]) || full(&targets, &node.targets, most[1])
                {
                    let first = nodes.len() as u32;
                    split(&mut nodes, at, &sources, &targets);
                    nodes[at].children = first..nodes.len() as u32;
                }
            }
            if nodes.len() == here.end {
                break;
            }
            levels.push(here.end..nodes.len());
        }
        let numbers = |codes: Vec<(u64, u32)>| codes.into_iter().map(|(_, k)| k).collect();
        Tree {
            root,
            nodes,
            levels,
            source_order: numbers(sources),
            target_order: numbers(targets),
        }
    }

    /// Half the side of a box, m.
    pub fn half(&self, node: &Node) -> f64 {
        self.root.side / f64::from(2_u32 << node.level)
    }

    /// Centre of a box.
    pub fn centre(&self, node: &Node) -> DVec3 {
        let cell = self.root.side / f64::from(1 << DEPTH);
        let half = 0.5 * f64::from(node.cells());
        let place = node.corner.map(|c| (f64::from(c) + half) * cell);
        self.root.low + DVec3::from_array(place)
    }
}

/// Codes and indices of points, sorted by code.
fn along_curve(root: &RootCube, points: &[DVec3]) -> Vec<(u64, u32)> {
    let numbered = points.par_iter().enumerate();
    let mut codes: Vec<(u64, u32)> = numbered.map(|(k, p)| (root.code(*p), k as u32)).collect();
    codes.par_sort_unstable();
    codes
}

/// Appends the children of a box that contain points.
fn split(nodes: &mut Vec<Node>, at: usize, sources: &[(u64, u32)], targets: &[(u64, u32)]) {
    let node = nodes[at].clone();
    let level = node.level + 1;
    let shift = 3 * (DEPTH - level);
    let upto = |codes: &[(u64, u32)], range: &Range<u32>, octant: u64| {
        let inside = &codes[range.start as usize..range.end as usize];
        range.start + inside.partition_point(|(code, _)| code >> shift & 7 <= octant) as u32
    };
    let mut starts = (node.sources.start, node.targets.start);
    for octant in 0..8 {
        let ends = (
            upto(sources, &node.sources, octant),
            upto(targets, &node.targets, octant),
        );
        if ends != starts {
            let half = 1 << (DEPTH - level);
            let offset = |k: usize| node.corner[k] + (octant >> k & 1) as u32 * half;
            nodes.push(Node {
                level,
                corner: [offset(0), offset(1), offset(2)],
                parent: at as u32,
                children: 0..0,
                sources: starts.0..ends.0,
                targets: starts.1..ends.1,
            });
        }
        starts = ends;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cloud(count: usize) -> Vec<DVec3> {
        (0..count)
            .map(|k| DVec3::new((k * 7 % 31) as f64, (k * 11 % 37) as f64, (k % 41) as f64))
            .collect()
    }

    #[test]
    fn every_point_lies_in_one_leaf_and_in_its_box() {
        let (sources, targets) = (cloud(1000), cloud(300));
        let tree = Tree::new(&sources, &targets, [20; 2]);
        let leaves = tree.nodes.iter().filter(|node| node.is_leaf());
        let mut seen = vec![0; sources.len()];
        for node in leaves {
            assert!(node.sources.len() <= 20 && node.targets.len() <= 20);
            for k in node.sources.clone() {
                let number = tree.source_order[k as usize] as usize;
                seen[number] += 1;
                let away = (sources[number] - tree.centre(node)).abs().max_element();
                assert!(away <= tree.half(node) * (1.0 + 1e-9));
            }
        }
        assert!(seen.iter().all(|count| *count == 1));
        assert_eq!(
            tree.levels.iter().map(Range::len).sum::<usize>(),
            tree.nodes.len()
        );
    }

    #[test]
    fn points_in_one_place_are_one_leaf() {
        let place = DVec3::new(1.0, 2.0, 3.0);
        let tree = Tree::new(&[place; 500], &[place; 7], [20; 2]);
        assert_eq!(tree.nodes.len(), 1);
        // With another point far away, the coincident points become a leaf.
        let mut sources = vec![place; 500];
        sources.push(DVec3::ZERO);
        let tree = Tree::new(&sources, &[], [20; 2]);
        assert_eq!(tree.nodes.len(), 3);
    }
}
