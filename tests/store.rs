//! A store one can trust: what is altered, cut short or gone is named; what changed is done again and nothing
//! else; one writer at a time; runs go on from any state, in place or in a branch.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use cullet::simulate::run_state::state::State;
use cullet::store::{Manifest, Store};
use serde_json::Value;

use crate::harness::{Place, files, shot};

/// Few elements, four frames, a state with each and all of them kept.
const SMALL: [&str; 5] = [
    "scale=smoke",
    "body.bunny.packing.elements=1000",
    "time.end=2.6 ms",
    "simulate.state_every=1",
    "simulate.keep_states=100",
];

/// Tables that depend on nothing but the pipeline.
const TABLES: [&str; 4] = ["frames", "breaks", "fragments", "loads"];

fn arguments<'a>(bunny: &'a str, out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["run", bunny, "--out", out];
    for setting in SMALL {
        arguments.extend(["--set", setting]);
    }
    arguments.extend(more);
    arguments
}

/// Runs the bunny up to a stage.
fn run(place: &Place, out: &str, more: &[&str]) -> String {
    let bunny = shot("bunny_drop");
    let output = place.output(&arguments(&bunny, out, more));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{told}");
    told
}

fn simulated(place: &Place, out: &str) {
    run(place, out, &["--to", "simulate"]);
}

fn start(place: &Place, arguments: &[&str]) -> Child {
    let mut command = place.command();
    command.args(arguments).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Waits for a file, which a running process is to write.
fn await_file(child: &mut Child, path: &Path) {
    while !path.exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended too early");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A longer shot, which is still running when something is done to it.
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
fn what_did_not_change_is_not_done_again() {
    let place = Place::new();
    run(&place, "store", &[]);
    let told = run(&place, "store", &[]);
    assert!(
        told.ends_with("nothing to do: store is up to date\n"),
        "{told}"
    );
    assert_eq!(told.matches("up to date").count(), 7, "{told}");

    let kinds = ["packing", "frames", "meshes", "preview"];
    let before = files(&place.path("store"), &kinds);
    let told = run(&place, "store", &["--set", "export.up=z"]);
    assert!(
        told.contains("export usd   again: export.up changed"),
        "{told}"
    );
    for stage in ["pack", "simulate", "reconstruct", "preview"] {
        assert!(told.contains(&format!("{stage:<12} up to date")), "{told}");
    }
    assert!(files(&place.path("store"), &kinds) == before);

    let told = run(
        &place,
        "store",
        &["--set", "export.up=z", "--set", "preview.width=64"],
    );
    assert!(
        told.contains("preview      again: preview.width changed"),
        "{told}"
    );
    assert!(told.contains("export usd   up to date"), "{told}");

    // What is gone is made again, and what follows from it is as it was.
    std::fs::remove_file(place.path("store/meshes/000001.rkyv")).unwrap();
    let settings = ["--set", "export.up=z", "--set", "preview.width=64"];
    let told = run(&place, "store", &settings);
    assert!(
        told.contains("reconstruct  again: meshes/000001.rkyv is missing"),
        "{told}"
    );
    assert!(told.contains("export usd   up to date"), "{told}");

    let told = run(
        &place,
        "store",
        &[&settings[..], &["--force", "--to", "pack"]].concat(),
    );
    assert!(!told.contains("up to date"), "{told}");
    assert!(
        !place.path("store/frames").exists(),
        "frames of another packing"
    );
}

#[test]
fn what_changed_is_named_and_done_again() {
    let place = Place::new();
    simulated(&place, "store");
    let told = run(
        &place,
        "store",
        &["--to", "simulate", "--set", "material.gypsum.friction=0.1"],
    );
    assert!(told.contains("pack         up to date"), "{told}");
    assert!(
        told.contains("simulate     again: material.gypsum.friction changed"),
        "{told}"
    );
    let told = run(
        &place,
        "store",
        &["--to", "pack", "--set", "material.gypsum.young=2 GPa"],
    );
    assert!(
        told.contains("pack         again: material.gypsum.young changed"),
        "{told}"
    );

    // The mesh itself counts, not its name alone.
    let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    place.write("shape.obj", tetrahedron);
    place.write(
        "shot.toml",
        "[time]\nend = \"1 ms\"\nframes_per_second = 1000\n[[material]]\nname = \"m\"\ndensity = 1000\nyoung = \"1 MPa\"\n\
         [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = { type = \"mesh\", file = \"shape.obj\", scale = 0.1 }\n\
         packing = { type = \"hexagonal\", radius = \"10 mm\" }\n",
    );
    let pack = ["run", "shot.toml", "--out", "mesh", "--to", "pack"];
    place.succeed(&pack);
    place.write("shape.obj", &tetrahedron.replace("v 0 0 1", "v 0 0 2"));
    let told = String::from_utf8(place.output(&pack).stderr).unwrap();
    assert!(told.contains("again: mesh shape.obj changed"), "{told}");
}

#[test]
fn a_flipped_byte_is_found_in_every_kind_of_file() {
    let place = Place::new();
    run(&place, "store", &["--to", "reconstruct"]);
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
        let path = place.path("store").join(file);
        let whole = std::fs::read(&path).unwrap();
        flip(&path);
        let told = place.fail(command, 1);
        assert!(told.contains(file), "{command:?}: {told}");
        if file != "store.json" {
            // Cut off in the middle, as by a copy that was stopped.
            std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
            let told = place.fail(command, 1);
            assert!(told.contains(file), "{command:?}: {told}");
        }
        std::fs::write(&path, &whole).unwrap();
    }
    let other = "{\"schema_version\": 99}";
    let manifest = std::fs::read(place.path("store/store.json")).unwrap();
    place.write("store/store.json", other);
    let told = place.fail(&["export", "store", "--format", "usd"], 1);
    assert!(
        told.contains("store.json: schema version 99; this program reads version 1"),
        "{told}"
    );
    std::fs::write(place.path("store/store.json"), manifest).unwrap();
    place.succeed(&["reconstruct", "store"]);
}

#[test]
fn a_missing_frame_is_named_and_made_again() {
    let place = Place::new();
    simulated(&place, "store");
    let whole = files(&place.path("store"), &TABLES);
    std::fs::remove_file(place.path("store/frames/000002.parquet")).unwrap();
    let told = place.fail(&["reconstruct", "store"], 2);
    assert!(told.contains("frames/000002.parquet: gone"), "{told}");
    assert!(!place.path("store/meshes").exists());
    let told = run(&place, "store", &["--to", "simulate", "--state", "1"]);
    assert!(
        told.contains("again: frames/000002.parquet is missing"),
        "{told}"
    );
    assert!(files(&place.path("store"), &TABLES) == whole);
}

#[test]
fn damaged_states_are_passed_over_aloud() {
    let place = Place::new();
    simulated(&place, "store");
    flip(&place.path("store/state/000003.rkyv"));
    let output = place.output(&["simulate", "store", "--resume"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{told}");
    assert!(
        told.contains("an older state was used") && told.contains("000003.rkyv"),
        "{told}"
    );
    for frame in 0..4 {
        flip(&place.path(&format!("store/state/00000{frame}.rkyv")));
    }
    let told = place.fail(&["simulate", "store", "--resume"], 1);
    assert!(told.contains("000003.rkyv"), "{told}");
    let told = place.fail(&["simulate", "store", "--state", "7"], 2);
    assert!(
        told.contains("state 7 was not kept; available: 0, 1, 2, 3"),
        "{told}"
    );
}

#[test]
fn a_run_goes_on_from_any_state_with_any_threads_and_end() {
    let place = Place::new();
    simulated(&place, "whole");
    let folders = ["frames", "breaks", "fragments", "loads", "state"];
    let whole = files(&place.path("whole"), &folders);
    place.succeed(&["simulate", "whole", "--state", "1", "--threads", "3"]);
    assert!(
        files(&place.path("whole"), &folders) == whole,
        "from state 1"
    );

    run(
        &place,
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
    let frames = Store::at(place.path("short")).frames(&(0..u32::MAX));
    assert_eq!(frames.unwrap(), [0, 1]);
    run(&place, "short", &["--to", "simulate", "--resume"]);
    assert!(
        files(&place.path("short"), &folders) == whole,
        "a longer end"
    );
}

#[test]
fn a_run_goes_on_at_another_rate_with_the_same_steps() {
    let place = Place::new();
    let step = ["--to", "simulate", "--set", "time.end=3.4 ms"];
    run(&place, "whole", &step);
    run(
        &place,
        "other",
        &["--to", "simulate", "--set", "time.end=0.9 ms"],
    );
    let refused = [
        &step[..],
        &["--resume", "--set", "time.frames_per_second=1000.5"],
    ]
    .concat();
    let bunny = shot("bunny_drop");
    let told = place.fail(&arguments(&bunny, "other", &refused), 2);
    assert!(
        told.contains("1000.5: a frame is not a whole number"),
        "{told}"
    );
    // Every second frame of those to come.
    run(
        &place,
        "other",
        &[
            &step[..],
            &["--resume", "--set", "time.frames_per_second=600"],
        ]
        .concat(),
    );
    let state = |store: &str, frame: u32| {
        let mut state = State::read(&Store::at(place.path(store)), frame).unwrap();
        state.frame = 0;
        state
    };
    assert!(
        state("other", 2) == state("whole", 3),
        "1 + 2 frames of the first rate"
    );
    let store = Store::open(place.path("other")).unwrap();
    assert_eq!(store.frames(&(0..9)).unwrap(), [0, 1, 2]);
    let time = |frame: u32| store.read_frame(frame).unwrap().time[0];
    assert!((time(2) - time(1) - 2.0 * (time(1) - time(0))).abs() < 1e-12);
}

#[test]
fn a_branch_follows_other_physics_and_names_its_parent() {
    let place = Place::new();
    simulated(&place, "store");
    let all = [
        "packing",
        "frames",
        "breaks",
        "fragments",
        "loads",
        "history",
        "state",
    ];
    let before = files(&place.path("store"), &all);
    let bunny = shot("bunny_drop");
    let other = ["--to", "simulate", "--set", "material.gypsum.friction=0"];
    let in_place = [&other[..], &["--resume"]].concat();
    let told = place.fail(&arguments(&bunny, "store", &in_place), 2);
    assert!(
        told.contains("other physics") && told.contains("--branch"),
        "{told}"
    );
    let branch = [&other[..], &["--branch", "new", "--state", "1"]].concat();
    run(&place, "store", &branch);
    assert!(
        files(&place.path("store"), &all) == before,
        "the parent is as it was"
    );
    let manifest = Manifest::read(&Store::open(place.path("new")).unwrap()).unwrap();
    let parent = manifest.parent.unwrap();
    assert_eq!(
        (parent.store.as_path(), parent.frame),
        (Path::new("store"), 1)
    );
    let new = files(&place.path("new"), &all);
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
    // Where it began it can begin again.
    let again = ["simulate", "new", "--state", "1"];
    place.succeed(&again);
    let tables = |store: &str| files(&place.path(store), &TABLES);
    let first: Vec<_> = new
        .iter()
        .filter(|(name, _)| TABLES.iter().any(|kind| name.starts_with(kind)))
        .collect();
    assert!(tables("new").iter().eq(first));
    let told = place.fail(&arguments(&bunny, "store", &branch), 2);
    assert!(told.contains("a store already exists there"), "{told}");
    let solid = ["--branch", "third", "--set", "material.gypsum.young=9 GPa"];
    let told = place.fail(&arguments(&bunny, "store", &solid), 2);
    assert!(told.contains("material.gypsum.young changed"), "{told}");
    assert!(!place.path("third").exists());
}

#[test]
fn two_processes_do_not_write_one_store_and_the_dead_hold_nothing() {
    let place = Place::new();
    let bunny = shot("bunny_drop");
    let mut child = start(&place, &long(&bunny, "store"));
    await_file(&mut child, &place.path("store/state/000001.rkyv"));
    for command in [
        &["simulate", "store"][..],
        &["reconstruct", "store"],
        &["pack", &bunny, "--out", "store"],
    ] {
        let told = place.fail(command, 2);
        let wanted = format!("store: in use by cullet run, process {}", child.id());
        assert!(told.contains(&wanted), "{told}");
    }
    place.succeed(&["inspect", "store"]);
    child.kill().unwrap();
    child.wait().unwrap();
    place.succeed(&["simulate", "store", "--resume", "--until", "2.6 ms"]);
}

#[cfg(unix)]
#[test]
fn interrupts_end_with_a_frame_and_its_state() {
    let place = Place::new();
    simulated(&place, "whole");
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
        let mut child = start(&place, &arguments(&bunny, out, &settings));
        await_file(
            &mut child,
            &place.path(&format!("{out}/frames/000001.parquet")),
        );
        let pid = child.id().to_string();
        let sent = std::process::Command::new("kill")
            .args(["-s", signal, &pid])
            .status();
        assert!(sent.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let store = Store::open(place.path(out)).unwrap();
        let last = *store.frames(&(0..u32::MAX)).unwrap().last().unwrap();
        assert_eq!(
            store.numbers("state", "rkyv").unwrap(),
            [0, last],
            "SIG{signal}"
        );
        run(
            &place,
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
        let frames = Store::open(place.path(out)).unwrap().frames(&(0..u32::MAX));
        assert_eq!(frames.unwrap().last(), Some(&(last + 2)));
        let common = [
            "frames/000001.parquet",
            "frames/000002.parquet",
            "frames/000003.parquet",
        ];
        for name in common {
            let read = |store: &str| std::fs::read(place.path(store).join(name)).unwrap();
            assert!(read(out) == read("whole"), "{name}");
        }
    }
}

/// Runs a shell script in a mount namespace of its own; `None`, said aloud, where that is not allowed.
#[cfg(target_os = "linux")]
fn with_mounts(place: &Place, script: &str) -> Option<std::process::Output> {
    let allowed = |flags: &str| {
        let tried = std::process::Command::new("unshare")
            .args([flags, "sh", "-c", "mount -t tmpfs none /tmp"])
            .output();
        tried.is_ok_and(|output| output.status.success())
    };
    let Some(flags) = ["-m", "-Urm"].into_iter().find(|flags| allowed(flags)) else {
        println!("skipped: this system lets no test mount a file system");
        return None;
    };
    let program = env!("CARGO_BIN_EXE_cullet");
    let mut command = std::process::Command::new("unshare");
    command.args([
        flags,
        "sh",
        "-c",
        script,
        "sh",
        program,
        &shot("bunny_drop"),
    ]);
    Some(command.current_dir(place.path("")).output().unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one_message_and_the_run_goes_on_elsewhere() {
    let place = Place::new();
    simulated(&place, "whole");
    let whole = files(&place.path("whole"), &TABLES);
    let bytes = |folders: &[&str]| {
        let files = files(&place.path("whole"), folders);
        files.values().map(Vec::len).sum::<usize>()
    };
    // Room for the packing, its shape and some of the frames.
    let room = bytes(&["packing", "packing/shapes"]) + bytes(&["frames", "state"]) / 2;
    std::fs::create_dir(place.path("full")).unwrap();
    let settings: String = SMALL.map(|setting| format!(" --set '{setting}'")).concat();
    let script = format!(
        "mount -t tmpfs -o size={room} tmpfs full && \"$1\" run \"$2\" --out full/store --to simulate{settings}; code=$?; \
         cp -r full/store left; exit $code"
    );
    let Some(output) = with_mounts(&place, &script) else {
        return;
    };
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert_eq!(told.matches("cullet: ").count(), 1, "{told}");
    assert!(told.contains("No space left on device"), "{told}");
    let left = files(&place.path("left"), &TABLES);
    assert!(
        left.iter().all(|(name, bytes)| whole[name] == *bytes),
        "whole files only"
    );
    assert!(left.len() < whole.len());
    run(&place, "left", &["--to", "simulate", "--resume"]);
    assert!(files(&place.path("left"), &TABLES) == whole);
}

#[cfg(target_os = "linux")]
#[test]
fn a_read_only_folder_is_one_message() {
    let place = Place::new();
    simulated(&place, "store");
    let script =
        "mount --bind store store && mount -o remount,bind,ro store && \"$1\" reconstruct store";
    let Some(output) = with_mounts(&place, script) else {
        return;
    };
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(
        told.contains("store/") && told.contains("Read-only file system"),
        "{told}"
    );
    assert!(!place.path("store/meshes").exists());
}

#[cfg(unix)]
#[test]
fn a_packing_that_finds_no_room_leaves_the_store_as_it_was() {
    let place = Place::new();
    simulated(&place, "store");
    let all = [
        "packing",
        "frames",
        "breaks",
        "fragments",
        "loads",
        "history",
        "state",
    ];
    let before = files(&place.path("store"), &all);
    let manifest = std::fs::read(place.path("store/store.json")).unwrap();
    // No file beyond 64 blocks of 512 bytes.
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$@\"";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_cullet")]);
    let bunny = shot("bunny_drop");
    command.args(["pack", &bunny, "--out", "store"]);
    let output = command.current_dir(place.path("")).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("File too large"), "{told}");
    assert!(files(&place.path("store"), &all) == before);
    assert!(std::fs::read(place.path("store/store.json")).unwrap() == manifest);
    let left = std::fs::read_dir(place.path("store")).unwrap();
    let temporary = |name: &str| name.ends_with(".tmp");
    assert!(
        left.into_iter()
            .all(|entry| !temporary(&entry.unwrap().file_name().to_string_lossy()))
    );
}

#[test]
fn records_say_what_was_followed() {
    let place = Place::new();
    simulated(&place, "store");
    let told = place.succeed(&["inspect", "store", "--json"]);
    let told: Value = serde_json::from_str(&told).unwrap();
    let simulate = &told["stages"]["simulate"];
    assert_eq!(simulate["settings"]["material"][0]["friction"], 0.5);
    assert!(simulate["inputs"]["packing"].is_string(), "{simulate}");
}

/// Copies a folder with everything in it.
fn copy(from: &Path, to: &Path) {
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
    let place = Place::new();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stores/v1");
    copy(&kept, &place.path("store"));
    let told = place.succeed(&["inspect", "store", "--validate"]);
    assert!(told.starts_with("valid: "), "{told}");
    let store = Store::open(place.path("store")).unwrap();
    assert_eq!(store.frames(&(0..9)).unwrap(), [0, 1, 2, 3]);
    let broken: usize = (0..4)
        .map(|k| store.read_breaks(k).unwrap().bond.len())
        .sum();
    assert_eq!(store.read_history(3).unwrap().broken[0] as usize, broken);
    assert!(broken > 0);
    place.succeed(&["export", "store", "--format", "obj"]);
    place.succeed(&[
        "simulate",
        "store",
        "--resume",
        "--backend",
        "cpu",
        "--until",
        "1 ms",
    ]);
    place.succeed(&["reconstruct", "store"]);
    place.succeed(&["export", "store", "--format", "usd"]);
    let frames = Store::open(place.path("store")).unwrap().frames(&(0..9));
    assert_eq!(frames.unwrap(), [0, 1, 2, 3, 4, 5]);
}
