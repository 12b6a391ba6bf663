//! Ranks that are threads of one process.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard};

use super::transport::{Message, Transport};

/// A rank that is a thread.
#[derive(Debug)]
pub struct Local {
    rank: usize,
    /// To each rank.
    to: Vec<Sender<Vec<u8>>>,
    /// From each rank.
    from: Mutex<Vec<Receiver<Vec<u8>>>>,
}

/// All ranks of a run; each is for one thread.
pub fn ranks(count: usize) -> Vec<Local> {
    let mut to: Vec<Vec<Sender<Vec<u8>>>> = (0..count).map(|_| Vec::new()).collect();
    let mut from: Vec<Vec<Receiver<Vec<u8>>>> = (0..count).map(|_| Vec::new()).collect();
    for to in &mut to {
        for from in &mut from {
            let (sender, receiver) = channel();
            to.push(sender);
            from.push(receiver);
        }
    }
    let both = to.into_iter().zip(from).enumerate();
    both.map(|(rank, (to, from))| Local {
        rank,
        to,
        from: Mutex::new(from),
    })
    .collect()
}

impl Local {
    fn send(&self, rank: usize, bytes: Vec<u8>) {
        self.to[rank].send(bytes).expect("the other rank runs");
    }

    fn receivers(&self) -> MutexGuard<'_, Vec<Receiver<Vec<u8>>>> {
        self.from.lock().expect("no rank panics while it receives")
    }

    fn receive(receivers: &[Receiver<Vec<u8>>], rank: usize) -> Vec<u8> {
        receivers[rank].recv().expect("the other rank runs")
    }
}

impl Transport for Local {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.to.len()
    }

    fn exchange(&self, send: &[Message], receive: &mut [Message], meanwhile: &mut dyn FnMut()) {
        for message in send {
            self.send(message.rank, message.bytes.clone());
        }
        meanwhile();
        let receivers = self.receivers();
        for message in receive {
            let bytes = Self::receive(&receivers, message.rank);
            assert_eq!(bytes.len(), message.bytes.len(), "the length is known");
            message.bytes = bytes;
        }
    }

    fn all_to_all(&self, to: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        for (rank, bytes) in to.into_iter().enumerate() {
            self.send(rank, bytes);
        }
        let receivers = self.receivers();
        (0..self.count())
            .map(|rank| Self::receive(&receivers, rank))
            .collect()
    }

    fn gather_all(&self, own: &[u8]) -> Vec<Vec<u8>> {
        self.all_to_all(vec![own.to_vec(); self.count()])
    }

    fn gather_first(&self, own: &[u8]) -> Vec<Vec<u8>> {
        self.send(0, own.to_vec());
        if self.rank > 0 {
            return Vec::new();
        }
        let receivers = self.receivers();
        (0..self.count())
            .map(|rank| Self::receive(&receivers, rank))
            .collect()
    }

    fn largest(&self, values: &mut [f64]) {
        for other in self.gather_all(bytemuck::cast_slice(values)) {
            let others = other
                .chunks_exact(8)
                .map(bytemuck::pod_read_unaligned::<f64>);
            for (value, other) in values.iter_mut().zip(others) {
                *value = value.max(other);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `act` on each of some ranks and returns what they return.
    fn on_ranks<T: Send>(count: usize, act: impl Fn(&Local) -> T + Sync) -> Vec<T> {
        let ranks = ranks(count);
        std::thread::scope(|scope| {
            let threads: Vec<_> = ranks.iter().map(|rank| scope.spawn(|| act(rank))).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        })
    }

    #[test]
    fn messages_reach_their_ranks() {
        let found = on_ranks(3, |rank| {
            let k = rank.rank() as u8;
            let all = rank.gather_all(&vec![k; usize::from(k)]);
            let first = rank.gather_first(&[k + 10]);
            let to = (0..3).map(|other| vec![10 * k + other]).collect();
            let from = rank.all_to_all(to);
            let mut values = [f64::from(k), -f64::from(k)];
            rank.largest(&mut values);
            (all, first, from, values)
        });
        for (k, (all, first, from, values)) in found.into_iter().enumerate() {
            let k = k as u8;
            assert_eq!(all, [vec![], vec![1], vec![2, 2]]);
            let at_first = if k == 0 {
                vec![vec![10], vec![11], vec![12]]
            } else {
                Vec::new()
            };
            assert_eq!(first, at_first);
            assert_eq!(from, [vec![k], vec![10 + k], vec![20 + k]]);
            assert_eq!(values, [2.0, 0.0]);
        }
    }

    #[test]
    fn an_exchange_is_between_some_ranks() {
        // Rank 0 and rank 2 exchange; rank 1 takes no part.
        let found = on_ranks(3, |rank| {
            let other = 2 - rank.rank().min(2);
            let message = |byte| Message {
                rank: other,
                bytes: vec![byte; 2],
            };
            let mut receive = if other == 1 { vec![] } else { vec![message(0)] };
            let send: Vec<_> = receive
                .iter()
                .map(|_| message(rank.rank() as u8 + 1))
                .collect();
            let mut calls = 0;
            rank.exchange(&send, &mut receive, &mut || calls += 1);
            assert_eq!(calls, 1);
            receive
        });
        assert_eq!(found[0][0].bytes, [3, 3]);
        assert!(found[1].is_empty());
        assert_eq!(found[2][0].bytes, [1, 1]);
    }
}
