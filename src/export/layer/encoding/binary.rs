//! Arrays as binary USD stores them, or as bare numbers, and what stands for values in binary USD.

use std::io;

use half::f16;

use super::compress;
use crate::export::layer::array::Array;

/// Numbers of types in binary USD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Type {
    Int = 3,
    Int64 = 5,
    Float = 8,
    Double = 9,
    Token = 11,
    Quatd = 16,
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

/// Size of the number of values, bytes.
const COUNT: usize = 8;
/// Arrays of fewer values are not compressed.
const MIN_COMPRESSED: usize = 16;
/// Most distinct values of an array that is stored as a table and indices.
const MAX_TABLE: usize = 1024;

/// Encodes an array: number of values, then the values, compressed where the format can and there are enough.
pub fn array(values: &Array) -> io::Result<(Vec<u8>, ArrayTag)> {
    match *values {
        Array::Ints(values) if values.len() >= MIN_COMPRESSED => {
            let packed = compress::integers(values.iter().copied())?;
            Ok(compressed(Type::Int, values.len(), &[], &packed))
        }
        Array::Longs(values) if values.len() >= MIN_COMPRESSED => {
            let packed = compress::long_integers(values)?;
            Ok(compressed(Type::Int64, values.len(), &[], &packed))
        }
        Array::Floats(numbers, digits) if numbers.len() >= MIN_COMPRESSED => {
            let rounded: Vec<f32> = numbers.iter().map(|v| digits.round(*v)).collect();
            Ok(tabulated(&rounded)?.unwrap_or_else(|| uncompressed(values)))
        }
        _ => Ok(uncompressed(values)),
    }
}

/// Encodes the values of an array, nothing else.
pub fn bare(values: &Array) -> Vec<u8> {
    let (mut bytes, _) = uncompressed(values);
    bytes.split_off(COUNT)
}

fn uncompressed(values: &Array) -> (Vec<u8>, ArrayTag) {
    match *values {
        Array::Ints(values) => plain(Type::Int, values, |v| v.to_le_bytes()),
        Array::Longs(values) => plain(Type::Int64, values, |v| u64::from(*v).to_le_bytes()),
        Array::Floats(values, digits) => {
            plain(Type::Float, values, |v| digits.round(*v).to_le_bytes())
        }
        Array::Vec2f(values) => plain(Type::Vec2f, values, numbers::<2, 8>),
        // Rounding makes more arrays equal, above all those of zeros.
        Array::Vec3f(values, digits) => plain(Type::Vec3f, values, |v| {
            numbers::<3, 12>(&v.map(|v| digits.round(v)))
        }),
        // The real part is last in memory.
        Array::Quath(values) => plain(Type::Quath, values, |[w, x, y, z]| {
            let mut out = [0; 8];
            for (out, part) in out.chunks_exact_mut(2).zip([x, y, z, w]) {
                out.copy_from_slice(&f16::from_f32(*part).to_le_bytes());
            }
            out
        }),
    }
}

fn numbers<const N: usize, const BYTES: usize>(values: &[f32; N]) -> [u8; BYTES] {
    let mut out = [0; BYTES];
    for (out, value) in out.chunks_exact_mut(4).zip(values) {
        out.copy_from_slice(&value.to_le_bytes());
    }
    out
}

/// Encodes numbers as a table and indices, if few of them differ.
fn tabulated(values: &[f32]) -> io::Result<Option<(Vec<u8>, ArrayTag)>> {
    let mut table: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
    table.sort_unstable();
    table.dedup();
    if table.len() > MAX_TABLE.min(values.len() / 4) {
        return Ok(None);
    }
    let place = |value: &f32| table.partition_point(|bits| *bits < value.to_bits()) as u32;
    let packed = compress::integers(values.iter().map(place))?;
    let mut head = vec![b't'];
    head.extend((table.len() as u32).to_le_bytes());
    head.extend(table.iter().flat_map(|bits| bits.to_le_bytes()));
    Ok(Some(compressed(Type::Float, values.len(), &head, &packed)))
}

fn plain<T, const BYTES: usize>(
    kind: Type,
    values: &[T],
    encode: impl Fn(&T) -> [u8; BYTES],
) -> (Vec<u8>, ArrayTag) {
    let mut out = Vec::with_capacity(COUNT + BYTES * values.len());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::layer::array::Digits;

    /// The parts of an encoded array of compressed integers, from a place on.
    fn unpacked(bytes: &[u8], from: usize) -> Vec<u8> {
        let size = u64::from_le_bytes(bytes[from..from + 8].try_into().expect("8 bytes"));
        assert_eq!(bytes.len(), from + 8 + size as usize);
        lz4_flex::block::decompress(&bytes[from + 9..], 1000).expect("a block")
    }

    #[test]
    fn short_arrays_are_stored_as_they_are() {
        let (bytes, tag) = array(&Array::Ints(&[7; 15])).expect("short");
        let expected: Vec<u8> = [15, 0]
            .into_iter()
            .chain([7; 15])
            .flat_map(u32::to_le_bytes)
            .collect();
        assert_eq!((bytes, tag.is_compressed), (expected, false));
        let (_, tag) = array(&Array::Longs(&[])).expect("short");
        let empty = Representation::array(tag, 1234);
        assert_eq!(empty, Representation(1 << 63 | 5 << 48));
    }

    #[test]
    fn long_arrays_are_compressed() {
        let (bytes, tag) = array(&Array::Ints(&[7; 16])).expect("short");
        assert_eq!(
            Representation::array(tag, 99).0,
            1 << 63 | 1 << 61 | 3 << 48 | 99
        );
        // The first difference is 7, all others are 0.
        assert_eq!(unpacked(&bytes, 8), [0, 0, 0, 0, 1, 0, 0, 0, 7]);
    }

    #[test]
    fn few_distinct_numbers_become_a_table_and_indices() {
        let numbers: Vec<f32> = (0..32)
            .map(|k| if k == 5 { 0.1 } else { 12_345.0 })
            .collect();
        let digits = Digits::MultiplesOf(100.0);
        let (bytes, tag) = array(&Array::Floats(&numbers, digits)).expect("short");
        assert!(tag.is_compressed);
        let table = [0.0f32, 12_300.0].map(f32::to_le_bytes);
        assert_eq!(bytes[8..13], [b't', 2, 0, 0, 0]);
        assert_eq!(bytes[13..21], *table.as_flattened());
        let coded = unpacked(&bytes, 21);
        // Differences of the indices: 1, then 0 but for -1 at the odd one and 1 after it.
        assert_eq!(
            coded,
            [0, 0, 0, 0, 1, 0b01_01 << 2, 0, 0, 0, 0, 0, 0, 1, 0xFF, 1]
        );
        let other: Vec<f32> = (0..32).map(|k| k as f32).collect();
        let (bytes, tag) = array(&Array::Floats(&other, Digits::All)).expect("short");
        assert_eq!((bytes.len(), tag.is_compressed), (8 + 32 * 4, false));
    }

    #[test]
    fn the_real_part_of_a_rotation_is_last() {
        let (bytes, _) = array(&Array::Quath(&[[1.0, 0.0, 0.5, 0.0]])).expect("short");
        let half = |x: f32| f16::from_f32(x).to_le_bytes();
        let parts = [0.0, 0.5, 0.0, 1.0].map(half);
        assert_eq!(bytes[8..], *parts.as_flattened());
    }

    #[test]
    fn only_small_whole_numbers_fit_in_the_representation() {
        assert_eq!(small_integers([1.0, -1.0, 0.0]), Some(0x0000_FF01));
        for outside in [128.0, -129.0, 0.5, -0.0, f32::NAN, f32::INFINITY] {
            assert_eq!(small_integers([0.0, outside, 0.0]), None, "{outside}");
        }
    }
}
