//! Fragments that sleep.

use std::sync::atomic::AtomicBool;

use super::packed::{Packed, assert_same, on_ranks, options};
use cullet::columns::SleepEvent;
use cullet::simulate::Start;

/// A slab with a tile on it comes to rest. A ram falls on the slab when both have rested for a while; a reed in a clamp
/// never sleeps.
const AT_REST: &str = r#"
time = { end = "0.17 s", frames_per_second = 100 }
world = { gravity = [0, -9.8, 0] }
simulate = { sleep = true }
[[material]]
name = "clay"
density = 2600
young = "5 MPa"
tensile_strength = "90 kPa"
damping = 0.1
contact_damping = 0.9
[[body]]
name = "slab"
material = "clay"
shape = { type = "block", rows = [12, 5, 11] }
packing = { type = "hexagonal", radius = "1 mm" }
position = [0, "5.1 mm", 0]
[[body]]
name = "tile"
material = "clay"
shape = { type = "block", rows = [5, 3, 5] }
packing = { type = "hexagonal", radius = "1 mm" }
position = ["-6 mm", "12.5 mm", "2 mm"]
[[body]]
name = "ram"
material = "clay"
shape = { type = "block", rows = [4, 6, 4] }
packing = { type = "hexagonal", radius = "1 mm" }
position = ["7 mm", "0.13 m", "-3 mm"]
[[body]]
name = "reed"
material = "clay"
shape = { type = "block", rows = [20, 2, 2] }
packing = { type = "hexagonal", radius = "1 mm" }
position = [0, "0.15 m", "60 mm"]
[[attach]]
name = "held"
body = "reed"
region = { min = ["-1 m", "-1 m", "-1 m"], max = ["-15 mm", "1 m", "1 m"] }
action = { type = "clamp" }
[[collider]]
name = "floor"
shape = { type = "half_space", normal = [0, 1, 0] }
friction = 0.5
"#;

/// What happened to fragments, once for each.
fn events(packed: &Packed) -> Vec<SleepEvent> {
    let frames = packed
        .store
        .numbers("sleep", "parquet")
        .unwrap()
        .into_iter();
    let tables = frames.map(|frame| packed.store.read_sleep(frame).unwrap());
    tables.flat_map(|table| table.what).collect()
}

#[test]
fn fragments_come_to_rest_and_are_hit_the_same_on_any_ranks_and_across_a_resume() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("at_rest.toml");
    std::fs::write(&file, AT_REST).unwrap();
    let packed = Packed::new(&folder.path().join("store"), file.to_str().unwrap(), &[]);
    packed.run_alone();
    let alone = packed.recorded();
    let found = events(&packed);
    for event in [SleepEvent::Still, SleepEvent::Moving, SleepEvent::Awake] {
        assert!(found.contains(&event), "{event:?}: {found:?}");
    }
    let stop = AtomicBool::new(false);
    // The slab and the tile rest at that time.
    for (start, until, ranks) in [(Start::Packing, Some(0.14), 3), (Start::Newest, None, 2)] {
        for result in packed.run(&options(start, until), (ranks, 1), &stop) {
            assert!(!result.unwrap().interrupted);
        }
        if until.is_some() {
            let found = events(&packed);
            assert!(found.contains(&SleepEvent::Still) && !found.contains(&SleepEvent::Moving));
        }
    }
    assert!(packed.recorded() == alone);
}

/// Rigid bodies whose sums over many contacts depend on the order of these. On ranks chunks have other sizes than in
/// one process.
#[test]
fn a_wall_of_sleeping_bricks_has_the_same_bytes_on_any_ranks() {
    let settings = [
        "scale=smoke",
        "time.end=\"5 ms\"",
        "time.frames_per_second=1000",
    ];
    assert_same("brick_wall", &settings, true, &[(3, 2)]);
}

#[test]
fn chunks_of_rubble_that_sleeps_change_their_ranks_and_no_bit() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        "scale=smoke",
        "simulate.sleep=true",
        "output.work=true",
        "material.gypsum.static_friction=0.9",
        "material.gypsum.rolling_friction=0.3",
    ];
    let packed = Packed::new(folder.path(), "bunny_drop", &settings);
    let alone = packed.moving_chunks(None);
    let tables = alone.captures.iter().map(|one| &one.snapshot.sleep);
    let events: Vec<SleepEvent> = tables.flat_map(|table| table.what.clone()).collect();
    for event in [SleepEvent::Asleep, SleepEvent::Awake] {
        assert!(events.contains(&event), "{event:?}: {events:?}");
    }
    let shared = on_ranks((3, 1), |transport| packed.moving_chunks(Some(transport)));
    alone.assert_same_captures(&shared[0]);
}
