//! Tree of boxes over the triangles of a mesh: which triangles are near, and how near.

use std::ops::ControlFlow;

use glam::DVec3;

use super::mesh::TriMesh;
use super::nearest::nearest_on_triangle;

/// Triangles of a leaf at most.
const LEAF: usize = 4;

/// A box and the triangles in it. The first child follows its parent, the second stands at `second`.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub low: DVec3,
    pub high: DVec3,
    /// Range in [`Bvh::order`].
    pub start: u32,
    pub end: u32,
    /// Index of the second child; 0 in a leaf.
    pub second: u32,
}

/// The nearer of two triangles given by squared distance and number; of equally near ones that with the lower number.
pub(super) fn nearer(a: (f64, u32), b: (f64, u32)) -> (f64, u32) {
    if b.0 < a.0 || (b.0 == a.0 && b.1 < a.1) {
        b
    } else {
        a
    }
}

/// Box tree over the triangles of a mesh, split at the median of the longest axis.
#[derive(Clone, Debug)]
pub struct Bvh {
    pub(super) nodes: Vec<Node>,
    pub(super) order: Vec<u32>,
}

impl Bvh {
    /// Builds the tree; the mesh must have a triangle.
    pub fn new(mesh: &TriMesh) -> Self {
        let boxes: Vec<(DVec3, DVec3)> = (0..mesh.triangles.len())
            .map(|t| {
                let [a, b, c] = mesh.corners(t);
                (a.min(b).min(c), a.max(b).max(c))
            })
            .collect();
        let mut bvh = Bvh {
            nodes: Vec::with_capacity(boxes.len()),
            order: (0..boxes.len() as u32).collect(),
        };
        bvh.split(&boxes, 0, boxes.len());
        bvh
    }

    fn split(&mut self, boxes: &[(DVec3, DVec3)], start: usize, end: usize) {
        let node = self.nodes.len();
        let order = &mut self.order[start..end];
        let empty = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (low, high) = order.iter().fold(empty, |(low, high), &t| {
            let (l, h) = boxes[t as usize];
            (low.min(l), high.max(h))
        });
        self.nodes.push(Node {
            low,
            high,
            start: start as u32,
            end: end as u32,
            second: 0,
        });
        if order.len() <= LEAF {
            return;
        }
        let axis = (high - low).max_position();
        let centre = |t: u32| {
            let (low, high) = boxes[t as usize];
            low[axis] + high[axis]
        };
        let half = order.len() / 2;
        // Ties broken by number: one tree for one mesh.
        order.select_nth_unstable_by(half, |&a, &b| {
            centre(a).total_cmp(&centre(b)).then(a.cmp(&b))
        });
        self.split(boxes, start, start + half);
        self.nodes[node].second = self.nodes.len() as u32;
        self.split(boxes, start + half, end);
    }

    /// Calls `leaf` with each triangle whose leaf box and all boxes above pass `enter`, until it breaks.
    pub(super) fn visit(
        &self,
        enter: impl Fn(&Node) -> bool,
        mut leaf: impl FnMut(u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut stack = [0_u32; 64];
        let mut depth = 1;
        while depth > 0 {
            depth -= 1;
            let at = stack[depth];
            let node = &self.nodes[at as usize];
            if !enter(node) {
                continue;
            }
            if node.second == 0 {
                for &t in &self.order[node.start as usize..node.end as usize] {
                    leaf(t)?;
                }
            } else {
                // Halving keeps the depth under 32, so the stack holds.
                stack[depth] = node.second;
                stack[depth + 1] = at + 1;
                depth += 2;
            }
        }
        ControlFlow::Continue(())
    }

    /// The point of the mesh nearest to `p` and its triangle, if one lies within `reach` (m). Of equally near
    /// triangles the one with the smallest index counts.
    pub fn nearest_within(&self, mesh: &TriMesh, p: DVec3, reach: f64) -> Option<(DVec3, u32)> {
        let (_, t) = self.search(mesh, p, reach * reach);
        (t != u32::MAX).then(|| (nearest_on_triangle(p, mesh.corners(t as usize)), t))
    }

    /// Squared distance (m²) to the triangle of the mesh nearest to `p`, and its number: of equally near ones
    /// the first.
    pub fn nearest(&self, mesh: &TriMesh, p: DVec3) -> (f64, u32) {
        self.search(mesh, p, f64::INFINITY)
    }

    /// The nearest triangle no farther than a squared distance, which is returned with `u32::MAX` where there is none.
    fn search(&self, mesh: &TriMesh, p: DVec3, reach_squared: f64) -> (f64, u32) {
        let away = |at: u32| {
            let node = &self.nodes[at as usize];
            p.distance_squared(p.clamp(node.low, node.high))
        };
        let mut best = (reach_squared, u32::MAX);
        // Halving keeps the depth under 32, so the stack holds.
        let mut stack = [(0.0, 0_u32); 64];
        let mut depth = 1;
        while depth > 0 {
            depth -= 1;
            let (least, at) = stack[depth];
            // Rounding must not keep out a triangle that is as near as the best.
            if least > best.0 * (1.0 + 1e-12) {
                continue;
            }
            let node = &self.nodes[at as usize];
            if node.second == 0 {
                for &t in &self.order[node.start as usize..node.end as usize] {
                    let nearest = nearest_on_triangle(p, mesh.corners(t as usize));
                    best = nearer(best, (p.distance_squared(nearest), t));
                }
                continue;
            }
            let children = [at + 1, node.second].map(|child| (away(child), child));
            let first = usize::from(children[1].0 < children[0].0);
            // The nearer one is looked at first.
            stack[depth] = children[1 - first];
            stack[depth + 1] = children[first];
            depth += 2;
        }
        best
    }

    /// Calls `found` with each triangle of the mesh no farther from `p` than `distance` (m).
    pub fn each_within(&self, mesh: &TriMesh, p: DVec3, distance: f64, mut found: impl FnMut(u32)) {
        let limit = distance * distance;
        let _ = self.visit(
            |node| p.distance_squared(p.clamp(node.low, node.high)) <= limit,
            |t| {
                let nearest = nearest_on_triangle(p, mesh.corners(t as usize));
                if p.distance_squared(nearest) <= limit {
                    found(t);
                }
                ControlFlow::Continue(())
            },
        );
    }

    /// Whether a triangle of the mesh lies nearer to `p` than `distance` (m).
    pub fn any_within(&self, mesh: &TriMesh, p: DVec3, distance: f64) -> bool {
        let limit = distance * distance;
        self.visit(
            |node| p.distance_squared(p.clamp(node.low, node.high)) < limit,
            |t| {
                let nearest = nearest_on_triangle(p, mesh.corners(t as usize));
                if p.distance_squared(nearest) < limit {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            },
        )
        .is_break()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::shapes;

    #[test]
    fn distance_to_a_box_matches_the_formula() {
        let half = DVec3::new(1.0, 0.5, 2.0);
        let mesh = shapes::cuboid(2.0 * half);
        let bvh = Bvh::new(&mesh);
        for k in 0..2000 {
            let p = DVec3::new(
                f64::from(k % 13) / 6.0 - 1.0,
                f64::from(k % 17) / 12.0 - 0.7,
                f64::from(k % 29) / 6.0 - 2.4,
            );
            let q = p.abs() - half;
            let exact = (q.max(DVec3::ZERO).length() + q.max_element().min(0.0)).abs();
            assert!(bvh.any_within(&mesh, p, exact + 1e-9));
            assert!(!bvh.any_within(&mesh, p, exact - 1e-9) || exact < 1e-9);
            let (q, t) = bvh.nearest_within(&mesh, p, exact + 1e-9).unwrap();
            assert!((p.distance(q) - exact).abs() < 1e-12);
            assert_eq!(nearest_on_triangle(p, mesh.corners(t as usize)), q);
            assert!(exact < 1e-9 || bvh.nearest_within(&mesh, p, exact - 1e-9).is_none());
        }
    }
}
