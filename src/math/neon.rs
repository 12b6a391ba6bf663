//! Four f32 lanes on NEON. Every operation rounds like plain f32, so results equal those of a single lane bit for
//! bit. Every processor of this architecture has the instructions.
#![allow(unsafe_code)] // vector intrinsics; each block says why it is sound

use std::arch::aarch64::*;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};

use super::lanes::{LaneRow, Lanes, Pass, lane_operator};
use super::real::{Mask, Real};

/// Four f32.
#[derive(Clone, Copy, Debug)]
pub struct F32x4(float32x4_t);

/// Four booleans; all bits of a lane are set or none.
#[derive(Clone, Copy, Debug)]
pub struct Mask4(uint32x4_t);

lane_operator!(F32x4, Add, add, vaddq_f32);
lane_operator!(F32x4, Sub, sub, vsubq_f32);
lane_operator!(F32x4, Mul, mul, vmulq_f32);
lane_operator!(F32x4, Div, div, vdivq_f32);
lane_operator!(Mask4, BitAnd, bitand, vandq_u32);
lane_operator!(Mask4, BitOr, bitor, vorrq_u32);

impl Mask for Mask4 {
    #[inline(always)]
    fn all(self) -> bool {
        // SAFETY: every processor of this architecture has NEON.
        unsafe { vminvq_u32(self.0) != 0 }
    }
}

impl Neg for F32x4 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: every processor of this architecture has NEON.
        Self(unsafe { vnegq_f32(self.0) })
    }
}

impl Real for F32x4 {
    type Mask = Mask4;
    #[inline(always)]
    fn splat(value: f64) -> Self {
        // SAFETY: every processor of this architecture has NEON.
        Self(unsafe { vdupq_n_f32(value as f32) })
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: every processor of this architecture has NEON.
        Self(unsafe { vsqrtq_f32(self.0) })
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        // SAFETY: every processor of this architecture has NEON.
        Self(unsafe { vfmaq_f32(addend.0, self.0, factor.0) })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: every processor of this architecture has NEON.
        Self(unsafe { vabsq_f32(self.0) })
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Mask4 {
        // SAFETY: every processor of this architecture has NEON.
        Mask4(unsafe { vcltq_f32(self.0, other.0) })
    }
    #[inline(always)]
    fn select(mask: Mask4, yes: Self, no: Self) -> Self {
        // SAFETY: every processor of this architecture has NEON.
        Self(unsafe { vbslq_f32(mask.0, yes.0, no.0) })
    }
}

/// Bit of each lane in a mask's bits.
#[inline(always)]
fn lane_bits() -> uint32x4_t {
    let bits = [1, 2, 4, 8];
    // SAFETY: four readable words.
    unsafe { vld1q_u32(bits.as_ptr()) }
}

impl Lanes for F32x4 {
    type Scalar = f32;
    const WIDTH: usize = 4;

    #[inline(always)]
    fn load(from: &[f32]) -> Self {
        let from: &[f32; 4] = from[..4].try_into().expect("a slice of four");
        // SAFETY: four readable floats.
        Self(unsafe { vld1q_f32(from.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, to: &mut [f32]) {
        let to: &mut [f32; 4] = (&mut to[..4]).try_into().expect("a slice of four");
        // SAFETY: four writable floats.
        unsafe { vst1q_f32(to.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn gather<const C: usize>(rows: &[LaneRow<f32, C>], index: &[u32]) -> [Self; C] {
        let index = &index[..4];
        columns([
            &rows[index[0] as usize].0,
            &rows[index[1] as usize].0,
            &rows[index[2] as usize].0,
            &rows[index[3] as usize].0,
        ])
    }
    #[inline(always)]
    fn load_rows<const C: usize>(rows: &[LaneRow<f32, C>]) -> [Self; C] {
        let rows = &rows[..4];
        columns([&rows[0].0, &rows[1].0, &rows[2].0, &rows[3].0])
    }
    #[inline(always)]
    fn store_rows<const C: usize>(columns: [Self; C], rows: &mut [LaneRow<f32, C>]) {
        let rows = &mut rows[..4];
        for block in (0..C).step_by(4) {
            let c = &columns[block..block + 4];
            // A transpose is its own inverse.
            let four = transpose([c[0], c[1], c[2], c[3]]);
            for (lane, row) in rows.iter_mut().enumerate() {
                four[lane].store(&mut row.0[block..]);
            }
        }
    }
    #[inline(always)]
    fn mask(bits: u32) -> Mask4 {
        // SAFETY: every processor of this architecture has NEON.
        Mask4(unsafe { vtstq_u32(vdupq_n_u32(bits), lane_bits()) })
    }
    #[inline(always)]
    fn bits(mask: Mask4) -> u32 {
        // SAFETY: every processor of this architecture has NEON.
        unsafe { vaddvq_u32(vandq_u32(mask.0, lane_bits())) }
    }
    #[inline(always)]
    fn run<P: Pass<Self>>(pass: P) -> P::Out {
        pass.run()
    }
}

/// Columns of four rows of 4, 8 or 16 floats each.
#[inline(always)]
fn columns<const C: usize>(row: [&[f32; C]; 4]) -> [F32x4; C] {
    let mut out = [F32x4::zero(); C];
    for block in (0..C).step_by(4) {
        let four = transpose([
            F32x4::load(&row[0][block..]),
            F32x4::load(&row[1][block..]),
            F32x4::load(&row[2][block..]),
            F32x4::load(&row[3][block..]),
        ]);
        for (c, column) in out[block..block + 4].iter_mut().enumerate() {
            *column = four[c];
        }
    }
    out
}

/// Transposes four rows of four.
#[inline(always)]
fn transpose(r: [F32x4; 4]) -> [F32x4; 4] {
    // SAFETY: every processor of this architecture has NEON.
    unsafe {
        let a = vreinterpretq_f64_f32(vtrn1q_f32(r[0].0, r[1].0));
        let b = vreinterpretq_f64_f32(vtrn2q_f32(r[0].0, r[1].0));
        let c = vreinterpretq_f64_f32(vtrn1q_f32(r[2].0, r[3].0));
        let d = vreinterpretq_f64_f32(vtrn2q_f32(r[2].0, r[3].0));
        [
            F32x4(vreinterpretq_f32_f64(vtrn1q_f64(a, c))),
            F32x4(vreinterpretq_f32_f64(vtrn1q_f64(b, d))),
            F32x4(vreinterpretq_f32_f64(vtrn2q_f64(a, c))),
            F32x4(vreinterpretq_f32_f64(vtrn2q_f64(b, d))),
        ]
    }
}
