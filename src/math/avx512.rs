//! Sixteen f32 lanes on AVX-512. Every operation rounds like plain f32, so results equal those of a single
//! lane bit for bit.
//!
//! Intrinsics are unsafe to call in code that is compiled without the feature; the only entry point
//! [`Lanes::run`] checks that the machine has it.
#![allow(unsafe_code)] // vector intrinsics; each block says why it is sound

use std::arch::x86_64::*;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};

use super::lanes::{LaneRow, Lanes, Pass, lane_operator};
use super::prefetch::prefetch;
use super::real::{Mask, Real};

/// Sixteen f32. To be used in passes only: values are created and used inside [`Lanes::run`], which checks
/// that the machine has the instructions. The type is private to the crate, see [`width`](super::width).
#[derive(Clone, Copy, Debug)]
pub struct F32x16(__m512);

/// Sixteen booleans.
#[derive(Clone, Copy, Debug)]
pub struct Mask16(__mmask16);

impl F32x16 {
    /// Whether this machine has the instructions.
    pub fn available() -> bool {
        std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512dq")
    }
}

lane_operator!(F32x16, Add, add, _mm512_add_ps);
lane_operator!(F32x16, Sub, sub, _mm512_sub_ps);
lane_operator!(F32x16, Mul, mul, _mm512_mul_ps);
lane_operator!(F32x16, Div, div, _mm512_div_ps);

impl BitAnd for Mask16 {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Mask16 {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Mask for Mask16 {
    #[inline(always)]
    fn all(self) -> bool {
        self.0 == 0xFFFF
    }
}

impl Neg for F32x16 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: inside `Lanes::run`, which checked for AVX-512.
        Self(unsafe { _mm512_xor_ps(self.0, _mm512_set1_ps(-0.0)) })
    }
}

impl Real for F32x16 {
    type Mask = Mask16;
    #[inline(always)]
    fn splat(value: f64) -> Self {
        // SAFETY: inside `Lanes::run`, which checked for AVX-512.
        Self(unsafe { _mm512_set1_ps(value as f32) })
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: inside `Lanes::run`, which checked for AVX-512.
        Self(unsafe { _mm512_sqrt_ps(self.0) })
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        // SAFETY: inside `Lanes::run`, which checked for AVX-512.
        Self(unsafe { _mm512_fmadd_ps(self.0, factor.0, addend.0) })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: inside `Lanes::run`, which checked for AVX-512.
        Self(unsafe { _mm512_abs_ps(self.0) })
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Mask16 {
        // SAFETY: inside `Lanes::run`, which checked for AVX-512.
        Mask16(unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, other.0) })
    }
    #[inline(always)]
    fn select(mask: Mask16, yes: Self, no: Self) -> Self {
        // SAFETY: inside `Lanes::run`, which checked for AVX-512.
        Self(unsafe { _mm512_mask_blend_ps(mask.0, no.0, yes.0) })
    }
}

impl Lanes for F32x16 {
    type Scalar = f32;
    const WIDTH: usize = 16;

    #[inline(always)]
    fn load(from: &[f32]) -> Self {
        let from: &[f32; 16] = from[..16].try_into().expect("a slice of sixteen");
        // SAFETY: sixteen readable floats, unaligned load; AVX-512 as above.
        Self(unsafe { _mm512_loadu_ps(from.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, to: &mut [f32]) {
        let to: &mut [f32; 16] = (&mut to[..16]).try_into().expect("a slice of sixteen");
        // SAFETY: sixteen writable floats, unaligned store; AVX-512 as above.
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn gather<const C: usize>(rows: &[LaneRow<f32, C>], index: &[u32]) -> [Self; C] {
        let index: &[u32; 16] = index[..16].try_into().expect("a slice of sixteen");
        // SAFETY: sixteen readable words; AVX-512 as above.
        let outside = unsafe {
            let index = _mm512_loadu_epi32(index.as_ptr().cast());
            let rows = _mm512_set1_epi32(rows.len().min(u32::MAX as usize) as i32);
            _mm512_cmpge_epu32_mask(index, rows)
        };
        assert!(outside == 0, "row index out of range");
        let first = rows.as_ptr();
        // SAFETY: all sixteen indices were just compared with the number of rows, and `scalar` reads the same ones.
        unsafe { columns(|lane| first.wrapping_add(scalar(&index[lane]) as usize)) }
    }
    #[inline(always)]
    fn prefetch<const C: usize>(rows: &[LaneRow<f32, C>], index: &[u32]) {
        for &k in &index[..16] {
            // Only the first cache line of each row.
            prefetch(rows.as_ptr().wrapping_add(k as usize).cast::<u8>(), 0);
        }
    }
    #[inline(always)]
    fn load_rows<const C: usize>(rows: &[LaneRow<f32, C>]) -> [Self; C] {
        let rows: &[LaneRow<f32, C>; 16] = rows[..16].try_into().expect("sixteen rows");
        let first = rows.as_ptr();
        // SAFETY: there are sixteen rows.
        unsafe { columns(|lane| first.wrapping_add(lane)) }
    }
    #[inline(always)]
    fn store_rows<const C: usize>(columns: [Self; C], rows: &mut [LaneRow<f32, C>]) {
        let rows: &mut [LaneRow<f32, C>; 16] = (&mut rows[..16]).try_into().expect("sixteen rows");
        if C == 16 {
            let mut all = [Self::zero(); 16];
            for (c, column) in all.iter_mut().enumerate() {
                *column = columns[c];
            }
            // A transpose is its own inverse.
            let all = transpose(all);
            for (lane, row) in rows.iter_mut().enumerate() {
                all[lane].store(&mut row.0);
            }
            return;
        }
        if C == 8 {
            let c = &columns[..8];
            let low = transpose_quarters([c[0], c[1], c[2], c[3]]);
            let high = transpose_quarters([c[4], c[5], c[6], c[7]]);
            for k in [0, 2] {
                // Quarter q of `low[k]` and `high[k]` are the halves of row 4q + k.
                let pairs = collect_quarters([low[k], high[k], low[k + 1], high[k + 1]]);
                for (q, pair) in pairs.into_iter().enumerate() {
                    let to = &mut rows[4 * q + k..4 * q + k + 2];
                    // SAFETY: two rows of eight floats, one after the other; unaligned store; AVX-512 as above.
                    unsafe { _mm512_storeu_ps(to.as_mut_ptr().cast(), pair.0) }
                }
            }
            return;
        }
        for block in (0..C).step_by(4) {
            let c = &columns[block..block + 4];
            let four = transpose_quarters([c[0], c[1], c[2], c[3]]);
            for k in 0..4 {
                let quarters = four[k].0;
                // SAFETY: inside `Lanes::run`, which checked for AVX-512.
                let parts = unsafe {
                    [
                        _mm512_extractf32x4_ps::<0>(quarters),
                        _mm512_extractf32x4_ps::<1>(quarters),
                        _mm512_extractf32x4_ps::<2>(quarters),
                        _mm512_extractf32x4_ps::<3>(quarters),
                    ]
                };
                for (quarter, part) in parts.into_iter().enumerate() {
                    let to = &mut rows[4 * quarter + k].0[block..block + 4];
                    // SAFETY: four writable floats, unaligned store; AVX-512 as above.
                    unsafe { _mm_storeu_ps(to.as_mut_ptr(), part) }
                }
            }
        }
    }
    #[inline(always)]
    fn mask(bits: u32) -> Mask16 {
        Mask16(bits as u16)
    }
    #[inline(always)]
    fn bits(mask: Mask16) -> u32 {
        u32::from(mask.0)
    }
    fn run<P: Pass<Self>>(pass: P) -> P::Out {
        #[target_feature(enable = "avx512f,avx512dq")]
        fn with_avx512<P: Pass<F32x16>>(pass: P) -> P::Out {
            pass.run()
        }
        assert!(F32x16::available(), "sixteen lanes need AVX-512");
        // SAFETY: just checked.
        unsafe { with_avx512(pass) }
    }
}

/// An index read from memory once more: compilers would take it out of the vector that was compared, which costs
/// three instructions instead of one.
#[inline(always)]
fn scalar(index: &u32) -> u32 {
    // SAFETY: a reference is readable.
    unsafe { std::ptr::from_ref(index).read_volatile() }
}

/// Columns of sixteen rows of 4, 8 or 16 floats each. A row is loaded as soon as its address is known: sixteen
/// addresses at once do not fit into the registers.
///
/// Loops over arrays instead of closures with intrinsics: a closure is compiled without the instructions, and would
/// be called instead of inlined (`row` only computes addresses). For the same reason there is no `zip` and no `map`
/// of an array: the standard library does not mark them for inlining.
///
/// # Safety
/// For every lane from 0 to 15 `row` must return the address of a row that is valid for reads; AVX-512 as above.
#[inline(always)]
unsafe fn columns<const C: usize>(row: impl Fn(usize) -> *const LaneRow<f32, C>) -> [F32x16; C] {
    let mut out = [F32x16::zero(); C];
    let second = unknown(&QUARTERS[1]);
    let third = unknown(&QUARTERS[2]);
    let fourth = unknown(&QUARTERS[3]);
    // quarters[4 block + k]: columns from 4 block on of rows k, k + 4, k + 8, k + 12.
    let mut quarters = [F32x16::zero(); C];
    for k in 0..4 {
        let (a, b, c, d) = (row(k), row(k + 4), row(k + 8), row(k + 12));
        for block in (0..C).step_by(4) {
            // SAFETY: the caller's pointers are to readable rows, of four floats from `block` on; unaligned loads;
            // AVX-512 as above.
            quarters[block + k] = F32x16(unsafe {
                let all = _mm512_castps128_ps512(_mm_loadu_ps(a.cast::<f32>().add(block)));
                let part = _mm_loadu_ps(b.cast::<f32>().add(block));
                let all = _mm512_mask_broadcast_f32x4(all, second, part);
                let part = _mm_loadu_ps(c.cast::<f32>().add(block));
                let all = _mm512_mask_broadcast_f32x4(all, third, part);
                let part = _mm_loadu_ps(d.cast::<f32>().add(block));
                _mm512_mask_broadcast_f32x4(all, fourth, part)
            });
        }
    }
    for block in (0..C).step_by(4) {
        let q = &quarters[block..block + 4];
        let four = transpose_quarters([q[0], q[1], q[2], q[3]]);
        for (c, column) in out[block..block + 4].iter_mut().enumerate() {
            *column = four[c];
        }
    }
    out
}

/// Lanes of the four quarters of a vector.
static QUARTERS: [u16; 4] = [0x000F, 0x00F0, 0x0F00, 0xF000];

/// A mask that compilers do not know. Those they know they turn into shuffles, for which processors have one or two
/// units; a masked broadcast from memory needs none.
#[inline(always)]
fn unknown(mask: &u16) -> u16 {
    // SAFETY: a reference is readable.
    unsafe { std::ptr::from_ref(mask).read_volatile() }
}

/// Transposes each of the four 4×4 quarters of four rows.
#[inline(always)]
fn transpose_quarters(r: [F32x16; 4]) -> [F32x16; 4] {
    // SAFETY: inside `Lanes::run`, which checked for AVX-512.
    unsafe {
        let a = _mm512_unpacklo_ps(r[0].0, r[1].0);
        let b = _mm512_unpackhi_ps(r[0].0, r[1].0);
        let c = _mm512_unpacklo_ps(r[2].0, r[3].0);
        let d = _mm512_unpackhi_ps(r[2].0, r[3].0);
        [
            F32x16(_mm512_shuffle_ps::<0x44>(a, c)),
            F32x16(_mm512_shuffle_ps::<0xEE>(a, c)),
            F32x16(_mm512_shuffle_ps::<0x44>(b, d)),
            F32x16(_mm512_shuffle_ps::<0xEE>(b, d)),
        ]
    }
}

/// Transposes sixteen rows of sixteen: first the quarters of each group of four rows, then the 4×4 matrix of
/// quarters.
#[inline(always)]
fn transpose(r: [F32x16; 16]) -> [F32x16; 16] {
    let groups = [
        transpose_quarters([r[0], r[1], r[2], r[3]]),
        transpose_quarters([r[4], r[5], r[6], r[7]]),
        transpose_quarters([r[8], r[9], r[10], r[11]]),
        transpose_quarters([r[12], r[13], r[14], r[15]]),
    ];
    let mut out = [F32x16::zero(); 16];
    for c in 0..4 {
        // Quarter q of groups[g][c] is column 4q + c of rows 4g to 4g + 3.
        let columns = collect_quarters([groups[0][c], groups[1][c], groups[2][c], groups[3][c]]);
        for (q, column) in columns.into_iter().enumerate() {
            out[4 * q + c] = column;
        }
    }
    out
}

/// Quarter q of each of four vectors, one after the other, for all q.
#[inline(always)]
fn collect_quarters(from: [F32x16; 4]) -> [F32x16; 4] {
    let [a, b, c, d] = [from[0].0, from[1].0, from[2].0, from[3].0];
    // SAFETY: inside `Lanes::run`, which checked for AVX-512.
    unsafe {
        let low = _mm512_shuffle_f32x4::<0x44>(a, b);
        let high = _mm512_shuffle_f32x4::<0xEE>(a, b);
        let later_low = _mm512_shuffle_f32x4::<0x44>(c, d);
        let later_high = _mm512_shuffle_f32x4::<0xEE>(c, d);
        [
            F32x16(_mm512_shuffle_f32x4::<0x88>(low, later_low)),
            F32x16(_mm512_shuffle_f32x4::<0xDD>(low, later_low)),
            F32x16(_mm512_shuffle_f32x4::<0x88>(high, later_high)),
            F32x16(_mm512_shuffle_f32x4::<0xDD>(high, later_high)),
        ]
    }
}
