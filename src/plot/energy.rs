//! Chart of energies over time.

use super::axis::{Axis, AxisUnit};
use super::figure::{COLOURS, Figure, Panel, Series};
use super::tables::ChartTables;
use crate::columns::History;

/// A column of the history.
type HistoryColumn = fn(&History) -> &[f64];

/// Label and history column of each kind of energy, stored or dissipated.
const KINDS: [(&str, HistoryColumn); 10] = [
    ("kinetic", |h| &h.kinetic),
    ("rotational", |h| &h.rotational),
    ("gravity", |h| &h.gravity),
    ("bonds", |h| &h.bond),
    ("contacts", |h| &h.contact),
    ("dissipated by damping", |h| &h.damping),
    ("dissipated by friction", |h| &h.friction),
    ("dissipated by breaking", |h| &h.breaking),
    ("dissipated by sleep", |h| &h.rigidified),
    ("held by sleep", |h| &h.held),
];

/// Curves of each kind of energy, and their sum as a dashed curve. Kinds that some history lacks are left
/// out.
pub fn figure(tables: &ChartTables) -> Option<Figure> {
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
    let is_recorded = |column: &HistoryColumn| history.iter().all(|h| !column(h).is_empty());
    let kinds = KINDS.iter().zip(&COLOURS[1..]);
    let kinds: Vec<_> = kinds
        .filter(|((_, column), _)| is_recorded(column))
        .collect();
    let total = Series {
        name: "total".to_owned(),
        points: curve(&|h| kinds.iter().map(|((_, column), _)| column(h)[0]).sum()),
        colour: COLOURS[0],
        dashed: true,
    };
    let kinds = kinds.iter().map(|((name, column), colour)| Series {
        name: (*name).to_owned(),
        points: curve(&|h| column(h)[0]),
        colour: **colour,
        dashed: false,
    });
    Some(Figure {
        title: "Energy".to_owned(),
        x: Axis {
            name: "time",
            unit: AxisUnit::Si("s"),
            log: false,
        },
        panels: vec![Panel {
            x: None,
            y: Axis {
                name: "energy",
                unit: AxisUnit::Si("J"),
                log: false,
            },
            series: kinds.chain([total]).collect(),
        }],
    })
}
