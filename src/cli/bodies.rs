//! Figures of each body's packing, for `inspect` and `check`.

use std::f64::consts::PI;

use glam::DVec3;
use serde_json::{Value, json};

use super::value::number;
use crate::columns::Shape;
use crate::geometry::TriMesh;
use crate::laws::strength::lattice_along;
use crate::pack::figures::{NEIGHBOUR_DISTANCES, figures};
use crate::simulate::warn::entry_of;
use crate::spec::{Body, Criterion, PackingSpec, Pipeline, Strength};
use crate::store::Packing;
use crate::units::show::{figures as rounded, grouped, quantity};

/// Figures of each body that has elements, as JSON. `name` and `skin` return these of a body by its number.
pub fn bodies(
    packing: &Packing,
    name: impl Fn(usize) -> String,
    skin: impl Fn(usize) -> Option<TriMesh>,
) -> Value {
    let (e, b) = (&packing.elements, &packing.bonds);
    let mut numbers = e.body.clone();
    numbers.sort_unstable();
    numbers.dedup();
    let all = numbers.into_iter().filter_map(|body| {
        let own: Vec<usize> = (0..e.body.len()).filter(|&i| e.body[i] == body).collect();
        // Index of each element among those of this body; unused for other elements.
        let mut index_in_body = vec![0; e.body.len()];
        for (at, &i) in (0..).zip(&own) {
            index_in_body[i] = at;
        }
        let centres: Vec<DVec3> = own
            .iter()
            .map(|&i| DVec3::new(e.x[i], e.y[i], e.z[i]))
            .collect();
        let radii: Vec<f64> = own.iter().map(|&i| e.r[i]).collect();
        let ends =
            b.i.iter()
                .zip(&b.j)
                .map(|(&i, &j)| [i as usize, j as usize]);
        let bonds: Vec<[u32; 2]> = ends
            .filter(|ends| ends.iter().all(|&i| e.body.get(i) == Some(&body)))
            .map(|ends| ends.map(|i| index_in_body[i]))
            .collect();
        // Volume fraction and overlap of balls are meaningless for cells.
        if own.iter().all(|&i| e.kind.get(i) == Some(&Shape::Cell)) {
            return Some(cell_body_figures(name(body as usize), &radii, bonds.len()));
        }
        let found = figures(&centres, &radii, &bonds, skin(body as usize).as_ref())?;
        let mut value = json!({
            "name": name(body as usize),
            "elements": own.len(),
            "bonds": bonds.len(),
            "radius": found.radius,
            "overlap": found.overlap,
        });
        if let Some(bulk) = found.bulk {
            value["bulk"] = json!({
                "elements": bulk.elements,
                "filling": bulk.filling,
                "contacts": bulk.contacts,
                "bonds": bulk.bonds,
                "within": NEIGHBOUR_DISTANCES.iter().zip(bulk.within).collect::<Vec<_>>(),
                "directions": bulk.fabric,
            });
        }
        Some(value)
    });
    Value::Array(all.collect())
}

/// Adds `strength_along` to the bodies whose strength depends on the direction: along the axes of their packing, over
/// `tensile_strength`.
pub fn add_strengths(bodies: &mut Value, pipeline: &Pipeline) {
    for body in bodies.as_array_mut().into_iter().flatten() {
        let of_it = |one: &&Body| body["name"] == one.name.as_str();
        let Some(spec) = pipeline.bodies.iter().find(of_it) else {
            continue;
        };
        // By Rankine's criterion all directions are as strong; with a grain it decides.
        let calibrated = pipeline.material_of(spec).filter(|one| {
            one.tensile_strength.is_some()
                && one.strength() == Strength::Material
                && one.criterion != Criterion::Rankine
                && one.grain.is_none()
        });
        let is_lattice = matches!(spec.packing, PackingSpec::Hexagonal { .. });
        if let Some(material) = calibrated.filter(|_| is_lattice && spec.is_bonded() && !spec.rigid)
        {
            body["strength_along"] = json!(lattice_along(material.poisson_ratio()));
        }
    }
}

/// Figures of a body of cells; `radii` are those of balls of the cells' volumes, m.
fn cell_body_figures(name: String, radii: &[f64], faces: usize) -> Value {
    let least = radii.iter().copied().fold(f64::INFINITY, f64::min);
    let most = radii.iter().copied().fold(0.0, f64::max);
    let mean = radii.iter().sum::<f64>() / radii.len() as f64;
    json!({
        "name": name,
        "elements": radii.len(),
        "bonds": faces,
        "cells": true,
        "radius": [least, mean, most],
    })
}

/// Lines of text about all bodies, each after a name or nothing. Bodies of one entry whose figures are alike are
/// described once.
pub fn list(bodies: &Value) -> Vec<(String, String)> {
    let mut alike: Vec<(&str, Vec<String>, Vec<&str>)> = Vec::new();
    for body in bodies.as_array().into_iter().flatten() {
        let name = body["name"].as_str().unwrap_or_default();
        let (entry, own) = (entry_of(name), lines(body));
        let same = |one: &&mut (&str, Vec<String>, _)| one.0 == entry && one.1 == own;
        match alike.iter_mut().find(same) {
            Some((.., names)) => names.push(name),
            None => alike.push((entry, own, vec![name])),
        }
    }
    let mut out = Vec::new();
    for (entry, mut own, names) in alike {
        if let [_, .., last] = names[..] {
            let others = names.len() - 1;
            own.push(format!(
                "{others} more bodies of {entry:?} have the same figures, the last is {last:?}"
            ));
        }
        let names = std::iter::once(names[0]).chain(std::iter::repeat(""));
        out.extend(names.map(str::to_owned).zip(own));
    }
    out
}

/// Lines of text about one body.
fn lines(body: &Value) -> Vec<String> {
    if body["cells"] == true {
        return vec![cell_body_line(body)];
    }
    let [least, mean, largest] = [0, 1, 2].map(|k| quantity(number(&body["radius"][k]), "m"));
    let radius = if least == largest {
        format!("radius {mean}")
    } else {
        format!("radii {least} to {largest}, mean {mean}")
    };
    let count = |key: &str| grouped(number(&body[key]), 0);
    // Overlap in the last digits comes from rounding.
    let overlap = match number(&body["overlap"]) {
        overlap if overlap < 1e-9 => "no overlap".to_owned(),
        overlap => format!("overlap up to {} radii", rounded(overlap)),
    };
    let mut out = vec![format!(
        "{} elements, {} bonds, {radius}, {overlap}",
        count("elements"),
        count("bonds"),
    )];
    let bulk = &body["bulk"];
    if bulk.is_object() {
        out.push(format!(
            "bulk {:.2} % full, {:.2} contacts and {:.2} bonds an element",
            100.0 * number(&bulk["filling"]),
            number(&bulk["contacts"]),
            number(&bulk["bonds"])
        ));
        let pairs = bulk["within"].as_array().into_iter().flatten();
        let (limits, counts): (Vec<_>, Vec<_>) = pairs
            .map(|pair| {
                let limit = format!("{:.2}", number(&pair[0]));
                (limit, format!("{:.2}", number(&pair[1])))
            })
            .unzip();
        out.push(format!(
            "{} elements within {} of the sum of radii",
            counts.join(", "),
            limits.join(", ")
        ));
        let directions = bulk["directions"].as_array().into_iter().flatten();
        let directions: Vec<String> = directions.map(|x| format!("{:.3}", number(x))).collect();
        out.push(format!(
            "bond directions {} (isotropic: a third each)",
            directions.join(" ")
        ));
    } else {
        // A shell, a yarn or a thin plate.
        out.push(format!(
            "no part is far enough from the skin for figures of the bulk; {:.2} bonds an element",
            2.0 * number(&body["bonds"]) / number(&body["elements"])
        ));
    }
    if let Some(along) = body["strength_along"].as_array() {
        let along: Vec<String> = along.iter().map(|x| format!("{:.2}", number(x))).collect();
        out.push(format!(
            "strength along x, y, z of the packing: {} times `tensile_strength`",
            along.join(", ")
        ));
    }
    out
}

/// A line about a body of cells.
fn cell_body_line(body: &Value) -> String {
    let [least, mean, most] = [0, 1, 2].map(|k| number(&body["radius"][k]));
    let cube = (4.0 / 3.0 * PI).cbrt() * mean;
    let spread = if most - least < 1e-9 * mean {
        "all of the same volume".to_owned()
    } else {
        let part = |radius: f64| rounded((radius / mean).powi(3));
        format!(
            "with {} to {} times the volume of the mean",
            part(least),
            part(most)
        )
    };
    format!(
        "{} cells, {} faces between them, {:.2} per cell, of the volume of cubes of {}, {spread}",
        grouped(number(&body["elements"]), 0),
        grouped(number(&body["bonds"]), 0),
        2.0 * number(&body["bonds"]) / number(&body["elements"]),
        quantity(cube, "m"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_told_apart() {
        let mut packing = Packing::default();
        let e = &mut packing.elements;
        for (x, body) in [(0.0, 2), (1.0, 0), (2.0, 2), (3.0, 0)] {
            e.body.push(body);
            e.x.push(x);
            e.y.push(0.0);
            e.z.push(0.0);
            e.r.push(if body == 0 { 1.0 } else { 1.25 });
        }
        (packing.bonds.i, packing.bonds.j) = (vec![1, 0], vec![3, 2]);
        let found = bodies(&packing, |body| format!("body {body}"), |_| None);
        let found = found.as_array().unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(
            (&found[0]["name"], &found[0]["bonds"], &found[0]["overlap"]),
            (&json!("body 0"), &json!(1), &json!(0.0))
        );
        assert_eq!(found[1]["overlap"], json!(0.4));
        assert_eq!(
            lines(&found[1]),
            [
                "2 elements, 1 bonds, radius 1.25 m, overlap up to 0.4 radii",
                "no part is far enough from the skin for figures of the bulk; 1.00 bonds an element"
            ]
        );
    }

    #[test]
    fn cells_are_counted_with_their_faces() {
        let mut packing = Packing::default();
        let e = &mut packing.elements;
        for (x, r) in [(0.0, 0.1), (1.0, 0.1), (2.0, 0.1)] {
            e.body.push(0);
            e.kind.push(Shape::Cell);
            e.x.push(x);
            e.y.push(0.0);
            e.z.push(0.0);
            e.r.push(r);
        }
        (packing.bonds.i, packing.bonds.j) = (vec![0, 1], vec![1, 2]);
        let body = |packing: &Packing| lines(&bodies(packing, |_| "bar".into(), |_| None)[0]);
        let counts =
            "3 cells, 2 faces between them, 1.33 per cell, of the volume of cubes of 161.2 mm";
        assert_eq!(
            body(&packing),
            [format!("{counts}, all of the same volume")]
        );
        packing.elements.r = vec![0.05, 0.1, 0.15];
        let spread = "with 0.125 to 3.375 times the volume of the mean";
        assert_eq!(body(&packing), [format!("{counts}, {spread}")]);
    }

    #[test]
    fn bodies_of_an_entry_with_the_same_figures_are_described_once() {
        let body = |name: &str, elements: u32| {
            json!({
                "name": name, "elements": elements, "bonds": 1, "radius": [1e-3, 1e-3, 1e-3], "overlap": 0,
            })
        };
        let all = json!([
            body("wall.a", 2),
            body("ball", 2),
            body("wall.b", 2),
            body("wall.half", 1),
            body("wall.c", 2)
        ]);
        let names: Vec<String> = list(&all).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["wall.a", "", "", "ball", "", "wall.half", ""]);
        let last = &list(&all)[2].1;
        assert_eq!(
            last,
            "2 more bodies of \"wall\" have the same figures, the last is \"wall.c\""
        );
    }

    #[test]
    fn figures_stand_in_lines() {
        let body = json!({
            "name": "ball", "elements": 12345, "bonds": 55000, "radius": [1e-3, 1.2e-3, 1.4e-3], "overlap": 9e-4,
            "bulk": {
                "elements": 5000, "filling": 0.64012, "contacts": 5.754, "bonds": 9.0,
                "within": [[1.02, 7.0], [1.1, 9.0]], "directions": [0.332, 0.333, 0.335],
            },
            "strength_along": [0.766, 1.026, 1.208],
        });
        let expected = [
            "12 345 elements, 55 000 bonds, radii 1 mm to 1.4 mm, mean 1.2 mm, overlap up to 0.0009 radii",
            "bulk 64.01 % full, 5.75 contacts and 9.00 bonds an element",
            "7.00, 9.00 elements within 1.02, 1.10 of the sum of radii",
            "bond directions 0.332 0.333 0.335 (isotropic: a third each)",
            "strength along x, y, z of the packing: 0.77, 1.03, 1.21 times `tensile_strength`",
        ];
        assert_eq!(lines(&body), expected);
    }
}
