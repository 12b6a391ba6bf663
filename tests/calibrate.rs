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
    // The keys can be pasted into a pipeline, which then gives the same at once.
    let keys = std::fs::read_to_string(place.path("found/material.toml")).unwrap();
    let table: toml::Table = toml::from_str(&keys).unwrap();
    let young = table["young"].as_float().unwrap();
    assert!((young / out["enter"]["young"].as_f64().unwrap() - 1.0).abs() < 1e-3);
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
    place.write("shot.toml", &SHOT.replace("poisson = 0.2\n", bonds));
    let asked = ["--poisson", "0.2", "--compressive-strength", "5 MPa"];
    let out = calibrated(&place, &asked);
    assert_eq!(out["not_reached"], Value::Array(vec![]), "{out}");
    let found = |key: &str| out["found"][key].as_f64().unwrap();
    assert!((found("young") / 1e9 - 1.0).abs() < 0.01, "{out}");
    assert!(
        (found("compressive_strength") / 5e6 - 1.0).abs() < 0.03,
        "{out}"
    );
    // A packing is stiffer than its bonds.
    assert!(out["enter"]["young"].as_f64().unwrap() < 0.8e9, "{out}");
    assert!(out["enter"]["shear"].as_f64().unwrap() > 0.0, "{out}");
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
    assert!(message.contains("--young"), "{message}");
}
