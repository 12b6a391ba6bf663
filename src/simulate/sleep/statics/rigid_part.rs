//! The rigid part of a vector with force or displacement, and torque or rotation, per element.
//!
//! Rows have the form of [`crate::solve`]: `[u, h θ]` for displacements and `[F, T/h]` for loads, h being the
//! length by which rotations are multiplied.

use crate::parallel::prelude::*;
use glam::{DMat3, DVec3};

use crate::solve::Six;
use crate::solve::vector::CHUNK;

/// Removes the part of a vector that moves all elements like one rigid body.
///
/// The rigid motion a + α × r, α has the same total force and torque as the vector, if each element resists
/// it with its weights. With masses and inertias as weights, a load loses what accelerates the body. With
/// weights 1 and h², any vector loses its projection onto the six rigid modes.
#[derive(Clone, Debug)]
pub struct RigidPart {
    /// Position relative to the weighted centre, m, and weights of translation and of rotation over h.
    elements: Vec<(DVec3, [f64; 2])>,
    /// h, m.
    length: f64,
    /// Sum of the weights of translation.
    total: f64,
    /// Inverse of the weighted inertia about the centre.
    inverse: DMat3,
}

impl RigidPart {
    /// The rigid part of elements at `places` (m), with these positive weights of translation and of
    /// rotation, and the length h (m).
    pub fn new(places: &[DVec3], weights: impl Fn(usize) -> [f64; 2], length: f64) -> Self {
        let (mut total, mut moment) = (0.0, DVec3::ZERO);
        for (i, &place) in places.iter().enumerate() {
            let [weight, _] = weights(i);
            total += weight;
            moment += weight * (place - places[0]);
        }
        let mut inertia = DMat3::ZERO;
        let mut elements = Vec::with_capacity(places.len());
        for (i, &place) in places.iter().enumerate() {
            let [weight, own] = weights(i);
            let arm = place - places[0] - moment / total;
            // Steiner: m (r² 1 − r rᵀ) on top of the element's own.
            let outer = DMat3::from_cols(arm * arm.x, arm * arm.y, arm * arm.z);
            inertia += DMat3::from_diagonal(DVec3::splat(weight * arm.length_squared() + own))
                - weight * outer;
            elements.push((arm, [weight, own / length]));
        }
        RigidPart {
            elements,
            length,
            total,
            inverse: inertia.inverse(),
        }
    }

    /// Subtracts the rigid part from a vector with one row per element.
    pub fn remove(&self, vector: &mut [Six]) {
        let (shift, turn) = self.motion(vector);
        let chunks = vector.par_chunks_mut(CHUNK);
        chunks
            .zip(self.elements.par_chunks(CHUNK))
            .for_each(|(rows, elements)| {
                for (row, (arm, [weight, turning])) in rows.iter_mut().zip(elements) {
                    let (first, second) = vectors(row);
                    let first = first - *weight * (shift + turn.cross(*arm));
                    *row = six(first, second - *turning * turn);
                }
            });
    }

    /// a and α of a vector.
    fn motion(&self, vector: &[Six]) -> (DVec3, DVec3) {
        let of = |(rows, elements): (&[Six], &[(DVec3, [f64; 2])])| {
            let mut sums = [DVec3::ZERO; 2];
            for (row, (arm, _)) in rows.iter().zip(elements) {
                let (first, second) = vectors(row);
                sums[0] += first;
                sums[1] += arm.cross(first) + self.length * second;
            }
            sums
        };
        let chunks = vector.par_chunks(CHUNK);
        let parts = chunks.zip(self.elements.par_chunks(CHUNK)).map(of);
        let (mut force, mut torque) = (DVec3::ZERO, DVec3::ZERO);
        for [f, t] in parts.collect::<Vec<_>>() {
            force += f;
            torque += t;
        }
        (force / self.total, self.inverse * torque)
    }
}

/// Both halves of a row.
pub fn vectors(row: &Six) -> (DVec3, DVec3) {
    let [a, b, c, d, e, f] = *row;
    (DVec3::new(a, b, c), DVec3::new(d, e, f))
}

/// A row from its halves.
pub fn six(first: DVec3, second: DVec3) -> Six {
    [first.x, first.y, first.z, second.x, second.y, second.z]
}
