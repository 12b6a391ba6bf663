//! The ranks of a run: who owns which chunk, and which rows they exchange in every step.

use std::sync::Arc;

use super::bytes::{Reader, Record, put};
use super::chunk_box::ChunkBox;
use super::ghost_rows;
pub use super::team::{Ghosts, Receivers, Traffic};
use super::team::{Team, records};
use super::windows::windows;
use crate::math::Scalar;
use crate::parallel::prelude::*;
use crate::ranks::transport::{self, Message, Transport};
use crate::simulate::bonded::bond_tasks::BreakEvent;
use crate::simulate::bonded::owned::OwnedChunks;
use crate::simulate::bonded::system::{MotionRow, TailRow, position};

/// The ranks of a run, or none: then this process owns every chunk, and all calls return at once.
#[derive(Clone, Debug, Default)]
pub struct Ranks(Option<Team>);

/// An exchange of ghosts.
#[derive(Debug)]
pub struct Exchange {
    transport: Arc<dyn Transport>,
    send: Vec<Message>,
    receive: Vec<Message>,
}

impl Exchange {
    /// Sends and receives; `meanwhile` computes what reads no ghosts.
    pub fn run(&mut self, mut meanwhile: impl FnMut()) {
        let transport = self.transport.clone();
        transport.exchange(&self.send, &mut self.receive, &mut meanwhile);
    }
}

impl Ranks {
    /// Ranks that own the chunks of `chunk` elements as `owner` says.
    pub fn new(transport: Arc<dyn Transport>, chunk: usize, owner: Vec<u32>) -> Self {
        let own = transport.rank() as u32;
        let owned = owner.iter().map(|&rank| rank == own).collect();
        Ranks(Some(Team {
            transport,
            chunk,
            owned: OwnedChunks::new(owned),
            owner,
            ghosts: Ghosts::default(),
            reads_ghosts: Vec::new(),
            messages: Default::default(),
            traffic: Traffic::default(),
        }))
    }

    /// Ranks with another owner of each chunk; nothing is exchanged until [`set_ghosts`](Self::set_ghosts).
    pub fn with_owners(&self, owner: Vec<u32>) -> Self {
        match &self.0 {
            None => Ranks(None),
            Some(team) => {
                let mut ranks = Self::new(team.transport.clone(), team.chunk, owner);
                if let Some(new) = &mut ranks.0 {
                    new.traffic = team.traffic;
                }
                ranks
            }
        }
    }

    /// Rank of each chunk; empty if this process is alone.
    pub fn owners(&self) -> &[u32] {
        self.0.as_ref().map_or(&[], |team| &team.owner)
    }

    /// Number of ranks.
    pub fn count(&self) -> usize {
        self.0.as_ref().map_or(1, |team| team.transport.count())
    }

    /// Number of this rank.
    pub fn rank(&self) -> usize {
        self.0.as_ref().map_or(0, |team| team.transport.rank())
    }

    /// Whether this process computes alone.
    pub fn is_alone(&self) -> bool {
        self.0.is_none()
    }

    /// Whether this rank records frames and states.
    pub fn is_first(&self) -> bool {
        transport::is_first(self.0.as_ref().map(|team| &team.transport))
    }

    /// The chunks of this rank.
    pub fn owned(&self) -> OwnedChunks {
        self.0
            .as_ref()
            .map_or_else(OwnedChunks::default, |team| team.owned.clone())
    }

    /// What this rank sent in its steps; `None` if it is alone.
    pub fn traffic(&self) -> Option<Traffic> {
        self.0.as_ref().map(|team| team.traffic)
    }

    /// Counts that chunks moved to other ranks.
    pub fn note_rebalance(&mut self) {
        if let Some(team) = &mut self.0 {
            team.traffic.rebalances += 1;
        }
    }

    /// Tells the owners of these elements (of other ranks, ascending) to send their rows in every step. `reads_ghosts`
    /// says by chunk which of this rank's chunks read any.
    pub fn set_ghosts(&mut self, elements: impl Iterator<Item = u32>, reads_ghosts: Vec<bool>) {
        let ghosts = self.ghosts(elements);
        if let Some(team) = &mut self.0 {
            team.ghosts = ghosts;
            team.reads_ghosts = reads_ghosts;
        }
    }

    /// Tells the owners of these elements (of other ranks, ascending) that this rank will receive their records.
    pub fn ghosts(&self, elements: impl Iterator<Item = u32>) -> Ghosts {
        let team = self.0.as_ref();
        team.map_or_else(Ghosts::default, |team| team.ghosts(elements))
    }

    /// Brings the records of ghosts up to date.
    pub fn receive<T: Record>(&self, ghosts: &Ghosts, rows: &mut [T]) {
        if let Some(team) = &self.0 {
            team.receive(ghosts, rows);
        }
    }

    /// Passes the records of all `count` elements to `take` at rank 0, in order, with the number of the first one.
    /// `own` makes the record of an element of this rank.
    pub fn each_window<T: Record>(
        &self,
        count: usize,
        own: impl Fn(usize) -> T + Sync,
        mut take: impl FnMut(usize, &[T]),
    ) {
        for window in windows(count) {
            let first = window.start;
            let records = match &self.0 {
                None => Some(window.into_par_iter().map(&own).collect()),
                Some(team) => team.gather_window(window, &own),
            };
            if let Some(records) = records {
                take(first, &records[..]);
            }
        }
    }

    /// Whether a chunk of this rank reads ghosts.
    pub fn reads_ghosts(&self, chunk: usize) -> bool {
        self.0.as_ref().is_some_and(|team| team.reads_ghosts[chunk])
    }

    /// Begins an exchange of ghosts; `None` if this process is alone.
    pub fn begin_exchange<S: Scalar>(
        &mut self,
        motion: &[MotionRow<S>],
        tail: &[TailRow<S>],
    ) -> Option<Exchange> {
        let team = self.0.as_mut()?;
        let (mut send, mut receive) = std::mem::take(&mut team.messages);
        send.resize(team.ghosts.sent.len(), Message::default());
        receive.resize(team.ghosts.received.len(), Message::default());
        for (message, (rank, elements)) in send.iter_mut().zip(&team.ghosts.sent) {
            message.rank = *rank;
            ghost_rows::write(elements, (motion, tail), &mut message.bytes);
            team.traffic.rows += elements.len() as u64;
            team.traffic.bytes += message.bytes.len() as u64;
        }
        team.traffic.exchanges += 1;
        for (message, (rank, elements)) in receive.iter_mut().zip(&team.ghosts.received) {
            message.rank = *rank;
            let width = ghost_rows::width::<S>();
            message.bytes.resize(elements.len() * width, 0);
        }
        Some(Exchange {
            transport: team.transport.clone(),
            send,
            receive,
        })
    }

    /// Writes the rows that an exchange brought.
    pub fn end_exchange<S: Scalar>(
        &mut self,
        exchange: Exchange,
        motion: &mut [MotionRow<S>],
        tail: &mut [TailRow<S>],
    ) {
        let Some(team) = &mut self.0 else {
            return;
        };
        for (message, (_, elements)) in exchange.receive.iter().zip(&team.ghosts.received) {
            ghost_rows::read(elements, &message.bytes, (motion, tail));
        }
        team.messages = (exchange.send, exchange.receive);
    }

    /// Receives the rows and a byte of other ranks' elements inside the boxes of this rank's chunks, widened by
    /// `reach`, m. Returns for each element whether its row is up to date; rows of this rank always are.
    pub fn receive_near<S: Scalar>(
        &self,
        (motion, tail, bytes): (&mut [MotionRow<S>], &mut [TailRow<S>], &mut [u8]),
        reach: f64,
    ) -> Vec<bool> {
        let Some(team) = &self.0 else {
            return vec![true; motion.len()];
        };
        let own = team.transport.rank();
        let mut known = vec![false; motion.len()];
        let mut boxes = vec![ChunkBox::EMPTY; team.owner.len()];
        for chunk in team.ranges_of(own, motion.len()) {
            boxes[chunk.start / team.chunk] = ChunkBox::of(&motion[chunk.clone()]);
            known[chunk].fill(true);
        }
        self.gather_chunks(Receivers::All, &mut boxes, |one, act| act(one));
        let mut around = vec![ChunkBox::EMPTY; team.transport.count()];
        for (one, &owner) in boxes.iter().zip(&team.owner) {
            around[owner as usize] = around[owner as usize].joined(one);
        }
        let mut to = vec![Vec::new(); team.transport.count()];
        for (rank, message) in to.iter_mut().enumerate().filter(|one| one.0 != own) {
            // Most ranks are far away as a whole.
            if !around[rank].widened(reach).meets(&around[own]) {
                continue;
            }
            let theirs = team.chunks_of(rank).map(|at| boxes[at].widened(reach));
            let theirs: Vec<ChunkBox> = theirs.collect();
            for chunk in team.ranges_of(own, motion.len()) {
                let tight = &boxes[chunk.start / team.chunk];
                let near = theirs.iter().filter(|one| one.meets(tight));
                let near: Vec<&ChunkBox> = near.collect();
                for element in chunk.filter(|_| !near.is_empty()) {
                    let place = position(&motion[element]);
                    if near.iter().any(|one| one.contains(place)) {
                        put(message, [element as u32, bytes[element].into()]);
                        motion[element].put(message);
                        tail[element].put(message);
                    }
                }
            }
        }
        for message in team.transport.all_to_all(to) {
            let mut from = Reader::new(&message);
            while !from.is_at_end() {
                let [element, byte]: [u32; 2] = from.get();
                let element = element as usize;
                motion[element] = Record::get(&mut from);
                tail[element] = Record::get(&mut from);
                (bytes[element], known[element]) = (byte as u8, true);
            }
        }
        known
    }

    /// Sends the data of chunks that move to their new owners. `write` appends those of a chunk of this rank to a
    /// message; `read` reads those of a chunk that it is to own.
    pub fn move_chunks(
        &self,
        owner: &[u32],
        mut write: impl FnMut(usize, &mut Vec<u8>),
        mut read: impl FnMut(usize, &mut Reader),
    ) {
        let Some(team) = &self.0 else {
            return;
        };
        let own = team.transport.rank();
        let mut to = vec![Vec::new(); team.transport.count()];
        let leaves = |&at: &usize| owner[at] as usize != own;
        for at in team.chunks_of(own).filter(leaves) {
            write(at, &mut to[owner[at] as usize]);
        }
        for (rank, message) in team.transport.all_to_all(to).iter().enumerate() {
            let mut from = Reader::new(message);
            let comes = |&at: &usize| rank != own && owner[at] as usize == own;
            for at in team.chunks_of(rank).filter(comes) {
                read(at, &mut from);
            }
        }
    }

    /// Sends the records of chunks that move to their new owners.
    pub fn move_records<T: Record>(&self, owner: &[u32], rows: &mut [T]) {
        let Some(team) = &self.0 else {
            return;
        };
        let count = rows.len();
        let elements = |at: usize| team.elements_of(at, count);
        // Not in place: both calls use the rows.
        let mut come = Vec::new();
        self.move_chunks(
            owner,
            |at, message| rows[elements(at)].iter().for_each(|row| row.put(message)),
            |at, from| come.extend(elements(at).map(|element| (element, T::get(from)))),
        );
        for (element, row) in come {
            rows[element] = row;
        }
    }

    /// The sum of an integer over all ranks.
    pub fn sum(&self, own: u64) -> u64 {
        self.concatenate(Receivers::All, vec![own]).iter().sum()
    }

    /// Brings records that belong to chunks up to date at the ranks that receive them. `each` visits the records of a
    /// chunk; their number and order must be equal on all ranks.
    pub fn gather_chunks<C, T: Record>(
        &self,
        receivers: Receivers,
        chunks: &mut [C],
        each: impl Fn(&mut C, &mut dyn FnMut(&mut T)),
    ) {
        let Some(team) = &self.0 else {
            return;
        };
        let mut bytes = Vec::new();
        for at in team.chunks_of(team.transport.rank()) {
            each(&mut chunks[at], &mut |record| record.put(&mut bytes));
        }
        let all = team.gather(receivers, &bytes);
        let mut from: Vec<Reader> = all.iter().map(|bytes| Reader::new(bytes)).collect();
        if from.is_empty() {
            return;
        }
        for (chunk, &owner) in chunks.iter_mut().zip(&team.owner) {
            each(chunk, &mut |record| {
                *record = T::get(&mut from[owner as usize])
            });
        }
    }

    /// Brings the records of these elements up to date at the ranks that receive them.
    pub fn fetch<T: Record>(&self, receivers: Receivers, elements: &[u32], rows: &mut [T]) {
        let Some(team) = &self.0 else {
            return;
        };
        let own = team.transport.rank();
        let mut bytes = Vec::new();
        for &element in elements.iter().filter(|&&e| team.owner_of(e) == own) {
            rows[element as usize].put(&mut bytes);
        }
        let all = team.gather(receivers, &bytes);
        let mut from: Vec<Reader> = all.iter().map(|bytes| Reader::new(bytes)).collect();
        if from.is_empty() {
            return;
        }
        for &element in elements {
            rows[element as usize] = T::get(&mut from[team.owner_of(element)]);
        }
    }

    /// Records of all ranks, one rank after the other; nothing at ranks that receive none.
    pub fn concatenate<T: Record>(&self, receivers: Receivers, own: Vec<T>) -> Vec<T> {
        let Some(team) = &self.0 else {
            return own;
        };
        let mut bytes = Vec::new();
        own.iter().for_each(|record| record.put(&mut bytes));
        let all = team.gather(receivers, &bytes);
        all.iter().flat_map(|bytes| records(bytes)).collect()
    }

    /// The largest of each value over all ranks.
    pub fn largest(&self, values: &mut [f64]) {
        if let Some(team) = &self.0 {
            team.transport.largest(values);
        }
    }

    /// Brings the broken bonds of all chunks up to date at every rank.
    pub fn share_breaks(&self, chunks: &mut [Vec<BreakEvent>]) {
        let Some(team) = &self.0 else {
            return;
        };
        // Only chunks of this rank have any.
        let own: usize = chunks.iter().map(Vec::len).sum();
        let mut most = [own as f64];
        team.transport.largest(&mut most);
        if most == [0.0] {
            return;
        }
        let mut bytes = Vec::new();
        for (at, events) in chunks.iter().enumerate().filter(|one| !one.1.is_empty()) {
            put(&mut bytes, [at as u32, events.len() as u32]);
            events.iter().for_each(|event| event.put(&mut bytes));
        }
        for bytes in team.transport.gather_all(&bytes) {
            let mut from = Reader::new(&bytes);
            while !from.is_at_end() {
                let [at, count]: [u32; 2] = from.get();
                chunks[at as usize] = (0..count).map(|_| Record::get(&mut from)).collect();
            }
        }
    }
}

#[cfg(test)]
mod tests;
