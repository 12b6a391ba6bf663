//! What a frame asks for beside the columns: what bonds carry.

use super::Cpu;
use super::loads::bond_pass;

use crate::parallel::prelude::*;

use crate::math::Lanes;
use crate::simulate::bonded::bond_tasks::{Carried, Carry};

impl<L: Lanes> Cpu<L> {
    /// What the bonds of every element carry, from where the elements are.
    pub(super) fn carried(&self) -> Vec<Carried> {
        let system = &self.run.system;
        let mut carried = vec![Carried::default(); system.count];
        carried
            .par_chunks_mut(system.chunk)
            .zip(&self.borders)
            .enumerate()
            .for_each(|(chunk, (carried, border))| {
                let place = (chunk * system.chunk, &self.scratch[..]);
                bond_pass::<L, _>(system, border, place, Carry { carried });
            });
        carried
    }
}
