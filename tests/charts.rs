//! Charts, the summary and the warnings, as a user gets them.

use std::path::Path;

use crate::harness::{TestFolder, shot};

/// A store of the beams at smoke size: bonds break, there are no surfaces.
fn store(folder: &TestFolder) {
    let beams = shot("two_beams");
    let mut arguments = vec!["run", &beams, "--out", "store", "--to", "simulate"];
    for setting in ["scale=smoke", "simulate.backend=cpu"] {
        arguments.extend(["--set", setting]);
    }
    folder.succeed(&arguments);
}

/// Checks that every element is closed, every attribute quoted, and every `>` and `&` in the text escaped.
fn well_formed(text: &str) {
    let mut open = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (content, tag) = rest.split_at(at);
        assert!(!content.contains('>'), "{content}");
        for (at, _) in content.match_indices('&') {
            let known = ["&amp;", "&lt;", "&gt;"];
            assert!(known.iter().any(|k| content[at..].starts_with(k)));
        }
        let end = tag.find('>').expect("a tag ends");
        let inside = &tag[1..end];
        assert_eq!(inside.matches('"').count() % 2, 0, "{inside}");
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name.to_owned()));
        } else if !inside.ends_with('/') {
            let name = inside.split(' ').next().unwrap_or_default();
            open.push(name.to_owned());
        }
        rest = &tag[end + 1..];
    }
    assert!(open.is_empty(), "{open:?}");
}

fn size(path: &Path) -> (u32, u32) {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert!(pixels.iter().any(|byte| *byte < 60), "something is drawn");
    (info.width, info.height)
}

#[test]
fn charts_are_the_same_whatever_the_threads_and_name_what_is_missing() {
    let folder = TestFolder::new();
    store(&folder);
    folder.succeed(&["plot", "store", "--threads", "1"]);
    folder.succeed(&["plot", "store", "--threads", "2", "--to", "elsewhere"]);
    let packing = ["distances", "bonds", "directions"].map(|kind| format!("packing_{kind}"));
    let others = ["energy", "breaks", "fragments", "loads"].map(str::to_owned);
    for name in others.into_iter().chain(packing) {
        for format in ["svg", "png"] {
            let file = format!("{name}.{format}");
            let read = |store: &str| std::fs::read(folder.path(store).join(&file)).unwrap();
            assert!(read("store/plots") == read("elsewhere"), "{file}");
        }
        let svg = folder.path("elsewhere").join(format!("{name}.svg"));
        well_formed(&std::fs::read_to_string(svg).unwrap());
        let png = folder.path("elsewhere").join(format!("{name}.png"));
        assert_eq!(size(&png).0, 1240);
    }
    // A store with one frame, before anything broke.
    let first = [
        "plot", "store", "--frames", "..1", "--to", "first", "--format", "svg",
    ];
    folder.succeed(&first);
    let files = std::fs::read_dir(folder.path("first")).unwrap().count();
    assert_eq!(files, 7);

    // A store as other programs write it: frames and nothing else.
    let manifest = "{\"schema_version\": 1, \"units\": \"SI\", \"coordinates\": \"right-handed, y up, metres\"}";
    folder.write("store/store.json", manifest);
    for kind in ["history", "breaks"] {
        std::fs::remove_dir_all(folder.path("store").join(kind)).unwrap();
    }
    let output = folder.output(&["plot", "store", "--to", "some"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("left out: energy needs history"), "{said}");
    for kind in ["fragments", "loads", "packing"] {
        std::fs::remove_dir_all(folder.path("store").join(kind)).unwrap();
    }
    let message = folder.refuse(&["plot", "store", "--to", "none"]);
    assert!(message.contains("fragments needs"), "{message}");
    assert!(!folder.path("none").exists());
}

#[test]
fn the_summary_lists_energies_breaks_fragments_time_and_disk() {
    let folder = TestFolder::new();
    store(&folder);
    let json: serde_json::Value =
        serde_json::from_str(&folder.succeed(&["inspect", "store", "--json"])).unwrap();
    let modes = json["broken_by_mode"].as_object().unwrap();
    let broken: u64 = modes.values().filter_map(|count| count.as_u64()).sum();
    assert!(broken > 0);
    assert_eq!(json["last"]["broken"], broken);
    let frames = &json["disk"]["by_kind"]["frames"];
    assert_eq!(frames["files"], json["frames"]);
    let first = std::fs::metadata(folder.path("store/frames/000000.parquet")).unwrap();
    assert!(frames["bytes"].as_u64().unwrap() > first.len());
    assert!(json["frame_seconds"]["most"].as_f64() >= json["frame_seconds"]["mean"].as_f64());

    let text = folder.succeed(&["inspect", "store"]);
    for word in [
        "packing          720 elements",
        "kinetic ",
        &format!("broken           {broken} bonds"),
        "tension",
        "fragments ",
        "load             floor",
        "wall time        pack",
        "per frame of simulate, at most",
        "on disk          breaks",
    ] {
        assert!(text.contains(word), "{word} in {text}");
    }
}

#[test]
fn check_warns_with_numbers_and_says_nothing_of_the_shots() {
    let folder = TestFolder::new();
    let plate = shot("plate_impact");
    let warnings = |settings: &[&str]| {
        let mut arguments = vec!["check", &plate, "--json", "--set", "scale=smoke"];
        for setting in settings {
            arguments.extend(["--set", setting]);
        }
        let json: serde_json::Value = serde_json::from_str(&folder.succeed(&arguments)).unwrap();
        let kinds = json["warnings"].as_array().unwrap().iter();
        let kinds = kinds.map(|warning| warning["kind"].as_str().unwrap().to_owned());
        kinds.collect::<Vec<_>>()
    };
    assert!(warnings(&["simulate.backend=cpu"]).is_empty());
    let two = warnings(&["simulate.backend=cpu", "body.plate.shape.layers=2"]);
    assert_eq!(two, ["thin"]);
    let fast = warnings(&[
        "simulate.backend=cpu",
        "collider.ball.velocity=[0, \"-50 m/s\", 0]",
        "material.ceramic.tensile_strength=5 MPa",
    ]);
    assert_eq!(fast, ["steps_to_break"]);
}
