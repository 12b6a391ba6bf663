//! The stage `stress` from the command line: known solutions, loads that frames recorded, and what is
//! refused.

use cullet::columns::{Stress, StressPoint};
use cullet::store::Store;
use serde_json::Value;

use crate::harness::{TestFolder, shot};

const HEAD: &str = r#"
[time]
end = "1 s"
frames_per_second = 1
[world]
gravity = [0, 0, 0]
[[material]]
name = "glass"
density = 2500
young = "70 GPa"
poisson = 0.25
tensile_strength = "40 MPa"
[simulate]
method = "bem"
"#;

/// A bar of 20 × 60 × 20 mm along y, with its ends at these heights.
const BAR: &str = r#"
[stress]
size = "5 mm"
[[body]]
name = "bar"
material = "glass"
shape = { type = "box", size = ["20 mm", "60 mm", "20 mm"] }
packing = { type = "none" }
"#;

fn attach(name: &str, [low, high]: [&str; 2], action: &str) -> String {
    format!(
        "[[attach]]\nname = \"{name}\"\nbody = \"bar\"\nregion = {{ min = [-1, \"{low}\", -1], max = [1, \"{high}\", 1] }}\naction = {{ {action} }}\n"
    )
}

const BASE: [&str; 2] = ["-31 mm", "-29.99 mm"];
const TOP: [&str; 2] = ["29.99 mm", "31 mm"];

fn bar(loads: &[String]) -> String {
    format!("{HEAD}{BAR}{}", loads.concat())
}

/// Runs a pipeline; returns its stress table, and the `--json` output for its only body.
fn solve(place: &TestFolder, pipeline: &str, more: &[&str]) -> (Stress, Value) {
    place.write("shot.toml", pipeline);
    let arguments = [&["stress", "shot.toml", "--out", "store", "--json"], more].concat();
    let report: Value = serde_json::from_str(&place.succeed(&arguments)).unwrap();
    let table = Store::at(place.path("store")).read_stress(0).unwrap();
    (table, report["bodies"][0].clone())
}

/// Mean of a column over the triangles of a bar between two heights, m, weighted by area.
fn mean(table: &Stress, column: &[f64], heights: [f64; 2]) -> f64 {
    let rows = (0..table.y.len()).filter(|row| {
        table.kind[*row] == StressPoint::Triangle
            && (heights[0]..heights[1]).contains(&table.y[*row])
    });
    let (sum, area) = rows.fold((0.0, 0.0), |(sum, area), row| {
        let own = table.area[row];
        (sum + column[row] * own, area + own)
    });
    sum / area
}

fn near(found: f64, wanted: f64, part: f64, what: &str) {
    assert!(
        (found - wanted).abs() <= part * wanted.abs(),
        "{what}: {found:e} instead of {wanted:e}"
    );
}

#[test]
fn a_bar_held_at_one_end_is_pulled() {
    let place = TestFolder::new();
    let loads = [
        attach("base", BASE, "type = \"clamp\""),
        attach("pull", TOP, "type = \"force\", force = [0, \"4 kN\", 0]"),
    ];
    let (table, report) = solve(&place, &bar(&loads), &[]);
    let middle = [-0.015, 0.015];
    near(mean(&table, &table.yy, middle), 10e6, 2e-3, "stress");
    near(
        mean(&table, &table.s1, middle),
        10e6,
        2e-3,
        "principal stress",
    );
    near(
        mean(&table, &table.energy, middle),
        10e6 * 10e6 / 140e9,
        5e-3,
        "energy",
    );
    near(
        mean(&table, &table.utilization, middle),
        0.25,
        2e-3,
        "utilization",
    );
    // The base does not move; the other end moves by σ L/E.
    let end = mean(&table, &table.uy, [0.0299, 0.0301]);
    near(end, 10e6 / 70e9 * 0.06, 0.01, "displacement of the end");
    assert!(mean(&table, &table.uy, [-0.0301, -0.0299]).abs() < 1e-3 * end);
    assert!(report["unbalanced"].is_null());
    let factor = report["largest"]["load_factor"].as_f64().unwrap();
    assert!((3.0..4.1).contains(&factor), "{factor}");
}

/// A bar whose end faces are two triangles each moves like one of many triangles, when pulled and bent.
#[test]
fn a_clamp_holds_a_face_of_two_triangles() {
    let place = TestFolder::new();
    let end = ["30 mm", "31 mm"];
    let moved = |size: &str, action: &str, low: f64| {
        let loads = [
            attach("base", ["-31 mm", "-30 mm"], "type = \"clamp\""),
            attach("load", end, &format!("type = \"force\", {action}")),
        ];
        let size = format!("stress.size={size}");
        let (table, _) = solve(&place, &bar(&loads), &["--set", &size]);
        let count = |low: f64| table.y.iter().filter(|y| (**y - low).abs() < 1e-9).count();
        let top = [low, 0.0301];
        let moved = [&table.ux, &table.uy].map(|column| mean(&table, column, top));
        (moved, count(-0.03))
    };
    let ends = 0.0299;
    for (action, axis, part) in [
        ("force = [0, \"4 kN\", 0]", 1, 2e-3),
        ("force = [\"1 kN\", 0, 0]", 0, 0.03),
    ] {
        let (coarse, two) = moved("22 mm", action, ends);
        assert_eq!(two, 2);
        let (fine, many) = moved("5 mm", action, ends);
        assert!(many > 20);
        println!("{action}: {:e} and {:e} m", coarse[axis], fine[axis]);
        near(coarse[axis], fine[axis], part, action);
    }
}

#[test]
fn two_clamps_stretch_and_share_a_load() {
    let place = TestFolder::new();
    // 60 µm over 60 mm are 70 MPa, and uniform: clamps let the ends contract laterally.
    let stretched = [
        attach("base", BASE, "type = \"clamp\""),
        attach(
            "top",
            TOP,
            "type = \"clamp\", velocity = [0, \"60 µm/s\", 0]",
        ),
    ];
    let (table, report) = solve(&place, &bar(&stretched), &[]);
    near(
        mean(&table, &table.yy, [-0.015, 0.015]),
        70e6,
        2e-3,
        "stress",
    );
    assert_eq!(report["largest"]["shares"][0]["load"], "top");
    // A bar clamped at both ends carries its weight half by tension and half by compression: 2500 · 9.81 · 30
    // mm at the ends.
    let held = [
        attach("base", BASE, "type = \"clamp\""),
        attach("top", TOP, "type = \"clamp\""),
    ];
    let gravity = ["--set", "world.gravity=[0, -9.81, 0]"];
    let (table, report) = solve(&place, &bar(&held), &gravity);
    let weight = 2500.0 * 9.81;
    near(
        mean(&table, &table.yy, [0.010, 0.020]),
        weight * 0.015,
        0.05,
        "above",
    );
    near(
        mean(&table, &table.yy, [-0.020, -0.010]),
        -weight * 0.015,
        0.05,
        "below",
    );
    assert_eq!(report["largest"]["shares"][0]["load"], "gravity");
}

#[test]
fn loads_are_told_apart_and_inertia_takes_what_nothing_holds() {
    let place = TestFolder::new();
    let loads = [
        attach("base", BASE, "type = \"clamp\""),
        attach("pull", TOP, "type = \"force\", force = [0, \"3 kN\", 0]"),
        attach("more", TOP, "type = \"force\", force = [0, \"1 kN\", 0]"),
    ];
    let (_, report) = solve(&place, &bar(&loads), &[]);
    let shares = report["largest"]["shares"].as_array().unwrap();
    let part = |name: &str| {
        let found = shares.iter().find(|share| share["load"] == name);
        found.unwrap()["part"].as_f64().unwrap()
    };
    near(part("pull"), 0.75, 1e-3, "part of the larger load");
    near(part("more"), 0.25, 4e-3, "part of the smaller load");
    // The loads balance if a body only spins.
    let (_, report) = solve(&place, &bar(&[]), &["--set", "body.bar.spin=[0, 100, 0]"]);
    assert!(report["unbalanced"].is_null() && report["largest"]["stress"].as_f64() > Some(1e3));
    // A force on one end of a free bar: the stress falls to zero at the other end, and is half in the middle.
    let free = [attach(
        "pull",
        TOP,
        "type = \"force\", force = [0, \"4 kN\", 0]",
    )];
    let (table, report) = solve(&place, &bar(&free), &[]);
    near(
        report["unbalanced"]["force"][1].as_f64().unwrap(),
        4e3,
        1e-6,
        "resultant",
    );
    near(
        mean(&table, &table.yy, [-0.005, 0.005]),
        5e6,
        0.02,
        "middle",
    );
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let place = TestFolder::new();
    let loads = [attach(
        "pull",
        TOP,
        "type = \"force\", force = [\"1 kN\", \"4 kN\", 0]",
    )];
    place.write("shot.toml", &bar(&loads));
    let bytes = |threads: &str| {
        let store = format!("store{threads}");
        place.succeed(&[
            "stress",
            "shot.toml",
            "--out",
            &store,
            "--threads",
            threads,
            "--set",
            "body.bar.packing={ type = \"hexagonal\", radius = \"3 mm\" }",
        ]);
        std::fs::read(place.path(&store).join("stress/000000.parquet")).unwrap()
    };
    assert!(bytes("1") == bytes("3"));
}

#[test]
fn what_cannot_be_solved_is_refused_by_name() {
    let place = TestFolder::new();
    let refused = |loads: &[String], more: &[&str]| {
        place.write("shot.toml", &bar(loads));
        place.refuse(&[&["stress", "shot.toml", "--out", "store"], more].concat())
    };
    let beyond = attach(
        "beyond",
        ["1 m", "2 m"],
        "type = \"force\", force = [0, 1, 0]",
    );
    let message = refused(&[beyond], &[]);
    assert!(
        message.contains("\"beyond\"") && message.contains("make the region larger"),
        "{message}"
    );
    let spring = attach("spring", TOP, "type = \"spring\", stiffness = 1");
    assert!(refused(&[spring], &[]).contains("do not support springs"));
    let twice = [
        attach("a", TOP, "type = \"clamp\""),
        attach("b", TOP, "type = \"clamp\""),
        attach("pull", BASE, "type = \"force\", force = [0, 1, 0]"),
    ];
    assert!(refused(&twice, &[]).contains("hold the same part of the surface twice"));
    let pull = [attach("pull", TOP, "type = \"force\", force = [0, 1, 0]")];
    assert!(refused(&pull, &["--frames", "0"]).contains("--frames"));
    assert!(refused(&pull, &["--set", "stress.size=2 m"]).contains("\"bar\""));
    assert!(!place.path("store/stress/000000.parquet").exists());
    // Earlier results remain when new loads are refused.
    let beyond = attach(
        "beyond",
        ["1 m", "2 m"],
        "type = \"force\", force = [0, 1, 0]",
    );
    solve(&place, &bar(&pull), &[]);
    refused(&[beyond], &[]);
    assert!(place.path("store/stress/000000.parquet").exists());
    let packing = "body.bar.packing={ type = \"hexagonal\", radius = \"3 mm\" }";
    let fracture = "stress.fracture={ apart = 0 }";
    let moving = [
        "--set",
        fracture,
        "--set",
        "simulate.method=bonds",
        "--set",
        packing,
    ];
    assert!(refused(&pull, &moving).contains("only bodies at rest"));
    for (setting, key, why) in [
        (
            "body.bar.packing={ type = \"loose\", radius = \"3 mm\" }",
            "body.bar.packing.type",
            "loose grains are not one",
        ),
        (
            "body.bar.packing={ type = \"shell\", radius = \"1 mm\", layers = 2 }",
            "body.bar.packing.type",
            "a shell is hollow",
        ),
        (
            "body.bar.packing={ type = \"woven\", radius = \"1 mm\" }",
            "body.bar.packing.type",
            "cloth is not one",
        ),
        (
            "body.bar.grains=[{ material = \"glass\", part = 0.1, size = \"3 mm\" }]",
            "body.bar.grains",
            "one material per body",
        ),
    ] {
        let message = refused(&pull, &["--set", setting]);
        println!("{message}");
        assert!(message.contains(key) && message.contains(why), "{message}");
    }
    let loose = refused(&pull, &["--set", packing, "--set", "body.bar.bonded=false"]);
    assert!(
        loose.contains("body.bar.bonded") && loose.contains("remove `bonded`"),
        "{loose}"
    );
    let weak = bar(&pull).replace("tensile_strength = \"40 MPa\"", "");
    place.write("weak.toml", &weak);
    let message = place.refuse(&["check", "weak.toml", "--set", fracture]);
    assert!(message.contains("tensile_strength"), "{message}");
    place.write("shot.toml", &bar(&pull));
    place.succeed(&["pack", "shot.toml", "--out", "packed"]);
    assert!(
        place
            .refuse(&["simulate", "packed"])
            .contains("cullet stress")
    );
}

#[test]
fn recorded_loads_give_the_stress_that_the_pipeline_gives() {
    let place = TestFolder::new();
    let loads = [
        attach("base", ["-31 mm", "-26 mm"], "type = \"clamp\""),
        attach(
            "pull",
            ["26 mm", "31 mm"],
            "type = \"force\", force = [0, \"4 kN\", 0]",
        ),
    ];
    let moving = bar(&loads)
        .replace("method = \"bem\"", "drag = 3000")
        .replace("end = \"1 s\"", "end = \"2 ms\"")
        .replace("frames_per_second = 1", "frames_per_second = 500")
        .replace("tensile_strength = \"40 MPa\"", "")
        .replace("type = \"none\"", "type = \"hexagonal\", radius = \"2 mm\"");
    place.write("moving.toml", &moving);
    let plan = place.succeed(&["check", "moving.toml", "--set", "stress.size=5 mm"]);
    assert!(plan.contains("right-hand sides"), "{plan}");
    place.succeed(&["run", "moving.toml", "--out", "store", "--to", "simulate"]);
    let given: Value =
        serde_json::from_str(&place.succeed(&["stress", "store", "--json"])).unwrap();
    let store = Store::at(place.path("store"));
    let still = store.read_stress(0).unwrap();
    place.succeed(&["stress", "store", "--frames", "1"]);
    assert!(store.read_stress(0).is_err(), "the earlier table is gone");
    let recorded = store.read_stress(1).unwrap();
    let middle = [-0.01, 0.01];
    let of = |table: &Stress| mean(table, &table.yy, middle);
    near(of(&still), 10e6, 0.02, "given");
    near(of(&recorded), 10e6, 0.05, "recorded");
    assert!(given["bodies"][0]["points"].as_u64().unwrap() > 100);
}

#[test]
fn a_plate_on_two_supports_breaks_in_the_middle() {
    let place = TestFolder::new();
    let plate = shot("bem_plate_bend");
    let settings = [
        "--set",
        "scale=smoke",
        "--set",
        "export.formats=[\"glb\", \"vtk\"]",
    ];
    place.succeed(&[&["run", &plate, "--out", "store"], &settings[..]].concat());
    let store = Store::at(place.path("store"));
    let mut labels = store.read_frame(1).unwrap().fragment;
    labels.sort_unstable();
    labels.dedup();
    assert_eq!(labels, [0, 1]);
    let breaks = store.read_breaks(1).unwrap();
    assert!(breaks.x.len() > 50 && breaks.x.iter().all(|x| x.abs() < 4e-3));
    for file in [
        "exports/vtk/stress/store.000000.vtp",
        "preview/stress_000000.png",
        "meshes/000001.rkyv",
    ] {
        assert!(place.path("store").join(file).exists(), "{file}");
    }
    let valid = place.succeed(&["inspect", "store", "--validate"]);
    assert!(valid.contains("valid"), "{valid}");
}

/// Once the bar has cracked, each piece is held by its own clamp and free of stress. If the reactions stayed
/// as they were, it would crack again.
#[test]
fn a_bar_stretched_between_clamps_breaks_once() {
    let place = TestFolder::new();
    let stretched = [
        attach("base", BASE, "type = \"clamp\""),
        attach(
            "top",
            TOP,
            "type = \"clamp\", velocity = [0, \"60 µm/s\", 0]",
        ),
    ];
    // A body without a packing gets one with elements of this radius.
    let settings = ["--set", "stress.fracture={ radius = \"3 mm\" }"];
    let (_, report) = solve(&place, &bar(&stretched), &settings);
    let cracks = &report["cracks"];
    assert_eq!([&cracks["through"], &cracks["pieces"]], [1, 2]);
    assert_eq!(cracks["at_rest"], 0);
    near(
        cracks["first_load_factor"].as_f64().unwrap(),
        40.0 / 70.0,
        0.01,
        "first crack",
    );
    let store = Store::at(place.path("store"));
    let mut labels = store.read_frame(1).unwrap().fragment;
    labels.sort_unstable();
    labels.dedup();
    assert_eq!(labels, [0, 1]);
    let breaks = store.read_breaks(1).unwrap();
    assert!(!breaks.y.is_empty() && breaks.y.iter().all(|y| y.abs() < 8e-3));
    // Without fracture the same packing is whole, and there are no frames.
    let packing = "body.bar.packing={ type = \"hexagonal\", radius = \"3 mm\" }";
    let (_, report) = solve(&place, &bar(&stretched), &["--set", packing]);
    assert!(report["cracks"].is_null());
    assert!(store.read_frame(1).is_err() && store.read_stress(0).is_ok());
}

/// A bar breaks across between two clamps; then its upper half, which is pulled apart sideways, breaks along
/// its axis and loses a strip thinner than an element. The second sheet extends beyond the upper half by more
/// than the length of the lower one, whose bonds stay intact. Any number of threads gives the same bytes.
#[test]
fn a_second_crack_leaves_the_other_half_whole() {
    let side = |name: &str, [low, high]: [&str; 2], force: &str| {
        format!(
            "[[attach]]\nname = \"{name}\"\nbody = \"bar\"\nregion = {{ min = [\"{low}\", \"6 mm\", -1], max = [\"{high}\", \"29 mm\", 1] }}\naction = {{ type = \"force\", force = [\"{force}\", 0, 0] }}\n"
        )
    };
    let stretch = "type = \"clamp\", velocity = [0, \"100 µm/s\", 0]";
    let loads = [
        attach("base", BASE, "type = \"clamp\""),
        attach("top", TOP, stretch),
        side("left", ["-11 mm", "-9.99 mm"], "-32 kN"),
        side("right", ["9.99 mm", "11 mm"], "32 kN"),
    ];
    let crack = |threads: &str| {
        let place = TestFolder::new();
        let settings = [
            "--set",
            "stress.fracture={ radius = \"2 mm\", cracks = 2, step = \"8 mm\" }",
            "--threads",
            threads,
        ];
        let (_, report) = solve(&place, &bar(&loads), &settings);
        let cracks = &report["cracks"];
        assert_eq!([&cracks["through"], &cracks["pieces"]], [2, 3], "{cracks}");
        let files = ["frames/000001.parquet", "breaks/000001.parquet"]
            .map(|file| std::fs::read(place.path("store").join(file)).unwrap());
        (place, files)
    };
    let (place, files) = crack("1");
    assert!(files == crack("3").1);
    let store = Store::at(place.path("store"));
    let frame = store.read_frame(1).unwrap();
    // The first crack is 9 mm above the middle.
    let below = (0..frame.y.len()).filter(|i| frame.y[*i] < 8e-3);
    let mut labels: Vec<u32> = below.map(|i| frame.fragment[i]).collect();
    assert!(labels.len() > 300);
    labels.dedup();
    assert_eq!(labels.len(), 1);
    let mut all = frame.fragment.clone();
    all.sort_unstable();
    all.dedup();
    assert!(all.len() >= 3, "{all:?}");
    let breaks = store.read_breaks(1).unwrap();
    let along = breaks.y.iter().filter(|y| **y > 0.01).count();
    assert!(along > 10 && breaks.y.iter().all(|y| *y > 8e-3), "{along}");
}
