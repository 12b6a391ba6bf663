//! Triangles of a cut and where they come from.

/// What a triangle of a piece was part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A triangle of the body.
    Body(u32),
    /// A triangle of the sheet.
    Sheet(u32),
}

/// A triangle of the body's surface, or of the sheet inside, by the numbers of its corners among all vertices.
#[derive(Clone, Copy, Debug)]
pub struct Facet {
    /// Numbers of its corners.
    pub corners: [u32; 3],
    /// Where it comes from.
    pub origin: Origin,
}

/// Edges of a polygon, each in its sense.
pub fn edges(corners: &[u32]) -> impl Iterator<Item = [u32; 2]> + '_ {
    (0..corners.len()).map(|k| [corners[k], corners[(k + 1) % corners.len()]])
}
