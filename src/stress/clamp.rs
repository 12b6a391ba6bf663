//! Reactions of clamps: tractions that vary linearly over each clamp's patch, so that its mean displacement
//! and rotation are as prescribed.
//!
//! ```text
//! Σ_i c_i ⟨φ_j, u_i⟩ + ⟨φ_j, u_loads⟩ + ⟨φ_j, s + w × (x − x_c)⟩ = ⟨φ_j, d + θ × (x − x_k)⟩     for each mode j
//! Σ_i c_i R_i + R_loads = 0
//! ```
//!
//! Modes φ_j of a patch k: three of even traction, and of traction b × (x − x_k)/ℓ as many as there are axes
//! b about which the patch carries torques: three, but of a patch that is nearly a line. u_i, u_loads:
//! responses under inertia relief, without mean displacement and rotation. s, w: the body's rigid motion. R:
//! resultant force and moment over ℓ. Clamps share loads between them as their compliance asks; by
//! Saint-Venant's principle stress is that of rigid clamps at a distance from them.

use glam::DVec3;

use super::case::{Case, Grip};
use super::patch::Variation;
use crate::bem::points::place;
use crate::bem::traction::MIDDLES;
use crate::bem::{Surface, Traction};
use crate::solve::lu::Lu;

/// A pivot below this part of its row counts as zero: clamps that hold the same have rows that differ by what
/// iterations leave.
const SINGULAR: f64 = 1e-6;

/// Force and moment about the centre of mass, as one column.
pub type Resultant = [f64; 6];

/// A load's displacement in the modes, and its resultant.
#[derive(Clone, Debug)]
pub struct Response {
    /// ⟨φ_j, u⟩ of each mode of each clamp.
    pub modes: Vec<f64>,
    /// Resultant force and moment over ℓ.
    pub resultant: Resultant,
}

/// Modes of a clamp as loads: even tractions, and turns about the axes about which its patch carries torques.
fn of_grip(surface: &Surface, grip: &Grip, variation: Variation, length: f64) -> Vec<Case> {
    let even = DVec3::AXES.map(|axis| (axis, DVec3::ZERO));
    let axes = grip.patch.axes(surface, variation).into_iter();
    let turns = axes.map(|axis| (DVec3::ZERO, axis / length));
    let mode = |tractions| {
        let mut case = Case::new(&grip.name, surface.len());
        let patch = &grip.patch;
        patch.load(surface, variation, tractions, &mut case.tractions);
        case
    };
    even.into_iter().chain(turns).map(mode).collect()
}

/// Modes of all clamps, in order.
pub fn modes(surface: &Surface, grips: &[Grip], variation: Variation, length: f64) -> Vec<Case> {
    let of = |grip| of_grip(surface, grip, variation, length);
    grips.iter().flat_map(of).collect()
}

/// ⟨φ, u⟩ = ∮ φ·u dS of a displacement u that is linear in place.
pub fn work(surface: &Surface, mode: &Case, u: impl Fn(DVec3) -> DVec3) -> f64 {
    let none = Traction::default();
    let tractions = mode.tractions.iter().enumerate();
    let loaded = tractions.filter(|(_, traction)| **traction != none);
    loaded
        .map(|(t, traction)| {
            let at = |at: [f64; 3]| traction.at(at).dot(u(place(surface, t, &at)));
            MIDDLES.map(at).iter().sum::<f64>() * surface.areas[t] / 3.0
        })
        .sum()
}

/// Coefficients of the modes and the rigid motion (shift in m, turn times ℓ) that a body comes to; none where
/// the clamps overlap.
pub fn reactions(
    responses: &[Response],
    load: &Response,
    prescribed: &[f64],
) -> Option<(Vec<f64>, Resultant)> {
    let count = responses.len();
    let size = count + 6;
    // Compliance, resultants beside it and below it.
    let (mut rows, mut right) = (vec![0.0; size * size], vec![0.0; size]);
    // Compliances differ by many orders of magnitude, and resultants from both. Each mode is taken in units
    // of its own that make the diagonal of the compliance the same everywhere, and all compliances in units
    // that make it as large as resultants.
    let diagonal = |k: usize| responses[k].modes[k].abs();
    let softest = (0..count).map(diagonal).fold(0.0, f64::max);
    let units: Vec<f64> = (0..count).map(|k| (softest / diagonal(k)).sqrt()).collect();
    if !units.iter().all(|unit| unit.is_finite()) {
        return None;
    }
    let largest = |(r, unit): (&Response, &f64)| {
        let values = r.resultant.iter();
        values.fold(0.0f64, |most, v| most.max(v.abs())) * unit
    };
    let pairs = responses.iter().zip(&units);
    let forces = pairs.map(largest).fold(0.0, f64::max);
    let scale = match softest > 0.0 && forces > 0.0 {
        true => forces / softest,
        false => return None,
    };
    for (i, response) in responses.iter().enumerate() {
        for (j, value) in response.modes.iter().enumerate() {
            rows[j * size + i] = value * scale * units[i] * units[j];
        }
        for (k, value) in response.resultant.iter().enumerate() {
            rows[i * size + count + k] = *value * units[i];
            rows[(count + k) * size + i] = *value * units[i];
        }
        right[i] = (prescribed[i] - load.modes[i]) * scale * units[i];
    }
    for (k, value) in load.resultant.iter().enumerate() {
        right[count + k] = -value;
    }
    for (row, right) in rows.chunks_exact_mut(size).zip(&mut right) {
        let most = row.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        if most == 0.0 {
            return None;
        }
        row.iter_mut().for_each(|v| *v /= most);
        *right /= most;
    }
    let factors = Lu::new(rows, size).filter(|factors| factors.smallest_pivot() > SINGULAR)?;
    let found = factors.solve(&right);
    let motion = std::array::from_fn(|k| found[count + k] / scale);
    let pairs = found.iter().zip(&units);
    Some((pairs.map(|(found, unit)| found * unit).collect(), motion))
}
