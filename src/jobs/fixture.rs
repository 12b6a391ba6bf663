//! A job for tests.

use super::job::{FarmJob, FarmStep, FrameChunks};

/// A simulation, then surfaces in chunks of ten frames, then two exports; with a name that every language must quote.
pub fn job() -> FarmJob {
    FarmJob {
        name: "it's {a} \"bunny\"".to_owned(),
        program: "/opt/cullet".to_owned(),
        store: STORE.to_owned(),
        cores: Some(4),
        show: "testing".to_owned(),
        user: "artist".to_owned(),
        frames: FrameChunks {
            frames: 0..=36,
            chunk: 10,
        },
        steps: vec![
            step("simulate", "simulate", &["--resume"], None),
            FarmStep {
                is_split: true,
                ..step("reconstruct", "reconstruct", &[], Some("simulate"))
            },
            step(
                "export_usd",
                "export",
                &["--format", "usd"],
                Some("reconstruct"),
            ),
            step(
                "export_glb",
                "export",
                &["--format", "glb"],
                Some("reconstruct"),
            ),
        ],
    }
}

fn step(name: &str, command: &str, options: &[&str], waits_for: Option<&str>) -> FarmStep {
    FarmStep {
        name: name.to_owned(),
        command: command.to_owned(),
        options: options.iter().map(|&word| word.to_owned()).collect(),
        is_split: false,
        waits_for: waits_for.map(str::to_owned),
    }
}

/// The name of a folder with what shells and other languages give a meaning to.
pub const STORE: &str = "/shots/it's \"5 $HOME\" {wild} <b>&amp; \\n `ls` %d";
