//! Energies over time.

use super::Tables;
use super::axis::{Axis, Unit};
use super::figure::{COLOURS, Figure, Panel, Series};
use crate::columns::History;

type Column = fn(&History) -> &[f64];

/// The kinds of energy that a history holds.
const KINDS: [(&str, Column); 5] = [
    ("kinetic", |h| &h.kinetic),
    ("rotational", |h| &h.rotational),
    ("gravity", |h| &h.gravity),
    ("bonds", |h| &h.bond),
    ("contacts", |h| &h.contact),
];

/// Each kind of energy, and their sum in dashes over them.
pub fn figure(tables: &Tables) -> Option<Figure> {
    let history: Vec<&History> = tables
        .history
        .iter()
        .filter(|h| !h.time.is_empty())
        .collect();
    if history.is_empty() {
        return None;
    }
    let curve = |energy: &dyn Fn(&History) -> f64| {
        let points = history.iter().map(|h| [h.time[0], energy(h)]);
        points.collect::<Vec<_>>()
    };
    let total = Series {
        name: "total".to_owned(),
        points: curve(&|h| KINDS.iter().map(|(_, column)| column(h)[0]).sum()),
        colour: COLOURS[0],
        dashed: true,
    };
    let kinds = KINDS.iter().zip(&COLOURS[1..]);
    let kinds = kinds.map(|((name, column), colour)| Series {
        name: (*name).to_owned(),
        points: curve(&|h| column(h)[0]),
        colour: *colour,
        dashed: false,
    });
    Some(Figure {
        title: "Energy".to_owned(),
        x: Axis {
            name: "time",
            unit: Unit::Si("s"),
            log: false,
        },
        panels: vec![Panel {
            y: Axis {
                name: "energy",
                unit: Unit::Si("J"),
                log: false,
            },
            series: kinds.chain([total]).collect(),
        }],
    })
}
