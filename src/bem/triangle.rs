//! Geometry of a flat triangle and a point, from which exact integrals over the triangle are assembled.
//!
//! Integrals over the triangle become integrals over its edges (divergence theorem). They need ∫ 1/r dl and
//! similar integrals of each edge, and the solid angle Ω of the whole triangle. [`second`](super::second) and
//! [`third`](super::third) derive the derivatives of the biharmonic potential from these.

use crate::math::{Analytic, Mat3, Real, Vec3};

/// Largest distance from an edge, over its length, of a point that counts as on the edge.
const ON_LINE: f64 = 1e-14;

/// A vector in double precision.
pub type Vec3d = Vec3<f64>;
/// A 3×3 matrix in double precision.
pub type Mat3d = Mat3<f64>;

/// A flat triangle, counter-clockwise as seen from the side to which its normal points.
#[derive(Clone, Copy, Debug)]
pub struct Triangle {
    corners: [Vec3d; 3],
    normal: Vec3d,
    axes: [Vec3d; 2],
    twice_area: f64,
    edges: [Edge; 3],
}

/// Edge from corner k to the next.
#[derive(Clone, Copy, Debug)]
struct Edge {
    along: Vec3d,
    length: f64,
    outward: Vec3d,
}

/// A triangle and a point x; x' is the foot of x in its plane.
#[derive(Clone, Copy, Debug)]
pub struct TriangleView<T> {
    /// Normal n.
    pub normal: Vec3<T>,
    /// Two unit vectors in the plane, orthogonal to each other.
    pub axes: [Vec3<T>; 2],
    /// Height h = n·(x − x') of the point, m.
    pub height: T,
    /// ∫ ∂(1/r)/∂n_y dS: the solid angle Ω.
    pub solid_angle: T,
    /// The edges, as seen from the point.
    pub sides: [EdgeView<T>; 3],
}

/// An edge and the point x: s is the direction of the edge, m its outward normal in the plane; l is the
/// coordinate along the edge from the foot of x on its line.
#[derive(Clone, Copy, Debug)]
pub struct EdgeView<T> {
    /// Direction s.
    pub along: Vec3<T>,
    /// Outward normal m.
    pub outward: Vec3<T>,
    /// Distances of x from the two ends, m.
    pub ends: [T; 2],
    /// Coordinates l of the two ends, m.
    pub places: [T; 2],
    /// Distance t of x' from the edge's line, m, positive on the triangle's side.
    pub inside: T,
    /// F = ∫ 1/r dl; set to 0 if x is on the edge, where all factors of it vanish.
    pub inverse: T,
    /// J = ∫ l/r dl, m.
    pub first: T,
    /// ∫ r dl, m².
    pub distance: T,
    /// ∫ l²/r dl, m².
    pub square: T,
}

/// Converts a vector to the number type `T`, as a constant.
#[inline(always)]
pub fn lift<T: Real>(v: Vec3d) -> Vec3<T> {
    Vec3::new(T::splat(v.x), T::splat(v.y), T::splat(v.z))
}

/// Converts a matrix to the number type `T`, as a constant.
#[inline(always)]
pub fn lift_matrix<T: Real>(m: Mat3d) -> Mat3<T> {
    let [a, b, c] = m.rows;
    Mat3::new(lift(a), lift(b), lift(c))
}

impl Triangle {
    /// Builds a triangle from its corners and its unit normal.
    pub fn new(corners: [Vec3d; 3], normal: Vec3d) -> Self {
        let edges = [0, 1, 2].map(|k| {
            let edge = corners[(k + 1) % 3] - corners[k];
            let length = edge.norm();
            let along = edge * (1.0 / length);
            Edge {
                along,
                length,
                outward: along.cross(normal),
            }
        });
        let twice = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
        Triangle {
            corners,
            normal,
            axes: [edges[0].along, normal.cross(edges[0].along)],
            twice_area: twice.norm(),
            edges,
        }
    }

    /// Two unit vectors in the plane, orthogonal to each other.
    pub fn axes(&self) -> [Vec3d; 2] {
        self.axes
    }

    /// View from x, which lies on an edge of the triangle if `touches` is set, and off the triangle
    /// otherwise.
    #[inline(always)]
    pub fn view<T: Analytic>(&self, x: Vec3<T>, touches: bool) -> TriangleView<T> {
        let offsets = self.corners.map(|corner| lift(corner) - x);
        let ends = offsets.map(Vec3::norm);
        let (height, solid_angle) = if touches {
            (T::zero(), T::zero())
        } else {
            let height = -offsets[0].dot(lift(self.normal));
            (height, self.solid_angle(height, offsets, ends))
        };
        TriangleView {
            normal: lift(self.normal),
            axes: self.axes.map(lift),
            height,
            solid_angle,
            sides: [0, 1, 2].map(|k| self.side(k, offsets[k], &ends, height)),
        }
    }

    /// Solid angle, sr, positive on the side of the normal (van Oosterom and Strackee 1983).
    #[inline(always)]
    fn solid_angle<T: Analytic>(
        &self,
        height: T,
        [a, b, c]: [Vec3<T>; 3],
        [la, lb, lc]: [T; 3],
    ) -> T {
        let over = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
        // a·(b × c) is −h times twice the area, which does not cancel far away.
        T::splat(2.0) * (height * T::splat(self.twice_area)).atan2(over)
    }

    /// Edge k as seen from the point. Differences are written so that they do not cancel far away.
    #[inline(always)]
    fn side<T: Analytic>(
        &self,
        k: usize,
        to_start: Vec3<T>,
        ends: &[T; 3],
        height: T,
    ) -> EdgeView<T> {
        let (half, edge) = (T::splat(0.5), &self.edges[k]);
        let (along, outward) = (lift(edge.along), lift(edge.outward));
        let length = T::splat(edge.length);
        let start = to_start.dot(along);
        let (ra, rb) = (ends[k], ends[(k + 1) % 3]);
        let (la, lb) = (start, start + length);
        let inside = to_start.dot(outward);
        let squared = inside * inside + height * height;
        let inverse = inverse([ra, rb], [la, lb], squared, edge.length);
        let first = length * (la + lb) / (ra + rb);
        // l r at the end minus l r at the start.
        let moved = (length * (ra + rb) + (la + lb) * first) * half;
        EdgeView {
            along,
            outward,
            ends: [ra, rb],
            places: [la, lb],
            inside,
            inverse,
            first,
            distance: (moved + squared * inverse) * half,
            square: (moved - squared * inverse) * half,
        }
    }
}

/// ∫ 1/r dl from the distances of the ends, their coordinates along the edge, and the square of the distance
/// from its line.
#[inline(always)]
fn inverse<T: Analytic>([ra, rb]: [T; 2], [la, lb]: [T; 2], squared: T, length: f64) -> T {
    let far = ra + rb - T::splat(length);
    if far.value() > length {
        return (T::splat(2.0 * length) / far).ln_1p();
    }
    let edge = ON_LINE * length;
    let is_beside = squared.value() <= edge * edge;
    if is_beside && la.value() <= edge && lb.value() >= -edge {
        T::zero()
    } else if lb.value() <= 0.0 {
        ((ra - la) / (rb - lb)).ln()
    } else if la.value() >= 0.0 {
        ((rb + lb) / (ra + la)).ln()
    } else {
        ((rb + lb) * (ra - la) / squared).ln()
    }
}

/// Numerical quadrature for tests of the integrals.
#[cfg(test)]
pub mod brute {
    use super::*;

    /// A triangle in general position.
    pub fn triangle() -> Triangle {
        let corners = [[0.1, 0.2, -0.3], [1.2, 0.1, 0.4], [0.3, 0.9, 0.2]].map(Vec3::from_f64);
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
        Triangle::new(corners, normal * (1.0 / normal.norm()))
    }

    /// Points off the triangle.
    pub const PLACES: [[f64; 3]; 4] = [
        [0.5, 0.4, 0.9],
        [0.4, 0.3, -0.2],
        [-1.0, 0.3, 0.5],
        [2.0, 1.4, 0.3],
    ];

    /// Unit vector along axis k.
    pub fn axis(k: usize) -> Vec3d {
        Vec3::from_f64(std::array::from_fn(|m| if m == k { 1.0 } else { 0.0 }))
    }

    /// Foot of a point in the triangle's plane.
    pub fn foot(triangle: &Triangle, x: Vec3d) -> Vec3d {
        x - triangle.normal * (x - triangle.corners[0]).dot(triangle.normal)
    }

    /// Integral of a function over the triangle, by repeated subdivision.
    pub fn integrate(triangle: &Triangle, f: &impl Fn(Vec3d) -> f64) -> f64 {
        halved(triangle.corners, 7, f)
    }

    fn halved(corners: [Vec3d; 3], depth: u32, f: &impl Fn(Vec3d) -> f64) -> f64 {
        let [a, b, c] = corners;
        if depth == 0 {
            let area = (b - a).cross(c - a).norm() / 2.0;
            return [(a, b), (b, c), (c, a)]
                .map(|(p, q)| f((p + q) * 0.5) * area / 3.0)
                .iter()
                .sum();
        }
        let [ab, bc, ca] = [(a, b), (b, c), (c, a)].map(|(p, q)| (p + q) * 0.5);
        [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
            .iter()
            .map(|&part| halved(part, depth - 1, f))
            .sum()
    }

    /// Corners and midpoints of the edges, each with a nearby point off the plane.
    pub fn beside(triangle: &Triangle) -> Vec<[Vec3d; 2]> {
        let corners = triangle.corners;
        let middle = corners.iter().fold(Vec3::zero(), |sum, c| sum + *c) * (1.0 / 3.0);
        let halfway = [0, 1, 2].map(|k| (corners[k] + corners[(k + 1) % 3]) * 0.5);
        let on = corners.into_iter().chain(halfway);
        on.map(|x| [x, x + (middle - x) * 1e-7 + triangle.normal * 1e-8])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrals_along_an_edge_are_the_same_by_all_formulas() {
        let length = 1.0;
        for distance in [1e-3, 0.3, 2.0] {
            for start in [-3.0, -0.9, -0.5, -1e-3, 0.0, 2.5] {
                let count = 40_000;
                let step = length / f64::from(count);
                let place = |k: i32| start + (f64::from(k) + 0.5) * step;
                let by_points: f64 = (0..count).map(|k| step / place(k).hypot(distance)).sum();
                let places = [start, start + length];
                let ends = places.map(|l: f64| l.hypot(distance));
                let found = inverse(ends, places, distance * distance, length);
                assert!(
                    (found / by_points - 1.0).abs() < 1e-5,
                    "{found} {by_points}"
                );
            }
        }
        assert_eq!(inverse([0.5, 0.5], [-0.5, 0.5], 1e-32, 1.0), 0.0);
        assert_eq!(inverse([0.0, 1.0], [0.0, 1.0], 0.0, 1.0), 0.0);
        let beyond = inverse([1.0, 2.0], [1.0, 2.0], 0.0, 1.0);
        assert!((beyond - 2f64.ln()).abs() < 1e-15);
    }
}
