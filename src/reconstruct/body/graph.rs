//! Which elements of a body are connected by intact bonds, in one state of breakage.
//!
//! A crack is where elements are close in space but far apart along intact bonds. The limit is two bonds: a
//! single broken bond among intact ones opens nothing, and a crack ends where intact bonds bypass its last
//! broken bond.

/// Maximum number of intact bonds between an element and the other elements on its side of a crack.
const SIDE_HOPS: u8 = 3;

/// Neighbours of each element along intact bonds.
#[derive(Debug)]
pub struct BondGraph {
    first: Vec<u32>,
    neighbours: Vec<u32>,
}

impl BondGraph {
    /// Connects `elements` elements by the bonds between these pairs.
    pub fn new(elements: usize, bonds: impl Iterator<Item = [u32; 2]> + Clone) -> Self {
        let mut first = vec![0_u32; elements + 1];
        for [i, j] in bonds.clone() {
            first[i as usize + 1] += 1;
            first[j as usize + 1] += 1;
        }
        for element in 0..elements {
            first[element + 1] += first[element];
        }
        let mut next = first.clone();
        let mut neighbours = vec![0; first[elements] as usize];
        for [i, j] in bonds {
            for (from, to) in [(i, j), (j, i)] {
                neighbours[next[from as usize] as usize] = to;
                next[from as usize] += 1;
            }
        }
        let mut graph = BondGraph { first, neighbours };
        for element in 0..elements {
            let row = graph.first[element] as usize..graph.first[element + 1] as usize;
            if !graph.neighbours[row.clone()].is_sorted() {
                graph.neighbours[row].sort_unstable();
            }
        }
        graph
    }

    /// Elements that intact bonds connect to `element`, ascending.
    pub fn neighbours(&self, element: u32) -> &[u32] {
        let element = element as usize;
        &self.neighbours[self.first[element] as usize..self.first[element + 1] as usize]
    }

    /// Whether at most two intact bonds connect `a` and `b`; then they are on the same side of every crack.
    pub fn are_close(&self, a: u32, b: u32) -> bool {
        let (of_a, of_b) = (self.neighbours(a), self.neighbours(b));
        a == b || of_a.binary_search(&b).is_ok() || intersect(of_a, of_b)
    }

    /// Elements within `SIDE_HOPS` intact bonds of `element`, including itself, with the number of bonds.
    pub fn within_hops<'a>(&self, element: u32, scratch: &'a mut GraphScratch) -> &'a [(u32, u8)] {
        scratch.stamp += 1;
        scratch.found.clear();
        scratch.found.push((element, 0));
        scratch.seen[element as usize] = scratch.stamp;
        let mut at = 0;
        while let Some(&(from, hops)) = scratch.found.get(at) {
            at += 1;
            if hops == SIDE_HOPS {
                break;
            }
            for &to in self.neighbours(from) {
                if scratch.seen[to as usize] != scratch.stamp {
                    scratch.seen[to as usize] = scratch.stamp;
                    scratch.found.push((to, hops + 1));
                }
            }
        }
        &scratch.found
    }
}

/// Whether two ascending lists have a common entry.
fn intersect(a: &[u32], b: &[u32]) -> bool {
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

/// Scratch buffers for searches in a graph.
#[derive(Debug)]
pub struct GraphScratch {
    seen: Vec<u32>,
    stamp: u32,
    found: Vec<(u32, u8)>,
}

impl GraphScratch {
    /// Buffers for a graph of `elements` elements.
    pub fn new(elements: usize) -> Self {
        GraphScratch {
            seen: vec![0; elements],
            stamp: 0,
            found: Vec::new(),
        }
    }
}
