//! Fragments at rest: they stay where they are, wake when they are hit, and press on what they lie on.

use cullet::columns::{SleepEvent, SleepReason};
use cullet::simulate::{Snapshot, build};
use glam::DVec3;

use crate::scenes;
use crate::sleep::{R, block, events, frames_of_same_bits, on, scene, sized_events};

#[test]
fn a_stack_at_rest_stays_where_it_is() {
    let still = (DVec3::ZERO, DVec3::ZERO);
    let at = |level: usize| DVec3::new(0.3e-3, 8.0001e-3, 0.2e-3) * level as f64;
    let blocks: Vec<_> = (0..3)
        .map(|k| (block((5, 4, 5), at(k)), still.0, still.1))
        .collect();
    let (packing, mut pipeline, dt) = scene(&blocks, 1e6);
    pipeline.world.gravity = [0.0, -9.8, 0.0];
    pipeline.colliders = vec![scenes::rising_floor(-1.0001 * R, 0.0)];
    let mut run = on::<f32>(&packing, &pipeline, dt);
    let second = (1.0 / dt) as u64;
    let all = scenes::frames(&mut run, second, 0..11);
    let found = events(&all);
    assert!(
        found.contains(&(SleepEvent::Still, SleepReason::Calm)),
        "{found:?}"
    );
    assert!(
        !found.iter().any(|event| event.0 == SleepEvent::Awake),
        "{found:?}"
    );
    let (early, late) = (&all[1].frames, &all[10].frames);
    for i in 0..early.x.len() {
        let of =
            |f: &cullet::columns::Frames| DVec3::new(f.x[i].into(), f.y[i].into(), f.z[i].into());
        let moved = of(early).distance(of(late));
        assert!(moved < 1e-4 * R, "element {i} moved {moved:.1e} m");
    }
    assert_eq!(all[10].history.kinetic[0], 0.0);
}

#[test]
fn a_block_at_rest_wakes_when_it_is_hit_hard() {
    let still = DVec3::ZERO;
    let ram = block((4, 4, 4), DVec3::new(1e-3, 0.13, 1e-3));
    let (target, hit) = (block((8, 5, 6), DVec3::ZERO), 4 * 4 * 4);
    let count = target.len() as u32;
    let (packing, mut pipeline, dt) = scene(&[(target, still, still), (ram, still, still)], 2e5);
    assert_ne!(count, hit);
    pipeline.world.gravity = [0.0, -9.8, 0.0];
    pipeline.colliders = vec![scenes::rising_floor(-1.0001 * R, 0.0)];
    let mut run = on::<f32>(&packing, &pipeline, dt);
    let all = scenes::frames(&mut run, (0.02 / dt) as u64, 0..10);
    let rows = sized_events(&all).into_iter();
    let rows: Vec<_> = rows.filter(|row| row.0 == count).collect();
    let [rest, wakes] = [
        (count, SleepEvent::Still, SleepReason::Calm),
        (count, SleepEvent::Awake, SleepReason::Impact),
    ]
    .map(|row| rows.iter().position(|one| *one == row));
    assert!(rest.is_some() && wakes > rest, "{rows:?}");
}

/// Each contact damps the motion of the whole plate, all together far more than they could one by one.
#[test]
fn a_plate_on_many_damped_contacts_comes_to_rest() {
    let plate = block((9, 1, 9), DVec3::ZERO);
    let bodies = [(plate, -0.02 * DVec3::Y, DVec3::ZERO)];
    let (packing, mut pipeline, dt) = scene(&bodies, 1e6);
    pipeline.world.gravity = [0.0, -9.8, 0.0];
    pipeline.materials[0].contact_damping = 0.5;
    pipeline.colliders = vec![scenes::rising_floor(-1.001 * R, 0.0)];
    let mut run = on::<f32>(&packing, &pipeline, dt);
    let all = scenes::frames(&mut run, (0.05 / dt) as u64, 0..9);
    let found = events(&all);
    assert!(
        found.contains(&(SleepEvent::Still, SleepReason::Calm)),
        "{found:?}"
    );
    assert_eq!(all[8].history.kinetic[0], 0.0);
}

/// Mean force on the floor since the frame before, N, and number of elements that touch it.
fn on_floor(frame: &Snapshot) -> (DVec3, u32) {
    let loads = &frame.loads;
    let force = DVec3::new(loads.fx[0], loads.fy[0], loads.fz[0]);
    (force, loads.contacts[0])
}

#[test]
fn blocks_at_rest_press_on_the_floor_and_count_as_touching_while_others_move() {
    for is_awake in [false, true] {
        blocks_at_rest_press_on_the_floor(is_awake);
    }
}

/// Two blocks come to rest while a third one flies, asleep or awake.
fn blocks_at_rest_press_on_the_floor(is_awake: bool) {
    let (low, high) = (
        block((5, 3, 5), DVec3::ZERO),
        block((3, 2, 3), DVec3::new(0.3e-3, 6.0001e-3, 0.2e-3)),
    );
    let (thrown, zero) = (block((3, 3, 3), DVec3::new(0.03, 0.0, 0.0)), DVec3::ZERO);
    let resting = low.len() + high.len();
    let (mut packing, mut pipeline, dt) = scene(
        &[
            (low, zero, zero),
            (high, zero, zero),
            (thrown, 4.0 * DVec3::Y, zero),
        ],
        1e6,
    );
    pipeline.world.gravity = [0.0, -9.8, 0.0];
    pipeline.colliders = vec![scenes::rising_floor(-1.0001 * R, 0.0)];
    let bonds = &mut packing.bonds;
    for at in (0..bonds.i.len()).filter(|&at| is_awake && bonds.i[at] as usize >= resting) {
        // What cannot break never sleeps.
        (bonds.sigma_c[at], bonds.tau_c[at]) = (f64::INFINITY, f64::INFINITY);
    }
    let built = build::<f32>(&packing, &pipeline).unwrap();
    let weight = 9.8 * built.rest.mass[..resting].iter().sum::<f64>();
    let mut run = on::<f32>(&packing, &pipeline, dt);
    let all = scenes::frames(&mut run, (0.05 / dt) as u64, 0..16);
    let mut still = 0;
    let both_rest = |frame: &Snapshot| {
        let what = frame.sleep.what.iter();
        still += what.filter(|what| **what == SleepEvent::Still).count();
        still == 2
    };
    let from = all.iter().position(both_rest).expect("both come to rest");
    let (flying, touching) = (&all[from + 1..], on_floor(&all[from]).1);
    assert!(flying.len() > 4 && touching > 9, "{from} {touching}");
    for (number, frame) in flying.iter().enumerate() {
        let (force, now) = on_floor(frame);
        let off = (force + weight * DVec3::Y).length() / weight;
        assert!(off < 1e-3, "frame {number}: {force} N of {weight} N");
        let (contacts, energy) = (frame.history.contacts[0], frame.history.contact[0]);
        assert!(
            now == touching && contacts > touching && energy > 0.0,
            "{number}: {contacts}"
        );
        assert!(frame.history.kinetic[0] > 0.0, "the third one flies");
        assert_eq!(frame.history.awake[0] > 0, is_awake);
    }
    let before = &all[from - 1].history.contacts;
    assert_eq!(
        *before, flying[0].history.contacts,
        "contacts at rest are those before"
    );
}

#[test]
fn loads_of_blocks_at_rest_have_the_same_bits_across_a_resume() {
    let (low, thrown) = (
        block((5, 3, 5), DVec3::ZERO),
        block((3, 3, 3), DVec3::new(0.03, 0.0, 0.0)),
    );
    let up = 4.0 * DVec3::Y;
    let (packing, mut pipeline, dt) = scene(
        &[(low, DVec3::ZERO, DVec3::ZERO), (thrown, up, DVec3::ZERO)],
        1e6,
    );
    pipeline.world.gravity = [0.0, -9.8, 0.0];
    pipeline.colliders = vec![scenes::rising_floor(-1.0001 * R, 0.0)];
    let all = frames_of_same_bits(&(packing, pipeline, dt), 5000);
    assert!(
        events(&all)
            .iter()
            .any(|event| event.0 == SleepEvent::Still)
    );
    assert!(on_floor(&all[11]).0.y < 0.0);
}
