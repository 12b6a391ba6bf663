//! The READMEs and the guide: links lead somewhere, examples are valid, every key is explained, nothing is
//! stale or too wide.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::harness::TestFolder;
use crate::layering::files_ending;

/// Every Markdown file: relative path and text.
fn pages() -> Vec<(String, String)> {
    let mut pages = files_ending("md", &["pipelines", "shaders", "src", "tests", "tools"]);
    for name in ["CHANGELOG.md", "CONTRIBUTING.md", "README.md"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        pages.push((name.to_owned(), std::fs::read_to_string(path).unwrap()));
    }
    pages
}

/// What links call a heading: lower case, hyphens for spaces, no punctuation.
fn anchor(heading: &str) -> String {
    let lower = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = lower.replace(' ', "-");
    kept.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
        .collect()
}

/// Targets of the links of a page: inline ones, and those that definitions at its end give.
fn targets(page: &str, text: &str) -> Vec<String> {
    // Odd parts are blocks of code.
    let prose: String = text.split("```").step_by(2).collect();
    let inline = prose.split("](").skip(1);
    let mut targets: Vec<String> = inline
        .map(|rest| rest.split_once(')').unwrap().0.to_owned())
        .collect();
    let definitions: BTreeMap<&str, &str> = prose.lines().filter_map(definition).collect();
    for rest in prose.split("][").skip(1) {
        let label = rest.split_once(']').unwrap().0;
        assert!(
            definitions.contains_key(label),
            "{page}: nothing says where [{label}] leads"
        );
    }
    targets.extend(definitions.values().map(|target| (*target).to_owned()));
    targets.retain(|target| !target.starts_with("https:"));
    targets
}

/// Label and target of a line `[label]: target`.
fn definition(line: &str) -> Option<(&str, &str)> {
    let (label, target) = line.strip_prefix('[')?.split_once("]: ")?;
    (!target.contains(' ')).then_some((label, target))
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut links = 0;
    for (page, text) in pages() {
        if page == LINKS {
            continue;
        }
        for target in targets(&page, &text) {
            links += 1;
            let (path, heading) = target.split_once('#').unwrap_or((&target, ""));
            let file = match path {
                "" => root.join(&page),
                _ => root.join(&page).with_file_name(path),
            };
            assert!(file.exists(), "{page}: {target} is not there");
            if !heading.is_empty() {
                let text = std::fs::read_to_string(&file).unwrap();
                let mut headings = text.lines().filter(|line| line.starts_with('#'));
                let found = headings.any(|line| anchor(line) == heading);
                assert!(found, "{page}: {target}: no such heading");
            }
        }
    }
    assert!(links > 60, "{links}");
}

/// Where the links of the guide lead in the pages of `cargo doc`.
const LINKS: &str = "src/guide/links.md";

/// A page of the guide that links to a file by a path would lead nowhere in the pages of `cargo doc`.
#[test]
fn links_of_the_guide_lead_somewhere_in_cargo_doc_too() {
    let links = include_str!("../src/guide/links.md");
    let known: BTreeSet<&str> = links.lines().filter_map(definition).map(|d| d.0).collect();
    let guide = include_str!("../src/guide/mod.rs");
    let chapters: Vec<&str> = guide
        .lines()
        .filter_map(|line| line.strip_prefix("page!(")?.split('"').nth(1))
        .collect();
    assert!(chapters.len() > 15, "{chapters:?}");
    let mut used = BTreeSet::new();
    for chapter in chapters {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("src/guide")
            .join(chapter);
        let text = std::fs::read_to_string(&file).unwrap();
        // Links of tables that commands write are all to pages, by a path and a heading.
        for (label, _) in text.lines().filter_map(definition) {
            assert!(
                known.contains(label),
                "{LINKS} lacks [{label}] of {chapter}"
            );
            used.insert(label.to_owned());
        }
        let prose: String = text.split("```").step_by(2).collect();
        for rest in prose.split("](").skip(1) {
            let target = rest.split_once(')').unwrap().0;
            let leads = target.starts_with("https:") || target.starts_with('#');
            assert!(
                leads,
                "{chapter}: write {target} as [text][label] with a line [label]: {target}"
            );
        }
    }
    for label in known {
        assert!(used.contains(label), "{LINKS}: no page links to [{label}]");
    }
}

#[test]
fn the_readme_is_short() {
    let readme = include_str!("../README.md");
    assert!(readme.lines().count() <= 200);
    for line in readme.lines() {
        assert!(line.chars().count() <= 120, "{line}");
    }
}

/// Formulas, in blocks marked as text, may be wider.
#[test]
fn comments_are_at_most_120_columns_wide() {
    // The laws in `shaders/laws` are generated, without the marks of blocks.
    for (extension, folders) in [
        ("rs", &["src", "tests", "tools"][..]),
        ("wgsl", &["shaders/kernels"][..]),
    ] {
        for (file, text) in files_ending(extension, folders) {
            let mut is_block = false;
            for (number, line) in (1..).zip(text.lines()) {
                let line = line.trim_end();
                if !line.trim_start().starts_with("//") {
                    is_block = false;
                    continue;
                }
                if line.contains("```") {
                    is_block = !is_block;
                }
                let width = line.chars().count();
                assert!(
                    is_block || width <= 120,
                    "{file}:{number} is {width} columns wide"
                );
            }
        }
    }
}

/// Pages that commands write: file, arguments.
#[test]
fn generated_pages_are_current() {
    for (page, argument) in [
        ("src/spec/KEYS.md", "--keys"),
        ("src/columns/COLUMNS.md", "--columns"),
    ] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
        let written = TestFolder::new().succeed(&["schema", argument]);
        assert!(
            std::fs::read_to_string(file).unwrap() == written,
            "{page} is stale: cullet schema {argument} > {page}"
        );
    }
}

/// The blocks of TOML of a page, one after another.
fn toml_blocks(page: &str) -> String {
    let blocks = page.split("```toml\n").skip(1);
    blocks
        .map(|rest| rest.split_once("```").unwrap().0)
        .collect()
}

#[test]
fn the_examples_make_a_pipeline_file() {
    let readme = toml_blocks(include_str!("../README.md"));
    let more = toml_blocks(include_str!("../src/spec/README.md"));
    let folder = concat!("\"", env!("CARGO_MANIFEST_DIR"), "/pipelines/meshes/");
    let place = TestFolder::new();
    for (name, text) in [
        ("readme.toml", readme.clone()),
        ("all.toml", readme + "\n" + &more),
    ] {
        place.write(name, &text.replace("\"meshes/", folder));
        place.succeed(&["check", name, "--set", "body.bunny.packing.elements=1000"]);
    }
}

/// Names of the keys of all tables in a JSON Schema.
fn keys(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Object(properties)) = object.get("properties") {
                found.extend(properties.keys().cloned());
            }
            object.values().for_each(|value| keys(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

#[test]
fn every_key_of_pipelines_is_explained() {
    let schema = TestFolder::new().succeed(&["schema"]);
    let mut wanted = BTreeSet::new();
    keys(&serde_json::from_str(&schema).unwrap(), &mut wanted);
    assert!(wanted.len() > 100, "{}", wanted.len());
    // Odd parts are code.
    let page = include_str!("../src/spec/README.md");
    let code = page.split('`').skip(1).step_by(2);
    let words: BTreeSet<&str> = code
        .flat_map(|code| code.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .collect();
    for key in wanted {
        assert!(
            words.contains(key.as_str()),
            "src/spec/README.md lacks `{key}`"
        );
    }
}
