//! A pipeline from standard input, which the path `-` stands for.

use std::io::Write;
use std::process::{Output, Stdio};

use crate::harness::TestFolder;

const SHOT: &str = "[time]\nend = \"1 ms\"\nframes_per_second = 4000\n\
    [[material]]\nname = \"m\"\ndensity = 1000\nyoung = \"1 MPa\"\n\
    [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = { type = \"mesh\", file = \"cube.obj\" }\n\
    packing = { type = \"hexagonal\", elements = 50 }\n";

const CUBE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

fn fed(folder: &TestFolder, arguments: &[&str], text: &str) -> Output {
    let mut child = folder
        .command()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(text.as_bytes()).unwrap();
    drop(input);
    child.wait_with_output().unwrap()
}

#[test]
fn its_paths_are_relative_to_the_working_folder() {
    let folder = TestFolder::new();
    folder.write("cube.obj", CUBE);
    let done = fed(&folder, &["pack", "-", "--out", "store"], SHOT);
    assert!(done.status.success(), "{done:?}");
    assert!(folder.path("store/packing/elements.parquet").is_file());
}

#[test]
fn messages_name_standard_input_and_ask_for_a_store() {
    let folder = TestFolder::new();
    let wrong = fed(&folder, &["check", "-"], "[time]\nend = 1\n");
    let text = String::from_utf8(wrong.stderr).unwrap();
    assert_eq!(wrong.status.code(), Some(2), "{text}");
    assert!(text.contains("standard input:1:1: time: key"), "{text}");
    for stage in ["run", "stress"] {
        folder.write("cube.obj", CUBE);
        let nameless = fed(&folder, &[stage, "-"], SHOT);
        let text = String::from_utf8(nameless.stderr).unwrap();
        assert_eq!(nameless.status.code(), Some(2), "{text}");
        assert!(text.contains("--out is missing"), "{text}");
    }
}
