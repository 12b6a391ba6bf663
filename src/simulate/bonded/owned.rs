//! The chunks that this process computes.

use std::sync::Arc;

/// The chunks that this process computes: all, or those that its rank owns.
#[derive(Clone, Debug, Default)]
pub struct OwnedChunks(Option<Arc<[bool]>>);

impl OwnedChunks {
    /// Those for which `owned`, by chunk, is true.
    pub fn new(owned: Vec<bool>) -> Self {
        OwnedChunks(Some(owned.into()))
    }

    /// Whether this process computes all chunks.
    pub fn are_all(&self) -> bool {
        self.0.is_none()
    }

    /// Whether this process computes a chunk.
    #[inline]
    pub fn contains(&self, chunk: usize) -> bool {
        self.0.as_ref().is_none_or(|owned| owned[chunk])
    }
}
