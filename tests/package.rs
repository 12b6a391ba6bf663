//! What belongs to a release: the list of files of the crate, manual pages, shell completions.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::harness::TestFolder;
use crate::layering::rust_files;

/// Files that `cargo package` would put into the crate.
fn listed() -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["package", "--list", "--allow-dirty", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}");
    assert!(!errors.contains("warning"), "{errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.replace('\\', "/")).collect()
}

/// Paths that `include_str!` and `include_bytes!` name literally, relative to the root.
fn included(file: &str, text: &str) -> Vec<String> {
    let calls = ["include_str!(\"", "include_bytes!(\""];
    let named = calls.iter().flat_map(|call| text.split(call).skip(1));
    let folder = Path::new(file).parent().unwrap();
    named
        .map(|rest| {
            let mut path = Vec::new();
            for part in folder.join(rest.split('"').next().unwrap()).iter() {
                match part.to_str().unwrap() {
                    ".." => drop(path.pop()),
                    part => path.push(part.to_owned()),
                }
            }
            path.join("/")
        })
        .collect()
}

/// Bytes of a file as a crate holds it; 0 for files that only the crate has.
fn compressed(file: &Path) -> usize {
    let content = std::fs::read(file).unwrap_or_default();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&content).unwrap();
    encoder.finish().unwrap().len()
}

#[test]
fn the_crate_holds_what_it_needs_and_nothing_large() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let listed = listed();
    let mut needed = Vec::new();
    for (file, text) in rust_files(&["src", "tests"]) {
        needed.extend(included(&file, &text));
        needed.push(file);
    }
    assert!(needed.len() > 400, "{}", needed.len());
    needed.extend(["LICENSE", "README.md", "CHANGELOG.md"].map(str::to_owned));
    needed.push("pipelines/meshes/bunny.obj".to_owned());
    for entry in std::fs::read_dir(root.join("shaders/kernels")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        needed.push(format!("shaders/kernels/{name}"));
    }
    for file in needed {
        assert!(
            listed.contains(&file),
            "`include` in Cargo.toml lacks {file}"
        );
    }
    let mut sum = 0;
    for file in &listed {
        let size = std::fs::metadata(root.join(file)).map_or(0, |data| data.len());
        assert!(size < 400_000, "{file} has {size} bytes");
        assert!(!file.ends_with(".png") && !file.ends_with(".py"), "{file}");
        sum += compressed(&root.join(file));
    }
    // crates.io takes 10 MB.
    assert!(sum < 5_000_000, "{sum} bytes");
}

/// Reports that a program is missing, which fails where all are required.
fn skip(program: &str) {
    let required = std::env::var_os("CULLET_EXTERNAL_REQUIRED").is_some();
    assert!(!required, "{program} is not here");
    println!("skipped: {program} is not here");
}

/// Names of all commands, as `cullet --help` lists them.
fn commands(folder: &TestFolder) -> Vec<String> {
    let help = folder.succeed(&["--help"]);
    let list = help.split("Commands:\n").nth(1).unwrap();
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.map(|line| line.split_whitespace().next().unwrap().to_owned());
    names.filter(|name| name != "help").collect()
}

#[test]
fn there_is_a_manual_page_for_each_command_that_formatters_accept() {
    let folder = TestFolder::new();
    folder.succeed(&["man", "--out", "man1"]);
    let commands = commands(&folder);
    assert!(commands.len() > 12, "{commands:?}");
    let mut pages: Vec<String> = commands
        .iter()
        .map(|name| format!("cullet-{name}.1"))
        .collect();
    pages.push("cullet.1".to_owned());
    let found = std::fs::read_dir(folder.path("man1")).unwrap();
    let found: BTreeSet<String> = found
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(found, pages.iter().cloned().collect());
    for page in &pages {
        let text = std::fs::read_to_string(folder.path("man1").join(page)).unwrap();
        for section in [
            "NAME",
            "SYNOPSIS",
            "DESCRIPTION",
            "OPTIONS",
            "\"EXIT STATUS\"",
        ] {
            assert!(
                text.contains(&format!(".SH {section}\n")),
                "{page}: {section}"
            );
        }
    }
    for checker in [
        &["groff", "-Kutf8", "-man", "-Tutf8", "-ww", "-z"][..],
        &["mandoc", "-T", "lint", "-W", "warning"][..],
    ] {
        if Command::new(checker[0]).arg("--version").output().is_err()
            && Command::new(checker[0]).arg("-h").output().is_err()
        {
            skip(checker[0]);
            continue;
        }
        let mut command = Command::new(checker[0]);
        command.args(&checker[1..]).args(&pages);
        let output = command.current_dir(folder.path("man1")).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        // The pages have no date, so that they are the same whenever they are written.
        let lines = said.lines().filter(|line| !line.contains("missing date"));
        assert_eq!(lines.collect::<Vec<_>>(), [""; 0], "{}", checker[0]);
    }
    folder.write("file", "");
    let message = folder.refuse(&["man", "--out", "file"]);
    assert!(message.contains("file: --out is a file"), "{message}");
}

/// What bash offers after these words, the last of which is being typed.
fn offered(folder: &TestFolder, words: &[&str]) -> Option<Vec<String>> {
    let script = folder.path("cullet.bash");
    std::fs::write(&script, folder.succeed(&["completions", "bash"])).unwrap();
    let ask = "source ./cullet.bash; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); \
               _cullet cullet \"${@: -1}\" \"${@: -2:1}\"; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash");
    bash.args(["-c", ask, "bash"]).args(words);
    let output = bash.current_dir(folder.path("")).output().ok()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(str::to_owned).collect())
}

#[test]
fn shells_complete_commands_formats_stages_and_shells() {
    let folder = TestFolder::new();
    let cases: [(&[&str], &[&str]); 8] = [
        (&["cullet", "rec"], &["reconstruct"]),
        (
            &["cullet", "export", "shot", "--format", ""],
            &["usd", "alembic", "glb-animated", "vtk"],
        ),
        (
            &["cullet", "export", "shot", "--usd", ""],
            &["usda", "usdc", "usdz"],
        ),
        (
            &["cullet", "run", "a.toml", "--from", ""],
            &["pack", "simulate", "stress", "preview"],
        ),
        (
            &["cullet", "simulate", "shot", "--backend", ""],
            &["auto", "cpu", "gpu"],
        ),
        (&["cullet", "plot", "shot", "--format", ""], &["svg", "png"]),
        (
            &["cullet", "completions", ""],
            &["bash", "zsh", "fish", "powershell"],
        ),
        (&["cullet", "man", "--o"], &["--out"]),
    ];
    for (words, expected) in cases {
        let Some(offered) = offered(&folder, words) else {
            return skip("bash");
        };
        for word in expected {
            assert!(
                offered.iter().any(|found| found == word),
                "{words:?}: {word} not in {offered:?}"
            );
        }
    }
}
