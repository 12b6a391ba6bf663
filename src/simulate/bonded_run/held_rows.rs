//! The rows of elements that a rank of several holds.

use bytemuck::Zeroable;

use super::run::BondedRun;
use crate::math::Scalar;
use crate::simulate::bonded::owned::OwnedChunks;

impl<S: Scalar> BondedRun<S> {
    /// Drops the rows of other ranks' elements, at all ranks but 0, which records them. Those of ghosts are received
    /// again. Nothing is dropped where all bonds are held.
    pub(super) fn hold_rows(&mut self) {
        if self.ranks.is_first() || self.system.bonds.holds_all() {
            return;
        }
        self.labels = Vec::new();
        let own = OwnRows {
            owned: self.ranks.owned(),
            chunk: self.system.chunk,
        };
        own.keep(&mut self.system.motion);
        own.keep(&mut self.system.tail);
        own.keep(&mut self.load);
        own.keep(&mut self.rest.mass);
        own.keep(&mut self.rest.volume);
        own.keep(&mut self.rest.body);
        own.keep(&mut self.rest.inverse_mass);
        own.keep(&mut self.rest.inverse_inertia);
    }

    /// Sends the rows of chunks that move to their new owners.
    pub(super) fn move_rows(&mut self, owner: &[u32]) {
        let (ranks, rest) = (&self.ranks, &mut self.rest);
        ranks.move_records(owner, &mut self.system.motion);
        ranks.move_records(owner, &mut self.system.tail);
        ranks.move_records(owner, &mut self.load);
        if self.system.bonds.holds_all() {
            return;
        }
        ranks.move_records(owner, &mut rest.mass);
        ranks.move_records(owner, &mut rest.volume);
        ranks.move_records(owner, &mut rest.body);
        ranks.move_records(owner, &mut rest.inverse_mass);
        ranks.move_records(owner, &mut rest.inverse_inertia);
    }
}

/// The rows of the chunks that a rank owns.
struct OwnRows {
    owned: OwnedChunks,
    chunk: usize,
}

impl OwnRows {
    /// Keeps these rows alone. The others become zero; they take no memory until they are written.
    fn keep<T: Copy + Zeroable>(&self, rows: &mut Vec<T>) {
        let mut own: Vec<T> = bytemuck::zeroed_vec(rows.len());
        let chunks = own.chunks_mut(self.chunk).zip(rows.chunks(self.chunk));
        for (at, (to, from)) in chunks.enumerate() {
            if self.owned.contains(at) {
                to.copy_from_slice(from);
            }
        }
        *rows = own;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_other_chunks_become_zero() {
        let own = OwnRows {
            owned: OwnedChunks::new(vec![false, true, false, true]),
            chunk: 4,
        };
        let mut rows: Vec<u32> = (1..=14).collect();
        own.keep(&mut rows);
        assert_eq!(rows, [0, 0, 0, 0, 5, 6, 7, 8, 0, 0, 0, 0, 13, 14]);
    }
}
