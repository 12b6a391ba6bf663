//! What colliders and clamps bear, as the device adds it up: twins of the words of `shaders/kernels/bear.wgsl`.

use glam::DVec3;

use super::DeviceScene;
use super::constants::{
    ACCUMULATOR_WORDS, REACTION_BLOCK, START_LOADS, LAST_STEP, COMPONENT_WORDS, WRENCH_COMPONENTS, REACTION_ROW_WORDS, FULL_STEPS,
};
use crate::simulate::contact::surfaces::Surfaces;
use crate::simulate::scene::colliders::Obstacle;
use crate::simulate::scene::reactions::{Bearers, Wrench};

/// Loads of a frame.
pub struct Reactions {
    /// Sums over all steps but the last.
    pub before: Vec<Wrench>,
    /// Of the last step.
    pub last_step: Vec<Wrench>,
    /// Before the first step of a run, where that was in the frame.
    pub at_start: Vec<Wrench>,
    /// Elements that touch each collider.
    pub touching: Vec<u32>,
}

/// Rows for elements padded to `stride`.
pub fn row_count(bearers: &Bearers, stride: u64) -> u64 {
    let colliders = bearers.colliders().len() as u64;
    stride.div_ceil(u64::from(REACTION_BLOCK)) * colliders + bearers.held().len() as u64
}

/// The power of two that loads are counted in, N: 2⁻⁶⁰ of what stiffest contact and bond can do. Below it lie
/// 36 bits of what single precision knows of such a load, above it is room for 2³⁵ of them.
pub fn load_unit(
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

impl DeviceScene {
    /// From the words that the device has added up.
    pub fn reactions(&self, words: &[u32]) -> Reactions {
        let (touching, rows) = words.split_at(self.bearers.colliders().len());
        let [before, last_step, at_start] =
            [FULL_STEPS, LAST_STEP, START_LOADS].map(|accumulator| self.wrenches(rows, accumulator as usize));
        Reactions {
            before,
            last_step,
            at_start,
            touching: touching.to_vec(),
        }
    }

    /// One area of all rows, by bearer.
    fn wrenches(&self, rows: &[u32], accumulator: usize) -> Vec<Wrench> {
        let held = self.bearers.held();
        let colliders = self.bearers.colliders().len();
        let rows: Vec<&[u32]> = rows.chunks_exact(REACTION_ROW_WORDS as usize).collect();
        let (walls, clamped) = rows.split_at(rows.len() - held.len());
        let mut sums = vec![[0; WRENCH_COMPONENTS as usize]; colliders];
        for (k, row) in walls.iter().enumerate() {
            for (sum, component) in sums[k % colliders].iter_mut().zip(components(row, accumulator)) {
                *sum += component;
            }
        }
        let mut out: Vec<Wrench> = sums.into_iter().map(|sum| self.wrench(sum)).collect();
        out.resize(self.bearers.count(), Wrench::default());
        for (held, row) in held.iter().zip(clamped) {
            let sum = self.wrench(components(row, accumulator));
            out[self.bearers.attachment(held.attachment)] += held.borne(sum);
        }
        out
    }

    fn wrench(&self, units: [i128; WRENCH_COMPONENTS as usize]) -> Wrench {
        let [fx, fy, fz, tx, ty, tz] = units.map(|n| n as f64 * self.load_unit);
        Wrench {
            force: DVec3::new(fx, fy, fz),
            torque: DVec3::new(tx, ty, tz),
        }
    }
}

/// The components of an area of a row: 96 bits with a sign.
fn components(row: &[u32], accumulator: usize) -> [i128; WRENCH_COMPONENTS as usize] {
    std::array::from_fn(|k| {
        let at = accumulator * ACCUMULATOR_WORDS as usize + k * COMPONENT_WORDS as usize;
        let [low, mid, high] = [row[at], row[at + 1], row[at + 2]];
        i128::from(high as i32) << 64 | i128::from(mid) << 32 | i128::from(low)
    })
}
