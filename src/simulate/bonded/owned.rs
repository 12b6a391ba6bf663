//! The chunks that this process computes.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::Zeroable;

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

    /// Whether this process computes the chunk of one of these elements; there are `chunk` elements in each.
    #[inline]
    pub fn contain_any(&self, elements: [usize; 2], chunk: usize) -> bool {
        elements
            .iter()
            .any(|element| self.contains(element / chunk))
    }

    /// Elements of each of these chunks, of `chunk` elements each; there are `padded` in all.
    pub fn elements(&self, chunk: usize, padded: usize) -> impl Iterator<Item = Range<usize>> {
        let chunks = (0..padded.div_ceil(chunk)).filter(|&at| self.contains(at));
        chunks.map(move |at| at * chunk..((at + 1) * chunk).min(padded))
    }

    /// The rows of these chunks, of `chunk` elements each. The others are zero; they take no memory until they are
    /// written.
    pub fn keep<T: Copy + Zeroable>(&self, rows: &[T], chunk: usize) -> Vec<T> {
        let mut own: Vec<T> = bytemuck::zeroed_vec(rows.len());
        let chunks = own.chunks_mut(chunk).zip(rows.chunks(chunk));
        for (at, (to, from)) in chunks.enumerate() {
            if self.contains(at) {
                to.copy_from_slice(from);
            }
        }
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_other_chunks_become_zero() {
        let owned = OwnedChunks::new(vec![false, true, false, true]);
        let rows: Vec<u32> = (1..=14).collect();
        let expected = [0, 0, 0, 0, 5, 6, 7, 8, 0, 0, 0, 0, 13, 14];
        assert_eq!(owned.keep(&rows, 4), expected);
    }
}
