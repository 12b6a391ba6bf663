//! Charts of errors over the number of triangles.

use std::path::Path;

use cullet::bem::Order;
use cullet::plot::{Axis, AxisUnit, COLOURS, ChartFormat, Figure, Panel, Series, write};

use super::known::{Curve, Quantity};

/// Errors below this are due to rounding or to the accuracy of the sums.
const SMALLEST_ERROR: f64 = 1e-6;

/// Writes the chart of these curves to a folder.
pub fn draw(
    folder: &Path,
    curves: &[Curve],
    poisson: f64,
) -> Result<(), Box<dyn std::error::Error>> {
    let axis = |name| Axis {
        name,
        unit: AxisUnit::Count,
        log: true,
    };
    let panel = |(of, name)| Panel {
        x: None,
        y: axis(name),
        series: series(curves, of),
    };
    let figure = Figure {
        title: format!("Relative errors, ν = {poisson}: quadratic (solid) and linear (dashed)"),
        x: axis("triangles"),
        panels: [
            (Quantity::Surface, "stress on the surface"),
            (Quantity::Inside, "stress inside"),
            (Quantity::Motion, "displacement"),
        ]
        .map(panel)
        .to_vec(),
    };
    std::fs::create_dir_all(folder)?;
    for file in write(&figure, &ChartFormat::ALL, folder, "answers")? {
        println!("{}", file.display());
    }
    Ok(())
}

/// Curves of a panel; each name has one colour and one entry in the legend.
fn series(curves: &[Curve], of: Quantity) -> Vec<Series> {
    let of_panel = curves.iter().filter(|curve| curve.of == of);
    let mut names: Vec<&str> = of_panel.clone().map(|curve| curve.name).collect();
    names.dedup();
    let one = |curve: &Curve| {
        let place = names.iter().position(|name| *name == curve.name);
        let is_linear = curve.order == Order::Linear;
        let points = curve.points.iter().map(|[n, error]| [*n, error.abs()]);
        Series {
            name: match is_linear {
                true => String::new(),
                false => curve.name.to_owned(),
            },
            points: points
                .filter(|[_, error]| *error > SMALLEST_ERROR)
                .collect(),
            colour: COLOURS[place.unwrap_or(0) % COLOURS.len()],
            dashed: is_linear,
        }
    };
    of_panel.map(one).filter(|s| !s.points.is_empty()).collect()
}
