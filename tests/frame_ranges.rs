//! `--frames`: all ways to select frames, and the messages for invalid selections.

use cullet::store::Store;

use crate::harness::{TestFolder, files};

const SHOT: &str = "[time]\nend = \"5 ms\"\nframes_per_second = 1000\n[[material]]\nname = \"m\"\ndensity = 1000\nyoung = \"1 MPa\"\n\
    [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = { type = \"block\", rows = [3, 3, 3] }\npacking = { type = \"hexagonal\", radius = \"1 mm\" }\n\
    [preview]\nwidth = 32\nheight = 32\n";

#[test]
fn frames_are_asked_for_in_five_ways() {
    let folder = TestFolder::new();
    folder.write("shot.toml", SHOT);
    folder.succeed(&["run", "shot.toml", "--out", "store", "--to", "simulate"]);
    for (frames, wanted) in [
        ("..", 0..6),
        ("2..", 2..6),
        ("..2", 0..2),
        ("1..3", 1..3),
        ("1..=3", 1..4),
        ("..=3", 0..4),
        ("1-3", 1..4),
        ("3-3", 3..4),
        ("3", 3..4),
        ("0", 0..1),
        ("4-99", 4..6),
    ] {
        let wanted = |kind: &str, extension: &str| -> Vec<String> {
            let name = |frame| format!("{kind}/{frame:06}.{extension}");
            wanted.clone().map(name).collect()
        };
        let made = |kind: &str| {
            let mut names: Vec<_> = files(&folder.path("store"), &[kind]).into_keys().collect();
            names.retain(|name| name != "preview/contact_sheet.png");
            Store::at(folder.path("store")).clear(&[kind]).unwrap();
            names
        };
        folder.succeed(&["preview", "store", "--frames", frames]);
        assert_eq!(made("preview"), wanted("preview", "png"), "{frames}");
        folder.succeed(&["reconstruct", "store", "--frames", frames]);
        let ply = [
            "export", "store", "--format", "ply", "--to", "ply", "--frames", frames,
        ];
        folder.succeed(&ply);
        let exported = std::fs::read_dir(folder.path("ply")).unwrap().count();
        std::fs::remove_dir_all(folder.path("ply")).unwrap();
        let surfaces = made("meshes");
        assert_eq!(surfaces, wanted("meshes", "rkyv"), "{frames}");
        assert_eq!(exported, surfaces.len(), "{frames}");
    }
}

#[test]
fn other_words_for_frames_are_refused_with_those_there_are() {
    let folder = TestFolder::new();
    for (frames, parts) in [
        (
            "first",
            &["\"first\" is not a frame number", "A..=B", "5.."][..],
        ),
        ("1.5", &["\"1.5\" is not a frame number"]),
        ("1..x", &["\"x\" is not a frame number"]),
        ("x..=3", &["\"x\" is not a frame number"]),
        ("1..=", &["expected A..B (without B)"]),
        ("3-", &["expected A..B (without B)"]),
        ("", &["expected A..B (without B)"]),
        ("99999999999", &["\"99999999999\" is not a frame number"]),
        ("4..2", &["4..2 ends before it begins"]),
        ("4..=2", &["4..=2 ends before it begins"]),
        ("4-3", &["4-3 ends before it begins"]),
        ("4..4", &["4..4 contains no frame", "4..=4 contains one"]),
        ("..0", &["..0 contains no frame"]),
    ] {
        for stage in ["reconstruct", "preview", "plot"] {
            let output = folder.output(&[stage, "store", "--frames", frames]);
            let message = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{frames}: {message}");
            for part in parts {
                assert!(
                    message.contains(part),
                    "{frames}: {part:?} is not in {message}"
                );
            }
        }
    }
    let help = folder.succeed(&["export", "--help"]);
    assert!(help.contains("A..=B or A-B (with B)"), "{help}");
}
