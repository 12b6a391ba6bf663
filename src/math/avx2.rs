//! Eight f32 lanes on AVX2. Every operation rounds like plain f32, so results equal those of a single lane
//! bit for bit.
//!
//! Intrinsics are unsafe to call in code that is compiled without the feature; the only entry point
//! [`Lanes::run`] checks that the machine has it.
#![allow(unsafe_code)] // vector intrinsics; each block says why it is sound

use std::arch::x86_64::*;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};

use super::lanes::{LaneRow, Lanes, Pass, has_fused_multiply_add, lane_operator};
use super::prefetch::prefetch;
use super::real::{Mask, Real};

/// Eight f32. To be used in passes only: values are created and used inside [`Lanes::run`], which checks that
/// the machine has the instructions. The type is private to the crate, see [`width`](super::width).
#[derive(Clone, Copy, Debug)]
pub struct F32x8(__m256);

/// Eight booleans; all bits of a lane are set or none.
#[derive(Clone, Copy, Debug)]
pub struct Mask8(__m256);

impl F32x8 {
    /// Whether this machine has the instructions.
    pub fn available() -> bool {
        std::arch::is_x86_feature_detected!("avx2") && has_fused_multiply_add()
    }
}

lane_operator!(F32x8, Add, add, _mm256_add_ps);
lane_operator!(F32x8, Sub, sub, _mm256_sub_ps);
lane_operator!(F32x8, Mul, mul, _mm256_mul_ps);
lane_operator!(F32x8, Div, div, _mm256_div_ps);
lane_operator!(Mask8, BitAnd, bitand, _mm256_and_ps);
lane_operator!(Mask8, BitOr, bitor, _mm256_or_ps);

impl Mask for Mask8 {
    #[inline(always)]
    fn all(self) -> bool {
        F32x8::bits(self) == 0xFF
    }
}

impl Neg for F32x8 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: inside `Lanes::run`, which checked for AVX2.
        Self(unsafe { _mm256_xor_ps(self.0, _mm256_set1_ps(-0.0)) })
    }
}

impl Real for F32x8 {
    type Mask = Mask8;
    #[inline(always)]
    fn splat(value: f64) -> Self {
        // SAFETY: inside `Lanes::run`, which checked for AVX2.
        Self(unsafe { _mm256_set1_ps(value as f32) })
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: inside `Lanes::run`, which checked for AVX2.
        Self(unsafe { _mm256_sqrt_ps(self.0) })
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        // SAFETY: inside `Lanes::run`, which checked for FMA.
        Self(unsafe { _mm256_fmadd_ps(self.0, factor.0, addend.0) })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: inside `Lanes::run`, which checked for AVX2.
        Self(unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0) })
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Mask8 {
        // SAFETY: inside `Lanes::run`, which checked for AVX2.
        Mask8(unsafe { _mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0) })
    }
    #[inline(always)]
    fn select(mask: Mask8, yes: Self, no: Self) -> Self {
        // SAFETY: inside `Lanes::run`, which checked for AVX2.
        Self(unsafe { _mm256_blendv_ps(no.0, yes.0, mask.0) })
    }
}

impl Lanes for F32x8 {
    type Scalar = f32;
    const WIDTH: usize = 8;

    #[inline(always)]
    fn load(from: &[f32]) -> Self {
        let from: &[f32; 8] = from[..8].try_into().expect("a slice of eight");
        // SAFETY: eight readable floats, unaligned load; AVX2 as above.
        Self(unsafe { _mm256_loadu_ps(from.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, to: &mut [f32]) {
        let to: &mut [f32; 8] = (&mut to[..8]).try_into().expect("a slice of eight");
        // SAFETY: eight writable floats, unaligned store; AVX2 as above.
        unsafe { _mm256_storeu_ps(to.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn gather<const C: usize>(rows: &[LaneRow<f32, C>], index: &[u32]) -> [Self; C] {
        let index: &[u32; 8] = index[..8].try_into().expect("a slice of eight");
        // SAFETY: eight readable words; AVX2 as above.
        let outside = unsafe {
            let index = _mm256_loadu_si256(index.as_ptr().cast());
            let rows = _mm256_set1_epi32(rows.len().min(u32::MAX as usize) as i32);
            let larger = _mm256_max_epu32(index, rows);
            _mm256_movemask_epi8(_mm256_cmpeq_epi32(larger, index))
        };
        assert!(outside == 0, "row index out of range");
        let mut at = [&[0.0; C]; 8];
        for (lane, row) in at.iter_mut().enumerate() {
            // SAFETY: all eight indices were just compared with the number of rows.
            *row = unsafe { &rows.get_unchecked(index[lane] as usize).0 };
        }
        columns(at)
    }
    #[inline(always)]
    fn prefetch<const C: usize>(rows: &[LaneRow<f32, C>], index: &[u32]) {
        for &k in &index[..8] {
            // Only the first cache line of each row.
            prefetch(rows.as_ptr().wrapping_add(k as usize).cast::<u8>(), 0);
        }
    }
    #[inline(always)]
    fn load_rows<const C: usize>(rows: &[LaneRow<f32, C>]) -> [Self; C] {
        let rows: &[LaneRow<f32, C>; 8] = rows[..8].try_into().expect("eight rows");
        let mut at = [&[0.0; C]; 8];
        for (lane, row) in at.iter_mut().enumerate() {
            *row = &rows[lane].0;
        }
        columns(at)
    }
    #[inline(always)]
    fn store_rows<const C: usize>(columns: [Self; C], rows: &mut [LaneRow<f32, C>]) {
        let rows = &mut rows[..8];
        if C == 4 {
            let mut flat = [[0.0; 8]; 4];
            for (c, out) in flat.iter_mut().enumerate() {
                columns[c].store(out);
            }
            for (lane, row) in rows.iter_mut().enumerate() {
                for (c, value) in row.0.iter_mut().enumerate() {
                    *value = flat[c][lane];
                }
            }
            return;
        }
        for block in (0..C).step_by(8) {
            let mut eight = [Self::zero(); 8];
            for (c, column) in eight.iter_mut().enumerate() {
                *column = columns[block + c];
            }
            // A transpose is its own inverse.
            let eight = transpose(eight);
            for (lane, row) in rows.iter_mut().enumerate() {
                eight[lane].store(&mut row.0[block..]);
            }
        }
    }
    #[inline(always)]
    fn mask(bits: u32) -> Mask8 {
        // SAFETY: inside `Lanes::run`, which checked for AVX2.
        Mask8(unsafe {
            let each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let set = _mm256_and_si256(_mm256_set1_epi32(bits as i32), each);
            _mm256_castsi256_ps(_mm256_cmpeq_epi32(set, each))
        })
    }
    #[inline(always)]
    fn bits(mask: Mask8) -> u32 {
        // SAFETY: inside `Lanes::run`, which checked for AVX2.
        (unsafe { _mm256_movemask_ps(mask.0) }) as u32
    }
    fn run<P: Pass<Self>>(pass: P) -> P::Out {
        #[target_feature(enable = "avx2,fma")]
        fn with_avx2<P: Pass<F32x8>>(pass: P) -> P::Out {
            pass.run()
        }
        assert!(F32x8::available(), "eight lanes need AVX2 and FMA");
        // SAFETY: just checked.
        unsafe { with_avx2(pass) }
    }
}

/// Columns of eight rows of 4, 8 or 16 floats each.
///
/// Loops over arrays instead of closures, `zip` or `map` for the reason given at `columns` of avx512.rs.
#[inline(always)]
fn columns<const C: usize>(row: [&[f32; C]; 8]) -> [F32x8; C] {
    let mut out = [F32x8::zero(); C];
    for block in (0..C).step_by(4) {
        let mut pairs = [F32x8::zero(); 4];
        for k in 0..4 {
            // Halves joined while they are loaded need fewer shuffles than whole rows.
            // SAFETY: `block + 4 <= C`, so that four floats can be read in both rows, unaligned load; AVX2 as
            // above.
            pairs[k] = F32x8(unsafe {
                _mm256_insertf128_ps::<1>(
                    _mm256_castps128_ps256(_mm_loadu_ps(row[k].as_ptr().add(block))),
                    _mm_loadu_ps(row[k + 4].as_ptr().add(block)),
                )
            });
        }
        let four = transpose_quarters(pairs);
        for (c, column) in out[block..block + 4].iter_mut().enumerate() {
            *column = four[c];
        }
    }
    out
}

/// Transposes the two 4×4 halves of four rows.
#[inline(always)]
fn transpose_quarters(r: [F32x8; 4]) -> [F32x8; 4] {
    // SAFETY: inside `Lanes::run`, which checked for AVX2.
    unsafe {
        let a = _mm256_unpacklo_ps(r[0].0, r[1].0);
        let b = _mm256_unpackhi_ps(r[0].0, r[1].0);
        let c = _mm256_unpacklo_ps(r[2].0, r[3].0);
        let d = _mm256_unpackhi_ps(r[2].0, r[3].0);
        [
            F32x8(_mm256_shuffle_ps::<0x44>(a, c)),
            F32x8(_mm256_shuffle_ps::<0xEE>(a, c)),
            F32x8(_mm256_shuffle_ps::<0x44>(b, d)),
            F32x8(_mm256_shuffle_ps::<0xEE>(b, d)),
        ]
    }
}

/// Transposes eight rows of eight.
#[inline(always)]
fn transpose(r: [F32x8; 8]) -> [F32x8; 8] {
    let low = transpose_quarters([r[0], r[1], r[2], r[3]]);
    let high = transpose_quarters([r[4], r[5], r[6], r[7]]);
    let mut out = [F32x8::zero(); 8];
    for c in 0..4 {
        // SAFETY: inside `Lanes::run`, which checked for AVX2.
        unsafe {
            out[c] = F32x8(_mm256_permute2f128_ps::<0x20>(low[c].0, high[c].0));
            out[c + 4] = F32x8(_mm256_permute2f128_ps::<0x31>(low[c].0, high[c].0));
        }
    }
    out
}
