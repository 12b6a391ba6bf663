//! Driven clamps as the device has them: twins of the rows of `shaders/kernels/clamp.wgsl`.
//!
//! An element's way from where it was packed is (R − 1) a with the turn R of the clamp and the arm a from its
//! pivot. In single precision that product would be off by strains of 1e-5. So both come as sums of three
//! parts, the first two of so few bits that products of these and their sums are exact, however a driver
//! fuses or orders them: some 1e-13 of the longest arm is left.

use glam::{DMat3, DVec3};

use super::constants::{
    CLAMP_MIDDLE, CLAMP_MIDDLE_LOW, CLAMP_ROTATION, CLAMP_ROWS, CLAMP_SPIN, CLAMP_VELOCITY,
    GRIP_ROWS,
};
use crate::simulate::scene::clamps::{Clamps, Gripped, Hold};
use crate::simulate::scene::reactions::Held;

/// Bits of the first two parts of a number.
const PART_BITS: i32 = 11;

/// A number as three parts that add up to it: the first a whole multiple of `unit`, the second of a 2⁻¹¹ of that.
fn parts(value: f64, unit: f64) -> [f32; 3] {
    let first = (value / unit).round() * unit;
    let unit = unit * f64::from(-PART_BITS).exp2();
    let second = ((value - first) / unit).round() * unit;
    [first, second, value - first - second].map(|part| part as f32)
}

/// The same of a vector: parts by components.
fn vector_parts(v: DVec3, unit: f64) -> [[f32; 3]; 3] {
    let [x, y, z] = v.to_array().map(|value| parts(value, unit));
    std::array::from_fn(|k| [x[k], y[k], z[k]])
}

/// High and low words.
fn words(v: DVec3) -> [[f32; 3]; 2] {
    let high = v.as_vec3();
    [high, (v - high.as_dvec3()).as_vec3()].map(|word| word.to_array())
}

fn row([x, y, z]: [f32; 3], w: f32) -> [f32; 4] {
    [x, y, z, w]
}

/// Rows of each held element: where it was packed (high words) with the index of its clamp plus one, 0 where
/// that is not driven; then the parts of its arm with the low words. None where no clamp is driven.
pub fn grip_rows(clamps: &Clamps, held: &[Held]) -> Vec<[f32; 4]> {
    if clamps.count() == 0 {
        return Vec::new();
    }
    let holds = clamps.holds::<f32>(0.0);
    let pivots: Vec<DVec3> = holds.iter().map(|hold| hold.pivot).collect();
    let arm = |gripped: &Gripped| gripped.rest - pivots[gripped.clamp as usize];
    let longest = clamps.gripped().iter().map(|g| arm(g).abs().max_element());
    // A power of two, so that scaling is exact; where all arms vanish any will do.
    let size = longest.fold(f64::MIN_POSITIVE.sqrt(), f64::max);
    let unit = (size.log2().ceil() - f64::from(PART_BITS)).exp2();
    let mut gripped = clamps.gripped().iter().peekable();
    let mut rows = Vec::new();
    for held in held {
        let Some(gripped) = gripped.next_if(|gripped| gripped.element == held.element) else {
            rows.extend([[0.0; 4]; GRIP_ROWS as usize]);
            continue;
        };
        let [high, low] = words(gripped.rest);
        let [x, y, z] = vector_parts(arm(gripped), unit);
        let grip: [[f32; 4]; GRIP_ROWS as usize] = [
            row(high, gripped.clamp as f32 + 1.0),
            row(x, low[0]),
            row(y, low[1]),
            row(z, low[2]),
        ];
        rows.extend(grip);
    }
    rows
}

/// Rows of all clamps at time `t`, s.
pub fn clamp_rows(clamps: &Clamps, t: f64) -> impl Iterator<Item = [f32; 4]> {
    let holds = clamps.holds(t).into_iter().zip(clamps.middles());
    holds.flat_map(|(hold, middle)| rows_of(&hold, middle))
}

/// Rows of a clamp at a step. Three for each part of R − 1, whose last numbers are both words of the
/// displacement and what the quaternion leaves of the turn; quaternion; velocity, spin, and both words of
/// where its middle is.
fn rows_of(hold: &Hold<f32>, middle: DVec3) -> [[f32; 4]; CLAMP_ROWS as usize] {
    let turn = DMat3::from_quat(hold.pose.rotation) - DMat3::IDENTITY;
    // No entry is larger than 2.
    let unit = f64::from(1 - PART_BITS).exp2();
    let lines = turn.transpose().to_cols_array_2d();
    let lines = lines.map(|line| vector_parts(DVec3::from_array(line), unit));
    let [high, low] = words(hold.pose.position);
    let left = hold.unapplied;
    let beside = [high, low, [left.x, left.y, left.z]];
    let mut rows = [[0.0; 4]; CLAMP_ROWS as usize];
    for (part, beside) in beside.into_iter().enumerate() {
        for (k, last) in beside.into_iter().enumerate() {
            rows[3 * part + k] = row(lines[k][part], last);
        }
    }
    let q = hold.rotation;
    rows[CLAMP_ROTATION as usize] = [q.v.x, q.v.y, q.v.z, q.w];
    let [high, low] = words(hold.place(middle));
    let [velocity, spin] = [hold.pose.velocity, hold.pose.spin].map(|v| v.as_vec3().to_array());
    rows[CLAMP_VELOCITY as usize] = row(velocity, 0.0);
    rows[CLAMP_SPIN as usize] = row(spin, 0.0);
    rows[CLAMP_MIDDLE as usize] = row(high, 0.0);
    rows[CLAMP_MIDDLE_LOW as usize] = row(low, 0.0);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_and_their_products_are_exact() {
        let unit = (-11f64).exp2();
        for k in 0..1000 {
            let value = (f64::from(k) * 0.7).sin();
            let [a, b, c] = parts(value, unit).map(f64::from);
            assert!((a + b + c - value).abs() < 1e-14, "{value}");
            // Twelve bits, signs aside, so that a product of two has no more than single precision.
            assert!((a / unit).abs() <= 2048.0 && (a / unit).fract() == 0.0);
            assert!((b / unit * 2048.0).abs() <= 1024.0 && (b / unit * 2048.0).fract() == 0.0);
            assert!(c.abs() <= unit / 4096.0);
        }
        assert_eq!(parts(0.0, unit), [0.0; 3]);
    }
}
