//! Reactions of clamps: tractions that vary linearly over each clamp's patch, so that its mean displacement and rotation are as prescribed.
//!
//! ```text
//! Σ_i c_i ⟨φ_j, u_i⟩ + ⟨φ_j, u_loads⟩ + ⟨φ_j, s + w × (x − x_c)⟩ = ⟨φ_j, d + θ × (x − x_k)⟩     for each mode j
//! Σ_i c_i R_i + R_loads = 0
//! ```
//!
//! Modes φ_j of a patch k: three of even traction, three of traction b × (x − x_k)/ℓ. u_i, u_loads: responses under inertia relief, without mean displacement
//! and rotation. s, w: the body's rigid motion. R: resultant force and moment over ℓ. Clamps share loads between them as their compliance asks; by
//! Saint-Venant's principle stress is that of rigid clamps at a distance from them.

use glam::DVec3;

use super::case::{Case, Grip};
use crate::bem::Surface;
use crate::solve::lu::Lu;

/// The six modes of a patch: even traction, and its rotation about the centre, per unit length.
const MODES: usize = 6;
/// A pivot below this part of its row counts as zero: clamps that hold the same have rows that differ by what iterations leave.
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

/// A mode of a clamp as a load.
pub fn mode(surface: &Surface, grip: &Grip, k: usize, length: f64) -> Case {
    let mut case = Case::new(&grip.name, surface.len());
    let axis = DVec3::AXES[k % 3];
    let tractions = match k < 3 {
        true => (axis, DVec3::ZERO),
        false => (DVec3::ZERO, axis / length),
    };
    grip.patch.load(surface, tractions, &mut case.tractions);
    case
}

/// Modes of all clamps, in order.
pub fn modes(surface: &Surface, grips: &[Grip], length: f64) -> Vec<Case> {
    let of = |grip| (0..MODES).map(move |k| mode(surface, grip, k, length));
    grips.iter().flat_map(of).collect()
}

/// ⟨φ, u⟩ = Σ_t A_t φ_t · u_t over the triangles, u their mean displacement.
pub fn work(surface: &Surface, mode: &Case, vertices: &[DVec3]) -> f64 {
    let tractions = mode.tractions.iter().enumerate();
    let loaded = tractions.filter(|(_, traction)| **traction != DVec3::ZERO);
    loaded
        .map(|(t, traction)| {
            let [a, b, c] = surface.mesh.triangles[t].map(|v| vertices[v as usize]);
            traction.dot(a + b + c) * surface.areas[t] / 3.0
        })
        .sum()
}

/// Coefficients of the modes and the rigid motion (shift in m, turn times ℓ) that a body comes to; none where the clamps overlap.
pub fn reactions(
    responses: &[Response],
    load: &Response,
    prescribed: &[f64],
) -> Option<(Vec<f64>, Resultant)> {
    let count = responses.len();
    let size = count + 6;
    // Compliance, resultants beside it and below it.
    let (mut rows, mut right) = (vec![0.0; size * size], vec![0.0; size]);
    // Compliances and resultants differ by many orders of magnitude: what the compliance multiplies is taken in units that make its diagonal 1.
    let diagonal = |k: usize| responses[k].modes[k].abs();
    let softest = (0..count).map(diagonal).fold(0.0, f64::max);
    let largest = |r: &Response| r.resultant.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    let forces = responses.iter().map(largest).fold(0.0, f64::max);
    let scale = match softest > 0.0 && forces > 0.0 {
        true => forces / softest,
        false => return None,
    };
    for (i, response) in responses.iter().enumerate() {
        for (j, value) in response.modes.iter().enumerate() {
            rows[j * size + i] = value * scale;
        }
        for (k, value) in response.resultant.iter().enumerate() {
            rows[i * size + count + k] = *value;
            rows[(count + k) * size + i] = *value;
        }
        right[i] = (prescribed[i] - load.modes[i]) * scale;
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
    Some((found[..count].to_vec(), motion))
}
