//! The field whose zero is the surface of a fragment, from the places and radii of its elements.
//!
//! Zhu & Bridson 2005 (Animating sand as a fluid), the distance from a mean place less a mean radius:
//!
//! ```text
//! φ(x) = |x − x̄| − f r̄,   x̄ = Σ w_i p_i / Σ w_i,   r̄ = Σ w_i r_i / Σ w_i,   w_i = max(0, 1 − |x − p_i|² / R_i²)³
//! ```
//!
//! It is the ball of a lone element, a round rod of radius r about a yarn one element thick, a slab of
//! thickness 2r about cloth of one layer: x̄ lies on the line or sheet whatever the gaps along it, which is
//! what anisotropic kernels (Yu & Turk 2013) are for. In a body, R is chosen so that faces lie where the
//! volume that elements stand for ends. Were that volume spread evenly over a half-space, x̄ would lie ½
//! ∫s³(1−s²)³ds / ∫s²(1−s²)³ds = 63/256 of R below its face, and R = 4.06 r; elements in layers need less:
//!
//! | face, heights above the outermost centres in r | due | R = 3.0 | 3.5 | 3.8 | 4.06 |
//! |---|---|---|---|---|---|
//! | cubic lattice | 1.00 | 1.00 | 0.98 to 1.00 | 0.93 | 0.84 to 0.86 |
//! | hexagonal, basal | 0.82 | 0.98 to 1.00 | 0.89 to 0.91 | 0.78 | 0.69 to 0.70 |
//! | hexagonal, prismatic | 0.58 | 0.55 to 0.97 | 0.52 to 0.63 | 0.43 to 0.45 | 0.33 to 0.35 |
//!
//! Between two sheets with a gap, x̄ lies in the gap, and φ would fill it. f closes this: there x̄ runs fast
//! from one sheet to the other. Solenthaler et al. 2007 (A unified particle model for fluid-solid
//! interactions) tell this by the largest eigenvalue of ∂x̄/∂x. For a Gaussian kernel ∂x̄/∂x is the
//! covariance of the p_i over the kernel's variance, which is taken here, as it needs no derivatives: 1
//! within a body.

use glam::DVec3;

/// Radius R of the kernel, element radii: faces flat to 0.03 and at their height to 0.13.
pub const REACH: f64 = 3.75;
/// Variance of the kernel along an axis, R²: ∫s⁴(1−s²)³ds / 3∫s²(1−s²)³ds.
const VARIANCE: f32 = 1.0 / 11.0;
/// Eigenvalues between which f falls from 1 to 0. Elements up to 1.6 diameters apart hold together.
const SPREAD: [f32; 2] = [1.3, 2.2];
/// No inside is farther than this from every element, their radii: a body of touching elements needs √3.
pub const LIMIT: f64 = 2.2;
/// φ where no element is in reach, unit lengths: more than φ can be elsewhere.
const FAR: f32 = 8.0;

/// Nodes of a block along an axis.
pub const EDGE: usize = 8;
/// Nodes of a block.
pub const NODES: usize = EDGE * EDGE * EDGE;

/// An element in a frame.
#[derive(Clone, Copy, Debug)]
pub struct Ball {
    /// Centre, m.
    pub centre: [f64; 3],
    /// Radius, m.
    pub radius: f64,
}

/// Where nodes are: at whole multiples of the spacing, wherever a body is.
#[derive(Clone, Copy, Debug)]
pub struct Lattice {
    /// Distance of neighbouring nodes, m.
    pub spacing: f64,
    /// Length that sums are taken in, m, so that single precision does for any size of body: a mean radius.
    pub unit: f64,
}

impl Lattice {
    /// Coordinate of a node, m.
    pub fn place(self, node: i64) -> f64 {
        node as f64 * self.spacing
    }
}

/// Sums over elements for eight nodes in a row; lengths from the node, in unit lengths.
#[derive(Clone, Copy, Default)]
struct Row {
    weight: [f32; EDGE],
    radius: [f32; EDGE],
    /// Of x, y, z.
    first: [[f32; EDGE]; 3],
    /// Of xx, yy, zz, yz, zx, xy.
    second: [[f32; EDGE]; 6],
    /// Smallest squared distance over the squared radius.
    nearest: [f32; EDGE],
}

/// φ at the nodes of the block whose lowest node is `low`, x fastest, unit lengths. A node's value does not
/// depend on its block, as long as `balls` holds in the same order all whose kernels reach it.
pub fn values<'a>(
    lattice: Lattice,
    low: [i64; 3],
    balls: impl Iterator<Item = &'a Ball>,
) -> Box<[f32; NODES]> {
    let empty = Row {
        nearest: [f32::INFINITY; EDGE],
        ..Row::default()
    };
    let mut rows = [empty; EDGE * EDGE];
    for ball in balls {
        // From nodes to the centre: differences in double precision, for bodies far from the origin.
        let to_centre: [[f32; EDGE]; 3] = std::array::from_fn(|axis| {
            std::array::from_fn(|m| {
                let node = lattice.place(low[axis] + m as i64);
                ((ball.centre[axis] - node) / lattice.unit) as f32
            })
        });
        let radius = (ball.radius / lattice.unit) as f32;
        let per_reach = 1.0 / (REACH as f32 * radius).powi(2);
        for k in 0..EDGE {
            let z = to_centre[2][k];
            for j in 0..EDGE {
                let y = to_centre[1][j];
                if (y * y + z * z) * per_reach < 1.0 {
                    rows[k * EDGE + j].add(&to_centre[0], y, z, radius, per_reach);
                }
            }
        }
    }
    let mut values = Box::new([FAR; NODES]);
    for (row, values) in rows.iter().zip(values.as_chunks_mut::<EDGE>().0) {
        for (m, value) in values.iter_mut().enumerate() {
            *value = row.value(m);
        }
    }
    values
}

impl Row {
    fn add(&mut self, x: &[f32; EDGE], y: f32, z: f32, radius: f32, per_reach: f32) {
        let yz = y * y + z * z;
        for m in 0..EDGE {
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

    /// φ of node `m`.
    fn value(&self, m: usize) -> f32 {
        let weight = self.weight[m];
        // Where the kernels just end, quotients say nothing.
        if weight < 1e-12 {
            return FAR;
        }
        let mean = |sum: &[f32; EDGE]| sum[m] / weight;
        let [x, y, z] = [0, 1, 2].map(|axis| mean(&self.first[axis]));
        let products = [x * x, y * y, z * z, y * z, z * x, x * y];
        let radius = mean(&self.radius);
        let variance = VARIANCE * (REACH as f32 * radius).powi(2);
        let covariance: [f32; 6] =
            std::array::from_fn(|c| (mean(&self.second[c]) - products[c]) / variance);
        let distance = (x * x + y * y + z * z).sqrt() - hold(covariance) * radius;
        let beyond = (self.nearest[m].sqrt() - LIMIT as f32) * radius;
        distance.max(beyond).min(FAR)
    }
}

/// ∇φ at `x` (m) with f = 1, from balls in reach: where it closes no gap, the normal of the surface with less
/// noise than triangles give.
///
/// With g_i = ∇w_i and n = (x − x̄)/|x − x̄|: ∇φ = n − Σ g_i ((p_i − x̄)·n + r_i − r̄) / Σ w_i.
pub fn gradient<'a>(x: DVec3, balls: impl Iterator<Item = &'a Ball> + Clone) -> DVec3 {
    let terms = balls.filter_map(|ball| {
        let reach = REACH * ball.radius;
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

/// f for a covariance xx, yy, zz, yz, zx, xy in variances of the kernel.
fn hold(covariance: [f32; 6]) -> f32 {
    let [low, high] = SPREAD;
    let part = ((high - largest_eigenvalue(covariance, low)) / (high - low)).clamp(0.0, 1.0);
    part * part * (3.0 - 2.0 * part)
}

/// Largest eigenvalue of a symmetric matrix xx, yy, zz, yz, zx, xy, or anything below `least` if it is below.
///
/// Smith 1961: with q a third of the trace and p² a sixth of the trace of (A − qI)², the eigenvalues are q +
/// 2p cos(θ + 2πk/3), cos 3θ = det((A − qI)/p)/2.
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
        let ball = Ball {
            centre: [0.1, -0.7, 3.0],
            radius: 0.5,
        };
        for low in [[-4, -5, 3], [-3, -5, 4]] {
            let found = values(lattice, low, [ball].iter());
            for (n, value) in found.iter().enumerate() {
                let node = [n % EDGE, n / EDGE % EDGE, n / EDGE / EDGE];
                let squared: f64 = (0..3)
                    .map(|axis| {
                        let x = lattice.place(low[axis] + node[axis] as i64);
                        (x - ball.centre[axis]).powi(2)
                    })
                    .sum();
                // Near the end of the kernel the quotients of sums are rough.
                if squared.sqrt() < 0.9 * REACH * ball.radius {
                    let expected = (squared.sqrt() - ball.radius) / lattice.unit;
                    assert!((f64::from(*value) - expected).abs() < 1e-4, "{n}: {value}");
                }
            }
        }
    }
}
