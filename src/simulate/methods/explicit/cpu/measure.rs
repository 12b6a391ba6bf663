//! What a frame asks for beside the columns: what bonds carry and contacts add up to.

use super::Cpu;
use super::loads::bond_pass;

use crate::parallel::prelude::*;

use crate::math::{Lanes, Scalar};
use crate::simulate::bonded::bond_tasks::{Carried, Carry};
use crate::simulate::contact::pass::{ContactTotals, MeasurePass};
use crate::simulate::contact::wall_list::Walls;

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

    /// What contacts add up to, and how many elements touch each collider.
    pub(super) fn contact_totals(&self) -> (ContactTotals, Vec<u32>) {
        let walls = Walls {
            system: &self.run.system,
            obstacles: &self.obstacles,
            dt: Scalar::from_f64(0.0),
            neared: self.run.contacts.neared(),
        };
        let chunk = self.run.system.chunk;
        let mut energy = vec![0.0; self.run.system.motion.len()];
        let obstacles = self.obstacles.len();
        let parts: Vec<_> = energy
            .par_chunks_mut(chunk)
            .zip(&self.run.contacts.chunks)
            .enumerate()
            .map(|(k, (energy, contacts))| {
                let mut touching = vec![0; obstacles];
                let sides = L::run(MeasurePass {
                    walls,
                    first: k * chunk,
                    energy,
                    touching: &mut touching,
                    contacts,
                });
                (sides, touching)
            })
            .collect();
        let none = (0, vec![0; obstacles]);
        let (sides, touching) = parts
            .into_iter()
            .fold(none, |(a, mut touching), (b, more)| {
                for (all, more) in touching.iter_mut().zip(more) {
                    *all += more;
                }
                (a + b, touching)
            });
        let totals = ContactTotals {
            energy: energy.iter().sum(),
            sides,
        };
        (totals, touching)
    }
}
