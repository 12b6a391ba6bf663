//! Loads of supports: over displacement if any support is driven, else torque over angle if any is rotated,
//! else over time.

use glam::DVec3;

use super::axis::{Axis, AxisUnit};
use super::figure::{COLOURS, Figure, Panel, Series};
use super::tables::ChartTables;
use crate::columns::{LoadKind, Loads};

/// Maximum number of letters of a name in the legend.
const MAX_NAME_LENGTH: usize = 24;

/// Displacement, m, and angle, rad, up to which a support counts as fixed: covers rounding errors.
pub const MOTION_TOLERANCE: f64 = 1e-9;

/// Load and displacement of a support in one frame.
struct LoadSample {
    /// Time of the frame, s.
    time: f64,
    /// Mean force on the support since the frame before, N.
    force: DVec3,
    /// Mean torque on the support since the frame before, N m.
    torque: DVec3,
    /// Displacement since the start, m.
    moved: DVec3,
    /// Rotation since the start, rad.
    angle: f64,
}

/// A support (a collider or an attachment) with its loads in all frames.
struct Support {
    kind: LoadKind,
    name: String,
    samples: Vec<LoadSample>,
}

/// Load over displacement if a support is driven, else torque over angle if one is rotated, else load over
/// time.
pub fn figure(tables: &ChartTables) -> Option<Figure> {
    let supports = supports(&tables.loads);
    if supports.is_empty() {
        return None;
    }
    let driven: Vec<_> = supports
        .iter()
        .filter_map(|support| Some((support, driven_direction(support)?)))
        .collect();
    let axis = |name, unit| Axis {
        name,
        unit: AxisUnit::Si(unit),
        log: false,
    };
    let turned: Vec<_> = supports
        .iter()
        .filter(|support| is_turned(support))
        .collect();
    let (title, x, y, curves): (_, _, _, Vec<_>) = if !driven.is_empty() {
        let over_displacement = |(support, along): &(&Support, DVec3)| {
            curve(
                &support.samples,
                |m| m.moved.dot(*along),
                |m| -m.force.dot(*along),
            )
        };
        (
            "Load against displacement",
            axis("displacement", "m"),
            axis("load", "N"),
            driven
                .iter()
                .map(|one| (one.0, over_displacement(one)))
                .collect(),
        )
    } else if !turned.is_empty() {
        let over_angle =
            |support: &Support| curve(&support.samples, |m| m.angle, |m| m.torque.length());
        (
            "Torque against angle",
            axis("angle", "rad"),
            axis("torque", "N m"),
            turned
                .into_iter()
                .map(|one| (one, over_angle(one)))
                .collect(),
        )
    } else {
        let over_time =
            |support: &Support| curve(&support.samples, |m| m.time, |m| m.force.length());
        (
            "Loads",
            axis("time", "s"),
            axis("load", "N"),
            supports.iter().map(|one| (one, over_time(one))).collect(),
        )
    };
    let series = curves
        .into_iter()
        .enumerate()
        .map(|(at, (support, points))| {
            let (round, colour) = ((at + 1) / COLOURS.len(), (at + 1) % COLOURS.len());
            Series {
                name: shortened(&support.name),
                points,
                colour: COLOURS[colour],
                dashed: round % 2 == 1,
            }
        });
    Some(Figure {
        title: title.to_owned(),
        x,
        panels: vec![Panel {
            x: None,
            y,
            series: series.collect(),
        }],
    })
}

/// Regroups the tables, one per frame, by support.
fn supports(tables: &[Loads]) -> Vec<Support> {
    let mut supports: Vec<Support> = Vec::new();
    for t in tables {
        // A gauge carries no load.
        let is_support = |row: &usize| t.kind[*row] != LoadKind::Gauge;
        for row in (0..t.frame.len()).filter(is_support) {
            let sample = LoadSample {
                time: t.time[row],
                force: DVec3::new(t.fx[row], t.fy[row], t.fz[row]),
                torque: DVec3::new(t.tx[row], t.ty[row], t.tz[row]),
                moved: DVec3::new(t.dx[row], t.dy[row], t.dz[row]),
                angle: t.angle[row],
            };
            let (kind, name) = (t.kind[row], &t.name[row]);
            match supports
                .iter_mut()
                .find(|s| s.kind == kind && s.name == *name)
            {
                Some(support) => support.samples.push(sample),
                None => supports.push(Support {
                    kind,
                    name: name.clone(),
                    samples: vec![sample],
                }),
            }
        }
    }
    supports
}

/// The unit vector in which a support is driven: that of its largest displacement. `None` if it is fixed or
/// is moved by forces.
fn driven_direction(support: &Support) -> Option<DVec3> {
    let moved = support.samples.iter().map(|sample| sample.moved);
    let farthest = moved.fold(
        DVec3::ZERO,
        |far, m| {
            if m.length() > far.length() { m } else { far }
        },
    );
    let driven = !matches!(support.kind, LoadKind::Force | LoadKind::Pressure);
    let along = farthest.try_normalize()?;
    (driven && farthest.length() > MOTION_TOLERANCE).then_some(along)
}

/// Whether a support rotates, other than by a prescribed force.
fn is_turned(support: &Support) -> bool {
    let angles = support.samples.iter().map(|sample| sample.angle);
    support.kind != LoadKind::Force && angles.fold(0.0, f64::max) > MOTION_TOLERANCE
}

/// Curve of `up` over `across`. A load is a mean since the frame before, so it is plotted at the midpoint of
/// `across` between both frames.
fn curve(
    samples: &[LoadSample],
    across: impl Fn(&LoadSample) -> f64,
    up: impl Fn(&LoadSample) -> f64,
) -> Vec<[f64; 2]> {
    match samples {
        [one] => vec![[across(one), up(one)]],
        _ => samples
            .windows(2)
            .map(|pair| [(across(&pair[0]) + across(&pair[1])) / 2.0, up(&pair[1])])
            .collect(),
    }
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= MAX_NAME_LENGTH {
        return name.to_owned();
    }
    name.chars()
        .take(MAX_NAME_LENGTH - 1)
        .chain(['…'])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A punch that is driven down by 1 mm per frame into a spring of 2 kN/m, and a floor that supports the
    /// spring.
    fn tables(driven: bool) -> ChartTables {
        let table = |frame: u32| {
            let way = if driven { f64::from(frame) * 1e-3 } else { 0.0 };
            let load = 2e3 * (way - 0.5e-3).max(0.0);
            let two = |a: f64, b: f64| vec![a, b];
            Loads {
                frame: vec![frame; 2],
                time: vec![f64::from(frame); 2],
                kind: vec![LoadKind::Collider, LoadKind::Clamp],
                index: vec![0; 2],
                name: vec!["punch".into(), "a floor that has a very long name".into()],
                fx: two(0.0, 3.0),
                fy: two(load, -load),
                fz: two(0.0, 0.0),
                tx: two(0.0, 0.0),
                ty: two(0.0, 0.0),
                tz: two(0.0, 0.0),
                x: two(0.0, 0.0),
                y: two(-way, 0.0),
                z: two(0.0, 0.0),
                dx: two(0.0, 0.0),
                dy: two(-way, 0.0),
                dz: two(0.0, 0.0),
                angle: two(0.0, 0.0),
                contacts: vec![1; 2],
            }
        };
        ChartTables {
            history: Vec::new(),
            breaks: Vec::new(),
            fragments: Vec::new(),
            loads: (0..4).map(table).collect(),
            convergence: Vec::new(),
            packing: None,
        }
    }

    #[test]
    fn a_driven_support_has_a_curve_over_displacement() {
        let figure = figure(&tables(true)).expect("a chart");
        let series = &figure.panels[0].series;
        assert_eq!(series.len(), 1);
        assert_eq!(series[0].name, "punch");
        let slope = |a: [f64; 2], b: [f64; 2]| (b[1] - a[1]) / (b[0] - a[0]);
        for pair in series[0].points.windows(2) {
            assert!((slope(pair[0], pair[1]) - 2e3).abs() < 1e-6, "{pair:?}");
        }
        assert!((series[0].points[0][0] - 0.5e-3).abs() < 1e-12);
        assert_eq!(figure.x.name, "displacement");
    }

    #[test]
    fn without_a_driven_support_all_have_curves_over_time() {
        let figure = figure(&tables(false)).expect("a chart");
        let series = &figure.panels[0].series;
        assert_eq!(series.len(), 2);
        assert_eq!(series[1].name, "a floor that has a very…");
        assert_eq!(series[1].points, [[0.5, 3.0], [1.5, 3.0], [2.5, 3.0]]);
        assert_eq!(figure.x.name, "time");
    }

    #[test]
    fn a_support_that_only_rotates_has_a_curve_over_angle() {
        let mut tables = tables(false);
        for (frame, table) in (0..).zip(&mut tables.loads) {
            let angle = 0.1 * f64::from(frame);
            (table.angle[1], table.tx[1]) = (angle, -50.0 * (angle - 0.05).max(0.0));
            table.dx[1] = 1e-17;
        }
        let figure = figure(&tables).expect("a chart");
        let [series] = &figure.panels[0].series[..] else {
            panic!("one curve");
        };
        assert!(series.name.starts_with("a floor"));
        for point in &series.points {
            assert!((point[1] - 50.0 * point[0]).abs() < 1e-12, "{point:?}");
        }
        assert_eq!(
            (figure.x.name, figure.panels[0].y.name),
            ("angle", "torque")
        );
    }

    #[test]
    fn without_loads_there_is_no_chart() {
        let mut none = tables(true);
        none.loads.clear();
        assert!(figure(&none).is_none());
    }
}
