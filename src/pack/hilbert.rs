//! Order along a Hilbert curve, which places elements that are near each other in space near each other in
//! memory.

use crate::parallel::prelude::*;
use glam::DVec3;

/// Bits per axis.
const BITS: u32 = 16;

/// Indices of the points along the curve through their bounding cube; equal keys keep their order.
pub(super) fn order(points: &[DVec3]) -> Vec<u32> {
    let empty = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (low, high) = points
        .iter()
        .fold(empty, |(low, high), p| (low.min(*p), high.max(*p)));
    let edge = (high - low).max_element();
    let scale = if edge > 0.0 {
        f64::from((1_u32 << BITS) - 1) / edge
    } else {
        0.0
    };
    let mut keys: Vec<(u64, u32)> = points
        .par_iter()
        .zip(0..points.len() as u32)
        .map(|(p, index)| {
            let cell = ((*p - low) * scale).to_array().map(|c| c as u32);
            (key(cell), index)
        })
        .collect();
    keys.par_sort_unstable();
    keys.into_iter().map(|(_, index)| index).collect()
}

/// Distance along the curve (Skilling 2004, AxestoTranspose).
fn key(mut x: [u32; 3]) -> u64 {
    let mut q = 1 << (BITS - 1);
    while q > 1 {
        let p = q - 1;
        for i in 0..3 {
            if x[i] & q != 0 {
                x[0] ^= p;
            } else {
                let t = (x[0] ^ x[i]) & p;
                x[0] ^= t;
                x[i] ^= t;
            }
        }
        q >>= 1;
    }
    x[1] ^= x[0];
    x[2] ^= x[1];
    let mut t = 0;
    let mut q = 1 << (BITS - 1);
    while q > 1 {
        if x[2] & q != 0 {
            t ^= q - 1;
        }
        q >>= 1;
    }
    let mut key = 0;
    for bit in (0..BITS).rev() {
        for axis in x {
            key = key << 1 | u64::from((axis ^ t) >> bit & 1);
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_steps_from_cell_to_neighbouring_cell() {
        let n = 8_u32;
        let points: Vec<DVec3> = (0..n * n * n)
            .map(|k| DVec3::new(f64::from(k % n), f64::from(k / n % n), f64::from(k / n / n)))
            .collect();
        let order = order(&points);
        for pair in order.windows(2) {
            let step = points[pair[0] as usize].distance(points[pair[1] as usize]);
            assert_eq!(step, 1.0);
        }
    }
}
