//! Random close packing: soft spheres quenched from places drawn at random.
//!
//! Spheres that push each other apart by the depth of their overlap start dense enough to be jammed well
//! above the random close packing. They come to rest (FIRE, Bitzek et al. 2006), then shrink together by a
//! little more than their mean overlap and come to rest again, until the deepest overlap is small. From
//! above, the jammed packing is reached in hundreds of steps; from below, the last overlaps take tens of
//! thousands.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::cell::{CHUNK, Cell, NearList};

/// Deepest overlap that a packing is left with, over the smaller radius.
pub(in super::super) const OVERLAP: f64 = 0.9e-3;
/// Deepest overlap over the sum of radii at which the shrinking ends.
const SHALLOW: f64 = 7e-4;
/// What radii shrink by at a time, over the mean overlap. Spheres that yield make the mean overlap fall by
/// about 0.63 of it, so little is left.
const SHRINK: f64 = 1.3;
/// Forces (root mean square) over the mean overlap at which spheres are at rest.
const REST: f64 = 0.05;
/// Limits that only strange cells reach: steps between two shrinkings, and shrinkings.
const STEPS: usize = 2000;
const SHRINKINGS: usize = 12;
/// Over the mean radius: how far apart spheres in the list of pairs may be.
const SKIN: f64 = 0.35;

/// Largest step of the relaxation; pairs have stiffness and spheres mass 1.
const LARGEST_STEP: f64 = 0.4;
/// First step, growth and shrinking of the step, part of the velocity turned towards the force and its decay,
/// steps downhill before they grow.
const FIRE: (f64, f64, f64, f64, f64, u32) = (0.1, 1.1, 0.5, 0.25, 0.99, 5);

/// Soft spheres in a periodic cell.
pub(super) struct Spheres {
    pub cell: Cell,
    pub places: Vec<DVec3>,
    pub radii: Vec<f64>,
}

/// Sums over pairs and spheres.
#[derive(Clone, Copy, Default)]
struct Sums {
    /// Force times velocity, force squared, velocity squared.
    power: f64,
    force: f64,
    speed: f64,
    /// Deepest overlap, and all added, over the sums of radii; overlapping pairs, each twice.
    deepest: f64,
    overlap: f64,
    pairs: f64,
}

impl Sums {
    fn add(self, other: Sums) -> Sums {
        Sums {
            power: self.power + other.power,
            force: self.force + other.force,
            speed: self.speed + other.speed,
            deepest: self.deepest.max(other.deepest),
            overlap: self.overlap + other.overlap,
            pairs: self.pairs + other.pairs,
        }
    }
}

impl Spheres {
    /// Lets the spheres push each other apart and shrinks them until none overlaps another by 1e-3 of the
    /// smaller radius.
    pub fn pack(&mut self) {
        let count = self.places.len();
        let skin = SKIN * self.radii.iter().sum::<f64>() / count as f64;
        let mut list = NearList::new(self.cell, &self.places, &self.radii, 1.0, skin);
        let mut anchors = self.places.clone();
        let mut forces = vec![DVec3::ZERO; count];
        let mut speeds = vec![DVec3::ZERO; count];
        let (first, growth, cut, turn, decay, patience) = FIRE;
        let (mut step, mut part, mut downhill) = (first, turn, 0);
        let (mut shrinkings, mut steps) = (0, 0);
        loop {
            let mut sums = self.push(&list, &speeds, &mut forces);
            let mean = sums.overlap / sums.pairs.max(1.0);
            let at_rest = (sums.force / count as f64).sqrt() < REST * mean || steps >= STEPS;
            let shallow = sums.deepest < SHALLOW;
            if shallow && (at_rest || shrinkings > 0) || at_rest && shrinkings == SHRINKINGS {
                break;
            }
            if at_rest {
                for radius in &mut self.radii {
                    *radius *= 1.0 - SHRINK * mean;
                }
                speeds.fill(DVec3::ZERO);
                (part, downhill, steps) = (turn, 0, 0);
                shrinkings += 1;
                continue;
            }
            steps += 1;
            if sums.power > 0.0 {
                downhill += 1;
                if downhill > patience {
                    step = (step * growth).min(LARGEST_STEP);
                    part *= decay;
                }
            } else if sums.speed > 0.0 {
                speeds.fill(DVec3::ZERO);
                sums.speed = 0.0;
                (step, part, downhill) = (step * cut, turn, 0);
            }
            let along = part * (sums.speed / sums.force.max(f64::MIN_POSITIVE)).sqrt();
            let farthest = self
                .places
                .par_chunks_mut(CHUNK)
                .zip(speeds.par_chunks_mut(CHUNK))
                .zip(forces.par_chunks(CHUNK).zip(anchors.par_chunks(CHUNK)))
                .map(|((places, speeds), (forces, anchors))| {
                    let mut farthest = 0.0_f64;
                    for ((p, v), (f, anchor)) in places
                        .iter_mut()
                        .zip(speeds)
                        .zip(forces.iter().zip(anchors))
                    {
                        *v = (1.0 - part) * *v + (along + step) * *f;
                        *p += step * *v;
                        farthest = farthest.max(p.distance_squared(*anchor));
                    }
                    farthest
                })
                .reduce(|| 0.0, f64::max);
            if farthest.sqrt() > 0.5 * skin {
                for p in &mut self.places {
                    *p = self.cell.wrapped(*p);
                }
                list = NearList::new(self.cell, &self.places, &self.radii, 1.0, skin);
                anchors.clone_from(&self.places);
            }
        }
        for p in &mut self.places {
            *p = self.cell.wrapped(*p);
        }
        self.touch(&list);
    }

    /// Forces on the spheres.
    fn push(&self, list: &NearList, speeds: &[DVec3], forces: &mut [DVec3]) -> Sums {
        let parts: Vec<Sums> = forces
            .par_chunks_mut(CHUNK)
            .enumerate()
            .map(|(chunk, forces)| {
                let mut sums = Sums::default();
                for (i, force) in (chunk * CHUNK..).zip(forces) {
                    let (p, r) = (self.places[i], self.radii[i]);
                    let mut f = DVec3::ZERO;
                    for &j in list.of(i) {
                        let touch = r + self.radii[j as usize];
                        let d = self.cell.between(p, self.places[j as usize]);
                        let squared = d.length_squared();
                        if squared < touch * touch {
                            let distance = squared.sqrt();
                            let depth = touch - distance;
                            f += d * (depth / distance.max(f64::MIN_POSITIVE));
                            sums.deepest = sums.deepest.max(depth / touch);
                            sums.overlap += depth / touch;
                            sums.pairs += 1.0;
                        }
                    }
                    *force = f;
                    sums.power += f.dot(speeds[i]);
                    sums.force += f.length_squared();
                    sums.speed += speeds[i].length_squared();
                }
                sums
            })
            .collect();
        parts.into_iter().fold(Sums::default(), Sums::add)
    }

    /// Gives the radii the common factor at which the deepest overlap is the one allowed.
    fn touch(&mut self, list: &NearList) {
        let factor = (0..self.places.len())
            .into_par_iter()
            .map(|i| {
                let r = self.radii[i];
                let factors = list.of(i).iter().map(|&j| {
                    let other = self.radii[j as usize];
                    let d = self.cell.between(self.places[i], self.places[j as usize]);
                    d.length() / (r + other - OVERLAP * r.min(other))
                });
                factors.fold(f64::INFINITY, f64::min)
            })
            .reduce(|| f64::INFINITY, f64::min);
        for radius in &mut self.radii {
            *radius *= factor;
        }
    }
}
