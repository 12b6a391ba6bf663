//! Exit code 2 where the pipeline, the store or the command is wrong, 1 where a run failed.

use cullet::store::{Manifest, Store};

use crate::harness::TestFolder;

/// Two cubes of 2 cm, one of them rigid, above a floor.
const SHOT: &str = r#"
[time]
end = "1 ms"
frames_per_second = 4000
[[material]]
name = "m"
density = 1000
young = "1 MPa"
[[body]]
name = "b"
material = "m"
shape = { type = "box", size = [0.02, 0.02, 0.02] }
packing = { type = "hexagonal", radius = "1 mm" }
[[body]]
name = "hard"
material = "m"
shape = { type = "box", size = [0.01, 0.01, 0.01] }
packing = { type = "hexagonal", radius = "1 mm" }
position = [0.1, 0, 0]
rigid = true
[[collider]]
name = "floor"
shape = { type = "half_space", normal = [0, 1, 0] }
position = [0, -0.02, 0]
"#;

fn attach(body: &str, half: f64, x: f64, action: &str) -> String {
    format!(
        "{SHOT}[[attach]]\nname = \"a\"\nbody = \"{body}\"\naction = {{ {action} }}\n\
         region = {{ min = [{}, -{half}, -{half}], max = [{}, {half}, {half}] }}\n",
        x - half,
        x + half
    )
}

#[test]
fn a_pipeline_that_cannot_be_run_is_wrong_use() {
    let pressure = "type = \"pressure\", pressure = 1000";
    let clamp = "type = \"clamp\"";
    for (text, part) in [
        // NoSurface
        (attach("b", 2.5e-3, 0.0, pressure), "at the surface"),
        // EmptyAttachment
        (attach("b", 2.5e-3, 1.0, clamp), "no element of body"),
        // PartClamped
        (attach("hard", 2.5e-3, 0.1, clamp), "which is rigid"),
        // StartsInside
        (SHOT.replace("-0.02", "0"), "inside collider"),
        // Unsupported
        (
            format!("{SHOT}[simulate]\nprecision = \"f64\"\nbackend = \"gpu\"\n"),
            "allowed:",
        ),
        // PackError: Overlap
        (SHOT.replace("[0.1, 0, 0]", "[0, 0, 0]"), "overlap"),
    ] {
        let folder = TestFolder::new();
        folder.write("shot.toml", &text);
        for command in [
            &["check", "shot.toml"][..],
            &["pack", "shot.toml", "--out", "store"],
            &["run", "shot.toml", "--out", "store"],
        ] {
            let message = folder.refuse(command);
            assert!(message.contains(part), "{message}");
        }
        assert!(!folder.path("store").exists(), "nothing is written");
    }
}

#[test]
fn a_state_that_does_not_fit_is_wrong_use() {
    let folder = TestFolder::new();
    let alone = attach("hard", 0.02, 0.1, "type = \"clamp\"");
    folder.write("shot.toml", &alone);
    folder.succeed(&["run", "shot.toml", "--out", "store", "--to", "simulate"]);
    let go_on = ["run", "shot.toml", "--out", "store", "--to", "simulate"];
    let with = |more: &[&'static str]| [&go_on[..], more].concat();
    let resume = |setting: &'static str| with(&["--resume", "--set", setting]);
    for (arguments, part) in [
        // TooShort
        (vec!["simulate", "store", "--until", "1 us"], "first frame"),
        // NoState
        (
            vec!["simulate", "store", "--state", "77"],
            "state 77 was not kept",
        ),
        // Changed
        (resume("material.m.friction=0.9"), "--branch NEW_DIR"),
        // FrameRate
        (
            [
                resume("time.end=2 ms"),
                vec!["--set", "time.frames_per_second=4001.5"],
            ]
            .concat(),
            "rates that fit",
        ),
        // Half the rate would have to apply to frames that exist.
        (resume("time.frames_per_second=2000"), "no frame is left"),
        // State: a branch may have other physics, but a state has a fixed precision.
        (
            with(&["--branch", "other", "--set", "simulate.precision=f64"]),
            "simulate.precision",
        ),
    ] {
        let message = folder.refuse(&arguments);
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn errors_are_objects_for_scripts() {
    let folder = TestFolder::new();
    folder.write("shot.toml", "[time]\nend = 1\n");
    let output = folder.output(&["check", "shot.toml", "--json"]);
    assert_eq!(output.status.code(), Some(2));
    let error: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(error["exit_code"], 2);
    let text = error["error"].as_str().unwrap();
    assert!(text.contains("frames_per_second"), "{text}");
}

#[test]
fn invalid_stores_of_other_programs_are_wrong_use_and_damage_is_a_failure() {
    let folder = TestFolder::new();
    folder.write("shot.toml", SHOT);
    folder.succeed(&["run", "shot.toml", "--out", "store", "--to", "simulate"]);
    // A file cut short is a failure, not wrong use.
    let frame = folder.path("store/frames/000002.parquet");
    let whole = std::fs::read(&frame).unwrap();
    std::fs::write(&frame, &whole[..whole.len() / 2]).unwrap();
    let message = folder.fail(&["reconstruct", "store"], 1);
    assert!(message.contains("truncated or altered"), "{message}");
    std::fs::write(&frame, &whole).unwrap();
    let store = Store::open(folder.path("store")).unwrap();
    let change = |change: fn(&mut Manifest)| {
        Manifest::update(&store, change).unwrap();
    };
    // ReconstructError, PreviewError and ExportError from settings that only store.json can contain.
    change(|manifest| {
        let shot = manifest.pipeline.as_mut().unwrap();
        shot.reconstruct.voxel = -1.0;
        shot.preview.width = 3;
        shot.export.debris_size = Some(-1.0);
    });
    let export = ["export", "store", "--format", "usd"];
    let other_kind = [&export[..], &["--usd", "usda", "--to", "shot.usdc"]].concat();
    for (command, part) in [
        (&["reconstruct", "store"][..], "reconstruct.voxel"),
        (&["preview", "store"], "preview of 3 x"),
        (&export, "size of debris"),
        (&other_kind, "--usd usda does not fit --to"),
    ] {
        let message = folder.refuse(command);
        assert!(message.contains(part), "{message}");
    }
    // An element of a material that does not exist.
    let mut packing = store.read_packing().unwrap();
    packing.elements.material[0] = 7;
    store.write_packing(&packing).unwrap();
    change(|manifest| manifest.files.clear());
    let message = folder.refuse(&["simulate", "store"]);
    assert!(message.contains("material 7"), "{message}");
}
