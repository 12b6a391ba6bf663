//! `cullet calibrate`: what to enter so that specimens have the moduli and strengths asked for.

use serde_json::Value;

use crate::harness::TestFolder;

const SHOT: &str = r#"
[time]
end = 1
frames_per_second = 24

[[material]]
name = "stone"
density = 2000
young = "1 GPa"
poisson = 0.2
tensile_strength = "2.5 MPa"
shear_strength = "25 MPa"
weibull_modulus = 8

[[body]]
name = "block"
material = "stone"
shape = { type = "box", size = [0.1, 0.1, 0.1] }
packing = { type = "hexagonal", radius = "5 mm" }
"#;

/// What `calibrate` prints about the shot as JSON.
fn calibrated(place: &TestFolder, arguments: &[&str]) -> Value {
    let command = [
        "calibrate",
        "shot.toml",
        "--json",
        "--out",
        "found",
        "--across",
        "6",
    ];
    let output = place.output(&[&command[..], arguments].concat());
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What `calibrate` prints about arguments that it refuses.
fn refused(place: &TestFolder, arguments: &[&str]) -> String {
    let command = ["calibrate", "shot.toml", "--out", "other"];
    let output = place.output(&[&command[..], arguments].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(!place.path("other").exists());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn specimens_have_the_moduli_and_the_strength_that_were_asked_for() {
    let place = TestFolder::new();
    place.write("shot.toml", SHOT);
    let asked = [
        "--young",
        "3 GPa",
        "--poisson",
        "0.15",
        "--tensile-strength",
        "4 MPa",
    ];
    let out = calibrated(&place, &asked);
    assert_eq!(out["not_reached"], Value::Array(vec![]), "{out}");
    assert!(out["rounds"].as_u64().unwrap() > 1, "{out}");
    let found = |key: &str| out["found"][key].as_f64().unwrap();
    assert!((found("young") / 3e9 - 1.0).abs() < 0.01, "{out}");
    assert!((found("poisson") - 0.15).abs() < 0.005, "{out}");
    assert!(
        (found("tensile_strength") / 4e6 - 1.0).abs() < 0.01,
        "{out}"
    );
    // Bonds that scatter have to be stronger.
    let entered = out["enter"]["tensile_strength"].as_f64().unwrap();
    assert!(entered > 4.2e6, "{out}");
    // The keys to paste have the values that were printed.
    let keys = std::fs::read_to_string(place.path("found/material.toml")).unwrap();
    let table: toml::Table = toml::from_str(&keys).unwrap();
    for (key, value) in &table {
        let off = value.as_float().unwrap() / out["enter"][key].as_f64().unwrap() - 1.0;
        assert!(off.abs() < 1e-3, "{key}: {off}");
    }
    assert_eq!(table.len(), 4);
    for file in ["bars.parquet", "bars.svg", "bars.png"] {
        assert!(place.path("found").join(file).is_file(), "{file}");
    }
    let again = place.output(&["calibrate", "shot.toml", "--out", "found"]);
    assert_eq!(again.status.code(), Some(2));
    assert_eq!(
        std::fs::read_to_string(place.path("found/material.toml")).unwrap(),
        keys
    );
}

#[test]
fn bonds_get_the_moduli_that_make_the_solid_and_prisms_their_strength() {
    let place = TestFolder::new();
    let bonds = "shear = \"0.42 GPa\"\nelasticity = \"bond\"\n";
    let shot = SHOT
        .replace("poisson = 0.2\n", bonds)
        .replace("hexagonal", "random");
    place.write("shot.toml", &shot.replace("weibull_modulus = 8\n", ""));
    let out = calibrated(&place, &["--compressive-strength", "9 MPa"]);
    assert_eq!(out["not_reached"], Value::Array(vec![]), "{out}");
    let found = |key: &str| out["found"][key].as_f64().unwrap();
    assert!((found("young") / 1e9 - 1.0).abs() < 0.01, "{out}");
    // That of a solid of such bonds: (1 - 0.42) / (4 + 0.42).
    assert!((found("poisson") - 0.131).abs() < 0.006, "{out}");
    assert!(
        (found("compressive_strength") / 9e6 - 1.0).abs() < 0.03,
        "{out}"
    );
    let entered = |key: &str| out["enter"][key].as_f64().unwrap();
    // A thin bar of random packing is softer than its bonds and half as strong.
    assert!(entered("young") > 1.2e9, "{out}");
    assert!(entered("tensile_strength") > 4e6, "{out}");
    assert!(
        (0.3..0.7).contains(&(entered("shear") / entered("young"))),
        "{out}"
    );
}

#[test]
fn strips_tear_at_the_toughness_that_was_asked_for() {
    let place = TestFolder::new();
    place.write("shot.toml", &SHOT.replace("weibull_modulus = 8\n", ""));
    let out = calibrated(&place, &["--toughness", "0.4 MPa √m"]);
    assert_eq!(out["not_reached"], Value::Array(vec![]), "{out}");
    let found = out["found"]["toughness"].as_f64().unwrap();
    assert!((found / 4e5 - 1.0).abs() < 0.03, "{out}");
    let keys = std::fs::read_to_string(place.path("found/material.toml")).unwrap();
    assert!(keys.contains("\ntoughness = "), "{keys}");
}

#[test]
fn what_has_no_strips_is_refused() {
    let place = TestFolder::new();
    place.write("shot.toml", SHOT);
    let message = refused(&place, &["--toughness", "9 MPa √m"]);
    assert!(
        message.contains("elements high, more than 100"),
        "{message}"
    );
    let message = refused(&place, &["--toughness", "9 MPa"]);
    assert!(message.contains("fracture toughness"), "{message}");
    let cells = "body.block.packing={type=\"voronoi\",size=\"10 mm\"}";
    let message = refused(&place, &["--toughness", "0.2 MPa √m", "--set", cells]);
    assert!(
        message.contains("bonds of cells do not soften"),
        "{message}"
    );
}

#[test]
fn what_has_no_bars_is_refused() {
    let place = TestFolder::new();
    place.write("shot.toml", SHOT);
    let shell = "body.block.packing={type=\"shell\",layers=2,radius=\"5 mm\"}";
    let message = refused(&place, &["--set", shell]);
    assert!(
        message.contains("hexagonal, random and voronoi only"),
        "{message}"
    );
    let message = refused(&place, &["--body", "bloc"]);
    assert!(
        message.contains("no such body; bodies are \"block\""),
        "{message}"
    );
    let message = refused(&place, &["--set", "body.block.bonded=false"]);
    assert!(message.contains("its elements are loose"), "{message}");
    let message = refused(&place, &["--young", "3 kg"]);
    assert!(message.contains("kg"), "{message}");
    let message = refused(&place, &["--young", "3"]);
    assert!(message.contains("a tenth of Young's modulus"), "{message}");
    let message = refused(&place, &["--poisson", "0.3"]);
    assert!(
        message.contains("Poisson's ratio of bonds is at most 0.25"),
        "{message}"
    );
    // A folder that holds anything is left as it is.
    std::fs::create_dir(place.path("taken")).unwrap();
    place.write("taken/notes.txt", "mine");
    let output = place.output(&["calibrate", "shot.toml", "--out", "taken"]);
    assert_eq!(output.status.code(), Some(2));
    let left = std::fs::read_dir(place.path("taken")).unwrap();
    assert_eq!(left.count(), 1);
}
