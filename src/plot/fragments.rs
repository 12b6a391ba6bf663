//! Fragment masses: the number of fragments of at least a mass, at a few times.

use super::axis::{Axis, AxisUnit};
use super::figure::{COLOUR_RAMP, Figure, Panel, Series};
use super::tables::ChartTables;
use crate::columns::Fragments;
use crate::units::show::{grouped, prefix};

/// Cumulative number over mass, both logarithmic, for the last frame and for earlier ones with clearly fewer
/// fragments; `None` without fragment tables.
pub fn figure(tables: &ChartTables) -> Option<Figure> {
    let all: Vec<&Fragments> = tables
        .fragments
        .iter()
        .filter(|f| !f.time.is_empty())
        .collect();
    let last = all.last()?;
    let (letter, factor) = prefix(last.time[0]);
    let chosen = representative_frames(&all.iter().map(|f| f.mass.len()).collect::<Vec<_>>());
    let colours = &COLOUR_RAMP[COLOUR_RAMP.len() - chosen.len()..];
    let series = chosen.iter().zip(colours).map(|(&at, colour)| {
        let table = all[at];
        let time = table.time[0] / factor;
        // Three digits are enough to distinguish frames.
        let decimals = match time {
            t if t >= 100.0 => 0,
            t if t >= 10.0 => 1,
            _ => 2,
        };
        Series {
            name: format!("{} {letter}s", grouped(time, decimals)),
            points: cumulative_counts(&table.mass),
            colour: *colour,
            dashed: false,
        }
    });
    Some(Figure {
        title: "Fragments by mass".to_owned(),
        x: Axis {
            name: "mass m",
            unit: AxisUnit::Si("g"),
            log: true,
        },
        panels: vec![Panel {
            x: None,
            y: Axis {
                name: "fragments of mass ≥ m",
                unit: AxisUnit::Count,
                log: true,
            },
            series: series.collect(),
        }],
    })
}

/// Up to five ascending indices of frames, given the number of fragments in each frame: the last frame, and
/// the first ones that reach equally spaced levels of its number on a logarithmic scale.
fn representative_frames(counts: &[usize]) -> Vec<usize> {
    let last = counts.len() - 1;
    let most = (counts[last].max(1)) as f64;
    let mut indices: Vec<usize> = (1..COLOUR_RAMP.len())
        .filter_map(|part| {
            let wanted = most.powf(part as f64 / COLOUR_RAMP.len() as f64);
            counts.iter().position(|count| *count as f64 >= wanted)
        })
        .chain([last])
        .collect();
    indices.sort_unstable();
    indices.dedup();
    // Frames with equal numbers of fragments would show the same curve twice.
    indices.dedup_by_key(|at| counts[*at]);
    match indices.last() {
        Some(&place) if place != last => {
            indices.pop();
            indices.push(last);
        }
        _ => {}
    }
    indices
}

/// Step curve of (m, number of fragments of mass ≥ m), from the lightest; `masses` in kg, m in g.
fn cumulative_counts(masses: &[f64]) -> Vec<[f64; 2]> {
    let mut grams: Vec<f64> = masses
        .iter()
        .map(|m| m * 1e3)
        .filter(|m| *m > 0.0)
        .collect();
    grams.sort_by(f64::total_cmp);
    let mut points: Vec<[f64; 2]> = Vec::new();
    for (lighter, mass) in grams.iter().enumerate() {
        let count = (grams.len() - lighter) as f64;
        match points.last() {
            Some(before) if before[0] == *mass => {}
            // Between two masses, only the heavier fragments count.
            Some(&[before, _]) => points.extend([[before, count], [*mass, count]]),
            None => points.push([*mass, count]),
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fall_from_all_fragments_to_one() {
        let points = cumulative_counts(&[3e-3, 1e-3, 1e-3, 0.0]);
        assert_eq!(points, [[1.0, 3.0], [1.0, 1.0], [3.0, 1.0]]);
        assert_eq!(cumulative_counts(&[2e-3]), [[2.0, 1.0]]);
    }

    #[test]
    fn frames_are_chosen_by_how_many_fragments_there_are() {
        assert_eq!(representative_frames(&[1, 1, 1]), [2]);
        assert_eq!(representative_frames(&[1]), [0]);
        assert_eq!(representative_frames(&[0]), [0]);
        assert_eq!(representative_frames(&[1, 3, 40, 90, 100, 100]), [1, 2, 5]);
        let many: Vec<usize> = (0..=100).map(|k| 1 + k * k).collect();
        let indices = representative_frames(&many);
        assert_eq!((indices.len(), indices.last()), (5, Some(&100)));
    }
}
