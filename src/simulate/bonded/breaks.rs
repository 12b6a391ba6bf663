//! A bond that breaks: what is recorded of it, and how it leaves the system.

use glam::DVec3;

use crate::columns::Breaks;
use crate::math::{Real, Scalar};
use crate::simulate::bonded::bond_tasks::BreakEvent;
use crate::simulate::bonded::bonds::Side;
use crate::simulate::bonded::system::System;

/// A bond at the moment at which it breaks: a row of [`Breaks`] but for the frame.
#[derive(Clone, Copy, Debug)]
pub struct Broken {
    /// Step in which it breaks.
    pub step: u64,
    /// Time, s.
    pub time: f64,
    /// Its id.
    pub bond: u32,
    /// Elements, stresses and the strength that was passed.
    pub event: BreakEvent,
    /// Middle between the centres, m.
    pub middle: DVec3,
    /// Rest direction of the bond turned with element i, pointing out of it.
    pub from_i: DVec3,
    /// The same turned with element j, pointing out of it.
    pub from_j: DVec3,
}

impl Broken {
    /// The bond of an event of this very step, where its ends are now.
    pub fn now<S: Scalar>(system: &System<S>, event: BreakEvent, (step, time): (u64, f64)) -> Self {
        let (i, j) = (event.i, event.j);
        let (own, other) = (i as usize, j as usize);
        let entry = event.entry as usize;
        let from_i = Side {
            entry,
            other,
            owned: system.bonds.place(entry).0 == own,
        };
        let rest = DVec3::from_array(system.bonds.rest_direction(from_i).to_f64());
        Broken {
            step,
            time,
            bond: system.bonds.id[entry],
            event,
            middle: (system.position(own) + system.position(other)) / 2.0,
            from_i: system.rotation(own) * rest,
            from_j: -(system.rotation(other) * rest),
        }
    }

    /// Adds the row; its frame is that of the next [`snapshot`](crate::simulate::run_state::snapshot::snapshot).
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
    /// Distance at which the ends i and j of a bond touch once it breaks where they are now, m: its length at
    /// rest or the sum of the radii, whichever is longer, so that a crack that closes bears at once; but no
    /// more than they are apart, or the overlap stored in a compressed pair would explode.
    pub fn touch_once_broken(&self, (i, j): (u32, u32), entry: u32) -> S {
        let (i, j) = (i as usize, j as usize);
        let rest = self.bonds.length.get(entry as usize);
        let distance = self.position(i).distance(self.position(j));
        let radii = self.tail[i].0[3] + self.tail[j].0[3];
        Real::min(Real::max(rest, radii), S::from_f64(distance))
    }
}
