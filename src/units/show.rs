//! Numbers for display: thousands separated by spaces, units with SI prefixes.

/// SI prefixes and their powers of ten.
const PREFIXES: [(&str, i32); 10] = [
    ("T", 12),
    ("G", 9),
    ("M", 6),
    ("k", 3),
    ("", 0),
    ("m", -3),
    ("µ", -6),
    ("n", -9),
    ("p", -12),
    ("f", -15),
];

/// The SI prefix that scales a number to between 1 and 1000, if there is one, and its factor.
pub fn prefix(size: f64) -> (&'static str, f64) {
    let fits = |&&(_, power): &&(&str, i32)| size * (1.0 + 1e-9) >= 10f64.powi(power);
    let last = &PREFIXES[PREFIXES.len() - 1];
    let found = match size > 0.0 {
        true => PREFIXES.iter().find(fits).unwrap_or(last),
        false => &("", 0),
    };
    (found.0, 10f64.powi(found.1))
}

/// A number with `decimals` decimal places and its thousands separated by spaces.
pub fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut out = String::new();
    if value < 0.0 && text.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
        out.push('−');
    }
    for (at, digit) in whole.chars().enumerate() {
        let left = whole.len() - at;
        if at > 0 && left.is_multiple_of(3) && whole.len() > 4 {
            out.push(' ');
        }
        out.push(digit);
    }
    out + rest
}

/// A number with four significant digits.
pub fn figures(value: f64) -> String {
    let size = value.abs();
    let decimals = match size {
        s if s >= 999.95 => 0,
        s if s >= 99.995 => 1,
        s if s >= 9.9995 => 2,
        s if s >= 0.99995 || s == 0.0 => 3,
        _ => (3 - size.log10().floor() as i32).clamp(3, 12) as usize,
    };
    let text = grouped(value, decimals);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A quantity with four significant digits in an SI unit that takes prefixes: "12.5 mJ".
pub fn quantity(value: f64, unit: &str) -> String {
    if !value.is_finite() {
        return format!("{value} {unit}");
    }
    let (prefix, factor) = prefix(value.abs());
    if value != 0.0 && value.abs() < 1e-3 * factor {
        return format!("{value:.3e} {unit}");
    }
    format!("{} {prefix}{unit}", figures(value / factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        for (value, decimals, wanted) in [
            (1234.0, 0, "1234"),
            (12_345.0, 0, "12 345"),
            (1_234_567.5, 1, "1 234 567.5"),
            (-0.25, 2, "−0.25"),
            (-0.001, 1, "0.0"),
        ] {
            assert_eq!(grouped(value, decimals), wanted);
        }
    }

    #[test]
    fn quantities_have_four_figures_and_a_prefix() {
        for (value, unit, wanted) in [
            (0.0, "J", "0 J"),
            (1.0, "s", "1 s"),
            (0.0300, "s", "30 ms"),
            (2.3376e-7, "s", "233.8 ns"),
            (-1.23456e7, "Pa", "−12.35 MPa"),
            (5.4e-18, "J", "0.0054 fJ"),
            (2e-25, "J", "2.000e-25 J"),
            (f64::INFINITY, "Pa", "inf Pa"),
        ] {
            assert_eq!(quantity(value, unit), wanted);
        }
    }
}
