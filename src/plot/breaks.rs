//! Broken bonds over time, by mode: the cumulative number, and the rate in each interval.

use super::axis::{Axis, AxisUnit, step};
use super::figure::{COLOURS, Figure, Panel, Series};
use super::tables::ChartTables;
use crate::columns::{BreakMode, Named};
use crate::units::show::prefix;

/// Maximum number of intervals in the lower panel.
const MAX_INTERVALS: f64 = 200.0;

/// The chart, with a panel of totals and one of rates; `None` without breaks.
pub fn figure(tables: &ChartTables) -> Option<Figure> {
    if tables.breaks.is_empty() {
        return None;
    }
    let breaks = || tables.breaks.iter();
    let mut end = breaks()
        .flat_map(|b| &b.time)
        .fold(0.0, |a: f64, b| a.max(*b));
    // The curves extend from the first frame to the last.
    let frames: Vec<f64> = tables.history.iter().flat_map(|h| h.time.clone()).collect();
    end = frames.iter().fold(end, |a, b| a.max(*b));
    let start = frames.first().copied().unwrap_or(0.0);
    let (mut totals, mut rates) = (Vec::new(), Vec::new());
    let interval = match end > start {
        true => step(end - start, MAX_INTERVALS),
        false => 1.0,
    };
    let (unit, factor) = rate_unit(end);
    for ((mode, name), colour) in BreakMode::NAMES.iter().zip(&COLOURS[1..]) {
        let mut times: Vec<f64> = breaks()
            .flat_map(|b| b.time.iter().zip(&b.mode))
            .filter(|(_, found)| *found == mode)
            .map(|(time, _)| *time)
            .collect();
        if times.is_empty() && *mode == BreakMode::Hydrostatic {
            // Few materials have this mode.
            continue;
        }
        times.sort_by(f64::total_cmp);
        let series = |points| Series {
            name: (*name).to_owned(),
            points,
            colour: *colour,
            dashed: false,
        };
        totals.push(series(cumulative_steps(&times, start, end)));
        let mut points = interval_counts(&times, start, end, interval);
        for point in &mut points {
            point[1] *= factor / interval;
        }
        rates.push(series(points));
    }
    let panel = |name, unit, series| Panel {
        x: None,
        y: Axis {
            name,
            unit,
            log: false,
        },
        series,
    };
    Some(Figure {
        title: "Broken bonds by mode".to_owned(),
        x: Axis {
            name: "time",
            unit: AxisUnit::Si("s"),
            log: false,
        },
        panels: vec![
            panel("broken bonds", AxisUnit::Count, totals),
            panel("breaks", AxisUnit::Per(unit), rates),
        ],
    })
}

/// The unit of rates on a time axis that ends at `end`, and its time in s.
fn rate_unit(end: f64) -> (&'static str, f64) {
    let (prefix, factor) = prefix(end);
    let unit = match prefix {
        "m" => "per ms",
        "µ" => "per µs",
        "n" => "per ns",
        _ => return ("per s", 1.0),
    };
    (unit, factor)
}

/// Cumulative number of the ascending `times`, as a step curve.
fn cumulative_steps(times: &[f64], start: f64, end: f64) -> Vec<[f64; 2]> {
    let mut points = vec![[start, 0.0]];
    for (before, time) in times.iter().enumerate() {
        points.push([*time, before as f64]);
        points.push([*time, before as f64 + 1.0]);
    }
    points.push([end, times.len() as f64]);
    points
}

/// Number of the ascending `times` in each interval, as a step curve.
fn interval_counts(times: &[f64], start: f64, end: f64, interval: f64) -> Vec<[f64; 2]> {
    let intervals = ((end - start) / interval - 1e-9).ceil().max(1.0) as usize;
    let mut counts = vec![0u32; intervals];
    for time in times {
        let at = ((time - start) / interval).max(0.0) as usize;
        counts[at.min(intervals - 1)] += 1;
    }
    let mut points = vec![[start, 0.0]];
    for (at, count) in counts.into_iter().enumerate() {
        let from = start + at as f64 * interval;
        let to = (from + interval).min(end.max(start));
        points.extend([from, to].map(|time| [time, f64::from(count)]));
    }
    points.push([end.max(start), 0.0]);
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_count_breaks() {
        let times = [0.2, 0.2, 0.7];
        let steps = cumulative_steps(&times, 0.0, 1.0);
        assert_eq!(steps.first(), Some(&[0.0, 0.0]));
        assert_eq!(steps.last(), Some(&[1.0, 3.0]));
        assert!(steps.contains(&[0.2, 2.0]) && steps.contains(&[0.7, 2.0]));
        let bins = interval_counts(&times, 0.0, 1.0, 0.5);
        assert!(bins.contains(&[0.0, 2.0]) && bins.contains(&[0.5, 2.0]));
        assert!(bins.contains(&[0.5, 1.0]) && bins.contains(&[1.0, 1.0]));
        // A break at the very end counts too.
        assert!(interval_counts(&[1.0], 0.0, 1.0, 0.5).contains(&[1.0, 1.0]));
    }
}
