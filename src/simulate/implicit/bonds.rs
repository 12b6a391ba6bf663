//! Bonds of an implicit step: what they do to their ends, their second derivatives, what they carry.
//!
//! Every bond is evaluated once, where its owner stands; elements then add up their bonds in a fixed order.

use rayon::prelude::*;

use crate::columns::BreakMode;
use crate::laws::bdem::{BondLoad, Stiffness};
use crate::laws::energy::EnergyLaw;
use crate::laws::relative::{self, Relative, relative};
use crate::laws::tangent::Tangent;
use crate::laws::{failure, hydrostatic};
use crate::math::Vec3;
use crate::simulate::bond_tasks::BreakEvent;
use crate::simulate::bonds::BLOCK;
use crate::simulate::record::Carried;
use crate::simulate::system::System;
use crate::solve::block::{Six, add_six as add};

/// Which second derivatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// All.
    Exact,
    /// All, each bond's own without its negative part.
    Projected,
    /// Those that have no negative part.
    GaussNewton,
}

/// A bond as it stands, seen from its owner.
struct Standing {
    at: Relative<f64>,
    rest_length: f64,
    k: Stiffness<f64>,
}

fn standing(system: &System<f64>, owner: usize, entry: usize) -> Standing {
    let bonds = &system.bonds;
    let other = bonds.other[entry] as usize;
    let x = system.position(owner) - system.position(other);
    let [dx, dy, dz] = &bonds.direction;
    let rest_length = bonds.length.get(entry);
    Standing {
        at: relative(
            Vec3::from_f64(x.to_array()),
            system.quaternion(owner),
            system.quaternion(other),
            Vec3::zero(),
            Vec3::new(dx[entry], dy[entry], dz[entry]),
        ),
        rest_length,
        k: system.classes[bonds.class.get(entry) as usize].stiffness(rest_length),
    }
}

impl Standing {
    fn load<W: EnergyLaw>(&self) -> BondLoad<f64> {
        relative::load(self.at, W::gradient(self.at, self.rest_length, self.k))
    }
}

/// Calls `f` with entry, owner and place in `out` of every bond; `out` has one place an entry.
fn each<T: Send>(
    system: &System<f64>,
    out: &mut [T],
    f: impl Fn(usize, usize, &mut T) + Sync + Send,
) {
    let bonds = &system.bonds;
    let row = bonds.slots * BLOCK;
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
                    if bonds.whole[owner] >> slot & 1 != 0 {
                        let entry = block * row + slot * BLOCK + lane;
                        f(entry, owner, &mut out[slot * BLOCK + lane]);
                    }
                }
            }
        });
}

/// Room for what bonds do, one place an entry.
#[derive(Clone, Debug, Default)]
pub struct BondRoom {
    /// Force on the owner, what acts alike on both ends, what acts on the owner and in the opposite way on the other.
    load: Vec<[f64; 9]>,
    /// Of whole bonds.
    tangent: Vec<Tangent<f64>>,
}

impl BondRoom {
    /// Of a system.
    pub fn new(system: &System<f64>) -> Self {
        let entries = system.bonds.other.len();
        BondRoom {
            load: vec![[0.0; 9]; entries],
            tangent: vec![Tangent::zero(); entries],
        }
    }

    /// Writes forces and torques of the bonds of every element.
    pub fn loads<W: EnergyLaw>(&mut self, system: &System<f64>, sums: &mut [Six]) {
        each(system, &mut self.load, |entry, owner, out| {
            let load = standing(system, owner, entry).load::<W>();
            let (f, a, m) = (load.force, load.shear_moment, load.moment);
            *out = [f.x, f.y, f.z, a.x, a.y, a.z, m.x, m.y, m.z];
        });
        let load = &self.load;
        sums.par_iter_mut()
            .with_min_len(256)
            .enumerate()
            .for_each(|(i, sum)| {
                *sum = [0.0; 6];
                for side in system.bonds.whole_sides(i) {
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

    /// Sum of the squares of the forces of an element's bonds, N², as they were computed last.
    pub fn carried(&self, system: &System<f64>, i: usize) -> f64 {
        let square = |entry: usize| self.load[entry][..3].iter().map(|f| f * f).sum::<f64>();
        let sides = system.bonds.whole_sides(i);
        sides.map(|side| square(side.entry)).sum()
    }

    /// Computes the second derivatives of all bonds.
    pub fn tangents<W: EnergyLaw>(&mut self, system: &System<f64>, form: Form) {
        each(system, &mut self.tangent, |entry, owner, out| {
            let bond = standing(system, owner, entry);
            let (at, l0, k) = (bond.at, bond.rest_length, bond.k);
            *out = match form {
                Form::Exact => W::tangent(at, l0, k),
                Form::Projected => W::tangent(at, l0, k).projected(system.radius(owner)),
                Form::GaussNewton => W::gauss_newton_tangent(at, l0, k),
            };
        });
    }

    /// Second derivatives of a whole bond as they were computed last.
    pub fn tangent(&self, entry: usize) -> &Tangent<f64> {
        &self.tangent[entry]
    }
}

/// Energy of all bonds, J.
pub fn energy<W: EnergyLaw>(system: &System<f64>) -> f64 {
    let mut out = vec![0.0; system.bonds.other.len()];
    each(system, &mut out, |entry, owner, out| {
        let bond = standing(system, owner, entry);
        *out = W::energy(bond.at, bond.rest_length, bond.k);
    });
    out.iter().sum()
}

/// Bonds beyond their strength, in the order of entries, and the largest part of its strength that any carries.
pub fn broken<W: EnergyLaw>(system: &System<f64>) -> (Vec<BreakEvent>, f64) {
    let mut out = vec![(0.0, None); system.bonds.other.len()];
    each(system, &mut out, |entry, owner, out| {
        let bonds = &system.bonds;
        let (sigma_c, tau_c) = (bonds.sigma_c.get(entry), bonds.tau_c.get(entry));
        let bond = standing(system, owner, entry);
        let section = &system.classes[bonds.class.get(entry) as usize].section;
        let (sigma, tau) = failure::stress(&bond.load::<W>(), section);
        let used = (sigma / sigma_c).max(tau / tau_c);
        let other = bonds.other[entry];
        let event = (used > 1.0).then(|| BreakEvent {
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

/// What the bonds of each element carry, and Σ x_ij·F of each, N m.
pub fn carried<W: EnergyLaw>(system: &System<f64>) -> (Vec<Carried>, Vec<f64>) {
    let mut out = vec![(Carried::default(), 0.0); system.bonds.other.len()];
    each(system, &mut out, |entry, owner, out| {
        let bond = standing(system, owner, entry);
        let load = bond.load::<W>();
        let section = &system.classes[system.bonds.class.get(entry) as usize].section;
        let (sigma, tau) = failure::stress(&load, section);
        let energy = 0.5 * W::energy(bond.at, bond.rest_length, bond.k);
        let sigma = sigma.max(0.0);
        let virial = hydrostatic::virial(bond.at.u.norm(), load.axial);
        *out = (Carried { sigma, tau, energy }, virial);
    });
    let of = |i: usize| {
        let (mut sum, mut virial) = (Carried::default(), 0.0);
        for side in system.bonds.whole_sides(i) {
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
