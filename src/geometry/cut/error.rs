//! Why a sheet does not cut a body.

/// Why a sheet does not cut a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CutError {
    /// A corner in the plane of a triangle: move the sheet a little.
    #[error("a corner of sheet or body lies in the plane of a triangle of the other")]
    NotGeneral,
    /// The sheet ends inside the body.
    #[error("{0} edges of the sheet's rim lie inside the body")]
    EndsInside(usize),
    /// The sheet and the body do not meet.
    #[error("the sheet does not meet the body")]
    Apart,
    /// A closed line of intersection within one triangle.
    #[error("the line of intersection is closed within one triangle")]
    Loop,
    /// The cut leaves the body in one piece, or the sheet cuts itself.
    #[error("the sheet does not separate the body")]
    NotSeparated,
    /// Pieces whose volumes do not add up: the sheet cuts itself.
    #[error("volumes of the pieces do not add up: the sheet cuts itself")]
    Volume,
}
