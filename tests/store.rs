//! Integrity of a store: altered, truncated or missing files are reported; only what changed is computed
//! again; one process writes at a time; runs resume from any state, in place or in a branch.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use cullet::simulate::run_state::state::State;
use cullet::store::{Manifest, Store};
use serde_json::Value;

use crate::harness::{TestFolder, files, shot};

/// Few elements, four frames, a state at each of them, all states kept.
pub const SMALL: [&str; 5] = [
    "scale=smoke",
    "body.bunny.packing.elements=1000",
    "time.end=2.6 ms",
    "simulate.state_every=1",
    "simulate.keep_states=100",
];

/// Tables that depend only on the pipeline.
pub const TABLES: [&str; 4] = ["frames", "breaks", "fragments", "loads"];

fn arguments<'a>(bunny: &'a str, out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["run", bunny, "--out", out];
    for setting in SMALL {
        arguments.extend(["--set", setting]);
    }
    arguments.extend(more);
    arguments
}

/// Runs the bunny up to a stage.
pub fn run(folder: &TestFolder, out: &str, more: &[&str]) -> String {
    let bunny = shot("bunny_drop");
    let output = folder.output(&arguments(&bunny, out, more));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{message}");
    message
}

pub fn simulated(folder: &TestFolder, out: &str) {
    run(folder, out, &["--to", "simulate"]);
}

fn start(folder: &TestFolder, arguments: &[&str]) -> Child {
    let mut command = folder.command();
    command.args(arguments).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Waits for a file that a running process is to write.
fn await_file(child: &mut Child, path: &Path) {
    while !path.exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended too early");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A longer shot, which is still running while the test acts on it.
fn long<'a>(bunny: &'a str, out: &'a str) -> Vec<&'a str> {
    arguments(bunny, out, &["--to", "simulate", "--set", "time.end=1 s"])
}

fn flip(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn unchanged_stages_are_not_run_again() {
    let folder = TestFolder::new();
    run(&folder, "store", &[]);
    let message = run(&folder, "store", &[]);
    assert!(
        message.ends_with("nothing to do: store is up to date\n"),
        "{message}"
    );
    assert_eq!(message.matches("up to date").count(), 7, "{message}");

    let kinds = ["packing", "frames", "meshes", "preview"];
    let before = files(&folder.path("store"), &kinds);
    let message = run(&folder, "store", &["--set", "export.up=z"]);
    assert!(
        message.contains("export usd   again: export.up changed"),
        "{message}"
    );
    for stage in ["pack", "simulate", "reconstruct", "preview"] {
        assert!(
            message.contains(&format!("{stage:<12} up to date")),
            "{message}"
        );
    }
    assert!(files(&folder.path("store"), &kinds) == before);

    let message = run(
        &folder,
        "store",
        &["--set", "export.up=z", "--set", "preview.width=64"],
    );
    assert!(
        message.contains("preview      again: preview.width changed"),
        "{message}"
    );
    assert!(message.contains("export usd   up to date"), "{message}");

    // A missing file is made again, and what depends on it stays as it was.
    std::fs::remove_file(folder.path("store/meshes/000001.rkyv")).unwrap();
    let settings = ["--set", "export.up=z", "--set", "preview.width=64"];
    let message = run(&folder, "store", &settings);
    assert!(
        message.contains("reconstruct  again: meshes/000001.rkyv is missing"),
        "{message}"
    );
    assert!(message.contains("export usd   up to date"), "{message}");

    let message = run(
        &folder,
        "store",
        &[&settings[..], &["--force", "--to", "pack"]].concat(),
    );
    assert!(!message.contains("up to date"), "{message}");
    assert!(
        !folder.path("store/frames").exists(),
        "frames of another packing"
    );
}

#[test]
fn changed_stages_are_named_and_run_again() {
    let folder = TestFolder::new();
    simulated(&folder, "store");
    let message = run(
        &folder,
        "store",
        &["--to", "simulate", "--set", "material.gypsum.friction=0.1"],
    );
    assert!(message.contains("pack         up to date"), "{message}");
    assert!(
        message.contains("simulate     again: material.gypsum.friction changed"),
        "{message}"
    );
    let message = run(
        &folder,
        "store",
        &["--to", "pack", "--set", "material.gypsum.young=2 GPa"],
    );
    assert!(
        message.contains("pack         again: material.gypsum.young changed"),
        "{message}"
    );

    // The content of the mesh file counts, not its name alone.
    let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    folder.write("shape.obj", tetrahedron);
    folder.write(
        "shot.toml",
        "[time]\nend = \"1 ms\"\nframes_per_second = 1000\n[[material]]\nname = \"m\"\ndensity = 1000\nyoung = \"1 MPa\"\n\
         [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = { type = \"mesh\", file = \"shape.obj\", scale = 0.1 }\n\
         packing = { type = \"hexagonal\", radius = \"10 mm\" }\n",
    );
    let pack = ["run", "shot.toml", "--out", "mesh", "--to", "pack"];
    folder.succeed(&pack);
    folder.write("shape.obj", &tetrahedron.replace("v 0 0 1", "v 0 0 2"));
    let message = String::from_utf8(folder.output(&pack).stderr).unwrap();
    assert!(
        message.contains("again: mesh shape.obj changed"),
        "{message}"
    );
}

#[test]
fn a_flipped_byte_is_found_in_every_kind_of_file() {
    let folder = TestFolder::new();
    run(&folder, "store", &["--to", "reconstruct"]);
    let commands: [(&str, &[&str]); 9] = [
        ("packing/elements.parquet", &["simulate", "store"]),
        ("packing/bonds.parquet", &["reconstruct", "store"]),
        ("packing/shapes/0.ply", &["reconstruct", "store"]),
        ("frames/000001.parquet", &["reconstruct", "store"]),
        ("breaks/000001.parquet", &["reconstruct", "store"]),
        ("fragments/000003.parquet", &["inspect", "store"]),
        ("history/000003.parquet", &["inspect", "store"]),
        (
            "meshes/000001.rkyv",
            &["export", "store", "--format", "obj"],
        ),
        ("store.json", &["inspect", "store"]),
    ];
    for (file, command) in commands {
        let path = folder.path("store").join(file);
        let whole = std::fs::read(&path).unwrap();
        flip(&path);
        let message = folder.fail(command, 1);
        assert!(message.contains(file), "{command:?}: {message}");
        if file != "store.json" {
            // Truncated in the middle, as by an interrupted copy.
            std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
            let message = folder.fail(command, 1);
            assert!(message.contains(file), "{command:?}: {message}");
        }
        std::fs::write(&path, &whole).unwrap();
    }
    let other = "{\"schema_version\": 99}";
    let manifest = std::fs::read(folder.path("store/store.json")).unwrap();
    folder.write("store/store.json", other);
    let message = folder.fail(&["export", "store", "--format", "usd"], 2);
    assert!(
        message.contains("store.json: schema version 99; this program reads version 1"),
        "{message}"
    );
    std::fs::write(folder.path("store/store.json"), manifest).unwrap();
    folder.succeed(&["reconstruct", "store"]);
}

#[test]
fn a_missing_frame_is_named_and_made_again() {
    let folder = TestFolder::new();
    simulated(&folder, "store");
    let whole = files(&folder.path("store"), &TABLES);
    std::fs::remove_file(folder.path("store/frames/000002.parquet")).unwrap();
    let message = folder.fail(&["reconstruct", "store"], 2);
    assert!(
        message.contains("frames/000002.parquet: missing, though"),
        "{message}"
    );
    assert!(!folder.path("store/meshes").exists());
    let message = run(&folder, "store", &["--to", "simulate", "--state", "1"]);
    assert!(
        message.contains("again: frames/000002.parquet is missing"),
        "{message}"
    );
    assert!(files(&folder.path("store"), &TABLES) == whole);
}

#[test]
fn damaged_states_are_skipped_with_a_message() {
    let folder = TestFolder::new();
    simulated(&folder, "store");
    flip(&folder.path("store/state/000003.rkyv"));
    let output = folder.output(&["simulate", "store", "--resume"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{message}");
    assert!(
        message.contains("an older state was used") && message.contains("000003.rkyv"),
        "{message}"
    );
    for frame in 0..4 {
        flip(&folder.path(&format!("store/state/00000{frame}.rkyv")));
    }
    let message = folder.fail(&["simulate", "store", "--resume"], 1);
    assert!(message.contains("000003.rkyv"), "{message}");
    let message = folder.fail(&["simulate", "store", "--state", "7"], 2);
    assert!(
        message.contains("state 7 was not kept; available: 0, 1, 2, 3"),
        "{message}"
    );
}

#[test]
fn a_run_goes_on_from_any_state_with_any_threads_and_end() {
    let folder = TestFolder::new();
    simulated(&folder, "whole");
    let folders = ["frames", "breaks", "fragments", "loads", "state"];
    let whole = files(&folder.path("whole"), &folders);
    folder.succeed(&["simulate", "whole", "--state", "1", "--threads", "3"]);
    assert!(
        files(&folder.path("whole"), &folders) == whole,
        "from state 1"
    );

    run(
        &folder,
        "short",
        &[
            "--to",
            "simulate",
            "--set",
            "time.end=1 ms",
            "--threads",
            "1",
        ],
    );
    let frames = Store::at(folder.path("short")).frames(&(0..u32::MAX));
    assert_eq!(frames.unwrap(), [0, 1]);
    run(&folder, "short", &["--to", "simulate", "--resume"]);
    assert!(
        files(&folder.path("short"), &folders) == whole,
        "a longer end"
    );
}

#[test]
fn a_run_goes_on_at_another_rate_with_the_same_steps() {
    let folder = TestFolder::new();
    let step = ["--to", "simulate", "--set", "time.end=3.4 ms"];
    run(&folder, "whole", &step);
    run(
        &folder,
        "other",
        &["--to", "simulate", "--set", "time.end=0.9 ms"],
    );
    let refused = [
        &step[..],
        &["--resume", "--set", "time.frames_per_second=1000.5"],
    ]
    .concat();
    let bunny = shot("bunny_drop");
    let message = folder.fail(&arguments(&bunny, "other", &refused), 2);
    assert!(
        message.contains("1000.5: the time between frames is not a multiple"),
        "{message}"
    );
    // Every second of the remaining frames.
    run(
        &folder,
        "other",
        &[
            &step[..],
            &["--resume", "--set", "time.frames_per_second=600"],
        ]
        .concat(),
    );
    let state = |store: &str, frame: u32| {
        let mut state = State::read(&Store::at(folder.path(store)), frame).unwrap();
        state.frame = 0;
        state
    };
    assert!(
        state("other", 2) == state("whole", 3),
        "1 + 2 frames of the first rate"
    );
    let store = Store::open(folder.path("other")).unwrap();
    assert_eq!(store.frames(&(0..9)).unwrap(), [0, 1, 2]);
    let time = |frame: u32| store.read_frame(frame).unwrap().time[0];
    assert!((time(2) - time(1) - 2.0 * (time(1) - time(0))).abs() < 1e-12);
}

#[test]
fn a_branch_follows_other_physics_and_names_its_parent() {
    let folder = TestFolder::new();
    simulated(&folder, "store");
    let all = [
        "packing",
        "frames",
        "breaks",
        "fragments",
        "loads",
        "history",
        "state",
    ];
    let before = files(&folder.path("store"), &all);
    let bunny = shot("bunny_drop");
    let other = ["--to", "simulate", "--set", "material.gypsum.friction=0"];
    let in_place = [&other[..], &["--resume"]].concat();
    let message = folder.fail(&arguments(&bunny, "store", &in_place), 2);
    assert!(
        message.contains("other physics") && message.contains("--branch"),
        "{message}"
    );
    let branch = [&other[..], &["--branch", "new", "--state", "1"]].concat();
    run(&folder, "store", &branch);
    assert!(
        files(&folder.path("store"), &all) == before,
        "the parent is as it was"
    );
    let manifest = Manifest::read(&Store::open(folder.path("new")).unwrap()).unwrap();
    let parent = manifest.parent.unwrap();
    assert_eq!(
        (parent.store.as_path(), parent.frame),
        (Path::new("store"), 1)
    );
    let new = files(&folder.path("new"), &all);
    for (name, bytes) in &new {
        let same = before.get(name) == Some(bytes);
        let early = ["000000", "000001"]
            .iter()
            .any(|number| name.contains(number));
        if name.starts_with("packing") || (early && !name.starts_with("state/000000")) {
            assert!(same, "{name} is the parent's");
        }
    }
    assert!(new["frames/000003.parquet"] != before["frames/000003.parquet"]);
    // A branch can be restarted from its first frame.
    let again = ["simulate", "new", "--state", "1"];
    folder.succeed(&again);
    let tables = |store: &str| files(&folder.path(store), &TABLES);
    let first: Vec<_> = new
        .iter()
        .filter(|(name, _)| TABLES.iter().any(|kind| name.starts_with(kind)))
        .collect();
    assert!(tables("new").iter().eq(first));
    let message = folder.fail(&arguments(&bunny, "store", &branch), 2);
    assert!(
        message.contains("a store already exists there"),
        "{message}"
    );
    let solid = ["--branch", "third", "--set", "material.gypsum.young=9 GPa"];
    let message = folder.fail(&arguments(&bunny, "store", &solid), 2);
    assert!(
        message.contains("material.gypsum.young changed"),
        "{message}"
    );
    assert!(!folder.path("third").exists());
}

#[test]
fn two_processes_do_not_write_one_store_and_the_dead_hold_nothing() {
    let folder = TestFolder::new();
    let bunny = shot("bunny_drop");
    let mut child = start(&folder, &long(&bunny, "store"));
    await_file(&mut child, &folder.path("store/state/000001.rkyv"));
    for command in [
        &["simulate", "store"][..],
        &["reconstruct", "store"],
        &["pack", &bunny, "--out", "store"],
    ] {
        let message = folder.fail(command, 1);
        let wanted = format!("store: in use by cullet run, process {}", child.id());
        assert!(message.contains(&wanted), "{message}");
    }
    folder.succeed(&["inspect", "store"]);
    child.kill().unwrap();
    child.wait().unwrap();
    folder.succeed(&["simulate", "store", "--resume", "--until", "2.6 ms"]);
}

#[cfg(unix)]
#[test]
fn interrupts_end_with_a_frame_and_its_state() {
    let folder = TestFolder::new();
    simulated(&folder, "whole");
    let bunny = shot("bunny_drop");
    for (signal, out) in [("INT", "first"), ("TERM", "second")] {
        let settings = [
            "--to",
            "simulate",
            "--set",
            "time.end=1 s",
            "--set",
            "simulate.state_every=1000",
        ];
        let mut child = start(&folder, &arguments(&bunny, out, &settings));
        await_file(
            &mut child,
            &folder.path(&format!("{out}/frames/000001.parquet")),
        );
        let pid = child.id().to_string();
        let sent = std::process::Command::new("kill")
            .args(["-s", signal, &pid])
            .status();
        assert!(sent.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let store = Store::open(folder.path(out)).unwrap();
        let last = *store.frames(&(0..u32::MAX)).unwrap().last().unwrap();
        assert_eq!(
            store.numbers("state", "rkyv").unwrap(),
            [0, last],
            "SIG{signal}"
        );
        run(
            &folder,
            out,
            &[
                "--to",
                "simulate",
                "--resume",
                "--set",
                "time.end=1 s",
                "--set",
                &format!("time.end={} ms", (last + 2) as f64 / 1.2),
            ],
        );
        let frames = Store::open(folder.path(out))
            .unwrap()
            .frames(&(0..u32::MAX));
        assert_eq!(frames.unwrap().last(), Some(&(last + 2)));
        let common = [
            "frames/000001.parquet",
            "frames/000002.parquet",
            "frames/000003.parquet",
        ];
        for name in common {
            let read = |store: &str| std::fs::read(folder.path(store).join(name)).unwrap();
            assert!(read(out) == read("whole"), "{name}");
        }
    }
}

#[test]
fn store_json_records_inputs_of_stages() {
    let folder = TestFolder::new();
    simulated(&folder, "store");
    let message = folder.succeed(&["inspect", "store", "--json"]);
    let json: Value = serde_json::from_str(&message).unwrap();
    let simulate = &json["stages"]["simulate"];
    assert_eq!(simulate["settings"]["material"][0]["friction"], 0.5);
    assert!(simulate["inputs"]["packing"].is_string(), "{simulate}");
}

/// Copies a folder with all its content.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

#[test]
fn a_store_of_version_1_is_read_and_goes_on() {
    let folder = TestFolder::new();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stores/v1");
    copy(&kept, &folder.path("store"));
    let message = folder.succeed(&["inspect", "store", "--validate"]);
    assert!(message.starts_with("valid: "), "{message}");
    let store = Store::open(folder.path("store")).unwrap();
    assert_eq!(store.frames(&(0..9)).unwrap(), [0, 1, 2, 3]);
    let broken: usize = (0..4)
        .map(|k| store.read_breaks(k).unwrap().bond.len())
        .sum();
    assert_eq!(store.read_history(3).unwrap().broken[0] as usize, broken);
    assert!(broken > 0);
    folder.succeed(&["export", "store", "--format", "obj"]);
    folder.succeed(&[
        "simulate",
        "store",
        "--resume",
        "--backend",
        "cpu",
        "--until",
        "1 ms",
    ]);
    folder.succeed(&["reconstruct", "store"]);
    folder.succeed(&["export", "store", "--format", "usd"]);
    let frames = Store::open(folder.path("store")).unwrap().frames(&(0..9));
    assert_eq!(frames.unwrap(), [0, 1, 2, 3, 4, 5]);
}
