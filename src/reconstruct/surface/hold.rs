//! What the vertices of a surface move with.

/// What a vertex moves with.
#[derive(Clone, Copy, Debug)]
pub enum Hold {
    /// Elements of one side, ascending, filled up with the last.
    Side([u32; 8]),
    /// A vertex of the body's skin.
    Skin(u32),
    /// Whatever is near.
    Near,
}

impl Hold {
    /// These elements, ascending and each once; whatever is near if there is none.
    pub fn of(elements: &[u32]) -> Self {
        match elements.last() {
            Some(&last) => Hold::Side(std::array::from_fn(|m| {
                elements.get(m).copied().unwrap_or(last)
            })),
            None => Hold::Near,
        }
    }
}
