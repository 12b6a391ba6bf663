//! Stores of other programs: a table with an error is reported with file, column and row, never as a panic.

use cullet::columns::{Breaks, Sleep, SleepEvent, SleepReason};
use cullet::store::{Manifest, Store};

use crate::foreign_stores::{
    ELEMENTS, INSPECT, PREVIEW, RECONSTRUCT, VTK, change_frame, change_packing, changed_store,
    check_wrong_store, findings, sound_store, survives,
};

#[test]
fn a_sound_store_is_valid() {
    let folder = changed_store(|_| ());
    assert_eq!(findings(&folder), [""; 0]);
    let message = folder.succeed(&["inspect", "store", "--validate", "--json"]);
    assert_eq!(message.trim(), "[]");
    assert!(survives(&folder).is_empty());
    let message = folder.refuse(&["inspect", "nowhere", "--validate"]);
    assert!(message.contains("store.json"), "{message}");
}

#[test]
fn checksums_are_compared_with_the_files() {
    let folder = changed_store(|store| {
        let path = store.numbered("history", 1, "parquet");
        let sums = store
            .checksums_of(&[&path, &store.numbered("frames", 0, "parquet")])
            .unwrap();
        let list = |manifest: &mut Manifest| {
            manifest.files = sums;
            let sum = manifest.files["history/000001.parquet"];
            manifest
                .files
                .insert("frames/000009.parquet".to_owned(), sum);
        };
        Manifest::update(store, list).unwrap();
        store
            .write_numbered("history", 1, &store.read_history(2).unwrap())
            .unwrap();
    });
    let found = findings(&folder);
    for (file, part) in [
        ("history/000001.parquet", "store.json"),
        (
            "history/000001.parquet",
            "column frame, row 0: is 2; the file is number 1",
        ),
        ("frames/000009.parquet", "missing; store.json lists it"),
    ] {
        let is_expected = |line: &&String| line.starts_with(file) && line.contains(part);
        assert!(
            found.iter().any(|line| is_expected(&line)),
            "{file}: {part} is not in {found:#?}"
        );
    }
    let folder = changed_store(|store| std::fs::write(store.path("store.json"), "{}").unwrap());
    let message = "store.json: no schema_version; this program reads version 1";
    assert_eq!(findings(&folder), [message]);
}

#[test]
fn packings_that_are_wrong() {
    let elements = sound_elements();
    check_wrong_store(
        &format!(
            "packing/bonds.parquet: column j, row 3: is element 9999; the packing has {elements} elements"
        ),
        &[RECONSTRUCT, VTK],
        |store| change_packing(store, |p| p.bonds.j[3] = 9999),
    );
    check_wrong_store(
        "packing/elements.parquet: column id, row 0: is 1; ids are the row numbers",
        &[RECONSTRUCT, VTK, ELEMENTS, PREVIEW, INSPECT],
        |store| change_packing(store, |p| p.elements.id.swap(0, 1)),
    );
    check_wrong_store(
        "packing/elements.parquet: column r, row 2: is 0 m; it must be above 0",
        &[RECONSTRUCT, VTK, ELEMENTS, PREVIEW],
        |store| change_packing(store, |p| p.elements.r[2] = 0.0),
    );
    check_wrong_store(
        "packing/elements.parquet: column x, row 5: is not finite",
        &[RECONSTRUCT],
        |store| change_packing(store, |p| p.elements.x[5] = f64::NAN),
    );
    check_wrong_store(
        "packing/bonds.parquet: column id, row 0: is 7; ids are the row numbers",
        &[RECONSTRUCT, VTK],
        |store| change_packing(store, |p| p.bonds.id[0] = 7),
    );
    check_wrong_store(
        "packing/bonds.parquet: column l0, row 1: is -1 m; it must be above 0",
        &[RECONSTRUCT, VTK],
        |store| change_packing(store, |p| p.bonds.l0[1] = -1.0),
    );
    check_wrong_store(
        "packing/bonds.parquet: row 4: joins 0 and 1, as bond 0 does",
        &[],
        |store| {
            change_packing(store, |p| {
                for bond in [0, 4] {
                    (p.bonds.i[bond], p.bonds.j[bond]) = (0, 1);
                }
            })
        },
    );
    check_wrong_store(
        "packing/bonds.parquet: column dx, row 0: begins a vector of length 0.000000; it must be 1",
        &[RECONSTRUCT],
        |store| {
            change_packing(store, |p| {
                (p.bonds.dx[0], p.bonds.dy[0], p.bonds.dz[0]) = (0.0, 0.0, 0.0);
            })
        },
    );
}

fn sound_elements() -> usize {
    Store::at(sound_store()).read_elements().unwrap().id.len()
}

#[test]
fn frames_that_are_wrong() {
    let elements = sound_elements();
    let all = [RECONSTRUCT, VTK, ELEMENTS, PREVIEW];
    check_wrong_store(
        &format!("frames/000001.parquet: 10 rows; the packing has {elements} elements"),
        &all,
        |store| {
            let table = store.read_frame(1).unwrap();
            let short = first_rows(&table, 10);
            store.write_numbered("frames", 1, &short).unwrap();
        },
    );
    check_wrong_store(
        "frames/000001.parquet: column id, row 3: is 4; ids are the row numbers",
        &all,
        |store| change_frame(store, |f| f.id.swap(3, 4)),
    );
    check_wrong_store(
        "frames/000001.parquet: column y, row 6: is not finite",
        &all,
        |store| change_frame(store, |f| f.y[6] = f32::NAN),
    );
    check_wrong_store(
        "frames/000001.parquet: column frame, row 2: is 5; the file is number 1",
        &all,
        |store| change_frame(store, |f| f.frame[2] = 5),
    );
    check_wrong_store(
        "frames/000001.parquet: column qx, row 1: begins a vector of length 0.000000; it must be 1",
        &[RECONSTRUCT],
        |store| {
            change_frame(store, |f| {
                for column in [&mut f.qx, &mut f.qy, &mut f.qz, &mut f.qw] {
                    column[1] = 0.0;
                }
            })
        },
    );
    check_wrong_store(
        "frames/000001.parquet: column time, row 0: is 0 s; frame 0 is at 0 s: times must rise",
        &[],
        |store| change_frame(store, |f| f.time.fill(0.0)),
    );
    check_wrong_store(
        "frames/000001.parquet: column time, row 1: is 7 s; row 0 is at 0.001 s",
        &[],
        |store| {
            change_frame(store, |f| {
                f.time.fill(0.001);
                f.time[1] = 7.0;
            })
        },
    );
}

fn first_rows(table: &cullet::columns::Frames, rows: usize) -> cullet::columns::Frames {
    use cullet::columns::{Frames, Table};
    let mut short = Frames::default();
    for at in 0..Frames::columns().len() {
        short.append(at, table.array(at, 0..rows).as_ref(), &mut |_, what| {
            panic!("{what}")
        });
    }
    short
}

#[test]
fn breaks_and_fragments_that_are_wrong() {
    let breaks = |store: &Store, change: fn(&mut Breaks)| {
        let mut breaks = store.read_breaks(1).unwrap();
        change(&mut breaks);
        store.write_numbered("breaks", 1, &breaks).unwrap();
    };
    let bonds = Store::at(sound_store()).bond_count().unwrap();
    check_wrong_store(
        &format!(
            "breaks/000001.parquet: column bond, row 0: is 1000000; the packing has {bonds} bonds"
        ),
        &[RECONSTRUCT, VTK, INSPECT],
        |store| {
            breaks(store, |b| b.bond[0] = 1_000_000);
            store.clear(&["history", "fragments"]).unwrap();
        },
    );
    let first = Store::at(sound_store()).read_breaks(1).unwrap();
    let (i, j) = (first.i[0], first.j[0]);
    check_wrong_store(
        &format!(
            "breaks/000001.parquet: column i, row 0: is 77 and j is {j}; bond 0 joins {i} and {j}"
        ),
        &[],
        |store| breaks(store, |b| b.i[0] = 77),
    );
    check_wrong_store(
        "breaks/000002.parquet: column bond, row 0: is 0, which broke in frame 1",
        &[],
        |store| {
            let mut again = store.read_breaks(1).unwrap();
            again.frame[0] = 2;
            store.write_numbered("breaks", 2, &again).unwrap();
        },
    );
    let fragments = |store: &Store, change: fn(&mut cullet::columns::Fragments)| {
        let mut fragments = store.read_fragments(2).unwrap();
        change(&mut fragments);
        store.write_numbered("fragments", 2, &fragments).unwrap();
    };
    let elements = sound_elements();
    check_wrong_store(
        &format!(
            "fragments/000002.parquet: column elements, row 0: is 1; {elements} carry the label"
        ),
        &[],
        |store| fragments(store, |f| f.elements[0] = 1),
    );
    check_wrong_store(
        "fragments/000002.parquet: column fragment, row 0: is 9, which no element of the frame carries",
        &[],
        |store| fragments(store, |f| f.fragment[0] = 9),
    );
    check_wrong_store(
        "history/000000.parquet: column frame, row 0: is 3; the file is number 0",
        &[],
        |store| {
            let mut history = store.read_history(0).unwrap();
            history.frame[0] = 3;
            store.write_numbered("history", 0, &history).unwrap();
        },
    );
    check_wrong_store(
        "loads/000002.parquet: column fy, row 0: is not finite",
        &[],
        |store| {
            let mut loads = store.read_loads(2).unwrap();
            loads.fy[0] = f64::NAN;
            store.write_numbered("loads", 2, &loads).unwrap();
        },
    );
}

#[test]
fn events_of_sleep_that_are_wrong() {
    let events = |store: &Store, change: fn(&mut Sleep)| {
        let mut sleep = Sleep {
            frame: vec![1; 2],
            time: vec![0.0005, 0.001],
            step: vec![1, 2],
            fragment: vec![0; 2],
            elements: vec![1; 2],
            what: vec![SleepEvent::Asleep, SleepEvent::Awake],
            reason: vec![SleepReason::Calm, SleepReason::Impact],
            use_of_strength: vec![0.0, 1.5],
            energy: vec![1e-9, 0.0],
        };
        change(&mut sleep);
        store.write_numbered("sleep", 1, &sleep).unwrap();
    };
    let sound = changed_store(|store| events(store, |_| ()));
    assert_eq!(findings(&sound), [""; 0]);
    type Change = fn(&mut Sleep);
    let wrong: [(&str, Change); 5] = [
        ("column frame, row 1: is 2; the file is number 1", |s| {
            s.frame[1] = 2
        }),
        ("column time, row 0: is not finite", |s| {
            s.time[0] = f64::NAN
        }),
        (
            "column step, row 1: is 0, after 1; steps must not fall",
            |s| s.step[1] = 0,
        ),
        (
            "column use_of_strength, row 0: is -1; it must be at least 0",
            |s| s.use_of_strength[0] = -1.0,
        ),
        ("column energy, row 1: is not finite", |s| {
            s.energy[1] = f64::INFINITY
        }),
    ];
    for (what, change) in wrong {
        let folder = changed_store(|store| events(store, change));
        assert_eq!(findings(&folder), [format!("sleep/000001.parquet: {what}")]);
    }
}
