//! Formats arrays of numbers as short text, in parallel.

use std::fmt::Write;

use crate::parallel::prelude::*;

/// Values formatted by one parallel task: enough to hide the cost of starting it.
const CHUNK: usize = 4096;

/// Appends the shortest text that parses to the same number.
pub fn push_f32(out: &mut String, value: f32) {
    let size = value.abs();
    // Without an exponent, very small and very large numbers would be long rows of zeros.
    let written = if size != 0.0 && !(1e-4..1e9).contains(&size) {
        write!(out, "{value:e}")
    } else {
        write!(out, "{}", value + 0.0) // + 0.0 turns -0 into 0
    };
    written.expect("writing to a string cannot fail");
}

/// Appends a component of a unit vector, rounded to five decimals: the error is invisible in shading.
pub fn push_unit(out: &mut String, value: f32) {
    let rounded = (f64::from(value) * 1e5).round() as i64;
    if rounded == 0 {
        out.push('0');
        return;
    }
    if rounded < 0 {
        out.push('-');
    }
    let (whole, rest) = (rounded.abs() / 100_000, rounded.abs() % 100_000);
    push_u32(out, whole as u32);
    if rest != 0 {
        let digits = format!(".{rest:05}");
        out.push_str(digits.trim_end_matches('0'));
    }
}

/// A number rounded to three significant digits, more than a colour map can show. NaN and infinity become 0.
pub fn three_digits(value: f32) -> f32 {
    if value == 0.0 {
        return 0.0;
    }
    let value = f64::from(value);
    let step = 10f64.powi(value.abs().log10().floor() as i32 - 2);
    nearest(value, step)
}

/// Appends a number rounded to [three digits](three_digits).
pub fn push_three_digits(out: &mut String, value: f32) {
    match three_digits(value) {
        0.0 => out.push('0'),
        rounded => write!(out, "{rounded:e}").expect("writing to a string cannot fail"),
    }
}

/// Appends a number rounded to the nearest multiple of `step`, a power of ten. NaN and infinity become 0.
pub fn push_multiple(out: &mut String, value: f32, step: f64) {
    push_f32(out, nearest(value.into(), step));
}

/// The multiple of `step` nearest to `value`. NaN and infinity become 0.
pub fn nearest(value: f64, step: f64) -> f32 {
    if !value.is_finite() {
        return 0.0;
    }
    ((value / step).round() * step + 0.0) as f32 // + 0.0 turns -0 into 0
}

/// Appends an integer.
pub fn push_u32(out: &mut String, value: u32) {
    write!(out, "{value}").expect("writing to a string cannot fail");
}

/// Formats all values in parallel; the concatenation of the returned parts is the text, in order.
pub fn format_all<T: Sync>(values: &[T], push: impl Fn(&mut String, &T) + Sync) -> Vec<String> {
    values
        .par_chunks(CHUNK)
        .map(|chunk| {
            let mut part = String::with_capacity(chunk.len() * 32);
            for value in chunk {
                push(&mut part, value);
            }
            part
        })
        .collect()
}

/// Formats `[a, b, …]`, each value by `push`, as parts to be concatenated.
pub fn array<T: Sync>(values: &[T], push: impl Fn(&mut String, &T) + Sync) -> Vec<String> {
    let mut parts = vec!["[".to_owned()];
    if let Some((first, rest)) = values.split_first() {
        push(&mut parts[0], first);
        parts.extend(format_all(rest, |out, value| {
            out.push_str(", ");
            push(out, value);
        }));
    }
    parts.push("]".to_owned());
    parts
}

/// Appends `(a, b, …)`, each number by `push`.
pub fn push_tuple(out: &mut String, values: &[f32], push: impl Fn(&mut String, f32)) {
    for (at, &value) in values.iter().enumerate() {
        out.push_str(if at == 0 { "(" } else { ", " });
        push(out, value);
    }
    out.push(')');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_read_back_exactly() {
        for value in [0.1f32, -3.25e-7, 1.0e12, 123456.79, -0.0, f32::MIN_POSITIVE] {
            let mut text = String::new();
            push_f32(&mut text, value);
            assert_eq!(text.parse::<f32>().expect("a number"), value, "{text}");
            assert!(text.len() < 15, "{text}");
        }
    }

    #[test]
    fn numbers_are_rounded_to_three_digits() {
        for (value, expected) in [
            (0.0f32, "0"),
            (1_234_567.0, "1.23e6"),
            (-999_950.0, "-1e6"),
            (0.0456, "4.56e-2"),
            (f32::NAN, "0"),
        ] {
            let mut text = String::new();
            push_three_digits(&mut text, value);
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn multiples_of_a_step_have_its_digits_and_no_more() {
        for (value, step, expected) in [
            (0.0f32, 0.01, "0"),
            (-0.004, 0.01, "0"),
            (1.234_567, 0.001, "1.235"),
            (-0.001_234_567, 1e-6, "-0.001235"),
            (-1.234_567e-7, 1e-9, "-1.23e-7"),
            (99_999.7, 10.0, "100000"),
        ] {
            let mut text = String::new();
            push_multiple(&mut text, value, step);
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn unit_components_are_rounded() {
        for (value, expected) in [
            (1.0f32, "1"),
            (-0.57735026, "-0.57735"),
            (0.7000001, "0.7"),
            (-1e-9, "0"),
            (0.00012, "0.00012"),
        ] {
            let mut text = String::new();
            push_unit(&mut text, value);
            assert_eq!(text, expected);
        }
    }
}
