//! Pressure on the surface of a body, told from its packing alone: a force on each outer element along the
//! inward normal, which turns with it.
//!
//! A packing under even stress p bears the force N in each bond for which Σ l N/(3V) = p. Cut at a surface,
//! the bonds that are missing there would have borne p on the area that the element shows, so
//!
//! ```text
//! a_i = −(6 V_i/(z l_i)) Σ_j d_ij
//! ```
//! with V_i the volume that element i stands for, l_i the mean length of its bonds, d_ij their unit
//! directions and z the bonds of an element within. On the close-packed face of the hexagonal lattice that is
//! 2√3 r², the area of an element there.

use glam::DVec3;

use crate::math::Scalar;
use crate::simulate::bonded::system::System;
use crate::simulate::error::SimulateError;

/// Length of Σ d_ij from which an element counts as one of the surface; one of a close-packed face has 2.4,
/// within a random packing few have 1.
const OUTER: f64 = 1.2;

/// Forces of a pressure (Pa) at rest, N, on those of the elements that are at the surface; `volume` of all
/// elements, m³.
pub fn forces<S: Scalar>(
    system: &System<S>,
    elements: &[u32],
    volume: &[f64],
    pressure: f64,
) -> Vec<(u32, DVec3)> {
    let summed = |i: u32| {
        let (mut sum, mut length, mut count) = (DVec3::ZERO, 0.0, 0.0);
        // Those within a rigid piece count: its surface is no larger for being rigid.
        for side in system.bonds.sides(i as usize) {
            sum += DVec3::from_array(system.bonds.rest_direction(side).to_f64());
            length += system.bonds.length.get(side.entry).to_f64();
            count += 1.0;
        }
        (sum, length, count)
    };
    // Most bonds that any has, or close to it in a random packing: the mean of those that show no surface.
    let (mut bonds, mut within) = (0.0, 0.0);
    let mut most: f64 = 0.0;
    for i in 0..system.count as u32 {
        let (sum, _, count) = summed(i);
        most = most.max(count);
        if sum.length() < OUTER / 2.0 {
            bonds += count;
            within += 1.0;
        }
    }
    let full = if within > 0.0 { bonds / within } else { most };
    let mut out = Vec::new();
    for &i in elements {
        let (sum, length, count) = summed(i);
        if sum.length() < OUTER || system.inverse_mass[i as usize].to_f64() == 0.0 {
            continue;
        }
        let area = sum * (-6.0 * volume[i as usize] * count / (full * length));
        out.push((i, -area * pressure));
    }
    out
}

/// Refuses a pressure that finds no surface.
pub fn require<T>(forces: &[T], attachment: &str) -> Result<(), SimulateError> {
    if forces.is_empty() {
        return Err(SimulateError::NoSurface {
            attachment: attachment.to_owned(),
        });
    }
    Ok(())
}
