//! Why a sheet cannot cut a body.

/// Why a sheet cannot cut a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CutError {
    /// A corner lies in the plane of a triangle; the sheet must be moved a little.
    #[error("a corner of sheet or body lies in the plane of a triangle of the other")]
    NotGeneral,
    /// The rim of the sheet lies partly inside the body; holds the number of such edges.
    #[error("{0} edges of the sheet's rim lie inside the body")]
    EndsInside(usize),
    /// The sheet and the body do not meet.
    #[error("the sheet does not meet the body")]
    NoIntersection,
    /// The line of intersection is a closed loop within one triangle.
    #[error("the line of intersection is a closed loop within one triangle")]
    Loop,
    /// The body stays in one piece, or the sheet cuts itself.
    #[error("the sheet does not separate the body")]
    NotSeparated,
    /// The volumes of the pieces do not add up to that of the body: the sheet cuts itself.
    #[error("the volumes of the pieces do not add up to that of the body: the sheet cuts itself")]
    VolumeMismatch,
}
