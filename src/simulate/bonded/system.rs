//! The state of a simulation as columns.
//!
//! A row of 16 scalars per element is one cache line in single precision and has the same bytes on a GPU.
//! Every element sums its bonds and contacts in a fixed order: the order of threads does not change a bit.

use glam::{DQuat, DVec3};

use crate::laws::bond::{self, Stiffness};
use crate::laws::failure::CriterionSection;
use crate::math::lanes::LaneRow;
use crate::math::{Quat, Real, Scalar};
use crate::simulate::bonded::bonds::{BLOCK, Bonds};
use crate::simulate::bonded::crowded::CrowdedPairs;
use crate::simulate::bonded::rigid_mask::RigidMask;
use crate::spec::Law;

/// Elements per chunk, a multiple of every lane width. Few bonds of large chunks cross into others, where both evaluate
/// them, and the scratch data of a chunk still fits into the cache of a core; small chunks keep every thread busy to
/// the end of a pass, which one thread does not need. Results do not depend on it.
pub fn chunk_for(elements: usize, threads: usize) -> usize {
    let (parts, largest) = match threads {
        1 => (1, 16384),
        _ => (8 * threads, 4096),
    };
    (elements / parts)
        .clamp(512, largest)
        .next_multiple_of(BLOCK)
}

/// Column indices of a row of motion.
pub mod motion {
    /// Position, high words.
    pub const P: usize = 0;
    /// Position, low words: three separate columns.
    pub const LOW: [usize; 3] = [3, 11, 15];
    /// Rotation.
    pub const Q: usize = 4;
    /// Velocity.
    pub const V: usize = 8;
    /// Angular velocity.
    pub const W: usize = 12;
}

/// Position (two words), rotation, velocity and angular velocity of an element:
/// `p.xyz lo.x q.xyzw v.xyz lo.y ω.xyz lo.z`.
pub type MotionRow<S> = LaneRow<S, 16>;
/// Residual rotation not yet in the quaternion (rounding error), and radius: `ρ.xyz r`.
pub type TailRow<S> = LaneRow<S, 4>;
/// Force, inverse mass, torque, inverse inertia: `F.xyz 1/m M.xyz 1/I`. Inverses are 0 for clamped elements.
pub type LoadRow<S> = LaneRow<S, 8>;

impl<S: Copy + Default> LoadRow<S> {
    /// Sets force and torque to zero.
    pub fn clear_loads(&mut self) {
        for at in [0, 1, 2, 4, 5, 6] {
            self.0[at] = S::default();
        }
    }
}

/// Number of fields of a [`BondClass`].
pub const CLASS_FIELDS: usize = 11;

/// Properties shared by the bonds of a class.
#[derive(Clone, Copy, Debug)]
pub struct BondClass<S> {
    /// E S, N.
    pub es: S,
    /// G S, N/rad.
    pub gs: S,
    /// G J, N m².
    pub gj: S,
    /// E I, N m².
    pub ei: S,
    /// Cross section and failure criterion.
    pub section: CriterionSection<S>,
    /// Damping of relative translation, N s/m.
    pub damping: S,
    /// Damping of relative spin, N m s.
    pub spin_damping: S,
}

impl<S: Copy> BondClass<S> {
    /// Maps every number, in a fixed order.
    #[inline(always)]
    pub fn map<T>(&self, mut f: impl FnMut(S) -> T) -> BondClass<T> {
        BondClass {
            es: f(self.es),
            gs: f(self.gs),
            gj: f(self.gj),
            ei: f(self.ei),
            section: CriterionSection {
                inverse_area: f(self.section.inverse_area),
                bend_modulus: f(self.section.bend_modulus),
                twist_modulus: f(self.section.twist_modulus),
                compression_counts: f(self.section.compression_counts),
                inverse_shear_area: f(self.section.inverse_shear_area),
            },
            damping: f(self.damping),
            spin_damping: f(self.spin_damping),
        }
    }
}

impl<S: Real> BondClass<S> {
    /// Stiffnesses of a bond of this class.
    #[inline(always)]
    pub fn stiffness(&self, rest_length: S) -> Stiffness<S> {
        bond::stiffness(self.es, self.gs, self.gj, self.ei, rest_length)
    }
}

/// Everything that a step reads and writes, except contacts.
#[derive(Clone, Debug)]
pub struct System<S> {
    /// Number of elements.
    pub count: usize,
    /// Elements per chunk.
    pub chunk: usize,
    /// Row of the motion of each element.
    pub motion: Vec<MotionRow<S>>,
    /// Residual rotation and radius of each element.
    pub tail: Vec<TailRow<S>>,
    /// Inverse of each element's mass in contacts, 1/kg: its own, or that of its rigid body; 0 if clamped.
    pub inverse_mass: Vec<S>,
    /// Index of each element's material.
    pub material: Vec<u32>,
    /// Bonds.
    pub bonds: Bonds<S>,
    /// Law of all bonds.
    pub law: Law,
    /// Classes of bonds.
    pub classes: Vec<BondClass<S>>,
    /// Unbonded pairs nearer at rest than the sum of their radii.
    pub crowded: CrowdedPairs<S>,
    /// Which elements are rigid; `bonds` is kept consistent with it.
    rigid: RigidMask,
}

/// Writes a position into a row of motion, both words.
#[inline]
pub fn set_position<S: Scalar>(row: &mut MotionRow<S>, p: DVec3) {
    for (k, value) in p.to_array().into_iter().enumerate() {
        let high = S::from_f64(value);
        row.0[motion::P + k] = high;
        row.0[motion::LOW[k]] = S::from_f64(value - high.to_f64());
    }
}

/// Position in a row of motion.
#[inline]
pub fn position<S: Scalar>(LaneRow(row): &MotionRow<S>) -> DVec3 {
    let word = |k: usize| row[motion::P + k].to_f64() + row[motion::LOW[k]].to_f64();
    DVec3::new(word(0), word(1), word(2))
}

impl<S: Scalar> System<S> {
    /// Elements without mass and bonds, at rest at the origin; all are elastic.
    pub fn new(count: usize, chunk: usize, law: Law) -> Self {
        let mut system = Self::of_zeros(count, chunk, law);
        for row in &mut system.motion {
            row.0[motion::Q + 3] = S::splat(1.0);
        }
        system
    }

    /// As [`new`](Self::new), with rows of zeros, which take no memory until they are written: they lack a rotation.
    pub fn of_zeros(count: usize, chunk: usize, law: Law) -> Self {
        let padded = count.next_multiple_of(BLOCK);
        let rigid = RigidMask::default();
        System {
            count,
            chunk,
            motion: bytemuck::zeroed_vec(padded),
            tail: bytemuck::zeroed_vec(padded),
            inverse_mass: vec![S::default(); padded],
            material: vec![0; padded],
            bonds: Bonds::new(padded, &[], &rigid),
            law,
            classes: Vec::new(),
            crowded: CrowdedPairs::default(),
            rigid,
        }
    }

    /// Whether any bond class has damping.
    pub fn damped(&self) -> bool {
        let mut classes = self.classes.iter();
        classes.any(|class| [class.damping, class.spin_damping] != [S::default(); 2])
    }

    /// Which elements are rigid.
    pub fn rigid(&self) -> &RigidMask {
        &self.rigid
    }
    /// Makes the elements of a mask rigid and all others elastic; nothing else changes this. Bonds inside a
    /// piece keep their entries, and intact ones are evaluated again once the piece is elastic. Data derived
    /// from the system before becomes invalid: the borders of chunks, and contact lists, which leave out
    /// pairs inside a piece and so lose their springs.
    pub fn set_rigid(&mut self, mask: RigidMask) {
        self.bonds.set_rigid(&mask);
        self.rigid = mask;
    }
    /// Whether two elements belong to one rigid piece, so that no force acts between them.
    #[inline]
    pub fn is_one_piece(&self, i: usize, j: usize) -> bool {
        self.rigid.is_one_piece(i, j)
    }
    /// Position in double precision.
    #[inline]
    pub fn position(&self, element: usize) -> DVec3 {
        position(&self.motion[element])
    }
    /// Sets a position, both words.
    #[inline]
    pub fn set_position(&mut self, element: usize, p: DVec3) {
        set_position(&mut self.motion[element], p);
    }
    fn vector(row: &[S], at: usize) -> DVec3 {
        DVec3::new(row[at].to_f64(), row[at + 1].to_f64(), row[at + 2].to_f64())
    }
    /// Velocity.
    #[inline]
    pub fn velocity(&self, element: usize) -> DVec3 {
        Self::vector(&self.motion[element].0, motion::V)
    }
    /// Angular velocity.
    #[inline]
    pub fn spin(&self, element: usize) -> DVec3 {
        Self::vector(&self.motion[element].0, motion::W)
    }
    /// Rotation since packing.
    #[inline]
    pub fn rotation(&self, element: usize) -> DQuat {
        let q = &self.motion[element].0[motion::Q..];
        DQuat::from_xyzw(q[0].to_f64(), q[1].to_f64(), q[2].to_f64(), q[3].to_f64())
    }
    /// Rotation in working precision.
    #[inline(always)]
    pub fn quaternion(&self, element: usize) -> Quat<S> {
        let q = &self.motion[element].0[motion::Q..];
        Quat::new(q[0], q[1], q[2], q[3])
    }
    /// Contact distance of two elements that were never bonded, m; 0 if they cannot touch.
    #[inline]
    pub fn touch(&self, i: usize, j: usize) -> S {
        let radii = self.tail[i].0[3] + self.tail[j].0[3];
        self.crowded.touch(i, j).unwrap_or(radii)
    }
    /// Lets an element with a broken bond touch its crowded partners; returns the newly touching partners and
    /// contact distances.
    pub fn release(&mut self, element: usize) -> Vec<(u32, S)> {
        let (motion, own) = (&self.motion, self.position(element));
        let distance = |other: usize| S::from_f64(own.distance(position(&motion[other])));
        self.crowded.release(element, distance)
    }
    /// Radius.
    #[inline]
    pub fn radius(&self, element: usize) -> f64 {
        self.tail[element].0[3].to_f64()
    }
}
