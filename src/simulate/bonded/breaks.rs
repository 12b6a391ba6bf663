//! The record of a broken bond, and the contact distance of its ends.

use glam::DVec3;

use crate::columns::{BreakMode, Breaks};
use crate::math::{Real, Scalar, Vec3};
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

/// What a break needs of its bond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BondBeforeBreak<S> {
    /// Id in the packing.
    pub id: u32,
    /// Rest direction, pointing away from element i.
    pub from_i: [S; 3],
    /// Rest length, m.
    pub length: S,
}

/// A bond that breaks, with the energy that it stores: what a rank tells of a bond that it holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BreakingBond<S> {
    /// Entry.
    pub entry: u32,
    /// The bond.
    pub bond: BondBeforeBreak<S>,
    /// Energy that it stores, J.
    pub energy: f64,
}

impl<S: Scalar> BondBeforeBreak<S> {
    /// The bond of an event, which must be held here.
    pub fn of(system: &System<S>, event: &BreakEvent) -> Self {
        let entry = event.entry as usize;
        debug_assert!(system.bonds.holds(entry), "its row is zero");
        let from_i = BondSide {
            entry,
            other: event.j as usize,
            owned: system.bonds.place(entry).0 == event.i as usize,
        };
        let Vec3 { x, y, z } = system.bonds.rest_direction(from_i);
        BondBeforeBreak {
            id: system.bonds.id[entry],
            from_i: [x, y, z],
            length: system.bonds.length.get(entry),
        }
    }
}

/// Broken bonds of an element.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Zeroable)]
pub struct BrokenSides {
    /// Their number.
    pub bonds: u32,
    /// Sum of their cross-sections, m².
    pub area: f64,
}

impl BrokenBond {
    /// Record of a bond that breaks in the current step, with its ends at their present positions. `energy` is that
    /// which it releases, and took as it softened, J.
    pub fn now<S: Scalar>(
        system: &System<S>,
        event: BreakEvent,
        (bond, energy): (&BondBeforeBreak<S>, Option<f64>),
        (step, time): (u64, f64),
    ) -> Self {
        let (own, other) = (event.i as usize, event.j as usize);
        let rest = DVec3::from_array(bond.from_i.map(Scalar::to_f64));
        BrokenBond {
            step,
            time,
            bond: bond.id,
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

    /// Broken bonds of an element, of those held here.
    pub fn broken_sides(&self, element: usize) -> BrokenSides {
        let (bonds, mut broken) = (&self.bonds, BrokenSides::default());
        if bonds.touch.is_empty() {
            return broken;
        }
        let sides = bonds.sides(element);
        for side in sides.filter(|side| !bonds.is_intact(side.entry)) {
            let class = &self.classes[bonds.class.get(side.entry) as usize];
            broken.bonds += 1;
            broken.area += 1.0 / class.section.inverse_area.to_f64();
        }
        broken
    }

    /// Contact distance of the ends i and j of a bond after it breaks in their present positions, m: the
    /// longer of its rest length and the sum of the radii, so that a closing crack transmits load at once,
    /// but no more than their present distance, or the overlap stored in a compressed pair would explode.
    pub fn touch_once_broken(&self, ends: (u32, u32), entry: u32) -> S {
        self.touch_of_length(ends, self.bonds.length.get(entry as usize))
    }

    /// As [`touch_once_broken`](Self::touch_once_broken), of a bond of this rest length, m.
    pub fn touch_of_length(&self, (i, j): (u32, u32), rest: S) -> S {
        let (i, j) = (i as usize, j as usize);
        let distance = self.position(i).distance(self.position(j));
        let radii = self.tail[i].0[3] + self.tail[j].0[3];
        Real::min(Real::max(rest, radii), S::from_f64(distance))
    }
}
