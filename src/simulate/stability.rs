//! The critical time step of a built system, by power iteration on the linearised bonds, contacts included.

use glam::DVec3;
use rayon::prelude::*;

use super::bonds::Bonds;
use super::contact_pass::{Obstacle, Surface, stiffest};
use super::system::{CHUNK, System};
use crate::laws::timestep::{LinearBond, critical};
use crate::math::Scalar;

/// Power iteration stops when an iteration changes λ by less than this part.
const TOLERANCE: f64 = 1e-3;
/// What the unconverged rest may add to λ_max, from below as power iteration approaches it.
const MARGIN: f64 = 1.03;
/// Iterations at most.
const ITERATIONS: usize = 200;
/// Neighbours that a loose element can touch at once.
const KISSING: f64 = 12.0;

/// Critical time step of central differences, s; infinite when nothing is bonded or touches.
///
/// Every bond counts with the stiffer of bond and contact, since a broken pair goes on as a contact; elements that a collider may touch
/// stand on one spring each; elements without bonds count as touching twelve like them.
pub fn critical_step<S: Scalar>(
    system: &System<S>,
    inverse_inertia: &[f64],
    surfaces: &[Surface],
    obstacles: &[Obstacle],
    damping_ratio: f64,
) -> f64 {
    let largest = largest_radius(system);
    let bonded = Linear::new(system, inverse_inertia, surfaces, obstacles);
    let (lambda, per_mass) = bonded.largest_eigenvalue();
    let mut step = if lambda > 0.0 {
        critical(lambda, damping_ratio, per_mass)
    } else {
        f64::INFINITY
    };
    for i in (0..system.count).filter(|&i| system.bonds.whole_sides(i).next().is_none()) {
        let surface = &surfaces[system.material[i] as usize];
        let k = stiffest(surface, system.radius(i), (surfaces, largest), obstacles);
        let inverse = system.inverse_mass[i].to_f64();
        // Gershgorin: twelve springs, each counted for both ends; the tangential ones also turn a ball, 1 + 5/2 times.
        let lambda = 2.0 * KISSING * k * (1.0 + 3.5 * surface.shear_ratio) * inverse;
        if lambda > 0.0 {
            step = step.min(critical(lambda, surface.damping, k * inverse));
        }
    }
    step
}

fn largest_radius<S: Scalar>(system: &System<S>) -> f64 {
    (0..system.count)
        .map(|i| system.radius(i))
        .fold(0.0, f64::max)
}

/// M^{-1/2} K M^{-1/2} as a gather over the bonds of each element.
struct Linear<'a, S> {
    bonds: &'a Bonds<S>,
    /// By entry, seen from its owner.
    bond: Vec<LinearBond>,
    /// Inverse square roots of mass and inertia.
    scale: Vec<(f64, f64)>,
    /// Spring to a collider, N/m.
    ground: Vec<f64>,
    largest_per_mass: f64,
}

type State = Vec<(DVec3, DVec3)>;

impl<'a, S: Scalar> Linear<'a, S> {
    fn new(
        system: &'a System<S>,
        inverse_inertia: &[f64],
        surfaces: &[Surface],
        obstacles: &[Obstacle],
    ) -> Self {
        let bonds = &system.bonds;
        let empty = LinearBond {
            d: DVec3::ZERO,
            normal: 0.0,
            transverse: 0.0,
            twist: 0.0,
            bend: 0.0,
        };
        let largest = largest_radius(system);
        let contact = |i: usize| {
            let surface = &surfaces[system.material[i] as usize];
            let k = stiffest(surface, system.radius(i), (surfaces, largest), obstacles);
            (k, k * surface.shear_ratio)
        };
        let mut bond = vec![empty; bonds.other.len()];
        let mut largest_per_mass = 0.0f64;
        for (i, side) in bonds.entries() {
            let (own, other) = (contact(i), contact(side.other));
            let l0 = bonds.length.get(side.entry).to_f64();
            let class = &system.classes[bonds.class.get(side.entry) as usize];
            let k = class.map(|v| v.to_f64()).stiffness(l0);
            bond[side.entry] = LinearBond {
                d: DVec3::from_array(bonds.rest_direction(side).to_f64()) * l0,
                normal: k.normal.max(own.0).max(other.0),
                transverse: (k.shear / l0).max(own.1).max(other.1),
                twist: k.twist,
                bend: k.bend,
            };
            let inverse =
                system.inverse_mass[i].to_f64() + system.inverse_mass[side.other].to_f64();
            largest_per_mass = largest_per_mass.max(k.normal * inverse);
        }
        let ground = if obstacles.is_empty() {
            vec![0.0; system.count]
        } else {
            (0..system.count).map(|i| contact(i).0).collect()
        };
        Linear {
            bonds,
            bond,
            scale: (0..system.count)
                .map(|i| {
                    (
                        system.inverse_mass[i].to_f64().sqrt(),
                        inverse_inertia[i].sqrt(),
                    )
                })
                .collect(),
            ground,
            largest_per_mass,
        }
    }

    /// λ_max and the largest k_n/m* beside it.
    fn largest_eigenvalue(&self) -> (f64, f64) {
        let count = self.scale.len();
        // A start that every mode has a part in; the same on every machine.
        let mut x: State = (0..count)
            .map(|i| {
                let wave = |k: f64| (i as f64 * (0.7 + 0.31 * k) + k).sin();
                (
                    DVec3::new(wave(0.0), wave(1.0), wave(2.0)),
                    DVec3::new(wave(3.0), wave(4.0), wave(5.0)),
                )
            })
            .collect();
        let mut lambda = 0.0;
        for _ in 0..ITERATIONS {
            let length = squared(&x).sqrt();
            if length == 0.0 {
                return (0.0, self.largest_per_mass);
            }
            x.par_iter_mut().for_each(|(u, t)| {
                *u /= length;
                *t /= length;
            });
            let next = self.apply(&x);
            let before = lambda;
            lambda = squared(&next).sqrt();
            x = next;
            if (lambda - before).abs() <= TOLERANCE * lambda {
                break;
            }
        }
        (lambda * MARGIN, self.largest_per_mass)
    }

    fn apply(&self, x: &State) -> State {
        (0..x.len())
            .into_par_iter()
            .with_min_len(CHUNK)
            .map(|i| {
                let (scale_u, scale_t) = self.scale[i];
                let own = (x[i].0 * scale_u, x[i].1 * scale_t);
                let mut force = -own.0 * self.ground[i];
                let mut torque = DVec3::ZERO;
                for side in self.bonds.sides(i) {
                    let j = side.other;
                    let (other_u, other_t) = self.scale[j];
                    let mut bond = self.bond[side.entry];
                    if !side.owned {
                        bond.d = -bond.d;
                    }
                    let (f, m) = bond.restoring(own.0, own.1, x[j].0 * other_u, x[j].1 * other_t);
                    force += f;
                    torque += m;
                }
                (-force * scale_u, -torque * scale_t)
            })
            .collect()
    }
}

/// Sum of squares in the order of the elements.
fn squared(x: &State) -> f64 {
    x.iter()
        .map(|(u, t)| u.length_squared() + t.length_squared())
        .sum()
}
