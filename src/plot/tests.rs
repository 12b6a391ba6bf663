use super::*;
use crate::columns::{BreakMode, Breaks, Fragments, History, LoadKind, Loads};

/// A store with tables of the given kinds for `frames` frames; in each frame after the first, one bond breaks
/// and one fragment comes off.
fn store(folder: &Path, frames: u32, kinds: &[&str]) -> Store {
    let store = Store::at(folder);
    for frame in 0..frames {
        let time = f64::from(frame) * 1e-3;
        for kind in kinds {
            let written = match *kind {
                "history" => store.write_numbered(kind, frame, &history(frame, time)),
                "breaks" => store.write_numbered(kind, frame, &broken(frame, time)),
                "loads" => store.write_numbered(kind, frame, &loads(frame, time)),
                _ => store.write_numbered(kind, frame, &pieces(frame, time)),
            };
            written.expect("written");
        }
    }
    store
}

fn history(frame: u32, time: f64) -> History {
    let one = |value: f64| vec![value];
    History {
        frame: vec![frame],
        time: one(time),
        step: vec![0],
        dt: one(1e-6),
        kinetic: one(2.0 - time),
        rotational: one(0.1),
        gravity: one(0.5),
        bond: one(time * 20.0),
        contact: one(0.0),
        damping: one(time),
        friction: one(0.0),
        breaking: vec![],
        rigidified: vec![],
        held: vec![],
        solves: vec![],
        newton: vec![],
        gradients: vec![],
        px: one(0.0),
        py: one(0.0),
        pz: one(0.0),
        lx: one(0.0),
        ly: one(0.0),
        lz: one(0.0),
        broken: vec![frame],
        fragments: vec![frame + 1],
        awake: vec![],
        contacts: vec![0],
        outside: vec![0],
        seconds: one(0.5),
    }
}

fn broken(frame: u32, time: f64) -> Breaks {
    let rows = frame.min(1) as usize;
    let zeros = || vec![0.0; rows];
    let mode = [BreakMode::Tension, BreakMode::Shear][frame as usize % 2];
    Breaks {
        frame: vec![frame; rows],
        time: vec![time - 4e-4; rows],
        step: vec![1; rows],
        bond: vec![frame; rows],
        i: vec![0; rows],
        j: vec![1; rows],
        mode: vec![mode; rows],
        sigma: zeros(),
        tau: zeros(),
        energy: zeros(),
        x: zeros(),
        y: zeros(),
        z: zeros(),
        nix: zeros(),
        niy: zeros(),
        niz: zeros(),
        njx: zeros(),
        njy: zeros(),
        njz: zeros(),
    }
}

fn pieces(frame: u32, time: f64) -> Fragments {
    let rows = frame as usize + 1;
    let zeros = || vec![0.0; rows];
    Fragments {
        frame: vec![frame; rows],
        time: vec![time; rows],
        fragment: (0..=frame).collect(),
        body: vec![0; rows],
        elements: vec![1; rows],
        mass: (0..rows).map(|k| 1e-3 / (k + 1) as f64).collect(),
        volume: zeros(),
        area: zeros(),
        x: zeros(),
        y: zeros(),
        z: zeros(),
        vx: zeros(),
        vy: zeros(),
        vz: zeros(),
        min_x: zeros(),
        min_y: zeros(),
        min_z: zeros(),
        max_x: zeros(),
        max_y: zeros(),
        max_z: zeros(),
    }
}

/// A punch that is driven down.
fn loads(frame: u32, time: f64) -> Loads {
    let one = |value: f64| vec![value];
    Loads {
        frame: vec![frame],
        time: one(time),
        kind: vec![LoadKind::Collider],
        index: vec![0],
        name: vec!["punch".into()],
        fx: one(0.0),
        fy: one(300.0 * time),
        fz: one(0.0),
        tx: one(0.0),
        ty: one(0.0),
        tz: one(0.0),
        x: one(0.0),
        y: one(-time),
        z: one(0.0),
        dx: one(0.0),
        dy: one(-time),
        dz: one(0.0),
        angle: one(0.0),
        contacts: vec![1],
    }
}

const KINDS: [&str; 4] = ["history", "breaks", "fragments", "loads"];

/// Messages for a store without a packing and without a comparison of methods.
const PACKING: [&str; 4] = [
    "convergence needs convergence/*.parquet",
    "packing_distances needs packing/elements.parquet",
    "packing_bonds needs packing/bonds.parquet",
    "packing_directions needs packing/bonds.parquet",
];

fn all(store: &Store) -> Result<PlotSummary, PlotError> {
    run(store, &(0..u32::MAX), &ChartFormat::ALL, None)
}

#[test]
fn every_chart_in_both_formats_with_the_same_bytes_twice() {
    let folder = tempfile::tempdir().expect("folder");
    let store = store(folder.path(), 6, &KINDS);
    let summary = all(&store).expect("drawn");
    assert_eq!(summary.absent, PACKING);
    let names = ["energy", "breaks", "fragments", "loads"];
    let wanted = names.map(|name| ["svg", "png"].map(|end| format!("plots/{name}.{end}")));
    let wanted: Vec<PathBuf> = wanted.iter().flatten().map(|f| store.path(f)).collect();
    assert_eq!(summary.files, wanted);
    let bytes = || {
        let read = |path: &PathBuf| std::fs::read(path).expect("there");
        wanted.iter().map(read).collect::<Vec<_>>()
    };
    let first = bytes();
    all(&store).expect("drawn again");
    assert!(first == bytes());
    let energy = String::from_utf8(first[0].clone()).expect("text");
    for word in ["time (ms)", "energy (J)", "rotational", "stroke-dasharray"] {
        assert!(energy.contains(word), "{word}");
    }
    let breaks = String::from_utf8(first[2].clone()).expect("text");
    for word in ["tension", "shear", "breaks per ms"] {
        assert!(breaks.contains(word), "{word}");
    }
}

#[test]
fn a_store_of_one_frame_and_no_break_has_charts() {
    let folder = tempfile::tempdir().expect("folder");
    let summary = all(&store(folder.path(), 1, &KINDS)).expect("drawn");
    assert_eq!(summary.files.len(), 8);
}

#[test]
fn charts_without_tables_are_reported_and_no_chart_is_an_error() {
    let folder = tempfile::tempdir().expect("folder");
    let some = store(folder.path(), 3, &["fragments"]);
    let summary = all(&some).expect("drawn");
    assert_eq!(summary.files.len(), 2);
    assert_eq!(
        summary.absent,
        [
            "energy needs history/*.parquet",
            "breaks needs breaks/*.parquet",
            "loads needs loads/*.parquet"
        ]
        .into_iter()
        .chain(PACKING)
        .collect::<Vec<_>>()
    );
    let error = run(&some, &(7..9), &ChartFormat::ALL, None).expect_err("no frame");
    let text = error.to_string();
    assert!(
        text.contains("7..9") && text.contains("fragments/*.parquet"),
        "{text}"
    );
}

#[test]
fn energy_that_sleep_takes_has_a_curve_and_counts_in_the_sum() {
    let drawn = |rigidified: Vec<f64>| {
        let tables = ChartTables {
            history: vec![History {
                breaking: vec![0.25],
                rigidified,
                ..history(1, 1e-3)
            }],
            breaks: vec![],
            fragments: vec![],
            loads: vec![],
            convergence: vec![],
            packing: None,
        };
        let figure = energy::figure(&tables).expect("a chart");
        figure.panels.into_iter().next().expect("a panel").series
    };
    let (without, with) = (drawn(vec![]), drawn(vec![0.5]));
    let last = |series: &[Series]| series.last().expect("a curve").points[0][1];
    assert!((last(&with) - last(&without) - 0.5).abs() < 1e-12);
    let sleep = &with[with.len() - 2];
    assert_eq!(sleep.name, "dissipated by sleep");
    assert_eq!(sleep.points, [[1e-3, 0.5]]);
    let others = with.iter().filter(|one| one.name != sleep.name);
    assert!(others.clone().all(|one| one.colour != sleep.colour));
    assert!(
        others
            .map(|one| &one.name)
            .eq(without.iter().map(|one| &one.name))
    );
}
