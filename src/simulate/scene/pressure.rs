//! Pressure on the surface of a body, computed from its packing alone: a force on each surface element along
//! the inward normal, which rotates with the element.
//!
//! In a packing under hydrostatic stress p each bond transmits the force N for which Σ l N/(3V) = p. At a cut
//! surface, the missing bonds would have transmitted p on the exposed area of the element, so
//!
//! ```text
//! a_i = −(6 V_i/(z l_i)) Σ_j d_ij
//! ```
//! with V_i the volume of element i, l_i the mean length of its bonds, d_ij their unit directions and z the
//! number of bonds of an interior element. On the close-packed face of the hexagonal lattice the area is 2√3
//! r², that of an element there.

use glam::DVec3;

use crate::math::Scalar;
use crate::simulate::bonded::system::System;
use crate::simulate::error::SimulateError;

/// Length of Σ d_ij above which an element belongs to the surface. Elements of a close-packed face have 2.4;
/// few elements inside a random packing have 1.
const SURFACE_SUM: f64 = 1.2;

/// Forces at rest (N) of a pressure (Pa) on those `elements` that are at the surface. `volume` lists the
/// volumes of all elements, m³.
pub fn forces<S: Scalar>(
    system: &System<S>,
    elements: &[u32],
    volume: &[f64],
    pressure: f64,
) -> Vec<(u32, DVec3)> {
    let summed = |i: u32| {
        let (mut sum, mut length, mut count) = (DVec3::ZERO, 0.0, 0.0);
        // Bonds within a rigid piece count too: rigidity does not enlarge the surface.
        for side in system.bonds.sides(i as usize) {
            sum += DVec3::from_array(system.bonds.rest_direction(side).to_f64());
            length += system.bonds.length.get(side.entry).to_f64();
            count += 1.0;
        }
        (sum, length, count)
    };
    // Number of bonds of an interior element: the mean over elements away from the surface, which in a random
    // packing is close to the largest number.
    let (mut bonds, mut within) = (0.0, 0.0);
    let mut most: f64 = 0.0;
    for i in 0..system.count as u32 {
        let (sum, _, count) = summed(i);
        most = most.max(count);
        if sum.length() < SURFACE_SUM / 2.0 {
            bonds += count;
            within += 1.0;
        }
    }
    let full = if within > 0.0 { bonds / within } else { most };
    let mut out = Vec::new();
    for &i in elements {
        let (sum, length, count) = summed(i);
        if sum.length() < SURFACE_SUM || system.inverse_mass[i as usize].to_f64() == 0.0 {
            continue;
        }
        let area = sum * (-6.0 * volume[i as usize] * count / (full * length));
        out.push((i, -area * pressure));
    }
    out
}

/// Returns an error if a pressure acts on no surface element.
pub fn require_surface<T>(forces: &[T], attachment: &str) -> Result<(), SimulateError> {
    if forces.is_empty() {
        return Err(SimulateError::NoSurface {
            attachment: attachment.to_owned(),
        });
    }
    Ok(())
}
