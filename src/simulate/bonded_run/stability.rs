//! The critical time step of a built system, by Lanczos iteration on the linearised bonds, contacts included.

use crate::parallel::prelude::*;
use glam::{DVec3, Vec3};

use crate::laws::bond;
use crate::laws::timestep::{CrowdedElement, LinearBond, critical, damping_rate_bound};
use crate::math::Scalar;
use crate::simulate::bonded::bonds::BondSide;
use crate::simulate::bonded::owned::OwnedChunks;
use crate::simulate::bonded::system::System;
use crate::simulate::bonded_run::build::Built;
use crate::simulate::contact::surfaces::Surfaces;
use crate::simulate::scene::colliders::PosedCollider;
use crate::simulate::share::ranks::{Ghosts, Ranks, Receivers};
use crate::solve::lanczos::{self, BLOCK, ElementVector, Share};

/// Critical time step of central differences, s; infinite when nothing is bonded or touches. All ranks must call it.
///
/// Two systems bound it, and any mixture of them that a run reaches. In the first every active bond is
/// intact, and as stiff as the contact of its ends if that is stiffer; elements that a collider may touch
/// stand on one spring each. In the second nothing holds: every element without active bonds, including those
/// of rigid bodies, and every element whose bonds can break touches twelve elements like it, with the damping
/// of contacts. `any_breaks` states that any bond may break, whatever its strengths.
pub fn critical_step<S: Scalar>(
    built: &Built<S>,
    colliders: &[PosedCollider],
    damping_ratio: f64,
    any_breaks: bool,
) -> f64 {
    let Built {
        system,
        surfaces,
        rest,
        ranks,
        ..
    } = built;
    let owned = ranks.owned();
    let mut most = [largest_radius(system, &owned)];
    ranks.largest(&mut most);
    let [largest] = most;
    let touching = Touching {
        surfaces,
        colliders,
        largest,
    };
    let bonded = LinearSystem::new(built, touching);
    let loose = loose_step(
        (system, &owned),
        (&rest.inverse_mass, &|_| 1.0),
        touching,
        any_breaks,
    );
    let mut most = [-loose, bonded.largest_per_mass()];
    ranks.largest(&mut most);
    let [loose, per_mass] = [-most[0], most[1]];
    let lambda = bonded.largest_eigenvalue();
    match lambda > 0.0 {
        true => loose.min(critical(
            lambda,
            damping_rate_bound(lambda, damping_ratio, per_mass),
        )),
        false => loose,
    }
}

/// What elements can touch.
#[derive(Clone, Copy, Debug)]
pub struct Touching<'a> {
    /// Contact properties by material.
    pub surfaces: &'a Surfaces,
    /// Colliders.
    pub colliders: &'a [PosedCollider],
    /// Largest radius of an element, m.
    pub largest: f64,
}

impl Touching<'_> {
    /// Stiffness of the stiffest contact that an element can have, N/m.
    fn stiffest<S: Scalar>(&self, system: &System<S>, element: usize) -> f64 {
        let (material, radius) = (system.material[element] as usize, system.radius(element));
        self.surfaces
            .stiffest(material, radius, self.largest, self.colliders)
    }
}

/// Critical step of the second of these systems, s, of the elements of these chunks; `stiffer` returns the ratio of the
/// contact stiffness of an element to that of a ball.
pub fn loose_step<S: Scalar>(
    (system, owned): (&System<S>, &OwnedChunks),
    (inverse_mass, stiffer): (&[f64], &dyn Fn(usize) -> f64),
    touching: Touching,
    any_breaks: bool,
) -> f64 {
    let surfaces = touching.surfaces;
    let mut step = f64::INFINITY;
    let own = (0..system.count).filter(|i| owned.contains(i / system.chunk));
    for i in own.filter(|&i| any_breaks || may_be_loose(system, i)) {
        let material = system.material[i] as usize;
        let surface = surfaces.own(material);
        let k = touching.stiffest(system, i);
        // Tangential stiffness and damping are those of k.
        let stiffening = surfaces.stiffening();
        let crowded = CrowdedElement {
            stiffness_over_mass: k * stiffening * stiffer(i) * inverse_mass[i],
            shear_ratio: surface.shear_ratio / stiffening,
            damping_ratio: surfaces.damping(material) / stiffening.sqrt(),
            rolls: surfaces.any_rolling(),
        };
        if crowded.stiffness_over_mass > 0.0 {
            step = step.min(crowded.critical());
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

/// Largest radius of an element of these chunks, m.
pub fn largest_radius<S: Scalar>(system: &System<S>, owned: &OwnedChunks) -> f64 {
    (0..system.count)
        .filter(|i| owned.contains(i / system.chunk))
        .map(|i| system.radius(i))
        .fold(0.0, f64::max)
}

/// M^{-1/2} K M^{-1/2} as a gather over the active bonds of each element. Rows of elements that are not this rank's
/// nor joined to one are zero.
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
    ranks: &'a Ranks,
    /// The chunks of this rank.
    owned: OwnedChunks,
    /// Elements of other ranks that are joined to those of this one.
    ghosts: Ghosts,
}

impl<S: Scalar> Share for LinearSystem<'_, S> {
    fn computes(&self, block: usize) -> bool {
        // On several ranks chunks consist of whole blocks.
        self.owned.contains(block * BLOCK / self.system.chunk)
    }

    fn receive(&self, rows: &mut ElementVector) {
        self.ranks.receive(&self.ghosts, rows);
    }

    fn complete(&self, blocks: &mut [f64]) {
        if self.ranks.is_alone() {
            return;
        }
        let chunks = blocks.chunks_mut(self.system.chunk / BLOCK);
        let mut chunks: Vec<&mut [f64]> = chunks.collect();
        self.ranks
            .gather_chunks(Receivers::All, &mut chunks, |blocks, act| {
                blocks.iter_mut().for_each(act)
            });
    }
}

impl<'a, S: Scalar> LinearSystem<'a, S> {
    fn new(built: &'a Built<S>, touching: Touching) -> Self {
        let Built {
            system,
            rest,
            ranks,
            ..
        } = built;
        let owned = ranks.owned();
        let is_own = |i: usize| owned.contains(i / system.chunk);
        let mut is_read: Vec<bool> = (0..system.count).map(is_own).collect();
        for i in (0..system.count).filter(|&i| is_own(i)) {
            for side in system.bonds.active_sides(i) {
                is_read[side.other] = true;
            }
        }
        let ghosts = (0..system.count).filter(|&i| is_read[i] && !is_own(i));
        let ghosts = ranks.ghosts(ghosts.map(|i| i as u32));
        // Rows that are not written take no memory.
        let mut contact: Vec<(f64, f64)> = bytemuck::zeroed_vec(system.count);
        let mut scale: Vec<(f64, f64)> = bytemuck::zeroed_vec(system.count);
        let surfaces = touching.surfaces;
        for i in (0..system.count).filter(|&i| is_read[i]) {
            let k = touching.stiffest(system, i);
            let shear = k * surfaces.own(system.material[i] as usize).shear_ratio;
            contact[i] = (k * surfaces.stiffening(), shear);
            scale[i] = (rest.inverse_mass[i].sqrt(), rest.inverse_inertia[i].sqrt());
        }
        let classes = system.classes.iter();
        LinearSystem {
            system,
            classes: classes
                .map(|class| [class.es, class.gs, class.gj, class.ei].map(Scalar::to_f64))
                .collect(),
            contact,
            inverse_mass: &rest.inverse_mass,
            scale,
            grounded: !touching.colliders.is_empty(),
            ranks,
            owned,
            ghosts,
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

    /// λ_max.
    fn largest_eigenvalue(&self) -> f64 {
        lanczos::largest(self.scale.len(), self, |x| self.apply(x))
    }

    /// The product with the rows of this rank.
    fn apply(&self, x: &ElementVector) -> ElementVector {
        let system = self.system;
        let moved = |i: usize| {
            let (scale_u, scale_t) = self.scale[i];
            let row = &x[i];
            let vector = |at: usize| Vec3::new(row[at], row[at + 1], row[at + 2]).as_dvec3();
            (vector(0) * scale_u, vector(3) * scale_t)
        };
        let row = |i: usize| {
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
        };
        let mut product: ElementVector = bytemuck::zeroed_vec(x.len());
        let blocks = product.par_chunks_mut(BLOCK).enumerate();
        blocks
            .filter(|(block, _)| self.computes(*block))
            .for_each(|(block, rows)| {
                for (i, to) in (block * BLOCK..).zip(rows) {
                    *to = row(i);
                }
            });
        product
    }
}
