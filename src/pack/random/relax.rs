//! Random close packing: soft spheres quenched from random positions.
//!
//! Spheres repel each other in proportion to their overlap and start at a density well above random close
//! packing. They relax to rest (FIRE, Bitzek et al. 2006), then all shrink by a little more than their mean
//! overlap and relax again, until the deepest overlap is small. From above, the jammed packing is reached in
//! hundreds of steps; from below, removing the last overlaps takes tens of thousands.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::cell::{CHUNK, NeighbourList, PeriodicCell};

/// Deepest overlap of a finished packing over the smaller radius.
pub(in super::super) const MAX_OVERLAP: f64 = 0.9e-3;
/// Deepest overlap over the sum of radii below which the shrinking ends.
const TARGET_OVERLAP: f64 = 7e-4;
/// Relative shrinking of the radii over the mean overlap. Since spheres also move, the mean overlap falls by
/// only about 0.63 of the shrinking, so that little of it remains.
const SHRINK_FACTOR: f64 = 1.3;
/// Root mean square force over the mean overlap below which spheres count as at rest.
const REST_FORCE: f64 = 0.05;
/// Limits that only unusual cells reach: steps between two shrinkings, and number of shrinkings.
const MAX_STEPS: usize = 2000;
const MAX_SHRINKINGS: usize = 12;
/// Verlet skin over the mean radius: margin of the distances in the neighbour list.
const VERLET_SKIN: f64 = 0.35;

/// Largest time step of the relaxation; the stiffness of pairs and the mass of spheres are 1.
const LARGEST_STEP: f64 = 0.4;
/// Parameters of FIRE: first step, growth and reduction factors of the step, fraction of the velocity turned
/// towards the force, its decay factor, downhill steps before the step grows.
const FIRE_PARAMETERS: (f64, f64, f64, f64, f64, u32) = (0.1, 1.1, 0.5, 0.25, 0.99, 5);

/// Soft spheres in a periodic cell.
pub(super) struct SoftSpheres {
    pub cell: PeriodicCell,
    pub positions: Vec<DVec3>,
    pub radii: Vec<f64>,
}

/// Sums over pairs and spheres.
#[derive(Clone, Copy, Default)]
struct RelaxationSums {
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

impl RelaxationSums {
    fn add(self, other: RelaxationSums) -> RelaxationSums {
        RelaxationSums {
            power: self.power + other.power,
            force: self.force + other.force,
            speed: self.speed + other.speed,
            deepest: self.deepest.max(other.deepest),
            overlap: self.overlap + other.overlap,
            pairs: self.pairs + other.pairs,
        }
    }
}

impl SoftSpheres {
    /// Relaxes and shrinks the spheres until no overlap exceeds 1e-3 of the smaller radius.
    pub fn relax(&mut self) {
        let count = self.positions.len();
        let verlet_skin = VERLET_SKIN * self.radii.iter().sum::<f64>() / count as f64;
        let mut list =
            NeighbourList::new(self.cell, &self.positions, &self.radii, 1.0, verlet_skin);
        let mut anchors = self.positions.clone();
        let mut forces = vec![DVec3::ZERO; count];
        let mut speeds = vec![DVec3::ZERO; count];
        let (first, growth, cut, turn, decay, patience) = FIRE_PARAMETERS;
        let (mut step, mut part, mut downhill) = (first, turn, 0);
        let (mut shrinkings, mut steps) = (0, 0);
        loop {
            let mut sums = self.compute_forces(&list, &speeds, &mut forces);
            let mean = sums.overlap / sums.pairs.max(1.0);
            let at_rest =
                (sums.force / count as f64).sqrt() < REST_FORCE * mean || steps >= MAX_STEPS;
            let shallow = sums.deepest < TARGET_OVERLAP;
            if shallow && (at_rest || shrinkings > 0) || at_rest && shrinkings == MAX_SHRINKINGS {
                break;
            }
            if at_rest {
                for radius in &mut self.radii {
                    *radius *= 1.0 - SHRINK_FACTOR * mean;
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
                .positions
                .par_chunks_mut(CHUNK)
                .zip(speeds.par_chunks_mut(CHUNK))
                .zip(forces.par_chunks(CHUNK).zip(anchors.par_chunks(CHUNK)))
                .map(|((positions, speeds), (forces, anchors))| {
                    let mut farthest = 0.0_f64;
                    for ((p, v), (f, anchor)) in positions
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
            if farthest.sqrt() > 0.5 * verlet_skin {
                for p in &mut self.positions {
                    *p = self.cell.wrapped(*p);
                }
                list =
                    NeighbourList::new(self.cell, &self.positions, &self.radii, 1.0, verlet_skin);
                anchors.clone_from(&self.positions);
            }
        }
        for p in &mut self.positions {
            *p = self.cell.wrapped(*p);
        }
        self.rescale_to_contact(&list);
    }

    /// Computes the forces on the spheres; returns the sums over them.
    fn compute_forces(
        &self,
        list: &NeighbourList,
        speeds: &[DVec3],
        forces: &mut [DVec3],
    ) -> RelaxationSums {
        let parts: Vec<RelaxationSums> = forces
            .par_chunks_mut(CHUNK)
            .enumerate()
            .map(|(chunk, forces)| {
                let mut sums = RelaxationSums::default();
                for (i, force) in (chunk * CHUNK..).zip(forces) {
                    let (p, r) = (self.positions[i], self.radii[i]);
                    let mut f = DVec3::ZERO;
                    for &j in list.of(i) {
                        let contact_distance = r + self.radii[j as usize];
                        let d = self.cell.between(p, self.positions[j as usize]);
                        let squared = d.length_squared();
                        if squared < contact_distance * contact_distance {
                            let distance = squared.sqrt();
                            let depth = contact_distance - distance;
                            f += d * (depth / distance.max(f64::MIN_POSITIVE));
                            sums.deepest = sums.deepest.max(depth / contact_distance);
                            sums.overlap += depth / contact_distance;
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
        parts
            .into_iter()
            .fold(RelaxationSums::default(), RelaxationSums::add)
    }

    /// Scales all radii by the common factor at which the deepest overlap is the allowed one.
    fn rescale_to_contact(&mut self, list: &NeighbourList) {
        let factor = (0..self.positions.len())
            .into_par_iter()
            .map(|i| {
                let r = self.radii[i];
                let factors = list.of(i).iter().map(|&j| {
                    let other = self.radii[j as usize];
                    let d = self
                        .cell
                        .between(self.positions[i], self.positions[j as usize]);
                    d.length() / (r + other - MAX_OVERLAP * r.min(other))
                });
                factors.fold(f64::INFINITY, f64::min)
            })
            .reduce(|| f64::INFINITY, f64::min);
        for radius in &mut self.radii {
            *radius *= factor;
        }
    }
}
