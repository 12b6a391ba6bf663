//! A small sound store, copies of it with one error, and all commands that read a store.

use std::path::Path;
use std::sync::OnceLock;

use cullet::columns::{BreakMode, Breaks};
use cullet::store::{Manifest, Store};

use crate::harness::TestFolder;

const PIPELINE: &str = "[time]\nend = \"2 ms\"\nframes_per_second = 1000\n\n[[material]]\nname = \"m\"\ndensity = \"1000 kg/m^3\"\nyoung = \"1 MPa\"\n\n\
    [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = { type = \"box\", size = [0.01, 0.008, 0.008] }\n\
    packing = { type = \"hexagonal\", radius = \"1 mm\" }\nspin = [0, 3, 0]\n\n\
    [[collider]]\nname = \"floor\"\nshape = { type = \"half_space\", normal = [0, 1, 0] }\nposition = [0, -1, 0]\n";

/// A simulated box with surfaces, in which the first bond is marked as broken; made once.
pub fn sound_store() -> &'static Path {
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
pub fn changed_store(change: impl FnOnce(&Store)) -> TestFolder {
    let folder = TestFolder::new();
    copy(sound_store(), &folder.path("store"));
    change(&Store::at(folder.path("store")));
    folder
}

pub const RECONSTRUCT: &[&str] = &["reconstruct", "store"];
pub const VTK: &[&str] = &["export", "store", "--format", "vtk"];
pub const ELEMENTS: &[&str] = &["export", "store", "--format", "usd-elements"];
pub const USD: &[&str] = &["export", "store", "--format", "usd"];
pub const PREVIEW: &[&str] = &["preview", "store"];
pub const INSPECT: &[&str] = &["inspect", "store"];
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
pub fn check_wrong_store(finding: &str, refusing: &[&[&str]], change: impl FnOnce(&Store)) {
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

pub fn change_packing(store: &Store, change: impl FnOnce(&mut cullet::store::Packing)) {
    let mut packing = store.read_packing().unwrap();
    change(&mut packing);
    store.write_packing(&packing).unwrap();
}

pub fn change_frame(store: &Store, change: impl FnOnce(&mut cullet::columns::Frames)) {
    let mut frame = store.read_frame(1).unwrap();
    change(&mut frame);
    store.write_numbered("frames", 1, &frame).unwrap();
}
