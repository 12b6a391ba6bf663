use glam::DVec3;

use super::*;
use crate::math::lanes::LaneRow;
use crate::ranks::local;
use crate::simulate::bonded::system::set_position;
use crate::simulate::share::windows::WINDOW;

/// Calls `act` on each of three ranks, of which the last owns nothing: chunks of 16 elements, one apart along x,
/// with a gap of 2.5 between the chunks; each knows only where its own are.
fn on_three_ranks<T: Send>(act: impl Fn(&Ranks, Vec<MotionRow<f64>>) -> T + Sync) -> Vec<T> {
    let place = |i: usize| i as f64 + if i < 16 { 0.0 } else { 1.5 };
    let on_rank = |rank: local::Local| {
        let own = rank.rank() * 16..(rank.rank() + 1) * 16;
        let mut motion = vec![MotionRow::default(); 32];
        for i in own.filter(|&i| i < 32) {
            set_position(&mut motion[i], DVec3::new(place(i), 1.0, 1.0));
        }
        act(&Ranks::new(Arc::new(rank), 16, vec![0, 1]), motion)
    };
    on_threads(3, on_rank)
}

/// Calls `act` on each of some ranks.
fn on_threads<T: Send>(count: usize, act: impl Fn(local::Local) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let ranks = local::ranks(count).into_iter();
        let threads: Vec<_> = ranks.map(|rank| scope.spawn(|| act(rank))).collect();
        threads.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

#[test]
fn rows_within_reach_of_a_chunk_are_received() {
    for (reach, count) in [(2.4, 0), (2.6, 1), (3.6, 2), (100.0, 16)] {
        let found = on_three_ranks(|ranks, mut motion| {
            let own = |row: &MotionRow<f64>| u8::from(position(row).y > 0.0);
            let mut bytes: Vec<u8> = motion.iter().map(own).collect();
            let mut tail: Vec<TailRow<f64>> = vec![LaneRow([0.0; 4]); 32];
            let known = ranks.receive_near((&mut motion, &mut tail, &mut bytes), reach);
            assert!(
                known
                    .iter()
                    .zip(&bytes)
                    .all(|(known, byte)| *known == (*byte == 1))
            );
            let places = motion.iter().map(|row| position(row).x);
            (known, places.collect::<Vec<f64>>())
        });
        for (rank, others) in [(0, 16..16 + count), (1, 16 - count..16)] {
            let (known, places) = &found[rank];
            let own = rank * 16..(rank + 1) * 16;
            for i in 0..32 {
                assert_eq!(
                    known[i],
                    own.contains(&i) || others.contains(&i),
                    "{reach} {i}"
                );
                assert!(!known[i] || places[i] >= i as f64);
            }
        }
        assert!(found[2].0.iter().all(|known| !known));
    }
}

#[test]
fn ghosts_are_brought_up_to_date_and_nothing_else() {
    let found = on_three_ranks(|ranks, mut motion| {
        let mut ranks = ranks.clone();
        let mut tail = vec![TailRow::default(); 32];
        let wanted = [vec![16, 20], vec![15], vec![0, 31]];
        let rank = ranks.0.as_ref().map_or(0, |team| team.transport.rank());
        ranks.set_ghosts(wanted[rank].iter().copied(), vec![true; 2]);
        let mut exchange = ranks.begin_exchange(&motion, &tail).unwrap();
        exchange.run(|| ());
        ranks.end_exchange(exchange, &mut motion, &mut tail);
        let known = motion.iter().map(|row| position(row).y > 0.0);
        (known.collect::<Vec<bool>>(), ranks.traffic().unwrap().rows)
    });
    let known = |rank: usize, i: usize| found[rank].0[i];
    assert!(known(0, 16) && known(0, 20) && !known(0, 17));
    assert!(known(1, 15) && !known(1, 14));
    assert!(known(2, 0) && known(2, 31) && !known(2, 1));
    assert_eq!(
        found.iter().map(|one| one.1).collect::<Vec<u64>>(),
        [2, 3, 0]
    );
}

#[test]
fn windows_pass_all_records_in_order() {
    let count = 2 * WINDOW + 100;
    let found = on_threads(3, |rank| {
        let chunk = 96;
        let owner: Vec<u32> = (0..count.div_ceil(chunk))
            .map(|at| (at % 2) as u32)
            .collect();
        let ranks = Ranks::new(Arc::new(rank), chunk, owner);
        let owned = ranks.owned();
        let own = |i: usize| {
            assert!(owned.contains(i / chunk), "only records of this rank");
            3 * i as u64
        };
        let mut all = Vec::new();
        let mut windows = 0;
        ranks.each_window(count, own, |first, window| {
            assert_eq!(first, all.len());
            all.extend_from_slice(window);
            windows += 1;
        });
        (all, windows)
    });
    let expected: Vec<u64> = (0..count as u64).map(|i| 3 * i).collect();
    assert!(found[0] == (expected.clone(), 3));
    assert!(found[1..].iter().all(|(all, _)| all.is_empty()));
    let mut alone = Vec::new();
    Ranks::default().each_window(
        count,
        |i| 3 * i as u64,
        |_, window| {
            alone.extend_from_slice(window);
        },
    );
    assert!(alone == expected);
}

#[test]
fn records_of_ghosts_are_received() {
    let found = on_three_ranks(|ranks, _| {
        let rank = ranks.rank();
        let wanted: [&[u32]; 3] = [&[17, 31], &[0, 15], &[3, 20]];
        let ghosts = ranks.ghosts(wanted[rank].iter().copied());
        let mut rows: Vec<u32> = (0..32)
            .map(|i| match i / 16 == rank as u32 {
                true => 100 + i,
                false => 0,
            })
            .collect();
        ranks.receive(&ghosts, &mut rows);
        rows
    });
    for (rank, rows) in found.iter().enumerate() {
        let wanted: [&[usize]; 3] = [&[17, 31], &[0, 15], &[3, 20]];
        for (i, &row) in rows.iter().enumerate() {
            let known = i / 16 == rank || wanted[rank].contains(&i);
            assert_eq!(row, if known { 100 + i as u32 } else { 0 }, "{rank} {i}");
        }
    }
}
