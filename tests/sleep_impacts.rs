//! What wakes a sleeping fragment that is hit, and what does not.

use cullet::columns::{SleepEvent, SleepReason};
use glam::DVec3;

use crate::scenes;
use crate::sleep::{R, block, on, scene, sized_events};

/// A block that something strikes at 1 m/s: how many bonds break, and how often the block wakes by the impact and by
/// stress.
fn strike(by: (usize, usize, usize), strength: f64, sleep: bool) -> (u64, [usize; 2]) {
    let target = block((6, 6, 6), DVec3::ZERO);
    let (count, at) = (
        target.len() as u32,
        DVec3::new(-2.0 * R * by.0 as f64 - 1.2 * R, 5.2 * R, 5.3 * R),
    );
    let zero = DVec3::ZERO;
    let bodies = [(target, zero, zero), (block(by, at), DVec3::X, zero)];
    let (packing, mut pipeline, dt) = scene(&bodies, strength);
    pipeline.simulate.sleep = sleep;
    let mut run = on::<f64>(&packing, &pipeline, dt);
    let all = scenes::frames(&mut run, (4e-3 / dt) as u64, 0..2);
    let rows = sized_events(&all);
    let wakes = |reason| {
        let row = (count, SleepEvent::Awake, reason);
        rows.iter().filter(|one| **one == row).count()
    };
    let broken = all[1].history.broken[0];
    (
        broken.into(),
        [wakes(SleepReason::Impact), wakes(SleepReason::Stress)],
    )
}

#[test]
fn a_chip_does_not_wake_by_its_speed_what_a_block_of_the_same_speed_wakes() {
    // √(E ρ) v is 0.8 of this strength.
    let strength = 2e5;
    assert_eq!(strike((2, 1, 1), strength, false).0, 0);
    assert_eq!(strike((2, 1, 1), strength, true), (0, [0, 0]));
    assert_eq!(strike((4, 4, 4), strength, true).1, [1, 0]);
}

#[test]
fn a_chip_that_breaks_what_it_hits_wakes_it_by_the_stress_that_it_causes() {
    let strength = 3e4;
    assert!(strike((2, 1, 1), strength, false).0 > 0);
    let (broken, wakes) = strike((2, 1, 1), strength, true);
    assert!(broken > 0 && wakes == [0, 1], "{broken} {wakes:?}");
}
