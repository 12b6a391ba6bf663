//! How far bonds soften before they break, from the toughness of their materials.

use std::collections::BTreeMap;

use crate::laws::softening::{
    BondSums, CrackRule, brittle_energy, crack_area, fracture_energy, weakening,
};
use crate::math::Scalar;
use crate::simulate::bonded::softening::Softening;
use crate::simulate::bonded::system::System;
use crate::spec::Pipeline;

/// Lets the bonds of tough materials soften; those that are too long for the toughness get less strength
/// instead. `volume` and `body` are those of the elements.
pub fn soften<S: Scalar>(
    system: &mut System<S>,
    pipeline: &Pipeline,
    (volume, body): (&[f64], &[u32]),
) {
    let energies: Vec<Option<f64>> = pipeline
        .materials
        .iter()
        .map(|one| {
            let toughness = one.toughness?;
            Some(fracture_energy(toughness, one.young, one.poisson_ratio()))
        })
        .collect();
    if energies.iter().all(Option::is_none) {
        return;
    }
    let bodies = body.iter().max().map_or(0, |&last| last as usize + 1);
    let rules: Vec<CrackRule> = (0..bodies).map(|body| pipeline.crack_rule(body)).collect();
    let areas = crack_areas(system, &rules, (volume, body));
    let mut bonds = Vec::new();
    // By body and both materials.
    let mut sums: BTreeMap<(u32, [u32; 2]), BondSums> = BTreeMap::new();
    for (i, side) in system.bonds.entries() {
        let entry = side.entry;
        let strength = system.bonds.sigma_c.get(entry).to_f64();
        let mut materials = [i, side.other].map(|k| system.material[k]);
        materials.sort_unstable();
        // A bond is as brittle as the less tough of its ends.
        let energy = materials
            .map(|one| energies[one as usize])
            .into_iter()
            .reduce(|a, b| Some(a?.min(b?)));
        let (Some(Some(energy)), true) = (energy, strength > 0.0 && strength.is_finite()) else {
            continue;
        };
        let section = section(system, entry);
        let length = system.bonds.length.get(entry).to_f64();
        let class = &system.classes[system.bonds.class.get(entry) as usize];
        let held = brittle_energy(strength, section, class.es.to_f64() / length);
        let key = (body[i], materials);
        sums.entry(key).or_default().add(section, length, held);
        let ends = [i, side.other].map(|k| areas[body[k] as usize]);
        let fracture = energy * (ends[0] + ends[1]) / 2.0;
        bonds.push((entry, key, (fracture, section, held)));
    }
    let entries = system.bonds.other.len();
    let mut taken = vec![0.0; entries];
    for (entry, key, (fracture, section, held)) in bonds {
        let rule = rules[key.0 as usize];
        taken[entry] = sums[&key].energy(rule, fracture, section, held);
        let factor = weakening(taken[entry] / held);
        if factor < 1.0 {
            let bonds = &mut system.bonds;
            for strengths in [&mut bonds.sigma_c, &mut bonds.tau_c] {
                let weaker = strengths.get(entry).to_f64() * factor;
                strengths.set(entry, S::from_f64(weaker), entries);
            }
        }
    }
    system.bonds.softening = Some(Softening::new(taken.into_iter().map(S::from_f64).collect()));
}

/// A of [`softening`](crate::laws::softening) of each body.
fn crack_areas<S: Scalar>(
    system: &System<S>,
    rules: &[CrackRule],
    (volume, body): (&[f64], &[u32]),
) -> Vec<f64> {
    let (mut volumes, mut bonds) = (vec![0.0; rules.len()], vec![0.0; rules.len()]);
    for (&volume, &body) in volume.iter().zip(body) {
        volumes[body as usize] += volume;
    }
    for (i, side) in system.bonds.entries() {
        let half = section(system, side.entry) * system.bonds.length.get(side.entry).to_f64() / 2.0;
        for k in [i, side.other] {
            bonds[body[k] as usize] += half;
        }
    }
    let sums = volumes.into_iter().zip(bonds).zip(rules);
    sums.map(|((volume, bonds), rule)| crack_area(volume, bonds, rule.excess))
        .collect()
}

/// Section of a bond, m².
fn section<S: Scalar>(system: &System<S>, entry: usize) -> f64 {
    let class = &system.classes[system.bonds.class.get(entry) as usize];
    class.section.inverse_area.to_f64().recip()
}
