//! Runs with sleep as a user makes them: on any number of threads, stopped, resumed and branched.

use crate::harness::{TestFolder, files, shot};

/// Where rubble of a bunny that fell has bounced for a while, with so many elements that one thread has larger chunks
/// than two.
const SETTINGS: [&str; 7] = [
    "scale=smoke",
    "body.bunny.packing.elements=5000",
    "simulate.sleep=true",
    "simulate.backend=cpu",
    "material.gypsum.rolling_friction=0.3",
    "time.frames_per_second=250 Hz",
    "time.end=40 ms",
];

/// Tables and states that must be the same.
const FOLDERS: [&str; 6] = ["frames", "breaks", "fragments", "loads", "sleep", "state"];

#[test]
fn rubble_has_the_same_bytes_on_any_threads_and_however_a_run_is_cut() {
    let place = TestFolder::new();
    let bunny = shot("bunny_drop");
    let begin = |to: &str, out: &str, threads: &str| {
        let mut words = vec!["run", &bunny, "--to", to, "--out", out];
        words.extend(["--threads", threads, "--quiet"]);
        words.extend(SETTINGS.iter().flat_map(|setting| ["--set", *setting]));
        place.succeed(&words);
    };
    begin("simulate", "whole", "2");
    let whole = files(&place.path("whole"), &FOLDERS);
    assert!(whole.len() > 40, "{:?}", whole.keys());

    begin("pack", "parts", "1");
    for (more, threads) in [
        (&["--until", "7 ms"][..], "1"),
        (&["--until", "22 ms", "--resume"], "2"),
        (&["--branch", "branch"], "2"),
        (&["--resume"], "1"),
    ] {
        let words = ["simulate", "parts", "--quiet", "--threads", threads];
        place.succeed(&[&words, more].concat());
    }
    for store in ["parts", "branch"] {
        let found = files(&place.path(store), &FOLDERS);
        assert!(found == whole, "{store}: {:?}", found.keys());
    }
}
