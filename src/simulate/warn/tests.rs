use super::facts::{INNER_NEIGHBOURS, thin_elements};
use super::*;
use crate::pack;
use crate::simulate::resolve::schedule;
use crate::spec::parse;

/// A 12 mm cube of 1 mm elements that falls on a floor at 2 m/s.
const SHOT: &str = r#"
[time]
end = "5 ms"
frames_per_second = 1000

[world]
gravity = [0, 0, 0]

[[material]]
name = "glass"
density = "2500 kg/m^3"
young = "10 GPa"
tensile_strength = "20 MPa"
shear_strength = "30 MPa"

[[body]]
name = "cube"
material = "glass"
shape = { type = "box", size = ["12 mm", "12 mm", "12 mm"] }
packing = { type = "hexagonal", radius = "1 mm" }
position = [0, "7 mm", 0]
velocity = [0, "-2 m/s", 0]

[[collider]]
name = "floor"
shape = { type = "half_space", normal = [0, 1, 0] }
"#;

fn found(replaced: &[(&str, &str)]) -> Vec<Warning> {
    let mut text = SHOT.to_owned();
    for (from, to) in replaced {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let pipeline = parse(&text, "shot.toml", &[]).expect("a shot");
    let packing = pack::pack(&pipeline, "".as_ref()).expect("packed").packing;
    let plan = schedule(&packing, &pipeline).expect("a plan");
    warnings(&packing, &pipeline, &plan)
}

/// Checks that there is exactly one warning, of this kind and with these words.
fn one(replaced: &[(&str, &str)], kind: &str, words: &[&str]) {
    let found = found(replaced);
    let [warning] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(warning.kind, kind, "{}", warning.text);
    for word in words {
        assert!(warning.text.contains(word), "{word} in {}", warning.text);
    }
}

const BOX: &str = "shape = { type = \"box\", size = [\"12 mm\", \"12 mm\", \"12 mm\"] }";

#[test]
fn a_shot_that_is_resolved_has_no_warning() {
    assert_eq!(found(&[]), []);
}

#[test]
fn a_plate_of_two_layers_is_thin_and_one_of_three_is_not() {
    let plate = |layers: u32| {
        format!("shape = {{ type = \"plate\", size = [\"30 mm\", \"30 mm\"], layers = {layers} }}")
    };
    let words = ["body \"cube\"", "(100 %)", "radius 1 mm", "`shape.layers`"];
    one(&[(BOX, &plate(2))], "thin", &words);
    assert_eq!(found(&[(BOX, &plate(3))]), []);
    let block = "shape = { type = \"block\", rows = [20, 3, 3] }";
    assert_eq!(found(&[(BOX, block)]), []);
    let rod = "shape = { type = \"block\", rows = [20, 2, 3] }";
    one(&[(BOX, rod)], "thin", &["`shape.rows`"]);
    // Grains do not bend.
    let loose = format!("{}\nbonded = false", plate(1));
    assert_eq!(found(&[(BOX, &loose)]), []);
}

#[test]
fn a_random_packing_is_thin_by_its_own_neighbours() {
    const HEXAGONAL: &str = "type = \"hexagonal\", radius = \"1 mm\"";
    let random = "type = \"random\", radius = \"1 mm\"";
    assert_eq!(found(&[(HEXAGONAL, random)]), []);
    let graded = format!("{random}, spread = 0.5");
    assert_eq!(found(&[(HEXAGONAL, &graded)]), []);
    let slab = "shape = { type = \"box\", size = [\"30 mm\", \"3 mm\", \"30 mm\"] }";
    let words = ["body \"cube\"", "`packing.radius`"];
    // At the default `time.fraction` its bonds, fewer than in a lattice, break within two steps.
    let slower = ("frames_per_second", "fraction = 0.4\nframes_per_second");
    one(&[(HEXAGONAL, random), (BOX, slab), slower], "thin", &words);
}

#[test]
fn a_part_that_is_thin_counts_by_its_elements() {
    let pipeline = parse(SHOT, "shot.toml", &[]).expect("a shot");
    let packing = pack::pack(&pipeline, "".as_ref()).expect("packed").packing;
    let thin = thin_elements(&packing.elements, &packing.bonds, &[INNER_NEIGHBOURS]);
    assert!(thin.iter().all(|thin| !thin), "a cube has no thin part");
    // Without the bonds of the upper half, its elements are loose.
    let mut bonds = packing.bonds.clone();
    let high = |id: u32| packing.elements.y[id as usize] > 7e-3;
    let kept: Vec<bool> = (0..bonds.id.len())
        .map(|k| !high(bonds.i[k]) && !high(bonds.j[k]))
        .collect();
    let mut keep = kept.iter();
    bonds.i.retain(|_| *keep.next().expect("as many"));
    let mut keep = kept.iter();
    bonds.j.retain(|_| *keep.next().expect("as many"));
    let thin = thin_elements(&packing.elements, &bonds, &[INNER_NEIGHBOURS]);
    for (i, thin) in thin.iter().enumerate() {
        if high(i as u32) {
            assert!(*thin);
        }
    }
    assert!(thin.iter().any(|thin| !thin));
}

#[test]
fn a_weak_body_at_speed_breaks_within_a_step() {
    // 2 m/s × dt against a strain of 2e-5 × 2 mm.
    let weak = [("20 MPa", "300 kPa"), ("30 MPa", "300 kPa")];
    let words = [
        "collider \"floor\"",
        "2 m/s",
        "`time.fraction`",
        "of the bonds in fewer than 2",
    ];
    one(&weak, "steps_to_break", &words);
    // The remedy in the message works.
    let pipeline = |fraction: f64| {
        let text = SHOT.replace(
            "frames_per_second",
            &format!("fraction = {fraction}\nframes_per_second"),
        );
        let text = text
            .replace("20 MPa", "300 kPa")
            .replace("30 MPa", "300 kPa");
        parse(&text, "shot.toml", &[]).expect("a shot")
    };
    let message = |fraction: f64| {
        let pipeline = pipeline(fraction);
        let packing = pack::pack(&pipeline, "".as_ref()).expect("packed").packing;
        warnings(
            &packing,
            &pipeline,
            &schedule(&packing, &pipeline).expect("a plan"),
        )
    };
    let text = &message(0.4)[0].text;
    let after = text.split("`time.fraction` of ").nth(1).expect("a remedy");
    let fraction: f64 = after
        .split(' ')
        .next()
        .and_then(|n| n.parse().ok())
        .expect("a number");
    assert_eq!(message(fraction), []);
    assert_ne!(message(fraction * 1.2), []);
}

#[test]
fn a_collider_faster_than_a_radius_a_step() {
    let unbreakable = [(
        "tensile_strength = \"20 MPa\"\nshear_strength = \"30 MPa\"",
        "",
    )];
    let key = "normal = [0, 1, 0] }\nkeys = [{ time = 0, position = [0, 0, 0] }, { time = \"1 us\", position = [0, \"-1 m\", 0] }]";
    let mut replaced = unbreakable.to_vec();
    replaced.push(("normal = [0, 1, 0] }", key));
    let words = [
        "collider \"floor\"",
        "1000 km/s",
        "radius of an element, 1 mm",
        "`time.step` below 1 ns",
    ];
    one(&replaced, "fast", &words);
    let mut slow = unbreakable.to_vec();
    slow.push(("\"-2 m/s\"", "\"-2 km/s\""));
    assert_eq!(found(&slow), []);
    slow.push(("frames_per_second", "step = \"1 us\"\nframes_per_second"));
    one(&slow, "fast", &["2 km/s", "2 mm in a step of 1 µs"]);
}

#[test]
fn a_strength_that_no_impact_reaches() {
    // ρ c v = 2 m/s √(10 GPa × 2500 kg/m³) = 10 MPa; bonds have the strength of the solid over 1.72.
    let strong = [("20 MPa", "200 MPa"), ("30 MPa", "200 MPa")];
    let words = ["will not break", "116.1 MPa, 12 times", "= 10 MPa", "2 m/s"];
    one(&strong, "too_strong", &words);
    let mut driven = strong.to_vec();
    driven.push((
        "normal = [0, 1, 0] }",
        "normal = [0, 1, 0] }\nvelocity = [0, \"1 mm/s\", 0]",
    ));
    assert_eq!(found(&driven), []);
    let mut faster = strong.to_vec();
    faster.push(("\"-2 m/s\"", "\"-20 m/s\""));
    assert_eq!(found(&faster), []);
}

#[test]
fn falling_counts_as_far_as_the_scene_and_the_time_allow() {
    let high = [
        ("gravity = [0, 0, 0]", "gravity = [0, -9.81, 0]"),
        ("\"7 mm\"", "\"10 m\""),
        ("\"-2 m/s\"", "0"),
    ];
    let fallen = |end: &str| {
        let mut replaced = high.to_vec();
        replaced.extend([("20 MPa", "2 GPa"), ("30 MPa", "2 GPa"), ("\"5 ms\"", end)]);
        let found = found(&replaced);
        let text = found.into_iter().map(|w| w.text).collect::<String>();
        let after = text.split("at up to ").nth(1).map(str::to_owned);
        let number = after.and_then(|after| after.split(" m/s").next()?.parse::<f64>().ok());
        number.expect("a speed in m/s")
    };
    // If the shot is longer than the 1.4 s that falling 10 m takes, the floor ends the fall: √(2 g h).
    let hit = fallen("\"3 s\"");
    assert!(
        (hit - (2.0f64 * 9.81 * 10.006).sqrt()).abs() < 0.05,
        "{hit}"
    );
    let early = fallen("\"0.5 s\"");
    assert!((early - 0.5 * 9.81).abs() < 0.01, "{early}");
}

#[test]
fn a_clamp_counts_by_its_farthest_element_at_its_fastest() {
    let clamp = |driven: &str| {
        format!(
            "[[attach]]\nname = \"grip\"\nbody = \"cube\"\nregion = {{ min = [-1, \"7 mm\", -1], max = [1, 1, 1] }}\n\
             action = {{ type = \"clamp\", {driven} }}\n[[collider]]"
        )
    };
    let found = |driven: &str| {
        let step = ("frames_per_second", "step = \"1 us\"\nframes_per_second");
        let whole = (
            "tensile_strength = \"20 MPa\"\nshear_strength = \"30 MPa\"",
            "",
        );
        found(&[step, whole, ("[[collider]]", &clamp(driven))])
    };
    let pivot = "pivot = [1, \"7 mm\", 0]";
    // At 1.005 m from the pivot and 2 m/s of the cube.
    let spun = found(&format!("spin = [0, 0, 2000], {pivot}"));
    let keys = "keys = [{ time = 0, position = [0, 0, 0] }, { time = \"3 ms\", position = [0, 0, 0] }, \
                { time = \"4 ms\", position = [0, 0, 0], rotation = { axis = [0, 0, 1], angle = 2 } }]";
    let keyed = found(&format!("{keys}, {pivot}"));
    for found in [&spun, &keyed] {
        let text = &found[0].text;
        assert_eq!((found.len(), found[0].kind), (1, "fast"), "{text}");
        assert!(
            text.contains("attach \"grip\" meet at up to 2.01"),
            "{text}"
        );
    }
    assert_eq!(found(&format!("spin = [0, 0, 900], {pivot}")), []);
    // Rotation about its own centre is slow.
    assert_eq!(found("spin = [0, 0, 2000]"), []);
}
