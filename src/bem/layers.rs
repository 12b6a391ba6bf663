//! The layers of a surface as operators on what its nodes do.

use super::traction::Traction;
use crate::solve::Operator;

/// Somigliana's identity at the nodes, from inside: A u = V t, with `times` for A, the double layer of a free
/// body, which takes rigid motions to nothing.
pub trait Layers: Operator<3> {
    /// V t: displacement of the nodes, m, by tractions on the panels.
    fn single(&self, tractions: &[Traction]) -> Vec<[f64; 3]>;

    /// Block of A that takes each node to itself.
    fn diagonal(&self) -> Vec<[[f64; 3]; 3]>;
}

/// Adds a 3×3 block times a vector.
pub fn add_times(block: &[[f64; 3]; 3], x: &[f64; 3], sum: &mut [f64; 3]) {
    for (sum, row) in sum.iter_mut().zip(block) {
        *sum += row[0] * x[0] + row[1] * x[1] + row[2] * x[2];
    }
}
