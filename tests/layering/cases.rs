//! The rules applied to small sources.

use super::paths::Sources;
use super::rules::Rules;

const LAYERS: &[&[&str]] = &[
    &["main"],
    &["cli"],
    &["pack", "export"],
    &["store"],
    &["math"],
];

/// Findings for these files, next to an empty file for each layer.
fn check_with(exempt: &[(&str, &str)], files: &[(&str, &str)]) -> Vec<String> {
    let mut all: Vec<(String, String)> = ["main", "cli", "pack", "export", "store", "math"]
        .iter()
        .map(|module| format!("src/{module}.rs"))
        .filter(|name| {
            let folder = name.replace(".rs", "/");
            !files
                .iter()
                .any(|(file, _)| file == name || *file == format!("{folder}mod.rs"))
        })
        .map(|name| (name, String::new()))
        .collect();
    all.extend(
        files
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned())),
    );
    let rules = Rules {
        layers: LAYERS,
        exempt: exempt.to_vec(),
    };
    rules.check(&Sources::parse(&all))
}

fn check(files: &[(&str, &str)]) -> Vec<String> {
    check_with(&[], files)
}

#[test]
fn uses_of_lower_layers_are_allowed() {
    let found = check(&[
        ("src/lib.rs", "pub mod cli; pub mod pack;"),
        ("src/main.rs", "fn main() { cullet::cli::main() }"),
        ("src/cli.rs", "use crate::{pack, store::Store, math};"),
        (
            "src/pack.rs",
            "fn f() -> crate::store::Store { crate::math::g() }",
        ),
    ]);
    assert_eq!(found, [""; 0]);
}

#[test]
fn uses_of_higher_and_equal_layers_are_reported_with_their_place() {
    let found = check(&[("src/math.rs", "// one\nuse crate::store::Store;\n")]);
    let wanted = "src/math.rs:2: `crate::store::Store`: math may not use store: store is above math in LAYERS";
    assert_eq!(found, [wanted]);
    let found = check(&[("src/export.rs", "use crate::pack;")]);
    let wanted =
        "src/export.rs:1: `crate::pack`: export may not use pack: both are in one row of LAYERS";
    assert_eq!(found, [wanted]);
}

#[test]
fn every_way_to_write_a_path_is_seen() {
    for text in [
        "use crate::{math::{f, g}, store::{self, Store}, cli as shell};",
        "use super::cli;",
        "fn f() { let x = 1; crate::cli::g(x) }",
        "fn f(x: &crate::cli::Arguments) {}",
        "fn f() { use crate::cli::*; }",
        "impl crate::cli::Command for u8 {}",
        "macro_rules! m { () => { $crate::cli::g() } }",
        "fn f() { println!(\"{}\", [crate::cli::g()][0]); }",
        "#[derive(Debug)] struct S { #[arg(value_parser = crate::cli::range)] x: u8 }",
        "mod inner { pub mod deep { use super::super::super::cli; } }",
        "fn f() -> Vec<Option<crate::cli::Arguments>> { Vec::new() }",
    ] {
        let found = check(&[("src/store.rs", text)]);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(
            found[0].contains("store may not use cli"),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn text_that_is_not_a_use_is_skipped() {
    let found = check(&[
        (
            "src/store/mod.rs",
            "//! See [`crate::cli`].\n/// [`crate::cli::main`]\npub(in crate::store) fn f() {} // crate::cli\n\
             const TEXT: &str = \"crate::cli::main\";\nfn g(&self) -> Self { Self::new(::cli::x(), cli::y()) }",
        ),
        (
            "src/store/a.rs",
            "pub(in crate::store) struct A; mod inner { use super::A; fn f() -> crate::store::a::A { A } }",
        ),
    ]);
    assert_eq!(found, [""; 0]);
}

#[test]
fn test_code_may_use_anything() {
    let found = check(&[
        (
            "src/store/mod.rs",
            "mod a; #[cfg(test)] mod tests; #[cfg(test)] mod fixture; #[cfg(test)] use crate::cli;\n\
             #[cfg(all(test, unix))] fn f() { crate::cli::g() }\nimpl S { #[cfg(test)] fn h() { crate::cli::g() } }",
        ),
        (
            "src/store/a.rs",
            "#[cfg(test)] mod tests { use super::*; use crate::cli; use crate::store::Store; }",
        ),
        (
            "src/store/tests.rs",
            "use super::*; use crate::cli; mod more;",
        ),
        ("src/store/tests/more.rs", "use crate::cli;"),
        ("src/store/fixture.rs", "use crate::cli;"),
    ]);
    assert_eq!(found, [""; 0]);
    let found = check(&[("src/store.rs", "#[cfg(not(test))] use crate::cli;")]);
    assert_eq!(found.len(), 1);
}

#[test]
fn cycles_are_reported_as_chains() {
    let found = check(&[
        ("src/pack/mod.rs", "mod a; mod b; mod c; mod d; use a::A;"),
        ("src/pack/a.rs", "\nuse super::b::B;"),
        ("src/pack/b/mod.rs", "mod part; use self::part::P;"),
        ("src/pack/b/part.rs", "use crate::pack::c::C;"),
        ("src/pack/c.rs", "use super::{a::A, d::D};"),
        ("src/pack/d.rs", ""),
    ]);
    let wanted = "pack: a cycle: a -> b -> c -> a\n    src/pack/a.rs:2: `super::b::B`\n    \
                  src/pack/b/part.rs:1: `crate::pack::c::C`\n    src/pack/c.rs:1: `super::a::A`";
    assert_eq!(found, [wanted]);
}

#[test]
fn cycles_within_folders_are_found_and_a_file_with_a_folder_is_one_part() {
    let files = |inner: &'static str| {
        [
            ("src/pack.rs", "mod a; mod z;"),
            ("src/pack/a.rs", "mod x; mod y; use x::X;"),
            ("src/pack/a/x.rs", "use crate::pack::a::y::Y;"),
            ("src/pack/a/y.rs", inner),
            ("src/pack/z.rs", "use super::a::y::Y;"),
        ]
    };
    assert_eq!(check(&files("")), [""; 0]);
    let found = check(&files("use super::x::X;"));
    assert!(
        found.len() == 1 && found[0].starts_with("pack::a: a cycle: x -> y -> x"),
        "{found:?}"
    );
    let found = check(&files("use crate::pack::z::Z;"));
    assert!(
        found.len() == 1 && found[0].starts_with("pack: a cycle: a -> z -> a"),
        "{found:?}"
    );
}

#[test]
fn no_part_uses_the_file_that_declares_it() {
    let files = [
        ("src/pack/mod.rs", "mod a; pub use a::A; pub struct Pack;"),
        ("src/pack/a.rs", "use super::Pack;"),
    ];
    let wanted = "src/pack/a.rs:1: `super::Pack`: a part of pack uses the file that declares it; what parts share goes into a part below them";
    assert_eq!(check(&files), [wanted]);
    assert_eq!(check_with(&[("pack", "small")], &files), [""; 0]);
    let found = check(&[
        ("src/lib.rs", "pub struct Root;"),
        ("src/pack.rs", "use crate::Root;"),
    ]);
    assert!(
        found.len() == 1 && found[0].contains("a part of the crate"),
        "{found:?}"
    );
    // Names that the parent re-exports belong to the parent.
    let found = check(&[
        ("src/pack/mod.rs", "mod a; mod b; pub use a::A;"),
        ("src/pack/b.rs", "use super::A;"),
        ("src/pack/a.rs", ""),
    ]);
    assert_eq!(found.len(), 1);
}

#[test]
fn lists_that_do_not_match_the_crate_are_reported() {
    let found = check(&[("src/odd.rs", "")]);
    assert_eq!(found, ["src/odd is in no row of LAYERS"]);
    let found = check_with(&[("store", "once needed")], &[]);
    assert!(
        found.len() == 1 && found[0].starts_with("store needs its exemption no more"),
        "{found:?}"
    );
    let rules = Rules {
        layers: &[&["gone"]],
        exempt: Vec::new(),
    };
    let found = rules.check(&Sources::parse(&[]));
    assert_eq!(found, ["LAYERS names gone, which is not there"]);
}
