//! Edges of a surface, and the two panels of each edge.

use super::surface::Surface;

/// Numbered edges. Side k of a panel runs from its corner k to the next.
#[derive(Clone, Debug)]
pub struct Edges {
    /// The two vertices of each edge, the smaller one first.
    pub ends: Vec<[u32; 2]>,
    /// Number of the edge at each side of each panel.
    pub numbers: Vec<[u32; 3]>,
    /// Panel across each side of each panel.
    pub across: Vec<[u32; 3]>,
}

impl Edges {
    /// Edges of a surface on which every edge is traversed equally often in both directions.
    pub fn new(surface: &Surface) -> Self {
        let sides = |(t, corners): (u32, &[u32; 3])| {
            let corners = *corners;
            [0, 1, 2].map(|k| {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                ([a.min(b), a.max(b)], a < b, t, k)
            })
        };
        let mut all: Vec<_> = (0..).zip(&surface.mesh.triangles).flat_map(sides).collect();
        all.sort_unstable();
        let panels = surface.len();
        let mut edges = Edges {
            ends: Vec::with_capacity(3 * panels / 2),
            numbers: vec![[0; 3]; panels],
            across: vec![[0; 3]; panels],
        };
        for group in all.chunk_by(|a, b| a.0 == b.0) {
            // If more than two panels meet at an edge, panels that traverse it in opposite directions are
            // paired.
            let (back, forth) = group.split_at(group.len() / 2);
            for (a, b) in back.iter().zip(forth) {
                let number = edges.ends.len() as u32;
                edges.ends.push(a.0);
                for (own, other) in [(a, b), (b, a)] {
                    let (_, _, t, k) = *own;
                    edges.numbers[t as usize][k] = number;
                    edges.across[t as usize][k] = other.2;
                }
            }
        }
        edges
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::geometry::shapes;

    #[test]
    fn a_box_has_18_edges_of_two_panels_each() {
        let surface = Surface::new(&shapes::cuboid(DVec3::ONE)).unwrap();
        let edges = Edges::new(&surface);
        assert_eq!(edges.ends.len(), 18);
        for (t, triangle) in surface.mesh.triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
                assert_eq!(
                    edges.ends[edges.numbers[t][k] as usize],
                    [a.min(b), a.max(b)]
                );
                let other = edges.across[t][k] as usize;
                let back = edges.across[other].iter().position(|&p| p == t as u32);
                let back = back.unwrap();
                assert_eq!(edges.numbers[other][back], edges.numbers[t][k]);
                let corners = surface.mesh.triangles[other];
                assert_eq!([corners[back], corners[(back + 1) % 3]], [b, a]);
            }
        }
    }
}
