//! Bonds of an implicit step: what they do to their ends, their second derivatives, what they carry.
//!
//! Their damping is that of explicit steps with displacements over the step in the place of velocities times
//! its length. It is not among what they carry: only what is elastic breaks them.
//!
//! Every bond is evaluated once, where its owner stands; elements then add up their bonds in a fixed order.

use crate::parallel::prelude::*;

use super::start::Start;
use crate::columns::BreakMode;
use crate::laws::bond::{BondLoad, Stiffness};
use crate::laws::energy::EnergyLaw;
use crate::laws::relative::{self, Relative, relative};
use crate::laws::tangent::{Curvature, Tangent, gauss_newton};
use crate::laws::{damping, failure, hydrostatic};
use crate::math::quat::rotation_between;
use crate::math::{Mat3, Vec3};
use crate::simulate::bonded::bond_tasks::{BreakEvent, Carried};
use crate::simulate::bonded::bonds::BLOCK;
use crate::simulate::bonded::system::System;
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
    /// Damping of relative translation, N s/m, and of relative spin, N m s.
    damping: [f64; 2],
}

fn standing(system: &System<f64>, owner: usize, entry: usize) -> Standing {
    let bonds = &system.bonds;
    let other = bonds.other[entry] as usize;
    let x = system.position(owner) - system.position(other);
    let [dx, dy, dz] = &bonds.direction;
    let rest_length = bonds.length.get(entry);
    let class = &system.classes[bonds.class.get(entry) as usize];
    Standing {
        at: relative(
            Vec3::from_f64(x.to_array()),
            system.quaternion(owner),
            system.quaternion(other),
            Vec3::zero(),
            Vec3::new(dx[entry], dy[entry], dz[entry]),
        ),
        rest_length,
        k: class.stiffness(rest_length),
        damping: [class.damping, class.spin_damping],
    }
}

impl Standing {
    fn load<W: EnergyLaw>(&self) -> BondLoad<f64> {
        relative::load(self.at, W::gradient(self.at, self.rest_length, self.k))
    }

    /// Second derivatives of the damping by displacements in a step of length `h`. How its arms turn is left
    /// out: they are the smaller part of a small one.
    fn damping_tangent(&self, h: f64) -> Tangent<f64> {
        let [stretch, turn] = self.damping.map(|c| Mat3::diagonal(c / h));
        // Both ends turn the middle alike.
        let middle = Relative {
            sigma: Vec3::zero(),
            cosine: 1.0,
            ..self.at
        };
        gauss_newton(middle, Curvature { stretch, turn })
    }
}

/// Displacement and turn of an element over a step, over its length.
type Pace = [Vec3<f64>; 2];

fn pace(system: &System<f64>, start: &Start, i: usize) -> Pace {
    let moved = (system.position(i) - start.position[i]) / start.step;
    let turned = rotation_between(start.rotation[i], system.quaternion(i));
    [
        Vec3::from_f64(moved.to_array()),
        turned * (1.0 / start.step),
    ]
}

/// Calls `f` with entry, owner and place in `out` of every active bond; `out` has one place an entry.
fn each<T: Send>(
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

/// Room for what bonds do, one place an entry.
#[derive(Clone, Debug, Default)]
pub struct BondRoom {
    /// Force on the owner, what acts alike on both ends, what acts on the owner and in the opposite way on the other.
    load: Vec<[f64; 9]>,
    /// Of active bonds.
    tangent: Vec<Tangent<f64>>,
    /// Of every element where bonds have damping, else empty.
    pace: Vec<Pace>,
    damped: bool,
}

impl BondRoom {
    /// Of a system.
    pub fn new(system: &System<f64>) -> Self {
        let entries = system.bonds.other.len();
        BondRoom {
            load: vec![[0.0; 9]; entries],
            tangent: vec![Tangent::zero(); entries],
            pace: Vec::new(),
            damped: system
                .classes
                .iter()
                .any(|class| [class.damping, class.spin_damping] != [0.0; 2]),
        }
    }

    /// Writes forces and torques of the bonds of every element in a step that began so.
    pub fn loads<W: EnergyLaw>(&mut self, system: &System<f64>, start: &Start, sums: &mut [Six]) {
        if self.damped {
            let elements = (0..system.count).into_par_iter().with_min_len(256);
            elements
                .map(|i| pace(system, start, i))
                .collect_into_vec(&mut self.pace);
        }
        let paces = &self.pace;
        each(system, &mut self.load, |entry, owner, out| {
            let bond = standing(system, owner, entry);
            let load = bond.load::<W>();
            let (mut f, mut a, mut m) = (load.force, load.shear_moment, load.moment);
            if bond.damping != [0.0; 2] {
                let [[v_i, w_i], [v_j, w_j]] =
                    [owner, system.bonds.other[entry] as usize].map(|k| paces[k]);
                let [c, turn] = bond.damping;
                let (force, arm, spin) = damping::bond(-bond.at.u, v_i - v_j, w_i, w_j, c, turn);
                (f, a, m) = (f + force, a + arm, m + spin);
            }
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

    /// Sum of the squares of the forces of an element's bonds, N², as they were computed last.
    pub fn carried(&self, system: &System<f64>, i: usize) -> f64 {
        let square = |entry: usize| self.load[entry][..3].iter().map(|f| f * f).sum::<f64>();
        let sides = system.bonds.active_sides(i);
        sides.map(|side| square(side.entry)).sum()
    }

    /// Computes the second derivatives of all bonds in a step of length `h`.
    pub fn tangents<W: EnergyLaw>(&mut self, system: &System<f64>, h: f64, form: Form) {
        each(system, &mut self.tangent, |entry, owner, out| {
            let bond = standing(system, owner, entry);
            let (at, l0, k) = (bond.at, bond.rest_length, bond.k);
            *out = match form {
                Form::Exact => W::tangent(at, l0, k),
                Form::Projected => W::tangent(at, l0, k).projected(system.radius(owner)),
                Form::GaussNewton => W::gauss_newton_tangent(at, l0, k),
            };
            if bond.damping != [0.0; 2] {
                *out = out.plus(bond.damping_tangent(h));
            }
        });
    }

    /// Second derivatives of an active bond as they were computed last.
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
    if !system.bonds.can_break() {
        return (Vec::new(), 0.0);
    }
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
