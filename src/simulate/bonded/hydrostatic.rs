//! Elements whose mean stress exceeds the hydrostatic strength of their material lose all their bonds.

use crate::columns::BreakMode;
use crate::laws::hydrostatic::mean_stress;
use crate::math::Scalar;
use crate::simulate::bonded::bond_tasks::BreakEvent;
use crate::simulate::bonded::system::System;
use crate::spec::Pipeline;

/// Hydrostatic strengths.
#[derive(Clone, Debug)]
pub struct Hydrostatic {
    /// Strength of each material, Pa; infinite if it has none.
    strength: Vec<f64>,
}

impl Hydrostatic {
    /// Strengths of a pipeline; `None` if no material has one.
    pub fn of(pipeline: &Pipeline) -> Option<Self> {
        let of_material = pipeline.materials.iter().map(|m| m.hydrostatic_strength);
        let strength: Vec<f64> = of_material.map(|s| s.unwrap_or(f64::INFINITY)).collect();
        let any = strength.iter().any(|s| s.is_finite());
        any.then_some(Hydrostatic { strength })
    }

    /// Adds a break event for each active bond of the chunk's elements beyond their strength. `virial` is Σ
    /// x_ij·F of each element of the chunk (N m); `volume` lists all elements (m³).
    pub fn find_breaks<S: Scalar>(
        &self,
        system: &System<S>,
        volume: &[f64],
        first: usize,
        virial: &[S],
        breaks: &mut Vec<BreakEvent>,
    ) {
        let count = system.count.saturating_sub(first);
        for (i, virial) in (first..).zip(virial).take(count) {
            let stress = mean_stress(virial.to_f64(), volume[i]);
            if stress <= self.strength[system.material[i] as usize] {
                continue;
            }
            breaks.extend(system.bonds.active_sides(i).map(|side| BreakEvent {
                entry: side.entry as u32,
                i: i.min(side.other) as u32,
                j: i.max(side.other) as u32,
                sigma: stress,
                tau: 0.0,
                mode: BreakMode::Hydrostatic,
            }));
        }
    }
}

/// Sorts the break events of a step and keeps one per bond. If a bond exceeds several strengths, its own
/// criterion comes first, tension before shear, then the end with the higher stress. Of bonds that soften
/// (`softens`) the hydrostatic one comes first: they may hold what exceeds their own.
pub fn deduplicate(events: &mut Vec<BreakEvent>, softens: bool) {
    events.sort_unstable_by(|a, b| {
        let is_last = |mode| (mode == BreakMode::Hydrostatic) != softens;
        let key = |event: &BreakEvent| {
            let is_shear = event.mode == BreakMode::Shear;
            (event.i, event.j, is_last(event.mode), is_shear)
        };
        key(a).cmp(&key(b)).then(b.sigma.total_cmp(&a.sigma))
    });
    events.dedup_by_key(|event| (event.i, event.j));
}
