//! Bonds of an implicit step: loads on their ends, second derivatives, stresses.
//!
//! Damping is that of explicit steps, with displacement over the step length in place of velocity. It does
//! not count towards the stresses: only elastic loads break bonds.
//!
//! Every bond is evaluated once, at its owner. Elements then add up their bonds in a fixed order.

use crate::parallel::prelude::*;

use super::start::StepStart;
use crate::columns::BreakMode;
use crate::laws::bond::{BondLoad, Stiffness, arm_torque};
use crate::laws::energy::EnergyLaw;
use crate::laws::relative::{self, Relative, relative};
use crate::laws::softening::Left;
use crate::laws::tangent::{Curvature, Tangent, gauss_newton};
use crate::laws::{damping, failure, hydrostatic, softening};
use crate::math::quat::rotation_between;
use crate::math::{Mat3, Vec3};
use crate::simulate::bonded::bond_tasks::{BreakEvent, StressAndEnergy};
use crate::simulate::bonded::bonds::BLOCK;
use crate::simulate::bonded::column::Column;
use crate::simulate::bonded::system::System;
use crate::solve::block::{Six, add_six as add};

/// Form of the second derivatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HessianForm {
    /// Exact second derivatives.
    Exact,
    /// Exact, with the negative part of each bond's own removed.
    Projected,
    /// The Gauss–Newton approximation, which has no negative part.
    GaussNewton,
}

/// The current state of a bond, seen from its owner.
struct BondState {
    at: Relative<f64>,
    rest_length: f64,
    k: Stiffness<f64>,
    /// Damping of relative translation, N s/m, and of relative spin, N m s.
    damping: [f64; 2],
    /// What is left of it.
    left: Left<f64>,
}

fn bond_state(system: &System<f64>, owner: usize, entry: usize) -> BondState {
    let bonds = &system.bonds;
    let other = bonds.other[entry] as usize;
    let x = system.position(owner) - system.position(other);
    let [dx, dy, dz] = &bonds.direction;
    let rest_length = bonds.length.get(entry);
    let class = &system.classes[bonds.class.get(entry) as usize];
    let left = bonds.left(entry);
    BondState {
        at: relative(
            Vec3::from_f64(x.to_array()),
            system.quaternion(owner),
            system.quaternion(other),
            Vec3::zero(),
            Vec3::new(dx[entry], dy[entry], dz[entry]),
        ),
        rest_length,
        k: class.stiffness(rest_length),
        damping: [class.damping, class.spin_damping].map(|c| c * left.stiffness),
        left,
    }
}

impl BondState {
    fn load<W: EnergyLaw>(&self) -> BondLoad<f64> {
        let whole = relative::load(self.at, W::gradient(self.at, self.rest_length, self.k));
        match self.left.stiffness {
            1.0 => whole,
            left => softening::softened(whole, -self.at.u, self.rest_length, self.k.normal, left),
        }
    }

    fn energy<W: EnergyLaw>(&self) -> f64 {
        let whole = W::energy(self.at, self.rest_length, self.k);
        let (left, normal) = (self.left.stiffness, self.k.normal);
        softening::energy(whole, -self.at.u, self.rest_length, normal, left)
    }

    /// Second derivatives of the energy. `radius` is that of the owner, m.
    fn tangent<W: EnergyLaw>(&self, form: HessianForm, radius: f64) -> Tangent<f64> {
        let (at, l0, k) = (self.at, self.rest_length, self.k);
        let whole = match form {
            HessianForm::Exact | HessianForm::Projected => W::tangent(at, l0, k),
            HessianForm::GaussNewton => W::gauss_newton_tangent(at, l0, k),
        };
        let softened = match self.left.stiffness {
            1.0 => whole,
            left => {
                let exact = form != HessianForm::GaussNewton;
                softening::tangent(whole, -at.u, (l0, k.normal), left, exact)
            }
        };
        match form {
            HessianForm::Projected => softened.projected(radius),
            HessianForm::Exact | HessianForm::GaussNewton => softened,
        }
    }

    /// Second derivatives of the damping with respect to displacements in a step of length `h`. The rotation
    /// of its arms is neglected: it is the smaller part of a small term.
    fn damping_tangent(&self, h: f64) -> Tangent<f64> {
        let [stretch, turn] = self.damping.map(|c| Mat3::diagonal(c / h));
        // Both ends turn the middle equally.
        let middle = Relative {
            sigma: Vec3::zero(),
            cosine: 1.0,
            ..self.at
        };
        gauss_newton(middle, Curvature { stretch, turn })
    }
}

/// Displacement and rotation of an element over a step, divided by the step length.
type Rates = [Vec3<f64>; 2];

fn rates_of(system: &System<f64>, start: &StepStart, i: usize) -> Rates {
    let moved = (system.position(i) - start.position[i]) / start.step;
    let turned = rotation_between(start.rotation[i], system.quaternion(i));
    [
        Vec3::from_f64(moved.to_array()),
        turned * (1.0 / start.step),
    ]
}

/// Calls `f` with entry, owner and place in `out` of every active bond; `out` has one place per entry.
fn for_each_active<T: Send>(
    system: &System<f64>,
    out: &mut [T],
    f: impl Fn(usize, usize, &mut T) + Sync + Send,
) {
    let bonds = &system.bonds;
    let (row, active) = (bonds.slots * BLOCK, bonds.active());
    if row == 0 {
        return;
    }
    out.par_chunks_mut(row)
        .with_min_len(8)
        .enumerate()
        .for_each(|(block, out)| {
            for slot in 0..bonds.slots {
                for lane in 0..BLOCK {
                    let owner = block * BLOCK + lane;
                    if active[owner] >> slot & 1 != 0 {
                        let entry = block * row + slot * BLOCK + lane;
                        f(entry, owner, &mut out[slot * BLOCK + lane]);
                    }
                }
            }
        });
}

/// Scratch buffers for the loads and derivatives of bonds, one place per entry.
#[derive(Clone, Debug, Default)]
pub struct BondScratch {
    /// Force on the owner; moment equal on both ends; moment on the owner with its opposite on the other end.
    load: Vec<[f64; 9]>,
    /// Second derivatives of active bonds.
    tangent: Vec<Tangent<f64>>,
    /// Rates of every element if bonds have damping, else empty.
    rates: Vec<Rates>,
    damped: bool,
}

impl BondScratch {
    /// Buffers for the bonds of a system.
    pub fn new(system: &System<f64>) -> Self {
        let entries = system.bonds.other.len();
        BondScratch {
            load: vec![[0.0; 9]; entries],
            tangent: vec![Tangent::zero(); entries],
            rates: Vec::new(),
            damped: system.damped(),
        }
    }

    /// Computes forces and torques of the bonds of every element for a step with this start.
    pub fn loads<W: EnergyLaw>(
        &mut self,
        system: &System<f64>,
        start: &StepStart,
        sums: &mut [Six],
    ) {
        if self.damped {
            let elements = (0..system.count).into_par_iter().with_min_len(256);
            elements
                .map(|i| rates_of(system, start, i))
                .collect_into_vec(&mut self.rates);
        }
        let rates = &self.rates;
        for_each_active(system, &mut self.load, |entry, owner, out| {
            let bond = bond_state(system, owner, entry);
            let load = bond.load::<W>();
            let (mut f, mut m) = (load.force, load.moment);
            if bond.damping != [0.0; 2] {
                let [[v_i, w_i], [v_j, w_j]] =
                    [owner, system.bonds.other[entry] as usize].map(|k| rates[k]);
                let [c, turn] = bond.damping;
                let (force, spin) = damping::bond(-bond.at.u, v_i - v_j, w_i, w_j, c, turn);
                (f, m) = (f + force, m + spin);
            }
            let a = arm_torque(-bond.at.u, f);
            *out = [f.x, f.y, f.z, a.x, a.y, a.z, m.x, m.y, m.z];
        });
        let load = &self.load;
        sums.par_iter_mut()
            .with_min_len(256)
            .enumerate()
            .for_each(|(i, sum)| {
                *sum = [0.0; 6];
                for side in system.bonds.active_sides(i) {
                    let [fx, fy, fz, ax, ay, az, mx, my, mz] = load[side.entry];
                    let s = if side.owned { 1.0 } else { -1.0 };
                    let row = [
                        s * fx,
                        s * fy,
                        s * fz,
                        ax + s * mx,
                        ay + s * my,
                        az + s * mz,
                    ];
                    add(sum, &row);
                }
            });
    }

    /// Sum of the squared forces of an element's bonds, N², from the last computation.
    pub fn force_squared(&self, system: &System<f64>, i: usize) -> f64 {
        let square = |entry: usize| self.load[entry][..3].iter().map(|f| f * f).sum::<f64>();
        let sides = system.bonds.active_sides(i);
        sides.map(|side| square(side.entry)).sum()
    }

    /// Computes the second derivatives of all bonds in a step of length `h`.
    pub fn tangents<W: EnergyLaw>(&mut self, system: &System<f64>, h: f64, form: HessianForm) {
        for_each_active(system, &mut self.tangent, |entry, owner, out| {
            let bond = bond_state(system, owner, entry);
            *out = bond.tangent::<W>(form, system.radius(owner));
            if bond.damping != [0.0; 2] {
                *out = out.plus(bond.damping_tangent(h));
            }
        });
    }

    /// Second derivatives of an active bond from the last computation.
    pub fn tangent(&self, entry: usize) -> &Tangent<f64> {
        &self.tangent[entry]
    }
}

/// Energy of all bonds, J.
pub fn energy<W: EnergyLaw>(system: &System<f64>) -> f64 {
    let mut out = vec![0.0; system.bonds.other.len()];
    for_each_active(system, &mut out, |entry, owner, out| {
        *out = bond_state(system, owner, entry).energy::<W>();
    });
    out.iter().sum()
}

/// Stress over strength left up to which damaged bonds hold as they are: each reduction lets others bear more,
/// by ever less.
const DAMAGED_USE: f64 = 1.0 + 1e-4;

/// Bonds beyond their strength in entry order, and the largest utilisation (stress over strength left) of any
/// bond.
pub fn beyond_strength<W: EnergyLaw>(system: &System<f64>) -> (Vec<BreakEvent>, f64) {
    if !system.bonds.can_break() {
        return (Vec::new(), 0.0);
    }
    let mut out = vec![(0.0, None); system.bonds.other.len()];
    for_each_active(system, &mut out, |entry, owner, out| {
        let bonds = &system.bonds;
        let bond = bond_state(system, owner, entry);
        let strength = |of: &Column<f64>| of.get(entry) * bond.left.strength;
        let (sigma_c, tau_c) = (strength(&bonds.sigma_c), strength(&bonds.tau_c));
        let is_damaged = bond.left.stiffness < 1.0;
        let most = if is_damaged { DAMAGED_USE } else { 1.0 };
        let section = &system.classes[bonds.class.get(entry) as usize].section;
        let (sigma, tau) = failure::stress(&bond.load::<W>(), section);
        let used = (sigma / sigma_c).max(tau / tau_c);
        let other = bonds.other[entry];
        let event = (used > most).then(|| BreakEvent {
            entry: entry as u32,
            i: (owner as u32).min(other),
            j: (owner as u32).max(other),
            sigma,
            tau,
            mode: if sigma > sigma_c {
                BreakMode::Tension
            } else {
                BreakMode::Shear
            },
        });
        *out = (used, event);
    });
    let most = out.iter().map(|(used, _)| *used).fold(0.0, f64::max);
    (
        out.into_iter().filter_map(|(_, event)| event).collect(),
        most,
    )
}

/// Largest stresses and the energy of the bonds of each element, and Σ x_ij·F of each, N m.
pub fn carried<W: EnergyLaw>(system: &System<f64>) -> (Vec<StressAndEnergy>, Vec<f64>) {
    let mut out = vec![(StressAndEnergy::default(), 0.0); system.bonds.other.len()];
    for_each_active(system, &mut out, |entry, owner, out| {
        let bond = bond_state(system, owner, entry);
        let load = bond.load::<W>();
        let section = &system.classes[system.bonds.class.get(entry) as usize].section;
        let (sigma, tau) = failure::stress(&load, section);
        let energy = 0.5 * bond.energy::<W>();
        let sigma = sigma.max(0.0);
        let virial = hydrostatic::virial(bond.at.u.norm(), load.axial);
        *out = (StressAndEnergy { sigma, tau, energy }, virial);
    });
    let of = |i: usize| {
        let (mut sum, mut virial) = (StressAndEnergy::default(), 0.0);
        for side in system.bonds.active_sides(i) {
            let (bond, more) = &out[side.entry];
            sum.sigma = sum.sigma.max(bond.sigma);
            sum.tau = sum.tau.max(bond.tau);
            sum.energy += bond.energy;
            virial += more;
        }
        (sum, virial)
    };
    (0..system.count)
        .into_par_iter()
        .with_min_len(256)
        .map(of)
        .unzip()
}
