//! Format of a table in its file: which columns it has, how they are rounded and compressed.

use std::collections::BTreeMap;

use crate::spec::{Compression, FrameGroup, Output};

/// Columns, rounding and compression of a file. The default keeps all columns, unrounded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableFormat {
    /// Compression of the pages.
    pub compression: Compression,
    /// Columns that are left out, each with the word of `output.columns` that would include it.
    pub left_out: BTreeMap<&'static str, &'static str>,
    /// Mantissa bits kept in single-precision columns.
    pub bits: BTreeMap<&'static str, u32>,
}

impl TableFormat {
    /// Format of all tables except frames: all columns, unrounded, with the same compression.
    pub fn of_tables(output: &Output) -> Self {
        TableFormat {
            compression: output.compression,
            ..TableFormat::default()
        }
    }

    /// Format of frame files.
    pub fn of_frames(output: &Output) -> Self {
        let names = |group: FrameGroup| group.columns().iter().copied();
        let left_out = output.missing_groups();
        let rounded = output.precision_bits.groups();
        TableFormat {
            left_out: left_out
                .flat_map(|group| names(group).map(move |name| (name, group.name())))
                .collect(),
            bits: rounded
                .flat_map(|(group, bits)| names(group).map(move |name| (name, bits)))
                .collect(),
            ..TableFormat::of_tables(output)
        }
    }
}

/// `value` rounded to `bits` of its mantissa, to nearest, ties to even. A value that would round to infinity
/// is truncated instead.
pub fn round_mantissa(value: f32, bits: u32) -> f32 {
    let drop = 23_u32.saturating_sub(bits);
    if drop == 0 || !value.is_finite() {
        return value;
    }
    let word = value.to_bits();
    let last = word >> drop & 1;
    let half = (1 << (drop - 1)) - 1 + last;
    let truncated = |word: u32| f32::from_bits(word >> drop << drop);
    let rounded = truncated(word + half);
    if rounded.is_finite() {
        rounded
    } else {
        truncated(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::{Frames, Table};
    use crate::spec::PrecisionBits;

    #[test]
    fn groups_cover_a_frame_but_for_its_keys() {
        let mut names = vec!["frame", "time", "id"];
        names.extend(FrameGroup::ALL.iter().flat_map(|group| group.columns()));
        let columns: Vec<_> = Frames::columns().iter().map(|column| column.name).collect();
        assert_eq!(names, columns);
    }

    #[test]
    fn rounding_stays_within_half_of_the_last_bit_kept() {
        for bits in 1..=23 {
            let bound = 0.5_f64.powi(bits as i32 + 1);
            let mut worst: f64 = 0.0;
            for k in 0..20_000_u32 {
                let word = k.wrapping_mul(0x9E37_79B9);
                let exact = f32::from_bits(word);
                if !exact.is_normal() {
                    continue;
                }
                let rounded = round_mantissa(exact, bits);
                let low = (1_u32 << (23 - bits)) - 1;
                assert_eq!(rounded.to_bits() & low, 0, "{bits} bits are left");
                assert_eq!(
                    round_mantissa(rounded, bits),
                    rounded,
                    "rounded once is enough"
                );
                worst = worst.max((f64::from(rounded) / f64::from(exact) - 1.0).abs());
            }
            assert!(worst <= bound, "{bits} bits: {worst:e} > {bound:e}");
            assert!(
                bits > 18 || worst > 0.8 * bound,
                "{bits} bits: rounded at all"
            );
        }
    }

    #[test]
    fn ties_go_to_even_and_the_largest_number_stays_finite() {
        for (value, bits, rounded) in [
            (1.25, 1, 1.0),
            (1.75, 1, 2.0),
            (-1.75, 1, -2.0),
            (1.125, 2, 1.0),
            (1.375, 2, 1.5),
            (0.0, 4, 0.0),
            (f32::MAX, 10, f32::from_bits(0x7F7F_E000)),
            (f32::INFINITY, 10, f32::INFINITY),
        ] {
            assert_eq!(
                round_mantissa(value, bits),
                rounded,
                "{value} to {bits} bits"
            );
        }
        assert!(round_mantissa(f32::NAN, 3).is_nan());
        assert_eq!(round_mantissa(-0.0, 3).to_bits(), (-0.0_f32).to_bits());
    }

    #[test]
    fn a_format_follows_the_pipeline() {
        let output = Output {
            columns: vec![FrameGroup::Position, FrameGroup::Fragment],
            precision_bits: PrecisionBits {
                position: Some(20),
                ..PrecisionBits::default()
            },
            compression: Compression::None,
            ..Output::default()
        };
        let format = TableFormat::of_frames(&output);
        assert_eq!(format.compression, Compression::None);
        assert_eq!(
            format.bits,
            BTreeMap::from([("x", 20), ("y", 20), ("z", 20)])
        );
        let left_out: Vec<_> = format.left_out.keys().copied().collect();
        let expected = [
            "broken", "qw", "qx", "qy", "qz", "sigma", "tau", "vx", "vy", "vz", "wx", "wy", "wz",
        ];
        assert_eq!(left_out, expected);
        assert_eq!(format.left_out["tau"], "stress");
        assert_eq!(
            TableFormat::of_frames(&Output::default()),
            TableFormat::default()
        );
    }
}
