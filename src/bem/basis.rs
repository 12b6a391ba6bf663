//! Shape functions of the displacement on the panels, and the nodes where it is unknown.
//!
//! ```text
//! linear     N_i = λ_i                                    nodes: corners
//! quadratic  N_i = λ_i (2λ_i − 1),  N_ij = 4 λ_i λ_j      nodes: corners, and the middles of the edges
//! ```
//!
//! λ: barycentric coordinates. Panels are flat and the displacement is continuous in both cases.

use glam::DVec3;

use super::edges::Edges;
use super::surface::{Surface, to_vec3};
use super::triangle::Vec3d;
use crate::math::Vec3;

/// Degree of the displacement on a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Three nodes per panel.
    Linear,
    /// Six nodes per panel: four times the unknowns, and a stress error that is many times smaller.
    Quadratic,
}

/// Largest number of nodes of a panel.
pub const MAX_NODES: usize = 6;

/// Nodes and shape functions of a surface.
#[derive(Clone, Debug)]
pub struct Basis<'a> {
    /// The panels.
    pub surface: &'a Surface,
    /// Degree of the displacement.
    pub order: Order,
    /// Edges of the panels.
    pub edges: Edges,
    /// Positions of the nodes, m: the vertices of the mesh, then the midpoints of the edges.
    pub places: Vec<DVec3>,
    /// Weight of each node in integrals over the surface, m²: the integral of its shape functions.
    pub areas: Vec<f64>,
    nodes: Vec<u32>,
}

/// A shape function expanded about the foot x' of a point in the panel's plane: N = value + slope·w + ½ w·∇∇N
/// w, w = y − x'.
#[derive(Clone, Copy, Debug)]
pub struct ShapeFunction {
    /// Its value at x'.
    pub value: f64,
    /// Its gradient at x', 1/m.
    pub slope: Vec3d,
    /// Derivatives of the gradient along the axes of the panel, 1/m²; none for a linear function.
    pub second: Option<[Vec3d; 2]>,
}

impl<'a> Basis<'a> {
    /// Nodes and shape functions of a surface.
    pub fn new(surface: &'a Surface, order: Order) -> Self {
        let edges = Edges::new(surface);
        let mesh = &surface.mesh;
        let mut basis = Basis {
            surface,
            order,
            edges,
            places: mesh.positions.clone(),
            areas: Vec::new(),
            nodes: Vec::new(),
        };
        if order == Order::Quadratic {
            let ends = basis.edges.ends.iter();
            let middles = ends.map(|ends| {
                let [a, b] = ends.map(|v| mesh.positions[v as usize]);
                (a + b) / 2.0
            });
            basis.places.extend(middles);
        }
        let vertices = mesh.positions.len() as u32;
        for (corners, sides) in mesh.triangles.iter().zip(&basis.edges.numbers) {
            basis.nodes.extend(corners);
            if order == Order::Quadratic {
                basis.nodes.extend(sides.map(|edge| vertices + edge));
            }
        }
        basis.areas = vec![0.0; basis.places.len()];
        // The integral of a quadratic shape function of a corner is zero, so only the midpoints get weights.
        let first = basis.count() - 3;
        for t in 0..surface.len() {
            for c in first..first + 3 {
                let node = basis.of_panel(t)[c] as usize;
                basis.areas[node] += surface.areas[t] / 3.0;
            }
        }
        basis
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are no nodes, which never happens.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Number of nodes per panel.
    pub fn count(&self) -> usize {
        match self.order {
            Order::Linear => 3,
            Order::Quadratic => MAX_NODES,
        }
    }

    /// Nodes of panel `t`: its corners, then the midpoints of its sides; side k runs from corner k to the
    /// next.
    pub fn of_panel(&self, t: usize) -> &[u32] {
        let count = self.count();
        &self.nodes[t * count..(t + 1) * count]
    }

    /// Local indices of a panel's nodes that lie on side k.
    pub fn of_side(&self, k: usize) -> impl Iterator<Item = usize> {
        let all = [k, (k + 1) % 3, 3 + k];
        all.into_iter().take(self.count() / 3 + 1)
    }

    /// Values of the shape functions at barycentric coordinates.
    pub fn values(&self, at: [f64; 3]) -> [f64; MAX_NODES] {
        let [a, b, c] = at;
        match self.order {
            Order::Linear => [a, b, c, 0.0, 0.0, 0.0],
            Order::Quadratic => {
                let corner = |l: f64| l * (2.0 * l - 1.0);
                let middles = [a * b, b * c, c * a].map(|product| 4.0 * product);
                let [ab, bc, ca] = middles;
                [corner(a), corner(b), corner(c), ab, bc, ca]
            }
        }
    }

    /// Shape functions of panel `t`, expanded about the foot of x in its plane, in the order of its nodes.
    pub fn shapes(&self, t: usize, x: DVec3) -> impl Iterator<Item = ShapeFunction> {
        let slopes = self.surface.shapes[t];
        let offset = x - self.surface.mesh.corners(t)[0];
        let mut at = slopes.map(|slope| slope.dot(offset));
        at[0] += 1.0;
        let axes = self.surface.triangles[t].axes();
        let slopes = slopes.map(to_vec3);
        let order = self.order;
        (0..self.count()).map(move |node| match order {
            Order::Linear => ShapeFunction {
                value: at[node],
                slope: slopes[node],
                second: None,
            },
            Order::Quadratic => quadratic(node, at, slopes, axes),
        })
    }

    /// Value on panel `t` of the field with nodal values `u`, where the shape functions have the given
    /// values.
    pub fn field(&self, t: usize, values: &[f64; MAX_NODES], u: &[[f64; 3]]) -> Vec3d {
        let nodes = self.of_panel(t).iter().zip(values);
        nodes.fold(Vec3::zero(), |sum, (node, value)| {
            sum + Vec3::from_f64(u[*node as usize]) * *value
        })
    }
}

/// Quadratic shape function of one of the six nodes.
fn quadratic(node: usize, at: [f64; 3], slopes: [Vec3d; 3], axes: [Vec3d; 2]) -> ShapeFunction {
    if node < 3 {
        let (l, g) = (at[node], slopes[node]);
        return ShapeFunction {
            value: l * (2.0 * l - 1.0),
            slope: g * (4.0 * l - 1.0),
            second: Some(axes.map(|axis| g * (4.0 * g.dot(axis)))),
        };
    }
    let (i, j) = (node - 3, (node - 2) % 3);
    let (g, h) = (slopes[i], slopes[j]);
    ShapeFunction {
        value: 4.0 * at[i] * at[j],
        slope: (h * at[i] + g * at[j]) * 4.0,
        second: Some(axes.map(|axis| (h * g.dot(axis) + g * h.dot(axis)) * 4.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::shapes;

    #[test]
    fn shape_functions_are_one_at_their_node_and_zero_at_the_others() {
        let surface = Surface::new(&shapes::cuboid(DVec3::new(1.0, 2.0, 3.0))).unwrap();
        for (order, count) in [(Order::Linear, 8), (Order::Quadratic, 8 + 18)] {
            let basis = Basis::new(&surface, order);
            assert_eq!(basis.len(), count);
            assert!((basis.areas.iter().sum::<f64>() - 22.0).abs() < 1e-12);
            for t in 0..surface.len() {
                for (c, node) in basis.of_panel(t).iter().enumerate() {
                    let x = basis.places[*node as usize];
                    for (d, shape) in basis.shapes(t, x).enumerate() {
                        let expected = if c == d { 1.0 } else { 0.0 };
                        assert!((shape.value - expected).abs() < 1e-14);
                    }
                }
            }
        }
    }

    #[test]
    fn values_about_a_foot_and_by_coordinates_agree() {
        let surface = Surface::new(&shapes::cuboid(DVec3::new(1.0, 2.0, 3.0))).unwrap();
        let at = [0.2, 0.5, 0.3];
        for order in [Order::Linear, Order::Quadratic] {
            let basis = Basis::new(&surface, order);
            for t in 0..surface.len() {
                let corners = surface.mesh.corners(t);
                let y: DVec3 = (0..3).map(|c| corners[c] * at[c]).sum();
                // About the foot of a point off the panel.
                let x = DVec3::new(0.3, -0.7, 0.9);
                let foot = x - surface.normals[t] * surface.normals[t].dot(x - corners[0]);
                let w = to_vec3(y - foot);
                let axes = surface.triangles[t].axes();
                let values = basis.values(at);
                for (shape, value) in basis.shapes(t, x).zip(values) {
                    let second = shape.second.map_or(0.0, |second| {
                        (0..2).map(|k| axes[k].dot(w) * second[k].dot(w)).sum()
                    });
                    let found = shape.value + shape.slope.dot(w) + 0.5 * second;
                    assert!((found - value).abs() < 1e-13);
                }
            }
        }
    }

    #[test]
    fn sides_have_the_nodes_that_lie_on_them() {
        let surface = Surface::new(&shapes::cuboid(DVec3::ONE)).unwrap();
        let basis = Basis::new(&surface, Order::Quadratic);
        for k in 0..3 {
            let mut at = [0.0; 3];
            (at[k], at[(k + 1) % 3]) = (0.3, 0.7);
            let on: Vec<usize> = basis.of_side(k).collect();
            for (node, value) in basis.values(at).into_iter().enumerate() {
                assert_eq!(value != 0.0, on.contains(&node));
            }
        }
        let linear = Basis::new(&surface, Order::Linear);
        assert_eq!(linear.of_side(2).collect::<Vec<_>>(), [2, 0]);
    }
}
