//! What a simulation needs of the messages between its ranks.

use std::fmt::Debug;
use std::sync::Arc;

/// Messages between the ranks of a run.
///
/// All communication is collective: all ranks make the same calls in the same order. There is no sum: floating-point
/// sums would depend on the order of the ranks.
///
/// # Panics
/// `Local` panics if a rank that it waits for has ended; under MPI the launcher ends all ranks.
pub trait Transport: Debug + Send + Sync {
    /// Number of this rank, from 0.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn count(&self) -> usize;

    /// Sends and receives at most one message to and from each other rank. Each buffer in `receive` has the length of
    /// its message. `meanwhile` is called once, while messages are on their way.
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

/// Whether this process writes and reports: rank 0, or the only process.
pub fn is_first(transport: Option<&Arc<dyn Transport>>) -> bool {
    transport.is_none_or(|transport| transport.rank() == 0)
}

/// Bytes to or from another rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// The other rank.
    pub rank: usize,
    /// The bytes.
    pub bytes: Vec<u8>,
}
