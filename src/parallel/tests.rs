//! Every adaptor compared with that of the standard library, for lengths around those at which parts begin.

use super::prelude::*;

const LENGTHS: [usize; 8] = [0, 1, 2, 3, 31, 32, 33, 10_007];

fn on_pools(test: impl Fn(usize) + Sync) {
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap()
            .install(|| LENGTHS.into_iter().for_each(&test));
    }
}

#[test]
fn work_on_the_pool_runs_on_one_of_its_threads() {
    let inside = || rayon::current_thread_index().is_some();
    assert!(!inside() && super::on_pool(inside));
    assert!(super::on_pool(|| super::on_pool(inside)));
}

#[test]
fn items_keep_their_order() {
    on_pools(|n| {
        let rows: Vec<u32> = (0..n as u32)
            .map(|k| k.wrapping_mul(2_654_435_761))
            .collect();
        let doubled: Vec<u64> = rows.par_iter().map(|&r| 2 * u64::from(r)).collect();
        assert!(
            doubled
                .iter()
                .zip(&rows)
                .all(|(d, &r)| *d == 2 * u64::from(r))
        );
        let kept: Vec<u32> = rows
            .clone()
            .into_par_iter()
            .filter(|r| r % 3 == 0)
            .collect();
        let serial: Vec<u32> = rows.iter().copied().filter(|r| r % 3 == 0).collect();
        assert_eq!(kept, serial);
        let mut many = vec![7];
        many.par_extend((0..n).into_par_iter().flat_map_iter(|k| vec![k; k % 4]));
        let serial: Vec<usize> = (0..n).flat_map(|k| vec![k; k % 4]).collect();
        assert_eq!((many[0], &many[1..]), (7, &serial[..]));
        let (numbers, values): (Vec<usize>, Vec<u32>) =
            rows.par_iter().enumerate().map(|(k, &r)| (k, r)).unzip();
        assert_eq!((numbers, &values), ((0..n).collect(), &rows));
        let halves = (0..n)
            .into_par_iter()
            .filter_map(|k| (k % 2 == 0).then_some(k / 2));
        assert_eq!(
            halves.collect::<Vec<_>>(),
            (0..n.div_ceil(2)).collect::<Vec<_>>()
        );
    });
}

#[test]
fn chunks_and_their_numbers_agree() {
    on_pools(|n| {
        let from: Vec<usize> = (0..n).collect();
        let mut to = vec![usize::MAX; n];
        to.par_chunks_mut(5)
            .zip(from.par_chunks(5))
            .enumerate()
            .with_min_len(2)
            .for_each(|(k, (to, from))| {
                assert_eq!(from[0], 5 * k);
                to.copy_from_slice(from);
            });
        assert_eq!(to, from);
        to.par_iter_mut()
            .zip(&from)
            .for_each(|(to, from)| *to += from);
        assert!(to.iter().zip(&from).all(|(to, from)| *to == 2 * from));
    });
}

#[test]
fn joined_items_are_those_of_a_loop() {
    on_pools(|n| {
        assert_eq!(
            (0..n).into_par_iter().reduce(|| 0, |a, b| a + b),
            (0..n).sum::<usize>()
        );
        assert_eq!(
            (0..n).into_par_iter().filter(|k| k % 7 == 1).count(),
            (0..n).filter(|k| k % 7 == 1).count()
        );
        let longest = (0..n).into_par_iter().reduce(|| 0, usize::max);
        assert_eq!(longest, n.saturating_sub(1));
        let rows = (0..n)
            .into_par_iter()
            .map_init(Vec::new, |scratch: &mut Vec<usize>, k| {
                scratch.push(k);
                scratch[scratch.len() - 1]
            });
        let mut kept = vec![1, 2, 3];
        rows.collect_into_vec(&mut kept);
        assert_eq!(kept, (0..n).collect::<Vec<_>>());
    });
}

#[test]
fn the_first_error_is_returned() {
    on_pools(|n| {
        let odd = |k: usize| if k % 1000 == 999 { Err(k) } else { Ok(k) };
        let found: Result<Vec<usize>, usize> = (0..n).into_par_iter().map(odd).collect();
        assert_eq!(found, (0..n).map(odd).collect());
        let small = |k: usize| (k < 5_000).then_some(k);
        let found: Option<Vec<usize>> = (0..n).into_par_iter().map(small).collect();
        assert_eq!(found, (0..n).map(small).collect());
    });
}

#[test]
fn a_panic_of_a_part_reaches_the_caller() {
    let panicked = std::panic::catch_unwind(|| {
        let rows = (0..1000_usize).into_par_iter();
        rows.for_each(|i| assert!(i != 777, "row {i}"));
    });
    let panicked = panicked.unwrap_err();
    assert_eq!(panicked.downcast_ref::<String>().unwrap(), "row 777");
}

#[test]
fn parts_may_share_work_out_again() {
    let squares = |i: usize| {
        (0..i)
            .into_par_iter()
            .map(|j| j * j)
            .reduce(|| 0, |a, b| a + b)
    };
    let rows: Vec<usize> = (0..100_usize).into_par_iter().map(squares).collect();
    let serial: Vec<usize> = (0..100).map(|i| (0..i).map(|j| j * j).sum()).collect();
    assert_eq!(rows, serial);
}
