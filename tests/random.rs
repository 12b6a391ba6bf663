//! Bodies of random close packing through all stages, and their stiffness.

use cullet::pack::{self, Packed};
use cullet::simulate::{method, schedule};
use cullet::spec::{Action, Attachment, Backend, Pipeline, Region};
use cullet::store::Store;
use glam::DVec3;
use serde_json::Value;

use crate::harness::{TestFolder, files};
use crate::scenes::slope;

const E: f64 = 1e7;
const NU: f64 = 0.2;

/// A box of random packing, of a solid with these moduli.
fn bar(size: [f64; 3], spread: f64) -> (Pipeline, Packed) {
    let text = format!(
        "[time]\nend = 1\nframes_per_second = 1\nfraction = 0.6\n[world]\ngravity = [0, 0, 0]\n\
         [[material]]\nname = \"solid\"\ndensity = 1700\nyoung = {E}\npoisson = {NU}\ndamping = 0\n\
         [[body]]\nname = \"bar\"\nmaterial = \"solid\"\nshape = {{ type = \"box\", size = {size:?} }}\n\
         packing = {{ type = \"random\", radius = \"1 mm\", spread = {spread} }}\n"
    );
    let pipeline = cullet::spec::parse(&text, "bar", &[]).unwrap();
    let packed = pack::pack(&pipeline, ".".as_ref()).unwrap();
    (pipeline, packed)
}

/// Measured Young's modulus over the specified one, and Poisson's ratio, of a bar pulled at its ends.
fn measured_moduli(spread: f64) -> (f64, f64) {
    let [length, width] = [0.06, 0.024];
    let (mut pipeline, packed) = bar([length, width, width], spread);
    let force = 1e-3 * E * width * width;
    for side in [-1.0, 1.0] {
        let (inner, outer) = (side * (length / 2.0 - 4e-3), side * length);
        pipeline.attachments.push(Attachment {
            name: format!("end {side}"),
            body: "bar".into(),
            region: Region {
                min: [inner.min(outer), -1.0, -1.0],
                max: [inner.max(outer), 1.0, 1.0],
            },
            action: Action::force([side * force, 0.0, 0.0]),
        });
    }
    // The first longitudinal mode, critically damped.
    let omega = std::f64::consts::PI * (E / 1700.0).sqrt() / length;
    pipeline.simulate.drag = 2.0 * omega;
    let dt = 0.6 * schedule(&packed.packing, &pipeline).unwrap().critical;
    let mut run = method(&packed.packing, &pipeline, Backend::Cpu, dt).unwrap();
    run.advance((12.0 / (omega * dt)) as u64).unwrap();
    let frames = run.snapshot(0).unwrap().frames;
    let e = &packed.packing.elements;
    let middle: Vec<usize> = (0..e.id.len())
        .filter(|&i| e.x[i].abs() < 0.2 * length)
        .collect();
    let along = |places: &[f64], now: &[f32]| {
        slope(
            middle
                .iter()
                .map(|&i| (places[i], f64::from(now[i]) - places[i])),
        )
    };
    let strain = along(&e.x, &frames.x);
    let across = (along(&e.y, &frames.y) + along(&e.z, &frames.z)) / 2.0;
    (force / (width * width) / strain / E, -across / strain)
}

#[test]
fn a_pulled_bar_is_as_stiff_as_the_solid_asked_for() {
    for spread in [0.0, 0.4] {
        let (young, poisson) = measured_moduli(spread);
        println!("spread {spread}: E {young:.4} of that asked for, Poisson's ratio {poisson:.4}");
        assert!((young - 1.0).abs() < 0.08, "{young}");
        assert!((poisson - NU).abs() < 0.03, "{poisson}");
    }
}

const DROP: &str = r#"
[time]
end = "3 ms"
frames_per_second = 1000
[[material]]
name = "plaster"
density = 1100
young = "100 MPa"
tensile_strength = "0.1 MPa"
shear_strength = "0.1 MPa"
weibull_modulus = 8
[[body]]
name = "ball"
material = "plaster"
shape = { type = "sphere", radius = "20 mm" }
packing = { type = "random", elements = 2500, spread = 0.25 }
position = [0, "20.5 mm", 0]
velocity = [0, "-6 m/s", 0]
[[collider]]
name = "floor"
shape = { type = "half_space", normal = [0, 1, 0] }
[simulate]
seed = 3
"#;

#[test]
fn a_graded_ball_falls_breaks_and_gets_surfaces_the_same_on_any_number_of_threads() {
    let folder = TestFolder::new();
    folder.write("shot.toml", DROP);
    for (threads, out) in [("1", "one"), ("2", "two")] {
        folder.succeed(&["run", "shot.toml", "--out", out, "--threads", threads]);
    }
    let folders = ["packing", "frames", "breaks", "meshes"];
    let [one, two] = ["one", "two"].map(|out| files(&folder.path(out), &folders));
    assert!(one.len() >= 12 && one == two);
    let report: Value =
        serde_json::from_str(&folder.succeed(&["inspect", "one", "--json"])).unwrap();
    let last = &report["last"];
    assert!(
        last["fragments"].as_u64().unwrap() > 1 && last["broken"].as_u64().unwrap() > 50,
        "{last}"
    );
    assert!(last["mass_error"].as_f64().unwrap().abs() < 1e-9, "{last}");
    let ball = &report["bodies"][0];
    let number = |value: &Value| value.as_f64().unwrap();
    assert!(
        (number(&ball["elements"]) / 2500.0 - 1.0).abs() < 0.03,
        "{ball}"
    );
    assert!(number(&ball["overlap"]) < 1e-3, "{ball}");
    assert!(
        number(&ball["radius"][2]) > 1.5 * number(&ball["radius"][0]),
        "{ball}"
    );
    let bulk = &ball["bulk"];
    assert!((0.63..0.66).contains(&number(&bulk["filling"])), "{ball}");
    assert!((8.3..9.6).contains(&number(&bulk["bonds"])), "{ball}");
    // Masses scale with the cubes of the radii and add up to that of the ball.
    let store = Store::open(folder.path("one")).unwrap();
    let e = store.read_elements().unwrap();
    let mass: f64 = e.mass.iter().sum();
    let whole = 1100.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.02_f64.powi(3);
    assert!((mass / whole - 1.0).abs() < 0.01, "{mass} {whole}");
    let each = e.mass[0] / e.r[0].powi(3);
    assert!(
        e.mass
            .iter()
            .zip(&e.r)
            .all(|(m, r)| (m / r.powi(3) / each - 1.0).abs() < 1e-12)
    );
    let text = folder.succeed(&["check", "shot.toml"]);
    assert!(
        text.contains("% full") && text.contains("a third each"),
        "{text}"
    );
}

#[test]
fn loose_grains_lie_inside_their_shape_as_a_whole() {
    let text = DROP
        .replace("spread = 0.25", "spread = 0.1")
        .replace("position =", "bonded = false\nposition =");
    let pipeline = cullet::spec::parse(&text, "grains", &[]).unwrap();
    let packed = pack::pack(&pipeline, ".".as_ref()).unwrap();
    let e = &packed.packing.elements;
    assert!(packed.packing.bonds.id.is_empty());
    let centre = DVec3::new(0.0, 0.0205, 0.0);
    let mut farthest = 0.0_f64;
    for i in 0..e.id.len() {
        let reach = DVec3::new(e.x[i], e.y[i], e.z[i]).distance(centre) + e.r[i];
        farthest = farthest.max(reach);
    }
    assert!(
        farthest <= 0.02 * (1.0 + 1e-12) && farthest > 0.0199,
        "{farthest}"
    );
    // They fill their fraction of the ball, except for a layer under its surface.
    let filled: f64 = e.r.iter().map(|r| r.powi(3)).sum::<f64>() / 0.02_f64.powi(3);
    assert!((0.52..0.645).contains(&filled), "{filled}");
}
