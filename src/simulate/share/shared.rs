//! A scene that several ranks share: which rank computes which chunk.

use std::sync::Arc;

use glam::DVec3;

use crate::math::Scalar;
use crate::ranks::Transport;
use crate::simulate::bonded::owned::OwnedChunks;
use crate::simulate::bonded::system::System;
use crate::simulate::share::bisection::{WeightedCentre, owners};
use crate::simulate::share::ranks::Ranks;

/// The ranks that a scene is built for.
#[derive(Clone, Debug)]
pub struct Shared {
    /// Number of threads of all ranks.
    pub threads: usize,
    transport: Arc<dyn Transport>,
}

impl Shared {
    /// The ranks of a transport. All ranks call it.
    pub fn new(transport: &Arc<dyn Transport>) -> Self {
        let own = rayon::current_num_threads() as u64;
        let all = transport.gather_all(&own.to_ne_bytes());
        let threads = all
            .iter()
            .map(|bytes| bytemuck::pod_read_unaligned::<u64>(bytes));
        Shared {
            threads: threads.sum::<u64>() as usize,
            transport: transport.clone(),
        }
    }

    /// Assigns chunks of `chunk` elements to ranks by their centres. All ranks find the same without a message.
    pub fn partition(self, centres: &[WeightedCentre], chunk: usize) -> Ranks {
        let owner = owners(centres, self.transport.count());
        Ranks::new(self.transport, chunk, owner)
    }
}

/// Centres of the chunks, and the numbers of their elements and bonds; those of chunks not in `owned` are zero.
/// `valence` returns the number of bonds of an element.
pub fn centres<S: Scalar>(
    system: &System<S>,
    owned: &OwnedChunks,
    valence: impl Fn(usize) -> usize,
) -> Vec<WeightedCentre> {
    let chunks = (0..system.motion.len()).step_by(system.chunk);
    let place = |first: usize| {
        let elements = first..(first + system.chunk).min(system.count);
        let mut sum = DVec3::ZERO;
        let mut weight = 0;
        let is_own = owned.contains(first / system.chunk);
        for i in elements.clone().filter(|_| is_own) {
            sum += system.position(i);
            weight += 1 + valence(i);
        }
        WeightedCentre {
            centre: sum / elements.len().max(1) as f64,
            weight: weight as f64,
        }
    };
    chunks.map(place).collect()
}
