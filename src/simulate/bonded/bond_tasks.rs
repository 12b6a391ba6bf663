//! Tasks of the bond pass: loads and broken bonds of a step, or the stresses and energies of the bonds of
//! each element.

use crate::columns::BreakMode;
use crate::laws;
use crate::laws::failure;
use crate::math::{Lanes, Real, Scalar, Vec3};
use crate::simulate::bonded::bond_pass::{BondLanes, BondTask};
use crate::simulate::bonded::rows::{lane_buffer, put, vector};
use crate::simulate::bonded::system::{LoadRow, motion};
use crate::simulate::bonded::work::Dissipation;

/// Largest stresses and half the energy of the intact bonds of one element.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Zeroable)]
pub struct StressAndEnergy {
    /// Largest normal stress, Pa; 0 if all bonds are in compression.
    pub sigma: f64,
    /// Largest shear stress, Pa.
    pub tau: f64,
    /// Half of the energy of the bonds, J.
    pub energy: f64,
}

/// A bond whose stress exceeds its strength.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BreakEvent {
    /// Entry of the bond.
    pub entry: u32,
    /// End with the lower index.
    pub i: u32,
    /// End with the higher index.
    pub j: u32,
    /// Normal stress, Pa.
    pub sigma: f64,
    /// Shear stress, Pa.
    pub tau: f64,
    /// Strength that was exceeded.
    pub mode: BreakMode,
}

/// Records the bonds of a row that exceed their strengths. The row is given by its first owner, first entry
/// and other ends; `bits` marks the active bonds; stresses σ and τ are compared with their strengths.
#[inline(always)]
pub fn note_breaks<L: Lanes>(
    breaks: &mut Vec<BreakEvent>,
    (first, entry, others): (usize, usize, &[u32]),
    bits: u32,
    (sigma, tau): (L, L),
    (sigma_c, tau_c): (L, L),
) {
    let mask = L::mask(bits);
    let tension = L::bits(mask & sigma_c.lt(sigma));
    let broken = tension | L::bits(mask & tau_c.lt(tau));
    if broken == 0 {
        return;
    }
    let (mut s, mut t) = (lane_buffer::<L>(), lane_buffer::<L>());
    sigma.store(&mut s);
    tau.store(&mut t);
    for lane in (0..L::WIDTH).filter(|lane| broken >> lane & 1 != 0) {
        let (own, other) = ((first + lane) as u32, others[lane]);
        breaks.push(BreakEvent {
            entry: (entry + lane) as u32,
            i: own.min(other),
            j: own.max(other),
            sigma: s[lane].to_f64(),
            tau: t[lane].to_f64(),
            mode: if tension >> lane & 1 != 0 {
                BreakMode::Tension
            } else {
                BreakMode::Shear
            },
        });
    }
}

/// Sums forces and torques of bonds on the elements of a chunk, and records the bonds owned there that break.
///
/// `EXTRA` also computes the virials behind mean stresses and the energy that damping dissipates. Either
/// alone costs as much as both: a variant for each would double the code compiled for every law and lane
/// type.
pub struct LoadTask<'a, S, const EXTRA: bool> {
    /// Loads of the chunk's elements; force and torque are overwritten.
    pub load: &'a mut [LoadRow<S>],
    /// Whether any bond class has damping.
    pub damped: bool,
    /// Bonds that break in this step.
    pub breaks: &'a mut Vec<BreakEvent>,
    /// Σ x_ij·F of each element of the chunk, or with `bounds` a bound of the principal values of Σ ½ (x⊗F + F⊗x),
    /// N m; written only with `EXTRA`.
    pub virial: &'a mut [S],
    /// What `virial` is.
    pub bounds: bool,
    /// Energy dissipated per element of the chunk; added to only with `EXTRA`.
    pub dissipation: &'a mut [Dissipation],
    /// Time step, s.
    pub dt: f64,
}

/// Index of x_ij·F, or of the bound, in a bond's 8-number row; the same index holds 1/m in `LoadRow`.
const VIRIAL_AT: usize = 3;
/// Index of half of the power of damping there; the same index holds 1/I in `LoadRow`.
const POWER_AT: usize = 7;

impl<L: Lanes, const EXTRA: bool> BondTask<L> for LoadTask<'_, L::Scalar, EXTRA> {
    /// Force, torque, Σ x_ij·F and half of the damping power.
    type Sum = (Vec3<L>, Vec3<L>, L, L);
    const ENERGY: bool = false;

    #[inline(always)]
    fn zero() -> Self::Sum {
        (Vec3::zero(), Vec3::zero(), L::zero(), L::zero())
    }

    #[inline(always)]
    fn bond(&mut self, sum: &mut Self::Sum, bond: &BondLanes<L>, mask: L::Mask) -> [L; 8] {
        let load = &bond.load;
        // The moment has opposite signs on both ends, the torque of the force the same sign.
        let (mut force, mut opposite) = (load.force, load.moment);
        let mut power = L::zero();
        if self.damped {
            let v = vector(bond.own, motion::V) - vector(bond.other, motion::V);
            let (w_i, w_j) = (vector(bond.own, motion::W), vector(bond.other, motion::W));
            let (damping, spin_damping) = bond.damping;
            let (slip, spin) = laws::damping::relative_motion(bond.x, v, w_i, w_j);
            force = slip.scaled_add(-damping, force);
            opposite = spin.scaled_add(-spin_damping, opposite);
            if EXTRA {
                let damping = (slip * -damping, spin * -spin_damping);
                power = laws::work::bond_damping(damping, bond.x, v, w_i, w_j);
            }
        }
        let none = Vec3::zero();
        let force = Vec3::select(mask, force, none);
        let opposite = Vec3::select(mask, opposite, none);
        let alike = laws::bond::arm_torque(bond.x, force);
        sum.0 = sum.0 + force;
        sum.1 = sum.1 + (alike + opposite);
        let mut row = [L::zero(); 8];
        put(&mut row, 0, -force);
        put(&mut row, 4, alike - opposite);
        if EXTRA {
            let virial = match self.bounds {
                true => laws::rankine::bound_of_bond(-bond.x, load.force),
                false => laws::hydrostatic::virial(bond.x.norm(), load.axial),
            };
            row[VIRIAL_AT] = L::select(mask, virial, L::zero());
            sum.2 = sum.2 + row[VIRIAL_AT];
        }
        if EXTRA {
            row[POWER_AT] = L::select(mask, power * L::splat(0.5), L::zero());
            sum.3 = sum.3 + row[POWER_AT];
        }
        row
    }

    #[inline(always)]
    fn inspect(
        &mut self,
        bond: &BondLanes<L>,
        bits: u32,
        first: usize,
        entry: usize,
        others: &[u32],
    ) {
        let (sigma_c, tau_c) = bond.strength;
        let section = &bond.class.section;
        let mask = L::mask(bits);
        let near = failure::may_exceed(&bond.load, section, sigma_c, tau_c);
        if L::bits(mask & near) == 0 {
            return;
        }
        let stress = failure::stress(&bond.load, section);
        note_breaks(
            self.breaks,
            (first, entry, others),
            bits,
            stress,
            bond.strength,
        );
    }

    #[inline(always)]
    fn store_owned(&mut self, local: usize, (force, torque, virial, power): Self::Sum) {
        if EXTRA {
            virial.store(&mut self.virial[local..]);
        }
        if EXTRA {
            let mut lanes = lane_buffer::<L>();
            power.store(&mut lanes);
            // The last row of lanes may extend past the last element.
            let dissipation = self.dissipation[local..].iter_mut().take(L::WIDTH);
            for (lane, dissipation) in dissipation.enumerate() {
                dissipation.damping += lanes[lane].to_f64() * self.dt;
            }
        }
        let mut out: [L; 8] = L::load_rows(&self.load[local..]);
        put(&mut out, 0, force);
        put(&mut out, 4, torque);
        L::store_rows(out, &mut self.load[local..]);
    }

    #[inline(always)]
    fn accumulate(sum: &mut [L::Scalar; 8], row: &[L::Scalar; 8]) {
        for (k, sum) in sum.iter_mut().enumerate() {
            *sum = *sum + row[k];
        }
    }

    #[inline(always)]
    fn add_foreign(&mut self, local: usize, mut sum: [L::Scalar; 8]) {
        if EXTRA {
            let virial = std::mem::take(&mut sum[VIRIAL_AT]);
            self.virial[local] = self.virial[local] + virial;
        }
        if EXTRA {
            let power = std::mem::take(&mut sum[POWER_AT]);
            self.dissipation[local].damping += power.to_f64() * self.dt;
        }
        <Self as BondTask<L>>::accumulate(&mut self.load[local].0, &sum);
    }
}

/// Finds the largest stresses and the energy of the bonds of each element of a chunk.
pub struct StressTask<'a> {
    /// Result per element; zero at the start.
    pub carried: &'a mut [StressAndEnergy],
}

impl<L: Lanes> BondTask<L> for StressTask<'_> {
    /// Largest σ, largest τ and half of the energies.
    type Sum = [L; 3];
    const ENERGY: bool = true;

    #[inline(always)]
    fn zero() -> Self::Sum {
        [L::zero(); 3]
    }

    #[inline(always)]
    fn bond(&mut self, sum: &mut Self::Sum, bond: &BondLanes<L>, mask: L::Mask) -> [L; 8] {
        let (sigma, tau) = failure::stress(&bond.load, &bond.class.section);
        let zero = L::zero();
        let sigma = L::select(mask, sigma.max(zero), zero);
        let tau = L::select(mask, tau, zero);
        let half = L::select(mask, bond.energy * L::splat(0.5), zero);
        *sum = [sum[0].max(sigma), sum[1].max(tau), sum[2] + half];
        [sigma, tau, half, zero, zero, zero, zero, zero]
    }

    #[inline(always)]
    fn inspect(&mut self, _: &BondLanes<L>, _: u32, _: usize, _: usize, _: &[u32]) {}

    #[inline(always)]
    fn store_owned(&mut self, local: usize, sum: Self::Sum) {
        let mut columns = [lane_buffer::<L>(); 3];
        for (k, column) in columns.iter_mut().enumerate() {
            sum[k].store(column);
        }
        // The last row of lanes may extend past the last element.
        let to = self.carried.iter_mut().skip(local);
        for (lane, to) in to.take(L::WIDTH).enumerate() {
            *to = StressAndEnergy {
                sigma: columns[0][lane].to_f64(),
                tau: columns[1][lane].to_f64(),
                energy: columns[2][lane].to_f64(),
            };
        }
    }

    #[inline(always)]
    fn accumulate(sum: &mut [L::Scalar; 8], row: &[L::Scalar; 8]) {
        sum[0] = Real::max(sum[0], row[0]);
        sum[1] = Real::max(sum[1], row[1]);
        sum[2] = sum[2] + row[2];
    }

    #[inline(always)]
    fn add_foreign(&mut self, local: usize, sum: [L::Scalar; 8]) {
        if let Some(to) = self.carried.get_mut(local) {
            to.sigma = to.sigma.max(sum[0].to_f64());
            to.tau = to.tau.max(sum[1].to_f64());
            to.energy += sum[2].to_f64();
        }
    }
}
