//! Triangles of a cut, and the triangles of body or sheet that they are part of.

/// The triangle of body or sheet that a triangle of a piece is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FacetOrigin {
    /// Index of a triangle of the body.
    Body(u32),
    /// Index of a triangle of the sheet.
    Sheet(u32),
}

/// A triangle of the body's surface or of the part of the sheet inside the body.
#[derive(Clone, Copy, Debug)]
pub struct Facet {
    /// Vertex indices of its corners.
    pub corners: [u32; 3],
    /// The triangle that it is part of.
    pub origin: FacetOrigin,
}

/// Directed edges of a polygon.
pub fn edges(corners: &[u32]) -> impl Iterator<Item = [u32; 2]> + '_ {
    (0..corners.len()).map(|k| [corners[k], corners[(k + 1) % corners.len()]])
}
