//! Several ranks: what each owns, sends and receives.

use std::ops::Range;
use std::sync::Arc;

use super::bytes::{Reader, Record};
use crate::ranks::Transport;
use crate::ranks::transport::Message;
use crate::simulate::bonded::owned::OwnedChunks;

/// The ranks that receive what all send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receivers {
    /// Rank 0, which records frames and states.
    First,
    /// Every rank.
    All,
}

/// What a rank sent to others in its steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Exchanges of rows, one per step.
    pub exchanges: u64,
    /// Rows that this rank sent in them.
    pub rows: u64,
    /// Bytes that this rank sent in them.
    pub bytes: u64,
    /// How often chunks moved to other ranks.
    pub rebalances: u64,
}

/// Elements whose rows ranks exchange, by the other rank; empty lists are left out.
#[derive(Clone, Debug, Default)]
pub struct Ghosts {
    /// Elements of this rank whose rows it sends.
    pub(super) sent: Vec<(usize, Vec<u32>)>,
    /// Elements of others whose rows it receives.
    pub(super) received: Vec<(usize, Vec<u32>)>,
}

/// Several ranks.
#[derive(Clone, Debug)]
pub(super) struct Team {
    pub(super) transport: Arc<dyn Transport>,
    /// Elements per chunk.
    pub(super) chunk: usize,
    /// Rank of each chunk.
    pub(super) owner: Vec<u32>,
    pub(super) owned: OwnedChunks,
    /// Elements whose rows are exchanged in every step.
    pub(super) ghosts: Ghosts,
    /// Whether each chunk is of this rank and reads ghosts.
    pub(super) reads_ghosts: Vec<bool>,
    /// Messages of the last exchange: their buffers are used again.
    pub(super) messages: (Vec<Message>, Vec<Message>),
    pub(super) traffic: Traffic,
}

impl Team {
    pub(super) fn owner_of(&self, element: u32) -> usize {
        self.owner[element as usize / self.chunk] as usize
    }

    /// Chunks of a rank.
    pub(super) fn chunks_of(&self, rank: usize) -> impl Iterator<Item = usize> {
        let chunks = self.owner.iter().enumerate();
        let chunks = chunks.filter(move |(_, owner)| **owner as usize == rank);
        chunks.map(|(at, _)| at)
    }

    /// Ranges of the elements of a rank's chunks, clipped to indices below `count`.
    pub(super) fn ranges_of(
        &self,
        rank: usize,
        count: usize,
    ) -> impl Iterator<Item = Range<usize>> {
        self.chunks_of(rank)
            .map(move |at| self.elements_of(at, count))
    }

    /// Elements of a chunk, clipped to indices below `count`.
    pub(super) fn elements_of(&self, at: usize, count: usize) -> Range<usize> {
        let first = at * self.chunk;
        first.min(count)..(first + self.chunk).min(count)
    }

    pub(super) fn gather(&self, receivers: Receivers, own: &[u8]) -> Vec<Vec<u8>> {
        match receivers {
            Receivers::First => self.transport.gather_first(own),
            Receivers::All => self.transport.gather_all(own),
        }
    }
}

/// All records of a message.
pub(super) fn records<T: Record>(bytes: &[u8]) -> Vec<T> {
    let mut from = Reader::new(bytes);
    let mut out = Vec::new();
    while !from.is_at_end() {
        out.push(T::get(&mut from));
    }
    out
}
