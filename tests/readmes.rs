//! The READMEs: their links lead somewhere, their pipeline file is one, and every key of pipelines is explained.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::harness::Place;
use crate::layering::files_ending;

/// Every Markdown file: relative path and text.
fn pages() -> Vec<(String, String)> {
    let mut pages = files_ending("md", &["pipelines", "shaders", "src", "tests", "tools"]);
    for name in ["CONTRIBUTING.md", "README.md"] {
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

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut links = 0;
    for (page, text) in pages() {
        // Odd parts are blocks of code.
        let prose: String = text.split("```").step_by(2).collect();
        for link in prose.split("](").skip(1) {
            let (target, _) = link.split_once(')').unwrap();
            if target.starts_with("https:") {
                continue;
            }
            links += 1;
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
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
    let place = Place::new();
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
    let schema = Place::new().succeed(&["schema"]);
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
