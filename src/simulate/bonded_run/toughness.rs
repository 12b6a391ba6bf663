//! How far bonds soften before they break, from the toughness of their materials.

use std::collections::BTreeMap;

use crate::laws::softening::{BondSums, brittle_energy, crack_area, fracture_energy, weakening};
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
    let areas = crack_areas(system, pipeline, (volume, body));
    // A bond is as brittle as the less tough of its ends.
    let material = |ends: [usize; 2]| {
        let [a, b] = ends.map(|k| system.material[k] as usize);
        match (energies[a], energies[b]) {
            (Some(x), Some(y)) => Some(if x <= y { a } else { b }),
            _ => None,
        }
    };
    let mut bonds = Vec::new();
    let mut sums: BTreeMap<(u32, usize), BondSums> = BTreeMap::new();
    for (i, side) in system.bonds.entries() {
        let entry = side.entry;
        let strength = system.bonds.sigma_c.get(entry).to_f64();
        let Some(material) = material([i, side.other]) else {
            continue;
        };
        if !(strength > 0.0 && strength.is_finite()) {
            continue;
        }
        let section = section(system, entry);
        let length = system.bonds.length.get(entry).to_f64();
        let class = &system.classes[system.bonds.class.get(entry) as usize];
        let held = brittle_energy(strength, section, class.es.to_f64() / length);
        let key = (body[i], material);
        sums.entry(key).or_default().add(section, length, held);
        bonds.push((entry, key, section, held));
    }
    let entries = system.bonds.other.len();
    let mut taken = vec![0.0; entries];
    for (entry, key, section, held) in bonds {
        let (body, material) = (key.0 as usize, key.1);
        let energy = energies[material].expect("a tough material");
        let (rule, fracture) = (pipeline.crack_rule(body), energy * areas[body]);
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

/// Area of crack of each body over the section of its bonds.
fn crack_areas<S: Scalar>(
    system: &System<S>,
    pipeline: &Pipeline,
    (volume, body): (&[f64], &[u32]),
) -> Vec<f64> {
    let bodies = body.iter().max().map_or(0, |&last| last as usize + 1);
    let (mut volumes, mut bonds) = (vec![0.0; bodies], vec![0.0; bodies]);
    for (&volume, &body) in volume.iter().zip(body) {
        volumes[body as usize] += volume;
    }
    for (i, side) in system.bonds.entries() {
        let half = section(system, side.entry) * system.bonds.length.get(side.entry).to_f64() / 2.0;
        for k in [i, side.other] {
            bonds[body[k] as usize] += half;
        }
    }
    let sums = volumes.into_iter().zip(bonds).enumerate();
    sums.map(|(body, (volume, bonds))| crack_area(volume, bonds, pipeline.crack_rule(body).excess))
        .collect()
}

/// Section of a bond, m².
fn section<S: Scalar>(system: &System<S>, entry: usize) -> f64 {
    let class = &system.classes[system.bonds.class.get(entry) as usize];
    class.section.inverse_area.to_f64().recip()
}
