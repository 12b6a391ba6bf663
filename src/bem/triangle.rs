//! Exact derivatives of the biharmonic potential Ψ(x) = ∫ |x − y| dS of a flat triangle, by integrals over its edges.
//!
//! ```text
//! ∂_αΨ = −Σ m_α ∫ r dl  for α in the plane (divergence theorem)         so  ∂_α∂_j∂_kΨ = −Σ m_α Q_jk,  Q = ∫ (1 − r̂ r̂ᵀ)/r dl
//! ∇²Ψ = 2Φ                                                              gives what has normal indices alone
//! Φ = ∫ 1/r dS = Σ t F − h Ω       ∇Φ = −Σ m F − n Ω                    F = ∫ 1/r dl
//! ```
//!
//! Sums over the edges: m is the edge's outward normal in the plane, t the distance of x from the edge's line (positive on the inner side), h the height of x
//! over the plane, Ω the solid angle with the sign of h, n the normal. After Wilton et al. 1984 and Nintcheu Fata 2009, who give Φ and ∇Φ.

use crate::math::{Mat3, Vec3};

/// Distance from an edge's line over the edge's length, at most, of what counts as on it.
const ON_LINE: f64 = 1e-14;

/// Vector of three numbers.
pub type V = Vec3<f64>;
/// Three by three numbers.
pub type M = Mat3<f64>;

/// A flat triangle, counter-clockwise seen from the side that its normal points to.
#[derive(Clone, Copy, Debug)]
pub struct Triangle {
    corners: [V; 3],
    normal: V,
    edges: [Edge; 3],
}

/// Edge from corner k to the next.
#[derive(Clone, Copy, Debug)]
struct Edge {
    along: V,
    length: f64,
    outward: V,
}

/// Φ, H = ∇∇Ψ and what the double layer needs, at a point.
#[derive(Clone, Copy, Debug)]
pub struct Second {
    /// Φ = ∫ 1/r dS.
    pub phi: f64,
    /// H.
    pub second: M,
    /// ∫ ∂(1/r)/∂n_y dS: the solid angle Ω.
    pub solid_angle: f64,
    /// ∫ (y − x') ∂(1/r)/∂n_y dS, x' being the foot of x in the plane.
    pub moment: V,
}

/// ∇Φ and T = ∇∇∇Ψ at a point, kept by edge.
#[derive(Clone, Copy, Debug)]
pub struct Third {
    normal: V,
    solid_angle: f64,
    edges: [EdgeIntegral; 3],
}

/// ∫ 1/r dl and Q of an edge.
#[derive(Clone, Copy, Debug)]
struct EdgeIntegral {
    outward: V,
    inverse: f64,
    q: M,
    q_normal: V,
    q_normal_normal: f64,
}

/// Place of a point relative to an edge: distances from its ends, coordinates of the ends along it from the foot of the point, distance in the plane.
struct Relative {
    ends: [f64; 2],
    along: [f64; 2],
    inside: f64,
}

impl Relative {
    /// ∫ 1/r dl, by the quotient that does not cancel; 0 on the edge's line, where it has no factor that does not vanish.
    fn inverse(&self, height: f64) -> f64 {
        let ([a, b], [la, lb]) = (self.ends, self.along);
        let near = self.inside.abs().max(height.abs());
        if near <= ON_LINE * (lb - la) {
            0.0
        } else if la + lb < 0.0 {
            ((a - la) / (b - lb)).ln()
        } else {
            ((b + lb) / (a + la)).ln()
        }
    }
}

impl Triangle {
    /// From its corners; the normal has length 1.
    pub fn new(corners: [V; 3], normal: V) -> Self {
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
        Triangle {
            corners,
            normal,
            edges,
        }
    }

    fn relative(&self, k: usize, x: V, ends: &[f64; 3]) -> Relative {
        let (edge, to_start) = (&self.edges[k], self.corners[k] - x);
        let start = to_start.dot(edge.along);
        Relative {
            ends: [ends[k], ends[(k + 1) % 3]],
            along: [start, start + edge.length],
            inside: to_start.dot(edge.outward),
        }
    }

    fn distances(&self, x: V) -> [f64; 3] {
        self.corners.map(|corner| (corner - x).norm())
    }

    /// Solid angle, sr, positive on the side of the normal (van Oosterom and Strackee 1983).
    fn solid_angle(&self, x: V, [la, lb, lc]: [f64; 3]) -> f64 {
        let [a, b, c] = self.corners.map(|corner| corner - x);
        let over = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
        -2.0 * a.dot(b.cross(c)).atan2(over)
    }

    /// Φ, H and the double layer at x, which may be a corner: `touches` says so.
    pub fn second(&self, x: V, touches: bool) -> Second {
        let (n, ends) = (self.normal, self.distances(x));
        let (height, solid_angle) = if touches {
            (0.0, 0.0)
        } else {
            let height = (x - self.corners[0]).dot(n);
            (height, self.solid_angle(x, ends))
        };
        let mut phi = -height * solid_angle;
        let mut second = Mat3::diagonal(0.0);
        let mut moment = Vec3::zero();
        for (k, edge) in self.edges.iter().enumerate() {
            let at = self.relative(k, x, &ends);
            let inverse = at.inverse(height);
            phi += at.inside * inverse;
            // ∫ r_j/r dl with r = h n − t m − l s.
            let in_plane =
                edge.outward * (-at.inside * inverse) - edge.along * (at.ends[1] - at.ends[0]);
            second = second - Mat3::outer(edge.outward, in_plane);
            moment = moment - edge.outward * (height * inverse);
        }
        let [a, b, c] = second.rows;
        let normal = 2.0 * phi - (a.x + b.y + c.z);
        Second {
            phi,
            second: second + Mat3::both_outer(n, moment) + Mat3::outer(n, n * normal),
            solid_angle,
            moment,
        }
    }

    /// What ∇Φ and T = ∇∇∇Ψ at x, away from the triangle, are made of.
    pub fn third(&self, x: V) -> Third {
        let ends = self.distances(x);
        let height = (x - self.corners[0]).dot(self.normal);
        let edges = [0, 1, 2].map(|k| {
            let at = self.relative(k, x, &ends);
            self.edges[k].integral(&at, height, self.normal)
        });
        Third {
            normal: self.normal,
            solid_angle: self.solid_angle(x, ends),
            edges,
        }
    }
}

impl Edge {
    fn integral(&self, at: &Relative, height: f64, normal: V) -> EdgeIntegral {
        let ([ra, rb], [la, lb]) = (at.ends, at.along);
        let inverse = at.inverse(height);
        // r = d − l s.
        let d = normal * height - self.outward * at.inside;
        let squared = height * height + at.inside * at.inside;
        let ratio = lb / rb - la / ra;
        // On the edge's own line d is zero, and so is the limit of d dᵀ times this.
        let cubed = if squared > f64::MIN_POSITIVE {
            ratio / squared
        } else {
            0.0
        };
        let mixed = 1.0 / ra - 1.0 / rb;
        let swept = d * cubed - self.along * mixed;
        let q = Mat3::diagonal(inverse) - Mat3::outer(d, swept)
            + Mat3::outer(self.along, d * mixed - self.along * (inverse - ratio));
        let q_normal = q.times(normal);
        EdgeIntegral {
            outward: self.outward,
            inverse,
            q,
            q_normal,
            q_normal_normal: q_normal.dot(normal),
        }
    }
}

impl Third {
    /// ∇Φ.
    pub fn slope(&self) -> V {
        let start = self.normal * -self.solid_angle;
        self.edges
            .iter()
            .fold(start, |sum, edge| sum - edge.outward * edge.inverse)
    }

    /// f·T, the matrix f_k T_ijk.
    pub fn along(&self, f: V) -> M {
        let (n, fn_) = (self.normal, self.normal.dot(f));
        let mut sum = Mat3::diagonal(0.0);
        // T_nnn = 2 ∂_nΦ − Σ_α T_ααn.
        let mut normal = -2.0 * self.solid_angle;
        for edge in &self.edges {
            let m = edge.outward;
            normal += m.dot(edge.q_normal);
            let of_normal =
                Mat3::outer(m, edge.q_normal) + Mat3::outer(n, m * edge.q_normal_normal);
            sum = sum - edge.q * m.dot(f) - of_normal * fn_;
        }
        sum + Mat3::outer(n, n * (normal * fn_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangle() -> Triangle {
        let corners = [[0.1, 0.2, -0.3], [1.2, 0.1, 0.4], [0.3, 0.9, 0.2]].map(Vec3::from_f64);
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
        Triangle::new(corners, normal * (1.0 / normal.norm()))
    }

    /// ∫ of a function over a triangle by halving edges.
    fn integrate(corners: [V; 3], depth: u32, f: &impl Fn(V) -> f64) -> f64 {
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
            .map(|&part| integrate(part, depth - 1, f))
            .sum()
    }

    fn psi(triangle: &Triangle, x: V) -> f64 {
        integrate(triangle.corners, 7, &|y| (x - y).norm())
    }

    fn axis(k: usize) -> V {
        Vec3::from_f64(std::array::from_fn(|m| if m == k { 1.0 } else { 0.0 }))
    }

    const PLACES: [[f64; 3]; 4] = [
        [0.5, 0.4, 0.9],
        [0.4, 0.3, -0.2],
        [-1.0, 0.3, 0.5],
        [2.0, 1.4, 0.3],
    ];

    #[test]
    fn second_derivatives_are_differences_of_the_potential() {
        let triangle = triangle();
        let step = 1e-3;
        for x in PLACES.map(Vec3::from_f64) {
            let Second {
                phi,
                second,
                solid_angle,
                moment,
            } = triangle.second(x, false);
            let by_points = integrate(triangle.corners, 7, &|y| 1.0 / (x - y).norm());
            assert!((phi - by_points).abs() < 1e-5, "{phi} {by_points}");
            let height = (x - triangle.corners[0]).dot(triangle.normal);
            let foot = x - triangle.normal * height;
            let dipole = |y: V| height / (x - y).norm().powi(3);
            let by_points = integrate(triangle.corners, 7, &dipole);
            assert!((solid_angle - by_points).abs() < 1e-3);
            for k in 0..3 {
                let f = |y: V| dipole(y) * (y - foot).dot(axis(k));
                let by_points = integrate(triangle.corners, 7, &f);
                assert!((moment.dot(axis(k)) - by_points).abs() < 1e-3);
            }
            for i in 0..3 {
                for j in 0..3 {
                    let at = |p: f64, q: f64| {
                        psi(&triangle, x + axis(i) * (p * step) + axis(j) * (q * step))
                    };
                    let difference = (at(1.0, 1.0) - at(1.0, -1.0) - at(-1.0, 1.0)
                        + at(-1.0, -1.0))
                        / (4.0 * step * step);
                    let found = second.times(axis(j)).dot(axis(i));
                    assert!((found - difference).abs() < 3e-4, "{found} {difference}");
                }
            }
        }
    }

    #[test]
    fn third_derivatives_are_differences_of_the_second() {
        let triangle = triangle();
        let step = 1e-5;
        for x in PLACES.map(Vec3::from_f64) {
            let third = triangle.third(x);
            for k in 0..3 {
                let [up, down] = [step, -step].map(|s| triangle.second(x + axis(k) * s, false));
                let slope = (up.phi - down.phi) / (2.0 * step);
                assert!((third.slope().dot(axis(k)) - slope).abs() < 1e-8);
                let difference = (up.second - down.second) * (0.5 / step);
                let off = third.along(axis(k)) - difference;
                for row in off.rows {
                    assert!(row.norm() < 1e-8, "{off:?}");
                }
            }
        }
    }

    #[test]
    fn corners_are_the_limit_of_points_beside_them() {
        let triangle = triangle();
        let middle = triangle
            .corners
            .iter()
            .fold(Vec3::zero(), |sum, c| sum + *c)
            * (1.0 / 3.0);
        for corner in triangle.corners {
            let at = triangle.second(corner, true);
            let beside = corner + (middle - corner) * 1e-7 + triangle.normal * 1e-8;
            let near = triangle.second(beside, false);
            assert!((at.phi - near.phi).abs() < 1e-5);
            for row in (at.second - near.second).rows {
                assert!(row.norm() < 1e-5, "{at:?} {near:?}");
            }
        }
    }
}
