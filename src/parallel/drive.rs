//! Runs parts on threads.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::splittable::Splittable;

/// Average number of parts per thread: enough that one slow part does not leave the others idle.
const PARTS_PER_THREAD: usize = 16;

/// The results of `of` for each part, in order.
pub fn drive<P: Splittable, O: Send>(parts: P, of: impl Fn(P::Serial) -> O + Sync) -> Vec<O> {
    let count =
        (rayon::current_num_threads() * PARTS_PER_THREAD).min(parts.len() / parts.min_len().max(1));
    if count <= 1 {
        return vec![of(parts.serial())];
    }
    let mut slots = Vec::with_capacity(count);
    let mut rest = parts;
    // From the end, so that splitting a vector moves each row once.
    for k in (1..count).rev() {
        let at = rest.len() * k / (k + 1);
        let (others, last) = rest.split_at(at);
        slots.push(Mutex::new(Some(last)));
        rest = others;
    }
    slots.push(Mutex::new(Some(rest)));
    slots.reverse();
    let results: Vec<Mutex<Option<O>>> = slots.iter().map(|_| Mutex::new(None)).collect();
    run(count, &|k| {
        let part = take(&slots[k]);
        if let Some(part) = part {
            let result = of(part.serial());
            *results[k].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        }
    });
    results
        .into_iter()
        .filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect()
}

/// Runs `act` on a thread of the pool. Waking a thread costs as much as a short loop, and parallel loops that start
/// there need not.
pub fn on_pool<T: Send>(act: impl FnOnce() -> T + Send) -> T {
    rayon::scope(|_| act())
}

fn take<T>(slot: &Mutex<Option<T>>) -> Option<T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Runs `work` for 0..count on all threads. Not generic, so that rayon's part of it is compiled once.
fn run(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(work);
}
