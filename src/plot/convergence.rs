//! Convergence of methods within a step (Lu 2025, Figure 7): residuals over iterations and over time.

use super::axis::{Axis, AxisUnit};
use super::figure::{COLOURS, Figure, Panel, Series};
use super::tables::ChartTables;
use crate::columns::{Convergence, Method};
use crate::picture::drawing::Colour;

/// All methods with their name in the legend, colour, and whether the curve is dashed. The two Newton
/// methods, which differ only in their linear solver, share a colour, as do the two in rotation vectors.
const METHODS: [(Method, &str, Colour, bool); 8] = [
    (Method::Newton, "Newton, multigrid", COLOURS[0], false),
    (Method::NewtonJacobi, "Newton, Jacobi", COLOURS[0], true),
    (Method::Descent, "descent", COLOURS[1], false),
    (Method::Penalty, "penalty", COLOURS[2], false),
    (Method::Multipliers, "multipliers", COLOURS[3], false),
    (Method::Augmented, "augm. Lagrangian", COLOURS[4], false),
    (
        Method::RotationVectors,
        "rotation vectors",
        COLOURS[5],
        false,
    ),
    (
        Method::RotationVectorsGaussNewton,
        "r. v., Gauss–Newton",
        COLOURS[5],
        true,
    ),
];

/// Chart of the last step that has residuals; `None` if there is none.
pub fn figure(tables: &ChartTables) -> Option<Figure> {
    let table = tables.convergence.iter().rfind(|t| !t.step.is_empty())?;
    let axis = |name, unit| Axis {
        name,
        unit,
        log: true,
    };
    let over_iterations = axis("iterations", AxisUnit::Count);
    let over_time = axis("time", AxisUnit::Si("s"));
    let panel = |across: &Axis, of: fn(&Convergence, usize) -> f64| Panel {
        x: Some(across.clone()),
        y: axis("forces out of balance", AxisUnit::Count),
        series: series(table, of),
    };
    Some(Figure {
        title: format!("Convergence of methods in step {}", table.step[0]),
        panels: vec![
            panel(&over_iterations, |t, row| f64::from(t.iteration[row])),
            panel(&over_time, |t, row| t.seconds[row]),
        ],
        x: over_iterations,
    })
}

/// Curves of the methods. The axes are logarithmic, so points that are not positive are left out.
fn series(table: &Convergence, across: fn(&Convergence, usize) -> f64) -> Vec<Series> {
    let curve = |(method, name, colour, dashed): (Method, &str, Colour, bool)| {
        let rows = (0..table.step.len()).filter(|&row| table.method[row] == method);
        let points = rows.map(|row| [across(table, row), table.residual[row]]);
        Series {
            name: name.to_owned(),
            points: points
                .filter(|p| p.iter().all(|v| v.is_finite() && *v > 0.0))
                .collect(),
            colour,
            dashed,
        }
    };
    let curves = METHODS.into_iter().map(curve);
    curves.filter(|series| !series.points.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_a_curve_over_iterations_and_one_over_time() {
        let methods = METHODS.map(|(method, ..)| method);
        let table = Convergence {
            frame: vec![1; 24],
            time: vec![0.1; 24],
            step: vec![3; 24],
            method: methods.into_iter().flat_map(|m| [m; 3]).collect(),
            iteration: [0, 1, 2].repeat(8),
            seconds: [1e-3, 2e-3, 4e-3].repeat(8),
            residual: [2.0, 0.1, 0.0].repeat(8),
            violation: vec![0.0; 24],
            gradients: vec![0; 24],
        };
        let tables = |convergence| ChartTables {
            history: Vec::new(),
            breaks: Vec::new(),
            fragments: Vec::new(),
            loads: Vec::new(),
            convergence,
            packing: None,
        };
        assert_eq!(figure(&tables(vec![Convergence::default()])), None);
        let figure = figure(&tables(vec![table, Convergence::default()])).expect("a chart");
        assert_eq!(figure.title, "Convergence of methods in step 3");
        let [iterations, time] = &figure.panels[..] else {
            panic!("two panels");
        };
        assert_eq!((iterations.series.len(), time.series.len()), (8, 8));
        for (one, other) in iterations.series.iter().zip(&time.series) {
            assert_eq!(one.points, [[1.0, 0.1]]);
            assert_eq!(other.points, [[1e-3, 2.0], [2e-3, 0.1]]);
        }
    }
}
