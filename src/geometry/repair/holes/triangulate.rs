//! Triangulation of a hole by dynamic programming (Barequet and Sharir 1995; weights of Liepa 2003): of all
//! triangulations of the loop, the one whose largest angle between neighbours is least and, among these, the one
//! of least area.

use glam::DVec3;

/// A loop of vertices around a hole, in the sense in which its triangles run.
pub struct Border<'a> {
    /// Positions of the vertices.
    pub points: Vec<DVec3>,
    /// Unit normal of the surface's triangle at the edge from each vertex to the next one.
    pub normals: Vec<DVec3>,
    /// Whether the surface has an edge between these two vertices already.
    pub is_taken: &'a dyn Fn(usize, usize) -> bool,
}

/// Largest angle between neighbours as 1 − cosine, and area, of a part of a triangulation.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Weight {
    bend: f64,
    area: f64,
}

impl Weight {
    const IMPOSSIBLE: Weight = Weight {
        bend: f64::INFINITY,
        area: f64::INFINITY,
    };

    fn and(self, other: Weight) -> Weight {
        Weight {
            bend: self.bend.max(other.bend),
            area: self.area + other.area,
        }
    }

    /// Bends that differ by rounding count as equal.
    fn is_less(self, other: Weight) -> bool {
        const SAME: f64 = 1e-9;
        self.bend < other.bend - SAME || (self.bend <= other.bend + SAME && self.area < other.area)
    }
}

/// Triangles of indices into the loop, and the mean of 1 − cosine of the angles at the loop; `None` if every
/// triangulation needs an edge that is taken.
pub fn triangulate(border: &Border) -> Option<(Vec<[usize; 3]>, f64)> {
    let n = border.points.len();
    if n < 3 {
        return None;
    }
    let table = Table::new(border);
    if table.weight(0, n - 1).bend.is_infinite() {
        return None;
    }
    let mut triangles = Vec::with_capacity(n - 2);
    let mut stack = vec![[0, n - 1]];
    while let Some([i, k]) = stack.pop() {
        if k - i < 2 {
            continue;
        }
        let j = table.apex[i * n + k];
        triangles.push([i, j, k]);
        stack.extend([[j, k], [i, j]]);
    }
    let mut bend = 0.0;
    for triangle in &triangles {
        for m in 0..3 {
            let (a, b) = (triangle[m], triangle[(m + 1) % 3]);
            if (a + 1) % n == b {
                bend += 1.0 - border.normals[a].dot(table.normal(*triangle));
            }
        }
    }
    Some((triangles, bend / n as f64))
}

/// Best triangulations of all parts i … k of a loop.
struct Table<'a> {
    border: &'a Border<'a>,
    weights: Vec<Weight>,
    /// Third vertex of the triangle at the edge i k.
    apex: Vec<usize>,
}

impl<'a> Table<'a> {
    fn new(border: &'a Border<'a>) -> Self {
        let n = border.points.len();
        let nothing = Weight {
            bend: 0.0,
            area: 0.0,
        };
        let mut table = Table {
            border,
            weights: vec![nothing; n * n],
            apex: vec![0; n * n],
        };
        for span in 2..n {
            for i in 0..n - span {
                let k = i + span;
                let (mut best, mut apex) = (Weight::IMPOSSIBLE, i + 1);
                // The edge from the last vertex to the first is of the loop.
                let is_loop = i == 0 && k == n - 1;
                if is_loop || !(border.is_taken)(i, k) {
                    for j in i + 1..k {
                        let weight = table.joined(i, j, k);
                        if weight.is_less(best) {
                            (best, apex) = (weight, j);
                        }
                    }
                }
                table.weights[i * n + k] = best;
                table.apex[i * n + k] = apex;
            }
        }
        table
    }

    fn weight(&self, i: usize, k: usize) -> Weight {
        self.weights[i * self.border.points.len() + k]
    }

    /// Weight of triangle i j k with the best parts at its edges i j and j k.
    fn joined(&self, i: usize, j: usize, k: usize) -> Weight {
        let parts = self.weight(i, j).and(self.weight(j, k));
        if parts.bend.is_infinite() {
            return Weight::IMPOSSIBLE;
        }
        let n = self.border.points.len();
        let normal = self.normal([i, j, k]);
        let mut bend = self.bend(normal, i, j).max(self.bend(normal, j, k));
        if i == 0 && k == n - 1 {
            bend = bend.max(1.0 - normal.dot(self.border.normals[k]));
        }
        let [a, b, c] = [i, j, k].map(|v| self.border.points[v]);
        parts.and(Weight {
            bend,
            area: (b - a).cross(c - a).length() / 2.0,
        })
    }

    /// 1 − cosine of the angle between a triangle of this normal and its neighbour across the edge i k.
    fn bend(&self, normal: DVec3, i: usize, k: usize) -> f64 {
        let other = match k - i {
            1 => self.border.normals[i],
            _ => self.normal([i, self.apex[i * self.border.points.len() + k], k]),
        };
        1.0 - normal.dot(other)
    }

    fn normal(&self, triangle: [usize; 3]) -> DVec3 {
        let [a, b, c] = triangle.map(|v| self.border.points[v]);
        (b - a).cross(c - a).normalize_or_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn border(points: Vec<DVec3>, normal: DVec3) -> Border<'static> {
        Border {
            normals: vec![normal; points.len()],
            points,
            is_taken: &|_, _| false,
        }
    }

    #[test]
    fn a_flat_loop_that_turns_back_is_filled_exactly() {
        // An L: the triangulation of least area has its area, 3.
        let corners = [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]];
        let points = corners.map(|[x, y]| DVec3::new(f64::from(x), f64::from(y), 0.0));
        let (triangles, bend) = triangulate(&border(points.to_vec(), DVec3::Z)).unwrap();
        assert_eq!(triangles.len(), 4);
        let area: f64 = triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|v| points[v]);
                (b - a).cross(c - a).z / 2.0
            })
            .sum();
        assert!((area - 3.0).abs() < 1e-12 && bend < 1e-12);
    }

    #[test]
    fn an_edge_that_exists_is_not_used_again() {
        let corners = [[0, 0], [1, 0], [1, 1], [0, 1]];
        let points = corners.map(|[x, y]| DVec3::new(f64::from(x), f64::from(y), 0.0));
        let mut square = border(points.to_vec(), DVec3::Z);
        square.is_taken = &|i, j| [i, j] == [0, 2];
        let (triangles, _) = triangulate(&square).unwrap();
        assert!(triangles.iter().all(|t| t.contains(&1) && t.contains(&3)));
        square.is_taken = &|_, _| true;
        assert_eq!(triangulate(&square), None);
    }
}
