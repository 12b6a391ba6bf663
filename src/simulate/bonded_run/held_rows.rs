//! The rows of elements that a rank of several holds.

use super::run::BondedRun;
use crate::math::Scalar;

impl<S: Scalar> BondedRun<S> {
    /// Drops the rows of other ranks' elements. Those of ghosts are received again. Rank 0 keeps the labels of
    /// fragments. Nothing is dropped where all bonds are held.
    pub(super) fn hold_rows(&mut self) {
        if self.system.bonds.holds_all() || self.ranks.count() == 1 {
            return;
        }
        self.release_rows();
        let (owned, chunk) = (self.ranks.owned(), self.system.chunk);
        self.load = owned.keep(&self.load, chunk);
        if !self.ranks.is_first() {
            self.labels = Vec::new();
        }
        self.rest.mass = owned.keep(&self.rest.mass, chunk);
        self.rest.volume = owned.keep(&self.rest.volume, chunk);
        self.rest.body = owned.keep(&self.rest.body, chunk);
        self.rest.inverse_mass = owned.keep(&self.rest.inverse_mass, chunk);
        self.rest.inverse_inertia = owned.keep(&self.rest.inverse_inertia, chunk);
    }

    /// Drops the motion of other ranks' elements: of ghosts, which are received again, and of those that were near or
    /// at a break, which would gather over the run.
    pub(super) fn release_rows(&mut self) {
        if !self.system.bonds.holds_all() && self.ranks.count() > 1 {
            let (owned, chunk) = (self.ranks.owned(), self.system.chunk);
            self.system.motion = owned.keep(&self.system.motion, chunk);
            self.system.tail = owned.keep(&self.system.tail, chunk);
        }
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
