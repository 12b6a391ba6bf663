//! The critical time step of a built system, by Lanczos iteration on the linearised bonds, contacts included.

use crate::parallel::prelude::*;
use glam::{DVec3, Vec3};

use crate::laws::bond;
use crate::laws::timestep::{CrowdedElement, LinearBond, critical, damping_rate_bound};
use crate::math::Scalar;
use crate::simulate::bonded::bonds::BondSide;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::surfaces::Surfaces;
use crate::simulate::scene::colliders::PosedCollider;
use crate::solve::lanczos::{self, ELEMENTS_PER_SUM, ElementVector};

/// Critical time step of central differences, s; infinite when nothing is bonded or touches.
///
/// Two systems bound it, and any mixture of them that a run reaches. In the first every active bond is
/// intact, and as stiff as the contact of its ends if that is stiffer; elements that a collider may touch
/// stand on one spring each. In the second nothing holds: every element without active bonds, including those
/// of rigid bodies, and every element whose bonds can break touches twelve elements like it, with the damping
/// of contacts. `inverse` holds the inverse masses and inertias of the elements themselves, 1/kg and 1/(kg
/// m²); `any_breaks` states that any bond may break, whatever its strengths.
pub fn critical_step<S: Scalar>(
    system: &System<S>,
    inverse: (&[f64], &[f64]),
    surfaces: &Surfaces,
    colliders: &[PosedCollider],
    damping_ratio: f64,
    any_breaks: bool,
) -> f64 {
    let bonded = LinearSystem::new(system, inverse, surfaces, colliders);
    let (lambda, per_mass) = bonded.largest_eigenvalue();
    let mut step = f64::INFINITY;
    if lambda > 0.0 {
        step = critical(lambda, damping_rate_bound(lambda, damping_ratio, per_mass));
    }
    step.min(loose_step(
        system,
        (inverse.0, &|_| 1.0),
        surfaces,
        colliders,
        any_breaks,
    ))
}

/// Critical step of the second of these systems, s; `stiffer` returns the ratio of the contact stiffness of
/// an element to that of a ball.
pub fn loose_step<S: Scalar>(
    system: &System<S>,
    (inverse_mass, stiffer): (&[f64], &dyn Fn(usize) -> f64),
    surfaces: &Surfaces,
    colliders: &[PosedCollider],
    any_breaks: bool,
) -> f64 {
    let largest = largest_radius(system);
    let mut step = f64::INFINITY;
    for i in (0..system.count).filter(|&i| any_breaks || may_be_loose(system, i)) {
        let material = system.material[i] as usize;
        let surface = surfaces.own(material);
        let k = surfaces.stiffest(material, system.radius(i), largest, colliders);
        // Tangential stiffness and damping are those of k.
        let stiffening = surfaces.stiffening();
        let touching = CrowdedElement {
            stiffness_over_mass: k * stiffening * stiffer(i) * inverse_mass[i],
            shear_ratio: surface.shear_ratio / stiffening,
            damping_ratio: surfaces.damping(material) / stiffening.sqrt(),
            rolls: surfaces.any_rolling(),
        };
        if touching.stiffness_over_mass > 0.0 {
            step = step.min(touching.critical());
        }
    }
    step
}

/// Whether an element has a bond that is broken from the start, or all its active bonds, if any, can break.
fn may_be_loose<S: Scalar>(system: &System<S>, element: usize) -> bool {
    let bonds = &system.bonds;
    let is_cracked = bonds
        .sides(element)
        .any(|side| !bonds.is_intact(side.entry));
    is_cracked
        || bonds.active_sides(element).all(|side| {
            let strength =
                [&bonds.sigma_c, &bonds.tau_c].map(|column| column.get(side.entry).to_f64());
            strength.iter().any(|strength| strength.is_finite())
        })
}

/// Largest radius of an element, m.
pub fn largest_radius<S: Scalar>(system: &System<S>) -> f64 {
    (0..system.count)
        .map(|i| system.radius(i))
        .fold(0.0, f64::max)
}

/// M^{-1/2} K M^{-1/2} as a gather over the active bonds of each element.
struct LinearSystem<'a, S> {
    system: &'a System<S>,
    /// E S, G S, G J and E I of each class.
    classes: Vec<[f64; 4]>,
    /// Normal and tangential stiffness of the stiffest contact that each element can have, N/m.
    contact: Vec<(f64, f64)>,
    /// Inverse masses, 1/kg.
    inverse_mass: &'a [f64],
    /// Inverse square roots of mass and of inertia.
    scale: Vec<(f64, f64)>,
    /// Whether there are colliders: each element then stands on a spring.
    grounded: bool,
}

impl<'a, S: Scalar> LinearSystem<'a, S> {
    fn new(
        system: &'a System<S>,
        (inverse_mass, inverse_inertia): (&'a [f64], &[f64]),
        surfaces: &Surfaces,
        colliders: &[PosedCollider],
    ) -> Self {
        let largest = largest_radius(system);
        let contact = |i: usize| {
            let material = system.material[i] as usize;
            let k = surfaces.stiffest(material, system.radius(i), largest, colliders);
            let shear = k * surfaces.own(material).shear_ratio;
            (k * surfaces.stiffening(), shear)
        };
        let scale = |i: usize| (inverse_mass[i].sqrt(), inverse_inertia[i].sqrt());
        let classes = system.classes.iter();
        LinearSystem {
            system,
            classes: classes
                .map(|class| [class.es, class.gs, class.gj, class.ei].map(Scalar::to_f64))
                .collect(),
            contact: (0..system.count).map(contact).collect(),
            inverse_mass,
            scale: (0..system.count).map(scale).collect(),
            grounded: !colliders.is_empty(),
        }
    }

    /// A bond seen from element i.
    fn bond(&self, i: usize, side: BondSide) -> LinearBond {
        let bonds = &self.system.bonds;
        let (own, other) = (self.contact[i], self.contact[side.other]);
        let l0 = bonds.length.get(side.entry).to_f64();
        let [es, gs, gj, ei] = self.classes[bonds.class.get(side.entry) as usize];
        let k = bond::stiffness(es, gs, gj, ei, l0);
        LinearBond {
            n: DVec3::from_array(bonds.rest_direction(side).to_f64()),
            length: l0,
            normal: k.normal.max(own.0).max(other.0),
            transverse: (k.shear / l0).max(own.1).max(other.1),
            twist: k.twist,
            bend: k.bend,
        }
    }

    /// Largest k_n (1/m_i + 1/m_j) of a bond.
    fn largest_per_mass(&self) -> f64 {
        let system = self.system;
        let of = |i: usize, side: BondSide| {
            let l0 = system.bonds.length.get(side.entry).to_f64();
            let [es, ..] = self.classes[system.bonds.class.get(side.entry) as usize];
            let inverse = |k: usize| self.inverse_mass[k];
            es / l0 * (inverse(i) + inverse(side.other))
        };
        let bonds = system.bonds.entries();
        let active = bonds.filter(|(_, side)| system.bonds.is_active(side.entry));
        active.map(|(i, side)| of(i, side)).fold(0.0, f64::max)
    }

    /// λ_max and the largest k_n/m*.
    fn largest_eigenvalue(&self) -> (f64, f64) {
        let per_mass = self.largest_per_mass();
        (
            lanczos::largest(self.scale.len(), |x| self.apply(x)),
            per_mass,
        )
    }

    fn apply(&self, x: &ElementVector) -> ElementVector {
        let system = self.system;
        let moved = |i: usize| {
            let (scale_u, scale_t) = self.scale[i];
            let row = &x[i];
            let vector = |at: usize| Vec3::new(row[at], row[at + 1], row[at + 2]).as_dvec3();
            (vector(0) * scale_u, vector(3) * scale_t)
        };
        (0..x.len())
            .into_par_iter()
            .with_min_len(ELEMENTS_PER_SUM)
            .map(|i| {
                let own = moved(i);
                let ground = if self.grounded {
                    self.contact[i].0
                } else {
                    0.0
                };
                let (mut force, mut torque) = (-own.0 * ground, DVec3::ZERO);
                for side in system.bonds.active_sides(i) {
                    let other = moved(side.other);
                    let bond = self.bond(i, side);
                    let (f, m) = bond.restoring(own.0, own.1, other.0, other.1);
                    force += f;
                    torque += m;
                }
                let (scale_u, scale_t) = self.scale[i];
                let (u, t) = (-force * scale_u, -torque * scale_t);
                [u.x, u.y, u.z, t.x, t.y, t.z].map(|value| value as f32)
            })
            .collect()
    }
}
