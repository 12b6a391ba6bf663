//! The single and double layers of a surface as operators on nodal values.

use super::traction::Traction;
use crate::solve::Operator;

/// Somigliana's identity at the nodes, taken from inside: A u = V t. `times` applies A, the double layer of a
/// free body, which maps rigid motions to zero.
pub trait Layers: Operator<3> {
    /// V t: displacement of the nodes, m, due to tractions on the panels.
    fn single(&self, tractions: &[Traction]) -> Vec<[f64; 3]>;

    /// Diagonal 3×3 block of A for each node.
    fn diagonal(&self) -> Vec<[[f64; 3]; 3]>;
}

/// Adds the product of a 3×3 block and a vector to `sum`.
pub fn add_times(block: &[[f64; 3]; 3], x: &[f64; 3], sum: &mut [f64; 3]) {
    for (sum, row) in sum.iter_mut().zip(block) {
        *sum += row[0] * x[0] + row[1] * x[1] + row[2] * x[2];
    }
}
