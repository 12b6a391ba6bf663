//! Records of all elements at rank 0, a window at a time: their memory does not grow with the number of elements.

use std::ops::Range;

use super::bytes::{Reader, Record};
use super::team::Team;
use crate::parallel::prelude::*;
use crate::store::parts::ROWS_PER_WRITE;

/// Number of elements in a window. The rows of a frame are written in parts of this size.
pub const WINDOW: usize = ROWS_PER_WRITE;

/// The windows of `count` elements.
pub fn windows(count: usize) -> impl Iterator<Item = Range<usize>> {
    let firsts = (0..count).step_by(WINDOW);
    firsts.map(move |first| first..(first + WINDOW).min(count))
}

impl Team {
    /// The records of the elements of a window, at rank 0; nothing at other ranks.
    pub(super) fn gather_window<T: Record>(
        &self,
        window: Range<usize>,
        own: &(impl Fn(usize) -> T + Sync),
    ) -> Option<Vec<T>> {
        let is_own = |i: &usize| self.owned.contains(i / self.chunk);
        let held: Vec<usize> = window.clone().filter(is_own).collect();
        let records: Vec<T> = held.par_iter().map(|&i| own(i)).collect();
        let mut bytes = Vec::with_capacity(size_of_val(&records[..]));
        records.iter().for_each(|record| record.put(&mut bytes));
        let all = self.transport.gather_first(&bytes);
        let mut from: Vec<Reader> = all.iter().map(|bytes| Reader::new(bytes)).collect();
        let is_first = !from.is_empty();
        is_first.then(|| {
            window
                .map(|i| T::get(&mut from[self.owner_of(i as u32)]))
                .collect()
        })
    }
}
