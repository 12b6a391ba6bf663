//! Cuts triangles of the skin along the planes of the grid.
//!
//! Coordinates here are in cells. A half index along an axis is a whole number: even `2c` between the planes
//! of cell `c`, odd `2c − 1` on its lower plane. Comparisons use these integers alone. An edge of the skin is
//! cut once, for both its triangles, and every cut is a point of its own, so the pieces of neighbouring
//! triangles share their points and no gap opens.

use glam::DVec3;

/// Triangles with a ratio of height to longest edge below this count as having no area.
const MIN_QUALITY: f64 = 1e-6;

/// Identity of a point: the same from every triangle that contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PointName {
    /// Vertex of the skin.
    Vertex(u32),
    /// Cut of an edge of the skin: the edge, and the number of the cut counted from the edge's first end.
    Edge(u32, u32),
    /// Cut within a triangle: the triangle, and the number of the cut.
    Inner(u32, u32),
}

/// A point on a triangle of the skin.
#[derive(Clone, Copy, Debug)]
pub struct SkinPoint {
    /// Identity of the point.
    pub name: PointName,
    /// Position, cells.
    pub at: DVec3,
    /// Half index along each axis.
    pub half_index: [i32; 3],
}

impl SkinPoint {
    /// A vertex of the skin. A vertex on a plane belongs to the cell below the plane.
    pub fn vertex(number: u32, at: DVec3) -> Self {
        SkinPoint {
            name: PointName::Vertex(number),
            at,
            half_index: at.to_array().map(|x| 2 * (x.ceil() as i32 - 1)),
        }
    }

    /// Cell of the point; for a point on a plane, the cell above it.
    pub fn cell(&self) -> [i32; 3] {
        self.half_index.map(|half_index| (half_index + 1) >> 1)
    }

    /// Whether the point lies on a plane across `axis`.
    pub fn is_on(&self, axis: usize) -> bool {
        self.half_index[axis] & 1 == 1
    }
}

/// Points where the segment from `p` to `q` crosses planes across these axes, in order. `name` returns the
/// name of the n-th point.
pub fn plane_cuts(
    p: &SkinPoint,
    q: &SkinPoint,
    axes: &[usize],
    name: impl Fn(u32) -> PointName,
) -> Vec<SkinPoint> {
    let mut crossings: Vec<(f64, usize, i32)> = Vec::new();
    for &axis in axes {
        let (from, to) = (p.half_index[axis], q.half_index[axis]);
        let (low, high) = (from.min(to), from.max(to));
        let mut plane = (low + 1) | 1;
        while plane < high {
            let height = f64::from((plane + 1) / 2);
            let part = (height - p.at[axis]) / (q.at[axis] - p.at[axis]);
            crossings.push((part.clamp(0.0, 1.0), axis, plane));
            plane += 2;
        }
    }
    crossings.sort_by(|a, b| {
        let forward =
            |c: &(f64, usize, i32)| c.2 * (q.half_index[c.1] - p.half_index[c.1]).signum();
        let by_axis = a.1.cmp(&b.1);
        a.0.total_cmp(&b.0)
            .then(by_axis)
            .then(forward(a).cmp(&forward(b)))
    });
    // A segment that starts on a plane leaves it.
    let mut half_index: [i32; 3] = std::array::from_fn(|axis| {
        let step = (q.half_index[axis] - p.half_index[axis]).signum();
        p.half_index[axis] + if p.is_on(axis) { step } else { 0 }
    });
    let points = crossings.into_iter().enumerate();
    points
        .map(|(n, (part, axis, plane))| {
            let mut at = p.at.lerp(q.at, part);
            half_index[axis] = plane;
            for a in 0..3 {
                // Rounding must not move the point out of its cell.
                let low = f64::from((half_index[a] + 1) >> 1);
                let high = low + f64::from(1 - (half_index[a] & 1));
                at[a] = at[a].clamp(low, high);
            }
            let point = SkinPoint {
                name: name(n as u32),
                at,
                half_index,
            };
            half_index[axis] += (q.half_index[axis] - p.half_index[axis]).signum();
            point
        })
        .collect()
}

/// A triangle cut into pieces, each of which lies in one cell.
#[derive(Debug, Default)]
pub struct TrianglePieces {
    /// Points that the pieces refer to.
    pub points: Vec<SkinPoint>,
    /// For each piece, its cell and its corners, in the orientation of the triangle.
    pub polygons: Vec<([i32; 3], Vec<u32>)>,
}

impl TrianglePieces {
    /// Cuts the polygon `points`: a triangle including the cuts of its edges. Returns `None` if rounding has
    /// made it non-convex.
    pub fn new(triangle: u32, points: Vec<SkinPoint>) -> Option<Self> {
        let whole: Vec<u32> = (0..points.len() as u32).collect();
        let mut pieces = TrianglePieces {
            points,
            polygons: Vec::new(),
        };
        let mut inner = 0;
        let mut todo = vec![whole];
        for axis in 0..3 {
            let mut done = Vec::new();
            for mut rest in todo {
                let half_indices = || {
                    rest.iter()
                        .map(|&p| pieces.points[p as usize].half_index[axis])
                };
                let (low, high) = (half_indices().min()?, half_indices().max()?);
                let mut plane = (low + 1) | 1;
                while plane < high {
                    let (below, above) = pieces.split(triangle, &rest, axis, plane, &mut inner)?;
                    done.push(below);
                    rest = above;
                    plane += 2;
                }
                done.push(rest);
            }
            todo = done;
        }
        for polygon in todo {
            let mut cell = [i32::MIN; 3];
            for (axis, cell) in cell.iter_mut().enumerate() {
                let half_indices = polygon
                    .iter()
                    .map(|&p| pieces.points[p as usize].half_index[axis]);
                // Each piece has corners between the two planes or on both of them.
                *cell = half_indices
                    .clone()
                    .find(|half_index| half_index & 1 == 0)
                    .map_or_else(
                        || {
                            half_indices
                                .min()
                                .map_or(0, |half_index| (half_index + 1) >> 1)
                        },
                        |half_index| half_index >> 1,
                    );
            }
            pieces.polygons.push((cell, polygon));
        }
        Some(pieces)
    }

    /// Splits a polygon along a plane into the parts below and above it.
    fn split(
        &mut self,
        triangle: u32,
        polygon: &[u32],
        axis: usize,
        plane: i32,
        inner: &mut u32,
    ) -> Option<(Vec<u32>, Vec<u32>)> {
        let half_index = |&p: &u32| self.points[p as usize].half_index[axis];
        let on: Vec<usize> = (0..polygon.len())
            .filter(|&m| half_index(&polygon[m]) == plane)
            .collect();
        let [i, j] = on[..] else { return None };
        let (first, second) = (
            &polygon[i + 1..j],
            [&polygon[j + 1..], &polygon[..i]].concat(),
        );
        let below = |part: &[u32]| !part.is_empty() && part.iter().all(|p| half_index(p) < plane);
        let above = |part: &[u32]| !part.is_empty() && part.iter().all(|p| half_index(p) > plane);
        let first_is_below = below(first) && above(&second);
        if !(first_is_below || above(first) && below(&second)) {
            return None;
        }
        let axes: Vec<usize> = (axis + 1..3).collect();
        let [p, q] = [i, j].map(|m| self.points[polygon[m] as usize]);
        let start = *inner;
        let between = plane_cuts(&p, &q, &axes, |n| PointName::Inner(triangle, start + n));
        *inner += between.len() as u32;
        let base = self.points.len() as u32;
        let chord: Vec<u32> = (base..base + between.len() as u32).collect();
        self.points.extend(between);
        let mut one = polygon[i..=j].to_vec();
        one.extend(chord.iter().rev());
        let mut other = vec![polygon[j]];
        other.extend(second);
        other.push(polygon[i]);
        other.extend(chord);
        Some(if first_is_below {
            (one, other)
        } else {
            (other, one)
        })
    }
}

/// Triangulates a convex polygon so that the worst triangle is as good as possible. Returns `None` if every
/// triangulation has a triangle without area.
pub fn triangulate(corners: &[DVec3]) -> Option<Vec<[usize; 3]>> {
    let n = corners.len();
    let quality = |a: usize, b: usize, c: usize| {
        let [p, q, r] = [a, b, c].map(|m| corners[m]);
        let longest = p
            .distance_squared(q)
            .max(q.distance_squared(r))
            .max(r.distance_squared(p));
        (q - p).cross(r - p).length() / longest.max(f64::MIN_POSITIVE)
    };
    if n == 3 {
        return (quality(0, 1, 2) >= MIN_QUALITY).then(|| vec![[0, 1, 2]]);
    }
    // best[a * n + b]: worst quality in the best triangulation of the part from corner a to corner b, and the
    // apex on its base (Klincsek 1980).
    let mut best = vec![(f64::INFINITY, 0); n * n];
    for span in 2..n {
        for a in 0..n - span {
            let b = a + span;
            let apexes = (a + 1..b).map(|m| {
                let worst = quality(a, m, b)
                    .min(best[a * n + m].0)
                    .min(best[m * n + b].0);
                (worst, m)
            });
            best[a * n + b] = apexes
                .max_by(|x, y| x.0.total_cmp(&y.0))
                .unwrap_or((0.0, a));
        }
    }
    if n < 3 || best[n - 1].0 < MIN_QUALITY {
        return None;
    }
    let mut triangles = Vec::with_capacity(n - 2);
    let mut todo = vec![(0, n - 1)];
    while let Some((a, b)) = todo.pop() {
        if b - a >= 2 {
            let m = best[a * n + b].1;
            triangles.push([a, m, b]);
            todo.extend([(a, m), (m, b)]);
        }
    }
    Some(triangles)
}
