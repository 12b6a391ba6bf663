//! Connected components by joining pairs; the smallest member represents its component.

/// Components of the indices 0..n.
#[derive(Clone, Debug)]
pub struct UnionFind {
    parent: Vec<u32>,
}

impl UnionFind {
    /// `count` components of one member each.
    pub fn new(count: usize) -> Self {
        UnionFind {
            parent: (0..count as u32).collect(),
        }
    }

    /// Smallest member of the component of `i`.
    #[inline]
    pub fn root(&mut self, mut i: u32) -> u32 {
        while self.parent[i as usize] != i {
            let up = self.parent[self.parent[i as usize] as usize];
            self.parent[i as usize] = up;
            i = up;
        }
        i
    }

    /// Joins the components of `i` and `j`. Returns whether they were different.
    #[inline]
    pub fn join(&mut self, i: u32, j: u32) -> bool {
        let (a, b) = (self.root(i), self.root(j));
        // The smaller index becomes the root, so a root is its component's smallest member.
        self.parent[a.max(b) as usize] = a.min(b);
        a != b
    }

    /// The root of every index.
    pub fn roots(mut self) -> Vec<u32> {
        (0..self.parent.len() as u32)
            .map(|i| self.root(i))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_member_stands_for_each_component() {
        let mut sets = UnionFind::new(6);
        assert!(sets.join(4, 2));
        assert!(sets.join(5, 4));
        assert!(!sets.join(2, 5));
        assert!(sets.join(1, 0));
        assert_eq!(sets.roots(), [0, 0, 2, 3, 2, 2]);
    }
}
