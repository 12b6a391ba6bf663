//! Fragment masses: how many fragments are at least so heavy, at a few times.

use super::axis::{Axis, Unit};
use super::figure::{Figure, Panel, RAMP, Series};
use super::tables::Tables;
use crate::columns::Fragments;
use crate::units::show::{grouped, prefix};

/// Cumulative numbers over mass, both logarithmic: the last frame, and earlier ones in which there were
/// clearly fewer fragments.
pub fn figure(tables: &Tables) -> Option<Figure> {
    let all: Vec<&Fragments> = tables
        .fragments
        .iter()
        .filter(|f| !f.time.is_empty())
        .collect();
    let last = all.last()?;
    let (letter, factor) = prefix(last.time[0]);
    let chosen = chosen(&all.iter().map(|f| f.mass.len()).collect::<Vec<_>>());
    let colours = &RAMP[RAMP.len() - chosen.len()..];
    let series = chosen.iter().zip(colours).map(|(&at, colour)| {
        let table = all[at];
        let time = table.time[0] / factor;
        // Three figures are enough to tell frames apart.
        let decimals = match time {
            t if t >= 100.0 => 0,
            t if t >= 10.0 => 1,
            _ => 2,
        };
        Series {
            name: format!("{} {letter}s", grouped(time, decimals)),
            points: at_least(&table.mass),
            colour: *colour,
            dashed: false,
        }
    });
    Some(Figure {
        title: "Fragments by mass".to_owned(),
        x: Axis {
            name: "mass m",
            unit: Unit::Si("g"),
            log: true,
        },
        panels: vec![Panel {
            x: None,
            y: Axis {
                name: "fragments of mass ≥ m",
                unit: Unit::Count,
                log: true,
            },
            series: series.collect(),
        }],
    })
}

/// Up to five places in a list of numbers of fragments, ascending: the last, and the first that reach even
/// parts of it on a logarithmic scale.
fn chosen(counts: &[usize]) -> Vec<usize> {
    let last = counts.len() - 1;
    let most = (counts[last].max(1)) as f64;
    let mut places: Vec<usize> = (1..RAMP.len())
        .filter_map(|part| {
            let wanted = most.powf(part as f64 / RAMP.len() as f64);
            counts.iter().position(|count| *count as f64 >= wanted)
        })
        .chain([last])
        .collect();
    places.sort_unstable();
    places.dedup();
    // Frames with as many fragments show the same twice.
    places.dedup_by_key(|at| counts[*at]);
    match places.last() {
        Some(&place) if place != last => {
            places.pop();
            places.push(last);
        }
        _ => {}
    }
    places
}

/// (m, number of fragments of mass ≥ m) as steps, from the lightest; masses in kg, m in g.
fn at_least(masses: &[f64]) -> Vec<[f64; 2]> {
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
            // Between two masses only the heavier counts.
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
        let points = at_least(&[3e-3, 1e-3, 1e-3, 0.0]);
        assert_eq!(points, [[1.0, 3.0], [1.0, 1.0], [3.0, 1.0]]);
        assert_eq!(at_least(&[2e-3]), [[2.0, 1.0]]);
    }

    #[test]
    fn frames_are_chosen_by_how_many_fragments_there_are() {
        assert_eq!(chosen(&[1, 1, 1]), [2]);
        assert_eq!(chosen(&[1]), [0]);
        assert_eq!(chosen(&[0]), [0]);
        assert_eq!(chosen(&[1, 3, 40, 90, 100, 100]), [1, 2, 5]);
        let many: Vec<usize> = (0..=100).map(|k| 1 + k * k).collect();
        let places = chosen(&many);
        assert_eq!((places.len(), places.last()), (5, Some(&100)));
    }
}
