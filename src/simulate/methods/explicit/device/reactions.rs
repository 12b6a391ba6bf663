//! Reactions of colliders and clamps, as summed on the device; see the layout in
//! `shaders/kernels/reaction_sums.wgsl`.

use glam::DVec3;

use super::DeviceScene;
use super::constants::{
    ACCUMULATOR_WORDS, COMPONENT_WORDS, FULL_STEPS, LAST_STEP, REACTION_BLOCK, REACTION_ROW_WORDS,
    START_LOADS, WRENCH_COMPONENTS,
};
use crate::simulate::contact::surfaces::Surfaces;
use crate::simulate::scene::colliders::PosedCollider;
use crate::simulate::scene::reactions::{Supports, Wrench};

/// Reactions of a frame.
pub struct Reactions {
    /// Sums over all steps except the last.
    pub before: Vec<Wrench>,
    /// Reactions of the last step.
    pub last_step: Vec<Wrench>,
    /// Reactions before the first step of a run, if the frame includes it.
    pub at_start: Vec<Wrench>,
    /// Number of elements that touch each collider.
    pub touching: Vec<u32>,
}

/// Number of rows for elements padded to `stride`.
pub fn row_count(supports: &Supports, stride: u64) -> u64 {
    let colliders = supports.colliders().len() as u64;
    stride.div_ceil(u64::from(REACTION_BLOCK)) * colliders + supports.held().len() as u64
}

/// Unit of the reaction sums, N: the power of two at 2⁻⁶⁰ of the largest load that the stiffest contact or
/// bond can bear. That leaves 36 bits below the precision of a single-precision load, and capacity for 2³⁵
/// such loads above.
pub fn load_unit(
    surfaces: &Surfaces,
    colliders: &[PosedCollider],
    largest: f64,
    bonds: impl Iterator<Item = f64>,
) -> f64 {
    let contacts = (0..surfaces.count())
        .map(|material| surfaces.stiffest(material, largest, largest, colliders) * largest);
    let load = contacts.chain(bonds).fold(0.0, f64::max);
    // A shader must be able to represent it and its inverse.
    let exponent = (load.log2().ceil() - 60.0).clamp(-120.0, 120.0);
    exponent.exp2()
}

impl DeviceScene {
    /// Decodes the words that the device summed up.
    pub fn reactions(&self, words: &[u32]) -> Reactions {
        let (touching, rows) = words.split_at(self.supports.colliders().len());
        let [before, last_step, at_start] = [FULL_STEPS, LAST_STEP, START_LOADS]
            .map(|accumulator| self.wrenches(rows, accumulator as usize));
        Reactions {
            before,
            last_step,
            at_start,
            touching: touching.to_vec(),
        }
    }

    /// One accumulator of all rows, by collider and attachment.
    fn wrenches(&self, rows: &[u32], accumulator: usize) -> Vec<Wrench> {
        let held = self.supports.held();
        let colliders = self.supports.colliders().len();
        let rows: Vec<&[u32]> = rows.chunks_exact(REACTION_ROW_WORDS as usize).collect();
        let (walls, clamped) = rows.split_at(rows.len() - held.len());
        let mut sums = vec![[0; WRENCH_COMPONENTS as usize]; colliders];
        for (k, row) in walls.iter().enumerate() {
            for (sum, component) in sums[k % colliders]
                .iter_mut()
                .zip(components(row, accumulator))
            {
                *sum += component;
            }
        }
        let mut out: Vec<Wrench> = sums.into_iter().map(|sum| self.wrench(sum)).collect();
        out.resize(self.supports.count(), Wrench::default());
        for (held, row) in held.iter().zip(clamped) {
            let sum = self.wrench(components(row, accumulator));
            out[self.supports.attachment(held.attachment)] += held.clamp_wrench(sum);
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

/// The components of an accumulator of a row: signed 96-bit integers.
fn components(row: &[u32], accumulator: usize) -> [i128; WRENCH_COMPONENTS as usize] {
    std::array::from_fn(|k| {
        let at = accumulator * ACCUMULATOR_WORDS as usize + k * COMPONENT_WORDS as usize;
        let [low, mid, high] = [row[at], row[at + 1], row[at + 2]];
        i128::from(high as i32) << 64 | i128::from(mid) << 32 | i128::from(low)
    })
}
