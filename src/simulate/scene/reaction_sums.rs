//! Wrenches of a chunk's elements on colliders and clamps, summed over steps.
//!
//! Sums on colliders are kept for each [`BLOCK`] elements, sums on clamps for each element. Chunk sizes are
//! multiples of [`BLOCK`], so neither they nor the order of threads change a bit. Pairs that do not touch add
//! nothing.

use glam::DVec3;

use crate::math::Scalar;
use crate::simulate::bonded::bonds::BLOCK;
use crate::simulate::bonded::system::LoadRow;
use crate::simulate::scene::clamps::RigidPose;
use crate::simulate::scene::reactions::{ClampedElement, Supports, Wrench};

/// Sums of one chunk of elements: forces (N) and torques (N m) times steps.
#[derive(Clone, Debug)]
pub struct ReactionSums {
    colliders: usize,
    /// Wrenches on colliders: for each block of elements, one per collider.
    on_colliders: Vec<Wrench>,
    on_clamped: Vec<(ClampedElement, Wrench)>,
    /// Spring attachments and the wrenches on them; the first chunk holds those of all elements.
    springs: Vec<(u32, Wrench)>,
}

impl ReactionSums {
    /// Zero sums for all chunks of `chunk` elements; `padded` is the number of element rows.
    pub fn all(supports: &Supports, padded: usize, chunk: usize) -> Vec<Self> {
        let colliders = supports.colliders().len();
        let of = |first: usize| {
            let held = supports.held().iter();
            let held = held.filter(|h| (first..first + chunk).contains(&(h.element as usize)));
            ReactionSums {
                colliders,
                on_colliders: vec![Wrench::default(); chunk.div_ceil(BLOCK) * colliders],
                on_clamped: held.map(|held| (*held, Wrench::default())).collect(),
                springs: Vec::new(),
            }
        };
        (0..padded).step_by(chunk).map(of).collect()
    }

    /// Adds the wrench of element `local` of the chunk on a collider.
    #[inline]
    pub fn add(&mut self, local: usize, collider: u32, wrench: Wrench) {
        self.on_colliders[local / BLOCK * self.colliders + collider as usize] += wrench;
    }

    /// Adds the loads on the clamped elements of the chunk, whose first element is `first`; `poses` are those
    /// of the driven clamps in this step.
    pub fn add_held<S: Scalar>(
        &mut self,
        first: usize,
        load: &[LoadRow<S>],
        poses: &[RigidPose<S>],
    ) {
        for (held, sum) in &mut self.on_clamped {
            let row = &load[held.element as usize - first].0;
            let vector = |at: usize| DVec3::from_array([0, 1, 2].map(|k| row[at + k].to_f64()));
            *sum += held.share(poses, vector(0), vector(4));
        }
    }

    /// Adds the wrenches on spring attachments, always in the same order.
    pub fn add_springs(&mut self, wrenches: Vec<(u32, Wrench)>) {
        for (attachment, wrench) in wrenches {
            match self.springs.iter_mut().find(|one| one.0 == attachment) {
                Some((_, sum)) => *sum += wrench,
                None => self.springs.push((attachment, wrench)),
            }
        }
    }

    /// Calls `act` for each sum on a collider or a clamp, always in the same order.
    pub fn each(&mut self, act: &mut dyn FnMut(&mut Wrench)) {
        let on_clamped = self.on_clamped.iter_mut().map(|(_, sum)| sum);
        self.on_colliders.iter_mut().chain(on_clamped).for_each(act);
    }

    /// Total over all chunks, one wrench per support; the sums are reset to zero.
    pub fn take(supports: &Supports, chunks: &mut [Self]) -> Vec<Wrench> {
        let mut out = vec![Wrench::default(); supports.count()];
        let zero = Wrench::default();
        for chunk in chunks {
            for block in chunk.on_colliders.chunks_exact_mut(chunk.colliders.max(1)) {
                for (out, sum) in out.iter_mut().zip(block) {
                    // Zero sums are not written, so their pages stay unallocated.
                    if *sum != zero {
                        *out += std::mem::take(sum);
                    }
                }
            }
            for (held, sum) in &mut chunk.on_clamped {
                out[supports.attachment(held.attachment)] += held.clamp_wrench(std::mem::take(sum));
            }
            for (attachment, sum) in chunk.springs.drain(..) {
                out[supports.attachment(attachment)] += sum;
            }
        }
        out
    }
}
