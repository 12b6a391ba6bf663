//! Order along Hilbert's curve in three dimensions (Skilling 2004): what is near in the order is near in space.

use glam::DVec3;

/// Bits an axis.
const BITS: u32 = 16;

/// Key of `p` in the box from `low` with longest edge `extent` (m).
pub fn key(p: DVec3, low: DVec3, extent: f64) -> u64 {
    let scale = if extent > 0.0 {
        f64::from((1u32 << BITS) - 1) / extent
    } else {
        0.0
    };
    let x = axes_to_transpose(((p - low) * scale).to_array().map(|v| v as u32));
    (0..BITS).rev().fold(0, |key, bit| {
        x.iter()
            .fold(key, |key, v| key << 1 | u64::from(v >> bit & 1))
    })
}

fn axes_to_transpose(mut x: [u32; 3]) -> [u32; 3] {
    for bit in (1..BITS).rev() {
        let (q, p) = (1 << bit, (1 << bit) - 1);
        for k in 0..3 {
            if x[k] & q != 0 {
                x[0] ^= p;
            } else {
                let t = (x[0] ^ x[k]) & p;
                x[0] ^= t;
                x[k] ^= t;
            }
        }
    }
    x[1] ^= x[0];
    x[2] ^= x[1];
    let t = (1..BITS)
        .filter(|bit| x[2] >> bit & 1 != 0)
        .fold(0, |t, bit| t ^ ((1 << bit) - 1));
    x.map(|v| v ^ t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_on_the_curve_are_neighbours_in_space() {
        // The cells of the highest three bits, sorted by key: each step goes to a face neighbour.
        let mut cells: Vec<(u64, DVec3)> = (0..512)
            .map(|k| {
                let p = DVec3::new(f64::from(k & 7), f64::from(k >> 3 & 7), f64::from(k >> 6));
                (key((p + 0.5) / 8.0, DVec3::ZERO, 1.0), p)
            })
            .collect();
        cells.sort_by_key(|(key, _)| *key);
        for pair in cells.windows(2) {
            assert_eq!(pair[0].1.distance(pair[1].1), 1.0);
        }
    }
}
