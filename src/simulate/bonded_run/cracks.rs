//! Cracks that bodies have from the start: bonds without any strength are broken before the first step.

use crate::columns::{BreakMode, Breaks};
use crate::math::Scalar;
use crate::simulate::bonded::bond_tasks::BreakEvent;
use crate::simulate::bonded::breaks::{BondBeforeBreak, BrokenBond};
use crate::simulate::bonded::system::System;
use crate::simulate::share::ranks::{Ranks, Receivers};

/// Breaks the bonds that have neither tensile nor shear strength, and lets their ends touch. Returns the rows of those
/// of all ranks at rank 0, for the first frame.
pub fn open<S: Scalar>(system: &mut System<S>, ranks: &Ranks) -> Breaks {
    let bonds = &system.bonds;
    let is_weak = |entry: usize| {
        let strengths = [&bonds.sigma_c, &bonds.tau_c];
        strengths.iter().all(|one| one.get(entry).to_f64() == 0.0) && bonds.is_active(entry)
    };
    let weak = bonds.entries().filter(|(_, side)| is_weak(side.entry));
    let mut events: Vec<BreakEvent> = weak
        .map(|(owner, side)| BreakEvent {
            entry: side.entry as u32,
            i: owner.min(side.other) as u32,
            j: owner.max(side.other) as u32,
            sigma: 0.0,
            tau: 0.0,
            mode: BreakMode::Tension,
        })
        .collect();
    events.sort_unstable_by_key(|event| system.bonds.id[event.entry as usize]);
    let owned = ranks.owned();
    let mut own = Vec::new();
    for event in events {
        let bond = BondBeforeBreak::of(system, &event);
        // Two ranks may hold a bond: that of its first element records it.
        if owned.contains(event.i as usize / system.chunk) {
            own.push(BrokenBond::now(system, event, (&bond, Some(0.0)), (0, 0.0)));
        }
        let ends = (event.i, event.j);
        let touch = system.touch_once_broken(ends, event.entry);
        system.bonds.unbond(event.entry as usize, touch);
    }
    let mut all = ranks.concatenate(Receivers::First, own);
    all.sort_unstable_by_key(|broken| broken.bond);
    let mut opened = Breaks::default();
    all.iter().for_each(|broken| broken.push(&mut opened));
    opened
}
