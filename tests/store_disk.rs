//! What happens to a store if the disk is full or cannot be written.

use crate::harness::{TestFolder, files, shot};
use crate::store::{SMALL, TABLES, run, simulated};

/// Runs a shell script in its own mount namespace; prints a message and returns `None` where that is not
/// allowed.
#[cfg(target_os = "linux")]
fn with_mounts(folder: &TestFolder, script: &str) -> Option<std::process::Output> {
    let allowed = |flags: &str| {
        let tried = std::process::Command::new("unshare")
            .args([flags, "sh", "-c", "mount -t tmpfs none /tmp"])
            .output();
        tried.is_ok_and(|output| output.status.success())
    };
    let Some(flags) = ["-m", "-Urm"].into_iter().find(|flags| allowed(flags)) else {
        println!("skipped: this system lets no test mount a file system");
        return None;
    };
    let program = env!("CARGO_BIN_EXE_cullet");
    let mut command = std::process::Command::new("unshare");
    command.args([
        flags,
        "sh",
        "-c",
        script,
        "sh",
        program,
        &shot("bunny_drop"),
    ]);
    Some(command.current_dir(folder.path("")).output().unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one_message_and_the_run_goes_on_elsewhere() {
    let folder = TestFolder::new();
    simulated(&folder, "whole");
    let whole = files(&folder.path("whole"), &TABLES);
    let bytes = |folders: &[&str]| {
        let files = files(&folder.path("whole"), folders);
        files.values().map(Vec::len).sum::<usize>()
    };
    // Space for the packing, its shape and some of the frames.
    let room = bytes(&["packing", "packing/shapes"]) + bytes(&["frames", "state"]) / 2;
    std::fs::create_dir(folder.path("full")).unwrap();
    let settings: String = SMALL.map(|setting| format!(" --set '{setting}'")).concat();
    let script = format!(
        "mount -t tmpfs -o size={room} tmpfs full && \"$1\" run \"$2\" --out full/store --to simulate{settings}; code=$?; \
         cp -r full/store left; exit $code"
    );
    let Some(output) = with_mounts(&folder, &script) else {
        return;
    };
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert_eq!(message.matches("cullet: ").count(), 1, "{message}");
    assert!(message.contains("No space left on device"), "{message}");
    let left = files(&folder.path("left"), &TABLES);
    assert!(
        left.iter().all(|(name, bytes)| whole[name] == *bytes),
        "whole files only"
    );
    assert!(left.len() < whole.len());
    run(&folder, "left", &["--to", "simulate", "--resume"]);
    assert!(files(&folder.path("left"), &TABLES) == whole);
}

#[cfg(target_os = "linux")]
#[test]
fn a_read_only_folder_is_one_message() {
    let folder = TestFolder::new();
    simulated(&folder, "store");
    let script =
        "mount --bind store store && mount -o remount,bind,ro store && \"$1\" reconstruct store";
    let Some(output) = with_mounts(&folder, script) else {
        return;
    };
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(
        message.contains("store/") && message.contains("Read-only file system"),
        "{message}"
    );
    assert!(!folder.path("store/meshes").exists());
}

#[cfg(unix)]
#[test]
fn a_packing_that_finds_no_room_leaves_the_store_as_it_was() {
    let folder = TestFolder::new();
    simulated(&folder, "store");
    let all = [
        "packing",
        "frames",
        "breaks",
        "fragments",
        "loads",
        "history",
        "state",
    ];
    let before = files(&folder.path("store"), &all);
    let manifest = std::fs::read(folder.path("store/store.json")).unwrap();
    // The limit is 64 blocks of 512 bytes a file.
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$@\"";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_cullet")]);
    let bunny = shot("bunny_drop");
    command.args(["pack", &bunny, "--out", "store"]);
    let output = command.current_dir(folder.path("")).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("File too large"), "{message}");
    assert!(files(&folder.path("store"), &all) == before);
    assert!(std::fs::read(folder.path("store/store.json")).unwrap() == manifest);
    let left = std::fs::read_dir(folder.path("store")).unwrap();
    let temporary = |name: &str| name.ends_with(".tmp");
    assert!(
        left.into_iter()
            .all(|entry| !temporary(&entry.unwrap().file_name().to_string_lossy()))
    );
}
