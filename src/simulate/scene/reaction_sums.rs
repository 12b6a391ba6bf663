//! What the elements of a chunk do to colliders and clamps, summed up over steps.
//!
//! A collider is summed for every [`BLOCK`] elements by themselves, a clamp for every element: sizes of
//! chunks are multiples of that, so neither they nor the order of threads can change a bit. Pairs that do not
//! touch add nothing.

use glam::DVec3;

use crate::math::Scalar;
use crate::simulate::bonded::bonds::BLOCK;
use crate::simulate::bonded::system::Load;
use crate::simulate::scene::clamps::Hold;
use crate::simulate::scene::reactions::{Bearers, Held, Wrench};

/// Sums of one chunk of elements, N and N m.
#[derive(Clone, Debug)]
pub struct ReactionSums {
    colliders: usize,
    /// Block-major.
    walls: Vec<Wrench>,
    held: Vec<(Held, Wrench)>,
    /// Attachments that draw by springs; in the first chunk for all elements.
    springs: Vec<(u32, Wrench)>,
}

impl ReactionSums {
    /// Of every chunk of so many elements among `padded`.
    pub fn all(bearers: &Bearers, padded: usize, chunk: usize) -> Vec<Self> {
        let colliders = bearers.colliders().len();
        let of = |first: usize| {
            let held = bearers.held().iter();
            let held = held.filter(|h| (first..first + chunk).contains(&(h.element as usize)));
            ReactionSums {
                colliders,
                walls: vec![Wrench::default(); chunk.div_ceil(BLOCK) * colliders],
                held: held.map(|held| (*held, Wrench::default())).collect(),
                springs: Vec::new(),
            }
        };
        (0..padded).step_by(chunk).map(of).collect()
    }

    /// Adds what element `local` of the chunk does to a collider.
    #[inline]
    pub fn add(&mut self, local: usize, collider: u32, wrench: Wrench) {
        self.walls[local / BLOCK * self.colliders + collider as usize] += wrench;
    }

    /// Adds the loads on the held elements of the chunk that begins with `first`; `holds` are the driven
    /// clamps at this step.
    pub fn add_held<S: Scalar>(&mut self, first: usize, load: &[Load<S>], holds: &[Hold<S>]) {
        for (held, sum) in &mut self.held {
            let row = &load[held.element as usize - first].0;
            let vector = |at: usize| DVec3::from_array([0, 1, 2].map(|k| row[at + k].to_f64()));
            *sum += held.share(holds, vector(0), vector(4));
        }
    }

    /// Adds what attachments with springs bear, in one order.
    pub fn add_springs(&mut self, borne: Vec<(u32, Wrench)>) {
        for (attachment, wrench) in borne {
            match self.springs.iter_mut().find(|one| one.0 == attachment) {
                Some((_, sum)) => *sum += wrench,
                None => self.springs.push((attachment, wrench)),
            }
        }
    }

    /// What all chunks have added up, by bearer; they begin anew.
    pub fn take(bearers: &Bearers, chunks: &mut [Self]) -> Vec<Wrench> {
        let mut out = vec![Wrench::default(); bearers.count()];
        let nothing = Wrench::default();
        for chunk in chunks {
            for block in chunk.walls.chunks_exact_mut(chunk.colliders.max(1)) {
                for (out, sum) in out.iter_mut().zip(block) {
                    // What was never touched stays out of memory.
                    if *sum != nothing {
                        *out += std::mem::take(sum);
                    }
                }
            }
            for (held, sum) in &mut chunk.held {
                out[bearers.attachment(held.attachment)] += held.borne(std::mem::take(sum));
            }
            for (attachment, sum) in chunk.springs.drain(..) {
                out[bearers.attachment(attachment)] += sum;
            }
        }
        out
    }
}
