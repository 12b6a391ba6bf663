//! Loads: of what is driven over the way that it goes, of what only turns over its angle, or of all over time
//! where nothing does.

use glam::DVec3;

use super::axis::{Axis, Unit};
use super::figure::{COLOURS, Figure, Panel, Series};
use super::tables::Tables;
use crate::columns::{LoadKind, Loads};

/// Letters of a name in the legend, at most.
const NAME: usize = 24;

/// Ways, m, and angles, rad, up to which a thing stays: the rounding of what is held.
pub const STILL: f64 = 1e-9;

/// A row of a table.
struct Moment {
    time: f64,
    /// What bears on it, N.
    force: DVec3,
    /// What turns it, N m.
    torque: DVec3,
    /// How far it has moved, m.
    moved: DVec3,
    /// How far it is turned, rad.
    angle: f64,
}

/// What bears loads, frame by frame.
struct Bearer {
    kind: LoadKind,
    name: String,
    moments: Vec<Moment>,
}

/// Load over displacement where a collider or a clamp moves, else over time.
pub fn figure(tables: &Tables) -> Option<Figure> {
    let bearers = bearers(&tables.loads);
    if bearers.is_empty() {
        return None;
    }
    let driven: Vec<_> = bearers
        .iter()
        .filter_map(|bearer| Some((bearer, direction(bearer)?)))
        .collect();
    let axis = |name, unit| Axis {
        name,
        unit: Unit::Si(unit),
        log: false,
    };
    let turned: Vec<_> = bearers.iter().filter(|bearer| turns(bearer)).collect();
    let (title, x, y, curves): (_, _, _, Vec<_>) = if !driven.is_empty() {
        let over_way = |(bearer, along): &(&Bearer, DVec3)| {
            curve(
                &bearer.moments,
                |m| m.moved.dot(*along),
                |m| -m.force.dot(*along),
            )
        };
        (
            "Load against displacement",
            axis("displacement", "m"),
            axis("load", "N"),
            driven.iter().map(|one| (one.0, over_way(one))).collect(),
        )
    } else if !turned.is_empty() {
        let over_angle =
            |bearer: &Bearer| curve(&bearer.moments, |m| m.angle, |m| m.torque.length());
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
        let over_time = |bearer: &Bearer| curve(&bearer.moments, |m| m.time, |m| m.force.length());
        (
            "Loads",
            axis("time", "s"),
            axis("load", "N"),
            bearers.iter().map(|one| (one, over_time(one))).collect(),
        )
    };
    let series = curves
        .into_iter()
        .enumerate()
        .map(|(at, (bearer, points))| {
            let (round, colour) = ((at + 1) / COLOURS.len(), (at + 1) % COLOURS.len());
            Series {
                name: shortened(&bearer.name),
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

/// The tables turned: a list of moments for each row of the first.
fn bearers(tables: &[Loads]) -> Vec<Bearer> {
    let mut out: Vec<Bearer> = Vec::new();
    for t in tables {
        // A gauge bears nothing.
        let bearing = |row: &usize| t.kind[*row] != LoadKind::Gauge;
        for row in (0..t.frame.len()).filter(bearing) {
            let moment = Moment {
                time: t.time[row],
                force: DVec3::new(t.fx[row], t.fy[row], t.fz[row]),
                torque: DVec3::new(t.tx[row], t.ty[row], t.tz[row]),
                moved: DVec3::new(t.dx[row], t.dy[row], t.dz[row]),
                angle: t.angle[row],
            };
            let (kind, name) = (t.kind[row], &t.name[row]);
            match out.iter_mut().find(|b| b.kind == kind && b.name == *name) {
                Some(bearer) => bearer.moments.push(moment),
                None => out.push(Bearer {
                    kind,
                    name: name.clone(),
                    moments: vec![moment],
                }),
            }
        }
    }
    out
}

/// Whither something is driven: to where it is farthest from the start. None of what stays or goes where
/// forces take it.
fn direction(bearer: &Bearer) -> Option<DVec3> {
    let moved = bearer.moments.iter().map(|moment| moment.moved);
    let farthest = moved.fold(
        DVec3::ZERO,
        |far, m| {
            if m.length() > far.length() { m } else { far }
        },
    );
    let driven = !matches!(bearer.kind, LoadKind::Force | LoadKind::Pressure);
    let along = farthest.try_normalize()?;
    (driven && farthest.length() > STILL).then_some(along)
}

/// Whether it turns; what forces push is not asked.
fn turns(bearer: &Bearer) -> bool {
    let angles = bearer.moments.iter().map(|moment| moment.angle);
    bearer.kind != LoadKind::Force && angles.fold(0.0, f64::max) > STILL
}

/// A load is a mean since the frame before: it stands where the bearer was midway.
fn curve(
    moments: &[Moment],
    across: impl Fn(&Moment) -> f64,
    up: impl Fn(&Moment) -> f64,
) -> Vec<[f64; 2]> {
    match moments {
        [one] => vec![[across(one), up(one)]],
        _ => moments
            .windows(2)
            .map(|pair| [(across(&pair[0]) + across(&pair[1])) / 2.0, up(&pair[1])])
            .collect(),
    }
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= NAME {
        return name.to_owned();
    }
    name.chars().take(NAME - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A punch driven down by 1 mm a frame into a spring of 2 kN/m, and a floor that bears it.
    fn tables(driven: bool) -> Tables {
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
        Tables {
            history: Vec::new(),
            breaks: Vec::new(),
            fragments: Vec::new(),
            loads: (0..4).map(table).collect(),
            convergence: Vec::new(),
            packing: None,
        }
    }

    #[test]
    fn what_is_driven_has_a_curve_over_its_way() {
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
    fn where_nothing_is_driven_all_have_curves_over_time() {
        let figure = figure(&tables(false)).expect("a chart");
        let series = &figure.panels[0].series;
        assert_eq!(series.len(), 2);
        assert_eq!(series[1].name, "a floor that has a very…");
        assert_eq!(series[1].points, [[0.5, 3.0], [1.5, 3.0], [2.5, 3.0]]);
        assert_eq!(figure.x.name, "time");
    }

    #[test]
    fn what_only_turns_has_a_curve_over_its_angle() {
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
