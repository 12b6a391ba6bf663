//! Ranks that an MPI launcher (`mpirun`, `srun`) started.

use mpi::collective::SystemOperation;
use mpi::datatype::PartitionMut;
use mpi::environment::Universe;
use mpi::request::{Request, Scope, scope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};
use mpi::{Count, Rank, Threading};

use super::heap;
use super::transport::{Message, Transport};

/// Largest message, bytes: MPI counts are signed 32-bit integers. Longer ones are split.
const PIECE: usize = 1 << 30;
/// Attempts of a wait before it offers the processor to others.
const SPINS: u32 = 1000;

/// MPI, from its start to its end.
pub struct Mpi(Universe);

impl Mpi {
    /// Starts MPI; `None` if its library allows only the main thread to send.
    ///
    /// Large allocations get pages of their own, so that a rank needs no memory for what it does not hold.
    ///
    /// Installs a panic hook that aborts all ranks; they would otherwise wait for ever.
    ///
    /// # Panics
    /// If MPI was started before.
    pub fn start() -> Option<Self> {
        heap::keep_unwritten_pages_free();
        let (universe, threading) =
            mpi::initialize_with_threading(Threading::Serialized).expect("it is started once");
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            report(panic);
            SimpleCommunicator::world().abort(101);
        }));
        (threading >= Threading::Serialized).then_some(Mpi(universe))
    }

    /// `MPI_COMM_WORLD`: all processes of the launcher.
    pub fn transport(&self) -> World {
        World {
            rank: self.0.world().rank() as usize,
            count: self.0.world().size() as usize,
        }
    }

    /// Ends all ranks with an exit code, without waiting for them.
    pub fn abort(&self, code: u8) -> ! {
        self.0.world().abort(code.into())
    }
}

/// `MPI_COMM_WORLD`: all processes of the launcher.
#[derive(Clone, Debug)]
pub struct World {
    rank: usize,
    count: usize,
}

impl World {
    fn communicator(&self) -> SimpleCommunicator {
        SimpleCommunicator::world()
    }

    /// Number of bytes of each rank.
    fn lengths(&self, own: usize) -> Vec<u64> {
        let mut lengths = vec![0u64; self.count];
        let own = [own as u64];
        scope(|scope| {
            let world = self.communicator();
            wait(world.immediate_all_gather_into(scope, &own[..], &mut lengths[..]));
        });
        lengths
    }
}

/// Waits for a request: polls, then yields the core. MPI's blocking waits keep it busy, which is slow with more ranks
/// than cores.
fn wait<'a, D: ?Sized, S: Scope<'a>>(mut request: Request<'a, D, S>) {
    let mut spins = 0;
    while let Err(waiting) = request.test() {
        request = waiting;
        if spins < SPINS {
            spins += 1;
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}

impl Transport for World {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.count
    }

    fn exchange(&self, send: &[Message], receive: &mut [Message], meanwhile: &mut dyn FnMut()) {
        let world = self.communicator();
        scope(|scope| {
            let receives = receive.iter_mut().flat_map(|message| {
                let from = world.process_at_rank(message.rank as Rank);
                let pieces = message.bytes.chunks_mut(PIECE);
                pieces.map(move |piece| from.immediate_receive_into(scope, piece))
            });
            let sends = send.iter().flat_map(|message| {
                let to = world.process_at_rank(message.rank as Rank);
                let pieces = message.bytes.chunks(PIECE);
                pieces.map(move |piece| to.immediate_send(scope, piece))
            });
            let (receives, sends): (Vec<_>, Vec<_>) = (receives.collect(), sends.collect());
            meanwhile();
            receives.into_iter().for_each(wait);
            sends.into_iter().for_each(wait);
        });
    }

    fn all_to_all(&self, to: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let sent: Vec<u64> = to.iter().map(|bytes| bytes.len() as u64).collect();
        let mut received = vec![0u64; self.count];
        scope(|scope| {
            let world = self.communicator();
            wait(world.immediate_all_to_all_into(scope, &sent[..], &mut received[..]));
        });
        let messages = to.into_iter().enumerate();
        let mut messages: Vec<_> = messages
            .map(|(rank, bytes)| Message { rank, bytes })
            .collect();
        let own = std::mem::take(&mut messages[self.rank].bytes);
        messages.retain(|message| !message.bytes.is_empty());
        let lengths = received.into_iter().enumerate();
        let others = lengths.filter(|&(rank, length)| rank != self.rank && length > 0);
        let mut found: Vec<_> = others
            .map(|(rank, length)| Message {
                rank,
                bytes: vec![0; length as usize],
            })
            .collect();
        self.exchange(&messages, &mut found, &mut || ());
        let mut from = vec![Vec::new(); self.count];
        for message in found {
            from[message.rank] = message.bytes;
        }
        from[self.rank] = own;
        from
    }

    fn gather_all(&self, own: &[u8]) -> Vec<Vec<u8>> {
        let lengths = self.lengths(own.len());
        let mut found = vec![Vec::new(); self.count];
        // Each round brings as much of every rank as one message may hold of all.
        let share = PIECE / self.count;
        let longest = lengths.iter().copied().max().unwrap_or_default() as usize;
        for start in (0..longest).step_by(share) {
            let part = |length: usize| start.min(length)..(start + share).min(length);
            let counts: Vec<Count> = lengths
                .iter()
                .map(|&length| part(length as usize).len() as Count)
                .collect();
            let ends = counts.iter().scan(0, |end, &count| {
                *end += count;
                Some(*end)
            });
            let starts: Vec<Count> = ends.zip(&counts).map(|(end, count)| end - count).collect();
            let mut all = vec![0u8; counts.iter().sum::<Count>() as usize];
            {
                let mut parts = PartitionMut::new(&mut all[..], &counts[..], &starts[..]);
                let sent = &own[part(own.len())];
                scope(|scope| {
                    let world = self.communicator();
                    wait(world.immediate_all_gather_varcount_into(scope, sent, &mut parts));
                });
            }
            for ((found, &start), &count) in found.iter_mut().zip(&starts).zip(&counts) {
                found.extend_from_slice(&all[start as usize..][..count as usize]);
            }
        }
        found
    }

    fn gather_first(&self, own: &[u8]) -> Vec<Vec<u8>> {
        let lengths = self.lengths(own.len());
        let world = self.communicator();
        if self.rank > 0 {
            let first = world.process_at_rank(0);
            for piece in own.chunks(PIECE) {
                scope(|scope| wait(first.immediate_send(scope, piece)));
            }
            return Vec::new();
        }
        let of = |(rank, length): (usize, u64)| {
            if rank == 0 {
                return own.to_vec();
            }
            let from = world.process_at_rank(rank as Rank);
            let mut bytes = vec![0; length as usize];
            for piece in bytes.chunks_mut(PIECE) {
                scope(|scope| wait(from.immediate_receive_into(scope, piece)));
            }
            bytes
        };
        lengths.into_iter().enumerate().map(of).collect()
    }

    fn largest(&self, values: &mut [f64]) {
        let (own, largest) = (values.to_vec(), SystemOperation::max());
        scope(|scope| {
            let world = self.communicator();
            wait(world.immediate_all_reduce_into(scope, &own[..], values, largest));
        });
    }
}
