//! Stores of other programs: optional parts may be missing, and an error is reported with file, column and
//! row, never as a panic.

use std::path::Path;
use std::sync::OnceLock;

use cullet::columns::{BreakMode, Breaks, Sleep, SleepEvent, SleepReason};
use cullet::store::{Manifest, Store};
use serde_json::Value;

use crate::harness::TestFolder;

const PIPELINE: &str = "[time]\nend = \"2 ms\"\nframes_per_second = 1000\n\n[[material]]\nname = \"m\"\ndensity = \"1000 kg/m^3\"\nyoung = \"1 MPa\"\n\n\
    [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = { type = \"box\", size = [0.01, 0.008, 0.008] }\n\
    packing = { type = \"hexagonal\", radius = \"1 mm\" }\nspin = [0, 3, 0]\n\n\
    [[collider]]\nname = \"floor\"\nshape = { type = \"half_space\", normal = [0, 1, 0] }\nposition = [0, -1, 0]\n";

/// A simulated box with surfaces, in which the first bond is marked as broken; made once.
fn sound_store() -> &'static Path {
    static STORE: OnceLock<TestFolder> = OnceLock::new();
    let folder = STORE.get_or_init(|| {
        let folder = TestFolder::new();
        folder.write("shot.toml", PIPELINE);
        folder.succeed(&["run", "shot.toml", "--out", "store", "--to", "simulate"]);
        let store = Store::at(folder.path("store"));
        let bonds = store.read_packing().unwrap().bonds;
        let time = store.read_frame(1).unwrap().time[0];
        let breaks = Breaks {
            frame: vec![1],
            time: vec![time],
            step: vec![1],
            bond: vec![0],
            i: vec![bonds.i[0]],
            j: vec![bonds.j[0]],
            mode: vec![BreakMode::Shear],
            sigma: vec![1.0],
            tau: vec![2.0],
            energy: vec![1e-6],
            x: vec![0.0],
            y: vec![0.0],
            z: vec![0.0],
            nix: vec![1.0],
            niy: vec![0.0],
            niz: vec![0.0],
            njx: vec![-1.0],
            njy: vec![0.0],
            njz: vec![0.0],
        };
        let sums = |manifest: &mut Manifest| {
            manifest.files.remove("breaks/000001.parquet");
        };
        Manifest::update(&store, sums).unwrap();
        store.write_numbered("breaks", 1, &breaks).unwrap();
        folder.succeed(&["reconstruct", "store"]);
        // Without checksums: the tests change files on purpose.
        let clear = |manifest: &mut Manifest| manifest.files.clear();
        Manifest::update(&store, clear).unwrap();
        folder
    });
    Box::leak(folder.path("store").into_boxed_path())
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

/// A copy of the sound store after `change`.
fn changed_store(change: impl FnOnce(&Store)) -> TestFolder {
    let folder = TestFolder::new();
    copy(sound_store(), &folder.path("store"));
    change(&Store::at(folder.path("store")));
    folder
}

pub const RECONSTRUCT: &[&str] = &["reconstruct", "store"];
const VTK: &[&str] = &["export", "store", "--format", "vtk"];
const ELEMENTS: &[&str] = &["export", "store", "--format", "usd-elements"];
const USD: &[&str] = &["export", "store", "--format", "usd"];
const PREVIEW: &[&str] = &["preview", "store"];
const INSPECT: &[&str] = &["inspect", "store"];
pub const ALL: [&[&str]; 10] = [
    INSPECT,
    USD,
    &["export", "store", "--format", "glb"],
    &["export", "store", "--format", "glb-animated"],
    &["export", "store", "--format", "obj"],
    &["export", "store", "--format", "ply"],
    ELEMENTS,
    VTK,
    PREVIEW,
    RECONSTRUCT,
];

/// Runs every command that reads a store: each succeeds, or refuses with one message. Returns the messages of
/// those that refuse.
pub fn survives(folder: &TestFolder) -> Vec<(String, String)> {
    let mut refusals = Vec::new();
    for arguments in ALL {
        let output = folder.output(arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        match output.status.code() {
            Some(0) => {}
            Some(code @ (1 | 2)) => {
                let messages = error.lines().filter(|line| line.starts_with("cullet: "));
                assert_eq!(messages.count(), 1, "{arguments:?}: {error}");
                // An archive whose own checksum differs is a failure, not invalid input.
                assert_eq!(
                    code == 1,
                    error.contains("checksum"),
                    "{arguments:?}: {error}"
                );
                refusals.push((arguments.join(" "), error));
            }
            code => panic!("{arguments:?} ended with {code:?}: {error}"),
        }
    }
    refusals
}

/// The findings of `inspect --validate`.
pub fn findings(folder: &TestFolder) -> Vec<String> {
    let output = folder.output(&["inspect", "store", "--validate"]);
    let message = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<String> = message.lines().map(str::to_owned).collect();
    match output.status.code() {
        Some(0) => {
            assert!(
                lines.len() == 1 && lines[0].starts_with("valid: "),
                "{message}"
            );
            Vec::new()
        }
        Some(1) => lines,
        code => panic!("validation ended with {code:?}: {message}"),
    }
}

/// Tests a store with one error: validation reports it, the commands `refusing` refuse, the others succeed or
/// refuse with one message.
fn check_wrong_store(finding: &str, refusing: &[&[&str]], change: impl FnOnce(&Store)) {
    let folder = changed_store(change);
    let found = findings(&folder);
    assert!(
        found.iter().any(|line| line == finding),
        "{finding:?} is not in {found:#?}"
    );
    // The stores have no surfaces, so that pictures are drawn from the elements.
    for frame in 0..3 {
        let _ = std::fs::remove_file(folder.path(&format!("store/meshes/{frame:06}.rkyv")));
    }
    let refusals = survives(&folder);
    let (file, what) = finding.split_once(": ").unwrap();
    for arguments in refusing {
        let refusal = refusals
            .iter()
            .find(|(command, _)| *command == arguments.join(" "));
        let (_, message) =
            refusal.unwrap_or_else(|| panic!("{arguments:?} does not refuse: {finding}"));
        assert!(
            message.contains(file) && message.contains(what),
            "{finding}: {message}"
        );
    }
}

fn change_packing(store: &Store, change: impl FnOnce(&mut cullet::store::Packing)) {
    let mut packing = store.read_packing().unwrap();
    change(&mut packing);
    store.write_packing(&packing).unwrap();
}

fn change_frame(store: &Store, change: impl FnOnce(&mut cullet::columns::Frames)) {
    let mut frame = store.read_frame(1).unwrap();
    change(&mut frame);
    store.write_numbered("frames", 1, &frame).unwrap();
}

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

#[test]
fn files_that_are_damaged_or_missing() {
    let cut = |name: &'static str| {
        move |store: &Store| {
            let bytes = std::fs::read(store.path(name)).unwrap();
            std::fs::write(store.path(name), &bytes[..bytes.len() / 2]).unwrap();
        }
    };
    for name in [
        "packing/elements.parquet",
        "packing/bonds.parquet",
        "frames/000001.parquet",
    ] {
        let folder = changed_store(cut(name));
        let found = findings(&folder);
        assert!(
            found[0].starts_with(&format!("{name}: not a readable Parquet file")),
            "{found:?}"
        );
        let refusals = survives(&folder);
        let refusal = refusals
            .iter()
            .find(|(command, _)| command == "reconstruct store");
        assert!(refusal.unwrap().1.contains(name), "{refusals:?}");
    }
    let folder =
        changed_store(|store| std::fs::remove_file(store.path("packing/bonds.parquet")).unwrap());
    assert_eq!(findings(&folder), ["packing/bonds.parquet: missing"]);
    assert!(!survives(&folder).is_empty());

    let folder = changed_store(|store| {
        let path = store.path("meshes/000001.rkyv");
        let mut bytes = std::fs::read(&path).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        std::fs::copy(
            store.path("meshes/000000.rkyv"),
            store.path("meshes/000002.rkyv"),
        )
        .unwrap();
        for number in store.numbers("state", "rkyv").unwrap() {
            std::fs::write(store.numbered("state", number, "rkyv"), b"state").unwrap();
        }
        std::fs::rename(
            store.path("frames/000000.parquet"),
            store.path("frames/0.parquet"),
        )
        .unwrap();
        std::fs::write(
            store.path("packing/shapes/0.ply"),
            "ply\nformat ascii 1.0\n",
        )
        .unwrap();
        std::fs::copy(
            store.path("packing/shapes/0.ply"),
            store.path("packing/shapes/4.ply"),
        )
        .unwrap();
    });
    let found = findings(&folder);
    for (start, part) in [
        ("meshes/000001.rkyv: ", "checksum"),
        (
            "meshes/000002.rkyv: ",
            "holds frame 0; the file is number 2",
        ),
        ("state/", "truncated"),
        ("frames/0.parquet: ", "not named like frames/000012.parquet"),
        ("packing/shapes/0.ply: ", ""),
        ("packing/shapes/4.ply: ", "there are 1 bodies"),
    ] {
        let is_found = found
            .iter()
            .any(|line| line.starts_with(start) && line.contains(part));
        assert!(is_found, "{start}{part} is not in {found:#?}");
    }
    let refusals = survives(&folder);
    assert!(
        refusals
            .iter()
            .any(|(command, _)| command == "export store --format usd")
    );
    assert!(
        refusals
            .iter()
            .any(|(_, message)| message.contains("skin of body 0"))
    );
}

#[test]
fn optional_parts_of_a_store_may_be_missing() {
    // Neither pipeline nor shapes nor anything else that only `simulate` writes for its own use.
    let folder = changed_store(|store| {
        let kinds = ["history", "fragments", "loads", "state", "meshes", "breaks"];
        store
            .clear(&[&kinds[..], &["packing/shapes"]].concat())
            .unwrap();
        let manifest =
            r#"{"schema_version": 1, "units": "SI", "coordinates": "right-handed, y up, metres"}"#;
        std::fs::write(store.path("store.json"), manifest).unwrap();
    });
    assert_eq!(findings(&folder), [""; 0]);
    folder.succeed(RECONSTRUCT);
    for arguments in ALL {
        folder.succeed(arguments);
    }
    let json: Value =
        serde_json::from_str(&folder.succeed(&["inspect", "store", "--json"])).unwrap();
    assert_eq!(
        (&json["last"]["fragments"], &json["last"]["frame"]),
        (&1.into(), &2.into())
    );

    // A body may have any id, and tables may be empty.
    let folder = changed_store(|store| change_packing(store, |p| p.elements.body.fill(u32::MAX)));
    assert!(survives(&folder).is_empty());
    let folder = changed_store(|store| store.write_packing(&Default::default()).unwrap());
    assert!(findings(&folder).contains(&"packing/elements.parquet: no elements".to_owned()));
    assert!(!survives(&folder).is_empty());
}

#[test]
fn findings_are_all_reported_up_to_a_limit_per_file() {
    let folder = changed_store(|store| {
        change_packing(store, |p| p.elements.r[..50].fill(-1.0));
        change_frame(store, |f| f.z[9] = f32::INFINITY);
    });
    let found = findings(&folder);
    let first = "packing/elements.parquet: column r, row 0: is -1 m; it must be above 0";
    assert_eq!((found.len(), &found[0][..]), (22, first));
    assert_eq!(found[20], "packing/elements.parquet: and 30 more");
    assert_eq!(
        found[21],
        "frames/000001.parquet: column z, row 9: is not finite"
    );
    let output = folder.output(&["inspect", "store", "--validate", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let last = &json.as_array().unwrap()[21];
    let expected = serde_json::json!({
        "file": "frames/000001.parquet", "column": "z", "row": 9, "what": "is not finite",
    });
    assert_eq!(last, &expected);
    for threads in ["1", "3"] {
        let again = folder.output(&[
            "inspect",
            "store",
            "--validate",
            "--json",
            "--threads",
            threads,
        ]);
        assert!(again.stdout == output.stdout, "{threads} threads");
    }
}
