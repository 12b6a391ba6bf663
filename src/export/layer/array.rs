//! Arrays of numbers.

use crate::export::text::{nearest, three_digits};

/// Digits that the numbers of an array need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Digits {
    /// All.
    All,
    /// Three significant ones, more than a colour map can show.
    Three,
    /// Five decimals, those of a unit vector whose error is invisible in shading. Only text is rounded.
    Unit,
    /// Those of multiples of this power of ten.
    MultiplesOf(f64),
}

impl Digits {
    /// Rounds a number for encodings other than text, in which fewer decimals of unit vectors would save nothing.
    pub fn round(self, value: f32) -> f32 {
        match self {
            Digits::All | Digits::Unit => value + 0.0, // + 0.0 turns -0 into 0
            Digits::Three => three_digits(value),
            Digits::MultiplesOf(step) => nearest(value.into(), step),
        }
    }
}

/// Values of an array.
#[derive(Clone, Copy, Debug)]
pub enum Array<'a> {
    /// `int[]`
    Ints(&'a [u32]),
    /// `int64[]`
    Longs(&'a [u32]),
    /// `float[]`
    Floats(&'a [f32], Digits),
    /// `texCoord2f[]`
    Vec2f(&'a [[f32; 2]]),
    /// `float3[]`, `point3f[]`, `normal3f[]`, `vector3f[]`, `color3f[]`
    Vec3f(&'a [[f32; 3]], Digits),
    /// `quath[]` of unit quaternions, w first
    Quath(&'a [[f32; 4]]),
}

impl<'a> Array<'a> {
    /// Vectors with all their digits.
    pub fn vectors(values: &'a [[f32; 3]]) -> Self {
        Array::Vec3f(values, Digits::All)
    }
}
