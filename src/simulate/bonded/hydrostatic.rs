//! Elements whose mean stress passes the hydrostatic strength of their material lose all their bonds.

use crate::columns::BreakMode;
use crate::laws::hydrostatic::mean_stress;
use crate::math::Scalar;
use crate::simulate::bonded::bond_tasks::BreakEvent;
use crate::simulate::bonded::system::System;
use crate::spec::Pipeline;

/// Hydrostatic strengths.
#[derive(Clone, Debug)]
pub struct Hydrostatic {
    /// Of each material, Pa; infinite where it has none.
    strength: Vec<f64>,
}

impl Hydrostatic {
    /// Of a pipeline in which any material has one.
    pub fn of(pipeline: &Pipeline) -> Option<Self> {
        let of_material = pipeline.materials.iter().map(|m| m.hydrostatic_strength);
        let strength: Vec<f64> = of_material.map(|s| s.unwrap_or(f64::INFINITY)).collect();
        let any = strength.iter().any(|s| s.is_finite());
        any.then_some(Hydrostatic { strength })
    }

    /// Adds the active bonds of the elements of a chunk beyond their strength; `virial` is Σ x_ij·F of each
    /// (N m), `volume` that of all elements.
    pub fn look<S: Scalar>(
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

/// The bonds that break in a step, each once, in order. One beyond several strengths breaks by its own first,
/// then by the more stressed end.
pub fn settle(events: &mut Vec<BreakEvent>) {
    events.sort_unstable_by(|a, b| {
        let key = |event: &BreakEvent| (event.i, event.j, event.mode == BreakMode::Hydrostatic);
        key(a).cmp(&key(b)).then(b.sigma.total_cmp(&a.sigma))
    });
    events.dedup_by_key(|event| (event.i, event.j));
}
