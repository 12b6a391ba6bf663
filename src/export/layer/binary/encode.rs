//! Values as binary USD stores them.

use std::io;

use half::f16;

use super::compress;
use crate::export::layer::array::{Array, Digits};
use crate::export::text::{nearest, three_digits};

/// Numbers of types in binary USD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Type {
    Int = 3,
    Int64 = 5,
    Float = 8,
    Double = 9,
    Token = 11,
    Quatf = 17,
    Quath = 18,
    Vec2f = 20,
    Vec3d = 23,
    Vec3f = 24,
    Dictionary = 31,
    TokenListOp = 32,
    PathListOp = 34,
    TokenVector = 41,
    Specifier = 42,
    Variability = 44,
    TimeSamples = 46,
    DoubleVector = 48,
}

/// How readers are to understand an encoded array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArrayTag {
    kind: Type,
    is_compressed: bool,
    is_empty: bool,
}

impl Default for ArrayTag {
    fn default() -> Self {
        ArrayTag {
            kind: Type::Int,
            is_compressed: false,
            is_empty: true,
        }
    }
}

const ARRAY: u64 = 1 << 63;
const INLINE: u64 = 1 << 62;
const COMPRESSED: u64 = 1 << 61;

/// What stands for a value: its type, and its place in the file or the value itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Representation(pub u64);

impl Representation {
    /// Of a value that stands at a place in the file.
    pub fn at(kind: Type, place: u64) -> Self {
        Representation((kind as u64) << 48 | place)
    }

    /// Of a value that fits in 32 bits.
    pub fn inline(kind: Type, bits: u32) -> Self {
        Representation(INLINE | (kind as u64) << 48 | u64::from(bits))
    }

    /// Of an array that stands at a place in the file. Empty arrays stand nowhere.
    pub fn array(tag: ArrayTag, place: u64) -> Self {
        let flags = ARRAY | if tag.is_compressed { COMPRESSED } else { 0 };
        match tag.is_empty {
            true => Representation(ARRAY | (tag.kind as u64) << 48),
            false => Representation(flags | (tag.kind as u64) << 48 | place),
        }
    }
}

impl ArrayTag {
    /// Of an array of tokens.
    pub fn tokens(count: usize) -> Self {
        ArrayTag {
            kind: Type::Token,
            is_compressed: false,
            is_empty: count == 0,
        }
    }

    /// Whether the array has no values.
    pub fn is_empty(self) -> bool {
        self.is_empty
    }
}

/// Arrays of fewer values are not compressed.
const MIN_COMPRESSED: usize = 16;
/// Most distinct values of an array that is stored as a table and indices.
const MAX_TABLE: usize = 1024;

/// Encodes an array: number of values, then the values.
pub fn array(values: &Array) -> io::Result<(Vec<u8>, ArrayTag)> {
    match *values {
        Array::Ints(values) if values.len() < MIN_COMPRESSED => {
            Ok(plain(Type::Int, values, |v| v.to_le_bytes()))
        }
        Array::Ints(values) => {
            let packed = compress::integers(values.iter().copied())?;
            Ok(compressed(Type::Int, values.len(), &[], &packed))
        }
        Array::Longs(values) if values.len() < MIN_COMPRESSED => {
            Ok(plain(Type::Int64, values, |v| u64::from(*v).to_le_bytes()))
        }
        Array::Longs(values) => {
            let packed = compress::long_integers(values)?;
            Ok(compressed(Type::Int64, values.len(), &[], &packed))
        }
        Array::Floats(values, Digits::Three) => {
            floats(&values.iter().map(|v| three_digits(*v)).collect::<Vec<_>>())
        }
        Array::Floats(values, Digits::MultiplesOf(step)) => {
            let round = |value: &f32| nearest((*value).into(), step);
            floats(&values.iter().map(round).collect::<Vec<_>>())
        }
        Array::Floats(values, _) => floats(values),
        Array::Vec2f(values) => Ok(plain(Type::Vec2f, values, numbers::<2, 8>)),
        // Rounding makes more arrays equal, above all those of zeros.
        Array::Vec3f(values, Digits::MultiplesOf(step)) => {
            let round = |value: f32| nearest(value.into(), step);
            Ok(plain(Type::Vec3f, values, |v| {
                numbers::<3, 12>(&v.map(round))
            }))
        }
        Array::Vec3f(values, _) => Ok(plain(Type::Vec3f, values, numbers::<3, 12>)),
        // The real part is last in memory.
        Array::Quath(values) => Ok(plain(Type::Quath, values, |[w, x, y, z]| {
            let mut out = [0; 8];
            for (out, part) in out.chunks_exact_mut(2).zip([x, y, z, w]) {
                out.copy_from_slice(&f16::from_f32(*part).to_le_bytes());
            }
            out
        })),
    }
}

fn numbers<const N: usize, const BYTES: usize>(values: &[f32; N]) -> [u8; BYTES] {
    let mut out = [0; BYTES];
    for (out, value) in out.chunks_exact_mut(4).zip(values) {
        out.copy_from_slice(&value.to_le_bytes());
    }
    out
}

/// Encodes numbers, as a table and indices if few of them differ.
fn floats(values: &[f32]) -> io::Result<(Vec<u8>, ArrayTag)> {
    let whole = || Ok(plain(Type::Float, values, |v| v.to_le_bytes()));
    if values.len() < MIN_COMPRESSED {
        return whole();
    }
    let mut table: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
    table.sort_unstable();
    table.dedup();
    if table.len() > MAX_TABLE.min(values.len() / 4) {
        return whole();
    }
    let place = |value: &f32| table.partition_point(|bits| *bits < value.to_bits()) as u32;
    let packed = compress::integers(values.iter().map(place))?;
    let mut head = vec![b't'];
    head.extend((table.len() as u32).to_le_bytes());
    head.extend(table.iter().flat_map(|bits| bits.to_le_bytes()));
    Ok(compressed(Type::Float, values.len(), &head, &packed))
}

fn plain<T, const BYTES: usize>(
    kind: Type,
    values: &[T],
    encode: impl Fn(&T) -> [u8; BYTES],
) -> (Vec<u8>, ArrayTag) {
    let mut out = Vec::with_capacity(8 + BYTES * values.len());
    out.extend((values.len() as u64).to_le_bytes());
    for value in values {
        out.extend(encode(value));
    }
    let tag = ArrayTag {
        kind,
        is_compressed: false,
        is_empty: values.is_empty(),
    };
    (out, tag)
}

fn compressed(kind: Type, count: usize, head: &[u8], packed: &[u8]) -> (Vec<u8>, ArrayTag) {
    let mut out = (count as u64).to_le_bytes().to_vec();
    out.extend(head);
    out.extend((packed.len() as u64).to_le_bytes());
    out.extend(packed);
    let tag = ArrayTag {
        kind,
        is_compressed: true,
        is_empty: false,
    };
    (out, tag)
}

/// The 32 bits of a vector whose components are small whole numbers.
pub fn small_integers(values: [f32; 3]) -> Option<u32> {
    let mut bits = [0; 4];
    for (out, value) in bits.iter_mut().zip(values) {
        let whole = value as i8;
        if f32::from(whole).to_bits() != value.to_bits() {
            return None;
        }
        *out = whole.to_le_bytes()[0];
    }
    Some(u32::from_le_bytes(bits))
}
