//! What the vertices of a surface move with.

/// What a vertex moves with.
#[derive(Clone, Copy, Debug)]
pub enum Binding {
    /// Elements on one side of the cracks, ascending; the last one is repeated to fill the array.
    Elements([u32; 8]),
    /// A vertex of the body's skin.
    SkinVertex(u32),
    /// The nearest elements, whichever they are.
    Nearest,
}

impl Binding {
    /// Binds to these elements, which are distinct and ascending; to the nearest elements if the list is
    /// empty.
    pub fn to(elements: &[u32]) -> Self {
        match elements.last() {
            Some(&last) => Binding::Elements(std::array::from_fn(|m| {
                elements.get(m).copied().unwrap_or(last)
            })),
            None => Binding::Nearest,
        }
    }
}
