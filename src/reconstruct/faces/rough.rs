//! Grain of crack faces below the size of elements.
//!
//! Three channels of value noise in rest space, two octaves, move each vertex of a crack. Both faces have one
//! place there, so what stands out of one is missing in the other, and a crack that shuts again fits. The
//! noise follows from the place alone: it neither flickers nor depends on what else breaks. Rims stay on the
//! skin.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::fair::Vertex;

/// Wavelength of the first octave, radii; that of the second is half of it.
const WAVELENGTH: f64 = 2.0;

/// Moves vertices by up to `depth` (m) along each axis. Elements have this `radius` (m).
pub fn roughen(vertices: &mut [Vertex], depth: f64, radius: f64) {
    if depth == 0.0 {
        return;
    }
    vertices
        .par_iter_mut()
        .with_min_len(1024)
        .filter(|vertex| !vertex.pinned)
        .for_each(|vertex| {
            let x = vertex.position / (WAVELENGTH * radius);
            vertex.position += depth * (2.0 * noise(x) + noise(2.0 * x + 17.0)) / 3.0;
        });
}

/// Smooth noise between -1 and 1 in each channel, with cells of edge 1.
fn noise(x: DVec3) -> DVec3 {
    let cell = x.floor();
    let part = x - cell;
    let smooth = part * part * (DVec3::splat(3.0) - 2.0 * part);
    (0..8).fold(DVec3::ZERO, |sum, corner| {
        let offset = DVec3::new(
            f64::from(corner & 1),
            f64::from(corner >> 1 & 1),
            f64::from(corner >> 2),
        );
        let weights = offset * smooth + (DVec3::ONE - offset) * (DVec3::ONE - smooth);
        sum + at_corner(cell + offset) * weights.element_product()
    })
}

/// Random values at a corner of the noise's cells (the mix of splitmix64, Steele et al. 2014).
fn at_corner(corner: DVec3) -> DVec3 {
    let mut state = corner.to_array().iter().fold(0_u64, |hash, &c| {
        (hash ^ c as i64 as u64)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(27)
    });
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    DVec3::new(next(), next(), next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_smooth_centred_and_bounded() {
        let (mut sum, mut squares, mut steepest) = (DVec3::ZERO, DVec3::ZERO, 0.0_f64);
        let count = 20_000;
        for n in 0..count {
            let t = f64::from(n);
            let x = DVec3::new(0.618 * t, 0.414 * t, -0.732 * t) % 50.0;
            let value = noise(x);
            assert!(value.abs().max_element() <= 1.0);
            steepest = steepest.max(value.distance(noise(x + DVec3::splat(1e-4))));
            sum += value;
            squares += value * value;
        }
        let count = f64::from(count);
        assert!((sum / count).abs().max_element() < 0.03);
        assert!((squares / count).min_element() > 0.05);
        assert!(steepest < 1e-3);
    }
}
