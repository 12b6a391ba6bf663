//! `cullet jobs`: stages as jobs for render farms. `tools/farm.py` runs them.

use crate::external::check_arguments;
use crate::harness::TestFolder;

/// Seven frames.
const SHOT: &str = r#"
[time]
end = "7 ms"
frames_per_second = 1000
[[material]]
name = "m"
density = 1000
young = "1 MPa"
[[body]]
name = "b"
material = "m"
shape = { type = "box", size = [0.02, 0.02, 0.02] }
packing = { type = "hexagonal", radius = "2 mm" }
[export]
formats = ["usd", "usd_elements"]
"#;

/// A name that every language must quote.
const STORE: &str = "it's \"5 $HOME\" {wild} <b>&amp; `ls` %d";

/// A folder with a packed store of this name.
fn packed_as(store: &str) -> TestFolder {
    let folder = TestFolder::new();
    folder.write("shot.toml", SHOT);
    folder.succeed(&["pack", "shot.toml", "--out", store]);
    folder
}

fn packed() -> TestFolder {
    packed_as(STORE)
}

#[test]
fn frames_that_do_not_exist_yet_are_those_of_the_pipeline() {
    let folder = packed_as("shot");
    let job = |options: &[&str]| {
        let arguments = ["jobs", "shot", "--for", "snakemake"];
        folder.succeed(&[&arguments, options].concat())
    };
    let whole = job(&["--stage", "simulate,reconstruct", "--chunk", "3"]);
    assert!(whole.contains("FIRST, LAST, CHUNK = 0, 7, 3 "), "{whole}");
    let part = job(&["--stage", "simulate,reconstruct", "--frames", "2..6"]);
    assert!(part.contains("FIRST, LAST, CHUNK = 2, 5, 10 "), "{part}");
    folder.succeed(&["simulate", "shot", "--until", "4 ms"]);
    let part = job(&["--stage", "export", "--format", "vtk", "--frames", "1..=2"]);
    assert!(part.contains("--format vtk --frames 1-2\""), "{part}");
    let rest = job(&[]);
    assert!(rest.contains("FIRST, LAST, CHUNK = 0, 4, 10 "), "{rest}");
    assert!(!rest.contains("simulate"), "{rest}");
}

#[test]
fn a_new_file_gets_the_job() {
    let folder = packed();
    let arguments = ["jobs", STORE, "--for", "slurm", "--stage", "simulate"];
    let printed = folder.succeed(&arguments);
    folder.succeed(&[&arguments[..], &["--out", "job.sh"]].concat());
    let written = std::fs::read_to_string(folder.path("job.sh")).unwrap();
    assert_eq!(printed, written);
    let message = folder.refuse(&[&arguments[..], &["--out", "job.sh"]].concat());
    assert!(message.contains("exists already"), "{message}");
}

#[test]
fn stages_that_are_no_job_are_refused() {
    let folder = packed();
    for (options, part) in [
        (&["--stage", "pack,simulate"][..], "`cullet pack` first"),
        (&["--stage", "reconstruct,simulate"], "in the order"),
        (&["--stage", "simulate,simulate"], "each stage once"),
        (&["--stage", "reconstruct"], "contains no frame"),
        (
            &["--stage", "simulate,reconstruct", "--frames", "9.."],
            "contains no frame",
        ),
        (
            &["--stage", "simulate", "--format", "usd"],
            "add it to --stage",
        ),
        (
            &["--stage", "simulate,export", "--format", "usd,glb,usd"],
            "usd comes twice",
        ),
        (
            &["--stage", "simulate", "--name", "two\nlines"],
            "control characters",
        ),
    ] {
        let arguments = [&["jobs", STORE, "--for", "openjd"], options].concat();
        let message = folder.refuse(&arguments);
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn braces_are_refused_for_snakemake() {
    let folder = packed();
    let arguments = ["jobs", STORE, "--for", "snakemake", "--stage", "simulate"];
    let message = folder.refuse(&arguments);
    assert!(message.contains("wildcards"), "{message}");
}

#[test]
fn progress_is_printed_as_farm_managers_read_it() {
    let folder = packed();
    let text = folder.succeed(&["simulate", STORE, "--progress", "percent"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.first(), Some(&"Progress: 0%"), "{text}");
    assert_eq!(lines.last(), Some(&"Progress: 100%"), "{text}");
    let text = folder.succeed(&["reconstruct", STORE, "--progress", "openjd"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[lines.len() - 2..],
        [
            "openjd_progress: 100.0",
            "openjd_status: reconstruct 8/8 frames"
        ],
        "{text}"
    );
}

/// Checks the job for a farm manager by a script, which gets its file and the store.
fn check_job(manager: &str, script: &str) {
    let folder = packed();
    let stages = "simulate,reconstruct,export";
    let options = ["--chunk", "2", "--cores", "2", "--frames", "1..=5"];
    let arguments = [
        "jobs", STORE, "--for", manager, "--stage", stages, "--out", "job",
    ];
    folder.succeed(&[&arguments[..], &options].concat());
    check_arguments(script, || vec![folder.path("job"), folder.path(STORE)]);
}

#[test]
fn opencue_finds_layers_of_its_specification() {
    check_job("opencue", "check_opencue.py");
}

#[test]
fn flamenco_gets_tasks_that_wait_for_each_other() {
    check_job("flamenco", "check_flamenco.js");
}
