//! Whole runs of the program: their output, and the same bytes for any number of threads and after any number
//! of kills.

use std::process::Stdio;
use std::time::Duration;

use cullet::store::Store;
use serde_json::Value;

use crate::harness::{TestFolder, files, shot};

/// Few elements, a short time, a state at every frame.
const SMALL: [&str; 8] = [
    "--set",
    "scale=smoke",
    "--set",
    "body.bunny.packing.elements=2000",
    "--set",
    "time.end=3 ms",
    "--set",
    "simulate.state_every=1",
];

fn simulate(folder: &TestFolder, out: &str, more: &[&str]) {
    let bunny = shot("bunny_drop");
    let mut arguments = vec!["run", &bunny, "--out", out, "--to", "simulate"];
    arguments.extend(SMALL);
    arguments.extend(more);
    folder.succeed(&arguments);
}

#[test]
fn a_bunny_breaks_and_nothing_is_lost() {
    let folder = TestFolder::new();
    simulate(&folder, "store", &[]);
    let report: Value =
        serde_json::from_str(&folder.succeed(&["inspect", "store", "--json"])).unwrap();
    let last = &report["last"];
    assert!(last["fragments"].as_u64().unwrap() >= 5, "{last}");
    assert!(last["mass_error"].as_f64().unwrap().abs() < 1e-9, "{last}");
    assert_eq!(last["outside"], 0);
    let store = Store::open(folder.path("store")).unwrap();
    let mut broken = 0;
    for frame in store.frames(&(0..u32::MAX)).unwrap() {
        let frames = store.read_frame(frame).unwrap();
        let fragments = store.read_fragments(frame).unwrap();
        let breaks = store.read_breaks(frame).unwrap();
        broken += breaks.bond.len() as u64;
        assert_eq!(
            u64::from(store.read_history(frame).unwrap().broken[0]),
            broken
        );
        assert_eq!(
            fragments.elements.iter().sum::<u32>() as usize,
            frames.id.len()
        );
        assert!(
            frames.y.iter().all(|y| *y > -0.01),
            "nothing falls through the floor"
        );
        let sides: u64 = frames.broken.iter().map(|b| u64::from(*b)).sum();
        assert_eq!(sides, 2 * broken, "every broken bond has two sides");
    }
    assert_eq!(last["broken"].as_u64().unwrap(), broken);
}

#[test]
fn threads_do_not_change_a_byte() {
    let folder = TestFolder::new();
    let folders = ["packing", "frames", "breaks", "fragments", "loads", "state"];
    let results: Vec<_> = ["1", "2", "3"]
        .iter()
        .map(|threads| {
            simulate(&folder, threads, &["--threads", threads]);
            files(&folder.path(threads), &folders[..])
        })
        .collect();
    assert!(results[0].len() > 10);
    assert!(results[0] == results[1], "1 and 2 threads");
    assert!(results[0] == results[2], "1 and 3 threads");
}

#[test]
fn killed_and_resumed_is_as_if_it_had_never_stopped() {
    let folder = TestFolder::new();
    simulate(&folder, "whole", &[]);
    let folders = ["frames", "breaks", "fragments", "loads", "state"];
    let whole = files(&folder.path("whole"), &folders);
    let bunny = shot("bunny_drop");
    let mut arguments = vec!["run", &bunny, "--out", "killed", "--to", "simulate"];
    arguments.extend(SMALL);
    let mut child = folder
        .command()
        .args(&arguments)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Once the first state exists, a killed run has something to continue from.
    while !folder.path("killed/state/000001.rkyv").exists() {
        assert!(
            child.try_wait().unwrap().is_none(),
            "it was to be killed while running"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let frames = Store::at(folder.path("killed"))
        .frames(&(0..u32::MAX))
        .unwrap();
    let all = Store::at(folder.path("whole"))
        .frames(&(0..u32::MAX))
        .unwrap();
    assert!(
        frames.len() < all.len(),
        "it was killed in the middle: {frames:?}"
    );
    arguments.push("--resume");
    folder.succeed(&arguments);
    assert!(
        files(&folder.path("killed"), &folders) == whole,
        "the same bytes"
    );
}

#[test]
fn a_damaged_state_falls_back_to_the_one_before() {
    let folder = TestFolder::new();
    simulate(&folder, "store", &[]);
    let folders = ["frames", "breaks", "fragments", "loads", "state"];
    let whole = files(&folder.path("store"), &folders);
    let states = Store::at(folder.path("store"))
        .numbers("state", "rkyv")
        .unwrap();
    let newest = folder
        .path("store")
        .join(format!("state/{:06}.rkyv", states.last().unwrap()));
    let bytes = std::fs::read(&newest).unwrap();
    std::fs::write(&newest, &bytes[..bytes.len() / 2]).unwrap();
    folder.succeed(&["simulate", "store", "--resume"]);
    assert!(
        files(&folder.path("store"), &folders) == whole,
        "the same bytes"
    );
}

const SUNK: &str = "[time]\nend = \"5 ms\"\nframes_per_second = 1000\n[world]\ngravity = [0, 0, 0]\n[[material]]\nname = \"m\"\ndensity = 1000\n\
    young = \"1 MPa\"\n[[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = { type = \"block\", rows = [2, 1, 1] }\n\
    packing = { type = \"hexagonal\", radius = \"1 mm\" }\nposition = [0, \"-4 mm\", 0]\n\
    [[collider]]\nname = \"floor\"\nshape = { type = \"half_space\", normal = [0, 1, 0] }\n";

#[test]
fn frames_hold_the_columns_asked_for_and_are_rounded() {
    let folder = TestFolder::new();
    simulate(&folder, "whole", &["--set", "time.end=1 ms"]);
    let changed = [
        "--set",
        "time.end=1 ms",
        "--set",
        "output.columns=[\"position\", \"rotation\", \"fragment\"]",
        "--set",
        "output.precision_bits.position=12",
        "--set",
        "output.compression=none",
    ];
    simulate(&folder, "lean", &changed);
    let [whole, lean] = ["whole", "lean"].map(|name| Store::at(folder.path(name)));
    let error = lean.read_frame(1).unwrap_err().to_string();
    assert!(
        error.contains("add \"velocity\" to output.columns"),
        "{error}"
    );
    let needs = cullet::reconstruct::REQUIRED_GROUPS;
    let found = lean.read_frame_with(1, &needs).unwrap();
    let exact = whole.read_frame(1).unwrap();
    assert_eq!((&found.qx, &found.fragment), (&exact.qx, &exact.fragment));
    assert!(found.vx.iter().all(|v| *v == 0.0));
    assert_ne!(found.x, exact.x);
    for (rounded, x) in found.x.iter().zip(&exact.x) {
        assert!(
            (rounded - x).abs() <= x.abs() * 0.5_f32.powi(13),
            "{x}: {rounded}"
        );
    }
    // Physics and states do not depend on it.
    let states = ["whole", "lean"].map(|name| files(&folder.path(name), &["state"]));
    assert!(
        states[0].len() == 2 && states[0] == states[1],
        "the same states"
    );
    let message = std::fs::read_to_string(folder.path("lean/store.json")).unwrap();
    let json: Value = serde_json::from_str(&message).unwrap();
    assert_eq!(json["pipeline"]["output"]["precision_bits"]["position"], 12);
    folder.succeed(&["reconstruct", "lean"]);
    folder.succeed(&["export", "lean", "--format", "usd"]);
    folder.succeed(&["preview", "lean"]);
}

#[test]
fn states_are_written_at_the_set_number_of_steps() {
    let folder = TestFolder::new();
    let bunny = shot("bunny_drop");
    let mut arguments = vec!["run", &bunny, "--out", "store", "--to", "simulate"];
    arguments.extend(&SMALL[..6]);
    arguments.extend(["--set", "simulate.keep_states=100"]);
    arguments.extend([
        "--set",
        "time.step=2e-6",
        "--set",
        "time.frames_per_second=5000",
    ]);
    folder.succeed(&arguments);
    // A hundred steps a frame: every tenth frame has a state, and the last one.
    let states = Store::at(folder.path("store")).numbers("state", "rkyv");
    assert_eq!(states.unwrap(), [0, 10, 15]);
}

#[test]
fn a_body_that_starts_in_a_collider_is_refused() {
    let folder = TestFolder::new();
    folder.write("shot.toml", SUNK);
    let message = folder.refuse(&["run", "shot.toml", "--out", "store"]);
    assert!(
        message.contains("\"b\" starts inside collider \"floor\", up to 5"),
        "{message}"
    );
    assert!(!folder.path("store").exists());
}

#[test]
fn an_element_driven_deep_into_a_floor_is_pushed_out() {
    let pipeline = cullet::spec::parse(SUNK, "shot", &[]).unwrap();
    let packing = cullet::pack::pack(&pipeline, ".".as_ref()).unwrap().packing;
    let plan = cullet::simulate::schedule(&packing, &pipeline).unwrap();
    let backend = cullet::spec::Backend::Cpu;
    let mut run = cullet::simulate::method(&packing, &pipeline, backend, plan.dt).unwrap();
    assert_eq!(run.snapshot(0).unwrap().history.contacts[0], 2);
    run.advance(plan.steps_per_frame).unwrap();
    let frames = run.snapshot(1).unwrap().frames;
    assert!(frames.vy.iter().all(|v| *v > 0.0), "{:?}", frames.vy);
}

#[test]
fn a_resumed_run_refuses_changed_physics() {
    let folder = TestFolder::new();
    simulate(&folder, "store", &[]);
    let bunny = shot("bunny_drop");
    let mut arguments = vec![
        "run", &bunny, "--out", "store", "--to", "simulate", "--resume",
    ];
    arguments.extend(SMALL);
    arguments.extend(["--set", "material.gypsum.friction=0.1"]);
    let message = folder.refuse(&arguments);
    assert!(message.contains("other physics"), "{message}");
}

#[test]
fn a_single_bond_breaks_at_its_strength() {
    let folder = TestFolder::new();
    let single = shot("single_bond");
    folder.succeed(&["run", &single, "--out", "store", "--to", "simulate"]);
    let store = Store::open(folder.path("store")).unwrap();
    let breaks: Vec<_> = store
        .frames(&(0..u32::MAX))
        .unwrap()
        .into_iter()
        .map(|frame| store.read_breaks(frame).unwrap())
        .filter(|breaks| !breaks.bond.is_empty())
        .collect();
    assert_eq!(breaks.len(), 1);
    let bonds = store.read_packing().unwrap().bonds;
    let strength = bonds.sigma_c[0];
    assert!(f64::from(breaks[0].sigma[0]) > strength);
    // Pulled in steps: the stress exceeds the strength by at most the increase of one step.
    assert!(f64::from(breaks[0].sigma[0]) < 1.1 * strength, "{breaks:?}");
}

#[test]
fn schema_and_completions_are_printed() {
    let folder = TestFolder::new();
    let schema: Value = serde_json::from_str(&folder.succeed(&["schema"])).unwrap();
    assert!(schema["properties"]["body"].is_object());
    assert!(
        folder
            .succeed(&["completions", "bash"])
            .contains("reconstruct")
    );
}

#[test]
fn a_step_too_long_stops_with_the_element_and_keeps_the_good_frames() {
    let folder = TestFolder::new();
    folder.write(
        "shot.toml",
        "[time]\nend = \"20 ms\"\nframes_per_second = 1000\nstep = \"50 us\"\n\n[[material]]\nname = \"m\"\ndensity = 1000\nyoung = \"1 GPa\"\n\
         damping = 0\n\n[[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = { type = \"block\", rows = [4, 4, 4] }\n\
         packing = { type = \"hexagonal\", radius = \"1 mm\" }\nspin = [0, 0, 100]\n",
    );
    let output = folder.output(&[
        "run",
        "shot.toml",
        "--out",
        "store",
        "--to",
        "simulate",
        "--quiet",
    ]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    for part in ["step ", "element ", "no longer finite"] {
        assert!(message.contains(part), "{message}");
    }
    let store = Store::open(folder.path("store")).unwrap();
    let frames = store.frames(&(0..u32::MAX)).unwrap();
    let last = store.read_frame(*frames.last().unwrap()).unwrap();
    assert!(last.x.iter().all(|x| x.is_finite()));
    assert!(
        store
            .numbers("state", "rkyv")
            .unwrap()
            .contains(frames.last().unwrap())
    );
}
