//! Charts of packings: distances of neighbours, bonds per element, and directions of bonds, with one curve
//! per body.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::axis::{Axis, AxisUnit};
use super::figure::{COLOURS, Figure, Panel, Series};
use super::tables::ChartTables;
use crate::geometry::hash_grid::HashGrid;
use crate::store::Packing;

/// Maximum number of bodies with a curve, so that colours do not repeat.
const MAX_BODIES: usize = COLOURS.len() - 1;
/// Largest distance of pairs that are counted, over the sum of radii.
const MAX_DISTANCE: f64 = 2.2;
/// Bin width of distances, over the sum of radii.
const DISTANCE_STEP: f64 = 0.02;
/// Number of bins of directions.
const DIRECTION_BINS: usize = 20;

/// Density of neighbours per element over their distance, both in units of the sum of radii.
pub fn distances(tables: &ChartTables) -> Option<Figure> {
    let packing = tables.packing.as_ref()?;
    let curve = |body: u32| {
        let counts = pair_distances(packing, body);
        let elements = elements_of(packing, body).count();
        histogram(
            0.9,
            DISTANCE_STEP,
            counts
                .iter()
                .map(|n| *n as f64 / elements as f64 / DISTANCE_STEP),
        )
    };
    Some(figure(
        packing,
        "Neighbours by distance",
        (
            "distance over the sum of radii",
            "neighbours per element and unit",
        ),
        curve,
    ))
}

/// Distribution of the number of bonds per element.
pub fn coordination(tables: &ChartTables) -> Option<Figure> {
    let packing = tables.packing.as_ref()?;
    if packing.bonds.i.is_empty() {
        return None;
    }
    let degree = packing.bonds_per_element();
    let curve = |body: u32| {
        let max_degree = elements_of(packing, body)
            .map(|i| degree[i] as usize)
            .max()
            .unwrap_or(0);
        let mut counts = vec![0.0; max_degree + 1];
        elements_of(packing, body).for_each(|i| counts[degree[i] as usize] += 1.0);
        let all: f64 = counts.iter().sum();
        histogram(-0.5, 1.0, counts.into_iter().map(|n| 100.0 * n / all))
    };
    Some(figure(
        packing,
        "Bonds per element",
        ("bonds", "share of elements, %"),
        curve,
    ))
}

/// Distribution of the cosine of the angle between bonds and each axis, relative to isotropic directions, for
/// which the curves are 1.
pub fn directions(tables: &ChartTables) -> Option<Figure> {
    let packing = tables.packing.as_ref()?;
    let bonds = &packing.bonds;
    if bonds.dx.is_empty() {
        return None;
    }
    let axes = [("x", &bonds.dx), ("y", &bonds.dy), ("z", &bonds.dz)];
    let panels = axes.map(|(_, cosines)| {
        let of_body = |body: u32| {
            let mut counts = [0.0; DIRECTION_BINS];
            let own = bonds.i.iter().zip(cosines.iter());
            let own = own.filter(|(i, _)| packing.elements.body[**i as usize] == body);
            for (_, cosine) in own {
                let bin = (cosine.abs() * DIRECTION_BINS as f64) as usize;
                counts[bin.min(DIRECTION_BINS - 1)] += 1.0;
            }
            let all: f64 = counts.iter().sum();
            let isotropic = (all / DIRECTION_BINS as f64).max(f64::MIN_POSITIVE);
            histogram(
                0.0,
                1.0 / DIRECTION_BINS as f64,
                counts.map(|n| n / isotropic).into_iter(),
            )
        };
        curves(packing, of_body)
    });
    let names = [
        "bonds over isotropic, x",
        "bonds over isotropic, y",
        "bonds over isotropic, z",
    ];
    let panels = panels.into_iter().zip(names).map(|(series, name)| Panel {
        x: None,
        y: count_axis(name),
        series,
    });
    Some(Figure {
        title: "Directions of bonds".to_owned(),
        x: count_axis("cosine of the angle to the axis"),
        panels: panels.collect(),
    })
}

/// A linear axis of plain numbers.
fn count_axis(name: &'static str) -> Axis {
    Axis {
        name,
        unit: AxisUnit::Count,
        log: false,
    }
}

fn figure(
    packing: &Packing,
    title: &str,
    (x, y): (&'static str, &'static str),
    curve: impl Fn(u32) -> Vec<[f64; 2]>,
) -> Figure {
    Figure {
        title: title.to_owned(),
        x: count_axis(x),
        panels: vec![Panel {
            x: None,
            y: count_axis(y),
            series: curves(packing, curve),
        }],
    }
}

/// One curve for each of the first bodies that have elements.
fn curves(packing: &Packing, curve: impl Fn(u32) -> Vec<[f64; 2]>) -> Vec<Series> {
    let bodies = packing
        .elements
        .body
        .iter()
        .max()
        .map_or(0, |last| last + 1);
    (0..bodies)
        .take(MAX_BODIES)
        .filter(|body| elements_of(packing, *body).next().is_some())
        .map(|body| Series {
            name: format!("body {body}"),
            points: curve(body),
            colour: COLOURS[1 + body as usize % MAX_BODIES],
            dashed: false,
        })
        .collect()
}

/// Indices of the elements of a body.
fn elements_of(packing: &Packing, body: u32) -> impl Iterator<Item = usize> {
    let bodies = packing.elements.body.iter().enumerate();
    bodies.filter(move |(_, of)| **of == body).map(|(i, _)| i)
}

/// A histogram as a step curve.
fn histogram(from: f64, width: f64, heights: impl Iterator<Item = f64>) -> Vec<[f64; 2]> {
    let column = |(k, height): (usize, f64)| {
        let left = from + k as f64 * width;
        [[left, height], [left + width, height]]
    };
    heights.enumerate().flat_map(column).collect()
}

/// Counts pairs within a body, from both sides, by their distance over the sum of radii, from 0.9 to
/// [`MAX_DISTANCE`] in bins of [`DISTANCE_STEP`].
fn pair_distances(packing: &Packing, body: u32) -> Vec<u64> {
    let e = &packing.elements;
    let own: Vec<usize> = elements_of(packing, body).collect();
    let place = |i: usize| DVec3::new(e.x[i], e.y[i], e.z[i]);
    let largest = own.iter().map(|i| e.r[*i]).fold(0.0, f64::max);
    let bins = ((MAX_DISTANCE - 0.9) / DISTANCE_STEP).round() as usize;
    let grid = HashGrid::new(own.len(), MAX_DISTANCE * 2.0 * largest, |k| place(own[k]));
    let add = |mut counts: Vec<u64>, i: &usize| {
        grid.around(place(*i), |k| {
            let j = own[k as usize];
            let distance = place(*i).distance(place(j)) / (e.r[*i] + e.r[j]);
            let bin = ((distance - 0.9) / DISTANCE_STEP).floor();
            if j != *i && bin < bins as f64 {
                counts[bin.max(0.0) as usize] += 1;
            }
        });
        counts
    };
    let parts = own
        .par_chunks(1024)
        .map(|part| part.iter().fold(vec![0; bins], add));
    parts.reduce(
        || vec![0; bins],
        |mut a, b| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::{Bonds, Elements};

    #[test]
    fn a_row_of_touching_balls_has_neighbours_at_one_and_two() {
        let n = 100;
        let packing = Packing {
            elements: Elements {
                id: (0..n).collect(),
                body: vec![0; n as usize],
                x: (0..n).map(|k| 2.0 * f64::from(k)).collect(),
                y: vec![0.0; n as usize],
                z: vec![0.0; n as usize],
                r: vec![1.0; n as usize],
                ..Elements::default()
            },
            bonds: Bonds {
                i: (0..n - 1).collect(),
                j: (1..n).collect(),
                dx: vec![1.0; n as usize - 1],
                dy: vec![0.0; n as usize - 1],
                dz: vec![0.0; n as usize - 1],
                ..Bonds::default()
            },
            ..Packing::default()
        };
        let counts = pair_distances(&packing, 0);
        let found: Vec<_> = counts.iter().enumerate().filter(|(_, n)| **n > 0).collect();
        // 99 touching pairs and 98 second neighbours, from both sides; rounding may put either into the
        // column before.
        assert_eq!(
            found.iter().map(|(_, n)| **n).collect::<Vec<_>>(),
            [198, 196]
        );
        let at = |k: usize| 0.9 + DISTANCE_STEP * found[k].0 as f64;
        assert!(
            (at(0) - 1.0).abs() < 1.5 * DISTANCE_STEP && (at(1) - 2.0).abs() < 1.5 * DISTANCE_STEP
        );
        let tables = ChartTables {
            history: vec![],
            breaks: vec![],
            fragments: vec![],
            loads: vec![],
            convergence: vec![],
            packing: Some(packing),
        };
        let degrees = coordination(&tables).unwrap().panels[0].series[0]
            .points
            .clone();
        // Two ends have one bond, 98 elements two.
        assert_eq!(
            degrees[2..6],
            [[0.5, 2.0], [1.5, 2.0], [1.5, 98.0], [2.5, 98.0]]
        );
        let along = &directions(&tables).unwrap().panels;
        assert_eq!(along[0].series[0].points.last(), Some(&[1.0, 20.0]));
        assert_eq!(along[1].series[0].points[0], [0.0, 20.0]);
    }
}
