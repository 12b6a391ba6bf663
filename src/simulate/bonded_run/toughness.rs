//! How far bonds soften before they break, from the toughness of their materials.

use crate::laws::softening::{crack_area, fracture_energy, weakening};
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
    let bonds = &system.bonds;
    let entries = bonds.other.len();
    let (mut taken, mut weakened) = (vec![0.0; entries], Vec::new());
    for (i, side) in bonds.entries() {
        let (entry, ends) = (side.entry, [i, side.other]);
        // A bond is as brittle as the less tough of its ends.
        let energy = ends
            .map(|k| energies[system.material[k] as usize])
            .into_iter()
            .reduce(|a, b| Some(a?.min(b?)));
        let strength = bonds.sigma_c.get(entry).to_f64();
        let (Some(Some(energy)), true) = (energy, strength.is_finite()) else {
            continue;
        };
        let class = &system.classes[bonds.class.get(entry) as usize];
        let section = section(system, entry);
        let normal = class.es.to_f64() / bonds.length.get(entry).to_f64();
        let part = ends.map(|k| areas[body[k] as usize]).iter().sum::<f64>() / 2.0;
        let area = part * section;
        taken[entry] = energy * area;
        let factor = weakening(energy * area, strength, section, normal);
        if factor < 1.0 {
            weakened.push((entry, factor));
        }
    }
    for (entry, factor) in weakened {
        let bonds = &mut system.bonds;
        for strengths in [&mut bonds.sigma_c, &mut bonds.tau_c] {
            let weaker = strengths.get(entry).to_f64() * factor;
            strengths.set(entry, S::from_f64(weaker), entries);
        }
    }
    system.bonds.softening = Some(Softening::new(taken.into_iter().map(S::from_f64).collect()));
}

/// Area of crack for which a bond of each body stands, over its section.
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
    sums.map(|(body, (volume, bonds))| crack_area(volume, bonds, pipeline.crack_excess(body)))
        .collect()
}

/// Section of a bond, m².
fn section<S: Scalar>(system: &System<S>, entry: usize) -> f64 {
    let class = &system.classes[system.bonds.class.get(entry) as usize];
    class.section.inverse_area.to_f64().recip()
}
