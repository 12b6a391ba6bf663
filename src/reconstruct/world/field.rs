//! Scalar field whose zero level set is the surface of a fragment, from the positions and radii of its
//! elements.
//!
//! Zhu & Bridson 2005 (Animating sand as a fluid): the distance from a mean position minus a mean radius:
//!
//! ```text
//! φ(x) = |x − x̄| − f r̄,   x̄ = Σ w_i p_i / Σ w_i,   r̄ = Σ w_i r_i / Σ w_i,   w_i = max(0, 1 − |x − p_i|² / R_i²)³
//! ```
//!
//! The surface of a single element is its ball; of a yarn one element thick a round rod of radius r; of cloth
//! of one layer a slab of thickness 2r. There x̄ lies on the line or sheet whatever the gaps along it;
//! elsewhere anisotropic kernels (Yu & Turk 2013) serve this purpose. In a body, R is chosen so that faces
//! lie where the volume that the elements represent ends. If that volume were spread evenly over a
//! half-space, x̄ would lie ½ ∫s³(1−s²)³ds / ∫s²(1−s²)³ds = 63/256 of R below its face, and R = 4.06 r.
//! Elements in layers need less:
//!
//! | face, heights above the outermost centres in r | due | R = 3.0 | 3.5 | 3.8 | 4.06 |
//! |---|---|---|---|---|---|
//! | cubic lattice | 1.00 | 1.00 | 0.98 to 1.00 | 0.93 | 0.84 to 0.86 |
//! | hexagonal, basal | 0.82 | 0.98 to 1.00 | 0.89 to 0.91 | 0.78 | 0.69 to 0.70 |
//! | hexagonal, prismatic | 0.58 | 0.55 to 0.97 | 0.52 to 0.63 | 0.43 to 0.45 | 0.33 to 0.35 |
//!
//! Between two sheets with a gap, x̄ lies in the gap, and φ without f would fill it. The factor f keeps the
//! gap open: x̄ moves fast there from one sheet to the other. Solenthaler et al. 2007 (A unified particle
//! model for fluid-solid interactions) detect this by the largest eigenvalue of ∂x̄/∂x. For a Gaussian kernel
//! ∂x̄/∂x is the covariance of the p_i over the kernel's variance. This code uses that covariance, as it
//! needs no derivatives; its eigenvalues are 1 within a body.

use glam::DVec3;

/// Radius R of the kernel, element radii. At this value faces are flat to 0.03 and at the right height to
/// 0.13.
pub const KERNEL_RADIUS: f64 = 3.75;
/// Variance of the kernel along an axis, in R²: ∫s⁴(1−s²)³ds / 3∫s²(1−s²)³ds.
const KERNEL_VARIANCE: f32 = 1.0 / 11.0;
/// Eigenvalues between which f falls from 1 to 0. Elements up to 1.6 diameters apart stay connected.
const GAP_EIGENVALUES: [f32; 2] = [1.3, 2.2];
/// Largest distance of an inside point from the nearest element, element radii. A body of touching elements
/// needs √3.
pub const MAX_INSIDE_DISTANCE: f64 = 2.2;
/// φ where no element is in reach, unit lengths. φ is smaller everywhere else.
const FAR_VALUE: f32 = 8.0;

/// Number of nodes of a block along an axis.
pub const BLOCK_EDGE: usize = 8;
/// Number of nodes of a block.
pub const BLOCK_NODES: usize = BLOCK_EDGE * BLOCK_EDGE * BLOCK_EDGE;

/// An element in a frame.
#[derive(Clone, Copy, Debug)]
pub struct ElementBall {
    /// Centre, m.
    pub centre: [f64; 3],
    /// Radius, m.
    pub radius: f64,
}

/// Positions of the nodes: integer multiples of the spacing, wherever a body is.
#[derive(Clone, Copy, Debug)]
pub struct Lattice {
    /// Distance between neighbouring nodes, m.
    pub spacing: f64,
    /// Unit of length for the sums, m: a mean radius, so that single precision is enough for a body of any
    /// size.
    pub unit: f64,
}

impl Lattice {
    /// Coordinate of a node along an axis, m.
    pub fn coordinate(self, node: i64) -> f64 {
        node as f64 * self.spacing
    }
}

/// Sums over elements for eight nodes in a row. Distances are measured from the node, in unit lengths.
#[derive(Clone, Copy, Default)]
struct NodeRow {
    weight: [f32; BLOCK_EDGE],
    radius: [f32; BLOCK_EDGE],
    /// Weighted sums of x, y, z.
    first: [[f32; BLOCK_EDGE]; 3],
    /// Weighted sums of xx, yy, zz, yz, zx, xy.
    second: [[f32; BLOCK_EDGE]; 6],
    /// Smallest ratio of squared distance to squared radius.
    nearest: [f32; BLOCK_EDGE],
}

/// φ at the nodes of the block whose lowest node is `low`, x fastest, unit lengths. The value of a node does
/// not depend on its block, provided that `balls` holds all balls whose kernels reach it, in the same order.
pub fn block_values<'a>(
    lattice: Lattice,
    low: [i64; 3],
    balls: impl Iterator<Item = &'a ElementBall>,
) -> Box<[f32; BLOCK_NODES]> {
    let empty = NodeRow {
        nearest: [f32::INFINITY; BLOCK_EDGE],
        ..NodeRow::default()
    };
    let mut rows = [empty; BLOCK_EDGE * BLOCK_EDGE];
    for ball in balls {
        // From nodes to the centre: differences in double precision, for bodies far from the origin.
        let to_centre: [[f32; BLOCK_EDGE]; 3] = std::array::from_fn(|axis| {
            std::array::from_fn(|m| {
                let node = lattice.coordinate(low[axis] + m as i64);
                ((ball.centre[axis] - node) / lattice.unit) as f32
            })
        });
        let radius = (ball.radius / lattice.unit) as f32;
        let per_reach = 1.0 / (KERNEL_RADIUS as f32 * radius).powi(2);
        for k in 0..BLOCK_EDGE {
            let z = to_centre[2][k];
            for j in 0..BLOCK_EDGE {
                let y = to_centre[1][j];
                if (y * y + z * z) * per_reach < 1.0 {
                    rows[k * BLOCK_EDGE + j].add(&to_centre[0], y, z, radius, per_reach);
                }
            }
        }
    }
    let mut values = Box::new([FAR_VALUE; BLOCK_NODES]);
    for (row, values) in rows.iter().zip(values.as_chunks_mut::<BLOCK_EDGE>().0) {
        for (m, value) in values.iter_mut().enumerate() {
            *value = row.value(m);
        }
    }
    values
}

impl NodeRow {
    fn add(&mut self, x: &[f32; BLOCK_EDGE], y: f32, z: f32, radius: f32, per_reach: f32) {
        let yz = y * y + z * z;
        for m in 0..BLOCK_EDGE {
            let x = x[m];
            let squared = x * x + yz;
            let u = (1.0 - squared * per_reach).max(0.0);
            let w = u * u * u;
            self.weight[m] += w;
            self.radius[m] += w * radius;
            let first = [w * x, w * y, w * z];
            for (sum, first) in self.first.iter_mut().zip(first) {
                sum[m] += first;
            }
            let second = [
                first[0] * x,
                first[1] * y,
                first[2] * z,
                first[1] * z,
                first[2] * x,
                first[0] * y,
            ];
            for (sum, second) in self.second.iter_mut().zip(second) {
                sum[m] += second;
            }
            self.nearest[m] = self.nearest[m].min(squared / (radius * radius));
        }
    }

    /// φ at node `m`.
    fn value(&self, m: usize) -> f32 {
        let weight = self.weight[m];
        // Near the end of the kernels the quotients are meaningless.
        if weight < 1e-12 {
            return FAR_VALUE;
        }
        let mean = |sum: &[f32; BLOCK_EDGE]| sum[m] / weight;
        let [x, y, z] = [0, 1, 2].map(|axis| mean(&self.first[axis]));
        let products = [x * x, y * y, z * z, y * z, z * x, x * y];
        let radius = mean(&self.radius);
        let variance = KERNEL_VARIANCE * (KERNEL_RADIUS as f32 * radius).powi(2);
        let covariance: [f32; 6] =
            std::array::from_fn(|c| (mean(&self.second[c]) - products[c]) / variance);
        let distance = (x * x + y * y + z * z).sqrt() - gap_factor(covariance) * radius;
        let beyond = (self.nearest[m].sqrt() - MAX_INSIDE_DISTANCE as f32) * radius;
        distance.max(beyond).min(FAR_VALUE)
    }
}

/// ∇φ at `x` (m) with f = 1, from the balls in reach. Where no gap is kept open, it is the normal of the
/// surface, with less noise than the normals of triangles.
///
/// With g_i = ∇w_i and n = (x − x̄)/|x − x̄|: ∇φ = n − Σ g_i ((p_i − x̄)·n + r_i − r̄) / Σ w_i.
pub fn gradient<'a>(x: DVec3, balls: impl Iterator<Item = &'a ElementBall> + Clone) -> DVec3 {
    let terms = balls.filter_map(|ball| {
        let reach = KERNEL_RADIUS * ball.radius;
        let from = x - DVec3::from(ball.centre);
        let u = 1.0 - from.length_squared() / (reach * reach);
        (u > 0.0).then(|| (ball, u * u * u, from * (-6.0 * u * u / (reach * reach))))
    });
    let (mut weight, mut centre, mut radius) = (0.0, DVec3::ZERO, 0.0);
    for (ball, w, _) in terms.clone() {
        weight += w;
        centre += w * DVec3::from(ball.centre);
        radius += w * ball.radius;
    }
    let (centre, radius) = (centre / weight, radius / weight);
    let n = (x - centre).normalize_or_zero();
    terms.fold(n, |gradient, (ball, _, g)| {
        let ahead = (DVec3::from(ball.centre) - centre).dot(n);
        gradient - g * ((ahead + ball.radius - radius) / weight)
    })
}

/// The factor f for a covariance (xx, yy, zz, yz, zx, xy) in units of the kernel's variance.
fn gap_factor(covariance: [f32; 6]) -> f32 {
    let [low, high] = GAP_EIGENVALUES;
    let part = ((high - largest_eigenvalue(covariance, low)) / (high - low)).clamp(0.0, 1.0);
    part * part * (3.0 - 2.0 * part)
}

/// Largest eigenvalue of a symmetric matrix (xx, yy, zz, yz, zx, xy); any value below `least` if it is
/// smaller than `least`.
///
/// Smith 1961: let q be a third of the trace and p² a sixth of the trace of (A − qI)². The eigenvalues are q
/// + 2p cos(θ + 2πk/3), with cos 3θ = det((A − qI)/p)/2.
fn largest_eigenvalue([xx, yy, zz, yz, zx, xy]: [f32; 6], least: f32) -> f32 {
    let q = (xx + yy + zz) / 3.0;
    let [a, b, c] = [xx - q, yy - q, zz - q];
    let p = ((a * a + b * b + c * c + 2.0 * (yz * yz + zx * zx + xy * xy)) / 6.0).sqrt();
    if q + 2.0 * p <= least {
        return q;
    }
    let det = a * (b * c - yz * yz) - xy * (xy * c - yz * zx) + zx * (xy * yz - b * zx);
    let cosine = (det / (2.0 * p * p * p)).clamp(-1.0, 1.0);
    q + 2.0 * p * (cosine.acos() / 3.0).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvalues_agree_with_jacobi_rotations() {
        for [xx, yy, zz, yz, zx, xy] in [
            [2.0, 1.0, 3.0, 0.2, -0.4, 0.7],
            [1.0, 1.0, 2.0, 0.0, 0.0, 0.0],
            [1.0, 2.0, 2.0, 0.0, 0.0, 0.0],
            [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
        ] {
            let (values, _) = crate::math::eigen([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]]);
            let largest = values.iter().copied().fold(f64::MIN, f64::max);
            let found = largest_eigenvalue([xx, yy, zz, yz, zx, xy].map(|v: f64| v as f32), 0.0);
            assert!(
                (f64::from(found) - largest).abs() < 1e-5,
                "{found} {largest}"
            );
        }
    }

    #[test]
    fn a_lone_element_is_its_ball_whatever_the_block() {
        let lattice = Lattice {
            spacing: 0.4,
            unit: 0.5,
        };
        let ball = ElementBall {
            centre: [0.1, -0.7, 3.0],
            radius: 0.5,
        };
        for low in [[-4, -5, 3], [-3, -5, 4]] {
            let found = block_values(lattice, low, [ball].iter());
            for (n, value) in found.iter().enumerate() {
                let node = [
                    n % BLOCK_EDGE,
                    n / BLOCK_EDGE % BLOCK_EDGE,
                    n / BLOCK_EDGE / BLOCK_EDGE,
                ];
                let squared: f64 = (0..3)
                    .map(|axis| {
                        let x = lattice.coordinate(low[axis] + node[axis] as i64);
                        (x - ball.centre[axis]).powi(2)
                    })
                    .sum();
                // Near the end of the kernel the quotients of sums are inaccurate.
                if squared.sqrt() < 0.9 * KERNEL_RADIUS * ball.radius {
                    let expected = (squared.sqrt() - ball.radius) / lattice.unit;
                    assert!((f64::from(*value) - expected).abs() < 1e-4, "{n}: {value}");
                }
            }
        }
    }
}
