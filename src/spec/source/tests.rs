use super::*;

const SHOT: &str = r#"
[time]
end = "50 ms"
frames_per_second = 100

[[material]]
name = "stone"
density = "2.5 g/cm^3"
young = "30 GPa"
tensile_strength = "1.1 MPa"

[[body]]
name = "ball"
material = "stone"
shape = { type = "sphere", radius = "1.1 mm" }
packing = { type = "hexagonal", elements = 100 }
rotation = { axis = [0, 0, 1], angle = "30 deg" }

[scales.smoke]
"body.ball.packing.elements" = 10
time.end = "20 ms"
"#;

fn sets(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

fn shot(list: &[&str]) -> Result<Pipeline, SpecErrors> {
    parse(SHOT, "shot.toml", &sets(list))
}

/// Messages of the shot with one text replaced by another.
fn messages(from: &str, to: &str) -> String {
    assert_eq!(SHOT.matches(from).count(), 1, "{from}");
    let text = SHOT.replace(from, to);
    parse(&text, "shot.toml", &[]).expect_err(to).to_string()
}

fn set_message(set: &str) -> String {
    shot(&[set]).expect_err(set).to_string()
}

#[test]
fn units_defaults_scale_and_overrides_resolve() {
    let plain = shot(&[]).expect("valid");
    assert_eq!(plain.time.end, 0.05);
    assert_eq!(plain.time.fraction, 0.6);
    assert_eq!(plain.world.gravity, [0.0, -9.81, 0.0]);
    let stone = &plain.materials[0];
    assert_eq!((stone.density, stone.young), (2500.0, 30e9));
    assert_eq!((stone.poisson, stone.shear), (Some(0.2), None));
    let ball = &plain.bodies[0];
    assert!(ball.bonded);
    assert_eq!(ball.rotation.angle, 30.0 * (std::f64::consts::TAU / 360.0));
    assert_eq!(
        plain,
        shot(&["scale=default"]).expect("default always exists")
    );

    let elements = |shot: &Pipeline| shot.bodies[0].packing.size().1;
    let small = shot(&["scale=smoke"]).expect("valid");
    assert_eq!((small.time.end, elements(&small)), (0.02, Some(10)));
    let set = shot(&[
        "body.ball.packing.elements=7",
        "scale = smoke",
        "time.end=30 ms",
        "material.stone.young=1e9",
        "body.0.velocity=[0, \"-3 m/s\", 1]",
        "simulate.precision=f64",
        "export={formats = [\"ply\"]}",
    ])
    .expect("valid");
    assert_eq!((set.time.end, elements(&set)), (0.03, Some(7)));
    assert_eq!(set.materials[0].young, 1e9);
    assert_eq!(set.bodies[0].velocity, [0.0, -3.0, 1.0]);
    assert_eq!(set.simulate.precision, crate::spec::Precision::F64);
    assert_eq!(set.export.formats, [crate::spec::ExportFormat::Ply]);
}

#[test]
fn a_pipeline_survives_json_bit_for_bit() {
    let mut shot = shot(&["material.stone.weibull_modulus=0.1"]).expect("valid");
    // Numbers that a hasty decimal parser gets wrong in the last bit.
    shot.time.end = 0.1 + 0.2;
    shot.materials[0].density = 2.2250738585072014e-308;
    shot.bodies[0].velocity = [1.0 / 3.0, -0.0, 9007199254740993.0];
    shot.simulate.seed = u64::MAX;
    shot.world.bounds = Some(crate::spec::Region {
        min: [-1.0 / 7.0; 3],
        max: [1e300; 3],
    });
    let text = serde_json::to_string(&shot).expect("JSON");
    let back: Pipeline = serde_json::from_str(&text).expect("a pipeline");
    assert_eq!(shot, back);
    assert_eq!(text, serde_json::to_string(&back).expect("JSON"));
    assert!(back.bodies[0].velocity[1].is_sign_negative());
}

#[test]
fn messages_name_place_key_and_remedy() {
    let table = [
        (
            "young =",
            "yuong =",
            "shot.toml:6:1: material.stone: key `young` is missing: Young's modulus, Pa.\nshot.toml:9:1: material.stone: unknown key `yuong`; did you mean `young`?",
        ),
        (
            "frames_per_second = 100",
            "fps = 100\nframes_per_second = 100",
            "shot.toml:4:1: time: unknown key `fps`; there are end, fraction, frames_per_second, step",
        ),
        (
            "radius = \"1.1 mm\"",
            "radius = \"12 kg\"",
            "shot.toml:15:37: body.ball.shape.radius: \"12 kg\" is a mass; expected a length, e.g. \"1.25 mm\"",
        ),
        (
            "radius = \"1.1 mm\"",
            "radius = -1",
            "shot.toml:15:37: body.ball.shape.radius: -1 is out of range; it must be > 0",
        ),
        (
            "radius = \"1.1 mm\"",
            "radius = nan",
            "shot.toml:15:37: body.ball.shape.radius: NaN is not a finite number",
        ),
        (
            "radius = \"1.1 mm\"",
            "radius = [1]",
            "shot.toml:15:37: body.ball.shape.radius: found an array; expected a length, e.g. \"1.25 mm\"",
        ),
        (
            "type = \"sphere\"",
            "type = \"sfere\"",
            "shot.toml:15:18: body.ball.shape.type: unknown value \"sfere\"; did you mean `sphere`?",
        ),
        (
            "type = \"sphere\", ",
            "",
            "shot.toml:15:9: body.ball.shape: key `type` is missing: one of mesh, box, sphere, cylinder, plate, revolved, tube, cylinder_shell, sphere_shell, block",
        ),
        (
            "axis = [0, 0, 1]",
            "axis = [0, 1]",
            "shot.toml:17:21: body.ball.rotation.axis: found 2 values; expected 3",
        ),
        (
            "axis = [0, 0, 1]",
            "axis = [0, 0, \"1 m\"]",
            "shot.toml:17:28: body.ball.rotation.axis.2: \"1 m\" is a length; expected a pure number, e.g. \"0.5\"",
        ),
        (
            "axis = [0, 0, 1]",
            "axis = [0, 0, 0]",
            "shot.toml:17:21: body.ball.rotation.axis: the axis must not be zero",
        ),
        (
            "elements = 100",
            "elements = 1.5",
            "shot.toml:16:44: body.ball.packing.elements: found the number 1.5; expected an integer",
        ),
        (
            "elements = 100",
            "elements = 0",
            "shot.toml:16:44: body.ball.packing.elements: 0 is out of range; it must be ≥ 1",
        ),
        (
            "elements = 100",
            "elements = 5000000000",
            "shot.toml:16:44: body.ball.packing.elements: 5000000000 is out of range; it must be ≤ 4294967295",
        ),
        (
            "elements = 100",
            "elements = 100, radius = 1",
            "shot.toml:16:44: body.ball.packing.elements: `radius` and `elements` are both given; give one of them",
        ),
        (
            ", elements = 100",
            "",
            "shot.toml:16:11: body.ball.packing: give either `radius` or `elements`",
        ),
        (
            "end = \"50 ms\"",
            "end = \"5 ms\"",
            "shot.toml:3:7: time.end: 0.005 s ends before the first frame at 0.01 s; it must be ≥ 1 / frames_per_second",
        ),
        (
            "end = \"50 ms\"",
            "end = 0",
            "shot.toml:3:7: time.end: 0 is out of range; it must be > 0",
        ),
        (
            "frames_per_second = 100",
            "frames_per_second = 100\nfraction = 1.5",
            "shot.toml:5:12: time.fraction: 1.5 is out of range; it must be > 0 and ≤ 1",
        ),
        (
            "frames_per_second = 100",
            "frames_per_second = 100\nstep = 1",
            "shot.toml:5:8: time.step: 1 s is longer than a frame, 0.01 s",
        ),
        (
            "end = \"50 ms\"",
            "end = ",
            "shot.toml:3:7: string values must be quoted, expected literal string",
        ),
        (
            "material = \"stone\"",
            "material = \"stoen\"",
            "shot.toml:14:12: body.ball.material: no material `stoen`; did you mean `stone`?",
        ),
        (
            "[time]\n",
            "[simulate]\nbackend = \"cuda\"\n[time]\n",
            "shot.toml:3:11: simulate.backend: unknown value \"cuda\"; there are auto, cpu, gpu",
        ),
        (
            "[time]\n",
            "[[attach]]\nname = \"a\"\nbody = \"bull\"\nregion = { min = [0, 0, 0], max = [1, 0, \"1 mm\"] }\naction = { type = \"clamp\" }\n[time]\n",
            "shot.toml:4:8: attach.a.body: no body `bull`; did you mean `ball`?\nshot.toml:5:39: attach.a.region.max.1: 0 m is not greater than `min` along y, 0 m",
        ),
        (
            "[time]\n",
            "[[collider]]\nname = \"floor\"\nshape = { type = \"half_space\", normal = [0, 0, 0] }\nspin = [0, 0, 1]\nkeys = [{ time = 1, position = [0, 0, 0] }, { time = 1, position = [0, 1, 0] }]\n[time]\n",
            "shot.toml:4:41: collider.floor.shape.normal: the normal must not be zero\nshot.toml:5:8: collider.floor.spin: `keys` replace `spin`; give one of them\nshot.toml:6:54: collider.floor.keys.1.time: 1 s is not later than the key before, at 1 s; times must ascend",
        ),
        (
            "type = \"sphere\", radius = \"1.1 mm\"",
            "type = \"mesh\", file = \"no/such.obj\", scale = 1, height = 1",
            "shot.toml:15:33: body.ball.shape.file: there is no mesh file no/such.obj\nshot.toml:15:56: body.ball.shape.scale: `scale` and `height` are both given; give one of them",
        ),
        (
            "type = \"sphere\", radius = \"1.1 mm\"",
            "type = \"block\", rows = [2, 1, 1]",
            "shot.toml:16:44: body.ball.packing.elements: the `rows` of a block give the number of its elements; give `radius`",
        ),
        (
            "[[material]]\n",
            "[[material]]\npoisson = 0.3\nshear = 1\n",
            "shot.toml:7:11: material.stone.poisson: 0.3 is above 0.25, the largest ratio that bonds can give; larger ones need cells, such as packing = { type = \"voronoi\" }\nshot.toml:8:9: material.stone.shear: `shear` belongs to elasticity = \"bond\"; with elasticity = \"material\" give `young` and `poisson`",
        ),
        (
            "[[material]]\n",
            "[[material]]\npoisson = 0.1\nelasticity = \"bond\"\n",
            "shot.toml:6:1: material.stone: key `shear` is missing: elasticity = \"bond\" needs the bonds' shear modulus\nshot.toml:7:11: material.stone.poisson: `poisson` belongs to elasticity = \"material\"; with elasticity = \"bond\" give `young` and `shear`",
        ),
        (
            "[[material]]\n",
            "[[material]]\nshear = 1\nelasticity = \"bond\"\nstrength = \"material\"\n",
            "shot.toml:9:12: material.stone.strength: strength = \"material\" needs elasticity = \"material\": bonds are calibrated for both together",
        ),
        (
            "[[material]]\n",
            "[[material]]\npoisson = 0.5\n",
            "shot.toml:7:11: material.stone.poisson: 0.5 is out of range; it must be > -1 and < 0.5",
        ),
        (
            "[[material]]\n",
            "[[material]]\nname = \"stone\"\ndensity = 1\nyoung = 1\n[[material]]\n",
            "shot.toml:11:8: material.stone.name: an earlier entry already has the name \"stone\"",
        ),
        (
            "[[body]]",
            "[body]",
            "shot.toml:12:1: body: found a table; expected an array of tables, [[body]]",
        ),
        (
            "[time]\n",
            "scale = \"smok\"\n[time]\n",
            "shot.toml:2:9: scale: no scale `smok`; did you mean `smoke`?",
        ),
        (
            "\"body.ball.packing.elements\" = 10",
            "\"body.bawl.packing.elements\" = 10",
            "",
        ),
    ];
    for (from, to, message) in table {
        if message.is_empty() {
            // An entry of a scale that is not chosen is not checked.
            assert!(parse(&SHOT.replace(from, to), "shot.toml", &[]).is_ok());
        } else {
            assert_eq!(messages(from, to), message);
        }
    }
}

#[test]
fn all_errors_of_a_file_are_reported_together() {
    let text = SHOT
        .replace("frames_per_second = 100", "frames_per_second = 100\nfraction = 2")
        .replace("young = \"30 GPa\"", "yuong = \"30 GPa\"")
        .replace("material = \"stone\"", "material = \"stoen\"\nmass = \"bulky\"")
        .replace("axis = [0, 0, 1]", "axis = [0, 0, 0]")
        .replace("elements = 100", "elements = 100, radius = \"1 mm\"")
        .replace(
            "[scales.smoke]",
            "[[collider]]\nname = \"floor\"\nshape = { type = \"half_space\", normal = [0, \"1 m\", 0] }\nspin = [0, 0, 1]\n\
             keys = [{ time = 1, position = [0, 0, 0] }]\n[scales.smoke]",
        );
    let found = parse(&text, "shot.toml", &sets(&["tiem.end=1", "scale=smoke"]));
    let found = found.expect_err("faults").to_string();
    let expected = "\
shot.toml:5:12: time.fraction: 2 is out of range; it must be > 0 and ≤ 1
shot.toml:7:1: material.stone: key `young` is missing: Young's modulus, Pa.
shot.toml:10:1: material.stone: unknown key `yuong`; did you mean `young`?
shot.toml:15:12: body.ball.material: no material `stoen`; did you mean `stone`?
shot.toml:16:8: body.ball.mass: unknown value \"bulky\"; did you mean `bulk`?
shot.toml:19:21: body.ball.rotation.axis: the axis must not be zero
shot.toml:23:45: collider.floor.shape.normal.1: \"1 m\" is a length; expected a pure number, e.g. \"0.5\"
shot.toml:24:8: collider.floor.spin: `keys` replace `spin`; give one of them
shot.toml:27:32: body.ball.packing.elements: `radius` and `elements` are both given; give one of them
--set tiem.end=1: unknown key `tiem`; did you mean `time`?";
    assert_eq!(found, expected);
}

#[test]
fn all_toml_errors_are_reported_together() {
    let text = SHOT
        .replace("frames_per_second = 100", "frames_per_second = ")
        .replace(
            "tensile_strength = \"1.1 MPa\"",
            "tensile_strength = 1.1 MPa",
        );
    let found = parse(&text, "shot.toml", &[])
        .expect_err("faults")
        .to_string();
    let lines: Vec<&str> = found.lines().collect();
    assert!(lines.len() >= 2, "{found}");
    assert!(lines[0].starts_with("shot.toml:4:"), "{found}");
    assert!(lines[1].starts_with("shot.toml:10:"), "{found}");
}

#[test]
fn overrides_are_checked_like_keys_of_the_file() {
    let table = [
        (
            "time.ned=1",
            "--set time.ned=1: time: unknown key `ned`; did you mean `end`?",
        ),
        (
            "tiem.end=1",
            "--set tiem.end=1: unknown key `tiem`; did you mean `time`?",
        ),
        (
            "time.end=5 kg",
            "--set time.end=5 kg: time.end: \"5 kg\" is a mass; expected a time, e.g. \"2 us\"",
        ),
        (
            "time.end=inf",
            "--set time.end=inf: time.end: inf is not a finite number",
        ),
        (
            "time.end.x=1",
            "--set time.end.x=1: time.end.x: found the string \"50 ms\"; expected a table with a key `x`",
        ),
        (
            "body.bull.bonded=false",
            "--set body.bull.bonded=false: body.bull.bonded: no body `bull`; did you mean `ball`?",
        ),
        (
            "body.1.bonded=false",
            "--set body.1.bonded=false: body.1.bonded: no body `1`; there are ball",
        ),
        (
            "body.ball.bonded=1",
            "--set body.ball.bonded=1: body.ball.bonded: found the integer 1; expected true or false",
        ),
        (
            "collider.floor.friction=1",
            "--set collider.floor.friction=1: collider.floor.friction: no collider `floor`; there is no [[collider]] in this file",
        ),
        (
            "body.ball.packing.radius=1",
            "shot.toml:16:44: body.ball.packing.elements: `radius` and `elements` are both given; give one of them",
        ),
        (
            "body=[]",
            "--set body=[]: body: a shot needs at least one [[body]]",
        ),
        (
            "scale=huge",
            "--set scale=huge: scale: no scale `huge`; there are default, smoke",
        ),
        (
            "scale=3",
            "--set scale=3: scale: found the integer 3; expected the name of a scale",
        ),
        (
            "verbose",
            "--set verbose: an override has the form key=value",
        ),
    ];
    for (set, message) in table {
        assert_eq!(set_message(set), message);
    }
    let text = SHOT.replace("\"body.ball.packing", "\"body.ball.paking");
    let error = parse(&text, "shot.toml", &sets(&["scale=smoke"])).expect_err("unknown key");
    assert_eq!(
        error.to_string(),
        "shot.toml:20:1: body.ball: unknown key `paking`; did you mean `packing`?"
    );
}

#[test]
fn all_shots_read_at_all_their_scales() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines");
    let mut shots = 0;
    for entry in std::fs::read_dir(&folder).expect("pipelines") {
        let path = entry.expect("entry").path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        shots += 1;
        let text = std::fs::read_to_string(&path).expect("text");
        let plain = read(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(plain.folder, folder);
        assert!(text.contains("[scales.smoke]"), "{}", path.display());
        for line in text.lines() {
            let Some(rest) = line.strip_prefix("[scales.") else {
                continue;
            };
            let (scale, remark) = rest.split_once(']').expect("a header");
            let sets = sets(&[&format!("scale={scale}")]);
            let scaled = read(&path, &sets).unwrap_or_else(|error| panic!("{error}"));
            let same = remark.contains("as it stands");
            assert_eq!(scaled == plain, same, "{}: {scale}", path.display());
        }
    }
    assert!(shots >= 4);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = read(Path::new("no/shot.toml"), &[]).expect_err("no file");
    assert!(
        error
            .to_string()
            .starts_with("no/shot.toml: cannot be read: ")
    );
}

#[test]
fn only_the_first_of_very_many_errors_are_reported() {
    for text in [
        "?\n".repeat(100_000),
        format!("{SHOT}{}", "[[body]]\n".repeat(100)),
    ] {
        let errors = parse(&text, "shot.toml", &[]).expect_err("no pipeline");
        assert_eq!(errors.0.len(), 51);
        let last = errors.0[50].to_string();
        assert_eq!(
            last,
            "shot.toml: there are more errors; these are the first 50"
        );
    }
}

#[test]
fn a_path_without_end_is_refused() {
    let path = ["a"; 100_000].join(".");
    let error = shot(&[&format!("{path}=1")]).expect_err("too deep");
    assert!(
        error
            .to_string()
            .ends_with("=1: a path of 100000 keys; no value has more than 32")
    );
    let text = format!("{SHOT}\"{path}\" = 1\n");
    let error = parse(&text, "shot.toml", &sets(&["scale=smoke"])).expect_err("too deep");
    assert_eq!(
        error.to_string(),
        "shot.toml:22:1: a path of 100000 keys; no value has more than 32"
    );
}
