//! Fragments that sleep.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::packed::{Packed, assert_runs_alike, on_ranks, options};
use cullet::columns::{SleepEvent, SleepReason};
use cullet::ranks::Transport;
use cullet::simulate::methods::explicit::cpu::Cpu;
use cullet::simulate::{self, Method, Shared, Start};

/// Rubble of a bunny that fell: pieces wake, come to rest, and are stepped apart.
const RUBBLE: [&str; 5] = [
    "scale=smoke",
    "simulate.sleep=true",
    "material.gypsum.rolling_friction=0.3",
    "time.frames_per_second=250 Hz",
    "time.end=40 ms",
];

/// How often each event of sleep was recorded.
fn events(packed: &Packed) -> Vec<(SleepEvent, SleepReason)> {
    let frames = packed
        .store
        .numbers("sleep", "parquet")
        .unwrap()
        .into_iter();
    let tables = frames.map(|frame| packed.store.read_sleep(frame).unwrap());
    tables
        .flat_map(|table| table.what.into_iter().zip(table.reason))
        .collect()
}

#[test]
fn rubble_that_sleeps_has_the_same_bytes_on_any_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let packed = Packed::new(folder.path(), "bunny_drop", &RUBBLE);
    assert_runs_alike(&packed, true, &[(2, 1), (3, 2), (5, 1)]);
    let events = events(&packed);
    let count = |what: SleepEvent| events.iter().filter(|one| one.0 == what).count();
    for what in [SleepEvent::Asleep, SleepEvent::Awake, SleepEvent::Still] {
        assert!(count(what) > 0, "{what:?}: {events:?}");
    }
}
