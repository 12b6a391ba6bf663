//! `CONTRIBUTING.md` names only files and tests that exist.

use std::path::Path;

use crate::layering::rust_files;

/// Texts between backquotes outside code blocks.
fn quoted() -> Vec<&'static str> {
    let text = include_str!("../CONTRIBUTING.md");
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_path_named_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_path = |name: &str| {
        let tops = ["src", "tests", "tools", "shaders", "pipelines", ".ci"];
        let top = name.split('/').next().unwrap_or_default();
        tops.contains(&top) || name.ends_with(".md")
    };
    // NAME is a placeholder for what is to be added.
    let named = quoted().into_iter().filter(|name| !name.contains("NAME"));
    let paths: Vec<&str> = named.filter(|name| is_path(name)).collect();
    assert!(paths.len() > 50, "{}", paths.len());
    for path in paths {
        assert!(root.join(path).exists(), "{path} is not there");
    }
}

/// Test names are sentences: they contain at least three underscores, unlike the other functions named there.
#[test]
fn every_test_named_is_there() {
    let sources = rust_files(&["src", "tests"]);
    let tests: Vec<&str> = quoted()
        .into_iter()
        .filter(|name| name.matches('_').count() >= 3 && !name.contains(['/', '.']))
        .collect();
    assert!(tests.len() >= 8, "{tests:?}");
    for test in tests {
        let head = format!("fn {test}()");
        let found = sources.iter().any(|(_, text)| text.contains(&head));
        assert!(found, "no test is called {test}");
    }
}
