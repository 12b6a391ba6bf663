//! Compression of integers and bytes in binary USD.
//!
//! Integers are replaced by their differences. Each difference has a code of two bits: the most frequent one, or one of
//! 8, 16 or 32 bits (16, 32 or 64 for long integers); those that are not the most frequent one follow the codes. The
//! result is compressed as bytes.

use std::io;

/// Largest block that LZ4 compresses at once, bytes.
const MAX_BLOCK: usize = 0x7E00_0000;

/// Compresses bytes by LZ4, after a byte 0, which says that there is one block.
pub fn bytes(plain: &[u8]) -> io::Result<Vec<u8>> {
    if plain.len() > MAX_BLOCK {
        let what = "an array or a table is too large for a binary USD file: over 2 GB";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let mut packed = vec![0; 1 + lz4_flex::block::get_maximum_output_size(plain.len())];
    let length =
        lz4_flex::block::compress_into(plain, &mut packed[1..]).map_err(io::Error::other)?;
    packed.truncate(1 + length);
    Ok(packed)
}

/// Compresses integers of 32 bits, signed or not.
pub fn integers(values: impl Iterator<Item = u32> + Clone) -> io::Result<Vec<u8>> {
    let mut last = 0;
    let differences = values.map(|value| value.wrapping_sub(std::mem::replace(&mut last, value)));
    let differences: Vec<i64> = differences.map(|d| i64::from(d as i32)).collect();
    bytes(&coded(&differences, 1))
}

/// Compresses integers of 64 bits.
pub fn long_integers(values: &[u32]) -> io::Result<Vec<u8>> {
    let mut last = 0;
    let differences = values
        .iter()
        .map(|&value| i64::from(value) - std::mem::replace(&mut last, i64::from(value)));
    bytes(&coded(&differences.collect::<Vec<_>>(), 2))
}

/// Codes and differences; the shortest have `least` bytes, the longest four times as many.
fn coded(differences: &[i64], least: usize) -> Vec<u8> {
    let Some(common) = most_frequent(differences) else {
        return Vec::new();
    };
    let mut out = common.to_le_bytes()[..4 * least].to_vec();
    let codes = out.len();
    out.resize(codes + differences.len().div_ceil(4), 0);
    for (k, &value) in differences.iter().enumerate() {
        if value == common {
            continue;
        }
        let fits = |length: usize| {
            let unused = 64 - 8 * length;
            value << unused >> unused == value
        };
        let code = if fits(least) {
            1
        } else if fits(2 * least) {
            2
        } else {
            3
        };
        out[codes + k / 4] |= code << (2 * (k % 4));
        let length = least << (code - 1);
        out.extend_from_slice(&value.to_le_bytes()[..length]);
    }
    out
}

/// The most frequent value, of several the largest.
fn most_frequent(values: &[i64]) -> Option<i64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a == b);
    runs.max_by_key(|run| run.len()).map(|run| run[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example in the documentation of the format.
    #[test]
    fn integers_are_coded_as_the_format_says() {
        let differences = [123, 1, 1, 100_000, 0, 1, 0];
        let expected = [
            &1i32.to_le_bytes()[..],
            &[0b1100_0001, 0b01_0001],
            &[123],
            &100_000i32.to_le_bytes(),
            &[0, 0],
        ];
        assert_eq!(coded(&differences, 1), expected.concat());
        let packed = integers([123, 124, 125, 100_125, 100_125, 100_126, 100_126].into_iter());
        let packed = packed.expect("short");
        assert_eq!(packed[0], 0);
        let plain = lz4_flex::block::decompress(&packed[1..], 100).expect("a block");
        assert_eq!(plain, expected.concat());
    }

    #[test]
    fn differences_wrap_and_take_as_many_bytes_as_they_need() {
        // From the largest number to 0 is a step of one.
        let packed = integers([u32::MAX, 0, 1, 2].into_iter()).expect("short");
        let plain = lz4_flex::block::decompress(&packed[1..], 100).expect("a block");
        assert_eq!(plain, [1, 0, 0, 0, 0b0000_0001, 0xFF]);
        assert_eq!(
            coded(&[40_000, -40_000, 7, 7], 1)[4..],
            [
                &[0b00_00_11_11][..],
                &40_000i32.to_le_bytes(),
                &(-40_000i32).to_le_bytes()
            ]
            .concat()
        );
        let long = coded(&[1 << 40, 5, 5], 2);
        assert_eq!(
            long,
            [
                &5i64.to_le_bytes()[..],
                &[0b11],
                &(1i64 << 40).to_le_bytes()
            ]
            .concat()
        );
    }
}
