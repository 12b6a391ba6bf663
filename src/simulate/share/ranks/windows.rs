//! Records of all elements at rank 0, a window at a time: their memory does not grow with the number of elements.

use super::Ranks;
use crate::parallel::prelude::*;
use crate::simulate::share::bytes::{Reader, Record};
use crate::store::parts::ROWS_PER_WRITE;

/// Elements of a window: the rows of a frame are written in parts of so many.
pub(super) const WINDOW: usize = ROWS_PER_WRITE;

impl Ranks {
    /// Passes the records of all `count` elements to `take` at rank 0, in order, with the number of the first one.
    /// `own` makes the record of an element of this rank.
    pub fn each_window<T: Record>(
        &self,
        count: usize,
        own: impl Fn(usize) -> T + Sync,
        mut take: impl FnMut(usize, &[T]),
    ) {
        let own = &own;
        for first in (0..count).step_by(WINDOW) {
            let elements = first..(first + WINDOW).min(count);
            let Some(team) = &self.0 else {
                let records: Vec<T> = elements.into_par_iter().map(own).collect();
                take(first, &records);
                continue;
            };
            let is_own = |i: &usize| team.owned.contains(i / team.chunk);
            let held: Vec<usize> = elements.clone().filter(is_own).collect();
            let records: Vec<T> = held.par_iter().map(|&i| own(i)).collect();
            let mut bytes = Vec::with_capacity(size_of_val(&records[..]));
            records.iter().for_each(|record| record.put(&mut bytes));
            let all = team.transport.gather_first(&bytes);
            let mut from: Vec<Reader> = all.iter().map(|bytes| Reader::new(bytes)).collect();
            if from.is_empty() {
                continue;
            }
            let records: Vec<T> = elements
                .map(|i| T::get(&mut from[team.owner_of(i as u32)]))
                .collect();
            take(first, &records);
        }
    }
}
