//! Fragments: connected components of intact bonds and rigid pieces, with labels that persist.

use std::collections::HashMap;

use crate::math::{Scalar, UnionFind};
use crate::simulate::bonded::system::System;

/// Component of each element, named by its smallest element; union-find over intact bonds and rigid pieces.
pub fn components<S: Scalar>(system: &System<S>) -> Vec<u32> {
    let mut sets = UnionFind::new(system.count);
    let bonds = &system.bonds;
    for (i, side) in bonds.entries() {
        if bonds.is_intact(side.entry) {
            sets.join(i as u32, side.other as u32);
        }
    }
    let mut first = HashMap::new();
    let pieces = (0..).zip(system.rigid().pieces());
    for (i, &piece) in pieces.filter(|(_, piece)| **piece != 0) {
        sets.join(*first.entry(piece).or_insert(i), i);
    }
    sets.roots()
}

/// Labels at the start: components numbered in the order of their smallest elements.
pub fn first_labels(components: &[u32]) -> Vec<u32> {
    let mut label = vec![u32::MAX; components.len()];
    let mut next = 0;
    for (i, &root) in components.iter().enumerate() {
        if root as usize == i {
            label[i] = next;
            next += 1;
        }
    }
    components.iter().map(|&r| label[r as usize]).collect()
}

/// Updates the labels after bonds broke.
pub fn update(labels: &mut Vec<u32>, components: &[u32]) {
    *labels = relabel(labels, components);
}

/// Labels after bonds broke. When a fragment splits, its largest part keeps the label (of equal parts the one
/// with the smallest element); the others get new labels in the order of their smallest elements.
fn relabel(old: &[u32], components: &[u32]) -> Vec<u32> {
    let mut size = vec![0u32; old.len()];
    for &root in components {
        size[root as usize] += 1;
    }
    let labels = old.iter().max().map_or(0, |m| *m as usize + 1);
    let mut heir = vec![u32::MAX; labels];
    for (i, &root) in components.iter().enumerate() {
        if root as usize == i {
            let best = &mut heir[old[i] as usize];
            if *best == u32::MAX || size[i] > size[*best as usize] {
                *best = root;
            }
        }
    }
    let mut label = vec![u32::MAX; old.len()];
    let mut next = labels as u32;
    for (i, &root) in components.iter().enumerate() {
        if root as usize == i {
            if heir[old[i] as usize] == root {
                label[i] = old[i];
            } else {
                label[i] = next;
                next += 1;
            }
        }
    }
    components.iter().map(|&r| label[r as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_part_keeps_the_label() {
        // Elements 0-5 were fragment 0, 6-7 fragment 1; 0 splits into {0, 1}, {2, 3, 4}, {5}.
        let old = [0, 0, 0, 0, 0, 0, 1, 1];
        let components = [0, 0, 2, 2, 2, 5, 6, 6];
        assert_eq!(relabel(&old, &components), [2, 2, 0, 0, 0, 3, 1, 1]);
        assert_eq!(first_labels(&components), [0, 0, 1, 1, 1, 2, 3, 3]);
        assert_eq!(relabel(&old, &[0, 0, 0, 0, 0, 0, 6, 6]), old);
    }
}
