//! What colliders and clamps bear, as the device adds it up: twins of the words of `shaders/kernels/bear.wgsl`.

use glam::DVec3;

use super::Scene;
use super::constants::{
    AREA_WORDS, BEAR_BLOCK, BEGINNING, LAST, NUMBER_WORDS, NUMBERS, ROW_WORDS, WITHIN,
};
use crate::simulate::contact::surfaces::Surfaces;
use crate::simulate::scene::colliders::Obstacle;
use crate::simulate::scene::reactions::{Bearers, Wrench};

/// Loads of a frame.
pub struct Reactions {
    /// Sums over all steps but the last.
    pub before: Vec<Wrench>,
    /// Of the last step.
    pub now: Vec<Wrench>,
    /// Before the first step of a run, where that was in the frame.
    pub beginning: Vec<Wrench>,
    /// Elements that touch each collider.
    pub touching: Vec<u32>,
}

/// Rows for elements padded to `stride`.
pub fn rows(bearers: &Bearers, stride: u64) -> u64 {
    let colliders = bearers.colliders().len() as u64;
    stride.div_ceil(u64::from(BEAR_BLOCK)) * colliders + bearers.held().len() as u64
}

/// The power of two that loads are counted in, N: 2⁻⁶⁰ of what stiffest contact and bond can do. Below it lie
/// 36 bits of what single precision knows of such a load, above it is room for 2³⁵ of them.
pub fn unit(
    surfaces: &Surfaces,
    obstacles: &[Obstacle],
    largest: f64,
    bonds: impl Iterator<Item = f64>,
) -> f64 {
    let contacts = (0..surfaces.count())
        .map(|material| surfaces.stiffest(material, largest, largest, obstacles) * largest);
    let load = contacts.chain(bonds).fold(0.0, f64::max);
    // Such that a shader can count with it and its inverse.
    let exponent = (load.log2().ceil() - 60.0).clamp(-120.0, 120.0);
    exponent.exp2()
}

impl Scene {
    /// From the words that the device has added up.
    pub fn reactions(&self, words: &[u32]) -> Reactions {
        let (touching, rows) = words.split_at(self.bearers.colliders().len());
        let [before, now, beginning] =
            [WITHIN, LAST, BEGINNING].map(|area| self.borne(rows, area as usize));
        Reactions {
            before,
            now,
            beginning,
            touching: touching.to_vec(),
        }
    }

    /// One area of all rows, by bearer.
    fn borne(&self, rows: &[u32], area: usize) -> Vec<Wrench> {
        let held = self.bearers.held();
        let colliders = self.bearers.colliders().len();
        let rows: Vec<&[u32]> = rows.chunks_exact(ROW_WORDS as usize).collect();
        let (walls, clamped) = rows.split_at(rows.len() - held.len());
        let mut sums = vec![[0; NUMBERS as usize]; colliders];
        for (k, row) in walls.iter().enumerate() {
            for (sum, number) in sums[k % colliders].iter_mut().zip(numbers(row, area)) {
                *sum += number;
            }
        }
        let mut out: Vec<Wrench> = sums.into_iter().map(|sum| self.wrench(sum)).collect();
        out.resize(self.bearers.count(), Wrench::default());
        for (held, row) in held.iter().zip(clamped) {
            let sum = self.wrench(numbers(row, area));
            out[self.bearers.attachment(held.attachment)] += held.borne(sum);
        }
        out
    }

    fn wrench(&self, units: [i128; NUMBERS as usize]) -> Wrench {
        let [fx, fy, fz, tx, ty, tz] = units.map(|n| n as f64 * self.load_unit);
        Wrench {
            force: DVec3::new(fx, fy, fz),
            torque: DVec3::new(tx, ty, tz),
        }
    }
}

/// The numbers of an area of a row: 96 bits with a sign.
fn numbers(row: &[u32], area: usize) -> [i128; NUMBERS as usize] {
    std::array::from_fn(|k| {
        let at = area * AREA_WORDS as usize + k * NUMBER_WORDS as usize;
        let [low, mid, high] = [row[at], row[at + 1], row[at + 2]];
        i128::from(high as i32) << 64 | i128::from(mid) << 32 | i128::from(low)
    })
}
