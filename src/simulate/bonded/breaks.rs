//! The record of a broken bond, and the contact distance of its ends.

use glam::DVec3;

use crate::columns::{BreakMode, Breaks};
use crate::math::{Real, Scalar};
use crate::simulate::bonded::bond_tasks::BreakEvent;
use crate::simulate::bonded::bonds::BondSide;
use crate::simulate::bonded::system::System;

/// A bond at the moment of its break: a row of [`Breaks`] without the frame.
#[derive(Clone, Copy, Debug)]
pub struct BrokenBond {
    /// Step in which it breaks.
    pub step: u64,
    /// Time, s.
    pub time: f64,
    /// Id of the bond.
    pub bond: u32,
    /// Elements, stresses and the strength that was exceeded.
    pub event: BreakEvent,
    /// Energy that it released, and took as it softened, J; `None` if it was not computed.
    pub energy: Option<f64>,
    /// Midpoint between the centres, m.
    pub middle: DVec3,
    /// Rest direction of the bond rotated with element i, pointing away from it.
    pub from_i: DVec3,
    /// Rest direction of the bond rotated with element j, pointing away from it.
    pub from_j: DVec3,
}

impl BrokenBond {
    /// Record of a bond that breaks in the current step, with its ends at their present positions.
    pub fn now<S: Scalar>(
        system: &System<S>,
        event: BreakEvent,
        energy: Option<f64>,
        (step, time): (u64, f64),
    ) -> Self {
        let (i, j) = (event.i, event.j);
        let (own, other) = (i as usize, j as usize);
        let entry = event.entry as usize;
        let from_i = BondSide {
            entry,
            other,
            owned: system.bonds.place(entry).0 == own,
        };
        let rest = DVec3::from_array(system.bonds.rest_direction(from_i).to_f64());
        BrokenBond {
            step,
            time,
            bond: system.bonds.id[entry],
            event,
            energy,
            middle: (system.position(own) + system.position(other)) / 2.0,
            from_i: system.rotation(own) * rest,
            from_j: -(system.rotation(other) * rest),
        }
    }

    /// Appends the row; the next [`snapshot`](crate::simulate::run_state::snapshot::snapshot) sets its frame.
    pub fn push(&self, rows: &mut Breaks) {
        rows.frame.push(0);
        rows.time.push(self.time);
        rows.step.push(self.step);
        rows.bond.push(self.bond);
        rows.i.push(self.event.i);
        rows.j.push(self.event.j);
        rows.mode.push(self.event.mode);
        rows.sigma.push(self.event.sigma as f32);
        rows.tau.push(self.event.tau as f32);
        rows.energy.extend(self.energy.map(|energy| energy as f32));
        rows.x.push(self.middle.x as f32);
        rows.y.push(self.middle.y as f32);
        rows.z.push(self.middle.z as f32);
        rows.nix.push(self.from_i.x as f32);
        rows.niy.push(self.from_i.y as f32);
        rows.niz.push(self.from_i.z as f32);
        rows.njx.push(self.from_j.x as f32);
        rows.njy.push(self.from_j.y as f32);
        rows.njz.push(self.from_j.z as f32);
    }
}

impl<S: Scalar> System<S> {
    /// Damages a bond whose strength left is exceeded, if it softens; returns whether it holds.
    pub fn soften(&mut self, event: &BreakEvent) -> bool {
        let entry = event.entry as usize;
        let Some(mut softening) = self.bonds.softening.take() else {
            return false;
        };
        let strengths = [&self.bonds.sigma_c, &self.bonds.tau_c];
        let [sigma_c, tau_c] = strengths.map(|one| one.get(entry).to_f64());
        let used = (event.sigma / sigma_c).max(event.tau / tau_c);
        let strength = softening.left(entry).strength;
        let holds = event.mode != BreakMode::Hydrostatic
            && softening.damage(entry, used / strength, || {
                // Before damage: all but what compression holds.
                self.bond_energy_left(entry, 1.0) - self.bond_energy_left(entry, 0.0)
            });
        self.bonds.softening = Some(softening);
        holds
    }

    /// Contact distance of the ends i and j of a bond after it breaks in their present positions, m: the
    /// longer of its rest length and the sum of the radii, so that a closing crack transmits load at once,
    /// but no more than their present distance, or the overlap stored in a compressed pair would explode.
    pub fn touch_once_broken(&self, (i, j): (u32, u32), entry: u32) -> S {
        let (i, j) = (i as usize, j as usize);
        let rest = self.bonds.length.get(entry as usize);
        let distance = self.position(i).distance(self.position(j));
        let radii = self.tail[i].0[3] + self.tail[j].0[3];
        Real::min(Real::max(rest, radii), S::from_f64(distance))
    }
}
