//! Modules use only what stands below them.
//!
//! The list of layers is [`LAYERS`]. Within a module, the files and folders directly under it are its parts;
//! they may use each other, but not in a circle, and no part uses the file that declares it (`mod.rs`, or
//! `x.rs` beside a folder `x/`): what parts share is a part of its own. Code for tests is free.

mod cases;
mod paths;
mod rules;

use std::path::Path;

use paths::Sources;
use rules::Rules;

/// The modules right under the crate. Each may use those of later rows; those of one row may not use each other.
const LAYERS: &[&[&str]] = &[
    &["main"],
    &["cli"],
    // The stages, which meet only in the store.
    &[
        "pack",
        "simulate",
        "reconstruct",
        "export",
        "preview",
        "plot",
        "stress",
    ],
    &["picture"],
    &["store"],
    &["columns", "spec"],
    &["bem"],
    &["geometry", "laws", "solve"],
    // These know nothing of ours.
    &["gpu", "math", "parallel", "units"],
];

/// Modules whose parts may use the file that declares them, and why.
const EXEMPT: &[(&str, &str)] = &[
    (
        "laws::manifold",
        "lawgen prints one WGSL text a law from one file: `lean` stands beside the force, its curvature in a file for the host alone",
    ),
    ("simulate::methods::explicit::cpu", "passes of `Cpu`"),
    ("simulate::methods::explicit::device", "passes of `Gpu`"),
    ("simulate::methods::voronoi::cpu", "passes of `CellRun`"),
    ("simulate::methods::implicit", "steps of `Implicit`"),
    (
        "simulate::methods::implicit::baselines",
        "methods on `Bench`",
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
    // So that a reader that finds nothing does not pass.
    assert!(sources.files() > 200 && sources.uses().len() > 1000);
    let found = rules().check(&sources);
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

/// A wrong use put into a file of the crate is found.
#[test]
fn a_wrong_use_in_this_crate_is_found() {
    let wrong = [
        (
            "src/math/hash.rs",
            "use crate::geometry::TriMesh;",
            "geometry stands above",
        ),
        (
            "src/plot/energy.rs",
            "use crate::preview;",
            "one row of LAYERS",
        ),
        (
            "src/pack/solid.rs",
            "use super::hexagonal::fill;",
            "pack: a circle",
        ),
        (
            "src/store/sums.rs",
            "use super::tables::Packing;",
            "store: a circle",
        ),
        (
            "src/cli/bodies.rs",
            "use super::main;",
            "the file that declares it",
        ),
        (
            "src/reconstruct/body/skin.rs",
            "fn f() { crate::reconstruct::cracks::field::nothing() }",
            "reconstruct: a circle",
        ),
    ];
    let sound = own_sources();
    for (file, line, told) in wrong {
        let mut files = sound.clone();
        let place = files.iter_mut().find(|(name, _)| name == file);
        let (_, text) = place.unwrap_or_else(|| panic!("{file} is not there"));
        let number = text.lines().count() + 1;
        *text += line;
        let found = rules().check(&Sources::parse(&files));
        let named = |one: &String| one.contains(told) && one.contains(&format!("{file}:{number}"));
        assert!(
            found.iter().any(named),
            "{file}: {line}\n{}",
            found.join("\n")
        );
    }
}
