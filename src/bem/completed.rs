//! The equations of a free body, made well conditioned.

use super::cavity::Cavity;
use super::rigid::RigidMotions;
use crate::solve::Operator;

/// A + P and the equations of cavities, A being the double layer of a free body, which takes rigid motions to nothing, and P the projection on them.
///
/// With loads in balance, P changes no more of the solution than to choose the one whose rigid part is zero in the mean over the surface.
pub struct Completed<'a, A: ?Sized> {
    /// A.
    pub layer: &'a A,
    /// Which motions.
    pub motions: &'a RigidMotions,
    /// Which cavities.
    pub cavities: &'a [Cavity],
}

impl<A: Operator<3> + ?Sized> Operator<3> for Completed<'_, A> {
    fn times(&self, x: &[[f64; 3]], y: &mut [[f64; 3]]) {
        self.layer.times(x, y);
        self.motions.add_projection(x, y);
        for cavity in self.cavities {
            cavity.add_left(x, y);
        }
    }
}
