//! Runs the program like a user, in a temporary folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A temporary folder and the program to run in it.
pub struct TestFolder {
    folder: tempfile::TempDir,
}

impl TestFolder {
    pub fn new() -> Self {
        TestFolder {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file into the folder.
    pub fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cullet"));
        command.current_dir(self.folder.path());
        command
    }

    /// Runs the program and returns its output.
    pub fn output(&self, arguments: &[&str]) -> Output {
        self.command().args(arguments).output().unwrap()
    }

    /// Runs the program, expects success and returns standard output.
    pub fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs the program, expects exit code 2 with one message, and returns the message.
    pub fn refuse(&self, arguments: &[&str]) -> String {
        self.fail(arguments, 2)
    }

    /// Runs the program, expects this exit code with one message on the last line, and returns the message.
    pub fn fail(&self, arguments: &[&str], code: i32) -> String {
        let output = self.output(arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
        let messages = error.lines().filter(|line| line.starts_with("cullet: "));
        assert_eq!(messages.count(), 1, "one message: {error}");
        let last = error.lines().last().unwrap();
        assert!(last.starts_with("cullet: "), "{error}");
        last.to_owned()
    }
}

/// A pipeline file of this repository.
pub fn shot(name: &str) -> String {
    format!("{}/pipelines/{name}.toml", env!("CARGO_MANIFEST_DIR"))
}

/// All files in these folders under `root`, by relative path.
pub fn files(root: &Path, folders: &[&str]) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for folder in folders {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            // Skips folders, and temporary files that a killed writer left behind.
            if path.is_dir() || path.file_name().unwrap().to_string_lossy().starts_with('.') {
                continue;
            }
            let name = format!("{folder}/{}", path.file_name().unwrap().to_string_lossy());
            found.insert(name, std::fs::read(&path).unwrap());
        }
    }
    found
}
