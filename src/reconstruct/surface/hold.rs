//! What the vertices of a surface move with.

/// What a vertex moves with.
#[derive(Clone, Copy, Debug)]
pub enum Hold {
    /// Elements on one side of the cracks, ascending; the last one is repeated to fill the array.
    Side([u32; 8]),
    /// A vertex of the body's skin.
    Skin(u32),
    /// The nearest elements, whichever they are.
    Near,
}

impl Hold {
    /// Binds to these elements, which are distinct and ascending; to the nearest elements if the list is
    /// empty.
    pub fn of(elements: &[u32]) -> Self {
        match elements.last() {
            Some(&last) => Hold::Side(std::array::from_fn(|m| {
                elements.get(m).copied().unwrap_or(last)
            })),
            None => Hold::Near,
        }
    }
}
