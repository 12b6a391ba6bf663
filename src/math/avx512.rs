//! Sixteen f32 lanes on AVX-512. Every operation rounds as plain f32 does, so results equal the one-lane run
//! bit for bit.
//!
//! Intrinsics are unsafe to call where the compiler cannot see the feature; the one entry point
//! [`Lanes::run`] checks it.
#![allow(unsafe_code)] // vector intrinsics; each block says why it is sound

use std::arch::x86_64::*;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};

use super::lanes::{Lanes, Pass, Row};
use super::prefetch::prefetch;
use super::real::{Mask, Real};

/// Sixteen f32. Meant for passes: values are made and used inside [`Lanes::run`], which checks that the
/// machine has the instructions; no name of it leaves the crate, see [`width`](super::width).
#[derive(Clone, Copy, Debug)]
pub struct F32x16(__m512);

/// Sixteen truth values.
#[derive(Clone, Copy, Debug)]
pub struct Mask16(__mmask16);

impl F32x16 {
    /// Whether this machine has the instructions.
    pub fn available() -> bool {
        std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512dq")
    }
}

macro_rules! binary {
    ($trait:ident, $method:ident, $intrinsic:ident) => {
        impl $trait for F32x16 {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                // SAFETY: values of this type are only made inside `Lanes::run`, which checked for AVX-512.
                Self(unsafe { $intrinsic(self.0, other.0) })
            }
        }
    };
}
binary!(Add, add, _mm512_add_ps);
binary!(Sub, sub, _mm512_sub_ps);
binary!(Mul, mul, _mm512_mul_ps);
binary!(Div, div, _mm512_div_ps);

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
        // SAFETY: sixteen readable floats, no alignment asked for; AVX-512 as above.
        Self(unsafe { _mm512_loadu_ps(from.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, to: &mut [f32]) {
        let to: &mut [f32; 16] = (&mut to[..16]).try_into().expect("a slice of sixteen");
        // SAFETY: sixteen writable floats, no alignment asked for; AVX-512 as above.
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn gather<const C: usize>(rows: &[Row<f32, C>], index: &[u32]) -> [Self; C] {
        let index: &[u32; 16] = index[..16].try_into().expect("a slice of sixteen");
        // SAFETY: sixteen readable words; AVX-512 as above.
        let outside = unsafe {
            let index = _mm512_loadu_epi32(index.as_ptr().cast());
            let rows = _mm512_set1_epi32(rows.len().min(u32::MAX as usize) as i32);
            _mm512_cmpge_epu32_mask(index, rows)
        };
        assert!(outside == 0, "an index beyond the rows");
        let mut at = [&[0.0; C]; 16];
        for (lane, row) in at.iter_mut().enumerate() {
            // SAFETY: every index was just compared with the number of rows, all sixteen at once.
            *row = unsafe { &rows.get_unchecked(index[lane] as usize).0 };
        }
        columns(at)
    }
    #[inline(always)]
    fn prefetch<const C: usize>(rows: &[Row<f32, C>], index: &[u32]) {
        for &k in &index[..16] {
            // The first line of each.
            prefetch(rows.as_ptr().wrapping_add(k as usize).cast::<u8>(), 0);
        }
    }
    #[inline(always)]
    fn load_rows<const C: usize>(rows: &[Row<f32, C>]) -> [Self; C] {
        let rows: &[Row<f32, C>; 16] = rows[..16].try_into().expect("sixteen rows");
        let mut at = [&[0.0; C]; 16];
        for (lane, row) in at.iter_mut().enumerate() {
            *row = &rows[lane].0;
        }
        columns(at)
    }
    #[inline(always)]
    fn store_rows<const C: usize>(columns: [Self; C], rows: &mut [Row<f32, C>]) {
        let rows: &mut [Row<f32, C>; 16] = (&mut rows[..16]).try_into().expect("sixteen rows");
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
                    // SAFETY: four writable floats, no alignment asked for; AVX-512 as above.
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

/// Columns of sixteen rows of 4, 8 or 16 floats.
///
/// Loops over arrays, not closures: a closure is compiled without the instructions, and would be called
/// instead of inlined. For the same reason no `zip` and no `map` of an array: the standard library does not
/// mark them for inlining.
#[inline(always)]
fn columns<const C: usize>(row: [&[f32; C]; 16]) -> [F32x16; C] {
    let mut out = [F32x16::zero(); C];
    if C == 16 {
        let mut rows = [F32x16::zero(); 16];
        for (lane, values) in rows.iter_mut().enumerate() {
            *values = F32x16::load(row[lane]);
        }
        let all = transpose(rows);
        for (c, column) in out.iter_mut().enumerate() {
            *column = all[c];
        }
        return out;
    }
    for block in (0..C).step_by(4) {
        let mut quarters = [F32x16::zero(); 4];
        for k in 0..4 {
            let [a, b, c, d] = [row[k], row[k + 4], row[k + 8], row[k + 12]];
            // SAFETY: `block + 4 <= C`, so that four floats can be read in each row, no alignment asked for;
            // AVX-512 as above.
            quarters[k] = F32x16(unsafe {
                let all = _mm512_castps128_ps512(_mm_loadu_ps(a.as_ptr().add(block)));
                let all = _mm512_insertf32x4::<1>(all, _mm_loadu_ps(b.as_ptr().add(block)));
                let all = _mm512_insertf32x4::<2>(all, _mm_loadu_ps(c.as_ptr().add(block)));
                _mm512_insertf32x4::<3>(all, _mm_loadu_ps(d.as_ptr().add(block)))
            });
        }
        let four = transpose_quarters(quarters);
        for (c, column) in out[block..block + 4].iter_mut().enumerate() {
            *column = four[c];
        }
    }
    out
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

/// Transposes sixteen rows of sixteen: the quarters of each four rows, then quarters as numbers.
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
        // SAFETY: inside `Lanes::run`, which checked for AVX-512.
        unsafe {
            let (a, b) = (groups[0][c].0, groups[1][c].0);
            let (d, e) = (groups[2][c].0, groups[3][c].0);
            let low = _mm512_shuffle_f32x4::<0x44>(a, b);
            let high = _mm512_shuffle_f32x4::<0xEE>(a, b);
            let later_low = _mm512_shuffle_f32x4::<0x44>(d, e);
            let later_high = _mm512_shuffle_f32x4::<0xEE>(d, e);
            out[c] = F32x16(_mm512_shuffle_f32x4::<0x88>(low, later_low));
            out[4 + c] = F32x16(_mm512_shuffle_f32x4::<0xDD>(low, later_low));
            out[8 + c] = F32x16(_mm512_shuffle_f32x4::<0x88>(high, later_high));
            out[12 + c] = F32x16(_mm512_shuffle_f32x4::<0xDD>(high, later_high));
        }
    }
    out
}
