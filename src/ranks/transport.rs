//! What a simulation needs of the messages between its ranks.

use std::fmt::Debug;

/// Messages between the ranks of a run.
///
/// Every call is collective: all ranks make the same calls in the same order. No call adds up numbers, whose sum would
/// depend on the order of the ranks.
///
/// # Panics
/// Every call panics, or ends the process, if another rank has ended.
pub trait Transport: Debug + Send + Sync {
    /// Number of this rank, from 0.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn count(&self) -> usize;

    /// Sends bytes to other ranks and receives bytes from others, each at most once. The lengths of what is received
    /// are known. `meanwhile` is called once, while messages are on their way.
    fn exchange(&self, send: &[Message], receive: &mut [Message], meanwhile: &mut dyn FnMut());

    /// Sends `to[k]` to rank k and returns what each rank sent to this one, whatever its length.
    fn all_to_all(&self, to: Vec<Vec<u8>>) -> Vec<Vec<u8>>;

    /// The bytes of each rank, at every rank.
    fn gather_all(&self, own: &[u8]) -> Vec<Vec<u8>>;

    /// The bytes of each rank, at rank 0; nothing at the others.
    fn gather_first(&self, own: &[u8]) -> Vec<Vec<u8>>;

    /// Replaces each value by the largest over all ranks.
    fn largest(&self, values: &mut [f64]);
}

/// Bytes to or from another rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// The other rank.
    pub rank: usize,
    /// The bytes.
    pub bytes: Vec<u8>,
}
