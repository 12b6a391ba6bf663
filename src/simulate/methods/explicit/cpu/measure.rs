//! Loads of bonds that a frame records in addition to the columns of elements.

use super::Cpu;
use super::loads::bond_pass;

use crate::parallel::prelude::*;

use crate::math::Lanes;
use crate::simulate::bonded::bond_tasks::{StressAndEnergy, StressTask};

impl<L: Lanes> Cpu<L> {
    /// Stresses and energies of the bonds of every element, computed from the current motion.
    pub(super) fn carried(&self) -> Vec<StressAndEnergy> {
        let system = &self.run.system;
        let mut carried = vec![StressAndEnergy::default(); system.count];
        carried
            .par_chunks_mut(system.chunk)
            .zip(&self.borders)
            .enumerate()
            .for_each(|(chunk, (carried, border))| {
                if self
                    .sleep
                    .as_ref()
                    .is_some_and(|sleep| sleep.is_quiet(chunk))
                {
                    return;
                }
                let place = (chunk * system.chunk, &self.scratch[..]);
                bond_pass::<L, _>(system, border, place, StressTask { carried });
            });
        let pieces = self.sleep.iter().flat_map(|sleep| &sleep.pieces);
        for piece in pieces {
            for (&element, own) in piece.elements.iter().zip(&piece.carried) {
                carried[element as usize] = *own;
            }
        }
        carried
    }
}
