//! Packings: how many elements lie how far from each other, how many bonds an element has, where bonds point.
//! A curve a body.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::axis::{Axis, Unit};
use super::figure::{COLOURS, Figure, Panel, Series};
use super::tables::Tables;
use crate::geometry::hash_grid::HashGrid;
use crate::store::Packing;

/// Bodies that get a curve; colours would repeat beyond.
const BODIES: usize = COLOURS.len() - 1;
/// Distances, over the sum of radii, up to which pairs are counted.
const FAR: f64 = 2.2;
/// Width of a column of distances.
const STEP: f64 = 0.02;
/// Columns of directions.
const DIRECTIONS: usize = 20;

/// Elements within a distance of an element, over the sum of both radii, per unit of that.
pub fn distances(tables: &Tables) -> Option<Figure> {
    let packing = tables.packing.as_ref()?;
    let curve = |body: u32| {
        let counts = pairs(packing, body);
        let elements = members(packing, body).count();
        histogram(
            0.9,
            STEP,
            counts.iter().map(|n| *n as f64 / elements as f64 / STEP),
        )
    };
    Some(figure(
        packing,
        "Neighbours by distance",
        (
            "distance over the sum of radii",
            "neighbours an element and unit",
        ),
        curve,
    ))
}

/// Elements by how many bonds they have.
pub fn coordination(tables: &Tables) -> Option<Figure> {
    let packing = tables.packing.as_ref()?;
    if packing.bonds.i.is_empty() {
        return None;
    }
    let mut degree = vec![0_usize; packing.elements.id.len()];
    for &end in packing.bonds.i.iter().chain(&packing.bonds.j) {
        degree[end as usize] += 1;
    }
    let curve = |body: u32| {
        let most = members(packing, body).map(|i| degree[i]).max().unwrap_or(0);
        let mut counts = vec![0.0; most + 1];
        members(packing, body).for_each(|i| counts[degree[i]] += 1.0);
        let all: f64 = counts.iter().sum();
        histogram(-0.5, 1.0, counts.into_iter().map(|n| 100.0 * n / all))
    };
    Some(figure(
        packing,
        "Bonds an element",
        ("bonds", "part of the elements, %"),
        curve,
    ))
}

/// How bonds point: the parts of them by the cosine of the angle to each axis; even in all directions where
/// the curves are level at 1.
pub fn directions(tables: &Tables) -> Option<Figure> {
    let packing = tables.packing.as_ref()?;
    let bonds = &packing.bonds;
    if bonds.dx.is_empty() {
        return None;
    }
    let axes = [("x", &bonds.dx), ("y", &bonds.dy), ("z", &bonds.dz)];
    let panels = axes.map(|(_, cosines)| {
        let of_body = |body: u32| {
            let mut counts = [0.0; DIRECTIONS];
            let mine = bonds.i.iter().zip(cosines.iter());
            let mine = mine.filter(|(i, _)| packing.elements.body[**i as usize] == body);
            for (_, cosine) in mine {
                let place = (cosine.abs() * DIRECTIONS as f64) as usize;
                counts[place.min(DIRECTIONS - 1)] += 1.0;
            }
            let all: f64 = counts.iter().sum();
            let even = (all / DIRECTIONS as f64).max(f64::MIN_POSITIVE);
            histogram(
                0.0,
                1.0 / DIRECTIONS as f64,
                counts.map(|n| n / even).into_iter(),
            )
        };
        curves(packing, of_body)
    });
    let names = [
        "bonds over even, x",
        "bonds over even, y",
        "bonds over even, z",
    ];
    let panels = panels.into_iter().zip(names).map(|(series, name)| Panel {
        x: None,
        y: count(name),
        series,
    });
    Some(Figure {
        title: "Directions of bonds".to_owned(),
        x: count("cosine of the angle to the axis"),
        panels: panels.collect(),
    })
}

fn count(name: &'static str) -> Axis {
    Axis {
        name,
        unit: Unit::Count,
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
        x: count(x),
        panels: vec![Panel {
            x: None,
            y: count(y),
            series: curves(packing, curve),
        }],
    }
}

/// A curve of each of the first bodies.
fn curves(packing: &Packing, curve: impl Fn(u32) -> Vec<[f64; 2]>) -> Vec<Series> {
    let bodies = packing
        .elements
        .body
        .iter()
        .max()
        .map_or(0, |last| last + 1);
    (0..bodies)
        .take(BODIES)
        .filter(|body| members(packing, *body).next().is_some())
        .map(|body| Series {
            name: format!("body {body}"),
            points: curve(body),
            colour: COLOURS[1 + body as usize % BODIES],
            dashed: false,
        })
        .collect()
}

fn members(packing: &Packing, body: u32) -> impl Iterator<Item = usize> {
    let bodies = packing.elements.body.iter().enumerate();
    bodies.filter(move |(_, of)| **of == body).map(|(i, _)| i)
}

/// Columns as a line that steps.
fn histogram(from: f64, width: f64, heights: impl Iterator<Item = f64>) -> Vec<[f64; 2]> {
    let column = |(k, height): (usize, f64)| {
        let left = from + k as f64 * width;
        [[left, height], [left + width, height]]
    };
    heights.enumerate().flat_map(column).collect()
}

/// Sides of pairs within a body by their distance over the sum of radii, from 0.9 to [`FAR`] in columns of [`STEP`].
fn pairs(packing: &Packing, body: u32) -> Vec<u64> {
    let e = &packing.elements;
    let mine: Vec<usize> = members(packing, body).collect();
    let place = |i: usize| DVec3::new(e.x[i], e.y[i], e.z[i]);
    let largest = mine.iter().map(|i| e.r[*i]).fold(0.0, f64::max);
    let columns = ((FAR - 0.9) / STEP).round() as usize;
    let grid = HashGrid::new(mine.len(), FAR * 2.0 * largest, |k| place(mine[k]));
    let add = |mut counts: Vec<u64>, i: &usize| {
        grid.around(place(*i), |k| {
            let j = mine[k as usize];
            let distance = place(*i).distance(place(j)) / (e.r[*i] + e.r[j]);
            let column = ((distance - 0.9) / STEP).floor();
            if j != *i && column < columns as f64 {
                counts[column.max(0.0) as usize] += 1;
            }
        });
        counts
    };
    let parts = mine
        .par_chunks(1024)
        .map(|part| part.iter().fold(vec![0; columns], add));
    parts.reduce(
        || vec![0; columns],
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
        let counts = pairs(&packing, 0);
        let found: Vec<_> = counts.iter().enumerate().filter(|(_, n)| **n > 0).collect();
        // 99 touching pairs and 98 second neighbours, from both sides; rounding may put either into the column before.
        assert_eq!(
            found.iter().map(|(_, n)| **n).collect::<Vec<_>>(),
            [198, 196]
        );
        let at = |k: usize| 0.9 + STEP * found[k].0 as f64;
        assert!((at(0) - 1.0).abs() < 1.5 * STEP && (at(1) - 2.0).abs() < 1.5 * STEP);
        let tables = Tables {
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
