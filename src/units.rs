//! Parses numbers with units into SI: `"1.25 mm"`, `"70 GPa"`, `"3 g/cm^3"`, `"30 deg"`.
//!
//! A unit is a product of unit symbols with SI prefixes and powers: `kg/m^3`, `kg*m^-3`, `N/m²`,
//! `/s`, `MPa √m`. A bare number is in SI units. Powers of ten are applied in decimal, so `"1.1 mm"` is exactly
//! `0.0011`. src/spec/README.md lists the units.

pub mod show;
mod unit;

use std::fmt;

use unit::{Exponents, Unit, UnitFault, whole};

/// Physical dimension of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Dimensionless, 1
    Number,
    /// m
    Length,
    /// s
    Time,
    /// Pa
    Pressure,
    /// kg/m³
    Density,
    /// rad
    Angle,
    /// m/s
    Velocity,
    /// m/s²
    Acceleration,
    /// rad/s
    AngularVelocity,
    /// N
    Force,
    /// 1/s
    Rate,
    /// N/m
    Stiffness,
    /// Pa √m
    Toughness,
}

/// Every dimension that can be requested: name, exponents, SI unit, an example.
const DIMENSIONS: [(Dimension, &str, Exponents, &str, &str); 13] = {
    use Dimension::*;
    [
        (Number, "a pure number", whole([0, 0, 0, 0]), "1", "0.5"),
        (Length, "a length", whole([1, 0, 0, 0]), "m", "1.25 mm"),
        (Time, "a time", whole([0, 0, 1, 0]), "s", "2 us"),
        (
            Pressure,
            "a pressure",
            whole([-1, 1, -2, 0]),
            "Pa",
            "70 GPa",
        ),
        (
            Density,
            "a density",
            whole([-3, 1, 0, 0]),
            "kg/m^3",
            "1100 kg/m^3",
        ),
        (Angle, "an angle", whole([0, 0, 0, 1]), "rad", "30 deg"),
        (Velocity, "a velocity", whole([1, 0, -1, 0]), "m/s", "5 m/s"),
        (
            Acceleration,
            "an acceleration",
            whole([1, 0, -2, 0]),
            "m/s^2",
            "-9.81 m/s^2",
        ),
        (
            AngularVelocity,
            "an angular velocity",
            whole([0, 0, -1, 1]),
            "rad/s",
            "120 rpm",
        ),
        (Force, "a force", whole([1, 1, -2, 0]), "N", "10 N"),
        (Rate, "a rate", whole([0, 0, -1, 0]), "1/s", "60 Hz"),
        (
            Stiffness,
            "a stiffness",
            whole([0, 1, -2, 0]),
            "N/m",
            "10 kN/m",
        ),
        (
            Toughness,
            "a fracture toughness",
            [-1, 2, -4, 0],
            "Pa √m",
            "1.2 MPa √m",
        ),
    ]
};

/// Dimensions that are never requested, but often written by users.
const OTHER_DIMENSIONS: [(&str, Exponents); 5] = [
    ("a mass", whole([0, 1, 0, 0])),
    ("an area", whole([2, 0, 0, 0])),
    ("a volume", whole([3, 0, 0, 0])),
    ("an energy", whole([2, 1, -2, 0])),
    ("a power", whole([2, 1, -3, 0])),
];

impl Dimension {
    fn table_row(
        self,
    ) -> &'static (
        Dimension,
        &'static str,
        Exponents,
        &'static str,
        &'static str,
    ) {
        DIMENSIONS
            .iter()
            .find(|row| row.0 == self)
            .expect("every dimension has a row")
    }

    /// Name with article: "a length".
    pub fn name(self) -> &'static str {
        self.table_row().1
    }

    /// The SI unit: "m".
    pub fn unit(self) -> &'static str {
        self.table_row().3
    }

    /// How a user may write such a quantity: "1.25 mm".
    pub fn example(self) -> &'static str {
        self.table_row().4
    }

    /// The dimension with this [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        DIMENSIONS.iter().find(|row| row.1 == name).map(|row| row.0)
    }
}

/// Why a text is not a quantity of the expected dimension.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum UnitError {
    /// It does not begin with a number.
    #[error("\"{text}\" is not a number; expected {}, e.g. \"{}\"", .wanted.name(), .wanted.example())]
    NotANumber {
        /// The text as written.
        text: String,
        /// The expected dimension.
        wanted: Dimension,
    },
    /// The number is NaN or infinite.
    #[error("\"{text}\" is not a finite number")]
    NotFinite {
        /// The text as written.
        text: String,
    },
    /// The unit is unknown.
    #[error("\"{text}\": unknown unit `{unit}`; expected {}, e.g. \"{}\"", .wanted.name(), .wanted.example())]
    UnknownUnit {
        /// The text as written.
        text: String,
        /// The unknown unit symbol.
        unit: String,
        /// The expected dimension.
        wanted: Dimension,
    },
    /// A factor follows a quotient without an operator: `J/kg K`.
    #[error(
        "\"{text}\": it is unclear whether `{unit}` belongs to the divisor; write * or / before it"
    )]
    Ambiguous {
        /// The text as written.
        text: String,
        /// The factor whose position is unclear.
        unit: String,
    },
    /// The unit has another dimension.
    #[error("\"{text}\" is {found}; expected {}, e.g. \"{}\"", .wanted.name(), .wanted.example())]
    WrongDimension {
        /// The text as written.
        text: String,
        /// Its dimension in words.
        found: String,
        /// The expected dimension.
        wanted: Dimension,
    },
}

/// Parses `text` as a quantity of dimension `wanted` into SI. A number without unit is in SI units.
pub fn parse(text: &str, wanted: Dimension) -> Result<f64, UnitError> {
    let owned = || text.to_owned();
    let trimmed = text.trim();
    let unsigned = trimmed.trim_start_matches(['+', '-']).to_ascii_lowercase();
    if unsigned.starts_with("nan") || unsigned.starts_with("inf") {
        return Err(UnitError::NotFinite { text: owned() });
    }
    let (mantissa, exponent, rest) =
        split_number(trimmed).ok_or_else(|| UnitError::NotANumber {
            text: owned(),
            wanted,
        })?;
    let unit = Unit::parse(rest).map_err(|fault| match fault {
        UnitFault::Unknown(unit) => UnitError::UnknownUnit {
            text: owned(),
            unit,
            wanted,
        },
        UnitFault::Ambiguous(unit) => UnitError::Ambiguous {
            text: owned(),
            unit,
        },
    })?;
    if let Some(unit) = &unit
        && unit.exponents != wanted.table_row().2
    {
        return Err(UnitError::WrongDimension {
            text: owned(),
            found: describe(unit.exponents),
            wanted,
        });
    }
    let unit = unit.unwrap_or_default();
    let decimal: f64 = format!("{mantissa}e{}", exponent.saturating_add(unit.decimal))
        .parse()
        .expect("digits and an exponent are a number");
    let value = decimal * unit.factor / unit.divisor;
    if !value.is_finite() {
        return Err(UnitError::NotFinite { text: owned() });
    }
    Ok(value)
}

/// Splits a text into digits with sign and point, exponent of ten, and the rest; `None` without digits.
fn split_number(text: &str) -> Option<(&str, i32, &str)> {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let whole = digits(sign);
    let mut end = sign + whole;
    let mut places = 0;
    if bytes.get(end) == Some(&b'.') {
        places = digits(end + 1);
        end += 1 + places;
    }
    if whole + places == 0 {
        return None;
    }
    let mantissa = &text[..end];
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let signed = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let count = if signed <= bytes.len() {
            digits(signed)
        } else {
            0
        };
        if count > 0 {
            let exponent = text[end + 1..signed + count].parse().ok()?;
            return Some((mantissa, exponent, &text[signed + count..]));
        }
    }
    Some((mantissa, 0, &text[end..]))
}

fn describe(exponents: Exponents) -> String {
    let wanted = DIMENSIONS.iter().map(|row| (row.1, row.2));
    if let Some((name, _)) = wanted
        .chain(OTHER_DIMENSIONS)
        .find(|row| row.1 == exponents)
    {
        return name.to_owned();
    }
    let factors = ["m", "kg", "s", "rad"].into_iter().zip(exponents);
    let unit: Vec<String> = factors
        .filter(|(_, halves)| *halves != 0)
        .map(|(name, halves)| match halves {
            2 => name.to_owned(),
            _ => format!("{name}^{}", f64::from(halves) / 2.0),
        })
        .collect();
    format!("in {}", unit.join("*"))
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Dimension::*;

    #[test]
    fn quantities_become_si() {
        let table = [
            ("1.25 mm", Length, 0.00125),
            ("1.1mm", Length, 0.0011),
            (" 3 cm ", Length, 0.03),
            ("0.5", Length, 0.5),
            ("1 in", Length, 0.0254),
            ("2 ft", Length, 0.6096),
            ("1 psi", Pressure, 6_894.757_293_168_361),
            ("2 bar", Pressure, 2e5),
            ("1.2 MPa √m", Toughness, 1.2e6),
            ("1.2 MPa√m", Toughness, 1.2e6),
            ("1.2 MPa m^0.5", Toughness, 1.2e6),
            ("3 N/m^2*√m", Toughness, 3.0),
            ("5 mbar", Pressure, 500.0),
            ("0.5 rev", Angle, std::f64::consts::PI),
            ("2 rev/s", AngularVelocity, 4.0 * std::f64::consts::PI),
            ("70 GPa", Pressure, 70e9),
            ("2.5e6 N/m^2", Pressure, 2.5e6),
            ("3 N/mm²", Pressure, 3e6),
            ("1 kg*m^-1*s^-2", Pressure, 1.0),
            ("1 kg m⁻¹ s⁻²", Pressure, 1.0),
            ("2 us", Time, 2e-6),
            ("2 µs", Time, 2e-6),
            ("2 \u{3bc}s", Time, 2e-6),
            ("1.5 min", Time, 90.0),
            ("1100 kg/m^3", Density, 1100.0),
            ("3 g/cm^3", Density, 3000.0),
            ("2.4 t/m^3", Density, 2400.0),
            ("-9.81 m/s^2", Acceleration, -9.81),
            ("+36 m / s / s", Acceleration, 36.0),
            ("180 deg", Angle, std::f64::consts::PI),
            ("90°", Angle, std::f64::consts::FRAC_PI_2),
            ("120 rpm", AngularVelocity, 4.0 * std::f64::consts::PI),
            ("360 deg/s", AngularVelocity, std::f64::consts::TAU),
            ("1/s", Rate, 1.0),
            ("5 1/s", Rate, 5.0),
            ("2 kHz", Rate, 2000.0),
            ("10 N", Force, 10.0),
            ("3 J/m", Force, 3.0),
            ("2 N/mm", Stiffness, 2e3),
            ("36 km/h", Velocity, 10.0),
            ("50 %", Number, 0.5),
            ("5 m/m", Number, 5.0),
            ("1e3", Number, 1000.0),
            (".5", Number, 0.5),
        ];
        for (text, dimension, value) in table {
            assert_eq!(parse(text, dimension), Ok(value), "{text}");
        }
    }

    #[test]
    fn the_readme_lists_the_units_and_prefixes_there_are() {
        let readme = include_str!("spec/README.md");
        let (_, rest) = readme.split_once("| units | names |\n|---|---|\n").unwrap();
        let (table, _) = rest.split_once("\n\n").unwrap();
        let [mut units, mut prefixes] = [(); 2].map(|()| Vec::new());
        for row in table.lines() {
            let named = if row.starts_with("| prefix") {
                &mut prefixes
            } else {
                &mut units
            };
            // The odd parts are those between backquotes.
            named.extend(row.split('`').skip(1).step_by(2));
        }
        let mut known: Vec<&str> = unit::PREFIXED.iter().map(|row| row.0).collect();
        known.extend(unit::PLAIN.iter().map(|row| row.0));
        let mut known_prefixes: Vec<String> = unit::PREFIXES
            .iter()
            // The second sign for micro looks like the first one.
            .filter(|row| row.0 != '\u{3bc}')
            .map(|row| row.0.to_string())
            .collect();
        for list in [&mut units, &mut known] {
            list.sort_unstable();
        }
        prefixes.sort_unstable();
        known_prefixes.sort_unstable();
        assert_eq!(units, known);
        assert_eq!(prefixes, known_prefixes);
    }

    #[test]
    fn wrong_quantities_say_what_is_wrong() {
        let table = [
            (
                "12 kg",
                Length,
                "\"12 kg\" is a mass; expected a length, e.g. \"1.25 mm\"",
            ),
            (
                "30 deg",
                Number,
                "\"30 deg\" is an angle; expected a pure number, e.g. \"0.5\"",
            ),
            (
                "2 Hz",
                AngularVelocity,
                "\"2 Hz\" is a rate; expected an angular velocity, e.g. \"120 rpm\"",
            ),
            (
                "2 kg*m",
                Force,
                "\"2 kg*m\" is in m*kg; expected a force, e.g. \"10 N\"",
            ),
            (
                "2 parsec",
                Length,
                "\"2 parsec\": unknown unit `parsec`; expected a length, e.g. \"1.25 mm\"",
            ),
            (
                "2 m^x",
                Length,
                "\"2 m^x\": unknown unit `m^x`; expected a length, e.g. \"1.25 mm\"",
            ),
            (
                "2 *m",
                Length,
                "\"2 *m\": unknown unit `*m`; expected a length, e.g. \"1.25 mm\"",
            ),
            (
                "2 m/",
                Length,
                "\"2 m/\": unknown unit `m/`; expected a length, e.g. \"1.25 mm\"",
            ),
            (
                "1 kg/m s",
                Pressure,
                "\"1 kg/m s\": it is unclear whether `s` belongs to the divisor; write * or / before it",
            ),
            (
                "thick",
                Length,
                "\"thick\" is not a number; expected a length, e.g. \"1.25 mm\"",
            ),
            (
                "",
                Length,
                "\"\" is not a number; expected a length, e.g. \"1.25 mm\"",
            ),
            ("nan", Length, "\"nan\" is not a finite number"),
            ("-inf m", Length, "\"-inf m\" is not a finite number"),
            ("1e400 m", Length, "\"1e400 m\" is not a finite number"),
            ("1e308 km", Length, "\"1e308 km\" is not a finite number"),
        ];
        for (text, dimension, message) in table {
            let error = parse(text, dimension).expect_err(text);
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn hostile_text_is_refused_without_panic() {
        for text in [
            "1e",
            "1e+",
            "1e99999999999",
            "1 m^999999",
            "-",
            ".",
            "1 ²",
            "1 µ",
            "1é",
        ] {
            let _ = parse(text, Length).map(|value| assert!(value.is_finite()));
        }
        assert!(parse("1e99999999999 m", Length).is_err());
    }
}
