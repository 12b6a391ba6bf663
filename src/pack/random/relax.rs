//! Random close packing: soft spheres quenched from random positions.
//!
//! Spheres repel each other in proportion to their overlap and start at a density well above random close
//! packing. They relax to rest (FIRE, Bitzek et al. 2006), then all shrink by a little more than their mean
//! overlap and relax again, until the deepest overlap is small. From above, the jammed packing is reached in
//! hundreds of steps; from below, removing the last overlaps takes tens of thousands.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::cell::{CHUNK, Cell, NearList};

/// Deepest overlap of a finished packing over the smaller radius.
pub(in super::super) const OVERLAP: f64 = 0.9e-3;
/// Deepest overlap over the sum of radii below which the shrinking ends.
const SHALLOW: f64 = 7e-4;
/// Relative shrinking of the radii over the mean overlap. Since spheres also give way, the mean overlap then
/// nearly vanishes: it falls by about 0.63 of the shrinking without them.
const SHRINK: f64 = 1.3;
/// Root mean square force over the mean overlap below which spheres count as at rest.
const REST: f64 = 0.05;
/// Limits that only unusual cells reach: steps between two shrinkings, and number of shrinkings.
const STEPS: usize = 2000;
const SHRINKINGS: usize = 12;
/// Verlet skin over the mean radius: margin of the distances in the neighbour list.
const SKIN: f64 = 0.35;

/// Largest time step of the relaxation; the stiffness of pairs and the mass of spheres are 1.
const LARGEST_STEP: f64 = 0.4;
/// Parameters of FIRE: first step, growth and reduction factors of the step, fraction of the velocity turned
/// towards the force, its decay factor, downhill steps before the step grows.
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
    /// Sums over spheres: force times velocity, force squared, velocity squared.
    power: f64,
    force: f64,
    speed: f64,
    /// Deepest overlap and sum of overlaps, both over the sum of radii; number of overlapping pairs, each
    /// counted twice.
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
    /// Relaxes and shrinks the spheres until no overlap exceeds 1e-3 of the smaller radius.
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

    /// Computes the forces on the spheres; returns the sums over them.
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

    /// Scales all radii by the common factor at which the deepest overlap is the allowed one.
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
