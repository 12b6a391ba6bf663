//! Records of ghosts, exchanged outside the steps.

use super::bytes::{Reader, Record};
use super::team::{Ghosts, Team, records};
use crate::ranks::transport::Message;

impl Team {
    /// Tells the owners of these elements (of other ranks, ascending) that this rank will receive their records.
    pub(super) fn ghosts(&self, elements: impl Iterator<Item = u32>) -> Ghosts {
        let mut needs = vec![Vec::new(); self.transport.count()];
        for element in elements {
            needs[self.owner_of(element)].push(element);
        }
        let asked = needs.iter().map(|list| bytemuck::cast_slice(list).to_vec());
        let asked = self.transport.all_to_all(asked.collect());
        let lists = asked.iter().map(|bytes| records(bytes));
        let some = |(_, list): &(usize, Vec<u32>)| !list.is_empty();
        Ghosts {
            sent: lists.enumerate().filter(some).collect(),
            received: needs.into_iter().enumerate().filter(some).collect(),
        }
    }

    /// Brings the records of ghosts up to date.
    pub(super) fn receive<T: Record>(&self, ghosts: &Ghosts, rows: &mut [T]) {
        let message = |(rank, elements): &(usize, Vec<u32>)| {
            let mut bytes = Vec::new();
            for &element in elements {
                rows[element as usize].put(&mut bytes);
            }
            Message { rank: *rank, bytes }
        };
        let send: Vec<Message> = ghosts.sent.iter().map(message).collect();
        // Those written here are replaced: they have the length of those that come.
        let mut receive: Vec<Message> = ghosts.received.iter().map(message).collect();
        self.transport.exchange(&send, &mut receive, &mut || ());
        for (message, (_, elements)) in receive.iter().zip(&ghosts.received) {
            let mut from = Reader::new(&message.bytes);
            for &element in elements {
                rows[element as usize] = T::get(&mut from);
            }
        }
    }
}
