//! Reactions of clamps: tractions that vary linearly over each clamp's patch, so that its mean displacement
//! and rotation are as prescribed.
//!
//! ```text
//! Σ_i c_i ⟨φ_j, u_i⟩ + ⟨φ_j, u_loads⟩ + ⟨φ_j, s + w × (x − x_c)⟩ = ⟨φ_j, d + θ × (x − x_k)⟩     for each mode j
//! Σ_i c_i R_i + R_loads = 0
//! ```
//!
//! Modes φ_j of a patch k: three of uniform traction, and one of traction b × (x − x_k)/ℓ for each axis b
//! about which the patch carries torques: three axes, unless the patch is nearly a line. u_i, u_loads:
//! responses under inertia relief, without mean displacement and rotation. s, w: the body's rigid motion. R:
//! resultant force, and moment over ℓ. The compliances of the clamps determine how they share the loads; by
//! Saint-Venant's principle the stress at a distance from the clamps is that of rigid clamps.

use glam::DVec3;

use super::case::{Clamp, LoadCase};
use super::patch::Variation;
use crate::bem::points::place;
use crate::bem::traction::SIDE_MIDPOINTS;
use crate::bem::{Surface, Traction};
use crate::solve::lu::Lu;

/// Pivots below this fraction of the largest entry of their row count as zero: rows of clamps that hold the
/// same surface differ only by the error of the iterations.
const MIN_PIVOT: f64 = 1e-6;

/// Resultant force, and moment about the centre of mass over ℓ, as one column. Also a rigid motion:
/// translation, and rotation vector times ℓ.
pub type Resultant = [f64; 6];

/// Displacement of the clamps' modes under a load, and resultant of the load.
#[derive(Clone, Debug)]
pub struct Response {
    /// ⟨φ_j, u⟩ for each mode of each clamp.
    pub modes: Vec<f64>,
    /// Resultant force and moment over ℓ.
    pub resultant: Resultant,
}

/// Modes of a clamp as load cases: uniform tractions along x, y and z, and rotations about the axes about
/// which its patch carries torques.
fn modes_of(surface: &Surface, clamp: &Clamp, variation: Variation, length: f64) -> Vec<LoadCase> {
    let even = DVec3::AXES.map(|axis| (axis, DVec3::ZERO));
    let axes = clamp.patch.axes(surface, variation).into_iter();
    let turns = axes.map(|axis| (DVec3::ZERO, axis / length));
    let mode = |tractions| {
        let mut case = LoadCase::new(&clamp.name, surface.len());
        let patch = &clamp.patch;
        patch.add_traction(surface, variation, tractions, &mut case.tractions);
        case
    };
    even.into_iter().chain(turns).map(mode).collect()
}

/// Modes of all clamps, in the order of the clamps.
pub fn modes(
    surface: &Surface,
    clamps: &[Clamp],
    variation: Variation,
    length: f64,
) -> Vec<LoadCase> {
    let of = |clamp| modes_of(surface, clamp, variation, length);
    clamps.iter().flat_map(of).collect()
}

/// ⟨φ, u⟩ = ∮ φ·u dS for a displacement u that is linear in x.
pub fn work(surface: &Surface, mode: &LoadCase, u: impl Fn(DVec3) -> DVec3) -> f64 {
    let none = Traction::default();
    let tractions = mode.tractions.iter().enumerate();
    let loaded = tractions.filter(|(_, traction)| **traction != none);
    loaded
        .map(|(t, traction)| {
            let at = |at: [f64; 3]| traction.at(at).dot(u(place(surface, t, &at)));
            SIDE_MIDPOINTS.map(at).iter().sum::<f64>() * surface.areas[t] / 3.0
        })
        .sum()
}

/// Coefficients of the modes, and the rigid motion of the body (translation, m, and rotation vector times ℓ);
/// none if the clamps overlap.
pub fn reactions(
    responses: &[Response],
    load: &Response,
    prescribed: &[f64],
) -> Option<(Vec<f64>, Resultant)> {
    let count = responses.len();
    let size = count + 6;
    // The matrix: compliances, with the resultants to their right and below them.
    let (mut rows, mut right) = (vec![0.0; size * size], vec![0.0; size]);
    // Compliances differ by many orders of magnitude from each other and from resultants. Each mode is scaled
    // so that all diagonal entries of the compliance are equal, and all compliances are scaled so that they
    // are as large as the resultants.
    let diagonal = |k: usize| responses[k].modes[k].abs();
    let softest = (0..count).map(diagonal).fold(0.0, f64::max);
    let scales: Vec<f64> = (0..count).map(|k| (softest / diagonal(k)).sqrt()).collect();
    if !scales.iter().all(|scale_of_mode| scale_of_mode.is_finite()) {
        return None;
    }
    let largest = |(r, scale_of_mode): (&Response, &f64)| {
        let values = r.resultant.iter();
        values.fold(0.0f64, |largest_entry, v| largest_entry.max(v.abs())) * scale_of_mode
    };
    let pairs = responses.iter().zip(&scales);
    let forces = pairs.map(largest).fold(0.0, f64::max);
    let scale = match softest > 0.0 && forces > 0.0 {
        true => forces / softest,
        false => return None,
    };
    for (i, response) in responses.iter().enumerate() {
        for (j, value) in response.modes.iter().enumerate() {
            rows[j * size + i] = value * scale * scales[i] * scales[j];
        }
        for (k, value) in response.resultant.iter().enumerate() {
            rows[i * size + count + k] = *value * scales[i];
            rows[(count + k) * size + i] = *value * scales[i];
        }
        right[i] = (prescribed[i] - load.modes[i]) * scale * scales[i];
    }
    for (k, value) in load.resultant.iter().enumerate() {
        right[count + k] = -value;
    }
    for (row, right) in rows.chunks_exact_mut(size).zip(&mut right) {
        let largest_entry = row
            .iter()
            .fold(0.0f64, |largest_entry, v| largest_entry.max(v.abs()));
        if largest_entry == 0.0 {
            return None;
        }
        row.iter_mut().for_each(|v| *v /= largest_entry);
        *right /= largest_entry;
    }
    let factors = Lu::new(rows, size).filter(|factors| factors.smallest_pivot() > MIN_PIVOT)?;
    let found = factors.solve(&right);
    let motion = std::array::from_fn(|k| found[count + k] / scale);
    let pairs = found.iter().zip(&scales);
    Some((
        pairs
            .map(|(found, scale_of_mode)| found * scale_of_mode)
            .collect(),
        motion,
    ))
}
