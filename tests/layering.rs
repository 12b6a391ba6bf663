//! Modules use only modules in lower layers.
//!
//! The list of layers is [`LAYERS`]. Within a module, the files and folders directly under it are its parts;
//! they may use each other, but not in a cycle, and no part uses the file that declares it (`mod.rs`, or
//! `x.rs` next to a folder `x/`): code that parts share is a part of its own. Test code may use anything.

mod cases;
mod paths;
mod rules;

use std::path::Path;

use paths::Sources;
use rules::Rules;

/// The modules directly under the crate root. Each may use those of later rows; those of one row may not use
/// each other.
const LAYERS: &[&[&str]] = &[
    &["main"],
    &["cli"],
    &["calibrate"],
    // The stages, which are connected only by the store.
    &[
        "pack",
        "simulate",
        "reconstruct",
        "export",
        "preview",
        "plot",
        "stress",
        "view",
    ],
    &["picture"],
    &["store"],
    &["columns", "spec"],
    &["bem"],
    &["geometry", "laws", "solve"],
    // These use no other module of the crate.
    &["gpu", "guide", "jobs", "math", "parallel", "ranks", "units"],
];

/// Modules whose parts may use the file that declares them, with the reason.
const EXEMPT: &[(&str, &str)] = &[
    (
        "laws::manifold",
        "lawgen prints one WGSL text a law from one file: `lean` is next to the force, its curvature in a file for the host alone",
    ),
    ("simulate::methods::explicit::cpu", "passes of `Cpu`"),
    ("simulate::methods::explicit::device", "passes of `Gpu`"),
    ("simulate::methods::voronoi::cpu", "passes of `CellRun`"),
    ("simulate::methods::implicit", "steps of `Implicit`"),
    (
        "simulate::methods::implicit::baselines",
        "methods on `StepProblem`",
    ),
    ("simulate::methods::implicit::newton", "parts of `Newton`"),
];

/// The rules of this crate.
fn rules() -> Rules<'static> {
    Rules {
        layers: LAYERS,
        exempt: EXEMPT.to_vec(),
    }
}

fn own_sources() -> Vec<(String, String)> {
    rust_files(&["src"])
}

/// Names and texts of all Rust files in these folders of the repository.
pub fn rust_files(folders: &[&str]) -> Vec<(String, String)> {
    files_ending("rs", folders)
}

/// Files with this extension in folders and below: relative path and text.
pub fn files_ending(extension: &str, folders: &[&str]) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    let mut folders: Vec<_> = folders.iter().map(|name| root.join(name)).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap();
                let name = name.replace(std::path::MAIN_SEPARATOR, "/");
                files.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files.sort_unstable();
    files
}

#[test]
fn every_use_points_down() {
    let sources = Sources::parse(&own_sources());
    // Guards against a reader that finds nothing and so passes.
    assert!(sources.files() > 200 && sources.uses().len() > 1000);
    let found = rules().check(&sources);
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

/// An invalid use inserted into a file of the crate is found.
#[test]
fn a_wrong_use_in_this_crate_is_found() {
    let wrong = [
        (
            "src/math/hash.rs",
            "use crate::geometry::TriMesh;",
            "geometry is above",
        ),
        (
            "src/plot/energy.rs",
            "use crate::preview;",
            "one row of LAYERS",
        ),
        (
            "src/pack/solid.rs",
            "use super::hexagonal::fill;",
            "pack: a cycle",
        ),
        (
            "src/store/sums.rs",
            "use super::tables::Packing;",
            "store: a cycle",
        ),
        (
            "src/cli/bodies.rs",
            "use super::main;",
            "the file that declares it",
        ),
        (
            "src/reconstruct/body/skin.rs",
            "fn f() { crate::reconstruct::cracks::field::nothing() }",
            "reconstruct: a cycle",
        ),
    ];
    let sound = own_sources();
    for (file, line, message) in wrong {
        let mut files = sound.clone();
        let place = files.iter_mut().find(|(name, _)| name == file);
        let (_, text) = place.unwrap_or_else(|| panic!("{file} is not there"));
        let number = text.lines().count() + 1;
        *text += line;
        let found = rules().check(&Sources::parse(&files));
        let named =
            |one: &String| one.contains(message) && one.contains(&format!("{file}:{number}"));
        assert!(
            found.iter().any(named),
            "{file}: {line}\n{}",
            found.join("\n")
        );
    }
}
