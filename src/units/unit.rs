//! Units: products of unit symbols with prefixes and powers.

/// Exponents of metre, kilogram, second and radian, counted in halves: toughness is in Pa √m.
///
/// The radian differs from 1, so that "30 deg" is not a pure number and "50 Hz" not an angular velocity.
pub(super) type Exponents = [i32; 4];

/// Whole exponents, counted in halves.
pub(super) const fn whole([m, kg, s, rad]: [i32; 4]) -> Exponents {
    [2 * m, 2 * kg, 2 * s, 2 * rad]
}

/// A unit; one of it is `factor / divisor × 10^decimal` in SI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unit {
    pub factor: f64,
    /// Separate from `factor`, so that "36 km/h" is exactly 10 m/s.
    pub divisor: f64,
    pub decimal: i32,
    pub exponents: Exponents,
}

impl Default for Unit {
    fn default() -> Self {
        Unit {
            factor: 1.0,
            divisor: 1.0,
            decimal: 0,
            exponents: [0; 4],
        }
    }
}

/// Why a text is not a unit.
pub(super) enum UnitFault {
    /// The unit symbol is unknown.
    Unknown(String),
    /// It is unclear whether the factor belongs to the divisor.
    Ambiguous(String),
}

impl Unit {
    /// Parses a unit; `None` if the text is empty.
    pub fn parse(text: &str) -> Result<Option<Self>, UnitFault> {
        let mut rest = text.trim();
        if rest.is_empty() {
            return Ok(None);
        }
        let mut unit = Unit::default();
        let (mut first, mut divided) = (true, false);
        while !rest.is_empty() {
            let operator = rest.chars().next().filter(|c| "/*·⋅".contains(*c));
            if let Some(operator) = operator {
                rest = rest[operator.len_utf8()..].trim_start();
            }
            let end = rest
                .char_indices()
                .find(|&(at, c)| c.is_whitespace() || "/*·⋅".contains(c) || (c == '√' && at > 0))
                .map_or(rest.len(), |(at, _)| at);
            let (factor, next) = rest.split_at(end);
            // A unit may start with `/` ("2 /s"), but not with a product sign.
            if factor.is_empty() || (first && operator.is_some_and(|o| o != '/')) {
                return Err(UnitFault::Unknown(text.trim().to_owned()));
            }
            if operator.is_none() && divided {
                return Err(UnitFault::Ambiguous(factor.to_owned()));
            }
            divided |= operator == Some('/');
            let sign = if operator == Some('/') { -1 } else { 1 };
            parse_factor(factor)
                .and_then(|(atom, halves)| unit.multiply(&atom, sign * halves))
                .ok_or_else(|| UnitFault::Unknown(factor.to_owned()))?;
            rest = next.trim_start();
            first = false;
        }
        Ok(Some(unit))
    }

    /// Multiplies by a power of a unit, counted in halves; `None` for a root of a unit that is not an SI unit
    /// itself.
    fn multiply(&mut self, other: &Unit, halves: i32) -> Option<()> {
        let power = halves / 2;
        let is_si = (other.factor, other.divisor, other.decimal) == (1.0, 1.0, 0);
        if halves % 2 != 0 && !is_si {
            return None;
        }
        let (up, down) = if power > 0 {
            (other.factor, other.divisor)
        } else {
            (other.divisor, other.factor)
        };
        self.factor *= up.powi(power.abs());
        self.divisor *= down.powi(power.abs());
        self.decimal += other.decimal * power;
        for (mine, theirs) in self.exponents.iter_mut().zip(other.exponents) {
            *mine += theirs / 2 * halves;
        }
        Some(())
    }
}

/// Parses one factor, such as `m^-3`, `cm²`, `√m`, `m^0.5` or `1`, into its unit and power, counted in halves.
fn parse_factor(text: &str) -> Option<(Unit, i32)> {
    if text == "1" {
        return Some((Unit::default(), 2));
    }
    if let Some(name) = text.strip_prefix('√') {
        return Some((atom(name)?, 1));
    }
    const SUPERSCRIPTS: [(char, char); 6] = [
        ('⁻', '-'),
        ('¹', '1'),
        ('²', '2'),
        ('³', '3'),
        ('⁴', '4'),
        ('⁶', '6'),
    ];
    let plain = |c: char| SUPERSCRIPTS.iter().find(|pair| pair.0 == c).map(|p| p.1);
    let (name, power) = if let Some((name, power)) = text.split_once('^') {
        (name, power.to_owned())
    } else if let Some(at) = text.find(|c| plain(c).is_some()) {
        let digits: Option<String> = text[at..].chars().map(plain).collect();
        (&text[..at], digits?)
    } else {
        (text, "1".to_owned())
    };
    let power = match power.as_str() {
        "0.5" => 1,
        _ => {
            2 * power
                .parse::<i32>()
                .ok()
                .filter(|p| p.unsigned_abs() <= 12)?
        }
    };
    // Bounded so that exponents cannot overflow for any input.
    (power != 0)
        .then_some(())
        .and_then(|()| Some((atom(name)?, power)))
}

const TURN: f64 = std::f64::consts::TAU;

const NUMBER: Exponents = [0; 4];
const LENGTH: Exponents = whole([1, 0, 0, 0]);
const MASS: Exponents = whole([0, 1, 0, 0]);
const TIME: Exponents = whole([0, 0, 1, 0]);
const ANGLE: Exponents = whole([0, 0, 0, 1]);
const RATE: Exponents = whole([0, 0, -1, 0]);
const PRESSURE: Exponents = whole([-1, 1, -2, 0]);

/// Units that take prefixes: symbol, decimal exponent, dimension. src/spec/README.md lists them; a test
/// compares both.
pub(super) const PREFIXED: [(&str, i32, Exponents); 10] = [
    ("m", 0, LENGTH),
    ("g", -3, MASS),
    ("s", 0, TIME),
    ("rad", 0, ANGLE),
    ("Hz", 0, RATE),
    ("N", 0, whole([1, 1, -2, 0])),
    ("Pa", 0, PRESSURE),
    ("bar", 5, PRESSURE),
    ("J", 0, whole([2, 1, -2, 0])),
    ("W", 0, whole([2, 1, -3, 0])),
];

/// Units without prefixes: symbol, factor, decimal exponent, dimension.
pub(super) const PLAIN: [(&str, f64, i32, Exponents); 11] = [
    ("%", 1.0, -2, NUMBER),
    ("min", 60.0, 0, TIME),
    ("h", 3600.0, 0, TIME),
    ("t", 1.0, 3, MASS),
    ("deg", TURN / 360.0, 0, ANGLE),
    ("°", TURN / 360.0, 0, ANGLE),
    ("rev", TURN, 0, ANGLE),
    ("rpm", TURN / 60.0, 0, whole([0, 0, -1, 1])),
    ("in", 0.0254, 0, LENGTH),
    ("ft", 0.3048, 0, LENGTH),
    ("psi", 6_894.757_293_168_361, 0, PRESSURE),
];

/// SI prefixes and their powers of ten.
pub(super) const PREFIXES: [(char, i32); 12] = [
    ('p', -12),
    ('n', -9),
    ('u', -6),
    ('\u{b5}', -6),
    ('\u{3bc}', -6),
    ('m', -3),
    ('c', -2),
    ('d', -1),
    ('h', 2),
    ('k', 3),
    ('M', 6),
    ('G', 9),
];

fn atom(name: &str) -> Option<Unit> {
    let unit = |factor, decimal, exponents| Unit {
        factor,
        divisor: 1.0,
        decimal,
        exponents,
    };
    if let Some(&(_, factor, decimal, exponents)) = PLAIN.iter().find(|row| row.0 == name) {
        return Some(unit(factor, decimal, exponents));
    }
    let prefixed = |name: &str| PREFIXED.iter().find(|row| row.0 == name);
    if let Some(&(_, decimal, exponents)) = prefixed(name) {
        return Some(unit(1.0, decimal, exponents));
    }
    let prefix = name.chars().next()?;
    let shift = PREFIXES.iter().find(|row| row.0 == prefix)?.1;
    let &(_, decimal, exponents) = prefixed(&name[prefix.len_utf8()..])?;
    Some(unit(1.0, decimal + shift, exponents))
}
