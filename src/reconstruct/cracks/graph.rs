//! Which elements of a body hold together, in one state of breakage.
//!
//! A crack is where elements are close in space but far along whole bonds. Two bonds are the measure: a lone broken
//! bond amid whole ones opens nothing, and a crack closes where the last of its broken bonds has whole ones beside it.

use crate::reconstruct::body::rest::RestBond;

/// Whole bonds from an element to those that its side of a crack is made of.
const HOPS: u8 = 3;

/// Whole bonds by element.
#[derive(Debug)]
pub struct Graph {
    first: Vec<u32>,
    neighbours: Vec<u32>,
}

impl Graph {
    /// Joins `elements` elements by the bonds of which `whole` holds, given their numbers.
    pub fn new(elements: usize, bonds: &[RestBond], whole: impl Fn(usize) -> bool) -> Self {
        let kept = || {
            let numbered = bonds.iter().enumerate();
            numbered.filter(|&(b, _)| whole(b)).map(|(_, bond)| bond)
        };
        let mut first = vec![0_u32; elements + 1];
        for bond in kept() {
            first[bond.i as usize + 1] += 1;
            first[bond.j as usize + 1] += 1;
        }
        for element in 0..elements {
            first[element + 1] += first[element];
        }
        let mut next = first.clone();
        let mut neighbours = vec![0; first[elements] as usize];
        for bond in kept() {
            for (from, to) in [(bond.i, bond.j), (bond.j, bond.i)] {
                neighbours[next[from as usize] as usize] = to;
                next[from as usize] += 1;
            }
        }
        let mut graph = Graph { first, neighbours };
        for element in 0..elements {
            let row = graph.first[element] as usize..graph.first[element + 1] as usize;
            if !graph.neighbours[row.clone()].is_sorted() {
                graph.neighbours[row].sort_unstable();
            }
        }
        graph
    }

    /// Elements that whole bonds join to `element`, ascending.
    pub fn row(&self, element: u32) -> &[u32] {
        let element = element as usize;
        &self.neighbours[self.first[element] as usize..self.first[element + 1] as usize]
    }

    /// Whether at most two whole bonds join `a` and `b`: they are on one side of any crack.
    pub fn near(&self, a: u32, b: u32) -> bool {
        let (of_a, of_b) = (self.row(a), self.row(b));
        a == b || of_a.binary_search(&b).is_ok() || meet(of_a, of_b)
    }

    /// Elements that few whole bonds join to `element`, itself first, with the number of bonds.
    pub fn around<'a>(&self, element: u32, scratch: &'a mut Scratch) -> &'a [(u32, u8)] {
        scratch.stamp += 1;
        scratch.found.clear();
        scratch.found.push((element, 0));
        scratch.seen[element as usize] = scratch.stamp;
        let mut at = 0;
        while let Some(&(from, hops)) = scratch.found.get(at) {
            at += 1;
            if hops == HOPS {
                break;
            }
            for &to in self.row(from) {
                if scratch.seen[to as usize] != scratch.stamp {
                    scratch.seen[to as usize] = scratch.stamp;
                    scratch.found.push((to, hops + 1));
                }
            }
        }
        &scratch.found
    }
}

/// Whether two ascending lists share a member.
fn meet(a: &[u32], b: &[u32]) -> bool {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
        }
    }
    false
}

/// Memory for searches in a graph.
#[derive(Debug)]
pub struct Scratch {
    seen: Vec<u32>,
    stamp: u32,
    found: Vec<(u32, u8)>,
}

impl Scratch {
    /// For a graph of this many elements.
    pub fn new(elements: usize) -> Self {
        Scratch {
            seen: vec![0; elements],
            stamp: 0,
            found: Vec::new(),
        }
    }
}
