//! Cuts triangles of the skin along the planes of the grid.
//!
//! Coordinates here count cells. A place along an axis is a whole number: even `2c` between the planes of
//! cell `c`, odd `2c − 1` on its lower plane; comparisons are of these numbers alone. An edge of the skin is
//! cut once, for both its triangles, and every cut is a point of its own, so pieces of neighbours share their
//! points and nothing gapes.

use glam::DVec3;

/// Triangles lower than this over their longest edge count as having no area.
const FLAT: f64 = 1e-6;

/// What makes a point the same for all who meet it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Name {
    /// Vertex of the skin.
    Vertex(u32),
    /// Cut of an edge of the skin: the edge, and which from its first end.
    Edge(u32, u32),
    /// Cut within a triangle: the triangle, and a number.
    Inner(u32, u32),
}

/// A point of a triangle.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Its name.
    pub name: Name,
    /// Position, cells.
    pub at: DVec3,
    /// Its place along each axis.
    pub place: [i32; 3],
}

impl Point {
    /// Vertex of the skin; one that lies on a plane counts to the cell below it.
    pub fn vertex(number: u32, at: DVec3) -> Self {
        Point {
            name: Name::Vertex(number),
            at,
            place: at.to_array().map(|x| 2 * (x.ceil() as i32 - 1)),
        }
    }

    /// The cell of a point that lies on no plane; the upper one beside a plane.
    pub fn cell(&self) -> [i32; 3] {
        self.place.map(|place| (place + 1) >> 1)
    }

    /// Whether it lies on a plane across `axis`.
    pub fn is_on(&self, axis: usize) -> bool {
        self.place[axis] & 1 == 1
    }
}

/// Where the line from `p` to `q` passes through planes across these axes, in order. `name` names the n-th.
pub fn cuts(p: &Point, q: &Point, axes: &[usize], name: impl Fn(u32) -> Name) -> Vec<Point> {
    let mut crossings: Vec<(f64, usize, i32)> = Vec::new();
    for &axis in axes {
        let (from, to) = (p.place[axis], q.place[axis]);
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
        let forward = |c: &(f64, usize, i32)| c.2 * (q.place[c.1] - p.place[c.1]).signum();
        let by_axis = a.1.cmp(&b.1);
        a.0.total_cmp(&b.0)
            .then(by_axis)
            .then(forward(a).cmp(&forward(b)))
    });
    // Leaving a plane, a line is between planes.
    let mut place: [i32; 3] = std::array::from_fn(|axis| {
        let step = (q.place[axis] - p.place[axis]).signum();
        p.place[axis] + if p.is_on(axis) { step } else { 0 }
    });
    let points = crossings.into_iter().enumerate();
    points
        .map(|(n, (part, axis, plane))| {
            let mut at = p.at.lerp(q.at, part);
            place[axis] = plane;
            for a in 0..3 {
                // Rounding must not leave the cell.
                let low = f64::from((place[a] + 1) >> 1);
                let high = low + f64::from(1 - (place[a] & 1));
                at[a] = at[a].clamp(low, high);
            }
            let point = Point {
                name: name(n as u32),
                at,
                place,
            };
            place[axis] += (q.place[axis] - p.place[axis]).signum();
            point
        })
        .collect()
}

/// A triangle cut into pieces that lie in one cell each.
#[derive(Debug, Default)]
pub struct Pieces {
    /// Points that the pieces name.
    pub points: Vec<Point>,
    /// For each piece its cell and its corners, in the triangle's order.
    pub polygons: Vec<([i32; 3], Vec<u32>)>,
}

impl Pieces {
    /// Cuts the polygon of `points`: a triangle with the cuts of its edges. Nothing if rounding has bent it.
    pub fn new(triangle: u32, points: Vec<Point>) -> Option<Self> {
        let whole: Vec<u32> = (0..points.len() as u32).collect();
        let mut pieces = Pieces {
            points,
            polygons: Vec::new(),
        };
        let mut inner = 0;
        let mut todo = vec![whole];
        for axis in 0..3 {
            let mut done = Vec::new();
            for mut rest in todo {
                let places = || rest.iter().map(|&p| pieces.points[p as usize].place[axis]);
                let (low, high) = (places().min()?, places().max()?);
                let mut plane = (low + 1) | 1;
                while plane < high {
                    let (below, above) = pieces.part(triangle, &rest, axis, plane, &mut inner)?;
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
                let places = polygon
                    .iter()
                    .map(|&p| pieces.points[p as usize].place[axis]);
                // Each piece has corners between the planes or on both.
                *cell = places.clone().find(|place| place & 1 == 0).map_or_else(
                    || places.min().map_or(0, |place| (place + 1) >> 1),
                    |place| place >> 1,
                );
            }
            pieces.polygons.push((cell, polygon));
        }
        Some(pieces)
    }

    /// Parts a polygon along a plane into what lies below and above.
    fn part(
        &mut self,
        triangle: u32,
        polygon: &[u32],
        axis: usize,
        plane: i32,
        inner: &mut u32,
    ) -> Option<(Vec<u32>, Vec<u32>)> {
        let place = |&p: &u32| self.points[p as usize].place[axis];
        let on: Vec<usize> = (0..polygon.len())
            .filter(|&m| place(&polygon[m]) == plane)
            .collect();
        let [i, j] = on[..] else { return None };
        let (first, second) = (
            &polygon[i + 1..j],
            [&polygon[j + 1..], &polygon[..i]].concat(),
        );
        let below = |part: &[u32]| !part.is_empty() && part.iter().all(|p| place(p) < plane);
        let above = |part: &[u32]| !part.is_empty() && part.iter().all(|p| place(p) > plane);
        let first_is_below = below(first) && above(&second);
        if !(first_is_below || above(first) && below(&second)) {
            return None;
        }
        let axes: Vec<usize> = (axis + 1..3).collect();
        let [p, q] = [i, j].map(|m| self.points[polygon[m] as usize]);
        let start = *inner;
        let between = cuts(&p, &q, &axes, |n| Name::Inner(triangle, start + n));
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

/// Triangles of a convex polygon, chosen so that the worst is as good as can be; nothing if every choice has
/// one without area.
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
        return (quality(0, 1, 2) >= FLAT).then(|| vec![[0, 1, 2]]);
    }
    // best[a * n + b]: the worst quality of the part from corner a to corner b, and its apex (Klincsek 1980).
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
    if n < 3 || best[n - 1].0 < FLAT {
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
