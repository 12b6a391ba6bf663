//! Tables for tests.

use std::ops::Range;

use super::tables::Frames;

/// These rows of a frame, with pseudo-random motion.
pub fn noisy_frames(rows: Range<u32>) -> Frames {
    let noise = |seed: u32| -> Vec<f32> {
        let word = |k: u32| (k ^ seed << 20).wrapping_mul(0x9E37_79B9) >> 8;
        rows.clone().map(|k| word(k) as f32 / 1e6 - 8.0).collect()
    };
    let [x, y, z, qx, qy, qz, qw, vx, vy, vz, wx, wy, wz, sigma, tau] =
        std::array::from_fn(|k| noise(k as u32));
    Frames {
        frame: vec![3; rows.len()],
        time: vec![0.25; rows.len()],
        id: rows.clone().collect(),
        fragment: rows.clone().map(|k| k / 100).collect(),
        broken: rows.clone().map(|k| k % 13).collect(),
        x,
        y,
        z,
        qx,
        qy,
        qz,
        qw,
        vx,
        vy,
        vz,
        wx,
        wy,
        wz,
        sigma,
        tau,
    }
}
