//! Bonds that break by the stress of the solid around them instead of their own (Rankine's criterion): where the
//! largest principal value of the mean stress of both ends exceeds the tensile strength, across the bond.
//!
//! The stress of an element follows from the loads of all its bonds. It is evaluated only where a bound that every
//! step computes allows a break.

use std::collections::HashMap;

use crate::columns::BreakMode;
use crate::laws::hydrostatic;
use crate::laws::rankine::{self, SymmetricTensor};
use crate::math::Scalar;
use crate::parallel::prelude::*;
use crate::simulate::bonded::bond_tasks::{BreakEvent, StressAndEnergy};
use crate::simulate::bonded::bonds::BondSide;
use crate::simulate::bonded::column::Column;
use crate::simulate::bonded::owned::OwnedChunks;
use crate::simulate::bonded::rest::RestData;
use crate::simulate::bonded::system::System;
use crate::spec::{Criterion, PackingSpec, Pipeline};

/// Strengths of the bonds that break by Rankine's criterion.
#[derive(Clone, Debug)]
pub struct Rankine<S> {
    /// Tensile strength of each bond by entry, Pa; infinite if another criterion decides.
    strength: Column<S>,
}

/// Stresses of elements at one moment, each evaluated once.
struct Stresses<'a, S> {
    system: &'a System<S>,
    /// Volume that each element represents, m³.
    volume: &'a [f64],
    known: HashMap<usize, SymmetricTensor<f64>>,
}

impl<S: Scalar> Rankine<S> {
    /// Moves the tensile strengths of the bonds that break by this criterion out of the system, where they become
    /// infinite; `None` if there are none. A bond breaks by it if the material of either end requests it; bonds of
    /// shells and yarns do not, as the stress of an element does not include bending, nor do bonds of elements without
    /// volume.
    pub fn of(system: &mut System<S>, pipeline: &Pipeline, rest: &RestData) -> Option<Self> {
        let by_material: Vec<bool> = pipeline
            .materials
            .iter()
            .map(|one| one.criterion == Criterion::Rankine)
            .collect();
        let by_body: Vec<bool> = pipeline
            .bodies
            .iter()
            .map(|one| is_solid(&one.packing))
            .collect();
        let is_of_it = |element: usize| {
            // Packings from other programs may have bodies of their own.
            let of_solid = by_body.get(rest.body[element] as usize);
            of_solid.is_none_or(|&solid| solid) && by_material[system.material[element] as usize]
        };
        let breaks = |i: usize, side: &BondSide| {
            let ends = [i, side.other];
            ends.iter().any(|&end| is_of_it(end))
                && ends.iter().all(|&end| rest.volume[end] > 0.0)
                && system.bonds.sigma_c.get(side.entry).to_f64().is_finite()
        };
        let of_it: Vec<usize> = system
            .bonds
            .entries()
            .filter(|(i, side)| breaks(*i, side))
            .map(|(_, side)| side.entry)
            .collect();
        if of_it.is_empty() {
            return None;
        }
        let (bonds, infinite) = (&mut system.bonds, S::from_f64(f64::INFINITY));
        let entries = bonds.other.len();
        let mut strength = Column::Same(infinite);
        for entry in of_it {
            strength.set(entry, bonds.sigma_c.get(entry), entries);
            bonds.sigma_c.set(entry, infinite, entries);
        }
        Some(Rankine { strength })
    }

    /// Tensile strength of a bond, Pa; infinite if another criterion decides.
    pub fn strength(&self, entry: usize) -> f64 {
        self.strength.get(entry).to_f64()
    }

    /// Adds a break event for each active bond of the chunk's elements that breaks. Both ends of a bond may add it,
    /// with equal bits. `first`: first element of the chunk; `bound`: a number that no principal value of
    /// Σ ½ (x⊗F + F⊗x) of the element exceeds, N m, for each element of the chunk; `volume` lists all elements (m³).
    pub fn find_breaks(
        &self,
        system: &System<S>,
        volume: &[f64],
        first: usize,
        bound: &[S],
        breaks: &mut Vec<BreakEvent>,
    ) {
        let count = system.count.saturating_sub(first);
        let mut stresses = Stresses::new(system, volume);
        for (i, bound) in (first..).zip(bound).take(count) {
            let strengths = system.bonds.active_sides(i);
            let strengths = strengths.map(|side| self.strength(side.entry));
            let least = strengths.fold(f64::INFINITY, f64::min);
            if hydrostatic::stress(bound.to_f64(), volume[i]) <= least {
                continue;
            }
            let own = stresses.of(i);
            if rankine::bound(own) <= least {
                continue;
            }
            // Where the mean of two stresses exceeds the strength, one of them does.
            let (most, _) = rankine::largest_principal(own);
            for side in system.bonds.active_sides(i) {
                let strength = self.strength(side.entry);
                if most <= strength {
                    continue;
                }
                if let Some(sigma) = stresses.sigma_above(strength, (i, side)) {
                    breaks.push(BreakEvent {
                        entry: side.entry as u32,
                        i: i.min(side.other) as u32,
                        j: i.max(side.other) as u32,
                        sigma,
                        tau: system.bond_stress(side.entry)[1],
                        mode: BreakMode::Tension,
                    });
                }
            }
        }
    }

    /// Gives the bonds of this criterion among those that break by their own stress, that is by shear, the σ of the
    /// solid.
    pub fn put_breaking_sigmas(
        &self,
        system: &System<S>,
        volume: &[f64],
        breaks: &mut [BreakEvent],
    ) {
        let mut stresses = Stresses::new(system, volume);
        for event in breaks {
            if self.strength(event.entry as usize).is_finite() {
                let side = BondSide {
                    entry: event.entry as usize,
                    other: event.j as usize,
                    owned: true,
                };
                let sigma = stresses.sigma_above(0.0, (event.i as usize, side));
                event.sigma = sigma.unwrap_or(0.0);
            }
        }
    }

    /// As [`find_breaks`](Self::find_breaks), of all elements, without bounds.
    pub fn find_all_breaks(
        &self,
        system: &System<S>,
        volume: &[f64],
        breaks: &mut Vec<BreakEvent>,
    ) {
        let unbounded = vec![S::from_f64(f64::INFINITY); system.chunk];
        let chunks = (0..system.count.div_ceil(system.chunk)).into_par_iter();
        let found: Vec<Vec<BreakEvent>> = chunks
            .map(|chunk| {
                let mut found = Vec::new();
                let first = chunk * system.chunk;
                self.find_breaks(system, volume, first, &unbounded, &mut found);
                found
            })
            .collect();
        breaks.extend(found.into_iter().flatten());
    }

    /// Replaces σ of elements by the largest over their active bonds: that of the solid across bonds of this criterion,
    /// the bond's own for others. `owned`: the chunks to do this for.
    pub fn put_sigmas(
        &self,
        (system, owned): (&System<S>, &OwnedChunks),
        volume: &[f64],
        carried: &mut [StressAndEnergy],
    ) {
        let elements = system.chunk;
        let chunks = carried.par_chunks_mut(elements).enumerate();
        let own = chunks.filter(|(chunk, _)| owned.contains(*chunk));
        own.for_each(|(chunk, carried)| {
            let mut stresses = Stresses::new(system, volume);
            for (i, carried) in (chunk * elements..).zip(carried) {
                let is_of_it = |side: &BondSide| self.strength(side.entry).is_finite();
                if !system.bonds.active_sides(i).any(|side| is_of_it(&side)) {
                    continue;
                }
                let sides = system.bonds.active_sides(i);
                let sigmas = sides.map(|side| match is_of_it(&side) {
                    true => stresses.sigma_above(0.0, (i, side)).unwrap_or(0.0),
                    false => system.bond_stress(side.entry)[0],
                });
                carried.sigma = sigmas.fold(0.0, f64::max);
            }
        });
    }
}

/// Whether elements of this packing have neighbours on all sides.
fn is_solid(packing: &PackingSpec) -> bool {
    match packing {
        PackingSpec::Hexagonal { .. }
        | PackingSpec::Random { .. }
        | PackingSpec::Loose { .. }
        | PackingSpec::None {}
        | PackingSpec::Voronoi { .. }
        | PackingSpec::Cubic { .. } => true,
        PackingSpec::Shell { .. } | PackingSpec::Twisted { .. } | PackingSpec::Woven { .. } => {
            false
        }
    }
}

impl<'a, S: Scalar> Stresses<'a, S> {
    fn new(system: &'a System<S>, volume: &'a [f64]) -> Self {
        Stresses {
            system,
            volume,
            known: HashMap::new(),
        }
    }

    /// σ of a bond, Pa, if it exceeds `least`.
    fn sigma_above(&mut self, least: f64, (i, side): (usize, BondSide)) -> Option<f64> {
        // The same order from both ends.
        let ends = [i.min(side.other), i.max(side.other)];
        let [a, b] = ends.map(|element| self.of(element));
        let mean = rankine::mean(a, b);
        if rankine::bound(mean) <= least {
            return None;
        }
        let x = self.system.bond_vector(side.entry);
        let sigma = rankine::sigma(mean, x * x.norm().recip());
        (sigma > least).then_some(sigma)
    }

    fn of(&mut self, element: usize) -> SymmetricTensor<f64> {
        let (system, volume) = (self.system, self.volume);
        let new = || system.stress(element, volume[element]);
        *self.known.entry(element).or_insert_with(new)
    }
}

impl<S: Scalar> System<S> {
    /// σ̄ of an element of this volume (m³), Pa, from the loads of its bonds without damping.
    fn stress(&self, element: usize, volume: f64) -> SymmetricTensor<f64> {
        let sides = self.bonds.active_sides(element);
        let virials = sides.map(|side| {
            let (x, force) = self.bond_force(side.entry);
            rankine::virial(-x, force)
        });
        let none = SymmetricTensor::from_array([0.0; 6]);
        rankine::of_element(virials.fold(none, rankine::sum), volume)
    }
}
