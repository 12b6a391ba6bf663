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
    // Compliance, resultants beside it and below it, and the right-hand side last.
    let mut rows = vec![vec![0.0; size + 1]; size];
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
            rows[j][i] = value * scale;
        }
        for (k, value) in response.resultant.iter().enumerate() {
            rows[i][count + k] = *value;
            rows[count + k][i] = *value;
        }
        rows[i][size] = (prescribed[i] - load.modes[i]) * scale;
    }
    for (k, value) in load.resultant.iter().enumerate() {
        rows[count + k][size] = -value;
    }
    let found = eliminate(rows)?;
    let motion = std::array::from_fn(|k| found[count + k] / scale);
    Some((found[..count].to_vec(), motion))
}

/// Solves a small system, the right-hand side its last column, by Gauss's elimination with the largest pivots; none where it is singular.
fn eliminate(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let size = rows.len();
    let largest = |row: &Vec<f64>| row[..size].iter().fold(0.0f64, |most, v| most.max(v.abs()));
    let scales: Vec<f64> = rows.iter().map(largest).collect();
    for (row, scale) in rows.iter_mut().zip(scales) {
        if scale == 0.0 {
            return None;
        }
        row.iter_mut().for_each(|v| *v /= scale);
    }
    for k in 0..size {
        let best = (k..size).max_by(|a, b| rows[*a][k].abs().total_cmp(&rows[*b][k].abs()))?;
        rows.swap(k, best);
        let (above, below) = rows.split_at_mut(k + 1);
        let pivot = &above[k];
        if pivot[k].is_nan() || pivot[k].abs() < SINGULAR {
            return None;
        }
        for row in below {
            let factor = row[k] / pivot[k];
            for (value, other) in row[k..].iter_mut().zip(&pivot[k..]) {
                *value -= factor * other;
            }
        }
    }
    let mut x = vec![0.0; size];
    for k in (0..size).rev() {
        let known: f64 = (k + 1..size).map(|j| rows[k][j] * x[j]).sum();
        x[k] = (rows[k][size] - known) / rows[k][k];
    }
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_systems_are_solved_and_singular_ones_told() {
        let rows = vec![vec![0.0, 2.0, 4.0], vec![1e6, 1e6, 3e6]];
        let x = eliminate(rows).unwrap();
        assert!((x[0] - 1.0).abs() < 1e-12 && (x[1] - 2.0).abs() < 1e-12);
        assert!(eliminate(vec![vec![1.0, 2.0, 1.0], vec![2.0, 4.0, 1.0]]).is_none());
    }
}
