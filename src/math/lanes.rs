//! Numbers side by side in vector lanes, and their transfer from and to rows in memory.
//!
//! Memory holds rows of scalars, one row per element, so that reading a neighbour touches one or two cache
//! lines; lanes are the transpose of several rows.

use super::real::{Real, Scalar};

/// A [`Real`] of `WIDTH` lanes over a scalar.
pub trait Lanes: Real + Send + Sync + 'static {
    /// The scalar type in memory.
    type Scalar: Scalar;
    /// Number of lanes.
    const WIDTH: usize;

    /// Loads `WIDTH` consecutive scalars.
    fn load(from: &[Self::Scalar]) -> Self;
    /// Stores `WIDTH` consecutive scalars.
    fn store(self, to: &mut [Self::Scalar]);
    /// Gathers the rows `index[0..WIDTH]` and transposes them: element c of the result is column c. `C` is 4,
    /// 8 or 16.
    fn gather<const C: usize>(rows: &[LaneRow<Self::Scalar, C>], index: &[u32]) -> [Self; C];
    /// Prefetches the rows `index[0..WIDTH]` for a later [`Self::gather`]; indices out of range have no
    /// effect.
    #[inline(always)]
    fn prefetch<const C: usize>(_rows: &[LaneRow<Self::Scalar, C>], _index: &[u32]) {}
    /// Loads the columns of `WIDTH` consecutive rows.
    fn load_rows<const C: usize>(rows: &[LaneRow<Self::Scalar, C>]) -> [Self; C];
    /// Stores columns as `WIDTH` consecutive rows.
    fn store_rows<const C: usize>(columns: [Self; C], rows: &mut [LaneRow<Self::Scalar, C>]);
    /// Mask whose lane k is true if bit k of `bits` is set.
    fn mask(bits: u32) -> Self::Mask;
    /// Bits of a mask: bit k is set if lane k is true.
    fn bits(mask: Self::Mask) -> u32;
    /// Runs a pass with this lane type's instructions enabled.
    fn run<P: Pass<Self>>(pass: P) -> P::Out;
}

/// Work that is generic over the lane type. `run` must be `#[inline(always)]` so that it is compiled with the
/// lane type's instructions.
pub trait Pass<L: Lanes> {
    /// Result of the work.
    type Out;
    /// Does the work.
    fn run(self) -> Self::Out;
}

/// Implements an operator of vector lanes by an intrinsic.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! lane_operator {
    ($type:ident, $trait:ident, $method:ident, $intrinsic:ident) => {
        impl $trait for $type {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                // SAFETY: values of this type are only made where the machine has the instructions: inside
                // `Lanes::run`, which checked it, or where every processor of the architecture has them.
                Self(unsafe { $intrinsic(self.0, other.0) })
            }
        }
    };
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use lane_operator;

/// A row of `C` scalars in memory, aligned to 16 bytes; sixteen f32 fill one cache line.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Zeroable)]
#[repr(C, align(16))]
pub struct LaneRow<S, const C: usize>(pub [S; C]);

impl<S: Scalar, const C: usize> Default for LaneRow<S, C> {
    fn default() -> Self {
        LaneRow([S::default(); C])
    }
}

macro_rules! single_lane {
    ($scalar:ty) => {
        impl Lanes for $scalar {
            type Scalar = $scalar;
            const WIDTH: usize = 1;
            #[inline(always)]
            fn load(from: &[$scalar]) -> Self {
                from[0]
            }
            #[inline(always)]
            fn store(self, to: &mut [$scalar]) {
                to[0] = self;
            }
            #[inline(always)]
            fn gather<const C: usize>(rows: &[LaneRow<$scalar, C>], index: &[u32]) -> [Self; C] {
                rows[index[0] as usize].0
            }
            #[inline(always)]
            fn load_rows<const C: usize>(rows: &[LaneRow<$scalar, C>]) -> [Self; C] {
                rows[0].0
            }
            #[inline(always)]
            fn store_rows<const C: usize>(columns: [Self; C], rows: &mut [LaneRow<$scalar, C>]) {
                rows[0].0 = columns;
            }
            #[inline(always)]
            fn mask(bits: u32) -> bool {
                bits & 1 != 0
            }
            #[inline(always)]
            fn bits(mask: bool) -> u32 {
                u32::from(mask)
            }
            #[inline(always)]
            fn run<P: Pass<Self>>(pass: P) -> P::Out {
                with_fma(pass)
            }
        }
    };
}

/// Whether this machine has, as far as is known, an instruction for fused multiply-adds
/// ([`Real::mul_add`]). Without it they are calls of a function, with the same bits.
pub fn has_fused_multiply_add() -> bool {
    #[cfg(target_arch = "x86_64")]
    let has = std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    let has = true;
    has
}

/// Runs a pass with the instruction for fused multiply-adds, if the machine has it: without, every one of them
/// is a call of a function that gives the same bits.
#[allow(unsafe_code)]
#[inline(always)]
fn with_fma<L: Lanes, P: Pass<L>>(pass: P) -> P::Out {
    #[cfg(target_arch = "x86_64")]
    if has_fused_multiply_add() {
        #[target_feature(enable = "fma")]
        fn compiled<L: Lanes, P: Pass<L>>(pass: P) -> P::Out {
            pass.run()
        }
        // SAFETY: just checked.
        return unsafe { compiled(pass) };
    }
    pass.run()
}

single_lane!(f32);
single_lane!(f64);

#[cfg(test)]
mod tests {
    use super::super::width::{LaneWidth, OnLanes};
    use super::*;

    struct Transposes<'a, const C: usize>(&'a [LaneRow<f32, C>; 20], [u32; 16]);

    impl<L: Lanes<Scalar = f32>, const C: usize> Pass<L> for Transposes<'_, C> {
        type Out = (Vec<Vec<f32>>, Vec<LaneRow<f32, C>>, Vec<LaneRow<f32, C>>);
        #[inline(always)]
        fn run(self) -> Self::Out {
            let columns: [L; C] = L::gather(self.0, &self.1);
            let mut flat = vec![vec![0.0; L::WIDTH]; C];
            for (column, out) in columns.iter().zip(&mut flat) {
                column.store(out);
            }
            let mut back = vec![LaneRow([0.0; C]); L::WIDTH];
            L::store_rows(columns, &mut back);
            let mut next = vec![LaneRow([0.0; C]); L::WIDTH];
            L::store_rows(L::load_rows(&self.0[3..]), &mut next);
            (flat, back, next)
        }
    }

    /// x² − x²: rounded once it is the error of the rounded square.
    struct SquareErrors([f32; 16]);

    impl<L: Lanes<Scalar = f32>> Pass<L> for SquareErrors {
        type Out = Vec<f32>;
        #[inline(always)]
        fn run(self) -> Vec<f32> {
            let x = L::load(&self.0);
            let mut out = vec![0.0; L::WIDTH];
            x.mul_add(x, -(x * x)).store(&mut out);
            out
        }
    }

    #[test]
    fn every_type_rounds_a_fused_multiply_add_once() {
        let values: [f32; 16] = std::array::from_fn(|k| 1.0 + (k as f32 + 1.0) * 1.1e-4);
        let exact = values.map(|x| {
            let square = f64::from(x) * f64::from(x);
            (square - f64::from(square as f32)) as f32
        });
        assert!(exact.iter().any(|&error| error != 0.0));
        for width in LaneWidth::ALL {
            if let Some(found) = width.run(SquareErrors(values)) {
                assert_eq!(found, exact[..found.len()]);
            }
        }
    }

    impl OnLanes for SquareErrors {
        type Out = Vec<f32>;
        fn on<L: Lanes<Scalar = f32>>(self) -> Vec<f32> {
            L::run(self)
        }
    }

    fn check<L: Lanes<Scalar = f32>, const C: usize>() {
        let rows: [LaneRow<f32, C>; 20] =
            std::array::from_fn(|r| LaneRow(std::array::from_fn(|c| (r * 100 + c) as f32)));
        let index = [3, 0, 15, 7, 7, 2, 9, 11, 19, 1, 4, 5, 6, 8, 10, 12];
        let (columns, back, next) = L::run(Transposes(&rows, index));
        for k in 0..L::WIDTH {
            for (c, column) in columns.iter().enumerate() {
                assert_eq!(column[k], rows[index[k] as usize].0[c]);
            }
            assert_eq!(back[k], rows[index[k] as usize]);
            assert_eq!(next[k], rows[k + 3]);
        }
    }

    struct CheckAll;

    impl OnLanes for CheckAll {
        type Out = ();
        fn on<L: Lanes<Scalar = f32>>(self) {
            check::<L, 4>();
            check::<L, 8>();
            check::<L, 16>();
        }
    }

    #[test]
    fn gathers_and_scatters_rows() {
        for width in LaneWidth::ALL {
            width.run(CheckAll);
        }
    }
}
