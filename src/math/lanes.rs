//! Numbers side by side, and how they come out of rows in memory.
//!
//! Memory holds rows of scalars, one an element, so that a neighbour is one or two cache lines; lanes are the
//! transpose of a few rows.

use super::real::{Real, Scalar};

/// A [`Real`] of `WIDTH` lanes over a scalar.
pub trait Lanes: Real + Send + Sync + 'static {
    /// The number that memory holds.
    type Scalar: Scalar;
    /// Lanes.
    const WIDTH: usize;

    /// `WIDTH` consecutive scalars.
    fn load(from: &[Self::Scalar]) -> Self;
    /// Writes `WIDTH` scalars.
    fn store(self, to: &mut [Self::Scalar]);
    /// Column c of the rows `index[0..WIDTH]`, for every c: a transpose. `C` is 4, 8 or 16.
    fn gather<const C: usize>(rows: &[Row<Self::Scalar, C>], index: &[u32]) -> [Self; C];
    /// Asks for the rows `index[0..WIDTH]`, so that they are near when they are gathered; indices beyond the
    /// rows ask for nothing.
    #[inline(always)]
    fn prefetch<const C: usize>(_rows: &[Row<Self::Scalar, C>], _index: &[u32]) {}
    /// Columns of `WIDTH` consecutive rows.
    fn load_rows<const C: usize>(rows: &[Row<Self::Scalar, C>]) -> [Self; C];
    /// Writes `WIDTH` consecutive rows.
    fn store_rows<const C: usize>(columns: [Self; C], rows: &mut [Row<Self::Scalar, C>]);
    /// Mask with lane k set where bit k is.
    fn mask(bits: u32) -> Self::Mask;
    /// Bit k set where lane k is.
    fn bits(mask: Self::Mask) -> u32;
    /// Runs a pass with this lane type's instructions enabled.
    fn run<P: Pass<Self>>(pass: P) -> P::Out;
}

/// Work generic over the lane type; `run` must be `#[inline(always)]` so that it is compiled with the lane
/// type's instructions.
pub trait Pass<L: Lanes> {
    /// Result.
    type Out;
    /// Does the work.
    fn run(self) -> Self::Out;
}

/// A row of `C` scalars, aligned so that sixteen f32 are one cache line.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(16))]
pub struct Row<S, const C: usize>(pub [S; C]);

impl<S: Scalar, const C: usize> Default for Row<S, C> {
    fn default() -> Self {
        Row([S::default(); C])
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
            fn gather<const C: usize>(rows: &[Row<$scalar, C>], index: &[u32]) -> [Self; C] {
                rows[index[0] as usize].0
            }
            #[inline(always)]
            fn load_rows<const C: usize>(rows: &[Row<$scalar, C>]) -> [Self; C] {
                rows[0].0
            }
            #[inline(always)]
            fn store_rows<const C: usize>(columns: [Self; C], rows: &mut [Row<$scalar, C>]) {
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
                pass.run()
            }
        }
    };
}
single_lane!(f32);
single_lane!(f64);

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::super::{F32x8, F32x16};
    use super::*;

    struct Transposes<'a, const C: usize>(&'a [Row<f32, C>; 20], [u32; 16]);

    impl<L: Lanes<Scalar = f32>, const C: usize> Pass<L> for Transposes<'_, C> {
        type Out = (Vec<Vec<f32>>, Vec<Row<f32, C>>, Vec<Row<f32, C>>);
        #[inline(always)]
        fn run(self) -> Self::Out {
            let columns: [L; C] = L::gather(self.0, &self.1);
            let mut flat = vec![vec![0.0; L::WIDTH]; C];
            for (column, out) in columns.iter().zip(&mut flat) {
                column.store(out);
            }
            let mut back = vec![Row([0.0; C]); L::WIDTH];
            L::store_rows(columns, &mut back);
            let mut next = vec![Row([0.0; C]); L::WIDTH];
            L::store_rows(L::load_rows(&self.0[3..]), &mut next);
            (flat, back, next)
        }
    }

    fn check<L: Lanes<Scalar = f32>, const C: usize>() {
        let rows: [Row<f32, C>; 20] =
            std::array::from_fn(|r| Row(std::array::from_fn(|c| (r * 100 + c) as f32)));
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

    fn check_all<L: Lanes<Scalar = f32>>() {
        check::<L, 4>();
        check::<L, 8>();
        check::<L, 16>();
    }

    #[test]
    fn gathers_and_scatters_rows() {
        check_all::<f32>();
        if F32x8::available() {
            check_all::<F32x8>();
        }
        if F32x16::available() {
            check_all::<F32x16>();
        }
    }
}
