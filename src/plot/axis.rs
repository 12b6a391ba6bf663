//! Axes of charts: ranges, ticks at 1, 2 and 5 times powers of ten, and units with SI prefixes.

use crate::units::show::{grouped, prefix};

/// The unit of the values on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisUnit {
    /// An SI unit that takes prefixes: "J", "g".
    Si(&'static str),
    /// A number without a unit.
    Count,
    /// A number per unit, spelled out: "per ms".
    Per(&'static str),
}

/// Specification of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Name of the quantity.
    pub name: &'static str,
    /// The unit of the values.
    pub unit: AxisUnit,
    /// Whether the axis is logarithmic; all values must then be positive.
    pub log: bool,
}

/// An axis fitted to the data: its range, ticks and title.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedAxis {
    /// Name and unit.
    pub title: String,
    /// Range of the axis, in units of the data.
    pub ends: [f64; 2],
    /// Whether it is logarithmic.
    pub log: bool,
    /// Ticks with labels.
    pub ticks: Vec<(f64, String)>,
    /// Ticks without labels.
    pub minor_ticks: Vec<f64>,
}

/// Whether the range of an axis ends with the data or at a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisEnds {
    /// The range is that of the data.
    Data,
    /// The range extends to the next ticks.
    Tick,
}

/// The smallest step of 1, 2 or 5 times a power of ten that divides a range into at most `parts` parts.
pub fn step(range: f64, parts: f64) -> f64 {
    let rough = range / parts;
    let power = 10f64.powi(rough.log10().floor() as i32);
    let steps = [1.0, 2.0, 5.0, 10.0].map(|m| m * power);
    let enough = steps.into_iter().find(|s| *s >= rough * (1.0 - 1e-9));
    enough.unwrap_or(10.0 * power)
}

impl Axis {
    /// Fits the axis to values from `low` to `high`, with about `max_ticks` labelled ticks.
    pub fn fit(&self, [low, high]: [f64; 2], ends: AxisEnds, max_ticks: f64) -> FittedAxis {
        if self.log {
            self.logarithmic(low, high)
        } else {
            self.linear(low, high, ends, max_ticks)
        }
    }

    fn linear(&self, mut low: f64, mut high: f64, ends: AxisEnds, max_ticks: f64) -> FittedAxis {
        if high <= low {
            // A single value: the range extends half of it to both sides, or from 0 to 1 if it is 0.
            let margin = low.abs() / 2.0;
            (low, high) = match margin > 0.0 {
                true => (low - margin, high + margin),
                false => (0.0, 1.0),
            };
        }
        let mut step = step(high - low, max_ticks);
        if self.unit == AxisUnit::Count {
            step = step.max(1.0);
        }
        if ends == AxisEnds::Tick {
            low = (low / step + 1e-9).floor() * step;
            high = (high / step - 1e-9).ceil() * step;
        }
        let (title, factor) = self.title_and_factor(low.abs().max(high.abs()));
        let decimals = decimals(step / factor);
        let first = (low / step - 1e-9).ceil() as i64;
        let last = (high / step + 1e-9).floor() as i64;
        let tick = |k: i64| {
            let value = k as f64 * step;
            (value, grouped(value / factor, decimals))
        };
        FittedAxis {
            title,
            ends: [low, high],
            log: false,
            ticks: (first..=last).map(tick).collect(),
            minor_ticks: Vec::new(),
        }
    }

    fn logarithmic(&self, low: f64, high: f64) -> FittedAxis {
        let (low, mut high) = (
            round_to_1_2_5(low, RoundDirection::Down),
            round_to_1_2_5(high, RoundDirection::Up),
        );
        if high.0 <= low.0 && high.1 <= low.1 {
            high = (low.0, low.1 + 1);
        }
        let (title, factor) = self.title_and_factor(value(high));
        let shift = factor.log10().round() as i32;
        let decades = high.1 - low.1;
        // If there are few decades, 2 and 5 have labels too.
        let labelled: &[u32] = if decades <= 2 { &[1, 2, 5] } else { &[1] };
        let every = decades / 7 + 1;
        let short_enough = low.1 - shift >= -2 && high.1 - shift <= 4;
        let (mut ticks, mut minor_ticks) = (Vec::new(), Vec::new());
        for power in low.1..=high.1 {
            for mantissa in 1..10 {
                let here = (mantissa, power);
                let at = value(here);
                if at < value(low) * (1.0 - 1e-9) || at > value(high) * (1.0 + 1e-9) {
                    continue;
                }
                if labelled.contains(&mantissa) && (power - shift).rem_euclid(every) == 0 {
                    let label = match short_enough {
                        true => grouped(at / factor, (shift - power).max(0) as usize),
                        false => power_of_ten_label(mantissa, power - shift),
                    };
                    ticks.push((at, label));
                } else {
                    minor_ticks.push(at);
                }
            }
        }
        FittedAxis {
            title,
            // The smallest values must not lie on the other axis.
            ends: [
                value(low) * (value(low) / value(high)).powf(0.03),
                value(high),
            ],
            log: true,
            ticks,
            minor_ticks,
        }
    }

    /// Title with unit, and the value of one such unit in SI units.
    fn title_and_factor(&self, largest: f64) -> (String, f64) {
        match self.unit {
            AxisUnit::Si(unit) => {
                let (prefix, factor) = prefix(largest);
                (format!("{} ({prefix}{unit})", self.name), factor)
            }
            AxisUnit::Count => (self.name.to_owned(), 1.0),
            AxisUnit::Per(unit) => (format!("{} {unit}", self.name), 1.0),
        }
    }
}

impl FittedAxis {
    /// Position of a value on the axis, from 0 at the beginning to 1 at the end.
    pub fn position(&self, value: f64) -> f64 {
        let [low, high] = self.ends;
        if self.log {
            (value / low).log10() / (high / low).log10()
        } else {
            (value - low) / (high - low)
        }
    }
}

/// mantissa · 10^power.
fn value((mantissa, power): (u32, i32)) -> f64 {
    f64::from(mantissa) * 10f64.powi(power)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RoundDirection {
    Down,
    Up,
}

/// The nearest 1, 2 or 5 times a power of ten that is not above (`Down`) or not below (`Up`) `number`, as
/// (mantissa, power).
fn round_to_1_2_5(number: f64, direction: RoundDirection) -> (u32, i32) {
    let power = number.log10().floor() as i32;
    let candidates = [
        (1, power - 1),
        (1, power),
        (2, power),
        (5, power),
        (1, power + 1),
        (2, power + 1),
    ];
    let fits = |candidate: &(u32, i32)| match direction {
        RoundDirection::Down => value(*candidate) <= number * (1.0 + 1e-9),
        RoundDirection::Up => value(*candidate) >= number * (1.0 - 1e-9),
    };
    let found = match direction {
        RoundDirection::Down => candidates.into_iter().rev().find(fits),
        RoundDirection::Up => candidates.into_iter().find(fits),
    };
    found.unwrap_or((1, power))
}

/// Number of decimals that multiples of `step` need.
fn decimals(step: f64) -> usize {
    (0..15)
        .find(|&n| {
            let scaled = step * 10f64.powi(n);
            (scaled - scaled.round()).abs() < 1e-6 * scaled
        })
        .unwrap_or(15) as usize
}

/// Label such as 2·10⁻³.
fn power_of_ten_label(mantissa: u32, power: i32) -> String {
    let raised: String = power
        .to_string()
        .chars()
        .map(|letter| match letter {
            '-' => '⁻',
            digit => {
                let at = digit.to_digit(10).unwrap_or(0) as usize;
                ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][at]
            }
        })
        .collect();
    match mantissa {
        1 => format!("10{raised}"),
        _ => format!("{mantissa}·10{raised}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(unit: AxisUnit, log: bool) -> Axis {
        Axis {
            name: "thing",
            unit,
            log,
        }
    }

    fn labels(scale: &FittedAxis) -> Vec<&str> {
        scale
            .ticks
            .iter()
            .map(|(_, label)| label.as_str())
            .collect()
    }

    #[test]
    fn steps_are_1_2_5() {
        for (range, parts, wanted) in [
            (1.0, 5.0, 0.2),
            (0.03, 6.0, 5e-3),
            (7.3e5, 7.0, 2e5),
            (1.0, 10.0, 0.1),
            (9.99, 10.0, 1.0),
        ] {
            let found = step(range, parts);
            assert!((found / wanted - 1.0).abs() < 1e-12, "{range}: {found}");
            assert!(range / found <= parts * (1.0 + 1e-6));
        }
    }

    #[test]
    fn linear_axes_have_prefixes_and_the_requested_ends() {
        let time = axis(AxisUnit::Si("s"), false).fit([0.0, 0.0301], AxisEnds::Data, 7.0);
        assert_eq!(time.title, "thing (ms)");
        assert_eq!(labels(&time), ["0", "5", "10", "15", "20", "25", "30"]);
        assert_eq!(time.ends, [0.0, 0.0301]);
        let energy = axis(AxisUnit::Si("J"), false).fit([-0.31, 2.7], AxisEnds::Tick, 7.0);
        assert_eq!(energy.title, "thing (J)");
        assert_eq!(
            labels(&energy),
            ["−0.5", "0.0", "0.5", "1.0", "1.5", "2.0", "2.5", "3.0"]
        );
        assert_eq!(energy.position(-0.5), 0.0);
        assert_eq!(energy.position(3.0), 1.0);
        let small = axis(AxisUnit::Si("J"), false).fit([0.0, 3.2e-7], AxisEnds::Tick, 4.0);
        assert_eq!(small.title, "thing (nJ)");
        assert_eq!(labels(&small), ["0", "100", "200", "300", "400"]);
        let many = axis(AxisUnit::Count, false).fit([0.0, 41_000.0], AxisEnds::Tick, 5.0);
        assert_eq!(many.title, "thing");
        assert_eq!(
            labels(&many),
            ["0", "10 000", "20 000", "30 000", "40 000", "50 000"]
        );
        let few = axis(AxisUnit::Count, false).fit([0.0, 2.0], AxisEnds::Tick, 6.0);
        assert_eq!(labels(&few), ["0", "1", "2"]);
    }

    #[test]
    fn axes_of_a_single_value_have_a_range() {
        let zero = axis(AxisUnit::Count, false).fit([0.0, 0.0], AxisEnds::Tick, 5.0);
        assert_eq!((zero.ends, labels(&zero)), ([0.0, 1.0], vec!["0", "1"]));
        let one = axis(AxisUnit::Si("s"), false).fit([2.0, 2.0], AxisEnds::Data, 5.0);
        assert_eq!(one.ends, [1.0, 3.0]);
        let same = axis(AxisUnit::Si("g"), true).fit([20.0, 20.0], AxisEnds::Tick, 5.0);
        assert!((15.0..20.0).contains(&same.ends[0]) && same.ends[1] == 200.0);
        assert_eq!(labels(&same), ["20", "50", "100", "200"]);
    }

    #[test]
    fn logarithmic_axes_number_decades_or_1_2_5() {
        let wide = axis(AxisUnit::Si("g"), true).fit([3e-7, 11.0], AxisEnds::Tick, 5.0);
        assert_eq!(wide.title, "thing (g)");
        assert!((1e-7..2e-7).contains(&wide.ends[0]) && wide.ends[1] == 20.0);
        assert_eq!(
            labels(&wide),
            ["10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"],
            "every second of nine decades"
        );
        let narrow = axis(AxisUnit::Count, true).fit([1.0, 180.0], AxisEnds::Tick, 5.0);
        assert_eq!(
            labels(&narrow),
            ["1", "2", "5", "10", "20", "50", "100", "200"]
        );
        assert!(narrow.minor_ticks.contains(&30.0) && !narrow.minor_ticks.contains(&50.0));
        let mass = axis(AxisUnit::Si("g"), true).fit([2.2e-5, 0.3], AxisEnds::Tick, 5.0);
        assert_eq!(mass.title, "thing (mg)");
        assert_eq!(labels(&mass), ["0.1", "1", "10", "100"]);
        assert!((mass.position((mass.ends[0] * mass.ends[1]).sqrt()) - 0.5).abs() < 1e-12);
    }
}
